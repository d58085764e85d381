"""Loads of files that hold more than weights: objects of classes, which torch refuses to unpickle by default since 2.6."""

from __future__ import annotations

import ast
from collections import Counter, OrderedDict
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.tree import LOOPS, TRIES
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.unsafe_loads import UnsafeLoads
from torchlint.semantics.saving.uses import LoadedUses

Node = TypeVar("Node")

_PLAIN = (dict, OrderedDict, Counter, list, tuple, set, str, bytes, bytearray, int, float, complex, bool)
_ALLOWED = torch_api.TENSOR_ATTRIBUTES.union(*map(dir, _PLAIN)) | {
    "index",
    "type",
    "itemsize",
    "is_floating_point",
    "get_state",
}
"""The attributes of what is loaded by default: tensors, plain data, devices and dtypes, generators."""
_GRAPHS = frozenset({"x", "y", "edge_index", "edge_attr", "num_nodes", "num_edges", "num_features", "pos", "batch"})
"""The attributes of graphs of torch_geometric, which lets torch load its classes."""
_ALLOWING = frozenset({"add_safe_globals", "safe_globals", "clear_safe_globals", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"})
_ASKING = frozenset({"isinstance", "hasattr", "type", "issubclass", "callable"})


@dataclass(frozen=True, eq=False, slots=True)
class RefusedLoad(Generic[Node]):
    """What shows that a file holds an object of a class: the ``use`` of what is loaded, and what is ``loaded``."""

    use: Node
    loaded: Node
    is_called: bool


class RefusedLoads:
    """Finds the loads of one file that are told nothing, and whose results are used as no tensor or plain data can be."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._files = semantics.of(SavedFiles)
        self._shown: dict[ast.Call, RefusedLoad[ast.expr] | None] = {}

    @cached_property
    def found(self) -> dict[ast.Call, RefusedLoad[ast.expr]]:
        """The calls of ``torch.load`` that raise where the file holds what the code then uses."""
        if not self._files.loads or _ALLOWING & self._semantics.words.all or self._replaces_load:
            return {}
        unsafe = self._semantics.of(UnsafeLoads)
        found: dict[ast.Call, RefusedLoad[ast.expr]] = {}
        for load in self._files.loads:
            is_told = unsafe.may_be_told(load) or any(word.arg == "pickle_module" for word in load.keywords)
            if is_told or len(load.args) > 2 or unsafe.is_behind_load(load) or self._is_tried(load):
                continue
            shown = self.shown_as_object(load)
            if shown is not None:
                found[load] = shown
        return found

    def shown_as_object(self, load: ast.Call) -> RefusedLoad[ast.expr] | None:
        """What shows that the file holds an object of a class, whatever the load is told; ``None`` where nothing does."""
        if load not in self._shown:
            uses = self._semantics.of(LoadedUses).of(load)
            objects = (each for use in uses if (each := self._as_object(use)) is not None)
            is_allowed = any(self._is_asked_for(use) or self._is_of_graph(use) for use in uses)
            self._shown[load] = None if is_allowed else next(objects, None)
        return self._shown[load]

    @cached_property
    def _replaces_load(self) -> bool:
        """Whether the file puts another function in the place of ``torch.load``."""
        return any(
            node.attr == "load" and isinstance(node.ctx, ast.Store) and self._semantics.qualified_name(node) == "torch.load"
            for node in self._tree.of_type(ast.Attribute)
        )

    def _is_tried(self, load: ast.Call) -> bool:
        """Whether what happens where a load fails is written down."""
        child: ast.AST = load
        for parent in self._tree.ancestors(load):
            if isinstance(parent, TRIES) and child in parent.body and parent.handlers:
                return True
            child = parent
        return False

    # --- uses --------------------------------------------------------------------------------------------------------

    def _as_object(self, use: ast.expr) -> RefusedLoad[ast.expr] | None:
        """What a use asks of a value that only an object of a class has."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr=name) if isinstance(parent.ctx, ast.Load) and name not in _ALLOWED:
                return RefusedLoad(parent, use, is_called=False)
            case ast.Call(func=function) if function is use:
                return RefusedLoad(parent, use, is_called=True)
        return None

    def _is_of_graph(self, use: ast.expr) -> bool:
        """Whether a value has, or is given, what the graphs of torch_geometric have, which have what they are given besides."""
        parent = self._tree.parent(use)
        return isinstance(parent, ast.Attribute) and parent.attr in _GRAPHS

    def _is_asked_for(self, use: ast.expr) -> bool:
        """Whether code asks what a value is, as it may be this or that."""
        parent = self._tree.parent(use)
        if isinstance(parent, LOOPS):
            return False
        if not isinstance(parent, ast.Call) or not isinstance(parent.func, ast.Name) or parent.func.id not in _ASKING:
            return False
        return not self._is_shown_by_name(parent)

    def _is_shown_by_name(self, call: ast.Call) -> bool:
        """Whether the name of a type is taken, and not compared: ``type(model).__name__``."""
        name = self._tree.parent(call)
        if not isinstance(name, ast.Attribute) or name.attr not in ("__name__", "__qualname__"):
            return False
        return not isinstance(self._tree.parent(name), ast.Compare)
