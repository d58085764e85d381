"""Terms of a loss that went through ``item()``, ``float()`` or ``detach()``: they have a part in its value, and no gradient."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.kinds.kind import Grad, Type

Node = TypeVar("Node")

_LOSS = re.compile(r"loss|criterion", re.IGNORECASE)

_TRAINED = re.compile(r"alpha|temp", re.IGNORECASE)
"""What factors are called that are trained themselves."""
_DEPTH = 4
"""Through so many steps a value is followed to the entropy that it is."""


@dataclass(frozen=True, eq=False, slots=True)
class LostTerm(Generic[Node]):
    """The ``value`` of a term that has a graph, where the term has none."""

    value: Node


class LostTerms:
    """Looks at what is back-propagated in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, LostTerm[ast.expr]]:
        """The calls that leave the graph of a term behind, in a sum that is back-propagated."""
        found: dict[ast.Call, LostTerm[ast.expr]] = {}
        for term in self._terms():
            if isinstance(term, ast.Call) and (value := self._left_behind(term)) is not None:
                if self._is_added(term) and self._is_loss(value):
                    found[term] = LostTerm(value)
        return found | self._entropies

    @cached_property
    def _entropies(self) -> dict[ast.Call, LostTerm[ast.expr]]:
        """The calls that leave the graph of a policy's entropy behind, which is to be rewarded: ``loss - 0.01 * entropy``."""
        found: dict[ast.Call, LostTerm[ast.expr]] = {}
        if not self._semantics.facts.calls.get("entropy"):
            return found
        seen = set[ast.expr]()
        pending = [part for root in self._semantics.of(Backpropagated).roots for part in self._summed(root)]
        while pending:
            term = pending.pop()
            if term in seen:
                continue
            seen.add(term)
            value = self._left_behind(term) if isinstance(term, ast.Call) else None
            if isinstance(term, ast.Call) and value is not None:
                if self._is_entropy(value) and not self._is_quiet(term):
                    found[term] = LostTerm(value)
            else:
                pending.extend(self._summed(term))
        return found

    def _summed(self, term: ast.expr) -> Iterator[ast.expr]:
        """What a term of a loss is the sum or the mean of, scaled by numbers, and with either sign."""
        match term:
            case ast.BinOp(left=left, right=right, op=ast.Add() | ast.Sub()):
                yield from (left, right)
            case ast.UnaryOp(operand=operand, op=ast.USub()):
                yield operand
            case ast.BinOp(left=left, right=right, op=ast.Mult()):
                for part, other in ((left, right), (right, left)):
                    if self._is_weight(other):
                        yield part
            case ast.Call(func=ast.Attribute(value=owner, attr="mean" | "sum") as function):
                name = self._semantics.qualified_name(function) or ""
                yield from term.args[:1] if name.startswith("torch.") else [owner]
            case _:
                yield from self._parts(term)

    def _is_weight(self, factor: ast.expr) -> bool:
        """Whether a factor is a number, as far as the file tells; no temperature, which is trained by what it scales."""
        kind = self._semantics.kind(factor).type
        return kind is Type.NUMBER or (
            kind is Type.UNKNOWN and not _is_computed(factor) and not _TRAINED.search(last_name(factor))
        )

    def _is_entropy(self, value: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value is what a distribution has for its entropy, or the mean or the sum of it."""
        if not depth:
            return False
        match value:
            case ast.Call(func=ast.Attribute(attr="entropy"), args=[], keywords=[]):
                return True
            case ast.Call(func=ast.Attribute(value=owner, attr="mean" | "sum") as function):
                name = self._semantics.qualified_name(function) or ""
                inner = value.args[:1] if name.startswith("torch.") else [owner]
                return any(self._is_entropy(each, depth - 1) for each in inner)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                made = [each.value if each.form is Form.ASSIGNMENT and not each.path else None for each in bindings]
                return bool(made) and all(each is not None and self._is_entropy(each, depth - 1) for each in made)
        return False

    def _terms(self) -> Iterator[ast.expr]:
        """The terms of the sums that are back-propagated, each once; what only scales another one is no term."""
        seen = set[ast.expr]()
        pending = list(self._semantics.of(Backpropagated).roots)
        while pending:
            term = pending.pop()
            if term not in seen:
                seen.add(term)
                yield term
                pending.extend(self._parts(term))

    def _parts(self, term: ast.expr) -> Iterator[ast.expr]:
        match term:
            case ast.Name():
                for binding in self._semantics.bindings.reaching(term):
                    for each in (binding, *binding.before):
                        if each.form in (Form.ASSIGNMENT, Form.AUGMENTED) and each.value is not None and not each.path:
                            yield each.value
            case ast.BinOp(left=left, right=right, op=ast.Add()):
                yield from (left, right)
            case ast.BinOp(left=left, op=ast.Sub()):
                yield left
            case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Div()):
                for part, other in ((left, right), (right, left)):
                    if not self._semantics.kind(other).is_tensor:
                        yield part

    def _left_behind(self, call: ast.Call) -> ast.expr | None:
        match call:
            case ast.Call(func=ast.Attribute(value=value, attr="item" | "detach"), args=[], keywords=[]):
                return value
            case ast.Call(func=ast.Name(id="float"), args=[value], keywords=[]):
                return value if self._semantics.qualified_name(call.func) == "builtins.float" else None
        return None

    def _is_added(self, call: ast.Call) -> bool:
        """Whether a call is a term of a sum, as it is or scaled by numbers."""
        current: ast.expr = call
        while True:
            parent = self._tree.parent(current)
            match parent:
                case ast.BinOp(left=left, right=right, op=ast.Mult() | ast.Div()):
                    other = right if left is current else left
                    if self._semantics.kind(other).type not in (Type.NUMBER, Type.UNKNOWN) or _is_computed(other):
                        return False
                    current = parent
                case ast.BinOp(left=left, right=right, op=ast.Add()):
                    other = right if left is current else left
                    return not self._holds(other, call)
                case ast.AugAssign(op=ast.Add()):
                    return parent.value is current
                case _:
                    return False

    def _holds(self, other: ast.expr, call: ast.Call) -> bool:
        """Whether the other part of a sum has the same value, with its graph: a trick to give it another gradient."""
        value = self._left_behind(call)
        assert value is not None
        shown = ast.dump(value)
        return any(isinstance(part, ast.expr) and ast.dump(part) == shown for part in ast.walk(other))

    def _is_loss(self, value: ast.expr) -> bool:
        """Whether a value is a number with a graph, which nothing else back-propagates."""
        kind = self._semantics.kind(value)
        if not (kind.carries_graph and kind.scalar is True):
            is_open = kind.type in (Type.TENSOR, Type.UNKNOWN) and kind.grad is Grad.UNKNOWN
            if not is_open or not self._is_called_loss(value):
                return False
        return not isinstance(value, ast.Name) or not self._semantics.of(Backpropagated).name(value)

    def _is_called_loss(self, value: ast.expr) -> bool:
        """Whether a variable is called a loss, and is what something gives that is called like one: ``self.adv_loss(…)``."""
        if not isinstance(value, ast.Name) or not _LOSS.search(value.id):
            return False
        made = self._semantics.bindings.assigned(value)
        return isinstance(made, ast.Call) and _LOSS.search(last_name(made.func)) is not None and not self._is_quiet(made)

    def _is_quiet(self, made: ast.Call) -> bool:
        """Whether a call is made with autograd off, or is one of arrays or numbers."""
        return self._semantics.no_grad.covers(made) or (self._semantics.qualified_name(made.func) or "").startswith("numpy.")


def _is_computed(node: ast.expr) -> bool:
    """Whether a factor is more than a name or a number."""
    return not isinstance(node, (ast.Name, ast.Attribute, ast.Constant, ast.Subscript))
