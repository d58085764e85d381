"""Whether an optimizer that is given less does the same: what is frozen stays so, and nobody looks at what it was given."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, all_of, known, unknown
from torchlint.semantics import Binding, Form, Semantics, torch_api
from torchlint.semantics.provenance.modules import Modules, sequence_layers
from torchlint.semantics.provenance.values import index_of
from torchlint.semantics.training.freezing import FrozenGiven

_SWITCHING: tuple[type[ast.AST], ...] = (ast.For, ast.Attribute)
_OF_OPTIMIZERS = frozenset({"step", "zero_grad"})
"""What an optimizer is asked for that does not depend on the parameters that never have a gradient."""
_OF_MODELS = frozenset(
    {"parameters", "named_parameters", "train", "eval", "zero_grad", "to", "cuda", "cpu", "float", "double", "state_dict"}
)
"""Methods of a module that thaw nothing."""
_OF_TENSORS = frozenset(torch_api.TENSOR_METHODS) - torch_api.INPLACE_METHODS | {"requires_grad_"}
"""Methods of the parameters of a model; what switches their flags is looked at by itself."""
_WHOLE = frozenset(
    {"parameters", "named_parameters", "modules", "named_modules", "children", "named_children", "requires_grad_"}
)
"""Methods of a module by which all of it is switched."""
_THAWING = frozenset({"setattr", "apply", "__dict__", "vars", "exec", "add_param_group", "param_groups"})
"""Words of code that may thaw by other means than a switch."""


class FrozenUse:
    """Tells of an optimizer whether it can be given only what requires grad."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def fact(self, given: FrozenGiven[ast.expr], parameters: ast.Call) -> Fact:
        """Whether training goes on alike: of ``parameters`` those that are frozen are left out."""
        assert isinstance(parameters.func, ast.Attribute)
        words = sorted(self._semantics.words.all & _THAWING)
        by_hand = any(
            node.attr == "grad" and isinstance(node.ctx, ast.Store) for node in self._semantics.tree.of_type(ast.Attribute)
        )
        return all_of(
            CERTAIN if not words else unknown(f"`{words[0]}` may thaw what is frozen, or look at what the optimizer was given"),
            known(not by_hand, "gradients are set by hand, so that the optimizer changes what is frozen as well"),
            self._is_only_stepped(given.optimizer),
            self._stays_frozen(parameters.func.value),
            self._has_no_gradients(given.optimizer, parameters.func.value),
            self._has_more(parameters.func.value),
        )

    def _bound(self, node: ast.expr) -> Binding | None:
        """The one binding of the name that an expression is assigned to."""
        match self._semantics.tree.parent(node):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is node:
                return self._semantics.bindings.of(target)
        return None

    def _is_only_stepped(self, optimizer: ast.expr) -> Fact:
        binding = self._bound(optimizer)
        if binding is None:
            return unknown("what else reads the optimizer's parameters is not in sight")
        if all(self._asks_for(use, _OF_OPTIMIZERS) for use in binding.uses):
            return CERTAIN
        return unknown(f"`{binding.name}` is used otherwise than by `step()` and `zero_grad()`, and has fewer parameters then")

    def _stays_frozen(self, model: ast.expr) -> Fact:
        """Whether the model is handed to no code that may thaw it."""
        found = self._semantics.bindings.reaching(model) if isinstance(model, ast.Name) else ()
        if len(found) != 1 or found[0].form is not Form.ASSIGNMENT:
            return unknown("who else has the model, and may thaw it, is not in sight")
        [binding] = found
        if all(self._is_called(use) or self._is_owner(use) for use in binding.uses):
            return CERTAIN
        return unknown(f"`{binding.name}` is handed on, to code that may thaw it")

    def _has_no_gradients(self, optimizer: ast.expr, model: ast.expr) -> Fact:
        """Whether what is frozen has no gradient from before, which the optimizer would apply, or clear: none was computed."""
        flow = self._semantics.control_flow
        here = flow.scope(optimizer)
        uses = (
            [use for each in self._semantics.bindings.reaching(model) for use in each.uses]
            if isinstance(model, ast.Name)
            else []
        )
        elsewhere = {flow.scope(use) for use in uses} - {here}
        for backward in [*self._semantics.facts.calls.get("backward", ()), *self._semantics.facts.calls.get("grad", ())]:
            scope = flow.scope(backward)
            if scope in elsewhere or (scope is here and flow.may_follow(backward, optimizer)):
                return unknown("what is frozen may have gradients from before, which the optimizer would clear")
        return CERTAIN

    def _is_called(self, use: ast.Name) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Call(func=function):
                return function is use
        return False

    def _is_owner(self, use: ast.Name) -> bool:
        """Whether a part of the model is read or replaced, or a method called that thaws nothing."""
        node: ast.expr = use
        parent = self._semantics.tree.parent(node)
        while isinstance(parent, ast.Attribute) or (
            isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Constant)
        ):
            node, parent = parent, self._semantics.tree.parent(parent)
        if node is use:
            return False
        if isinstance(parent, ast.Call) and parent.func is node:
            return isinstance(node, ast.Attribute) and node.attr in _OF_MODELS | _OF_TENSORS
        return not isinstance(parent, ast.Call) or self._is_torch(parent)

    def _is_torch(self, call: ast.Call) -> bool:
        return (self._semantics.qualified_name(call.func) or "").startswith("torch.")

    def _asks_for(self, use: ast.Name, methods: frozenset[str]) -> bool:
        parent = self._semantics.tree.parent(use)
        return isinstance(parent, ast.Attribute) and parent.attr in methods

    def _has_more(self, model: ast.expr) -> Fact:
        """Whether something with parameters stays that no switch freezes: an optimizer of nothing cannot be made."""
        facts, definition = self._semantics.facts, self._semantics.kind(model).definition
        switched = self._switched
        for store in self._semantics.tree.of_type(ast.Attribute):
            if not isinstance(store.ctx, ast.Store) or store.attr in switched:
                continue
            owner = facts.self_class(store.value)
            if owner is not None and (owner is not definition or self._switches_whole):
                continue  # of another class, or frozen with the whole
            match self._semantics.tree.parent(store):
                case ast.Assign(targets=[target], value=ast.Call(func=function)) if target is store:
                    if self._semantics.qualified_name(function) in torch_api.PARAMETER_ATTRIBUTES:
                        return CERTAIN
        if self._has_trained_layer(model):
            return CERTAIN
        return unknown("nothing may be left that requires grad, and an optimizer of nothing cannot be made")

    def _has_trained_layer(self, model: ast.expr) -> bool:
        """Whether a sequence that is written out has a layer with weights that nothing switches, by its place or its name."""
        found = self._semantics.of(Modules).made(model)
        layers = sequence_layers(found[0]) if len(found) == 1 else []
        if self._switches_whole or not isinstance(model, ast.Name):
            return False
        owners = [self._semantics.tree.parent(part) for part in self._switched_names if part.id == model.id]
        places = {_place(each) for each in owners}
        return None not in places and any(
            not {place, place - len(layers)} & places and self._is_trained(layer) for place, layer in enumerate(layers)
        )

    def _is_trained(self, layer: ast.expr) -> bool:
        """Whether a part of a sequence is a layer with weights that is switched by no name of its own."""
        made = self._semantics.of(Modules).made(layer)
        found = self._semantics.bindings.reaching(layer) if isinstance(layer, ast.Name) else ()
        others = [use for each in found for use in each.uses if use is not layer]
        is_handed_on = any(not isinstance(self._semantics.tree.parent(use), ast.Attribute) for use in others)
        has_weights = bool(made) and all(each.name in torch_api.PARAMETER_ATTRIBUTES for each in made)
        return has_weights and not is_handed_on and not set(others) & set(self._switched_names)

    @cached_property
    def _switched_names(self) -> list[ast.Name]:
        """The names that stand where something is frozen or thawed, or in the head of a loop."""
        found: list[ast.Name] = []
        for node in self._semantics.tree.of_type(*_SWITCHING):
            match node:
                case ast.For(iter=part) | ast.Attribute(attr="requires_grad" | "requires_grad_", value=part):
                    found += [each for each in ast.walk(part) if isinstance(each, ast.Name)]
        return found

    @cached_property
    def _switches_whole(self) -> bool:
        """Whether a loop goes over all the parameters of something that has a name, so that it may freeze all of them."""
        iterated = [loop.iter.func for loop in self._semantics.tree.of_type(ast.For) if isinstance(loop.iter, ast.Call)]
        switched = [call.func for call in self._semantics.facts.calls.get("requires_grad_", ())]
        return any(
            isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.attr in _WHOLE
            for function in [*iterated, *switched]
        )

    @cached_property
    def _switched(self) -> set[str]:
        """The names of attributes that stand where something is frozen or thawed, or in the head of a loop."""
        found: set[str] = set()
        for node in self._semantics.tree.of_type(*_SWITCHING):
            match node:
                case ast.For(iter=part) | ast.Attribute(attr="requires_grad" | "requires_grad_", value=part):
                    found |= {each.attr for each in ast.walk(part) if isinstance(each, ast.Attribute)}
        return found


def _place(item: ast.AST | None) -> int | None:
    """The place in a sequence that an item is taken of; ``None`` for anything else."""
    return index_of(item) if isinstance(item, ast.Subscript) else None
