"""Code that runs in the last round of a loop alone: below ``if step == len(loader) - 1:`` in a loop over the loader."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.conditions.assumptions import Assumptions


class LastRounds:
    """Tells of places in a file whether they run in the last round of a loop alone."""

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
        return start is not None and more - added == start - 1 and self._is_number(loop, number)

    def _start(self, loop: ast.For, index: ast.Name) -> int | None:
        """What the index of a loop begins with, if the name is that."""
        bindings = self._semantics.bindings.reaching(index)
        if len(bindings) != 1 or bindings[0].form is not Form.LOOP:
            return None
        match loop:
            case ast.For(target=ast.Tuple(elts=[target, _]), iter=ast.Call(func=function, args=[_, *rest], keywords=words)):
                given = [*rest, *(word.value for word in words)]
                is_one = target is bindings[0].node and self._semantics.qualified_name(function) == "builtins.enumerate"
            case ast.For(target=target, iter=ast.Call(func=function, args=[_], keywords=[])):
                given = []
                is_one = target is bindings[0].node and self._semantics.qualified_name(function) == "builtins.range"
            case _:
                return None
        match given:
            case []:
                return 0 if is_one else None
            case [ast.Constant(value=int(start))]:
                return start if is_one else None
        return None

    def _is_number(self, loop: ast.For, number: ast.expr) -> bool:
        """Whether a number is that of the rounds: the one that is given to ``range``, or the length of what is gone through."""
        assert isinstance(loop.iter, ast.Call)
        [data, *_] = loop.iter.args
        if self._semantics.qualified_name(loop.iter.func) == "builtins.range":
            return ast.dump(number) == ast.dump(data)
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
