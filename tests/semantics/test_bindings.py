"""Which definitions reach a use of a name: the expected line numbers count the lines of the snippet from 1."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from marked import lines, marked
from torchlint.semantics import Form


def case(snippet: str, *expected: int) -> object:
    text = dedent(snippet).strip("\n")
    return pytest.param(text, sorted(expected), id=text.replace("\n", "⏎"))


BRANCHES = [
    case("x = 1\nx = 2\n«x»", 2),
    case("x = 1\nif c:\n    x = 2\n«x»", 1, 3),
    case("x = 1\nif c:\n    x = 2\nelse:\n    x = 3\n«x»", 3, 5),
    case("if c:\n    x = 1\nelif d:\n    x = 2\n«x»", 2, 4),
    case("x = 1\nif c:\n    x = 2\nelif d:\n    x = 3\nelif e:\n    pass\nelse:\n    x = 4\n«x»", 1, 3, 5, 9),
    case("x = 1\nif c:\n    x = 2\n    raise E\n«x»", 1),
    case("def f():\n    x = 1\n    if c:\n        x = 2\n        return x\n    «x»", 2),
    case("def f():\n    x = 1\n    if c:\n        return x\n    else:\n        x = 2\n    «x»", 6),
    case("def f():\n    x = 1\n    if c:\n        x = 2\n        if d:\n            return 1\n    «x»", 2, 4),
    case("x = 1\nif c:\n    «x»\n    x = 2", 1),
    case("x = 1\nif (x := f()):\n    pass\n«x»", 2),
    case("match v:\n    case 1:\n        x = 1\n    case 2:\n        x = 2\n«x»", 3, 5),
    case("x = 0\nmatch v:\n    case 1:\n        x = 1\n    case _:\n        x = 2\n«x»", 4, 6),
    case("x = 0\nmatch v:\n    case 1:\n        x = 1\n    case y:\n        raise E\n«x»", 4),
    case("match v:\n    case [x, *_]:\n        «x»", 2),
    case("x = 0\nmatch v:\n    case [x]:\n        pass\n    case _:\n        «x»", 1),
    case("match v:\n    case {'a': 1, **x}:\n        «x»", 2),
    case("match v:\n    case A(b=x) if «x»:\n        pass", 2),
    case("x = 1\nwith f() as x:\n    «x»", 2),
    case("with f() as (a, x), g(x) as b:\n    pass\n«x»", 1),
    case("x = 1\nassert x\ndel x\nx = 2\n«x»", 4),
]

LOOPS = [
    case("x = 0\nfor i in y:\n    «x»\n    x = 1", 1, 4),
    case("x = 0\nfor i in y:\n    x = 1\n    «x»", 3),
    case("x = 0\nfor i in y:\n    x = 1\n«x»", 1, 3),
    case("x = 0\nfor x in y:\n    pass\n«x»", 1, 2),
    case("x = 0\nfor x in «x»:\n    pass", 1),
    case("x = 0\nfor x in y:\n    «x»\n    x = 3", 2),
    case("for a, (b, x) in y:\n    «x»", 1),
    case("x = 0\nwhile «x»:\n    x = 1", 1, 3),
    case("x = 0\nwhile (x := f()):\n    «x»\n    x = 1", 2),
    case("x = 0\nfor i in y:\n    x = 1\n    x = 2\n«x»", 1, 4),
    case("x = 0\nfor i in y:\n    for j in z:\n        x = 1\n    «x»", 1, 4),
    case("x = 0\nfor i in y:\n    x = 1\n    for j in z:\n        «x»\n        x = 2", 3, 6),
    case("x = 0\nfor i in y:\n    «x»\n    for j in z:\n        x = 1\n    x = 2", 1, 6),
    case("x = 0\nfor i in y:\n    «x»\n    with f():\n        x = 1\n        x = 2", 1, 6),
    case("x = 0\nfor i in y:\n    «x»\n    x = 1\n    if c:\n        x = 2", 1, 4, 6),
    case("x = 0\nfor i in y:\n    «x»\n    x = 1\n    if c:\n        continue\n    x = 2", 1, 4, 7),
    case("x = 0\nfor i in y:\n    «x»\n    if c:\n        continue\n    x = 1\n    x = 2", 1, 7),
    case("x = 0\nfor i in y:\n    x = 1\n    if c:\n        x = 2\n        break\n«x»", 1, 3, 5),
    case("x = 0\nfor i in y:\n    x = i\n    break\n«x»", 1, 3),
    case("x = 0\nfor i in y:\n    if c:\n        break\n    x = 1\nelse:\n    x = 2\n«x»", 1, 5, 7),
    case("x = 0\nfor i in y:\n    x = 1\nelse:\n    x = 2\n«x»", 5),
    case("x = 0\nwhile True:\n    x = 1\n    if c:\n        break\n    x = 2\n«x»", 3),
    case("x = 0\nwhile True:\n    if c:\n        break\n    x = 1\n    if d:\n        break\n«x»", 1, 5),
    case(
        "x = 0\nwhile 1:\n    x = 1\n    if c:\n        x = 2\n        break\n    if d:\n        x = 3\n        break\n«x»",
        5,
        8,
    ),
    case("x = 0\nwhile True:\n    x = 1\n    for j in y:\n        x = 2\n        break\n    if c:\n        break\n«x»", 3, 5),
    case("def f():\n    x = 0\n    if c:\n        x = 1\n        while True:\n            if d: return x\n    «x»", 2),
    case("for e in y:\n    try:\n        f()\n    except E as e:\n        pass\n    «e»", 1),
    case("x = 0\nwhile True:\n    try:\n        x = 1\n        break\n    except E:\n        x = 2\n«x»", 4),
]

TRIES = [
    case("try:\n    x = 1\nexcept E:\n    x = 2\n«x»", 2, 4),
    case("x = 0\ntry:\n    x = 1\nexcept E:\n    pass\n«x»", 1, 3),
    case("x = 0\ntry:\n    x = 1\nexcept E:\n    «x»", 1, 3),
    case("x = 0\ntry:\n    x = 1\n    f()\n    x = 2\nexcept E:\n    «x»", 1, 3, 5),
    case("x = 0\ntry:\n    if c:\n        x = 1\n        raise E\nexcept E:\n    «x»", 1, 4),
    case("x = 0\ntry:\n    x = 1\nexcept E:\n    raise\n«x»", 3),
    case("try:\n    x = 1\nexcept A:\n    x = 2\nexcept B:\n    x = 3\nelse:\n    x = 4\n«x»", 4, 6, 8),
    case("try:\n    x = 1\nfinally:\n    y = 2\n«x»", 2),
    case("x = 0\ntry:\n    x = 1\nfinally:\n    x = 2\n«x»", 5),
    case("try:\n    x = 1\nexcept E:\n    x = 2\nfinally:\n    «x»", 2, 4),
    case("try:\n    pass\nexcept E as x:\n    «x»", 3),
    case("x = 0\ntry:\n    pass\nexcept E as x:\n    pass\n«x»", 1),
    case("x = 0\ntry:\n    try:\n        x = 1\n    finally:\n        f()\n    x = 2\nexcept E:\n    «x»", 1, 4, 7),
    case("def f():\n    x = 0\n    try:\n        x = 1\n        return x\n    except E:\n        x = 2\n    «x»", 7),
    case(  # handlers delete a name twice, the second time in a block that is left for good
        "def f():\n    try:\n        try: g()\n        except A as x: h()\n"
        "        try: g()\n        except B as x: raise\n    except E as e:\n        x = 2\n    «x»",
        8,
    ),
]

SCOPES = [
    case("x = 1\ndef f():\n    «x»", 1),
    case("x = 1\ndef f():\n    «x»\nx = 2", 1, 4),
    case("x = 1\ndef f():\n    «x»\n    x = 2", 4),
    case("x = 1\ndef f(x):\n    «x»", 2),
    case("x = 1\ndef f(a=«x»):\n    x = 2", 1),
    case("x = 1\n@d(«x»)\ndef f(x): pass", 1),
    case("x = 1\nclass A(«x»):\n    x = 2", 1),
    case("def f(*, x): return lambda: «x»", 1),
    case("x = 1\nlambda x: «x»", 2),
    case("x = 1\nlambda x=«x»: 1", 1),
    case("x = 1\nclass A:\n    x = 2\n    y = «x»", 3),
    case("x = 1\nclass A:\n    x = «x»", 1),
    case("x = 1\ndef f(x):\n    class A:\n        x = «x»", 1),
    case("x = 1\nclass A:\n    x = 2\n    def f(self): «x»", 1),
    case("x = 1\nclass A:\n    x = 2\n    y = [«x» for i in z]", 1),
    case("x = 1\nclass A:\n    x = 2\n    y = [i for i in «x»]", 3),
    case("x = 1\n[«x» for x in y]", 2),
    case("x = 1\n[x for x in «x»]", 1),
    case("x = 1\n[x for i in y for x in «x»]", 2),
    case("x = 1\n[x for x in y]\n«x»", 1),
    case("x = 1\n{x: 2 for x in y if «x»}", 2),
    case("[(x := i) for i in y]\n«x»", 1),
    case("def f():\n    any((x := i) for i in y)\n    return «x»", 2),
    case("[[«x» for i in x] for x in y]", 1),
    case("[(lambda: «x») for x in y]", 1),
    case("def f():\n    x = 1\n    def g():\n        return «x»\n    x = 2", 2, 5),
    case("def f():\n    x = 1\n    class A:\n        x = 2\n        def g(self): return «x»", 2),
    case("import a.x\nimport x.b\n«x»", 2),
    case("def x(): pass\nclass x: pass\n«x»", 2),
    case("def f(): return «f»()", 1),
    case("class A:\n    def f(self): return «A»", 1),
    case("async def f():\n    async for x in y:\n        «x»", 2),
    case("async def f():\n    async with y as x:\n        «x»", 2),
]

OUTER = [
    case("x = 0\ndef f():\n    global x\n    x = 1\n«x»", 1, 4),
    case("x = 0\ndef f():\n    global x\n    x = 1\n    return «x»", 4),
    case("x = 0\ndef f():\n    global x\n    return «x»", 1),
    case("def f():\n    x = 0\n    def g():\n        global x\n        x = 1\n    return «x»", 2),
    case("def f():\n    x = 0\n    def g():\n        global x\n        x = 1\n    return x\n«x»", 5),
    case("def f():\n    x = None\n    def g():\n        nonlocal x\n        x = 1\n    g()\n    return «x»", 2, 5),
    case("def f():\n    def g():\n        nonlocal x\n        x = 1\n    x = 0\n    g()\n    return «x»", 4, 5),
    case("def f():\n    x = None\n    def g():\n        nonlocal x\n        x += «x»\n    x = 2", 2, 5, 6),
    case("x = 0\ndef f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\n«x»", 1),
]


@pytest.mark.parametrize(("snippet", "expected"), [*BRANCHES, *LOOPS, *TRIES, *SCOPES, *OUTER])
def test_the_bindings_that_reach_a_use(snippet: str, expected: list[int]) -> None:
    assert lines(snippet) == expected


def test_a_name_that_is_not_bound_has_no_bindings() -> None:
    assert lines("«x»") == []
    assert lines("def f():\n    x = 1\n«x»") == []


@pytest.mark.parametrize(
    ("snippet", "path"),
    [
        ("«x» = y", ()),
        ("«x», a = y", (0,)),
        ("a, («x», b) = y", (1, 0)),
        ("[a, [b, «x»]] = y", (1, 1)),
        ("*«x», a = y", (0, None)),
        ("*a, «x» = y", (-1,)),
        ("a, *b, «x», c = y", (-2,)),
        ("for i, (j, «x») in y: pass", (1, 1)),
        ("[1 for i, «x» in y]", (1,)),
        ("with y as (a, «x»): pass", (1,)),
        ("a = «x» = y", ()),
        ("(«x» := y)", ()),
    ],
)
def test_where_in_its_value_an_unpacked_name_is(snippet: str, path: tuple[int | None, ...]) -> None:
    semantics, (node,) = marked(snippet)
    binding = semantics.bindings.of(node)
    assert binding is not None and binding.path == path
    assert isinstance(binding.value, ast.Name) and binding.value.id == "y"


@pytest.mark.parametrize(
    ("snippet", "form"),
    [
        ("import x\n«x»", Form.IMPORT),
        ("«x» = 1", Form.ASSIGNMENT),
        ("«x»: int = 1", Form.ASSIGNMENT),
        ("«x»: int", Form.ANNOTATION),
        ("«x» += 1", Form.AUGMENTED),
        ("for «x» in y: pass", Form.LOOP),
        ("{«x» for x in y}", Form.LOOP),
        ("with y as x: «x»", Form.CONTEXT),
        ("lambda x: «x»", Form.PARAMETER),
        ("def x(): pass\n«x»", Form.FUNCTION),
        ("class x: pass\n«x»", Form.CLASS),
        ("try: pass\nexcept E as x: «x»", Form.OTHER),
    ],
)
def test_how_a_name_comes_to_its_value(snippet: str, form: Form) -> None:
    semantics, (node,) = marked(snippet)
    assert isinstance(node, ast.Name)
    binding = semantics.bindings.of(node) or semantics.bindings.reaching(node)[0]
    assert binding.form is form


@pytest.mark.parametrize(
    ("snippet", "before"),
    [
        ("x = 1\nx = 2\n«x» += 3", [2]),
        ("x = 1\nfor i in y:\n    «x» += 2", [1]),
        ("x = 1\nfor i in y:\n    x = 2\n    «x» += 2", [3]),
        ("x = 1\ndef f():\n    global x\n    «x» += 1", [1, 4]),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        «x» += 1", [2, 5]),
    ],
)
def test_what_an_augmented_assignment_adds_to(snippet: str, before: list[int]) -> None:
    semantics, (node,) = marked(snippet)
    binding = semantics.bindings.of(node)
    assert binding is not None
    assert sorted(getattr(earlier.node, "lineno") for earlier in binding.before) == before


def test_a_binding_knows_its_uses() -> None:
    semantics, nodes = marked("«x» = 1\nif c:\n    f(«x»)\nx = 2\ng(x)\n")
    binding = semantics.bindings.of(nodes[0])
    assert binding is not None and binding.uses == [nodes[1]]


def test_what_a_loop_binds() -> None:
    semantics, _ = marked(
        """
        for i in y:
            a = 1
            while (b := f()):
                c = 2
            def g(d):
                e = 3
            [h for h in y]
        else:
            k = 4
        """
    )
    outer, inner = [node for node in semantics.tree.nodes if isinstance(node, (ast.For, ast.While))]
    assert [binding.name for binding in semantics.bindings.bound_in_loop(outer)] == ["i", "a", "b", "c", "g"]
    assert [binding.name for binding in semantics.bindings.bound_in_loop(inner)] == ["b", "c"]


@pytest.mark.parametrize(
    ("snippet", "value"),
    [
        ("x = 1\nx = 2\n«x»", "2"),
        ("x: int = 1\n«x»", "1"),
        ("if c:\n    x = 1\nelse:\n    x = 2\n«x»", None),
        ("x, y = 1, 2\n«x»", None),
        ("x = 1\nx += 2\n«x»", None),
        ("for x in y:\n    «x»", None),
        ("def f(x):\n    «x»", None),
        ("x: int\n«x»", None),
        ("«x»", None),
        ("x = f()\n«x.y»", None),
    ],
)
def test_one_value_that_a_name_has(snippet: str, value: str | None) -> None:
    semantics, [node] = marked(snippet)
    found = semantics.bindings.assigned(node)
    assert (ast.unparse(found) if found is not None else None) == value
