"""Where a value comes from: the expressions of the file that it, or a part of it, may be made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS

_FILLING_METHODS = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
_CUTTING_METHODS = frozenset({"state_dict", "keys", "parameters", "named_parameters", "format", "join"})
_CUTTING_FUNCTIONS = frozenset({"builtins.len", "builtins.str", "builtins.print", "builtins.isinstance", "builtins.open"})


class Origins:
    """Follows values backwards: through names, attributes of ``self``, arguments, returned values, and what containers hold."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._values: dict[Binding, list[ast.expr]] = {}

    def of(self, *expressions: ast.expr) -> set[ast.expr]:
        """The expressions that the given ones are, or may hold, the values of; they themselves are among them."""
        found: set[ast.expr] = set()
        seen: set[Binding] = set()
        pending: list[ast.expr] = list(expressions)
        while pending:
            node = pending.pop()
            if node in found:
                continue
            found.add(node)
            pending.extend(self._parts(node))
            if isinstance(node, ast.Name):
                bindings = [*self._semantics.bindings.reaching(node)]
                while bindings:
                    binding = bindings.pop()
                    if binding not in seen:
                        seen.add(binding)
                        bindings.extend(binding.before)
                        pending.extend(self._bound(binding))
        return found

    def _parts(self, node: ast.expr) -> Iterator[ast.expr]:
        """The expressions that a value is directly made of."""
        match node:
            case ast.Call():
                yield from self._called(node)
            case ast.Attribute(value=value):
                owner = self._semantics.facts.self_class(value)
                if owner is None:
                    yield value
                else:
                    yield from self._stored(owner, node.attr)
            case ast.Subscript(value=value) | ast.Starred(value=value) | ast.NamedExpr(value=value) | ast.Await(value=value):
                yield value
            case ast.IfExp(body=body, orelse=orelse):
                yield from (body, orelse)
            case ast.DictComp(value=value):
                yield value
            case ast.Dict(values=values) | ast.BoolOp(values=values):
                yield from values
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                yield from parts
            case ast.BinOp(left=left, right=right):
                yield from (left, right)
            case ast.UnaryOp(operand=operand):
                yield operand
            case ast.Compare(left=left, comparators=others):
                yield from (left, *others)
            case _ if isinstance(node, COMPREHENSIONS) and not isinstance(node, ast.DictComp):
                yield node.elt

    def _called(self, call: ast.Call) -> Iterator[ast.expr]:
        """What a call's result is made of: what the file's function returns, or the arguments of one that it does not show."""
        semantics = self._semantics
        function = semantics.facts.definition(call.func)
        if isinstance(call.func, ast.Attribute):
            if call.func.attr in _CUTTING_METHODS:
                return
            owner = semantics.facts.self_class(call.func.value)
            function = semantics.facts.method(owner, call.func.attr) if owner is not None else None
            if owner is None:
                yield call.func.value
        if isinstance(function, FUNCTIONS):
            yield from (value for value in semantics.facts.returned(function) if value is not None)
        elif semantics.qualified_name(call.func) not in _CUTTING_FUNCTIONS:
            yield from call.args
            yield from (word.value for word in call.keywords)

    def _bound(self, binding: Binding) -> list[ast.expr]:
        """What a binding may give its name the value of, or puts into that."""
        if binding not in self._values:
            self._values[binding] = [*self._given(binding), *(part for use in binding.uses for part in self._filled(use))]
        return self._values[binding]

    def _given(self, binding: Binding) -> Iterator[ast.expr]:
        if binding.form is Form.PARAMETER:
            yield from (value for value in self._semantics.inference.given(binding) if value is not None)
        elif binding.value is not None and binding.form is not Form.CONTEXT:
            yield binding.value

    def _stored(self, owner: ast.ClassDef, name: str) -> Iterator[ast.expr]:
        """What the methods of a class store in an attribute."""
        for slot in self._semantics.facts.slots(owner, name):
            for store in slot.stores:
                statement = self._semantics.tree.statement(store)
                if isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
                    yield statement.value
            for use in slot.uses:
                yield from self._filled(use)

    def _filled(self, use: ast.expr) -> Iterator[ast.expr]:
        """What is put into a container where it is used: ``use[k] = x``, ``use.update(x)``."""
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Attribute(attr=method, value=value) if value is use and method in _FILLING_METHODS:
                call = self._semantics.tree.parent(parent)
                if isinstance(call, ast.Call) and call.func is parent:
                    yield from call.args
            case ast.Subscript(value=value) if value is use:
                statement = self._semantics.tree.parent(parent)
                if isinstance(statement, ast.Assign) and parent in statement.targets:
                    yield statement.value
