"""Forward passes of a module past the ``DistributedDataParallel`` around it, whose gradients stay with each process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.tree import dotted

Node = TypeVar("Node")

WRAPPERS = frozenset({"torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel"})
_BY_HAND = frozenset(
    {"all_reduce", "all_reduce_coalesced", "reduce_gradients", "average_gradients", "sync_gradients", "no_sync"}
)
"""Words of code that sees to the gradients of all processes itself."""
_SAME = frozenset({"to", "cuda", "train"})
_DEPTH = 3


@dataclass(frozen=True, eq=False, slots=True)
class Bypassed(Generic[Node]):
    """The ``wrapper`` whose module is run without it, and back-propagated."""

    wrapper: Node


class BypassedWrappers:
    """Finds such forward passes in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, Bypassed[ast.expr]]:
        """The calls ``wrapper.module(x)`` whose result is back-propagated, where nothing goes through the wrapper."""
        found: dict[ast.Call, Bypassed[ast.expr]] = {}
        if _BY_HAND & self._semantics.words.all:
            return found
        for call in self._semantics.facts.calls.get("module", ()):
            if not isinstance(call.func, ast.Attribute) or dotted(call.func.value) is None:
                continue
            wrapper = call.func.value
            if self._is_wrapper(wrapper) and self._is_trained_on(call) and not self._is_run_itself(wrapper):
                found[call] = Bypassed(wrapper)
        return found

    def _is_trained_on(self, call: ast.Call) -> bool:
        return not self._semantics.no_grad.covers(call) and self._semantics.of(Backpropagated).call(call)

    def _is_run_itself(self, wrapper: ast.expr) -> bool:
        """Whether something that is back-propagated goes through the wrapper, which then shares all gradients of the pass."""
        name = dotted(wrapper)
        calls = self._semantics.facts.calls.get((name or "").rpartition(".")[2], ())
        return any(dotted(call.func) == name and self._semantics.of(Backpropagated).call(call) for call in calls)

    def _is_wrapper(self, node: ast.expr) -> bool:
        values = list(self._values(node, 0))
        return any(
            isinstance(value, ast.Call) and (self._semantics.qualified_name(value.func) or "") in WRAPPERS for value in values
        )

    def _values(self, node: ast.expr, depth: int) -> Iterator[ast.expr]:
        """The expressions that a variable, an attribute of ``self`` or an argument may come from."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME:
            node = node.func.value
        if depth >= _DEPTH:
            return
        if isinstance(node, ast.Name):
            for binding in self._semantics.bindings.reaching(node):
                if binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None:
                    yield from self._values(binding.value, depth + 1)
                else:
                    for given in self._semantics.inference.given(binding):
                        if given is not None:
                            yield from self._values(given, depth + 1)
        elif isinstance(node, ast.Attribute) and (owner := self._semantics.facts.self_class(node.value)) is not None:
            for slot in self._semantics.facts.slots(owner, node.attr):
                for store in slot.stores:
                    parent = self._tree.parent(store)
                    if isinstance(parent, ast.Assign):
                        yield from self._values(parent.value, depth + 1)
        else:
            yield node
