"""Which optimizer an expression gives: where it is made, what it trains, and whether two of them are the same or apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, dotted, last_name
from torchlint.semantics.kinds.kind import Basis, Kind, Type

Making: TypeAlias = ast.Call | ast.arg
"""Where an optimizer comes from: the call that makes it, or a parameter that is one by its annotation or by its callers."""

_PREPARING = {"prepare": "accelerator", "setup": "fabric", "initialize": "amp"}
OPTIMIZER_METHODS = frozenset(
    {"step", "zero_grad", "state_dict", "load_state_dict", "add_param_group", "register_step_post_hook"}
)
"""The methods of an optimizer of torch."""
_PARAMETER_METHOD = re.compile(r"(\A|_)parameters\Z")
"""Methods that give a model's parameters, or some of them: `parameters`, `named_parameters`, `weight_parameters`."""


class Optimizers:
    """Tells optimizers of one file apart."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._names = semantics.names
        self._facts = semantics.facts
        self._inference = semantics.inference

    def acts_as_optimizer(self, node: ast.expr) -> bool:
        """Whether an expression gives an optimizer, or has both a ``step`` and a ``zero_grad`` in this file."""
        return self._inference.kind(node).type is Type.OPTIMIZER or ast.dump(node) in self._stepped_and_zeroed

    @cached_property
    def _stepped_and_zeroed(self) -> set[str]:
        owners: dict[str, set[str]] = {"step": set(), "zero_grad": set()}
        for node in self._tree.of_type(ast.Attribute):
            if node.attr in owners:
                owners[node.attr].add(ast.dump(node.value))
        return owners["step"] & owners["zero_grad"]

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions surely give the same object, by what they are spelled like and bound to."""
        if dotted(one) is None or dotted(one) != dotted(other):
            return False
        first, second = root_of(one), root_of(other)
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
            return False
        return self._bindings.reaching(first) == self._bindings.reaching(second) or (
            self._facts.self_class(first) is not None and self._facts.self_class(first) is self._facts.self_class(second)
        )

    def makings(self, optimizer: ast.expr) -> frozenset[Making] | None:
        """Where the optimizer that an expression gives is made; ``None`` if that is uncertain, or it is not torch's."""
        found = self._makings(optimizer, set())
        return frozenset(found) if found else None

    def _makings(self, node: ast.expr, seen: set[ast.AST]) -> set[Making] | None:
        if node in seen:
            return set()
        seen.add(node)
        match node:
            case ast.Constant(value=None):
                return set()
            case ast.Call():
                return {node} if self._makes(node) else self._returned(node, seen)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all((self._makings(body, seen), self._makings(orelse, seen)))
            case ast.Name():
                bindings = self._bindings.reaching(node)
                return self._all(self._bound(binding, seen) for binding in bindings) if bindings else None
            case ast.Attribute(value=owner, attr=name):
                definition = self._inference.kind(owner).definition
                if isinstance(definition, ast.ClassDef):
                    slots = self._facts.slots(definition, name)
                    if any(value is not None for slot in slots for value, _ in slot.class_values) or not slots:
                        return None
                    return self._all(self._stored(store, seen) for slot in slots for store in slot.stores)
        return None

    def _makes(self, call: ast.Call) -> bool:
        """Whether a call makes an optimizer of torch, here or in another file of the project."""
        if self._names.qualified(call.func) in torch_api.OPTIMIZERS:
            return True
        return self._is_of_torch(self._inference.kind(call)) and self._inference.elsewhere.function(call.func) is not None

    @staticmethod
    def _is_of_torch(kind: Kind) -> bool:
        return kind.type is Type.OPTIMIZER and kind.name in torch_api.OPTIMIZERS

    def _returned(self, call: ast.Call, seen: set[ast.AST]) -> set[Making] | None:
        function = self._inference.call_graph.called(call)
        values = self._facts.returned(function) if function is not None else []
        return self._all(self._makings(value, seen) if value is not None else None for value in values) if values else None

    def _unpacked(self, value: ast.expr, path: tuple[int | None, ...]) -> ast.expr | None:
        """The part of a value that unpacking gives at ``path``; of what an engine prepares, the thing that it was given."""
        for index in path:
            if isinstance(value, ast.Call) and is_preparation(value):
                value = ast.Tuple(elts=value.args)
            if not isinstance(value, (ast.Tuple, ast.List)) or index is None or index >= len(value.elts):
                return None
            value = value.elts[index]
        if not path and isinstance(value, ast.Call) and is_preparation(value) and len(value.args) == 1:
            return value.args[0]
        return value

    def _stored(self, store: ast.Attribute, seen: set[ast.AST]) -> set[Making] | None:
        statement = self._tree.parent(store)
        if isinstance(statement, ast.Assign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
            assert statement.value is not None
            return self._makings(statement.value, seen)
        return None

    def _bound(self, binding: Binding, seen: set[ast.AST]) -> set[Making] | None:
        if binding.form is Form.ASSIGNMENT and binding.value is not None:
            value = self._unpacked(binding.value, binding.path)
            return self._makings(value, seen) if value is not None else None
        function = binding.scope.node
        if binding.form is not Form.PARAMETER or not isinstance(binding.node, ast.arg) or not isinstance(function, FUNCTIONS):
            return None
        if binding.annotation is not None:
            name = self._names.qualified(binding.annotation) or ""
            if name in torch_api.OPTIMIZERS or name == "torch.optim.Optimizer":
                return {binding.node}
        arguments = self._inference.given(binding)
        if not arguments:
            kind = self._inference.binding_kind(binding)
            return {binding.node} if kind.basis is Basis.ELSEWHERE and self._is_of_torch(kind) else None
        return self._all(self._makings(argument, seen) if argument is not None else None for argument in arguments)

    @staticmethod
    def _all(found: Iterable[set[Making] | None]) -> set[Making] | None:
        """All that the parts found; ``None`` if one is not certain."""
        joined: set[Making] = set()
        for part in found:
            if part is None:
                return None
            joined |= part
        return joined

    def trained(self, optimizer: ast.expr) -> frozenset[str] | None:
        """What the parameters of an optimizer are of, as it is spelled where the optimizer is made; ``None`` if not certain."""
        owners: set[str] = set()
        for making in self.makings(optimizer) or ():
            is_made_here = isinstance(making, ast.Call) and self._names.qualified(making.func) in torch_api.OPTIMIZERS
            given = making.args[0] if isinstance(making, ast.Call) and is_made_here and making.args else None
            found = _owners(given) if given is not None else None
            if not found:
                return None
            owners |= found
        return frozenset(owners) or None

    def apart(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions surely give optimizers of different parameters, as the two of a GAN."""
        makings = self.makings(one), self.makings(other)
        if not makings[0] or not makings[1] or makings[0] & makings[1]:
            return False
        trained = self.trained(one), self.trained(other)
        if trained[0] is None or trained[1] is None:
            return False
        return not any(overlap(first, second) for first in trained[0] for second in trained[1])


def stepped(call: ast.Call) -> ast.expr | None:
    """The optimizer of ``optimizer.step()``, ``scaler.step(optimizer)`` or ``xm.optimizer_step(optimizer)``, by the shape."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("step", "optimizer_step"):
        return None
    if call.func.attr == "step" and not call.args and not call.keywords:
        return call.func.value
    return call.args[0] if len(call.args) == 1 else None


def is_preparation(call: ast.Call) -> bool:
    """Whether accelerate, fabric or apex prepares what it is given, and gives it back in the same order.

    Their optimizers step and wipe when they are told to, as torch's do.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _PREPARING:
        return False
    owner = last_name(call.func.value).lower()
    return owner.endswith(_PREPARING[call.func.attr])


def root_of(node: ast.expr) -> ast.expr:
    """The object that a chain of attributes starts from."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def takes_parameters(call: ast.Call) -> bool:
    """Whether a call is given ``model.parameters()``."""
    return any(_models(given) for given in call.args[:1])


def _owners(given: ast.expr) -> set[str]:
    """What the parameters are of that an optimizer is given: models; or the tensors themselves, ``[self.scale, bias]``."""
    owners = _models(given)
    if not owners and isinstance(given, (ast.List, ast.Tuple)):
        owners = {dotted(part) or "" for part in given.elts}
    return owners if "" not in owners else set()


def _models(given: ast.expr) -> set[str]:
    """``model`` of each ``model.parameters()`` in what an optimizer is given."""
    return {
        dotted(part.func.value) or ""
        for part in ast.walk(given)
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and _PARAMETER_METHOD.search(part.func.attr)
    }


def overlap(one: str, other: str) -> bool:
    """Whether one of two chains of attributes is, or is a part of, the other."""
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")
