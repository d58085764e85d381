"""Loads that are told to unpickle anything, be it by way of a constant, and which of them are told so for a reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, TRIES, argument
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.saved_objects import SavedObjects

Node = TypeVar("Node")

_FROM_HUB = "torch.hub.load_state_dict_from_url"
_WORD = "weights_only"
_ELSEWHERE = re.compile(r"https?://|download|(^|[^a-z])hub([^a-z]|$)|huggingface|(^|_)hf_|pre_?trained|cached_path|gdown")
"""What the code speaks of that gives a path where somebody else has made the file."""
_DEPTH = 3


@dataclass(frozen=True, eq=False, slots=True)
class Told(Generic[Node]):
    """The ``value`` that is given for ``weights_only``, where that is a constant, and the argument that gives it, ``through``.

    That is the value itself, a name that it has, or the dict that is unpacked. One that is ``shared`` is given to other calls
    as well.
    """

    value: Node
    through: Node
    shared: bool = False


class UnsafeLoads:
    """Tells of a file's loads what they are told, and whether they have to be as they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._files = semantics.of(SavedFiles)

    @cached_property
    def calls(self) -> frozenset[ast.Call]:
        """The calls of `torch.load`, and those of torch's hub that load weights."""
        of_hub = self._semantics.facts.calls.get(_FROM_HUB.rpartition(".")[2], ())
        return frozenset(self._files.loads) | {
            call for call in of_hub if self._semantics.qualified_name(call.func) == _FROM_HUB
        }

    @cached_property
    def told(self) -> dict[ast.Call, Told[ast.expr]]:
        """The calls that are given a constant for ``weights_only``."""
        found = ((call, self._told(call)) for call in self.calls)
        return {call: told for call, told in found if told is not None}

    def may_be_told(self, call: ast.Call) -> bool:
        """Whether a call is given ``weights_only``, or may be by what it unpacks."""
        return any(word.arg in (_WORD, None) for word in call.keywords) or any(
            isinstance(each, ast.Starred) for each in call.args
        )

    def is_of_weights(self, call: ast.Call) -> bool:
        """Whether a load that reads weights only would read the file, or somebody else has made it.

        It reads a state that goes into a model as it is, and of which no item is asked for besides, as of a checkpoint, and a
        checkpoint of which the file shows that it saves nothing but states and plain data in it. A file is somebody else's
        where it comes from torch's hub, or the path speaks of that.
        """
        if call not in self._files.loads or self._is_from_elsewhere(call):
            return True
        uses = self._whole(call)
        if any(map(self._is_state, uses)) and not any(map(self._is_of_checkpoint, uses)):
            return True
        items = [parent for use in uses if isinstance(parent := self._semantics.tree.parent(use), ast.Subscript)]
        keys = {
            each.slice.value for each in items if isinstance(each.slice, ast.Constant) and isinstance(each.slice.value, str)
        }
        return bool(keys) and self._semantics.of(SavedObjects).are_of_plain(keys)

    def _whole(self, call: ast.Call) -> list[ast.expr]:
        """A call, and the uses of the names that it has."""
        match self._semantics.tree.parent(call):
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                return [call, *(binding.uses if binding is not None else ())]
        return [call]

    def _is_state(self, use: ast.expr) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Call(func=ast.Attribute(attr="load_state_dict"), args=[first, *_]):
                return first is use
        return False

    def _is_of_checkpoint(self, use: ast.expr) -> bool:
        """Whether an item is asked for by its name, or whether there is one: ``"model" in saved``."""
        match self._semantics.tree.parent(use):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())):
                return value is use
            case ast.Compare(left=ast.Constant(value=str()), comparators=[asked]):
                return asked is use
            case ast.Attribute(attr="get" | "keys" | "items" | "pop"):
                return True
        return False

    def _is_from_elsewhere(self, call: ast.Call) -> bool:
        path = argument(call, 0, "f")
        if path is None:
            return False
        values = [each.value for part in ast.walk(path) if isinstance(part, ast.Name) for each in self._reaching(part)]
        texts = [ast.unparse(path), *(ast.unparse(value) for value in values if value is not None)]
        return any(map(_ELSEWHERE.search, texts))

    def _reaching(self, name: ast.Name) -> Iterator[Binding]:
        yield from (each for each in self._semantics.bindings.reaching(name) if each.form is Form.ASSIGNMENT)

    # --- what is given -----------------------------------------------------------------------------------------------

    def _told(self, call: ast.Call) -> Told[ast.expr] | None:
        for word in call.keywords:
            if word.arg == _WORD:
                value = self._constant(word.value)
                return Told(value, word.value) if value is not None else None
        unpacked = [word.value for word in call.keywords if word.arg is None]
        return self._unpacked(unpacked[0]) if len(unpacked) == 1 else None

    def _constant(self, node: ast.expr, depth: int = _DEPTH) -> ast.Constant | None:
        """The constant that an expression is for certain: written out, or that of a name."""
        if isinstance(node, ast.Constant):
            return node
        if not isinstance(node, ast.Name) or not depth:
            return None
        values = [
            self._constant(binding.value, depth - 1) if binding.value is not None and _is_plain(binding) else None
            for binding in self._semantics.bindings.reaching(node)
        ]
        alike = {value.value if value is not None else ... for value in values}
        return values[0] if len(alike) == 1 and ... not in alike else None

    def _unpacked(self, options: ast.expr) -> Told[ast.expr] | None:
        """What a dict that is unpacked holds under `weights_only`, where it is written out and nothing changes it."""
        value, shared = options, False
        if isinstance(options, ast.Name):
            bindings = self._semantics.bindings.reaching(options)
            if len(bindings) != 1 or bindings[0].value is None or not _is_plain(bindings[0]):
                return None
            stored = [entry for use in bindings[0].uses if (entry := self._stored(use)) is not None]
            others = [use for use in bindings[0].uses if self._stored(use) is None and not self._is_read(use)]
            if others:
                return None
            value, shared = bindings[0].value, len(bindings[0].uses) > len(stored) + 1
            if stored:
                given = [entry.value for entry in stored if _key(entry.targets[0]) == _WORD]
                if given and len(given) == 1 and (constant := self._constant(given[0])) is not None:
                    return Told(constant, options, shared)
                if given or any(_key(entry.targets[0]) is None for entry in stored):
                    return None
        match value:
            case ast.Dict(keys=keys, values=values):
                found = [each for key, each in zip(keys, values) if isinstance(key, ast.Constant) and key.value == _WORD]
            case ast.Call(func=ast.Name(id="dict"), args=[], keywords=words):
                found = [word.value for word in words if word.arg == _WORD]
            case _:
                return None
        constant = self._constant(found[-1]) if found else None
        return Told(constant, options, shared) if constant is not None else None

    def _stored(self, use: ast.Name) -> ast.Assign | None:
        """The assignment to an item of a dict by its name."""
        match self._semantics.tree.parent(use):
            case ast.Subscript(value=value, ctx=ast.Store()) as target if value is use:
                statement = self._semantics.tree.parent(target)
                return statement if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        return None

    def _is_read(self, use: ast.Name) -> bool:
        """Whether a dict is only unpacked or read."""
        match self._semantics.tree.parent(use):
            case ast.keyword(arg=None) | ast.Subscript(ctx=ast.Load()):
                return True
        return False

    # --- what it is for ----------------------------------------------------------------------------------------------

    def is_fallback(self, load: ast.Call) -> bool:
        """Whether a load is tried where one that reads weights only has just failed."""
        return any(self._reads_weights_only(call) for call in self._tried_before(load))

    def is_behind_load(self, load: ast.Call) -> bool:
        """Whether a load is tried where another one has failed, whatever that was told."""
        return any(True for _ in self._tried_before(load))

    def _reads_weights_only(self, call: ast.Call) -> bool:
        told = self.told.get(call)
        if told is None:
            return not self.may_be_told(call)
        return isinstance(told.value, ast.Constant) and told.value.value is not False

    def _tried_before(self, load: ast.Call) -> Iterator[ast.Call]:
        """The loads in the bodies of the `try` statements in whose handlers a load stands."""
        for parent in self._semantics.tree.ancestors(load):
            if isinstance(parent, FUNCTIONS):
                return
            if isinstance(parent, ast.ExceptHandler):
                tried = self._semantics.tree.parent(parent)
                if isinstance(tried, TRIES):
                    parts = (part for statement in tried.body for part in ast.walk(statement))
                    yield from (part for part in parts if isinstance(part, ast.Call) and part in self.calls)


def _is_plain(binding: Binding) -> bool:
    return binding.form is Form.ASSIGNMENT and not binding.path


def _key(target: ast.expr) -> object:
    """The constant that an item is stored under; ``None`` where it is none."""
    return target.slice.value if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) else None
