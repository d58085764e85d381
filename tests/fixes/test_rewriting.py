"""The edits that rules share: each case is a text, the edit, and the text it must give."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.fixes.names.imports import TextEdit
from torchlint.fixes.rewriting import Rewriter, combined
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules
from torchlint.semantics import Semantics
from torchlint.text.source import Source

Node = TypeVar("Node", bound=ast.AST)


class Text:
    """A text with its first node of each type at hand."""

    def __init__(self, text: str) -> None:
        self.source = Source(text)
        self.semantics = Semantics(self.source.tree)
        self.rewriter = Rewriter(self.source, self.semantics)

    def first(self, node_type: type[Node], having: Callable[[Node], bool] = lambda _: True) -> Node:
        return next(node for node in self.semantics.tree.nodes if isinstance(node, node_type) and having(node))

    def statements(self, *rows: int) -> list[ast.stmt]:
        return [self.first(ast.stmt, lambda node, row=row: node.lineno == row) for row in rows]  # type: ignore[misc]

    def edited(self, *edits: TextEdit) -> str:
        text = self.source.text
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        return text


# --- statements ------------------------------------------------------------------------------------------------------


def no_grad(text: Text, row: int) -> tuple[str, list[TextEdit]]:
    """How the code spells ``torch.no_grad()``, and the edits that import torch."""
    torch, imports = text.rewriter.torch_name(text.statements(row)[0])
    return f"{torch}.no_grad()", imports


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
    edits = text.rewriter.wrap(text.statements(*rows), *no_grad(text, rows[0]))
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
    assert text.rewriter.wrap(text.statements(row), *no_grad(text, row)) is None


@pytest.mark.parametrize(
    ("before", "row", "after"),
    [
        ("a\nb\nc\n", 2, "a\nc\n"),
        ("a\nb  # why\nc\n", 2, "a\nc\n"),
        ("if a:\n    b\nc\n", 2, "if a:\n    pass\nc\n"),
        ("a; b\n", 1, "b\n"),
        ("a ; \\\n\tb\n", 1, "b\n"),
        ("a ; \\\r\n\\\r\n b\r\n", 1, "b\r\n"),
        ("b; \\\n  (a)\n", 2, "b\n"),
        ("a;b;c\n", 1, "b;c\n"),
        ("a\n(b,\n c)\nd\n", 2, "a\nd\n"),
        ("if a:\n    b\nelse:\n    c\nd\n", 4, "if a:\n    b\nd\n"),
        ("if a:\n    b  # why\n\nelse : c\nd\n", 4, "if a:\n    b  # why\nd\n"),
        ("if a:\n    b\nelif e:\n    f\nelse:\n    c", 6, "if a:\n    b\nelif e:\n    f\n"),
        ("for a in b:\n    e\nelse:\n    c\nd\n", 4, "for a in b:\n    e\nd\n"),
        ("if a:\n    b\nelse:  # why\n    c\n", 4, "if a:\n    b\nelse:  # why\n    pass\n"),
        ("if a:\n    b\n# why\nelse:\n    c\n", 5, "if a:\n    b\n# why\nelse:\n    pass\n"),
        ("if a:\n    b\nelse:\n    c  # why\n", 4, "if a:\n    b\nelse:\n    pass  # why\n"),
        ("if a:\n    b\nelif e:\n    c\nd\n", 4, "if a:\n    b\nelif e:\n    pass\nd\n"),
        ("try:\n    a\nfinally:\n    c\n", 4, "try:\n    a\nfinally:\n    pass\n"),
    ],
)
def test_deletes_a_statement(before: str, row: int, after: str) -> None:
    text = Text(before)
    assert text.edited(text.rewriter.delete_statement(text.statements(row)[0])) == after
    ast.parse(after)


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


@pytest.mark.parametrize("indentation", ["\f  ", "  \f "])
def test_what_a_form_feed_keeps_from_being_indented_is_not_put_into_a_block(indentation: str) -> None:
    head = "import torch\nw = torch.nn.Linear(2, 2).weight\nif w.dim():\n"
    result = fix(Source(f"{head}{indentation}w.data.mul_(2)\n"), all_rules())
    assert (result.text, result.broken) == (f"{head}{indentation}w.detach().mul_(2)\n", ())


@pytest.mark.parametrize(
    "text",
    [
        "\f@d(x.data)\n\fdef f():\n    pass\n",
        "\f@d(\n x.data\n\f)\n\f@e\n\fdef f():\n    pass\n",
        "class C:\n  \f    @d(x.data)\n\f    @e\n \f    def f():\n        pass\n",
        "class C:\n\f    @d(x.data)\n    def f():  # of the first line\n\f        # of the block\n  \f        pass\n",
        "class C:\n    @d\n    def f(y=x.data,\n\f          z=1): \\\n\f        pass\n",
        "match x:\n\f    case y if x.data:\n\f        pass\n\f    case z:\n        pass\n",
        "try:\n\f    pass\n\fexcept x.data:\n\f    pass\n",
    ],
)
def test_what_heads_a_block_behind_form_feeds_is_looked_at(text: str) -> None:
    found = lint(Source(f"import torch\nx = torch.ones(3, requires_grad=True)\n{text}"), all_rules())
    assert [each.code for each in found] == ["TPL002"]


@pytest.mark.parametrize("field", ["{x.data=}", "{(x.data) = !r:>9}", "{f(x.data)\n=}"])
def test_what_prints_its_own_code_is_changed_when_asked_to(field: str) -> None:
    text = f'import torch\nx = torch.ones(1)\nprint(f"""{field}""")\n'
    assert fix(Source(text), all_rules()).text == text
    assert fix(Source(text), all_rules(), Applicability.UNSAFE).text == text.replace("data", "detach()")


@pytest.mark.parametrize(
    ("printed", "after"),
    [
        ('f"{net.load_state_dict(torch.load(p))}"', "f\"{net.load_state_dict(torch.load(p, map_location='cpu'))}\""),
        ("f'{net.load_state_dict(torch.load(p))}'", "f'{net.load_state_dict(torch.load(p, map_location=\"cpu\"))}'"),
        ('f"{1:{net.load_state_dict(torch.load(p))}}"', "f\"{1:{net.load_state_dict(torch.load(p, map_location='cpu'))}}\""),
        ('f"{1}", net.load_state_dict(torch.load(p))', 'f"{1}", net.load_state_dict(torch.load(p, map_location="cpu"))'),
    ],
)
def test_a_string_that_is_added_within_an_f_string_has_other_quotes(printed: str, after: str) -> None:
    head = "import torch\nnet = torch.nn.Linear(2, 2)\n"
    result = fix(Source(f"{head}print({printed})\n"), select_rules(["TPL501"]), Applicability.UNSAFE)
    assert (result.text, result.broken) == (f"{head}print({after})\n", ())


@pytest.mark.parametrize("field", ["{x.data}=", "{x.data:=^9}", "{f(x.data)==1}", "{f(x.data)!=1}"])
def test_what_only_looks_as_if_it_printed_its_code_is_changed(field: str) -> None:
    text = f'import torch\nx = torch.ones(1)\nprint(f"{field}")\n'
    assert fix(Source(text), all_rules(), Applicability.UNSAFE).text == text.replace("data", "detach()")


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
        pytest.param(
            '"""Doc."""; from __future__ import annotations; import torch.nn as nn\n',
            "import torch",
            '"""Doc."""; from __future__ import annotations; import torch; import torch.nn as nn\n',
            id="behind a docstring and the future on one line",
        ),
        pytest.param(
            'x = """\n"""; import torch.nn as nn\n',
            "import torch",
            'x = """\n"""; import torch; import torch.nn as nn\n',
            id="behind a string of several lines",
        ),
        pytest.param(
            'import abc; x = """\n"""\n',
            "import copy",
            'import abc; import copy; x = """\n"""\n',
            id="before a string of several lines",
        ),
        pytest.param(
            'from __future__ import annotations; x = """\n"""\n',
            "import torch",
            'from __future__ import annotations; import torch; x = """\n"""\n',
            id="behind the future, before a string",
        ),
        pytest.param(
            "x = 1; \\\n  import torch.nn as nn\n",
            "import torch",
            "x = 1; \\\n  import torch; import torch.nn as nn\n",
            id="behind a backslash",
        ),
        pytest.param(
            "import torch\nfrom shutil import *\nimport abc\n",
            "import copy",
            "import torch\nfrom shutil import *\nimport copy\nimport abc\n",
            id="below an import of everything",
        ),
        pytest.param(
            "import abc\nfrom torch.nn import *\n",
            "import copy",
            "import abc\nimport copy\nfrom torch.nn import *\n",
            id="not torch's",
        ),
        pytest.param("@f\n@g\nclass A: pass\n", "import torch", "import torch\n@f\n@g\nclass A: pass\n", id="decorators"),
        pytest.param("import os", "import time", "import os; import time", id="no final newline"),
        pytest.param(
            "import os\ntry:\n  from torch import nn\nexcept ImportError:\n  nn = None\n",
            "import torch",
            "import os\ntry:\n  import torch\n  from torch import nn\nexcept ImportError:\n  nn = None\n",
            id="where it may fail",
        ),
        pytest.param(
            "try: from torch import nn\nexcept ImportError: nn = None\n",
            "import torch",
            "try: import torch; from torch import nn\nexcept ImportError: nn = None\n",
            id="where it may fail, on one line",
        ),
    ],
)
def test_adds_imports_where_the_others_of_their_kind_are(before: str, statement: str, after: str) -> None:
    text = Text(before)
    assert text.edited(text.rewriter.imports.add(statement)) == after
    ast.parse(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import typing\nif typing.TYPE_CHECKING:\n    import torch\nfrom torch.nn import Linear\n",
            "import typing\nif typing.TYPE_CHECKING:\n    import torch\nimport torch\nfrom torch.nn import Linear\n",
            id="for type checkers only",
        ),
        pytest.param(
            "def f():\n    import torch\nfrom torch.nn import Linear\n",
            "def f():\n    import torch\nimport torch\nfrom torch.nn import Linear\n",
            id="in another function",
        ),
        pytest.param(
            "try:\n    import torch\nexcept ImportError:\n    torch = None\nfrom torch.nn import Linear\n",
            "try:\n    import torch\nexcept ImportError:\n    torch = None\nfrom torch.nn import Linear\n",
            id="if it is there",
        ),
        pytest.param(
            "torch = pytest.importorskip('torch')\nfrom torch.nn import Linear\n",
            "torch = pytest.importorskip('torch')\nfrom torch.nn import Linear\n",
            id="by a call",
        ),
    ],
)
def test_torch_is_imported_where_it_is_not_when_the_program_runs(before: str, after: str) -> None:
    statements = "w = Linear(2, 2).weight\nw.data.mul_(2)\n"
    fixed = fix(Source(before + statements), all_rules()).text
    assert fixed == after + "w = Linear(2, 2).weight\nwith torch.no_grad():\n    w.mul_(2)\n"


def test_torch_is_imported_where_the_whole_file_imports_it_in_functions_only() -> None:
    before = (
        "def f():\n    import torch\ndef g():\n    from torch.nn import Linear\n    w = Linear().weight\n    w.data.mul_(2)\n"
    )
    fixed = fix(Source(before), all_rules()).text
    assert fixed == "import torch\n" + before.replace("    w.data", "    with torch.no_grad():\n        w")


@pytest.mark.parametrize(
    "function",
    [
        "    def g(w: torch.Tensor):\n        w.data.mul_(2)\n",
        "    class A:\n        def g(self, w: torch.Tensor):\n            w.data.mul_(2)\n",
        "    f(w.data.mul_(2) for w in v)\n    v.weight.data.mul_(2)\n",
    ],
)
def test_torch_that_a_function_around_imports(function: str) -> None:
    before = f"import os\ndef f(v):\n    import torch\n{function}"
    fixed = fix(Source(before), all_rules(), Applicability.UNSAFE).text
    assert fixed.startswith("import os\ndef f(v):\n    import torch\n")
    assert "with torch.no_grad():\n" in fixed


def test_torch_that_a_function_imports_too_late() -> None:
    before = "import os\ndef f(v):\n    v.weight.data.mul_(2)\n    import torch\n"
    fixed = fix(Source(before), all_rules(), Applicability.UNSAFE).text
    assert fixed == (
        "import torch as _torch\nimport os\ndef f(v):\n    with _torch.no_grad():\n        v.weight.mul_(2)\n    import torch\n"
    )


@pytest.mark.parametrize("taken", ["(torch)", "(w, torch=1)"])
def test_a_name_that_is_something_else_is_not_taken_for_the_module(taken: str) -> None:
    before = f"from torch.nn import Linear\ndef f{taken}:\n    w = Linear(2, 2).weight\n    w.data.mul_(2)\n"
    fixed = fix(Source(before), all_rules()).text
    assert fixed == "import torch as _torch\n" + before.replace("    w.data", "    with _torch.no_grad():\n        w")


def test_a_function_that_is_called_deepcopy_is_not_taken_for_that_of_copy() -> None:
    before = """\
import torch
copy = 3
def deepcopy(x): pass
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
best = model.state_dict()
optimizer.step()
model.load_state_dict(best)
"""
    fixed = fix(Source(before), all_rules(), Applicability.UNSAFE).text
    after = before.replace("= model.state_dict()", "= _deepcopy(model.state_dict())")
    assert fixed == "from copy import deepcopy as _deepcopy\n\n" + after
