"""Loads of files that hold more than weights: objects of classes, which torch refuses to unpickle by default since 2.6."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import LOOPS, TRIES, is_none, last_name
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.modules import SavedModules
from torchlint.semantics.saving.paths import Paths
from torchlint.semantics.saving.saved_objects import LOADED_ATTRIBUTES, SavedObjects
from torchlint.semantics.saving.unsafe_loads import UnsafeLoads
from torchlint.semantics.saving.uses import LoadedUses

Node = TypeVar("Node")

_GRAPHS = frozenset({"x", "y", "edge_index", "edge_attr", "num_nodes", "num_edges", "num_features", "pos", "batch"})
"""The attributes of graphs of torch_geometric, which lets torch load its classes."""
_ALLOWING = frozenset({"add_safe_globals", "safe_globals", "clear_safe_globals", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"})
_OTHER_ERRORS = frozenset({"OSError", "IOError", "FileNotFoundError", "KeyError", "KeyboardInterrupt", "AttributeError"})
"""What is raised where a file or a key is missing, and nothing that torch raises where it refuses."""
_ENOUGH_KEYS = 2
"""So many keys tell that what is loaded is what the file saves."""
_WRAPPING = frozenset(f"torch.nn.{name}" for name in ("Sequential", "DataParallel", "parallel.DistributedDataParallel"))
"""Modules that are made of others."""
_VALUE = re.compile(r"\{[^{}]*\}")
"""What stands in a path for a value."""
_NAMED = re.compile(r"\w{3}")
"""What a path has that names a file."""
_OPTION = re.compile(
    r"\{(?:\w{0,20}_)?(?:args?|opts?|options|cfg|conf|config|flags|hparams|params)(?:\.\w{1,40}|\['\w{1,40}'\]){1,4}\}",
    re.IGNORECASE,
)
"""A path that is an option as a whole: it is the same wherever it is asked for."""
_CONTAINERS = frozenset(
    {"collections.defaultdict", "collections.deque", "collections.ChainMap", "argparse.Namespace", "types.SimpleNamespace"}
)
"""Classes of Python's own that torch refuses to unpickle, unlike ``OrderedDict``, ``Counter`` and ``set`` (tried with 2.13)."""
_ASKING = frozenset({"isinstance", "hasattr", "type", "issubclass", "callable"})


