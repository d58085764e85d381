"""Statements of a file as libcst trees: each parsed alone when it is asked for, of a compound statement its header."""

from __future__ import annotations

import ast
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial

import libcst as cst

from torchlint.model.join import Join
from torchlint.model.parsing import parsed_module
from torchlint.model.positions import Written, written_with_parents
from torchlint.semantics.code.tree import TRIES
from torchlint.semantics.code.units import CLAUSES
from torchlint.text.source import Source

_AROUND = {ast.ExceptHandler: "try: pass\n", ast.match_case: "match _:\n "}
"""What a clause needs in front of it to be parsed alone."""
_INDENTED = "if _:\n"
"""What code of several lines needs in front of it that is indented: decorators."""


_DEEP, _DEEPEST = 400, 2000
"""So many levels libcst is given where it runs, and so many with a stack of its own; no one writes more by hand."""
_STACK = 256 * 1024 * 1024


@dataclass(eq=False)
class Parsed:
    """One piece of text and its libcst tree: what stands at ``n`` in ``module.code`` stands at ``n + offset`` in the file."""

    text: str
    module: cst.Module
    offset: int
    join: Join
    indentation: str = ""
    """What the lines within the tree are indented by: libcst does not keep it with the lines."""

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self.join.bodies

    @cached_property
    def is_faithful(self) -> bool:
        """Whether libcst writes what it read; a form feed that starts a line is lost."""
        return self._written[0] == self.text

    @cached_property
    def _written(self) -> tuple[str, Written, dict[cst.CSTNode, cst.CSTNode]]:
        """The tree written out: once, and only for a fix."""
        return written_with_parents(self.module)

    @cached_property
    def spans(self) -> dict[cst.CSTNode, tuple[int, int]]:
        """Where each node stands in the file, with its parentheses."""
        return {node: (start + self.offset, end + self.offset) for node, start, end in self._written[1]}

    @property
    def parents(self) -> dict[cst.CSTNode, cst.CSTNode]:
        """What each node is a part of."""
        return self._written[2]

    @cached_property
    def strings(self) -> list[tuple[int, int]]:
        """Where strings stand in the file."""
        return [span for node, span in self.spans.items() if isinstance(node, (cst.SimpleString, cst.FormattedString))]

    @cached_property
    def comments(self) -> list[tuple[int, int]]:
        """Where comments stand in the file."""
        return sorted(span for node, span in self.spans.items() if isinstance(node, cst.Comment))


