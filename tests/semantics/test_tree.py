"""The tree visits what Python's own walk and libcst's traversal visit."""

from __future__ import annotations

import ast
import random
from collections import Counter
from pathlib import Path

import pytest

import torchlint
from forms import is_thorough
from marked import marked
from torchlint.semantics.code.tree import Tree, argument, given_to, walk

PACKAGE = Path(torchlint.__file__).parent
FILES = sorted(
    [*(path for path in PACKAGE.rglob("*.py") if "_fixtures" not in path.parts), *Path(__file__).parent.glob("*.py")]
)[:: 1 if is_thorough() else 5]
"""Of the files of the package and of the tests beside this one, some, or all."""

EVERYTHING = '''
"""Every kind of node."""
from __future__ import annotations
import a.b as c, d
from . import e
from ..f import (g as h, i)

@decorated(1)
class A(B, metaclass=C):
    x: int = 1
    y: "str"
    def f(self, a, /, b=1, *args, c: int = 2, d, **kwargs) -> None:
        global k
        k = yield a
        yield from b
        return (lambda p, *q, r=1, **s: p)(*args, **kwargs)

async def g(x):
    nonlocal_ = [await y async for y in x if y if not y]
    async with p as q, r: pass
    async for i in x: continue
    else: pass
    return {**a, 1: 2}, {1, 2}, {k: v for k, v in x}, {z for z in x}, (w for w in x)

def outer():
    n = 1
    def inner():
        nonlocal n
        n += 1
        del n
    while n < 2 <= 3 and not n or n is None and n not in x:
        break
    else:
        n = 1 if n else 2
    try:
        raise E from F
    except (G, H) as e:
        assert e, "message"
    except I: pass
    else: pass
    finally: pass
    with a as (b, c), d: pass
    x[1:2:3], x[..., None], x.y.z = -1, ~2, +3
    (m := 5) ** 2 @ 3 // 4 % 5 << 6 >> 7 | 8 ^ 9 & 10
    first, *rest = f"{x!r:>{width}} {y=}" "joined", b"bytes", 1j
    match x:
        case 1 | -2 | None | "s": pass
        case [a, *b] if a: pass
        case {"k": v, **w}: pass
        case P(1, q=r) as t: pass
        case _: pass
'''


@pytest.fixture(scope="module", params=FILES, ids=lambda path: path.name)
def grown(request: pytest.FixtureRequest) -> tuple[str, Tree]:
    """A text and its tree, which is grown once for all that is asked of it: pytest asks it of one file after the other."""
    text = request.param.read_text("utf-8")
    return text, Tree(ast.parse(text))


def assert_has_all(tree: Tree) -> None:
    """Contexts and operators are left out."""
    expected = {
        node
        for node in ast.walk(tree.module)
        if not isinstance(node, (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop))
    }
    assert len(tree.nodes) == len(expected) and set(tree.nodes) == expected


def test_the_tree_has_the_nodes_that_python_walks(grown: tuple[str, Tree]) -> None:
    _, tree = grown
    assert_has_all(tree)


def test_the_tree_has_every_kind_of_node_that_python_walks() -> None:
    assert_has_all(Tree(ast.parse(EVERYTHING)))


def test_the_nodes_come_in_the_order_of_the_text() -> None:
    tree = Tree(ast.parse("a = f(b, c=d)[e].g + (lambda h: h)(1)\nif i: j\nelif k: l\nelse: m\nx: y = z\n"))
    named = [node for node in tree.nodes if isinstance(node, (ast.Name, ast.keyword, ast.arg, ast.Attribute))]
    words = [getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "attr", None) for node in named]
    assert words == ["a", "g", "f", "b", "c", "d", "e", "h", "h", "i", "j", "k", "l", "m", "x", "y", "z"]


def test_a_node_comes_behind_its_parent_and_the_statements_by_line(grown: tuple[str, Tree]) -> None:
    _, tree = grown
    order = {node: index for index, node in enumerate(tree.nodes)}
    assert all(order[parent] < order[node] for node in tree.nodes if (parent := tree.parent(node)) is not None)
    rows = [node.lineno for node in tree.nodes if isinstance(node, ast.stmt)]
    assert rows == sorted(rows)


