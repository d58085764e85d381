"""What functions hand out with the autograd graph that it carries: results, attributes, what lists they are given get."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics import Form, Semantics, torch_api
from torchlint.semantics.autograd.paths import connected
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import Function, last_name, walk_body
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.memory.references import References

_WITHOUT_GRAPH = frozenset(
    {"eq", "ne", "gt", "lt", "ge", "le", "argsort", "argmin", "long", "int", "bool", "topk", "multinomial"}
)
"""Methods and functions whose results are indices, truth values or whole numbers."""
_PLAIN = frozenset({Type.ARRAY, Type.NUMBER, Type.STRING, Type.NONE})
"""What never has a graph."""


class HandedOut:
    """Tells of the functions of a file what graphs they hand out."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._calls: dict[Function, frozenset[ast.Call]] = {}

    def calls(self, function: Function) -> frozenset[ast.Call]:
        """The calls in a function whose results, with the graph behind them, are in what it returns or keeps for others."""
        if function not in self._calls:
            self._calls[function] = frozenset(self._carried(self._kept(function)))
        return self._calls[function]

    def _kept(self, function: Function) -> list[ast.expr]:
        """What a function returns, or keeps in an attribute or in a list that it is given."""
        kept: list[ast.expr] = []
        for part in walk_body(function.body):
            match part:
                case ast.Return(value=ast.expr() as value):
                    kept.append(value)
                case ast.Assign(targets=targets, value=value) if any(isinstance(target, ast.Attribute) for target in targets):
                    kept.append(value)
                case ast.AugAssign(target=ast.Attribute(value=owner), value=value) if self._is_of_caller(owner):
                    kept.append(value)
                case ast.Call(func=ast.Attribute(attr="append" | "extend", value=container), args=values):
                    kept += [] if self._is_local(container, function) else values
        return kept

    def _is_of_caller(self, owner: ast.expr) -> bool:
        """Whether an object is one that a function is given by its callers, and not the one whose method it is."""
        found = self._semantics.of(References).of(owner)
        return found is not None and found.is_given and self._semantics.facts.self_class(owner) is None

    def _is_local(self, container: ast.expr, function: Function) -> bool:
        """Whether a list is made in a function, and not given to it."""
        found = self._semantics.of(References).of(container)
        return found is not None and found.root is function and not found.is_given

    def _carried(self, roots: list[ast.expr]) -> Iterator[ast.Call]:
        """The calls whose results the values of ``roots`` still hang on, through variables and lists."""
        pending = list(roots)
        seen: set[Binding] = set()
        while pending:
            for part in connected(pending.pop(), self._semantics.names):
                if isinstance(part, ast.Call) and self._may_have_graph(part):
                    yield part
                elif isinstance(part, ast.Name):
                    for binding in self._semantics.bindings.reaching(part):
                        if binding not in seen and binding.form not in (Form.LOOP, Form.PARAMETER, Form.CONTEXT):
                            pending.extend(self._origins(binding, seen))

    def _may_have_graph(self, call: ast.Call) -> bool:
        """Whether a call gives no indices, truth values, arrays or numbers."""
        return last_name(call.func) not in _WITHOUT_GRAPH and self._semantics.kind(call).type not in _PLAIN

    def _origins(self, binding: Binding, seen: set[Binding]) -> Iterator[ast.expr]:
        """What a variable got in a binding, before that, and since; the bindings are added to those ``seen``."""
        seen.add(binding)
        if binding.value is not None and not _gives_indices(binding.value, binding.path):
            yield _unpacked(binding.value, binding.path)
        for before in binding.before:
            if before.value is not None and before not in seen:
                seen.add(before)
                yield before.value
        yield from self._appended(binding.uses)

    def _appended(self, uses: Iterable[ast.Name]) -> Iterator[ast.expr]:
        """What is put into a container where it is used."""
        for use in uses:
            match self._semantics.tree.parent(use):
                case ast.Attribute(attr="append" | "extend" | "update" | "add") as method:
                    call = self._semantics.tree.parent(method)
                    if isinstance(call, ast.Call) and call.func is method:
                        yield from call.args
                case ast.Subscript(value=value, ctx=ast.Store()) as item if value is use:
                    statement = self._semantics.tree.parent(item)
                    if isinstance(statement, (ast.Assign, ast.AugAssign)):
                        yield statement.value


def _gives_indices(value: ast.expr, path: tuple[int | None, ...]) -> bool:
    return path == (1,) and isinstance(value, ast.Call) and last_name(value.func) in torch_api.VALUES_AND_INDICES


def _unpacked(value: ast.expr, path: tuple[int | None, ...]) -> ast.expr:
    """The part of a written-out tuple that an unpacking takes; else the whole value."""
    for index in path:
        if index is None or not isinstance(value, ast.Tuple) or not -len(value.elts) <= index < len(value.elts):
            break
        value = value.elts[index]
    return value