class Trees:
    """What statements were parsed to, by their texts: for one who looks at nearly the same file again and again.

    Trees never change, and what is known of their nodes is kept by file, so that files can share them. Within one file, each
    statement has a tree of its own: it is asked for by its number among those of the same text.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._trees: dict[str, list[cst.Module]] = {}

    def get(self, text: str, number: int) -> cst.Module | None:
        """The tree of a text, if there are that many."""
        trees = self._trees.pop(text, None)
        if trees is None:
            return None
        self._trees[text] = trees  # behind all others, as the one that was asked for last
        return trees[number] if number < len(trees) else None

    def keep(self, text: str, tree: cst.Module) -> None:
        """Takes one more tree of a text; where there are too many texts, those are let go that nobody has asked for longest."""
        self._trees.setdefault(text, []).append(tree)
        while len(self._trees) > self._most:
            del self._trees[next(iter(self._trees))]


_kept: Trees | None = None


def keep_trees(most: int = 1000) -> None:
    """From here on keeps the trees of ``most`` texts in this process: for a server, where most statements stay as they are."""
    global _kept
    _kept = Trees(most)


@dataclass(eq=False)
class Statements:
    """The statements of one file."""

    source: Source
    _parsed: Counter[str] = field(default_factory=Counter)
    """How many statements of each text were parsed."""

    def parse(self, unit: ast.AST) -> Parsed:
        """The libcst tree of a statement or clause, joined to its twin; raises `RecursionError` where it is too deep."""
        prefix, start, end, suffix = self._span(unit)
        text = prefix + self.source.text[start:end] + suffix
        module = self._module(prefix + self.source.parsable[start:end] + suffix, unit)
        root: cst.CSTNode = module.body[0]
        if prefix.startswith(_INDENTED):
            root = root.body.body[0]  # type: ignore[attr-defined]
        elif isinstance(root, cst.SimpleStatementLine):
            root = root.body[0]
        elif isinstance(unit, ast.ExceptHandler):
            root = root.handlers[0]  # type: ignore[attr-defined]
        elif isinstance(unit, ast.match_case):
            root = root.cases[0]  # type: ignore[attr-defined]
        join = Join(bodies=False)
        join.node(root, unit)
        indentation = prefix.removeprefix(_INDENTED) if prefix.startswith(_INDENTED) else ""
        return Parsed(text, module, start - len(prefix), join, indentation)

    def _module(self, text: str, unit: ast.AST) -> cst.Module:
        """The tree of a text, from among those that are kept or new; raises `RecursionError`."""
        known = None if self.source.stand_ins else _kept  # which stand for other names in other files
        if known is not None:
            number = self._parsed[text]
            self._parsed[text] += 1
            if (tree := known.get(text, number)) is not None:
                return tree
        depth = self._depth(unit)
        if depth > _DEEPEST:
            raise RecursionError
        parse = partial(parsed_module, stand_ins=self.source.stand_ins)
        if depth > _DEEP:
            return _with_room(parse, text)
        tree = parse(text)
        if known is not None:
            known.keep(text, tree)
        return tree

    def _depth(self, unit: ast.AST) -> int:
        """How deeply libcst would nest; beyond `_DEEPEST`, it is not counted on.

        What the ast keeps side by side, operands of ``and`` and neighbouring strings, it nests as well. Its parser ends the
        process where the stack does, and takes quadratic time.
        """
        deepest = 0
        pending = [(unit, 0)]
        while pending and deepest <= _DEEPEST:
            node, depth = pending.pop()
            if isinstance(node, ast.BoolOp):
                depth += len(node.values)
            elif isinstance(node, (ast.Constant, ast.JoinedStr)) and isinstance(getattr(node, "value", ""), str):
                depth += self._strings(node)
            deepest = max(deepest, depth)
            if node is unit or not isinstance(node, (ast.stmt, *CLAUSES)):
                pending += [(child, depth + 1) for child in ast.iter_child_nodes(node)]
        return deepest

    def _strings(self, node: ast.expr) -> int:
        """About how many strings side by side a string is made of, where it is long enough to be of many."""
        if node.end_lineno is None or self.source.end(node) - self.source.start(node) < 2 * _DEEP:
            return 0
        text = self.source.segment(node)
        return (text.count("'") + text.count('"')) // 2

    def _span(self, unit: ast.AST) -> tuple[str, int, int, str]:
        """What of the file is parsed, and what is put around it."""
        start = self._start(unit)
        body = getattr(unit, "body", None)
        if isinstance(unit, ast.Match):
            return "", start, self._start(unit.cases[0]), "case _: pass"
        if not isinstance(body, list):
            assert isinstance(unit, ast.stmt)
            return "", start, self.source.end(unit), ""
        end = self._start(body[0])
        if isinstance(unit, ast.If) and self.source.text.startswith("elif", start):
            return "", start + 2, end, "pass"
        tail = "pass\nfinally: pass" if isinstance(unit, TRIES) else "pass"
        prefix = _AROUND.get(type(unit), "")
        if getattr(unit, "decorator_list", None) and (indentation := self._before(start).rpartition("\f")[2]):
            prefix = _INDENTED + indentation  # the column starts anew behind a form feed
        if "\f" in (before := self._before(end)) and not before.strip():
            # libcst takes a block for one only if its indentation starts with that of the block around it, to the letter
            end, tail = end - len(before), prefix.rpartition("\n")[2] + " " + tail
        return prefix, start, end, tail

    def _before(self, offset: int) -> str:
        """What stands in front of a place in its line."""
        return self.source.text[self.source.line_start(self.source.location(offset).row) : offset]

    def _start(self, unit: ast.AST) -> int:
        """Where a statement starts: with its decorators, a case with its keyword."""
        text = self.source.text
        if isinstance(unit, ast.match_case):
            return text.rindex("case", 0, self.source.start(unit.pattern))  # type: ignore[arg-type]
        if decorators := getattr(unit, "decorator_list", None):
            return text.rindex("@", 0, self.source.start(decorators[0]))
        return self.source.start(unit)  # type: ignore[arg-type]


def _with_room(parse: Callable[[str], cst.Module], text: str) -> cst.Module:
    """What ``parse`` makes of a text, on a stack that is large enough for what is nested deeply."""
    made: list[cst.Module] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(parse(text))
        except BaseException as error:
            failed.append(error)

    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    if failed:
        raise failed[0]
    return made[0]
