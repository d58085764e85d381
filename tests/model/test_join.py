"""The joint: each libcst node has the twin that stands at its place, in statements alone and in whole modules."""

from __future__ import annotations

import ast
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

import torchlint
from torchlint.model import Model
from torchlint.model.positions import written
from torchlint.semantics import Semantics
from torchlint.semantics.code.units import Unit, unit_of
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source, SourceError

STATEMENTS = [
    "x = a.b(c, *d, e=1, **f)",
    "f(a=1, *b, c=2)",
    "x[1:2, ..., None] = y[::2]",
    "x[*a, 1] = 2",
    "x = *a.b",  # parsed, though not compiled
    "for a in *b.c: d",
    "*a.b",
    "a = b = c, d = 1, 2",
    "a, *b = c",
    "x: int = 3",
    "x: int",
    "x += a and b and (c or d or e) and not f",
    "del a, b[0], (c, d)",
    "del (a)",
    "assert a < b <= c != d, 'message'",
    "raise Error(a) from b",
    "return_ = lambda a, /, b=1, *c, d=2, e, **f: a + b",
    "x = [a for b in c if d if e for f in g]",
    "x = {a: b for a, b in c}",
    "x = {**a, b: c}",
    "x = {a, *b}",
    "x = (yield)",
    "x = f'{a.b!r:>{width}}' 'plain' f\"{c}\"",
    "x = 'a' 'b' f'{c}' ''",
    "x = (a := b) if c else -d ** +e",
    "import a.b as c, d",
    "from . import (a as b, c)",
    "from a import *",
    "global a, b",
    "print(a); b.c()",
    "with a as b, (c) as (d, e): pass",
    "for a, b in c: pass",
    "while a: pass",
    "if a: pass\nelif b.c: d.e\nelse: f.g",
    "try: a.b\nexcept c.d as e: f\nexcept (g, h): i\nelse: j.k\nfinally: l.m",
    "try: a\nexcept* b.c: d",
    "match a.b:\n    case [c, d] if e.f: g.h\n    case _: i",
    "@a.b(c)\n@d\ndef f(a: b.c, *d: e, f: g = h, **i) -> j.k:\n    return l",
    "@a.b\nclass C(a, *b, metaclass=c, **d):\n    x = 1",
    "class C[T]: pass",
    "def f[T](x: T) -> T: return x",
    "type A[T] = list[T]",
    "async def f():\n    async with a as b: await c\n    async for d in e: pass\n    return [g async for g in h]",
    "if a:\n    @b\n    def c(): pass\n    @d  # note\n    class E: pass",
    "x = (  # note\n    a\n    # another\n    .b)",
]
"""Every form of statement and expression."""

PLAIN = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer, cst.BinaryOperation, cst.Comparison, cst.List)

LAYOUTS = {
    "lf": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "cr": lambda text: text.replace("\n", "\r"),
}


def model_of(text: str) -> Model:
    source = Source(text)
    return Model(source, Semantics(source.tree), Suppressions(source))


def units(model: Model) -> Iterator[Unit]:
    tree = model.semantics.tree
    parts = (node for node in tree.nodes if isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case)))
    return iter(dict.fromkeys(unit_of(tree, node) for node in parts))


def assert_in_place(text: str) -> int:
    """Checks that names, attributes, calls, items and constants stand where their twins do; how many there are."""
    model = model_of(text)
    count = 0
    for unit in units(model):
        parsed = model.parsed(unit)
        for node, twin in parsed.join.twins.items():
            if isinstance(node, PLAIN) and isinstance(twin, ast.expr) and model.is_placed(node):
                start, end = parsed.spans[node]
                if node.lpar:
                    start, end = parsed.spans[node.lpar[-1]][1], parsed.spans[node.rpar[0]][0]
                assert (start, end) == (model.source.start(twin), model.source.end(twin)), model.source.segment(twin)
                count += 1
    return count


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_form_is_joined(statement: str, layout: str) -> None:
    text = LAYOUTS[layout](statement + "\n")
    for indented in (text, LAYOUTS[layout]("if outer:\n    " + statement.replace("\n", "\n    ") + "\n")):
        assert model_of(indented) is not None
        for unit in units(model := model_of(indented)):
            parsed = model.parsed(unit)
            assert unit in parsed.join.concrete


