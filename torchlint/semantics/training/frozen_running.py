"""Frozen parts of models whose batch normalisation goes on changing, as ``train()`` puts them into training mode."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.conditions.assumptions import Assumptions
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modes.switches import Mode, Switches
from torchlint.semantics.modules.own_modes import OwnModes
from torchlint.semantics.training.freezing import HEADS, Freezing

Node = TypeVar("Node")

_NORMALISING = re.compile(r"(Lazy|Sync)?BatchNorm([123]d)?|InPlaceABN|ABN")
_ARCHITECTURES = re.compile(
    r"(wide_)?res[Nn](e[xX]t|et)\d\w*|densenet\d\w*|mobilenet_?v\d\w*|efficientnet_\w+|googlenet|inception_v\d|regnet_\w+|"
    r"shufflenet_\w+|mnasnet\w+|vgg\d\d_bn|(tf_)?efficientnet\w*|seresne\w+"
)
"""What functions that make models with batch normalisation are called, and the names that others are given."""
_MAKERS = ("torchvision.models.", "timm.", "torch.hub.", "segmentation_models_pytorch.", "pretrainedmodels.")
_OTHERS = ("torchvision.models.detection.",)
"""Models whose batch normalisation never changes, or need not."""
_FOLLOWING = re.compile(r"(^|_)(ema|target|momentum|key|shadow|avg|averaged|k)(_|$)", re.IGNORECASE)
"""What a copy is called that follows another model: it is frozen for the optimizer only."""
_DEPTH = 5
_MOST = 24


@dataclass(frozen=True, eq=False, slots=True)
class FrozenRunning(Generic[Node]):
    """Parts that are put into training mode with the whole of a model; the first of them is frozen at ``frozen``.

    ``paths`` are the attributes that lead to each from what ``train()`` is called on; there are none where that is all frozen
    but for a head.
    """

    frozen: Node
    paths: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A frozen part, how functions that it is handed to refer to it, and the class that it is an attribute of."""

    frozen: ast.expr
    references: tuple[Reference, ...]
    owner: ast.ClassDef | None
    is_whole: bool
    """Whether it is a model of which only a new head is trained."""


