"""Gradients of one model that are lent to another, and that nothing zeroes: `shared.grad = own.grad`, as in A3C.

Since torch 2.0 an optimizer's ``zero_grad`` sets the gradients of its own parameters to ``None``: those of the other model
stay, and the next backward adds to them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backwards import Backwards
from torchlint.semantics.code.tree import Loop, dotted, walk_body
from torchlint.semantics.training.optimizers import Optimizers

Node = TypeVar("Node")


@dataclass(frozen=True, eq=False, slots=True)
class LentGradients(Generic[Node]):
    """The ``lender`` that a backward adds gradients to, and the ``borrower`` whose gradients they become."""

    lender: Node
    borrower: Node


class LentOut:
    """Finds the backward passes of a file that add to gradients which were lent in the round before."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, LentGradients[ast.expr]]:
        """The last backward in front of each loop that lends gradients."""
        found: dict[ast.Call, LentGradients[ast.expr]] = {}
        for loop in self._tree.of_type(ast.For):
            pair = self._lent(loop)
            around = next(self._tree.loops(loop), None)
            if pair is None or around is None:
                continue
            borrower, lender = pair
            calls = [backward.call for backward in self._semantics.of(Backwards).all]
            before = [call for call in calls if self._is_in(call, around) and call.lineno < loop.lineno]
            if before and not self._is_zeroed(lender, loop) and not self._is_made(lender, around):
                found[before[-1]] = LentGradients(lender, borrower)
        return found

    def _is_in(self, node: ast.AST, loop: Loop) -> bool:
        """Whether a loop is the innermost one around a node."""
        return next(self._tree.loops(node), None) is loop

    def _lent(self, loop: ast.For) -> tuple[ast.expr, ast.expr] | None:
        """The models of ``for a, b in zip(shared.parameters(), own.parameters()): a.grad = b.grad``."""
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name(id=first), ast.Name(id=second)]),
                iter=ast.Call(func=ast.Name(id="zip"), args=[one, other]),
            ):
                owners = {first: _owner(one), second: _owner(other)}
            case _:
                return None
        for part in walk_body(loop.body):
            match part:
                case ast.Assign(
                    targets=[ast.Attribute(value=ast.Name(id=to), attr="grad" | "_grad")],
                    value=ast.Attribute(value=ast.Name(id=of), attr="grad"),
                ) if to != of and owners.get(to) is not None and owners.get(of) is not None:
                    borrower, lender = owners[to], owners[of]
                    assert borrower is not None and lender is not None
                    return borrower, lender
        return None

    def _is_zeroed(self, lender: ast.expr, lending: ast.For) -> bool:
        """Whether anything may zero the gradients of the lender, or leaves those of the borrower in place."""
        optimizers = self._semantics.of(Optimizers)
        zeros = [call for call in self._semantics.facts.calls.get("zero_grad", ()) if isinstance(call.func, ast.Attribute)]
        for call in zeros:
            assert isinstance(call.func, ast.Attribute)
            trained = optimizers.trained(call.func.value)
            if dotted(call.func.value) == dotted(lender) or (trained is not None and dotted(lender) in trained):
                return True
            if call.args or call.keywords:
                return True
        stores = [each for each in self._tree.of_type(ast.Attribute) if each.attr in ("grad", "_grad")]
        others = [each for each in stores if isinstance(each.ctx, ast.Store) and not self._tree.inside(each, lending)]
        return bool(others) or not zeros or bool(self._semantics.facts.calls.get("zero_"))

    def _is_made(self, lender: ast.expr, loop: Loop) -> bool:
        """Whether a round of the loop makes the lender anew."""
        names = {part.id for part in ast.walk(lender) if isinstance(part, ast.Name)}
        stored = [part for part in walk_body(loop.body) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        return any(part.id in names for part in stored)


def _owner(parameters: ast.expr) -> ast.expr | None:
    """The model in ``model.parameters()``."""
    match parameters:
        case ast.Call(func=ast.Attribute(value=owner, attr="parameters"), args=[]) if dotted(owner):
            return owner
    return None
