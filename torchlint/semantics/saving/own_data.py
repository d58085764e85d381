"""Loads of a program's own data, which holds more than weights: data sets that were pickled, states of other generators."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.own_files import file_of

_DATA = re.compile(r"data_?set|(?<![a-z])(store|corpus|vocab|splits|samples|processed|annotations)(?![a-z])", re.IGNORECASE)
"""Words in the names of files of data, whoever has pickled it."""
_MODEL = re.compile(r"model|check_?point|ckpt|weights?\b|state_?dict|net\b|best|last|latest|epoch|\.pth|\.tar", re.IGNORECASE)
"""Words in the names of files of models."""
_WEIGHTS = re.compile(r"weight|pretrain", re.IGNORECASE)
_GENERATORS = frozenset({"getstate", "get_state"})
_DEPTH = 3


class OwnData:
    """Tells of loads whether what they read is the program's own data, that a load of weights alone would refuse."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._saves = semantics.of(SavedFiles).saves

    def is_read_by(self, load: ast.Call) -> bool:
        """Whether a load reads a file of data, by its name, or its file saves states of numpy's or Python's generators."""
        path = file_of(load, 0, "f")
        if path is None:
            return False
        is_checkpoint = self._saves_generators and _WEIGHTS.search(ast.unparse(path)) is None
        return is_checkpoint or self._is_of_data(path)

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