def test_libcst_counts_the_same(grown: tuple[str, Tree]) -> None:
    """libcst, an independent parser, has as many calls, subscripts, functions and so on, and the same words as names.

    By design the two differ in this: libcst has a `Name` also for the word behind a dot, for a keyword, a parameter, a def,
    a class, an import and a constant such as ``None``, and one node for ``yield`` and ``yield from``, for ``def`` and
    ``async def`` and so on. Its boolean operations are nested where Python's hold a chain, and a dotted import is an
    attribute: those and constants are left out.
    """
    cst = pytest.importorskip("libcst")
    text, tree = grown
    theirs: Counter[str] = Counter()
    names: Counter[str] = Counter()

    class Counting(cst.CSTVisitor):  # type: ignore[misc, name-defined]
        def on_visit(self, node: object) -> bool:
            theirs[type(node).__name__] += 1
            if isinstance(node, cst.Name):
                names[node.value] += 1
            return True

    cst.parse_module(text).visit(Counting())
    ours: Counter[str] = Counter()
    own: Counter[str] = Counter()
    for node in tree.nodes:
        ours[type(node).__name__] += 1
        own.update(_names_in(node))
    for kept, folded in (
        ("Yield", "YieldFrom"),
        ("FunctionDef", "AsyncFunctionDef"),
        ("For", "AsyncFor"),
        ("With", "AsyncWith"),
    ):
        ours[kept] += ours[folded]
    assert {name: ours[name] for name in SAME} == {name: theirs[SAME[name]] for name in SAME}
    assert own == names


SAME = {
    **{
        name: name for name in ("Call", "Subscript", "Lambda", "ListComp", "SetComp", "DictComp", "GeneratorExp", "Dict", "Set")
    },
    **{
        name: name
        for name in ("If", "For", "While", "With", "Try", "Match", "Return", "Raise", "Assert", "Pass", "Break", "Yield")
    },
    **{
        name: name
        for name in ("FunctionDef", "ClassDef", "Import", "ImportFrom", "Assign", "AugAssign", "AnnAssign", "ExceptHandler")
    },
    **{name: name for name in ("IfExp", "NamedExpr", "Await", "Global", "Nonlocal")},
    **{"Compare": "Comparison", "BinOp": "BinaryOperation", "UnaryOp": "UnaryOperation", "Delete": "Del"},
}
"""Node types of Python's parser, and those of libcst's."""


def _names_in(node: ast.AST) -> list[str]:
    """The words of a node that libcst makes a `Name` of."""
    match node:
        case (
            ast.Name(id=name)
            | ast.Attribute(attr=name)
            | ast.arg(arg=name)
            | ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
        ):
            return [name]
        case (
            ast.keyword(arg=str(name))
            | ast.ExceptHandler(name=str(name))
            | ast.MatchAs(name=str(name))
            | ast.MatchStar(name=str(name))
        ):
            return [name]
        case ast.MatchClass(kwd_attrs=words):
            return list(words)
        case ast.alias(name=name, asname=asname):
            return [*([] if name == "*" else name.split(".")), *([asname] if asname else [])]
        case ast.ImportFrom(module=str(module)):
            return module.split(".")
        case ast.Global(names=words) | ast.Nonlocal(names=words):
            return words
        case ast.Constant(value=value) | ast.MatchSingleton(value=value):
            return [str(value)] if isinstance(value, (bool, type(None))) else []
    return []


def test_the_statement_of_a_node() -> None:
    text = "if a:\n    b = f(c, [d for d in e])\nfor g in h: pass\n@i\ndef j(k=l): return m\ntry: n\nexcept o: p\n"
    tree = Tree(ast.parse(text))
    rows = {node.id: tree.statement(node).lineno for node in tree.nodes if isinstance(node, ast.Name)}
    assert rows == {
        "a": 1,
        "b": 2,
        "f": 2,
        "c": 2,
        "d": 2,
        "e": 2,
        "g": 3,
        "h": 3,
        "i": 5,
        "l": 5,
        "m": 5,
        "n": 6,
        "o": 6,
        "p": 7,
    }


