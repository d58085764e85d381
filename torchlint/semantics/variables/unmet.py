"""Values that meet no parameter in the function that they are made in: autograd has nothing to record of them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.kinds.results import LOSS_FUNCTIONS, LOSS_MODULES
from torchlint.semantics.variables.computations import Computations, keeps

_WITH_TENSORS = (torch_api.PARAMETER_ATTRIBUTES, torch_api.BUFFERS, torch_api.SUBMODULES)
_LOSS = re.compile(r"criteri(on|a)|loss", re.IGNORECASE)
_DEEPEST = 3
"""So many methods deep a value is followed."""


class UnmetValues:
    """Tells of values whether they meet no parameter."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._passed: dict[tuple[Binding, int], bool] = {}
        """The parameters of methods that were asked for, with how much deeper to look: whether they meet nothing there."""
        self._lists: dict[tuple[ast.AST, str], bool] = {}
        """The lists of objects that were asked for: whether labels in them meet nothing but losses."""

    def are_unmet(self, values: Iterable[ast.expr]) -> bool:
        """Whether values stay in their function, and meet nothing there that may have parameters, if they are used at all."""
        for value in values:
            if self._is_unused(value):
                continue
            uses = _Uses(self._semantics, self._semantics.tree.function(value), self, _DEEPEST)
            uses.follow(value)
            if uses.record or uses.hand_on or uses.give_back or uses.lists or not uses.compute:
                return False
        return True

    def _is_unused(self, value: ast.expr) -> bool:
        """Whether a value gets a name in a function by which nothing reads it, as another one is given the name first."""
        match self._semantics.tree.parent(value):
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                return binding is not None and isinstance(binding.scope.node, FUNCTIONS) and not binding.uses
        return False

    def are_given_back(self, values: Iterable[ast.expr]) -> bool:
        """Whether nothing is done with labels but that their function returns them, or keeps them in lists for losses."""
        for value in values:
            uses = _Uses(self._semantics, self._semantics.tree.function(value), self, _DEEPEST)
            uses.follow(value)
            if uses.record or uses.hand_on or uses.compute or not (uses.give_back or uses.lists):
                return False
            if not all(map(self._is_for_losses, uses.lists)):
                return False
        return True

    def _is_for_losses(self, kept: ast.Attribute) -> bool:
        """Whether the labels in a list of an object's meet nothing that may have parameters in its class, but for losses."""
        owner = self._semantics.facts.self_class(kept.value)
        if owner is None:
            return False
        key = owner, kept.attr
        if key not in self._lists:
            self._lists[key] = True
            for use in (use for slot in self._semantics.facts.slots(owner, kept.attr) for use in slot.uses):
                uses = _Uses(self._semantics, self._semantics.tree.function(use), self, _DEEPEST, are_labels=True)
                uses.follow(use)
                self._lists[key] &= not (uses.record or uses.hand_on or uses.give_back)
        return self._lists[key]

    def is_unmet_within(self, parameter: Binding, depth: int) -> bool:
        """Whether what a method is given meets nothing in it that may have parameters, and is not kept."""
        key = parameter, depth
        if key not in self._passed:
            uses = _Uses(self._semantics, parameter.scope.node, self, depth)
            uses.follow_uses(parameter)
            self._passed[key] = not (uses.record or uses.hand_on)
        return self._passed[key]


class _Uses(Computations):
    """What becomes of a value in a function, and in the methods of the same class that this gives it to."""

    def __init__(
        self, semantics: Semantics, function: ast.AST | None, unmet: UnmetValues, depth: int, *, are_labels: bool = False
    ) -> None:
        super().__init__(semantics, function)
        self._unmet, self._depth = unmet, depth
        self._are_labels = are_labels
        self.lists: list[ast.Attribute] = []
        """The lists of the object's own that the value is put into."""
        self.hand_on = False
        """Whether the value is kept in an attribute or an item, or handed to whoever calls a generator or a lambda."""
        self.give_back = False
        self.compute = False
        """Whether anything is done with the value, if only its numbers are read."""

    @property
    def record(self) -> bool:
        """Whether autograd may record something."""
        return bool(self._found)

    def _may_record(self, call: ast.Call, given: ast.AST) -> bool:
        self.compute |= not keeps(call)
        return super()._may_record(call, given) and not self._is_plain_layer(call) and not self._passes(call, given)

    def _is_plain_layer(self, call: ast.Call) -> bool:
        """Whether a layer of torch without parameters is called, with nothing beside the value that may have met some: pooling,
        an activation, and no loss.
        """
        if len(call.args) != 1 or call.keywords:
            return False
        kind = self._semantics.kind(call.func)
        is_layer = kind.name in torch_api.MODULES and kind.name not in torch_api.CONTAINER_MODULES
        return kind.type is Type.MODULE and is_layer and not any(table.get(kind.name) for table in _WITH_TENSORS)

    def _passes(self, call: ast.Call, given: ast.AST) -> bool:
        """Whether a method of the same class is called, in which the value meets nothing either."""
        match call.func:
            case ast.Attribute(value=owner, attr=name) if self._depth:
                definition = self._semantics.facts.self_class(owner)
            case _:
                return False
        method = self._semantics.facts.method(definition, name) if definition is not None else None
        if method is None or given not in call.args or any(isinstance(each, ast.Starred) for each in call.args):
            return False
        parameters = [*method.args.posonlyargs, *method.args.args][1:]
        place = next(place for place, each in enumerate(call.args) if each is given)
        binding = self._semantics.bindings.of(parameters[place]) if place < len(parameters) else None
        return binding is not None and self._unmet.is_unmet_within(binding, self._depth - 1)

    def _cut(self) -> None:
        self.compute = True

    def _is_end(self, call: ast.Call) -> bool:
        """Whether labels are given to a loss, which computes no graph of them."""
        if not self._are_labels:
            return False
        name = self._semantics.qualified_name(call.func)
        is_loss = self._semantics.kind(call.func).name in LOSS_MODULES or name in LOSS_FUNCTIONS
        return is_loss or _LOSS.search(last_name(call.func)) is not None

    def _follow_kept(self, owner: ast.expr) -> None:
        while isinstance(owner, ast.Subscript):
            owner = owner.value
        match owner:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(owner)
                self.hand_on |= not bindings or any(map(self._is_shared, bindings))
                for binding in bindings:
                    self.follow_uses(binding)
            case ast.Attribute(value=instance) if self._semantics.facts.self_class(instance) is not None:
                self.lists.append(owner)
            case _:
                self.hand_on = True

    def _is_shared(self, binding: Binding) -> bool:
        """Whether other code has the list that a name stands for: a caller, or another function."""
        if binding.form is Form.PARAMETER:
            return True
        return any(self._semantics.tree.function(use) is not self._function for use in binding.uses)

    def _leave(self, end: ast.AST) -> None:
        self.give_back |= isinstance(end, ast.Return)
        self.hand_on |= isinstance(end, (ast.Lambda, ast.Yield))

    def _follow_stored(self, *targets: ast.expr) -> None:
        parts = [part for target in targets for part in ast.walk(target)]
        self.hand_on |= any(isinstance(part, (ast.Attribute, ast.Subscript)) for part in parts)
        names = [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        for binding in filter(None, map(self._semantics.bindings.of, names)):
            self.hand_on |= any(self._semantics.tree.function(use) is not self._function for use in binding.uses)
        super()._follow_stored(*targets)
