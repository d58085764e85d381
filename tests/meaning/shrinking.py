"""Smaller programs that still fail: statements are left out as long as they do."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice, pairwise

Files = dict[str, str]


def shrunk(files: Mapping[str, str], fails: Callable[[Files], bool], most: int = 300) -> Files:
    """The program with as few statements as it takes to fail; at most so many smaller ones are tried."""
    smaller = dict(files)
    while (used := _used(smaller)) != smaller and fails(used):
        smaller = used
    size = max(len(block) for text in smaller.values() for block in _blocks(ast.parse(text))) // 2 or 1
    tried = 0
    while size and tried < most:
        smaller, tries, shrinks = _pass(smaller, fails, size, most - tried)
        tried += tries
        if not shrinks:
            size //= 2
    return _tidy(smaller)


def _pass(files: Files, fails: Callable[[Files], bool], size: int, most: int) -> tuple[Files, int, bool]:
    """The program with what can go in pieces of that size, how many smaller ones were tried, and whether it is smaller."""
    smaller, tried, behind = files, 0, 0
    while True:
        candidates = islice(_candidates(smaller, size), behind, None)
        for candidate in candidates:
            tried += 1
            if fails(candidate):
                smaller = candidate
                break
            behind += 1
            if tried >= most:
                return smaller, tried, False
        else:
            return smaller, tried, smaller != files


def _candidates(files: Files, size: int) -> Iterator[Files]:
    """The programs without so many statements that stand in a row, those at the end first."""
    for name, text in files.items():
        for block in _blocks(ast.parse(text)):
            places = [_lines(statement) for statement in block]
            if any(first[1] >= second[0] for first, second in pairwise(places)):
                continue  # several on one line
            for end in range(len(block), 0, -size):
                group = places[max(end - size, 0) : end]
                yield {**files, name: _without(text, group[0][0], group[-1][1], len(group) == len(block))}


def _used(files: Files) -> Files:
    """The program without imports and definitions at the top level whose names stand nowhere."""
    trees = {name: ast.parse(text) for name, text in files.items()}
    words = Counter(re.findall(r"\w+", "\n".join(files.values())))
    texts: Files = {}
    for name, tree in trees.items():
        lines: list[str | None] = list(files[name].split("\n"))
        for statement in tree.body:
            if all(words[word] == 1 for word in _defined(statement)):
                first, last = _lines(statement)
                lines[first - 1 : last] = [None] * (last - first + 1)
        texts[name] = "\n".join(line for line in lines if line is not None)
    return texts


def _defined(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=[alias]) | ast.ImportFrom(names=[alias]):
            return [alias.asname or alias.name.partition(".")[0]]
        case ast.Assign(targets=[ast.Name(id=name)]):
            return [name]
        case _:
            return [""]  # no word, and never met once


def _tidy(files: Files) -> Files:
    """The program without files that are not imported, and without blank lines."""
    whole = "\n".join(files.values())
    kept = {
        name: text for name, text in files.items() if name == "main.py" or re.search(rf"(import|from) {name[:-3]}\b", whole)
    }
    return {name: re.sub(r"\n\s*\n", "\n", text.strip() + "\n") for name, text in kept.items()}


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