@pytest.mark.parametrize(
    ("snippet", "function"),
    [
        ("«x»", None),
        ("def f(): «x»", "f"),
        ("def f(a=«x»): pass", None),
        ("def f():\n    @«x»\n    def g(): pass", "f"),
        ("def f():\n    class A:\n        y = «x»", "f"),
        ("def f():\n    def g(): «x»", "g"),
        ("async def f(): return [«x» for x in y]", "f"),
    ],
)
def test_the_function_of_a_node(snippet: str, function: str | None) -> None:
    semantics, (node,) = marked(snippet)
    found = semantics.tree.function(node)
    assert (found.name if isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)) else found) == function


@pytest.mark.parametrize(
    ("snippet", "rows"),
    [
        ("«x»", []),
        ("for i in y:\n    «x»", [1]),
        ("for i in «x»:\n    pass", []),
        ("for i in y:\n    pass\nelse:\n    «x»", []),
        ("while «x»:\n    pass", [1]),
        ("for i in y:\n    while z:\n        if a:\n            «x»", [2, 1]),
        ("for i in y:\n    for j in z:\n        pass\n    else:\n        «x»", [1]),
        ("for i in y:\n    def f():\n        while z:\n            «x»", [3]),
        ("for i in y:\n    class A:\n        «x»", []),
    ],
)
def test_the_loops_around_a_node(snippet: str, rows: list[int]) -> None:
    semantics, (node,) = marked(snippet)
    assert [loop.lineno for loop in semantics.tree.loops(node)] == rows


@pytest.mark.parametrize(
    ("snippet", "rows"),
    [
        ("a\n«x»\nb", [1, 2, 3]),
        ("if c:\n    a\n    «x»\nelse:\n    b", [2, 3]),
        ("if c:\n    a\nelse:\n    «x»\n    b", [4, 5]),
        ("try:\n    a\nexcept E:\n    «x»\n    b\nelse:\n    c\nfinally:\n    d", [4, 5]),
        ("try:\n    a\nexcept E:\n    b\nelse:\n    «x»\nfinally:\n    d", [6]),
        ("try:\n    a\nfinally:\n    d\n    «x»", [4, 5]),
        ("match y:\n    case 1:\n        «x»\n    case 2:\n        a", [3]),
    ],
)
def test_the_block_of_a_statement(snippet: str, rows: list[int]) -> None:
    semantics, (node,) = marked(snippet)
    assert [statement.lineno for statement in semantics.tree.block(semantics.tree.statement(node))] == rows


def test_walk_leaves_nested_functions_and_classes_alone() -> None:
    function = ast.parse("def f():\n    a\n    def g(): b\n    lambda: c\n    class D: e\n    h\n").body[0]
    assert [node.id for node in walk(function) if isinstance(node, ast.Name)] == ["a", "h"]


def test_a_node_asked_about_in_any_order_has_the_same_statement() -> None:
    text = EVERYTHING
    tree, again = Tree(ast.parse(text)), Tree(ast.parse(text))
    pairs = list(zip(tree.nodes, again.nodes))[1:]
    random.Random(0).shuffle(pairs)
    shuffled = {one: tree.statement(one) for one, _ in pairs}
    for one, other in pairs:
        expected = other
        while not isinstance(expected, ast.stmt):
            expected = again.parent(expected) or other
        assert shuffled[one].lineno == expected.lineno and type(shuffled[one]) is type(expected)


def test_what_a_call_is_given() -> None:
    call = ast.parse("f(a, *b, c=1, **d)", mode="eval").body
    assert isinstance(call, ast.Call)
    assert [ast.unparse(each) for each in given_to(call)] == ["a", "*b", "1", "d"]


@pytest.mark.parametrize(("code", "found"), [("f(a, b)", "b"), ("f(a, x=c)", "c"), ("f(a)", None), ("f()", None)])
def test_an_argument_by_its_place_or_its_keyword(code: str, found: str | None) -> None:
    call = ast.parse(code, mode="eval").body
    assert isinstance(call, ast.Call)
    given = argument(call, 1, "x")
    assert (given and ast.unparse(given)) == found
