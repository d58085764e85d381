"""The edits that rules share: each case is a text, the edit, and the text it must give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

import pytest

from torchlint.diagnostic import Applicability
from torchlint.fixer import fix
from torchlint.rules import all_rules
from torchlint.rules.rewriting import Rewriter, TextEdit, combined
from torchlint.semantics import Semantics
from torchlint.source import Source

Node = TypeVar("Node", bound=ast.AST)


class Text:
    """A text with its first node of each type at hand."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.semantics = Semantics(self.source)
        self.rewriter = Rewriter(self.source, self.semantics)

    def first(self, node_type: type[Node], having: Callable[[Node], bool] = lambda _: True) -> Node:
        return next(node for node in self.semantics.tree.nodes if isinstance(node, node_type) and having(node))

    def data(self) -> ast.Attribute:
        return self.first(ast.Attribute, lambda node: node.attr == "data")

    def statements(self, *rows: int) -> list[ast.stmt]:
        return [self.first(ast.stmt, lambda node, row=row: node.lineno == row) for row in rows]  # type: ignore[misc]

    def edited(self, *edits: TextEdit) -> str:
        text = self.source.text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


# --- expressions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data", "x"),
        ("x . data", "x "),
        ("(x + 1).data", "(x + 1)"),
        ("(x).data.y", "(x).y"),
        ("x.data.data", "x.data"),
        ("é.data.ü", "é.ü"),
        ("x \\\n    .data \\\n    .y", "x \\\n    .y"),
        ("(x\n .data\n .y)", "(x\n .y)"),
        ("(x  # a.b\n .data\n .y)", "(x  # a.b\n .y)"),
        ("(x  # a.b\n .data  # c.d\n .y)", "(x  # a.b\n   # c.d\n .y)"),
        ("(x  # a.b\n .data.y)", "(x  # a.b\n .y)"),
        ("(x.  # a.b\n data.y)", "(x.y)"),
        ("(x  # a.b\n\n .data)", "(x  # a.b\n\n )"),
        ("(x\n\n .data)", "(x)"),
        ("f'{x.data!r:>{y}}'", "f'{x!r:>{y}}'"),
    ],
)
def test_drops_an_attribute(before: str, after: str) -> None:
    text = Text(before)
    assert text.edited(text.rewriter.drop_attribute(text.data())) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data", "x.detach()"),
        ("(x  # a.b\n .data\n .y)", "(x  # a.b\n .detach()\n .y)"),
        ("x \\\n  .data", "x \\\n  .detach()"),
        ("f(x).data[0]", "f(x).detach()[0]"),
    ],
)
def test_replaces_an_attribute(before: str, after: str) -> None:
    text = Text(before)
    assert text.edited(text.rewriter.replace_attribute(text.data(), ".detach()")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.data[0]", "x.item()"),
        ("(x / 2)[0]", "(x / 2).item()"),
        ("x.data.cpu()[0] + 1", "x.item() + 1"),
        ("x \\\n    .data \\\n    [0]", "x.item()"),
        ("(x\n .data\n .cpu()\n [0])", "(x.item())"),
        ("(x  # a\n .data  # b\n .cpu()\n [0])", "(x  # a\n   # b\n .item())"),
    ],
)
def test_replaces_a_chain(before: str, after: str) -> None:
    text = Text(before)
    index = text.first(ast.Subscript)
    value: ast.expr = index.value
    while isinstance(value, ast.Attribute) or (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        value = value.value if isinstance(value, ast.Attribute) else value.func.value  # type: ignore[attr-defined]
    assert text.edited(*text.rewriter.replace_chain(index, value, ".item()")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("p.data = x", "p.copy_(x)"),
        ("p.data=x  # why", "p.copy_(x)  # why"),
        ("p.data = (\n    x +\n    y\n)", "p.copy_(\n    x +\n    y\n)"),
        ("p.data = (x + y) * z", "p.copy_((x + y) * z)"),
        ("p.data = (x, y)", "p.copy_((x, y))"),
        ("p.data = \\\n    x", "p.copy_(x)"),
        ("p[0].data += x", "p[0].copy_(x)"),
        ("p.data **= 2; q = 1", "p.copy_(2); q = 1"),
        ("p \\\n.data = x", "p.copy_(x)"),
    ],
)
def test_makes_a_call_of_an_assignment(before: str, after: str) -> None:
    text = Text(before)
    statement = text.source.tree.body[0]
    assert isinstance(statement, (ast.Assign, ast.AugAssign))
    assert text.edited(*text.rewriter.call_in_place(text.data(), statement, ".copy_")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(x, volatile=True)", "f(x)"),
        ("f(x, volatile=True, )", "f(x, )"),
        ("f(volatile=True, y=1)", "f(y=1)"),
        ("f(volatile=True)", "f()"),
        ("f(volatile=True,)", "f()"),
        ("f(\n  volatile=True,\n)", "f(\n  \n)"),
        ("f(x,\n  volatile=True,\n  y=1)", "f(x,\n  y=1)"),
        ("f(x,\n  volatile=True)", "f(x)"),
    ],
)
def test_deletes_an_argument(before: str, after: str) -> None:
    text = Text(before)
    word = text.first(ast.keyword, lambda node: node.arg == "volatile")
    assert text.edited(text.rewriter.delete_argument(text.first(ast.Call), word)) == after


