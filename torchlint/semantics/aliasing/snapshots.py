"""What is taken for a copy of weights and shares their memory: states, lists of parameters, detached tensors, modules."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property

from torchlint.semantics import Grad, Semantics, Type
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.memory.links import Link, Links, Sharing
from torchlint.semantics.memory.places import Place, Places

_MODEL = re.compile(r"model|net(work)?($|_|\d)|module|encoder|decoder", re.IGNORECASE)
_PARAMETERS = re.compile(r"(^|_)(parameters|params)$")
"""Methods that give parameters, under a name of the project's own."""
_GIVING = frozenset({"state_dict", "parameters", "named_parameters"})
_SHALLOW_COPIES = frozenset({"builtins.dict", "collections.OrderedDict", "copy.copy"})
_SEQUENCES = frozenset({"builtins.list", "builtins.tuple"})


class Of(Enum):
    """What a snapshot is taken of."""

    STATE = auto()  # model.state_dict()
    PARAMETERS = auto()  # list(model.parameters())
    TENSOR = auto()  # w.detach()
    MODULE = auto()  # best_model = model


@dataclass(frozen=True, eq=False, slots=True)
class Snapshot:
    """An expression that gives an alias where a copy is wanted.

    ``place`` is what it is an alias of, ``node`` the expression itself, ``core`` the part of it that the fix changes, ``key``
    the one that it has in a written-out dict, or its index in a list.
    """

    of: Of
    node: ast.expr
    core: ast.expr
    place: Place
    comprehension: bool = False
    key: ast.expr | None = None


