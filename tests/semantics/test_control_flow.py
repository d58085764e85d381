"""Which code may run after which; the calls of the snippets are named by their function: ``a()`` is the step ``a``."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchlint.semantics.code.control_flow import ControlFlow
from torchlint.semantics.code.tree import Tree


class Snippet:
    """A piece of code whose calls are known by name."""

    def __init__(self, text: str) -> None:
        self.tree = Tree(ast.parse(textwrap.dedent(text)))
        self.flow = ControlFlow(self.tree)

    def call(self, name: str) -> ast.Call:
        """The call of the function ``name``."""
        calls = [node for node in self.tree.nodes if isinstance(node, ast.Call)]
        return next(call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name)

    def calls(self, names: str) -> list[ast.Call]:
        return [self.call(name) for name in names.split()]

    def may_follow(self, first: str, then: str, avoiding: str = "") -> bool:
        return self.flow.may_follow(self.call(first), self.call(then), self.calls(avoiding))


STRAIGHT = "a(); b(); c()"
BRANCH = """
if t():
    a()
else:
    b()
c()
"""
LOOP = """
before()
for i in it():
    a()
    if t():
        continue
    b()
    if u():
        break
    c()
else:
    d()
after()
"""
ENDLESS = """
while True:
    a()
    if t():
        break
after()
"""
TRY = """
try:
    a()
    b()
except ValueError:
    c()
else:
    d()
finally:
    e()
f()
"""
FINALLY = """
def run():
    for i in it():
        try:
            a()
            if t():
                return r()
            if u():
                continue
        finally:
            e()
        b()
    c()
"""
MATCH = """
match s():
    case 1:
        a()
    case 2 if g():
        b()
    case _:
        c()
d()
"""
WITH = """
with m() as x, n() as y:
    a()
