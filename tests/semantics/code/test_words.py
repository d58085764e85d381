"""The words of a file's code, beside a walk over all fields of all nodes, and what is asked of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from torchlint.proof.hazards import fixtures_folder
from torchlint.semantics.code.tree import Tree
from torchlint.semantics.code.words import Words

EVERYTHING = """\
from __future__ import annotations
import torch.nn as nn
from a.b import c as d
class Owner(Base, metaclass=Meta):
    attribute: "of a string"
    async def method(self, first, /, second=1, *rest, third, **others) -> None:
        global shared
        nonlocal outer
        try:
            self.read = f"shown {value!r:>{width}}" + u"old"
        except Error as error:
            pass
        match subject:
            case Point(x=px, y=[*stars], z={"key": 1, **remaining}) as whole:
                call(keyword=argument)
"""
EXPECTED = {
    *("annotations", "torch", "nn", "a", "b", "c", "d", "Owner", "Base", "metaclass", "Meta", "attribute", "of", "string"),
    *("method", "self", "first", "second", "rest", "third", "others", "shared", "outer", "read", "shown", "value", "width"),
    *("old", "Error", "error", "subject", "Point", "x", "y", "z", "px", "stars", "key", "remaining", "whole", "call"),
    *("keyword", "argument", "__future__"),
}


def test_names_of_all_sorts_and_words_of_strings() -> None:
    assert Words(Tree(ast.parse(EVERYTHING))).all == EXPECTED


def walked(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        for _, value in ast.iter_fields(node):
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, str):
                    yield from re.findall(r"\w+", item)


def test_no_name_of_the_fixtures_is_missed() -> None:
    for path in sorted(fixtures_folder().rglob("*.py")):
        if "async_keyword" in path.parent.name:
            continue  # no Python since 3.7 parses what this rule finds
        module = ast.parse(path.read_text(encoding="utf-8"))
        assert Words(Tree(module)).all >= {*walked(module)} - {"u"}, path  # the prefix of a string is no word of the code


@pytest.mark.parametrize(("text", "speaks"), [("x = 1  # tensor", False), ("x = 'a tensor'", True), ("my_tensors = 1", True)])
def test_comments_are_no_part_of_the_code(text: str, speaks: bool) -> None:
    words = Words(Tree(ast.parse(text)))
    assert words.speak_of("tensor") is speaks
    assert words.match(re.compile("^my_")) is text.startswith("my_")