@pytest.mark.parametrize(
    ("before", "span"),
    [
        ("f(x)", "x"),
        ("f( x , y)", "x"),
        ("f((x))", "(x)"),
        ("f(((x)) , y)", "((x))"),
        ("f((x + y) * z)", "(x + y) * z"),
        ("f()(x)", "x"),
    ],
)
def test_finds_an_argument_with_its_parentheses(before: str, span: str) -> None:
    text = Text(before)
    call = text.first(ast.Call)
    start, end = text.rewriter.argument_span(call, call.args[0])
    assert before[start:end] == span


# --- statements ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "rows", "after"),
    [
        pytest.param("import torch\na()\n", [2], "import torch\nwith torch.no_grad():\n    a()\n", id="one"),
        pytest.param("a()", [1], "with torch.no_grad():\n    a()", id="whole text, no newline"),
        pytest.param(
            "a()\n# b\n\nc()\n", [1, 4], "with torch.no_grad():\n    a()\n    # b\n\n    c()\n", id="comment and blank line"
        ),
        pytest.param("def f():\n  a()\n", [2], "def f():\n  with torch.no_grad():\n    a()\n", id="two spaces"),
        pytest.param("def f():\n\ta()\n", [2], "def f():\n\twith torch.no_grad():\n\t\ta()\n", id="tabs"),
        pytest.param("a()\r\nb()\r\n", [1], "with torch.no_grad():\r\n    a()\r\nb()\r\n", id="CRLF"),
        pytest.param("if x:\n  y\na()\n", [3], "if x:\n  y\nwith torch.no_grad():\n  a()\n", id="the unit of the file"),
        pytest.param(
            'a("""\nb\n  c""",\n  d)\n', [1], 'with torch.no_grad():\n    a("""\nb\n  c""",\n      d)\n', id="string over lines"
        ),
        pytest.param(
            'a(f"""\n{b}\n""" "c"\n  "d")\n',
            [1],
            'with torch.no_grad():\n    a(f"""\n{b}\n""" "c"\n      "d")\n',
            id="f-string over lines",
        ),
        pytest.param("a = \\\n  b\n", [1], "with torch.no_grad():\n    a = \\\n      b\n", id="backslash"),
        pytest.param(
            "with torch.no_grad():\n    a()\n# b\nc()\n", [4], "with torch.no_grad():\n    a()\n    # b\n    c()\n", id="joins"
        ),
        pytest.param(
            "with torch.no_grad():\n  a()\nc()\n", [3], "with torch.no_grad():\n  a()\n  c()\n", id="joins with its unit"
        ),
        pytest.param(
            "with torch.no_grad(): a()\nc()\n",
            [2],
            "with torch.no_grad(): a()\nwith torch.no_grad():\n    c()\n",
            id="one-line block",
        ),
        pytest.param(
            "with torch.enable_grad():\n    a()\nc()\n",
            [3],
            "with torch.enable_grad():\n    a()\nwith torch.no_grad():\n    c()\n",
            id="another block",
        ),
        pytest.param(
            "import torch as t\na()\n", [2], "import torch as t\nwith t.no_grad():\n    a()\n", id="torch under another name"
        ),
        pytest.param(
            "from torch import nn\na()\n",
            [2],
            "import torch\nfrom torch import nn\nwith torch.no_grad():\n    a()\n",
            id="adds the import",
        ),
        pytest.param(
            '"""Doc."""\nfrom __future__ import annotations\na()\n',
            [3],
            '"""Doc."""\nfrom __future__ import annotations\nimport torch\nwith torch.no_grad():\n    a()\n',
            id="adds the import behind __future__",
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\na()\n",
            [5],
            "try:\n    import torch\nexcept ImportError:\n    torch = None\nwith torch.no_grad():\n    a()\n",
            id="optional import",
        ),
        pytest.param(
            "import torch\na()\n# why\nwith torch.no_grad():\n    b()\n",
            [2],
            "import torch\nwith torch.no_grad():\n    a()\n    # why\n    b()\n",
            id="a block follows",
        ),
        pytest.param(
            "import torch\nwith torch.no_grad():\n    a()\nb()\n\nwith torch.no_grad():\n    c()\nd()\n",
            [4],
            "import torch\nwith torch.no_grad():\n    a()\n    b()\n\n    c()\nd()\n",
            id="between two blocks",
        ),
        pytest.param(
            "import torch\na()\nwith torch.no_grad():  # why\n    b()\n",
            [2],
            "import torch\nwith torch.no_grad():\n    a()\nwith torch.no_grad():  # why\n    b()\n",
            id="a comment keeps blocks apart",
        ),
        pytest.param(
            "import torch\na()\nwith torch.no_grad():\n  b()\nwith c:\n    d()\n",
            [2],
            "import torch\nwith torch.no_grad():\n  a()\n  b()\nwith c:\n    d()\n",
            id="another indentation",
        ),
        pytest.param(
            "match x:\n    case 1:\n        a()\n",
            [3],
            "match x:\n    case 1:\n        with torch.no_grad():\n            a()\n",
            id="match",
        ),
    ],
)
def test_wraps_in_no_grad(before: str, rows: list[int], after: str) -> None:
    text = Text(before)
    edits = text.rewriter.wrap_in_no_grad(text.statements(*rows))
    assert edits is not None
    assert text.edited(*edits) == after
    ast.parse(after)


