"""Optimizers of a model whose name stands for another one afterwards, which is trained with them: they change the first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import given_to, last_name
from torchlint.semantics.conditions.assumptions import Assumptions
from torchlint.semantics.conditions.last_rounds import LastRounds
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.modules.constructors.new import NewModules
from torchlint.semantics.parameters.replaced import ReplacedParameters

Node = TypeVar("Node")

_SAME = frozenset({"to", "cuda", "cpu", "half", "float", "double", "eval", "train"})
_KEEPING = re.compile(r"save|load|log|print|restore|resume|dump|checkpoint|ckpt|state|summary|writ", re.IGNORECASE)
"""What functions are called that are given a model and an optimizer, and train nothing."""
_OPTIMIZERS = frozenset({"optimizer", "optim"})
_DEEP = 3
_MOST = 24
"""How many uses, and new values, of one name are looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class Exchanged(Generic[Node]):
    """What an optimizer was given the parameters of, ``model``, and the name of it where that gets another model: ``anew``."""

    model: Node
    anew: Node


class ExchangedModels:
    """Finds the optimizers of a file that go on with the parameters of a model which is not the one that is trained."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._flow = semantics.control_flow
        self._new = semantics.of(NewModules)

    @cached_property
    def found(self) -> dict[ast.Call, Exchanged[ast.expr]]:
        """The calls that make such an optimizer."""
        found: dict[ast.Call, Exchanged[ast.expr]] = {}
        if self._semantics.facts.calls.get("add_param_group"):
            return found
        for optimizer, models in self._semantics.of(ReplacedParameters).optimizers.items():
            statement = self._tree.parent(optimizer)
            if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
                continue
            target = statement.targets[0]
            kept = self._semantics.bindings.of(target) if isinstance(target, ast.Name) else None
            for model in models:
                if isinstance(target, ast.Attribute) and isinstance(model, ast.Attribute):
                    anew = next(self._loaded_instead(optimizer, target, model), None)
                    if anew is not None:
                        found.setdefault(optimizer, Exchanged(model, anew))
                if kept is not None and isinstance(model, ast.Name):
                    anew = next(self._trained_instead(optimizer, kept, model), None)
                    if anew is not None:
                        found.setdefault(optimizer, Exchanged(model, anew))
        return found

    @cached_property
    def given(self) -> dict[ast.expr, Exchanged[ast.expr]]:
        """What is made or loaded in place of a model that a function is given, and trained with the optimizer of that."""
        found: dict[ast.expr, Exchanged[ast.expr]] = {}
        if self._semantics.facts.calls.get("add_param_group"):
            return found
        for function in self._tree.of_type(ast.FunctionDef):
            arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            optimizers = [each.arg for each in arguments if each.arg in _OPTIMIZERS]
            kept = self._parameter(function, optimizers[0]) if len(optimizers) == 1 else None
            for argument in arguments if kept is not None else ():
                model = self._parameter(function, argument.arg)
                if model is not None and kept is not None and model is not kept:
                    found.update(self._given_another(kept, model))
        return found

    def _parameter(self, function: ast.FunctionDef, name: str) -> Binding | None:
        """What gives a parameter its value, of which there may be others."""
        bindings = self._semantics.bindings.scopes[function].bindings.get(name, ())
        return next((each for each in bindings if each.form is Form.PARAMETER), None)

    def _given_another(self, kept: Binding, model: Binding) -> Iterator[tuple[ast.expr, Exchanged[ast.expr]]]:
        """The values that a parameter is given besides, which are models, and trained with an optimizer that has no other."""
        if len(self._bound(kept.name, kept)) > 1:
            return
        for binding in self._bound(model.name, kept)[:_MOST]:
            if binding is model or binding.value is None or not isinstance(binding.node, ast.Name):
                continue
            if not isinstance(binding.value, ast.Call) or not self._is_another(binding.value, model.name):
                continue
            if self._semantics.of(LastRounds).loop_of(binding.node) is None and not self._is_asked_for(binding):
                trained = [use for use in kept.uses[:_MOST] if self._is_trained(use, binding)]
                if trained:
                    yield binding.value, Exchanged(binding.node, trained[0])

    def _is_asked_for(self, anew: Binding) -> bool:
        """Whether a model is made where there was none, or its parameters are asked for: ``if model is None:``."""
        if any(isinstance(each := self._tree.parent(use), ast.Attribute) and "param" in each.attr for use in anew.uses[:_MOST]):
            return True
        tests = [each.test for each in self._tree.ancestors(anew.node) if isinstance(each, (ast.If, ast.IfExp))]
        return any(isinstance(part, ast.Name) and part.id == anew.name for test in tests for part in ast.walk(test))

    def _trained_instead(self, optimizer: ast.Call, kept: Binding, model: ast.Name) -> Iterator[ast.expr]:
        """Where the model's name gets another one, between the making of an optimizer and its use with that."""
        others = [each for each in self._bound(kept.name, kept) if each is not kept]
        for binding in self._bound(model.id, kept)[:_MOST]:
            node, value = binding.node, binding.value
            if not isinstance(node, ast.expr) or value is None or not self._may_stay(optimizer, node, others):
                continue
            if self._is_another(value, model.id) and any(self._is_trained(use, binding) for use in kept.uses[:_MOST]):
                yield node

    def _loaded_instead(self, optimizer: ast.Call, kept: ast.Attribute, model: ast.Attribute) -> Iterator[ast.expr]:
        """Where `__init__` loads another model for an attribute, after it has made the only optimizer that the object keeps,
        which steps later.
        """
        facts, function = self._semantics.facts, self._tree.function(optimizer)
        owner = facts.self_class(kept.value)
        if owner is None or facts.self_class(model.value) is not owner or getattr(function, "name", "") != "__init__":
            return
        slots = facts.slots(owner, kept.attr)
        others = [self._tree.parent(store) for slot in slots for store in slot.stores if store is not kept]
        uses = [self._tree.parent(use) for slot in slots for use in slot.uses]
        if not all(isinstance(each, ast.Assign) and isinstance(each.value, ast.Constant) for each in others):
            return
        steps = [each for each in uses if isinstance(each, ast.Attribute) and each.attr == "step"]
        here = [each for each in uses if each is None or self._tree.function(each) is function]
        if here or not steps:
            return
        assumptions = self._semantics.of(Assumptions)
        for store in [each for slot in facts.slots(owner, model.attr) for each in slot.stores][:_MOST]:
            statement = self._tree.parent(store)
            if not isinstance(statement, ast.Assign) or self._tree.function(store) is not function:
                continue
            may_stay = self._flow.may_follow(optimizer, store) and not self._flow.may_follow(store, optimizer)
            if may_stay and self._is_load(_unmoved(statement.value)):
                if not assumptions.excludes(assumptions.at(optimizer), store):
                    yield store

    def _bound(self, name: str, kept: Binding) -> list[Binding]:
        """The bindings of a name in the scope of an optimizer's."""
        return kept.scope.bindings.get(name, [])

    def _may_stay(self, optimizer: ast.Call, node: ast.expr, others: list[Binding]) -> bool:
        """Whether the name may get another model while the optimizer is there, and there is no other one, before or after."""
        if not self._flow.may_follow(optimizer, node) or self._flow.may_follow(node, optimizer):
            return False
        if any(self._flow.scope(other.node) is not self._flow.scope(node) for other in others):
            return False
        if any(self._flow.may_follow(node, each.node) or self._flow.may_follow(optimizer, each.node) for each in others):
            return False
        assumptions = self._semantics.of(Assumptions)
        if assumptions.excludes(assumptions.at(optimizer), node):
            return False
        return self._semantics.of(LastRounds).loop_of(node) is None

    def _is_another(self, value: ast.expr, name: str) -> bool:
        """Whether a value is a model that is made or loaded there, and has nothing of the one of that name."""
        value = _unmoved(value)
        if self._is_loaded(value):
            return True
        if not isinstance(value, ast.Call):
            return False
        if self._semantics.qualified_name(value.func) == "copy.deepcopy" or last_name(value.func) == "from_pretrained":
            return True
        given = [part for part in ast.walk(value) if isinstance(part, (ast.Name, ast.Attribute)) and part is not value.func]
        if any(isinstance(part, ast.Name) and part.id == name for part in given):
            return False
        if any(self._semantics.kind(part).type is Type.MODULE for part in given):
            return False
        return self._new.is_module(value) and self._new.has_state(value)

    def _is_loaded(self, value: ast.expr) -> bool:
        """Whether a value is what ``torch.load`` gives, or an item of that."""
        if isinstance(value, ast.Subscript):
            value = value.value
            if isinstance(value, ast.Name):
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and not each.path and each.value is not None and self._is_load(each.value)
                    for each in bindings
                )
        return self._is_load(value)

    def _is_load(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == "torch.load"

    # --- training ----------------------------------------------------------------------------------------------------

    def _is_trained(self, use: ast.Name, anew: Binding) -> bool:
        """Whether a use of an optimizer trains what a name was given: both are handed on, or it steps behind a call of that."""
        assumptions = self._semantics.of(Assumptions)
        if not self._flow.may_follow(anew.node, use) or assumptions.excludes(assumptions.at(anew.node), use):
            return False
        parent = self._tree.parent(use)
        if isinstance(parent, ast.keyword):
            parent = self._tree.parent(parent)
        if isinstance(parent, ast.Call) and parent.func is not use and not _KEEPING.search(last_name(parent.func)):
            given = given_to(parent)
            return any(isinstance(each, ast.Name) and self._has_reached(each, anew) for each in given)
        if isinstance(parent, ast.Attribute) and parent.attr == "step":
            named = [each for binding in self._bound(anew.name, anew) for each in binding.uses[:_MOST]]
            return any(self._runs(each, anew) and self._flow.may_follow(each, use) for each in named[:_MOST])
        return False

    def _has_reached(self, name: ast.Name, anew: Binding, depth: int = _DEEP) -> bool:
        """Whether a name may have what it was given, perhaps moved or wrapped since: ``model = model.cuda()``."""
        if name.id != anew.name:
            return False
        for binding in self._semantics.bindings.reaching(name):
            if binding is anew:
                return True
            if depth and binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None:
                inner = (part for part in ast.walk(binding.value) if isinstance(part, ast.Name) and part.id == name.id)
                if any(self._has_reached(part, anew, depth - 1) for part in inner):
                    return True
        return False

    def _runs(self, name: ast.Name, anew: Binding) -> bool:
        """Whether a name is called as a model where it has what it was given."""
        parent = self._tree.parent(name)
        return isinstance(parent, ast.Call) and parent.func is name and self._has_reached(name, anew)


def _unmoved(value: ast.expr) -> ast.expr:
    """A model as it was before it was moved, or put into a mode."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SAME:
        value = value.func.value
    return value
