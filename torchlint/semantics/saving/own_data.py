"""Loads of a program's own data, which holds more than weights: data sets that were pickled, states of other generators."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import argument, last_name, spoken_name
from torchlint.semantics.saving.files import SavedFiles

_DATA = re.compile(r"data_?set|(?<![a-z])(store|corpus|vocab|splits|samples|processed|annotations)(?![a-z])", re.IGNORECASE)
"""Words in the names of files of data, whoever has pickled it."""
_NAMED = re.compile(r"data_?set|(?<![a-z])(cached?|graphs?|processed|samples?|corpus|vocab)(?![a-z])", re.IGNORECASE)
"""Words in the names of variables that hold the path of a file of data."""
_GRAPHS = ("torch_geometric", "dgl")
"""Libraries whose graphs, which are objects of classes, are kept in files of torch's."""
_MODEL = re.compile(r"model|check_?point|ckpt|weights?\b|state_?dict|net\b|best|last|latest|epoch|\.pth|\.tar", re.IGNORECASE)
"""Words in the names of files of models."""
_WEIGHTS = re.compile(r"weight|pretrain", re.IGNORECASE)
_STATES = re.compile(r"state|model|net|weight|optim", re.IGNORECASE)
"""Words in the names of entries that hold the weights of a model, or what an optimizer has kept."""
_GENERATORS = frozenset({"getstate", "get_state"})
_ARRAYS = frozenset({"numpy.array", "numpy.asarray"})
_DEPTH = 3


class OwnData:
    """Tells of loads whether what they read is the program's own data, that a load of weights alone would refuse."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._saves = semantics.of(SavedFiles).saves

    def is_read_by(self, load: ast.Call) -> bool:
        """Whether a load reads a file of data, by its name or as numpy is given it, or its file saves states of numpy's or
        Python's generators.
        """
        if self._is_array(load) or self._is_of_item(load):
            return True
        path = argument(load, 0, "f")
        if path is None:
            return False
        is_checkpoint = self._saves_generators and _WEIGHTS.search(ast.unparse(path)) is None
        return is_checkpoint or self._is_of_data(path) or (self._is_of_objects(load, path) and not self._gives_states(load))

    def _is_of_objects(self, load: ast.Call, path: ast.expr) -> bool:
        """Whether classes are allowed around a load, or it reads a file of graphs or of samples, by the names in its path."""
        if self._is_under_allowed_classes(load):
            return True
        names = [spoken_name(part) for part in ast.walk(path) if isinstance(part, (ast.Name, ast.Attribute))]
        words = [*names, *self._texts(path, _DEPTH)]
        if any(map(_MODEL.search, words)):
            return False
        return any(map(_NAMED.search, names)) or any(map(self._semantics.words.speak_of, _GRAPHS))

    def _is_under_allowed_classes(self, load: ast.Call) -> bool:
        return any(
            last_name(item.context_expr.func) == "safe_globals"
            for block in self._semantics.tree.ancestors(load)
            if isinstance(block, ast.With)
            for item in block.items
            if isinstance(item.context_expr, ast.Call)
        )

    def _gives_states(self, load: ast.Call) -> bool:
        """Whether what is loaded is handed to a model or an optimizer, or has an entry for one of their states."""
        return any(map(self._is_of_state, self._uses(load)))

    def _is_of_item(self, load: ast.Call) -> bool:
        """Whether a data set loads one of its items."""
        method = self._semantics.tree.function(load)
        owner = self._semantics.tree.parent(method) if isinstance(method, ast.FunctionDef) else None
        if not isinstance(owner, ast.ClassDef) or not isinstance(method, ast.FunctionDef):
            return False
        return method.name == "__getitem__" and self._semantics.facts.method(owner, "__len__") is not None

    def _is_array(self, load: ast.Call) -> bool:
        """Whether numpy makes an array of all that is loaded: it was one, or figures."""
        for use in self._uses(load):
            match self._semantics.tree.parent(use):
                case ast.Call(func=function, args=[first, *_]) if first is use:
                    if self._semantics.qualified_name(function) in _ARRAYS:
                        return True
        return False

    def _uses(self, load: ast.Call) -> list[ast.expr]:
        """A load, and the uses of the name that it has."""
        uses: list[ast.expr] = [load]
        match self._semantics.tree.parent(load):
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                uses += binding.uses if binding is not None else ()
        return uses

    def _is_of_state(self, use: ast.expr) -> bool:
        for outer in (use, *self._semantics.tree.ancestors(use)):
            match outer:
                case ast.Subscript(slice=ast.Constant(value=str(key))) | ast.Call(args=[ast.Constant(value=str(key)), *_]):
                    if _STATES.search(key):
                        return True
                case ast.Call(func=function) if last_name(function) == "load_state_dict":
                    return True
                case ast.stmt():
                    return False
        return False

    @cached_property
    def _saves_generators(self) -> bool:
        calls = (call for name in _GENERATORS for call in self._semantics.facts.calls.get(name, ()))
        names = {self._semantics.qualified_name(call.func) for call in calls}
        return bool(self._saves) and not names.isdisjoint({"numpy.random.get_state", "random.getstate"})

    def _is_of_data(self, path: ast.expr) -> bool:
        texts = list(self._texts(path, _DEPTH))
        return any(map(_DATA.search, texts)) and not any(map(_MODEL.search, texts))

    def _texts(self, path: ast.expr, depth: int) -> Iterator[str]:
        """The texts that a path is made of, also where it has a name."""
        for part in ast.walk(path):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value
            elif isinstance(part, ast.Name) and depth:
                for binding in self._semantics.bindings.reaching(part):
                    if binding.form is Form.ASSIGNMENT and binding.value is not None and not binding.path:
                        yield from self._texts(binding.value, depth - 1)