class Snapshots:
    """Finds such expressions in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def within(self, value: ast.expr, matters: Callable[[Of, Place], bool] = lambda of, place: True) -> Iterator[Snapshot]:
        """The aliases of weights that an assigned value is or holds; of tensors and modules, those of places that matter."""
        match value:
            case ast.Dict(keys=keys, values=values):
                for key, part in zip(keys, values) if self._takes_weights else ():
                    if (state := self._state(part)) is not None:
                        yield replace(state, key=key)
            case ast.IfExp(body=one, orelse=other):
                yield from (state for part in (one, other) if self._takes_weights and (state := self._state(part)) is not None)
            case ast.Call(func=function, args=[], keywords=words) if words and self._name(function) == "builtins.dict":
                for word in words if self._takes_weights else ():
                    if (state := self._state(word.value)) is not None:
                        yield replace(state, key=ast.Constant(word.arg))
            case ast.List(elts=parts) | ast.Tuple(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
                for index, part in enumerate(parts) if self._takes_weights else ():
                    if (state := self._state(part)) is not None:
                        yield replace(state, key=ast.Constant(index))
            case ast.Name() | ast.Attribute() | ast.Call() | ast.ListComp() | ast.DictComp() | ast.Subscript():
                weights = self._state(value) or self._parameters(value) if self._takes_weights else None
                found = weights or self._tensor(value, matters) or self._module(value, matters)
                if found is not None:
                    yield found

    @cached_property
    def _takes_weights(self) -> bool:
        """Whether the file takes states or parameters of anything: most code does not, and is told so at little cost."""
        return not self._semantics.facts.calls.keys().isdisjoint(_GIVING)

    def _state(self, node: ast.expr) -> Snapshot | None:
        """``model.state_dict()``, or a shallow copy of it."""
        core, comprehension = node, False
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[], keywords=[]):
                core = inner
            case ast.Call(func=function, args=[inner], keywords=[]) if self._name(function) in _SHALLOW_COPIES:
                core = inner
            case ast.DictComp(value=kept, generators=[ast.comprehension(iter=iterable)]):
                match iterable:
                    case ast.Call(func=ast.Attribute(value=inner, attr="items")) if self._is_link_of_target(kept, node):
                        core, comprehension = inner, True
        match core:
            case ast.Call(func=ast.Attribute(value=model, attr="state_dict")) if self._has_state(model):
                place = self._semantics.of(Places).place(model)
                if place is not None:
                    return Snapshot(Of.STATE, node, core, place, comprehension)
        return None

    def _has_state(self, model: ast.expr) -> bool:
        """Whether something is a module or an optimizer whose state is torch's own: references, not copies."""
        kind = self._semantics.kind(model)
        own = kind.definition
        if kind.type is Type.UNKNOWN or (kind.type is Type.INSTANCE and own is None):
            return self._is_used_as_module(model)
        if kind.type not in (Type.MODULE, Type.OPTIMIZER):
            return False
        return not isinstance(own, ast.ClassDef) or self._semantics.facts.method(own, "state_dict") is None

    def _is_used_as_module(self, model: ast.expr) -> bool:
        """Whether something unknown is used as a module: its ``parameters`` are taken; or called one, and restored."""
        place = self._semantics.of(Places).place(model)
        if place is None:
            return False
        attributes = self.attributes(place)
        if "eval" in attributes or any(map(_PARAMETERS.search, attributes)):
            return True
        return _MODEL.search(place.spelling.rpartition(".")[2]) is not None and self._is_restored_somewhere(place)

    def _is_restored_somewhere(self, place: Place) -> bool:
        """Whether ``load_state_dict`` is called on what is spelled as the place is."""
        calls = self._semantics.facts.calls.get("load_state_dict", ())
        return any(isinstance(call.func, ast.Attribute) and dotted(call.func.value) == place.spelling for call in calls)

    def attributes(self, place: Place) -> set[str]:
        """The attributes that are read of a place."""
        parents = [self._semantics.tree.parent(use) for use in self._semantics.of(Places).occurrences(place)]
        return {parent.attr for parent in parents if isinstance(parent, ast.Attribute)}

    def _is_link_of_target(self, kept: ast.expr, node: ast.DictComp | ast.ListComp) -> bool:
        """Whether what a comprehension keeps is its variable, or an alias of that."""
        links = self._links(kept)
        root = links[-1].source if links else kept
        targets = {part.id for part in ast.walk(node.generators[0].target) if isinstance(part, ast.Name)}
        return isinstance(root, ast.Name) and root.id in targets and len(node.generators) == 1

    def _links(self, node: ast.expr) -> list[Link]:
        """The links of a chain, if all of them share memory for certain, on a CPU."""
        links = self._semantics.of(Links).chain(node)
        return links if all(link.sharing is not Sharing.PERHAPS for link in links) else []

    def _parameters(self, node: ast.expr) -> Snapshot | None:
        """``model.parameters()``, a list of them, or a dict of the named ones."""
        core, comprehension = node, False
        match node:
            case ast.Call(func=function, args=[inner], keywords=[]) if self._name(function) in _SEQUENCES | {"builtins.dict"}:
                core = inner
            case ast.ListComp(elt=kept, generators=[generator]) | ast.DictComp(value=kept, generators=[generator]):
                if self._is_link_of_target(kept, node) and self._semantics.kind(kept).is_tensor:
                    core, comprehension = generator.iter, True
        match core:
            case ast.Call(func=ast.Attribute(value=model, attr="parameters" | "named_parameters")):
                place = self._semantics.of(Places).place(model)
                kind = self._semantics.kind(model)
                if place is not None and kind.type in (Type.MODULE, Type.UNKNOWN):
                    return Snapshot(Of.PARAMETERS, node, core, place, comprehension)
        return None

    def _tensor(self, node: ast.expr, matters: Callable[[Of, Place], bool]) -> Snapshot | None:
        """``w.detach()``, ``w.data``, ``w.detach().numpy()`` or ``w`` itself, of a leaf or of one of a model's tensors."""
        links = self._semantics.of(Links).chain(node)
        if any(link.sharing is Sharing.PERHAPS or link.name == "Variable" or link.name.endswith("_") for link in links):
            return None
        root = links[-1].source if links else node
        if (model := self._model_of(root)) is not None:
            place = self._semantics.of(Places).place(model)
            return Snapshot(Of.TENSOR, node, root, place) if place is not None else None
        place = self._semantics.of(Places).place(root)
        if place is None or (not links and isinstance(root, ast.Name)):
            return None  # no tensor that is kept anywhere, or another name for the same one
        if not matters(Of.TENSOR, place):
            return None
        kind = self._semantics.kind(root)
        if not kind.is_tensor or kind.grad is not Grad.LEAF or kind.loose:
            return None
        return Snapshot(Of.TENSOR, node, root, place)

    def _model_of(self, node: ast.expr) -> ast.expr | None:
        """``model`` of ``model.state_dict()["w"]``, ``next(model.parameters())`` and ``list(model.parameters())[0]``."""
        if not self._takes_weights:
            return None
        match node:
            case ast.Subscript(value=ast.Call(func=ast.Attribute(value=model, attr="state_dict"))) if self._has_state(model):
                return model if self._semantics.kind(model).type is not Type.OPTIMIZER else None
            case ast.Subscript(value=ast.Call(args=[_], keywords=[]) as call) | (ast.Call(func=ast.Name(id="next")) as call):
                if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
                    return None
                parameters = self._parameters(call if isinstance(node, ast.Subscript) else call.args[0]) if call.args else None
                return parameters.place.node if parameters is not None and not parameters.comprehension else None
        return None

    def _module(self, node: ast.expr, matters: Callable[[Of, Place], bool]) -> Snapshot | None:
        """A module itself, or a shallow copy of it."""
        core = node
        match node:
            case ast.Call(func=function, args=[inner], keywords=[]) if self._name(function) == "copy.copy":
                core = inner
        place = self._semantics.of(Places).place(core)
        if place is None or not matters(Of.MODULE, place) or self._semantics.kind(core).type is not Type.MODULE:
            return None
        return Snapshot(Of.MODULE, node, core, place)

    def _name(self, node: ast.expr) -> str:
        return self._semantics.qualified_name(node) or ""


def is_entry_of_state(node: ast.expr) -> bool:
    """Whether an expression takes a tensor of ``model.state_dict()``, which is detached."""
    match node:
        case ast.Subscript(value=ast.Call(func=ast.Attribute(attr="state_dict"))):
            return True
    return False
