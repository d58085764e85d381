"""Code that runs in the last round of a loop, or there alone: below ``if step == len(loader) - 1:``, over the loader."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.conditions.assumptions import Assumptions

_BARS = re.compile(r"tqdm|progress|track", re.IGNORECASE)
"""Parts of names of what goes through something, and shows how far it is."""
_PLAIN = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.expr_context, ast.cmpop, ast.boolop, ast.unaryop)


class LastRounds:
    """Tells of places in a file whether they run in the last round of a loop, or there alone."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def loop_of(self, node: ast.AST) -> ast.For | None:
        """The loop in whose last round alone a node runs, as a condition around it says."""
        loops = [loop for loop in self._semantics.tree.loops(node) if isinstance(loop, ast.For)] if self._compares else []
        if not loops:
            return None
        tests = [test for test, holds in self._semantics.of(Assumptions).guards(node) if holds]
        tests += [
            part for test in tests if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) for part in test.values
        ]
        for test in tests:
            match test:
                case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                    for loop in loops:
                        if self._is_last(loop, left, right) or self._is_last(loop, right, left):
                            return loop
        return None

    def holds_in(self, loop: ast.For, test: ast.expr) -> bool:
        """Whether a test holds in the last round of a loop: ``epoch % 5 == 0 or epoch == epochs - 1``.

        So does, as far as a round can tell, one of names that the loop does not bind: it holds in all rounds or in none.
        """
        match test:
            case ast.BoolOp(op=ast.Or(), values=parts):
                return any(self.holds_in(loop, part) for part in parts) or self._stays(loop, test)
            case ast.BoolOp(op=ast.And(), values=parts):
                return all(self.holds_in(loop, part) for part in parts)
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                if self._is_last(loop, left, right) or self._is_last(loop, right, left):
                    return True
        return self._stays(loop, test)

    def _stays(self, loop: ast.For, test: ast.expr) -> bool:
        """Whether a test is of plain names, none of which the loop binds."""
        inside = self._semantics.bindings.bound_in_loop(loop)
        for part in ast.walk(test):
            if isinstance(part, ast.Name):
                bindings = self._semantics.bindings.reaching(part)
                if not bindings or any(binding in inside for binding in bindings):
                    return False
            elif not isinstance(part, _PLAIN):
                return False
        return True

    @cached_property
    def _compares(self) -> bool:
        return any(isinstance(node.ops[0], ast.Eq) for node in self._semantics.tree.of_type(ast.Compare))

    def _is_last(self, loop: ast.For, index: ast.expr, end: ast.expr) -> bool:
        """Whether an index of a loop equals the number of its rounds, both with what is added to them, in the last round:
        the last index is the number, less one, and what the index began with.
        """
        name, added = _sum(index)
        number, more = _sum(end)
        match name:
            case ast.BinOp(left=left, op=ast.Mod(), right=right) if not added:
                name, added = _sum(left)
                if not isinstance(number, ast.Constant) and ast.dump(number) != ast.dump(right):
                    return False
                number = right
        start = self._start(loop, name) if isinstance(name, ast.Name) else None
        if start is None:
            return False
        if self._is_last_of_range(loop, number, more - added):
            return True
        return more - added == start - 1 and self._is_number(loop, number)

    def _is_last_of_range(self, loop: ast.For, number: ast.expr, added: int) -> bool:
        """Whether a number, with what is added to it, is the last of a range: ``epochs`` of ``range(1, epochs + 1)``."""
        name, call = self._counting(loop)
        if name != "range" or call is None:
            return False
        end, more = _sum(call.args[-1])
        are_numbers = isinstance(number, ast.Constant) and isinstance(end, ast.Constant)
        return added == more - 1 and (are_numbers or ast.dump(number) == ast.dump(end))

    def _start(self, loop: ast.For, index: ast.Name) -> int | None:
        """What the index of a loop begins with, if the name is that; of ``range(a, b)`` as if it began with zero."""
        bindings = self._semantics.bindings.reaching(index)
        if len(bindings) != 1 or bindings[0].form is not Form.LOOP:
            return None
        target = loop.target
        match self._counting(loop):
            case "enumerate", ast.Call(args=[_, *rest], keywords=words) if (
                isinstance(target, ast.Tuple) and len(target.elts) == 2
            ):
                given, target = [*rest, *(word.value for word in words)], target.elts[0]
            case "range", ast.Call(args=[_] | [_, _], keywords=[]):
                given = []
            case _:
                return None
        if target is not bindings[0].node:
            return None
        match given:
            case []:
                return 0
            case [ast.Constant(value=int(start))]:
                return start
        return None

    def _counting(self, loop: ast.For) -> tuple[str, ast.Call | None]:
        """The call of ``range`` or ``enumerate`` that a loop goes through, perhaps with a bar that shows how far it is."""
        call = loop.iter
        match call:
            case ast.Call(func=function, args=[ast.Call() as inner, *_]) if _BARS.search(last_name(function)) is not None:
                call = inner
        name = self._semantics.qualified_name(call.func) if isinstance(call, ast.Call) else None
        return (name or "").removeprefix("builtins."), call if isinstance(call, ast.Call) else None

    def _is_number(self, loop: ast.For, number: ast.expr) -> bool:
        """Whether a number is that of the rounds: the one that is given to ``range``, or the length of what is gone through."""
        name, call = self._counting(loop)
        assert call is not None
        if name == "range":
            return ast.dump(number) == ast.dump(call.args[-1])
        data = call.args[0]
        if isinstance(number, ast.Name):
            bindings = self._semantics.bindings.reaching(number)
            values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path]
            return len(bindings) == 1 and len(values) == 1 and values[0] is not None and self._is_length(values[0], data)
        return self._is_length(number, data)

    def _is_length(self, number: ast.expr, data: ast.expr) -> bool:
        match number:
            case ast.Call(func=ast.Name(id="len"), args=[measured]):
                return ast.dump(measured) in self._gone_through(data)
        return False

    def _gone_through(self, data: ast.expr) -> set[str]:
        """What a loop goes through, as it is spelled: the expression, and what is in it, as ``loader`` in ``tqdm(loader)``."""
        parts = list(ast.walk(data))
        bindings = [each for part in parts if isinstance(part, ast.Name) for each in self._semantics.bindings.reaching(part)]
        parts += [part for each in bindings if each.value is not None for part in ast.walk(each.value)]
        return {ast.dump(part) for part in parts if isinstance(part, (ast.Name, ast.Attribute))}


def _sum(node: ast.expr) -> tuple[ast.expr, int]:
    """An expression, and the number that is added to it, or with a minus taken away: of ``step + 1``, the step and one."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(number))):
            return left, number
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(number))):
            return left, -number
        case ast.Constant(value=int(number)):
            return node, number
    return node, 0