class FrozenRunningParts:
    """Finds, in one file, the calls of ``train()`` that let frozen parts go on counting."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._references = semantics.of(References)
        self._switches = semantics.of(Switches)
        self._freezing = semantics.of(Freezing)

    @cached_property
    def found(self) -> dict[ast.Call, FrozenRunning[ast.expr]]:
        """The calls that put a model into training mode of which a part is frozen, and normalises by batches."""
        trains = [(call, models) for call, models, mode in self._switches.all if mode is Mode.TRAIN and models]
        found: dict[ast.Call, FrozenRunning[ast.expr]] = {}
        for part in self._parts if trains and not self._is_normalisation_set() else ():
            for call, models in trains:
                assert models is not None and isinstance(call.func, ast.Attribute)
                if self._semantics.of(OwnModes).may_have_own(call.func.value, "train"):
                    continue
                path = self._path(part, call.func.value, models)
                if path is None or bool(path) is part.is_whole or self._exclude(part.frozen, call):
                    continue
                before = found.setdefault(call, FrozenRunning(part.frozen, (path,) if path else ()))
                if path and before.paths and not any(path[: len(each)] == each for each in before.paths):
                    found[call] = FrozenRunning(before.frozen, (*before.paths, path))
        return found

    def _is_normalisation_set(self) -> bool:
        """Whether the file says of layers how they count, by attributes of theirs: ``layer.momentum = 0``."""
        return any(
            isinstance(node.ctx, ast.Store) and node.attr in ("momentum", "track_running_stats")
            for node in self._semantics.tree.of_type(ast.Attribute)
        )

    def _exclude(self, frozen: ast.expr, train: ast.Call) -> bool:
        """Whether a part is frozen under conditions under which the model is not put into training mode."""
        assumptions = self._semantics.of(Assumptions)
        return assumptions.excludes(assumptions.at(frozen), train)

    # --- frozen parts ------------------------------------------------------------------------------------------------

    @cached_property
    def _parts(self) -> list[_Part]:
        found: list[_Part] = []
        for frozen, named in self._freezing.wholes[:_MOST]:
            reference = self._references.of(named)
            if reference is None or self._follows_another(reference) or self._is_parameter(named):
                continue
            if not self._normalises(named, 0):
                continue
            owner = self._facts.self_class(_root(named))
            is_whole = self._freezing.is_replaced_after(frozen, named) or self._has_free_head(named)
            if not self._is_kept_still(reference, is_whole, owner):
                found.append(_Part(frozen, tuple(self._everywhere(reference)), owner, is_whole))
        return found

    def _is_parameter(self, named: ast.expr) -> bool:
        """Whether a parameter is frozen, as only the bias of a normalisation is on purpose, and no module."""
        return last_name(named) in ("weight", "bias") or self._semantics.kind(named).is_tensor

    def _follows_another(self, reference: Reference) -> bool:
        """Whether a module is a copy that follows another one, whose statistics it may have to count itself."""
        if any(_FOLLOWING.search(name) for name in reference.path):
            return True
        return reference.path[-1] in self._paired

    @cached_property
    def _paired(self) -> set[str]:
        """What is gone through beside something else: ``zip(query.parameters(), key.parameters())``."""
        parts = (part for call in self._facts.calls.get("zip", ()) for each in call.args for part in ast.walk(each))
        return {last_name(part.value) for part in parts if isinstance(part, ast.Attribute)}

    def _has_free_head(self, named: ast.expr) -> bool:
        """Whether the parameters of the head of a frozen model are thawed, or it is what else the model is trained by."""
        text = ast.unparse(named)
        return any(
            isinstance(node.value, ast.expr) and node.attr in HEADS and ast.unparse(node.value) == text
            for name in HEADS
            for node in self._attributes.get(name, ())
        )

    @cached_property
    def _attributes(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = {}
        for node in self._semantics.tree.of_type(ast.Attribute):
            if node.attr in HEADS:
                found.setdefault(node.attr, []).append(node)
        return found

    def _is_kept_still(self, part: Reference, is_whole: bool, owner: ast.ClassDef | None) -> bool:
        """Whether the file puts the part, or layers of it, into evaluation mode somewhere, or may do so."""
        if owner is not None and self._facts.method(owner, "train") is not None:
            return True
        for call, models, mode in self._switches.all:
            if mode is Mode.TRAIN or not isinstance(call.func, ast.Attribute):
                continue
            if models is None or self._is_item(call.func.value):
                return True
            for model in models:
                if model.path[-1] == part.path[-1] and not is_whole:
                    return True
                if part.path[-1] in model.path[:-1]:
                    return True
        return False

    def _is_item(self, node: ast.expr) -> bool:
        """Whether a module is one of several that a loop goes through: ``for m in model.modules()``, or a layer in a list."""
        if isinstance(node, ast.Subscript):
            return True
        if not isinstance(node, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(node)
        function = self._semantics.tree.function(node)
        is_applied = isinstance(function, (ast.Lambda, *FUNCTIONS)) and bool(self._facts.calls.get("apply"))
        is_given = any(binding.form is Form.PARAMETER for binding in bindings)
        return any(binding.form is Form.LOOP for binding in bindings) or (is_applied and is_given)

    def _everywhere(self, reference: Reference) -> Iterator[Reference]:
        """What a part is referred to, where it is frozen and in the functions that are handed what holds it."""
        pending, seen = [reference], {reference}
        while pending and len(seen) < _MOST:
            current = pending.pop()
            yield current
            for call, function in self._calls:
                for inner in self._references.handed(current, call, function):
                    if inner not in seen:
                        seen.add(inner)
                        pending.append(inner)

    @cached_property
    def _calls(self) -> list[tuple[ast.Call, ast.FunctionDef | ast.AsyncFunctionDef]]:
        """The calls of functions of the file that are given something."""
        calls = [call for call in self._semantics.tree.of_type(ast.Call) if call.args or call.keywords]
        found = [(call, self._references.callee(call)) for call in calls]
        return [(call, function) for call, function in found if function is not None]

    def _path(self, part: _Part, model: ast.expr, models: list[Reference]) -> tuple[str, ...] | None:
        """The attributes that lead from what is put into training mode to a frozen part; ``None`` where that is not in it."""
        for each in models:
            for reference in part.references:
                if each.holds(reference):
                    return reference.path[len(each.path) :]
        if part.owner is not None:
            within = self._facts.self_class(model) or self._semantics.kind(model).definition
            if within is part.owner:
                return part.references[0].path[1:]
        return None

    # --- batch normalisation -----------------------------------------------------------------------------------------

    def _normalises(self, node: ast.expr, depth: int) -> bool:
        """Whether a module has a batch normalisation for certain."""
        if depth > _DEPTH:
            return False
        definition = self._semantics.kind(node).definition
        if isinstance(definition, ast.ClassDef):
            return self._class_normalises(definition)
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="to" | "cuda" | "float")):
                return self._normalises(owner, depth + 1)
            case ast.Call():
                return self._call_normalises(node, depth)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path]
                return bool(values) and all(value is not None and self._normalises(value, depth + 1) for value in values)
            case ast.Attribute(value=owner, attr=name):
                definition = self._facts.self_class(owner) or self._semantics.kind(owner).definition
                if not isinstance(definition, ast.ClassDef):
                    return name not in HEADS and self._normalises(owner, depth + 1)
                stores = [store for slot in self._facts.slots(definition, name) for store in slot.stores]
                parents = [self._semantics.tree.parent(store) for store in stores]
                return bool(parents) and all(
                    isinstance(parent, ast.Assign) and self._normalises(parent.value, depth + 1) for parent in parents
                )
        return False

    def _call_normalises(self, call: ast.Call, depth: int) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        last = name.rpartition(".")[2]
        if name.startswith(_OTHERS) or any(word.arg == "norm_layer" for word in call.keywords):
            return False
        if _NORMALISING.fullmatch(last):
            return not any(word.arg == "track_running_stats" for word in call.keywords)
        if name.startswith(_MAKERS):
            said = [part.value for part in ast.walk(call) if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            return any(_ARCHITECTURES.fullmatch(each) for each in (last, *said))
        if name.startswith("torch.nn."):
            return any(self._normalises(part, depth + 1) for part in self._given(call))
        return False

    @staticmethod
    def _given(call: ast.Call) -> Iterator[ast.expr]:
        """The modules that a container is made of; of ``*list(resnet.children())[:-1]``, what its parts are taken from."""
        for argument in call.args:
            match argument:
                case ast.Starred(value=value):
                    for part in ast.walk(value):
                        if isinstance(part, ast.Attribute) and part.attr in ("children", "modules"):
                            yield part.value
                    if isinstance(value, (ast.List, ast.Tuple)):
                        yield from value.elts
                case ast.Call() | ast.Name() | ast.Attribute():
                    yield argument

    def _class_normalises(self, definition: ast.ClassDef) -> bool:
        if definition not in self._classes:
            self._classes[definition] = False
            calls = [part for base in self._facts.bases(definition) for part in ast.walk(base) if isinstance(part, ast.Call)]
            self._classes[definition] = any(self._call_normalises(call, _DEPTH - 1) for call in calls) or any(
                isinstance(inner, ast.ClassDef) and self._class_normalises(inner)
                for inner in (self._facts.definition(call.func) for call in calls)
            )
        return self._classes[definition]

    @cached_property
    def _classes(self) -> dict[ast.ClassDef, bool]:
        return {}


def _root(node: ast.expr) -> ast.expr:
    """The name that a chain of attributes starts with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