@pytest.mark.parametrize(
    ("before", "row"),
    [
        pytest.param("a(); b()\n", 1, id="semicolon"),
        pytest.param("if x:\n    pass\nelif y:\n    a()\n", 3, id="elif"),
        pytest.param("@a\ndef f():\n    pass\n", 2, id="decorator"),
    ],
)
def test_wraps_nothing_that_shares_its_lines(before: str, row: int) -> None:
    text = Text(before)
    assert text.rewriter.wrap_in_no_grad(text.statements(row)) is None


@pytest.mark.parametrize(
    ("before", "row", "after"),
    [
        ("a\nb\nc\n", 2, "a\nc\n"),
        ("a\nb  # why\nc\n", 2, "a\nc\n"),
        ("if a:\n    b\nc\n", 2, "if a:\n    pass\nc\n"),
        ("a; b\n", 1, "b\n"),
        ("a\n(b,\n c)\nd\n", 2, "a\nd\n"),
    ],
)
def test_deletes_a_statement(before: str, row: int, after: str) -> None:
    text = Text(before)
    assert text.edited(text.rewriter.delete_statement(text.statements(row)[0])) == after


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        ("from a import x, y\n", "x", "from a import y\n"),
        ("from a import x, y\n", "y", "from a import x\n"),
        ("from a import (x,\n    y,\n)\n", "y", "from a import (x,\n)\n"),
        ("import x\nb\n", "x", "b\n"),
    ],
)
def test_deletes_a_name_of_an_import(before: str, name: str, after: str) -> None:
    text = Text(before)
    statement = text.source.tree.body[0]
    assert isinstance(statement, (ast.Import, ast.ImportFrom))
    alias = next(alias for alias in statement.names if alias.name == name)
    assert text.edited(text.rewriter.delete_alias(statement, alias)) == after


