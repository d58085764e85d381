"""Parameters that a module gets after an optimizer was given those that it had: nothing trains them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, is_none, last_name, position
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modules.constructors.new import NewModules

Node = TypeVar("Node")

_GIVING = ("parameters", "named_parameters")
_SPLITTING = frozenset(
    {"torch.nn.utils.weight_norm", "torch.nn.utils.parametrizations.weight_norm", "torch.nn.utils.parametrize.weight_norm"}
)
"""What puts new parameters in the place of a weight; spectral_norm, orthogonal and pruning keep the one that it had (ran)."""
_CARRIERS = (ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.comprehension, ast.GeneratorExp, ast.ListComp, ast.IfExp)
_MOST = 24
"""How many replacements, and optimizers, of one model are looked at."""
_COLLECTING = frozenset({"list", "filter", "tuple", "chain", "set", "dict", "sum"})


_STEPLESS = frozenset({"zero_grad", "param_groups", "state_dict"})
"""What an optimizer is asked for that changes no parameter."""


@dataclass(frozen=True, eq=False, slots=True)
class Replaced(Generic[Node]):
    """What an optimizer was given the parameters of, ``model``, and what of it gets others later: ``parts``, at ``places``.

    ``moved`` are the statements that can come before the optimizer instead; empty where that is not clear.
    """

    model: Node
    parts: tuple[Node, ...]
    moved: tuple[Node, ...]


class ReplacedParameters:
    """Finds the optimizers of a file that are made before the model has the parameters that they should train."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._flow = semantics.control_flow
        self._references = semantics.of(References)
        self._modules = semantics.of(NewModules)

    @cached_property
    def found(self) -> dict[ast.Call, Replaced[ast.AST]]:
        """The calls that make such an optimizer."""
        found: dict[ast.Call, Replaced[ast.AST]] = {}
        if "torch" not in self._semantics.names.imported_libraries:
            return found
        for optimizer, models in self.optimizers.items():
            changes = list(self._later_changes(optimizer, models)) if self._replacements else []
            if changes and self._is_used_after(optimizer, changes[0][1]):
                parts = tuple(part for part, _ in changes)
                moved = self._movable(optimizer, [self._tree.statement(place) for _, place in changes])
                found[optimizer] = Replaced(models[0], parts, tuple(moved))
        return found

    # --- optimizers --------------------------------------------------------------------------------------------------

    @cached_property
    def optimizers(self) -> dict[ast.Call, list[ast.expr]]:
        """The calls that make an optimizer of the parameters of modules, each with these."""
        found: dict[ast.Call, list[ast.expr]] = {}
        for name in _GIVING:
            for call in self._semantics.facts.calls.get(name, ()):
                optimizer = self._optimizer_of(call)
                if optimizer is not None and isinstance(call.func, ast.Attribute):
                    found.setdefault(optimizer, []).append(call.func.value)
        return found

    def _optimizer_of(self, given: ast.Call) -> ast.Call | None:
        """The call that makes an optimizer of what another one gives, there and then."""
        current: ast.AST = given
        while (parent := self._tree.parent(current)) is not None:
            if isinstance(parent, ast.keyword):
                parent = self._tree.parent(parent)
            if isinstance(parent, ast.Call):
                if self._semantics.kind(parent).type is Type.OPTIMIZER:
                    return parent
                if last_name(parent.func) not in _COLLECTING or parent.func is current:
                    return None
            elif not isinstance(parent, _CARRIERS):
                return None
            current = parent
        return None

    def _is_used_after(self, optimizer: ast.Call, change: ast.expr) -> bool:
        """Whether the optimizer is used once the change is made: here, or by what is given it or keeps it."""
        statement = self._tree.statement(optimizer)
        if isinstance(statement, ast.Return) or not isinstance(statement, ast.Assign):
            return False
        for target in statement.targets:
            if isinstance(target, ast.Name):
                binding = self._semantics.bindings.of(target)
                uses = [use for use in binding.uses if not self._is_stepless(use)] if binding is not None else []
                scope = self._flow.scope(change)
                if any(self._flow.scope(use) is not scope or self._flow.may_follow(change, use) for use in uses):
                    return True
            elif isinstance(target, ast.Attribute):
                owner = self._semantics.facts.self_class(target.value)
                if owner is not None and not self._is_made_again(owner, target):
                    return True
        return False

    def _is_made_again(self, owner: ast.ClassDef, kept: ast.Attribute) -> bool:
        """Whether the attribute that keeps an optimizer is given another one anywhere in the class."""
        stores = (store for slot in self._semantics.facts.slots(owner, kept.attr) for store in slot.stores if store is not kept)
        values = (getattr(self._tree.parent(store), "value", None) for store in stores)
        return any(not is_none(value) for value in values)

    def _is_stepless(self, use: ast.expr) -> bool:
        """Whether a use of an optimizer lets it change no parameter."""
        parent = self._tree.parent(use)
        return isinstance(parent, ast.Attribute) and parent.attr in _STEPLESS

    # --- changes -----------------------------------------------------------------------------------------------------

    @cached_property
    def _replacements(self) -> list[tuple[ast.expr, Reference, ast.expr]]:
        """What gets new parameters, as it is spelled and what it refers to, and the place where it does."""
        found: list[tuple[ast.expr, Reference, ast.expr]] = []
        for node in self._tree.of_type(ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute) and self._is_new(node.value):
                    reference = self._references.rebound(target)
                    if reference is not None:
                        found.append((target, reference, target))
        for call in self._semantics.facts.calls.get("weight_norm", ()):
            if self._semantics.qualified_name(call.func) in _SPLITTING and call.args:
                reference = self._references.of(call.args[0])
                if reference is not None:
                    found.append((call.args[0], reference, call))
        return sorted(found, key=lambda each: position(each[2]))

    def _is_new(self, value: ast.expr) -> bool:
        """Whether a value is a module or parameter that is made there, and has parameters that were in no module before."""
        if self._modules.is_parameter(value):
            return isinstance(value, ast.Call) and not _is_frozen(value)
        if not isinstance(value, ast.Call) or not self._modules.is_module(value):
            return False
        return any(isinstance(part, ast.Call) and self._has_weights(part) for part in ast.walk(value))

    def _has_weights(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name in torch_api.MODULES:
            return bool(torch_api.PARAMETER_ATTRIBUTES.get(name))
        definition = self._semantics.kind(call).definition
        return isinstance(definition, ast.ClassDef) and self._modules.is_module(call) and self._modules.has_state(call)

    def _later_changes(self, optimizer: ast.Call, models: list[ast.expr]) -> Iterator[tuple[ast.expr, ast.expr]]:
        """The parts of the models that get new parameters after the optimizer was made, with no other one made for them."""
        scope = self._flow.scope(optimizer)
        wholes = {whole for model in models[:_MOST] if (whole := self._references.of(model)) is not None}
        for root in dict.fromkeys((whole.root, whole.path[0]) for whole in wholes):
            for part, reference, place in self._by_root.get(root, ())[:_MOST]:
                if self._flow.scope(place) is not scope or not any(self._is_part(whole, reference) for whole in wholes):
                    continue
                if self._flow.may_follow(optimizer, place) and not self._is_looked_after(place, reference):
                    if not self._flow.may_follow(place, optimizer) and not self._is_put_back(part, place):
                        yield part, place

    def _is_put_back(self, part: ast.expr, place: ast.expr) -> bool:
        """Whether a part gets later what has a name already: ``model.fc = head``."""
        stores = self._kept_parts.get(ast.unparse(part), ())[:_MOST]
        return any(self._flow.scope(each) is self._flow.scope(place) and self._flow.may_follow(place, each) for each in stores)

    @cached_property
    def _kept_parts(self) -> dict[str, list[ast.expr]]:
        """The attributes that are assigned the value of a name, as they are spelled."""
        found: dict[str, list[ast.expr]] = {}
        for node in self._tree.of_type(ast.Assign):
            if isinstance(node.value, ast.Name):
                for target in node.targets:
                    if isinstance(target, ast.Attribute):
                        found.setdefault(ast.unparse(target), []).append(target)
        return found

    @cached_property
    def _by_root(self) -> dict[tuple[ast.AST, str], list[tuple[ast.expr, Reference, ast.expr]]]:
        """The replacements by the variable that leads to them."""
        found: dict[tuple[ast.AST, str], list[tuple[ast.expr, Reference, ast.expr]]] = {}
        for each in self._replacements:
            found.setdefault((each[1].root, each[1].path[0]), []).append(each)
        return found

    @staticmethod
    def _is_part(whole: Reference, part: Reference) -> bool:
        return whole.holds(part) and len(part.path) > len(whole.path)

    def _is_looked_after(self, change: ast.expr, part: Reference) -> bool:
        """Whether something is made or told later that trains the new parameters."""
        unknown, known = self._trainers
        alike = known.get((part.root, part.path[0]), [])
        if len(unknown) + len(alike) > _MOST:
            return True
        later = unknown + [other for other, whole in alike if whole.holds(part) or part.holds(whole)]
        scope = self._flow.scope(change)
        return any(self._flow.scope(each) is not scope or self._flow.may_follow(change, each) for each in later)

    @cached_property
    def _trainers(self) -> tuple[list[ast.expr], dict[tuple[ast.AST, str], list[tuple[ast.Call, Reference]]]]:
        """The calls that make optimizers, or tell them of more, of who knows what; and those of the models of a variable."""
        unknown: list[ast.expr] = [*self._semantics.facts.calls.get("add_param_group", ()), *self._regrouped()]
        known: dict[tuple[ast.AST, str], list[tuple[ast.Call, Reference]]] = {}
        for optimizer, models in self.optimizers.items():
            for model in models:
                whole = self._references.of(model)
                if whole is None:
                    unknown.append(optimizer)
                else:
                    known.setdefault((whole.root, whole.path[0]), []).append((optimizer, whole))
        return unknown, known

    def _regrouped(self) -> Iterator[ast.Subscript]:
        """Where the parameters of a group are set: ``optimizer.param_groups[0]["params"] = list(model.parameters())``."""
        if "param_groups" in self._semantics.words.all:
            for node in self._tree.of_type(ast.Subscript):
                if isinstance(node.slice, ast.Constant) and node.slice.value == "params":
                    if isinstance(node.ctx, ast.Store) or isinstance(self._tree.parent(node), ast.Attribute):
                        yield node

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _movable(self, optimizer: ast.Call, changes: list[ast.stmt]) -> list[ast.stmt]:
        """The changes, and what they need of the statements between, where all can come before the optimizer."""
        start = self._tree.statement(optimizer)
        block = self._tree.block(start)
        if any(change not in block for change in changes):
            return []
        first, last = block.index(start), max(block.index(change) for change in changes)
        kept = {ast.unparse(target) for target in start.targets} if isinstance(start, ast.Assign) else set()
        moved: list[ast.stmt] = []
        needed: set[str] = set()
        for statement in reversed(block[first + 1 : last + 1]):
            parts = list(ast.walk(statement))
            stored = {part.id for part in parts if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
            if statement not in changes and not stored & needed:
                continue
            is_simple = isinstance(statement, (ast.Assign, ast.Expr)) and not any(isinstance(part, FUNCTIONS) for part in parts)
            if not is_simple or any(isinstance(part, ast.expr) and ast.unparse(part) in kept for part in parts):
                return []
            moved.append(statement)
            needed |= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
        return list(reversed(moved))


def _is_frozen(parameter: ast.Call) -> bool:
    """Whether a parameter is made so that nothing is to train it."""
    flags = [*parameter.args[1:2], *(word.value for word in parameter.keywords if word.arg == "requires_grad")]
    return any(isinstance(flag, ast.Constant) and flag.value is False for flag in flags)
