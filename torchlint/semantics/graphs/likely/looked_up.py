"""Values that something is looked up by, of an embedding or at places: integers, which have no graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import last_name

_EMBEDDINGS = frozenset({"torch.nn.Embedding", "torch.nn.EmbeddingBag"})
_FUNCTIONS = frozenset({"torch.nn.functional.embedding", "torch.nn.functional.embedding_bag", "torch.nn.functional.one_hot"})
"""Functions whose first argument is of integers."""
_SAME = frozenset({"cpu", "cuda", "to", "clone", "contiguous", "view", "reshape", "squeeze", "unsqueeze", "t"})
"""Methods whose results are of integers only where their tensor is; `long` makes some of everything."""
_DEPTH = 5


class LookedUp:
    """Tells of names whether their values go into embeddings, as they are or in part."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are(self, name: ast.expr) -> bool:
        """Whether all that a name may be bound to is looked up in an embedding somewhere."""
        bindings = self._semantics.bindings.reaching(name) if isinstance(name, ast.Name) else ()
        return bool(bindings) and self._bindings.issuperset(bindings)

    @cached_property
    def _bindings(self) -> frozenset[Binding]:
        """What the arguments of embeddings are bound by, and what these were taken from."""
        found: set[Binding] = set()
        for argument in self._arguments():
            self._trace(argument, found, _DEPTH)
        return frozenset(found)

    def _arguments(self) -> Iterator[ast.expr]:
        for name in self._names:
            for call in self._semantics.facts.calls.get(name, ()):
                if call.args and not isinstance(call.args[0], ast.Starred):
                    yield call.args[0]
        for function in _FUNCTIONS:
            for call in self._semantics.facts.calls.get(function.rpartition(".")[2], ()):
                if call.args and self._semantics.qualified_name(call.func) == function:
                    yield call.args[0]

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names, of attributes and variables, that nothing but embeddings is bound to."""
        if not any(name.rpartition(".")[2] in self._semantics.facts.calls for name in _EMBEDDINGS):
            return frozenset()
        made: set[str] = set()
        others: set[str] = set()
        for statement in self._tree.of_type(ast.Assign):
            names = made if self._is_embedding(statement.value) else others
            names.update(last_name(target) for target in statement.targets)
        return frozenset(made - others - {""})

    def _is_embedding(self, value: ast.expr) -> bool:
        """Whether a value is an embedding, or a sequence of layers that starts with one."""
        match value:
            case ast.Call(func=function, args=[first, *_]) if self._semantics.qualified_name(function) == "torch.nn.Sequential":
                return self._is_embedding(first)
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) in _EMBEDDINGS
            case ast.Attribute():
                return last_name(value) in self._plain
        return False

    @cached_property
    def _plain(self) -> frozenset[str]:
        """The attributes that an embedding is assigned to as it is."""
        calls = (call for name in _EMBEDDINGS for call in self._semantics.facts.calls.get(name.rpartition(".")[2], ()))
        parents = (self._tree.parent(call) for call in calls if self._semantics.qualified_name(call.func) in _EMBEDDINGS)
        assigned = (parent for parent in parents if isinstance(parent, ast.Assign))
        return frozenset(last_name(target) for parent in assigned for target in parent.targets)

    def _trace(self, value: ast.expr, found: set[Binding], depth: int) -> None:
        """Follows a value of integers back to the names that it was taken from."""
        value = self._before_moves(value)
        if not isinstance(value, ast.Name) or not depth:
            return
        for binding in self._semantics.bindings.reaching(value):
            if binding in found:
                continue
            found.add(binding)
            if binding.form is Form.ASSIGNMENT and binding.value is not None and not binding.path:
                self._trace(binding.value, found, depth - 1)

    def _before_moves(self, value: ast.expr) -> ast.expr:
        while True:
            match value:
                case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME:
                    value = inner
                case ast.Call(func=function, args=[inner, *_]) if (
                    self._semantics.qualified_name(function) == "torch.autograd.Variable"
                ):
                    value = inner
                case ast.Attribute(value=inner, attr="data"):
                    value = inner
                case ast.Subscript(value=inner, slice=index) if _is_of_tensor(index):
                    value = inner
                case _:
                    return value


def _is_of_tensor(index: ast.expr) -> bool:
    """Whether an index is one that only tensors and arrays take: ``x[:, i]``. What is in one place of a list says nothing."""
    return isinstance(index, ast.Tuple) and any(isinstance(part, ast.Slice) for part in index.elts)
