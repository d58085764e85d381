"""Snapshots that are taken before a loop which replaces them in its first round: the best so far, of none."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop, given_to, walk
from torchlint.semantics.memory.references import References

_INFINITE = frozenset({"numpy.inf", "numpy.infty", "numpy.Inf", "math.inf", "torch.inf", "sys.maxsize"})
_MUCH = 10
"""What a loss is surely below after a round."""


class FirstSnapshots:
    """Tells of snapshots whether the first round of a loop replaces them for certain, as far as the start values tell."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_replaced(self, start: ast.AST, rebound: Iterable[ast.AST]) -> bool:
        """Whether what is kept at ``start`` is kept anew, at one of ``rebound``, in the first round of a loop behind it."""
        return any(self._is_in_first_round(target, start) for target in rebound if target is not start)

    def _is_in_first_round(self, target: ast.AST, start: ast.AST) -> bool:
        loops = [loop for loop in self._semantics.tree.loops(target) if not self._semantics.tree.inside(start, loop)]
        if not loops or not self._semantics.control_flow.may_follow(start, target):
            return False
        conditions: list[ast.If] = []
        for parent in self._semantics.tree.ancestors(target):
            if isinstance(parent, (*LOOPS, *FUNCTIONS)):
                break
            if isinstance(parent, ast.If):
                conditions.append(parent)
        if not all(self._is_in_body(target, condition) for condition in conditions):
            return False
        tests = [test for condition in conditions for test in _joined(condition.test) if not _is_of_phase(test, loops[0])]
        return not tests or (len(tests) == 1 and self._holds_first(tests[0], loops[-1]))

    def _is_in_body(self, node: ast.AST, condition: ast.If) -> bool:
        return any(self._semantics.tree.inside(node, statement) for statement in condition.body)

    def _holds_first(self, condition: ast.expr, loop: Loop) -> bool:
        """Whether a comparison with the best so far holds in the first round: ``score > best``, with 0 for the best."""
        match condition:
            case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
                greater, less = left, right
            case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
                greater, less = right, left
            case _:
                return False
        return self._starts(less, condition, loop, is_low=True) or self._starts(greater, condition, loop, is_low=False)

    def _starts(self, best: ast.expr, condition: ast.expr, loop: Loop, *, is_low: bool) -> bool:
        """Whether a variable that the loop first sets in a branch, or behind it, is as low or high as can be at its start."""
        if not isinstance(best, ast.Name):
            return False
        parts = (part for statement in loop.body for part in walk(statement))
        stores = [
            part for part in parts if isinstance(part, ast.Name) and part.id == best.id and isinstance(part.ctx, ast.Store)
        ]
        if not stores or any(store.lineno <= (condition.end_lineno or 0) for store in stores):
            return False
        before = [
            binding
            for binding in self._semantics.bindings.reaching(best)
            if not self._semantics.tree.inside(binding.node, loop)
        ]
        values = [self._default(each) or _item(each.value, each.path) for each in before]
        return len(values) == 1 and values[0] is not None and self._is_extreme(values[0], is_low=is_low)

    def _default(self, binding: Binding) -> ast.expr | None:
        """What a parameter has where the callers give nothing for it: in the file, none of them does."""
        function, parameter = binding.scope.node, binding.node
        if binding.form is not Form.PARAMETER or not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
            return None
        references = self._semantics.of(References)
        for site in self._semantics.facts.call_sites(function):
            given = given_to(site)
            if any(references.parameter(site, function, each) is parameter for each in given):
                return None
        return self._semantics.facts.default(function, parameter)

    def _is_extreme(self, value: ast.expr, *, is_low: bool) -> bool:
        match value:
            case ast.Constant(value=bool()):
                return False
            case ast.Constant(value=int() | float() as number):
                return number <= 0 if is_low else number >= _MUCH
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return is_low and (isinstance(operand, ast.Constant) or self._is_extreme(operand, is_low=False))
            case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))]):
                return text.lower().lstrip("+").startswith("-inf" if is_low else "inf")
        return not is_low and self._semantics.qualified_name(value) in _INFINITE


def _item(value: ast.expr | None, path: tuple[int | None, ...]) -> ast.expr | None:
    """What is bound of a value that is unpacked: ``0`` of ``best, state = 0, None``."""
    for index in path:
        if not isinstance(value, (ast.Tuple, ast.List)) or index is None or index >= len(value.elts):
            return None
        value = value.elts[index]
    return value


def _joined(test: ast.expr) -> list[ast.expr]:
    """The tests that all have to hold."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _is_of_phase(test: ast.expr, loop: Loop) -> bool:
    """Whether a test chooses a round of a loop over phases: ``phase == "val"`` of ``for phase in ["train", "val"]``."""
    match loop, test:
        case (
            ast.For(target=ast.Name(id=phase), iter=ast.List(elts=phases) | ast.Tuple(elts=phases)),
            ast.Compare(left=ast.Name(id=asked), ops=[ast.Eq()], comparators=[ast.Constant(value=value)]),
        ):
            return asked == phase and any(isinstance(each, ast.Constant) and each.value == value for each in phases)
    return False