@pytest.mark.parametrize("statement", STATEMENTS)
def test_all_of_a_statement_that_is_computed_has_a_node(statement: str) -> None:
    """Of every expression and statement; patterns, several indices at once and what is written in types aside."""
    model = model_of(f"{statement}\n")
    joined = {twin for unit in units(model) for twin in model.parsed(unit).join.twins.values()}
    nodes = list(ast.walk(model.semantics.tree.module))
    aside = [node for node in nodes if isinstance(node, (ast.pattern, ast.JoinedStr)) or type(node).__name__ == "TypeAlias"]
    ignored = {part for node in aside for part in ast.walk(node)}
    ignored |= {node.slice for node in nodes if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)}
    wanted = (node for node in nodes if isinstance(node, (ast.expr, ast.stmt)) and not isinstance(node, ast.Starred))
    assert [ast.dump(node) for node in wanted if node not in joined | ignored] == []


def sample() -> list[Path]:
    """Files of the library, but for those that only import others."""
    library = Path(sysconfig.get_path("stdlib"))
    found = sorted(path for path in library.glob("*.py"))[::9] + sorted((library / "asyncio").glob("*.py"))[::5]
    return [path for path in found if path.stat().st_size > 4000]


@pytest.mark.parametrize("path", sample(), ids=lambda path: path.name)
def test_nodes_of_real_code_stand_where_their_twins_do(path: Path) -> None:
    try:
        source = Source.decode(path.read_bytes(), str(path))
        assert source.tree
    except SourceError:
        pytest.skip("not for this Python")
    assert assert_in_place(source.text) > 20


@pytest.mark.parametrize("path", sample()[::4], ids=lambda path: path.name)
def test_whole_modules_are_joined(path: Path) -> None:
    source = Source.decode(path.read_bytes(), str(path))
    model = Model(source, Semantics(source.tree), Suppressions(source))
    assert isinstance(model.whole, cst.Module)
    statements = [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt)]
    assert all(ast.unparse(statement) == model.shown(model.concrete(statement)) for statement in statements[::7])


@pytest.mark.parametrize(
    ("text", "depth"),
    [("x = " + " and ".join(["a"] * 900), 900), ("x = " + "'a' " * 900, 900), ("x = " + "-" * 600 + "1", 600)],
    ids=["operands", "strings", "signs"],
)
def test_what_is_nested_deeply_is_parsed_all_the_same(text: str, depth: int) -> None:
    model = model_of(f"{text}\n")
    [unit] = units(model)
    assert len(model.parsed(unit).text) >= depth


def test_what_is_nested_too_deeply_for_libcst_is_refused() -> None:
    model = model_of("x = " + " and ".join(["a"] * 20_000) + "\n")
    [unit] = units(model)
    with pytest.raises(RecursionError):
        model.parsed(unit)


def test_libcsts_writer_can_be_recorded() -> None:
    """`torchlint.model.positions` builds on a class that libcst does not make public."""
    from libcst._nodes.internal import CodegenState

    for method in ("add_token", "add_indent_tokens", "pop_trailing_newline", "before_codegen", "after_codegen"):
        assert callable(getattr(CodegenState, method))
    module = cst.parse_module("x = (a  # why\n  .b)\n")
    code, nodes = written(module, module)
    assert code == "x = (a  # why\n  .b)\n"
    assert [code[start:end] for node, start, end in nodes if isinstance(node, cst.Comment)] == ["# why"]


def test_a_line_may_end_behind_async_in_brackets() -> None:
    """libcst 1.8 raises an AttributeError of its own there."""
    head = "import torch\nw = torch.nn.Linear(2, 2).weight\nasync def f(x):\n"
    text = f"{head}    w.data.mul_(sum([y async  # one\n  for y in x]))\n"
    assert torchlint.fix(text, unsafe=True).text == (
        f"{head}    with torch.no_grad():\n        w.mul_(sum([y async  # one\n      for y in x]))\n"
    )
