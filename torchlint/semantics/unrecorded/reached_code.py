"""Which code of a file may run where some of it does: functions and methods by their names, and what runs by itself."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, Function

_GIVEN_AT_ONCE = frozenset({"apply"})
"""Methods that call the function that they are given, and do not keep it."""
_MADE = frozenset({"__init__", "__new__", "__post_init__", "__init_subclass__", "__set_name__", "__del__"})


class ReachedCode:
    """Follows code to all the functions of the file that it may run; what has the name of a method may be it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def from_(self, start: list[ast.AST]) -> list[ast.AST]:
        """The functions and lambdas that may run while the code ``start`` runs, in the order in which they are found."""
        found: dict[ast.AST, None] = {}
        pending: list[ast.AST] = [*start, *self._any_time]
        while pending:
            code = pending.pop()
            if code in found:
                continue
            found[code] = None
            for part in ast.walk(code):
                pending += [each for each in self._mentioned(part) if each not in found]
        for code in start:
            del found[code]
        return list(found)

    def _mentioned(self, part: ast.AST) -> list[ast.AST]:
        """The functions that a name or an attribute may stand for."""
        match part:
            case ast.Attribute(attr=name):
                return list(self._methods.get(name, ()))
            case ast.Name(ctx=ast.Load()):
                found: list[ast.AST] = []
                for binding in self._semantics.bindings.reaching(part):
                    if binding.form is Form.FUNCTION:
                        found.append(binding.node)
                    elif binding.form is Form.CLASS:
                        found += [each for name in _MADE for each in self._methods.get(name, ())]
                return found
        return []

    @cached_property
    def _methods(self) -> dict[str, list[Function]]:
        found: dict[str, list[Function]] = {}
        for facts in self._semantics.facts.classes.values():
            for name, method in facts.methods.items():
                found.setdefault(name, []).append(method)
        return found

    @cached_property
    def _any_time(self) -> list[ast.AST]:
        """What may run without being called by its name: what models and operators run, and what is kept somewhere."""
        found: list[ast.AST] = list(self._tree.of_type(ast.Lambda))
        for name, methods in self._methods.items():
            if name == "forward" or (name.startswith("__") and name.endswith("__") and name not in _MADE):
                found += methods
        functions: list[Function] = [*self._tree.of_type(ast.FunctionDef), *self._tree.of_type(ast.AsyncFunctionDef)]
        for function in functions:
            is_decorated = bool(function.decorator_list)
            suspends = any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(function))
            if is_decorated or suspends:
                found.append(function)
        named: list[ast.Name | ast.Attribute] = [*self._tree.of_type(ast.Name), *self._tree.of_type(ast.Attribute)]
        for node in named:
            if isinstance(node.ctx, ast.Load) and not self._runs_at_once(node):
                found += [each for each in self._mentioned(node) if isinstance(each, FUNCTIONS) and not self._is_class(node)]
        return found

    def _runs_at_once(self, node: ast.expr) -> bool:
        """Whether a function is called where it is named, so that it runs then."""
        match self._tree.parent(node):
            case ast.Call(func=called) if called is node:
                return True
            case ast.Call(func=ast.Attribute(attr=method)) if method in _GIVEN_AT_ONCE:
                return True
        return isinstance(node, ast.Attribute) and self._is_property(node.attr)

    def _is_property(self, name: str) -> bool:
        return all(method.decorator_list for method in self._methods.get(name, ()))

    def _is_class(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and any(each.form is Form.CLASS for each in self._semantics.bindings.reaching(node))
