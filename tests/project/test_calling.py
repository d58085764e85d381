"""What the bytes of a text tell of calls: never less than its tree does."""

from __future__ import annotations

import ast

import pytest

from torchlint.project.calling import Sought, lines_with
from torchlint.project.trees import Trees
from torchlint.semantics.summaries.calls import calls_of


@pytest.mark.parametrize(
    "text",
    [
        "build()",
        "net = models.build (3)",
        "net = models.\\\n  build(3)",
        "from models import build as make\nmake()",
        "print(f'{build()}')",
        "def f(): return build()",
        "x = 1 # build\nbuild()",
        "'''\n# ''' + build()",
        "'''\n>>> ''' + build()",
        "# a comment\rbuild()",
        "rebuild()\nbuild()",
    ],
)
def test_a_call(text: str) -> None:
    assert Sought("build").is_in(text.encode())
    assert Sought("build").may_be_called_in(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "def build(width): ...",
        "class build(Base): ...",
        "    # net = build(3)",
        "'''\n    >>> net = models.build(3)\n'''",
        "'''Made by `build(3)`.'''",
    ],
)
def test_what_is_surely_no_call(text: str) -> None:
    assert Sought("build").is_in(text.encode())
    assert not Sought("build").may_be_called_in(text.encode())


@pytest.mark.parametrize("text", ["rebuild()", "build = 3", "build[0]", "build_all()", ""])
def test_not_even_the_words(text: str) -> None:
    assert not Sought("build").is_in(text.encode())


def test_names_of_other_letters() -> None:
    assert Sought("größe").may_be_called_in("x = größe()".encode())
    assert lines_with({"größe"}, "größe()".encode()) is None


def test_lines() -> None:
    text = b"build()\n\nx = a.build + build\r\n# rebuild\ny\nmake()"
    assert lines_with({"build"}, text) == [1, 3, 3, 4]
    assert lines_with({"build", "make"}, text) == [1, 3, 3, 4, 6]
    assert lines_with({"other"}, text) == []
    assert lines_with({"build"}, b"build()\rbuild()") is None


FILE = """
from models import build as make, build

class Runner:
    def __init__(self):
        self.width = wide()
        self.net = Net()

    if True:
        def other(self):
            make(self.width)

    def run(self):
        def inner(x):
            return build(
                self.width,
                x,
            )
        self.net.build(self.net)

def unrelated():
    return wide()

def main(net):
    width = wide()
    for each in (1, 2):
        with each:
            build(width, net=net)

make()
"""


@pytest.mark.parametrize("name", ["build", "wide", "Net", "make", "nothing"])
def test_the_lines_with_a_name_tell_all_calls_of_it(name: str) -> None:
    expected = calls_of(ast.parse(FILE), name)
    assert Trees().calls(FILE.encode(), name) == expected
    assert bool(expected) is (name != "make" and name != "nothing")