b()
"""


@pytest.mark.parametrize(
    ("text", "first", "then", "avoiding", "expected"),
    [
        (STRAIGHT, "a", "c", "", True),
        (STRAIGHT, "a", "c", "b", False),
        (STRAIGHT, "c", "a", "", False),
        (STRAIGHT, "a", "a", "", False),
        ("f(a(), b())", "a", "f", "b", False),
        ("f(a(), b())", "a", "f", "", True),
        ("f(a(), b())", "f", "a", "", False),
        (BRANCH, "a", "b", "", False),
        (BRANCH, "t", "c", "a", True),
        (BRANCH, "t", "c", "a b", False),
        (LOOP, "a", "a", "", True),
        (LOOP, "b", "a", "c", False),
        (LOOP, "t", "a", "b", True),
        (LOOP, "before", "after", "a", True),
        (LOOP, "before", "after", "a d", False),
        (LOOP, "a", "after", "d", True),
        (LOOP, "c", "after", "d", True),
        (LOOP, "c", "after", "d u", False),
        (LOOP, "after", "a", "", False),
        (ENDLESS, "a", "after", "t", False),
        (ENDLESS, "a", "after", "", True),
        ("while t():\n    a()\nb()", "t", "b", "a", True),
        (TRY, "a", "c", "b", True),
        (TRY, "a", "f", "b", True),
        (TRY, "a", "f", "b e", False),
        (TRY, "b", "f", "c d", False),
        (TRY, "d", "c", "", False),
        (FINALLY, "r", "e", "", True),
        (FINALLY, "r", "b", "e", False),
        (FINALLY, "u", "a", "b", True),
        (FINALLY, "a", "c", "e", False),
        (MATCH, "s", "d", "a b", True),
        (MATCH, "s", "d", "a b c", False),
        (MATCH, "g", "c", "", False),
        (WITH, "m", "a", "n", False),
        (WITH, "a", "b", "", True),
        ("a()\ndef f():\n    b()", "a", "b", "", False),
    ],
)
def test_what_may_follow(text: str, first: str, then: str, avoiding: str, expected: bool) -> None:
    assert Snippet(text).may_follow(first, then, avoiding) is expected


@pytest.mark.parametrize(
    ("node", "avoiding", "expected"),
    [("a", "", True), ("a", "b", True), ("a", "b c", False), ("c", "", True), ("a", "t c", False)],
)
def test_whether_the_scope_may_end(node: str, avoiding: str, expected: bool) -> None:
    snippet = Snippet("def f():\n    a()\n    if t():\n        return b()\n    c()")
    assert snippet.flow.may_end(snippet.call(node), snippet.calls(avoiding)) is expected


def test_what_may_be_reached_from_the_start() -> None:
    snippet = Snippet("def f():\n    if t():\n        a()\n    b()")
    scope = snippet.flow.scope(snippet.call("b"))
    assert snippet.flow.may_start_with(scope, snippet.call("b"), snippet.calls("a"))
    assert not snippet.flow.may_start_with(scope, snippet.call("b"), snippet.calls("t"))


def test_what_follows() -> None:
    snippet = Snippet("a()\nif t():\n    b()\nc()\nd()")
    found = {ast.unparse(step) for step in snippet.flow.following(snippet.call("a"), snippet.calls("c"))}
    assert found == {"t()", "b()"}


@pytest.mark.parametrize(
    ("text", "avoiding", "expected"),
    [
        (STRAIGHT, "", True),
        (STRAIGHT, "b", False),
        ("if t():\n    a()\nelse:\n    b()", "a", True),
        ("if t():\n    a()\nelse:\n    b()", "a b", False),
        (LOOP, "a", True),
        (LOOP, "it", False),
        ("a()\nraise b()", "", False),
    ],
)
def test_whether_the_scope_may_be_passed_through(text: str, avoiding: str, expected: bool) -> None:
    snippet = Snippet(text)
    assert snippet.flow.may_pass(snippet.tree.module, snippet.calls(avoiding)) is expected


@pytest.mark.parametrize(
    ("firsts", "then", "avoiding", "expected"),
    [
        ("a b", "c", "", True),
        ("a", "c", "b", False),
        ("a b", "c", "b", True),
        ("c", "a", "", False),
        ("", "c", "", False),
    ],
)
def test_one_of_several_may_come_before(firsts: str, then: str, avoiding: str, expected: bool) -> None:
    snippet = Snippet(STRAIGHT)
    found = snippet.flow.may_follow_any(snippet.calls(firsts), snippet.call(then), snippet.calls(avoiding))
    assert found is expected


@pytest.mark.parametrize(
    ("text", "firsts", "avoiding", "expected"),
    [
        (STRAIGHT, "a", "", "b c"),
        (STRAIGHT, "a", "b", "b"),
        (STRAIGHT, "b", "", "c"),
        (STRAIGHT, "a b", "b", "b c"),
        (STRAIGHT, "", "", ""),
        (BRANCH, "a", "", "c"),
        (BRANCH, "t", "a", "a b c"),
        (LOOP, "b", "a", "c u d a after"),
        (LOOP, "c", "", "a t b u c d after"),
        (LOOP, "d", "", "after"),
        ("f(a(), b(), c())", "a", "b", "b"),
        ("f(a(), b(), c())", "b", "", "c f"),
        ("while t():\n    f(a(), b())", "b", "", "f t a b"),
        ("while t():\n    f(a(), b())", "b", "a", "f t a"),
        ("try:\n    a()\n    b()\nexcept E:\n    c()\nd()", "a", "b", "b c d"),
    ],
)
def test_all_that_may_come_behind(text: str, firsts: str, avoiding: str, expected: str) -> None:
    snippet = Snippet(text)
    names = [node.func.id for node in snippet.tree.nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    ahead = snippet.flow.ahead_of(snippet.tree.module, snippet.calls(firsts), snippet.calls(avoiding))
    assert {name for name in names if ahead.includes(snippet.call(name))} == set(expected.split())
    some = snippet.flow.ahead_of(snippet.tree.module, snippet.calls(firsts), snippet.calls(avoiding), up_to=snippet.calls("a"))
    assert some.includes(snippet.call("a")) is ("a" in expected.split())


def test_nothing_of_another_scope_comes_behind() -> None:
    snippet = Snippet("a()\ndef f():\n    b()\nc()")
    assert not snippet.flow.ahead_of(snippet.tree.module, snippet.calls("a")).includes(snippet.call("b"))


@pytest.mark.parametrize(
    ("text", "first", "nodes", "avoiding", "expected"),
    [
        (STRAIGHT, "a", "b c", "", True),
        (STRAIGHT, "a", "c", "b", False),
        (STRAIGHT, "c", "a b", "", False),
        (STRAIGHT, "a", "", "", False),
        ("b()\na()\nc()\nd()\ne()\nf()\ng()", "a", "c d e f g", "c", True),
        ("b()\na()\nz()\nc()\nd()\ne()\nf()\ng()", "a", "c d e f g", "z", False),
        ("if t():\n    a()\nelse:\n    c(); d(); e(); f()\ng()", "a", "c d e f g", "", True),
        ("while t():\n    b()\n    a()", "a", "b", "", True),
        ("while t():\n    b()\n    a()", "a", "b", "t", False),
        ("f(b(), a())", "a", "b", "", False),
    ],
)
def test_whether_one_of_several_may_come_behind(text: str, first: str, nodes: str, avoiding: str, expected: bool) -> None:
    snippet = Snippet(text)
    found = snippet.flow.leads_to_any(snippet.call(first), snippet.calls(nodes), snippet.calls(avoiding))
    assert found is expected
