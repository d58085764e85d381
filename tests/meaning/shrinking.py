"""Smaller programs that still fail: statements are left out as long as they do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise

Files = dict[str, str]


def shrunk(files: Mapping[str, str], fails: Callable[[Files], bool], most: int = 400) -> Files:
    """The program with as few statements as it takes to fail; at most so many smaller ones are tried."""
    smaller = dict(files)
    tried = 0
    size = 8
    while size:
        for candidate in _candidates(smaller, size):
            tried += 1
            if tried > most:
                return smaller
            if fails(candidate):
                smaller = candidate
                break
        else:
            size //= 2
    return smaller


def _candidates(files: Files, size: int) -> Iterator[Files]:
    """The programs without so many statements that stand in a row, and those without a whole file."""
    if size > 1 and len(files) > 1:
        yield {name: text for name, text in files.items() if name == "main.py"}
    for name, text in files.items():
        for block in _blocks(ast.parse(text)):
            places = [_lines(statement) for statement in block]
            if any(first[1] >= second[0] for first, second in pairwise(places)):
                continue  # several on one line
            for start in range(max(len(block) - size, 0), -1, -max(size // 2, 1)):
                group = places[start : start + size]
                yield {**files, name: _without(text, group[0][0], group[-1][1], len(group) == len(block))}


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The lists of statements, outer ones first."""
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block and not (len(block) == 1 and isinstance(block[0], ast.Pass)):
                yield block


def _lines(statement: ast.stmt) -> tuple[int, int]:
    decorators = getattr(statement, "decorator_list", [])
    first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
    return first, statement.end_lineno or first


def _without(text: str, first: int, last: int, is_all: bool) -> str:
    lines = text.split("\n")
    indent = lines[first - 1][: len(lines[first - 1]) - len(lines[first - 1].lstrip())]
    lines[first - 1 : last] = [f"{indent}pass"] if is_all else []
    return "\n".join(lines)
