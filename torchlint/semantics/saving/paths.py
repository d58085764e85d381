"""How the paths of files are made: of what text and what values, however the two are put together."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, last_name

_DEEPEST = 4
"""How many names are followed one behind the other."""
_FIELD = re.compile(r"%[-+ #]{0,4}[\d.*]{0,20}[a-zA-Z]|\{[^{}]*\}")
"""What stands in a text for a value: of `%`, or of `format`."""
_SAME = frozenset({"str", "Path", "abspath", "expanduser", "realpath", "normpath", "fspath", "as_posix"})
"""What gives a path for a path."""


class Paths:
    """Writes paths of files out, so that those that are made of the same are spelt the same."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def spelled(self, path: ast.expr) -> str:
        """A path as one text, with values in braces: `{args.out}/best.pt` of a sum, a format, a join, or a name for it."""
        return re.sub(r"(?<!:)/{2,}", "/", self._spelled(path, _DEEPEST))

    def value(self, name: ast.Name) -> ast.expr | None:
        """What a local name was given, where that is certain."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or bindings[0].path or not isinstance(bindings[0].scope.node, FUNCTIONS):
            return None
        return bindings[0].value if bindings[0].form is Form.ASSIGNMENT else None

    def _spelled(self, path: ast.expr, depth: int) -> str:
        match path:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name() if depth and (opened := self._opened(path)) is not None:
                return self._spelled(opened, depth - 1)
            case ast.Name() | ast.Attribute():
                value = (self.value(path) if isinstance(path, ast.Name) else self._stored_above(path)) if depth else None
                return _in_braces(path) if value is None else self._spelled(value, depth - 1)
            case ast.JoinedStr(values=parts):
                return "".join(self._spelled(part, depth) for part in parts)
            case ast.FormattedValue(value=value):
                return self._spelled(value, depth)
            case ast.BinOp(left=left, op=ast.Add() | ast.Div() as operator, right=right):
                between = "/" if isinstance(operator, ast.Div) else ""
                return f"{self._spelled(left, depth)}{between}{self._spelled(right, depth)}"
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod(), right=given):
                return self._filled(text, given.elts if isinstance(given, ast.Tuple) else [given], depth)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=given, keywords=[]):
                return self._filled(text, given, depth)
            case ast.Call(func=function, args=[_, *_] as given, keywords=[]):
                return self._called(function, given, depth)
        return _in_braces(path)

    def _opened(self, file: ast.Name) -> ast.expr | None:
        """The path of an open file: ``with open(path, "rb") as file``."""
        bindings = self._semantics.bindings.reaching(file)
        if len(bindings) != 1 or bindings[0].form is not Form.CONTEXT or bindings[0].path:
            return None
        match bindings[0].value:
            case ast.Call(func=ast.Name(id="open") as function, args=[path, *_]):
                return path if self._semantics.qualified_name(function) == "builtins.open" else None
        return None

    def _called(self, function: ast.expr, given: list[ast.expr], depth: int) -> str:
        name = last_name(function)
        parts = "/".join(self._spelled(each, depth) for each in given)
        if name in _SAME or (name == "join" and isinstance(function, ast.Attribute) and last_name(function.value) != ""):
            return parts
        if name == "joinpath" and isinstance(function, ast.Attribute):
            return f"{self._spelled(function.value, depth)}/{parts}"
        return f"{_in_braces(function)}/{parts}"

    def _filled(self, text: str, given: list[ast.expr], depth: int) -> str:
        """A text with what it is given in the places for it, if there are as many, and in their order."""
        fields = _FIELD.findall(text)
        if len(fields) != len(given) or any(field[1:-1].isalnum() and field[0] == "{" for field in fields):
            return _FIELD.sub("{*}", text)
        values = iter([self._spelled(each, depth) for each in given])
        return _FIELD.sub(lambda _: next(values), text)

    def _stored_above(self, path: ast.Attribute) -> ast.expr | None:
        """What the last statement above, in the block of its own, stores in an attribute: `args.path = …`."""
        statement, found = self._semantics.tree.statement(path), None
        spelt = ast.unparse(path)
        for other in self._semantics.tree.block(statement):
            if other is statement:
                break
            if isinstance(other, ast.Assign) and any(ast.unparse(target) == spelt for target in other.targets):
                found = other.value
        return found


def _in_braces(value: ast.expr) -> str:
    return "{" + ast.unparse(value).replace("{", "(").replace("}", ")") + "}"
