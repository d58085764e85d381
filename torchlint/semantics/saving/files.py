"""What is written to files and read from them: ``torch.save`` and ``torch.load``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Basis, Semantics, Type
from torchlint.semantics.code.tree import TRIES
from torchlint.semantics.memory.origins import Origins

_LOADS = frozenset({"torch.load", "torch.serialization.load"})
_SAVES = frozenset({"torch.save", "torch.serialization.save"})
_BUFFERS = frozenset({"io.BytesIO", "six.BytesIO", "tempfile.TemporaryFile", "tempfile.NamedTemporaryFile"})
_OTHER_STATE = re.compile(
    r"optim|sched|scaler|sampler|callback|progress|loop$|(load|feed)er$|data_?set$|(^|_)(opt|lr)(_|$)", re.IGNORECASE
)
"""What things that have a state, but no weights, are called."""
LOADING = frozenset(
    f"load_{what}"
    for what in ("pretrained", "pretrained_model", "pretrained_weights", "weights", "model_weights", "model_state", "params")
)
"""What functions of programs are called that load the state that they are given into a model that comes before it."""


class SavedFiles:
    """Finds the calls that save and load, and tells what becomes of what they load."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def loads(self) -> set[ast.Call]:
        """The calls of ``torch.load``, under whatever name."""
        return self._calls_of(_LOADS)

    @cached_property
    def saves(self) -> set[ast.Call]:
        """The calls of ``torch.save``, under whatever name."""
        return self._calls_of(_SAVES)

    @cached_property
    def weights(self) -> set[ast.Call]:
        """The calls of ``torch.load`` whose result, or a part of it, is loaded into a model."""
        if not self.loads:
            return set()
        return self.loads & self._semantics.of(Origins).of(*self._states())

    @cached_property
    def loads_more_than_states(self) -> bool:
        """Whether the file loads something with ``torch.load`` that it does not give to a ``load_state_dict``."""
        states = [state for call in self._semantics.facts.calls.get("load_state_dict", ()) for state in call.args[:1]]
        return bool(self.loads) and not self._semantics.of(Origins).of(*states).issuperset(self.loads)

    def is_in_memory(self, file: ast.expr) -> bool:
        """Whether what is loaded from or saved to is a buffer in memory that the code around it fills itself."""
        if not isinstance(file, ast.Name):
            return False
        for binding in self._semantics.bindings.reaching(file):
            value = binding.value
            if isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) in _BUFFERS:
                if not value.args or self._saves_within(self._semantics.tree.function(file)):
                    return True
        return False

    def has_mapped_alternative(self, load: ast.Call) -> bool:
        """Whether another branch of the same condition, or where it fails a handler, loads with a ``map_location``."""
        child: ast.AST = load
        for parent in self._semantics.tree.ancestors(load):
            if isinstance(parent, TRIES) and child in parent.body:
                if any(self._maps(part) for handler in parent.handlers for part in ast.walk(handler)):
                    return True
            if isinstance(parent, (ast.If, ast.IfExp)):
                here = parent.body if isinstance(parent.body, list) else [parent.body]
                there = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
                others = there if child in here else here if child in there else []
                if any(self._maps(part) for other in others for part in ast.walk(other)):
                    return True
            child = parent
        return False

    def _maps(self, node: ast.AST) -> bool:
        """Whether code loads with a ``map_location`` that is not a GPU; ``torch.hub.load(repository, name)`` has none."""
        if not isinstance(node, ast.Call) or _name_of(node.func) != "load":
            return False
        if (self._semantics.qualified_name(node.func) or "").startswith("torch.hub."):
            return False
        given = [*node.args[1:2], *(word.value for word in node.keywords if word.arg == "map_location")]
        return bool(given) and not any(map(self._names_gpu, given))

    def _names_gpu(self, location: ast.expr) -> bool:
        """Whether a location is a string that names a GPU, or a dict of such, written there or where it was given a name."""
        if isinstance(location, ast.Name):
            values = [each.value for each in self._semantics.bindings.reaching(location)]
            named = (value for value in values if value is not None and not isinstance(value, ast.Name))
            return bool(values) and sum(map(self._names_gpu, named)) == len(values)
        if isinstance(location, ast.Dict):
            return bool(location.values) and all(map(_speaks_of_gpu, location.values))
        return _speaks_of_gpu(location)

    def gives_module(self, load: ast.Call) -> bool:
        """Whether what a call loads is used as a whole module, and not as the state of one."""
        match self._semantics.tree.parent(load):
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                return binding is not None and self._semantics.inference.binding_kind(binding).type is Type.MODULE
            case ast.Assign(targets=[ast.Attribute() as target]):
                return self._semantics.kind(target).type is Type.MODULE
            case ast.Attribute(attr="eval" | "train" | "cuda" | "parameters"):
                return True
        return False

    def _calls_of(self, names: frozenset[str]) -> set[ast.Call]:
        """The calls of a function that has these full names; an attribute has the last part of one itself."""
        last = {name.rpartition(".")[2] for name in names}
        return {
            call
            for call in self._semantics.tree.of_type(ast.Call)
            if (isinstance(call.func, ast.Name) or (isinstance(call.func, ast.Attribute) and call.func.attr in last))
            and self._semantics.qualified_name(call.func) in names
        }

    def _saves_within(self, function: ast.AST | None) -> bool:
        return any(self._semantics.tree.function(call) is function for call in self.saves)

    # --- what is loaded into models ----------------------------------------------------------------------------------

    def _states(self) -> Iterator[ast.expr]:
        """What is loaded into models."""
        calls = self._semantics.facts.calls
        for call in calls.get("load_state_dict", ()):
            if not (isinstance(call.func, ast.Attribute) and self._is_other_state(call.func.value)):
                yield from call.args[:1]
                yield from (model for state in call.args[:1] if (model := self._loaded_whole(state)) is not None)
                yield from (word.value for word in call.keywords if word.arg == "state_dict")
        for name in LOADING:
            for call in calls.get(name, ()):
                yield from call.args[1:]  # `load_weights(model, checkpoint["net"])`
        for call in calls.get("from_pretrained", ()):
            yield from (word.value for word in call.keywords if word.arg == "state_dict")

    def _loaded_whole(self, state: ast.expr) -> ast.expr | None:
        """The load of what a state is taken from: of `checkpoint["model"].state_dict()`, where that was saved whole."""
        match state:
            case ast.Call(func=ast.Attribute(attr="state_dict", value=owner), args=[]):
                while isinstance(owner, ast.Subscript):
                    owner = owner.value
                bindings = self._semantics.bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
                return next((each.value for each in bindings if each.value in self.loads and not each.path), None)
        return None

    def _is_other_state(self, receiver: ast.expr) -> bool:
        """Whether what a state is loaded into is an optimizer, a scheduler or the like."""
        kind = self._semantics.kind(receiver)
        if kind.type is Type.MODULE and kind.basis not in (Basis.CALLED, Basis.DECLARED):
            return False  # surely a module, whatever its name
        return kind.type in (Type.OPTIMIZER, Type.SCHEDULER) or _OTHER_STATE.search(_name_of(receiver)) is not None


def _speaks_of_gpu(value: ast.expr) -> bool:
    """Whether a text that starts with ``cuda`` is written out, and no lambda, condition or text that names another device."""
    texts = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    if any(isinstance(part, (ast.Lambda, ast.IfExp, ast.Dict)) for part in ast.walk(value)):
        return False
    return bool(texts) and texts[0].startswith("cuda")


def _name_of(node: ast.expr) -> str:
    """The last of the names of a chain, without what it is indexed with."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return _name_of(value)
    return ""