def test_insertions_into_what_is_taken_away_are_dropped() -> None:
    assert combined([(0, 10, "")], [(4, 4, "x"), (10, 10, "y"), (12, 14, "z")]) == [(0, 10, ""), (10, 10, "y"), (12, 14, "z")]


# --- rules together --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "for f in net.parameters():\n    f.data.sub_(f.grad.data * lr)\n",
            "with torch.no_grad():\n    for f in net.parameters():\n        f.sub_(f.grad * lr)\n",
            id="training by hand",
        ),
        pytest.param(
            "saved = p.weight.data\np.weight.data = value\ntrain()\np.weight.data = saved\n",
            "saved = p.weight.detach()\np.weight.data = value\ntrain()\np.weight.data = saved\n",
            id="what was kept is not overwritten",
        ),
        pytest.param(
            "m.weight.data = value\nm.bias.data.zero_()\nm.weight.data.clamp_(-1, 1)\n",
            "with torch.no_grad():\n    m.weight.copy_(value)\n    m.bias.zero_()\n    m.weight.clamp_(-1, 1)\n",
            id="one block for two rules",
        ),
        pytest.param(
            "m.weight.data = m.weight.data * 2 + m.bias.data\n",
            "with torch.no_grad():\n    m.weight.copy_(m.weight * 2 + m.bias)\n",
            id="reads inside the block",
        ),
    ],
)
def test_all_fixes_together(before: str, after: str) -> None:
    assert fix(Source(before), all_rules(), Applicability.UNSAFE).text == after


# --- imports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "statement", "after"),
    [
        pytest.param("import torch\nx\n", "import copy", "import copy\n\nimport torch\nx\n", id="a group of its own"),
        pytest.param(
            "import argparse\nimport os\n\nimport torch\n",
            "import copy",
            "import argparse\nimport copy\nimport os\n\nimport torch\n",
            id="in its place",
        ),
        pytest.param("import os\n\nimport torch\n", "import time", "import os\nimport time\n\nimport torch\n", id="last"),
        pytest.param("import os\n\nimport torch\n", "import copy", "import copy\nimport os\n\nimport torch\n", id="first"),
        pytest.param(
            "from typing import Any\nimport torch\n",
            "import copy",
            "import copy\nfrom typing import Any\nimport torch\n",
            id="from",
        ),
        pytest.param(
            '"""Doc."""\nfrom __future__ import annotations\nimport numpy as np\n',
            "import copy",
            '"""Doc."""\nfrom __future__ import annotations\nimport copy\n\nimport numpy as np\n',
            id="behind the future",
        ),
        pytest.param(
            "import numpy as np\nimport torch.nn as nn\n",
            "import torch",
            "import numpy as np\nimport torch\nimport torch.nn as nn\n",
            id="torch",
        ),
        pytest.param("import numpy as np\n", "import torch", "import torch\nimport numpy as np\n", id="no torch"),
        pytest.param('"""Doc."""\nx = 1\n', "import copy", '"""Doc."""\nimport copy\nx = 1\n', id="no imports"),
        pytest.param(
            "import os, sys\r\nimport torch\r\n",
            "import time",
            "import os, sys\r\nimport time\r\nimport torch\r\n",
            id="newlines",
        ),
    ],
)
def test_adds_imports_where_the_others_of_their_kind_are(before: str, statement: str, after: str) -> None:
    text = Text(before)
    assert text.edited(text.rewriter.add_import(statement)) == after
    ast.parse(after)