@dataclass(frozen=True, eq=False, slots=True)
class RefusedLoad(Generic[Node]):
    """What shows that a file holds an object of a class: the ``use`` of what is loaded, and what is ``loaded``.

    Where it is ``saved``, the use is the value that the program itself puts into such files.
    """

    use: Node
    loaded: Node
    is_saved: bool = False


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
        return found if found and self._semantics.elsewhere.speaks_of("allowed objects") is not True else {}

    def shown_as_object(self, load: ast.Call) -> RefusedLoad[ast.expr] | None:
        """What shows that the file holds an object of a class, whatever the load is told; ``None`` where nothing does."""
        if load not in self._shown:
            uses = self._semantics.of(LoadedUses).of(load)
            objects = (each for use in uses if (each := self._as_object(use)) is not None)
            is_allowed = any(self._is_asked_for(use) or self._is_of_graph(use) for use in uses)
            self._shown[load] = None if is_allowed else next(objects, None) or self._saved_with_object(load)
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
            if isinstance(parent, TRIES) and child in parent.body:
                if any(handler.type is None or self._may_catch(handler.type) for handler in parent.handlers):
                    return True
            child = parent
        return False

    def _may_catch(self, caught: ast.expr) -> bool:
        """Whether a handler's exceptions may be what torch raises where it refuses: not those of missing files or keys."""
        if isinstance(caught, ast.Tuple):
            return any(map(self._may_catch, caught.elts))
        return (self._semantics.qualified_name(caught) or "").removeprefix("builtins.") not in _OTHER_ERRORS

    # --- what is saved -----------------------------------------------------------------------------------------------

    def _saved_with_object(self, load: ast.Call) -> RefusedLoad[ast.expr] | None:
        """An object in the checkpoints of the file: in those of the same path, or that have the keys that are asked for."""
        if (held := self._saved_by_this_path(load) or self._made_instead(load)) is not None:
            return RefusedLoad(held, load, is_saved=True)
        keys = {key for use in self._semantics.of(LoadedUses).of(load) if (key := self._key(use)) is not None}
        if len(keys) < _ENOUGH_KEYS:
            return None
        held = self._semantics.of(SavedObjects).among(keys) or self._saved_module(keys)
        return RefusedLoad(held, load, is_saved=True) if held is not None else None

    def _saved_by_this_path(self, load: ast.Call) -> ast.expr | None:
        """A module that the file saves whole by the path that is loaded from, which names a file, and nothing else by it."""
        whole = self._semantics.of(SavedModules).whole if load.args and len(self._files.saves) > 0 else {}
        if not whole:
            return None
        paths = self._semantics.of(Paths)
        spelled = paths.spelled(load.args[0])
        if not _NAMED.search(_VALUE.sub("{}", spelled)) and not _OPTION.fullmatch(spelled):
            return None
        same = [save for save in self._files.saves if len(save.args) > 1 and paths.spelled(save.args[1]) == spelled]
        held = [save.args[0] if save.args[0] in whole.get(save, ()) else None for save in same]
        return held[0] if held and None not in held else None

    def _made_instead(self, load: ast.Call) -> ast.expr | None:
        """The call of a class that a variable gets, or else what is loaded, where the file saves a variable of that name."""
        saved = {save.args[0].id for save in self._files.saves if save.args and isinstance(save.args[0], ast.Name)}
        for use in self._semantics.of(LoadedUses).of(load) if saved else ():
            if not isinstance(use, ast.Name) or use.id not in saved:
                continue
            values = [binding.value for binding in self._semantics.bindings.reaching(use) if not binding.path]
            made = [each for each in values if isinstance(each, ast.Call) and self._is_container(each)]
            others = [each for each in values if each not in made and each is not load and not is_none(each)]
            if made and not others:
                return made[0]
        return None

    def _is_container(self, call: ast.Call) -> bool:
        return self._semantics.qualified_name(call.func) in _CONTAINERS

    def _saved_module(self, keys: set[str]) -> ast.expr | None:
        """A module that stands whole in all of the dicts with these keys that the file saves."""
        whole, found = self._semantics.of(SavedModules).whole, list[ast.expr]()
        for call in self._files.saves:
            saved = call.args[0] if call.args else None
            if not isinstance(saved, ast.Dict):
                if isinstance(saved, ast.Call) and last_name(saved.func) == "state_dict":
                    continue
                return None
            if keys <= {key.value for key in saved.keys if isinstance(key, ast.Constant)}:
                modules = [each for each in whole.get(call, ()) if each in saved.values]
                if not modules:
                    return None
                found += modules
        return found[0] if found else None

    def _key(self, use: ast.expr) -> str | None:
        """The key that a dict is asked for: not that of an item of it."""
        parent = self._tree.parent(use)
        match use, parent:
            case ast.Subscript(), _:
                return None
            case _, ast.Subscript(value=owner, slice=ast.Constant(value=str(key))) if owner is use:
                return key
        return None

    # --- uses --------------------------------------------------------------------------------------------------------

    def _as_object(self, use: ast.expr) -> RefusedLoad[ast.expr] | None:
        """What a use asks of a value that only an object of a class has."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr=name) if isinstance(parent.ctx, ast.Load) and name not in LOADED_ATTRIBUTES - {"__dict__"}:
                return RefusedLoad(parent, use)
            case ast.Call(func=ast.Name(id="vars") as function, args=[given]) if given is use:
                return RefusedLoad(parent, use) if self._semantics.qualified_name(function) == "builtins.vars" else None
            case ast.Call(func=function) if function is use:
                return RefusedLoad(parent, use)
            case ast.Call(func=function, args=args) if use in args and self._semantics.qualified_name(function) in _WRAPPING:
                return RefusedLoad(function, use)
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
