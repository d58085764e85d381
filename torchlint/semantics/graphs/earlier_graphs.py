"""Graphs that get into things by another way than their first value: items, arguments of constructors, data sets."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import given_to, last_name
from torchlint.semantics.kinds.kind import UNKNOWN, Grad, Kind, Type

_PUTTING = frozenset({"append", "extend", "insert", "update", "add", "put", "setdefault", "appendleft"}) | (
    torch_api.INPLACE_METHODS - {"requires_grad_", "detach_"}
)
_CONTAINERS = frozenset({Type.SEQUENCE, Type.MAPPING})
_SETTINGS = frozenset({Type.NUMBER, Type.STRING, Type.NONE, Type.CLASS, Type.ARRAY, Type.LOADER})
_JOINING = frozenset(
    {"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "block_diag"}
    | {"pad_sequence", "pack_sequence", "einsum", "multi_dot", "meshgrid", "cartesian_prod"}
)
"""Functions that are given lists of tensors."""
_MOST_VALUES = 100
"""So many values are looked through for what another one is made of."""
_DEEPEST = 4
"""So many names and calls away from a loader its data set is looked for."""


class EarlierGraphs:
    """Tells of what was made before a round of a loop whether something with a graph got into it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._inference = semantics.inference

    def may_be_filled(self, value: ast.expr) -> bool:
        """Whether the file puts something that may have a graph into what is called so: ``hidden[0] = cell(x)``."""
        filled = _root(value)
        return isinstance(filled, (ast.Name, ast.Attribute)) and last_name(filled) in self._filled

    def may_join(self, value: ast.expr) -> bool:
        """Whether a value is computed of a list of tensors, of which it is not known what they are: ``torch.stack(losses)``."""
        pending, seen = [value], {value}
        while pending and len(seen) < _MOST_VALUES:
            for part in ast.walk(pending.pop()):
                if isinstance(part, ast.Call) and last_name(part.func) in _JOINING and any(map(self._is_open, given_to(part))):
                    return True
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                    values = [each.value for each in self._semantics.bindings.reaching(part) if each.value is not None]
                    pending += [each for each in values if each not in seen]
                    seen.update(values)
        return bool(pending)

    def _is_open(self, items: ast.expr) -> bool:
        """Whether a list may hold other tensors than it is known to: it came from a call, or is filled somewhere."""
        kind = self._inference.kind(items)
        if kind.type is not Type.SEQUENCE:
            return not kind.known
        if isinstance(items, (ast.List, ast.Tuple)):
            return False
        return kind.items is not None or not (kind.element or UNKNOWN).known

    def may_be_given(self, module: Kind) -> bool:
        """Whether the file makes a module with something that may have a graph, and be kept: ``Head(encoder(features))``."""
        name = module.name.rpartition(".")[2]
        if module.name.startswith("torch.") or not name:
            return False
        calls = self._semantics.facts.calls.get(name, ())
        return any(self._may_carry(part) for call in calls for part in given_to(call))

    def loads_graphs(self, loader: ast.expr) -> bool:
        """Whether what a loader gives is known to be parts of something computed: ``TensorDataset(encoder(x), y)``."""
        pending, seen = [(loader, 0)], {loader}
        while pending:
            node, depth = pending.pop()
            parts: list[ast.expr] = []
            if isinstance(node, ast.Name):
                values = (binding.value for binding in self._semantics.bindings.reaching(node))
                parts = [value for value in values if isinstance(value, ast.Call)]
            elif isinstance(node, ast.Call):
                parts = given_to(node)
                if any(self._inference.kind(part).grad is Grad.GRAPH for part in parts):
                    return True
            if depth < _DEEPEST:
                pending += [(part, depth + 1) for part in parts if part not in seen]
                seen.update(parts)
        return False

    def _may_carry(self, given: ast.expr) -> bool:
        kind = self._inference.kind(given)
        if kind.is_tensor:
            return kind.grad in (Grad.GRAPH, Grad.UNKNOWN)
        if kind.type in _CONTAINERS:
            return any(part.is_tensor and part.grad is not Grad.NONE for part in kind.parts)
        if kind.known:
            return False
        if isinstance(given, ast.Name):
            bindings = self._semantics.bindings.reaching(given)
            return any(each.form is Form.ASSIGNMENT and isinstance(each.value, ast.Call) for each in bindings)
        return isinstance(given, ast.Call)

    @cached_property
    def _filled(self) -> frozenset[str]:
        """The names of variables and attributes that something which may have a graph is put into."""
        return frozenset(last_name(each) for each in self._fillings() if isinstance(each, (ast.Name, ast.Attribute)))

    def _fillings(self) -> Iterator[ast.expr]:
        tree = self._semantics.tree
        for node in (node for node in tree.of_type(ast.Subscript) if isinstance(node.ctx, ast.Store)):
            statement = tree.statement(node)
            value = getattr(statement, "value", None)
            is_plain = tree.parent(node) is statement and isinstance(value, ast.expr) and self._is_plain(value)
            if not is_plain and not self._semantics.no_grad.covers(node):
                yield _root(node)
        for call in tree.of_type(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _PUTTING and last_name(call.func.value) != "data":
                plain = all(map(self._is_plain, given_to(call))) or self._semantics.no_grad.covers(call)
                if not plain:
                    yield _root(call.func.value)

    def _is_plain(self, value: ast.expr) -> bool:
        kind = self._inference.kind(value)
        return kind.type in _SETTINGS or (kind.is_tensor and kind.grad is Grad.NONE)


def _root(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node
