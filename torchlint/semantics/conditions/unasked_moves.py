"""Moves to the GPU that a program makes whatever its flags say, or without which it ends."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.conditions.assumptions import Assumptions
from torchlint.semantics.gpus.flags import ends_program, is_flag


class UnaskedMoves:
    """Tells whether a flag decides on moves: one that says whether there is a GPU, and lets the program go on without one."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def units(self, moves: Iterable[ast.Call]) -> set[ast.AST | None]:
        """The outermost functions and classes that make one of some moves in any case; ``None`` for the script itself."""
        return {self.unit(call) for call in moves if not any(map(is_flag, self._asked_before(call)))}

    def ends(self, moves: Iterable[ast.Call]) -> dict[ast.AST | None, int]:
        """The functions that end where one of some moves is not made for want of a GPU, each with the line where that is:
        ``if use_cuda: net.cuda()``, ``else: return``.
        """
        found: dict[ast.AST | None, int] = {}
        for call in moves:
            lines = [self._end(test, call) for test in self._asked_before(call) if is_flag(test)]
            if lines and 0 not in lines:
                function = self._tree.function(call)
                found[function] = min(max(lines), found.get(function, max(lines)))
        return found

    def is_made(self, call: ast.Call) -> bool:
        """Whether a call is made in any case, whatever flags say."""
        return not any(map(is_flag, self._asked_before(call)))

    def unit(self, node: ast.AST) -> ast.AST | None:
        """The outermost function or class around a node."""
        around = [each for each in self._tree.ancestors(node) if isinstance(each, (*FUNCTIONS, ast.ClassDef))]
        return around[-1] if around else None

    def is_refusal(self, test: ast.expr) -> bool:
        """Whether a program ends where a condition holds, ``if not torch.cuda.is_available(): raise SystemExit``, or else."""
        match self._tree.parent(test):
            case ast.Assert():
                return True
            case ast.If(body=[*_, last], orelse=orelse) as refusal:
                return refusal.test is test and (ends_program(last) or (bool(orelse) and ends_program(orelse[-1])))
        return False

    def _asked_before(self, call: ast.Call) -> Iterator[ast.expr]:
        """The conditions that a move runs under, without those that end the program where they do not hold.

        A method that is called under flags alone moves nothing in any case: ``if use_cuda: self.to_gpu()``.
        """
        yield from self._conditions(call)
        function = self._tree.function(call)
        sites = self._semantics.facts.call_sites(function) if isinstance(function, FUNCTIONS) else []
        flags = [[test for test in self._conditions(site) if is_flag(test)] for site in sites]
        if flags and all(flags):
            yield from flags[0]

    def _conditions(self, call: ast.Call) -> Iterator[ast.expr]:
        for test, _ in self._semantics.of(Assumptions).guards(call):
            if not self.is_refusal(test):
                yield test

    def _end(self, test: ast.expr, call: ast.Call) -> int:
        """The last line of a condition whose other branch leaves the function; 0 where it does not, or leaves with a value."""
        match self._tree.parent(test):
            case ast.If(body=body, orelse=[*_, ast.Return(value=None) | ast.Raise()]) as choice if choice.test is test:
                return choice.end_lineno or 0 if any(self._tree.inside(call, each) for each in body) else 0
        return 0
