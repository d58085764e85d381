"""What a function that does two steps at once saves for the backward pass, and the two steps do not.

`log_softmax` and `logsumexp` save what they give, `logsigmoid` and `logsumexp` what they are given; `log` saves what it is
given, and `softmax` and `sigmoid` what they give, which has no name (ran on torch 2.13). A change in place of what is saved
makes the backward pass raise.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.memory.inplace import InplaceChange, InplaceChanges, changed_tensor

_SAVE_RESULT = frozenset({"softmax", "sum"})
_SAVE_INPUT = frozenset({"sigmoid", "sum"})
_DEEP = 4


class SavedOtherwise:
    """Tells of logarithms whether anything in the file changes what only one function in their place would save."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._changes = semantics.of(InplaceChanges)

    def is_unchanged(self, log: ast.Call, function: str, value: ast.expr) -> Fact:
        """Whether nothing does, for the logarithm of a ``function`` of a ``value``."""
        change = self._of_result(log) if function in _SAVE_RESULT else None
        if change is None and function in _SAVE_INPUT:
            change = self._of_named(value, _DEEP)
        if change is None:
            return CERTAIN
        what = "computes" if function in _SAVE_RESULT else "is given"
        return unknown(f"what it {what} may be changed in place, in line {change.statement.lineno}, and would be saved")

    def _of_result(self, log: ast.Call) -> InplaceChange | None:
        """A change of what a logarithm gives: where it is written, by its name, or of what a function returns it to."""
        result: ast.AST = log
        while isinstance(parent := self._semantics.tree.parent(result), (ast.Attribute, ast.Call, ast.Subscript)):
            if isinstance(parent, ast.Call) and parent.func is not result:
                break
            result = parent
        if log in self._by_target:
            return self._by_target[log]
        match self._semantics.tree.parent(result):
            case ast.Return() | ast.Lambda():
                return self._of_given
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                if binding is None:
                    return None
                changed = self._by_binding.get(binding)
                is_returned = any(isinstance(self._semantics.tree.parent(use), ast.Return) for use in binding.uses)
                return changed or (self._of_given if is_returned else None)
            case ast.Assign(targets=[ast.Attribute() as target]):
                return self._by_attribute.get(target.attr)
        return None

    @cached_property
    def _of_given(self) -> InplaceChange | None:
        """The first change of what a call of anything but torch has given a name."""
        for change in self._changes.all:
            for binding in self._changes.bindings(change):
                value = binding.value
                if isinstance(value, ast.Call) and not (self._semantics.qualified_name(value.func) or "").startswith("torch."):
                    return change
        return None

    def _of_named(self, value: ast.expr, depth: int) -> InplaceChange | None:
        """A change of what a value is, or is seen in, by any name that the file has for it."""
        root = changed_tensor(value)
        if isinstance(root, ast.Attribute):
            return self._by_attribute.get(root.attr)
        bindings = self._semantics.bindings.reaching(root) if isinstance(root, ast.Name) else ()
        return next((found for each in bindings if (found := self._of_bound(each, depth)) is not None), None)

    def _of_bound(self, binding: Binding, depth: int) -> InplaceChange | None:
        if binding in self._by_binding or not depth:
            return self._by_binding.get(binding)
        if binding.form is Form.ASSIGNMENT and binding.value is not None and not binding.path:
            return self._of_named(binding.value, depth - 1)
        given = (each for each in self._semantics.inference.given(binding) if each is not None)
        return next((found for each in given if (found := self._of_named(each, depth - 1)) is not None), None)

    # --- the changes of the file -------------------------------------------------------------------------------------

    @cached_property
    def _by_target(self) -> dict[ast.expr, InplaceChange]:
        return {each.target: each for each in reversed(self._changes.all)}

    @cached_property
    def _by_binding(self) -> dict[Binding, InplaceChange]:
        return {binding: each for each in reversed(self._changes.all) for binding in self._changes.bindings(each)}

    @cached_property
    def _by_attribute(self) -> dict[str, InplaceChange]:
        changes = reversed(self._changes.all)
        return {each.target.attr: each for each in changes if isinstance(each.target, ast.Attribute)}
