"""What names mean within one function of a file that is summed up: its own variables and imports, or the file's names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeVar

from torchlint.semantics.code.tree import Function, chosen_from, dotted, walk_body
from torchlint.semantics.summaries.summary import ANY, IMPORTED

_BINDING = frozenset(
    {
        ast.Assign,
        ast.AnnAssign,
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.ExceptHandler,
    }
)

Value = TypeVar("Value", bound=ast.expr | None)
_LOADING = frozenset({"torch.load", f"{IMPORTED}torch.load"})


class LocalNames:
    """The names that a function binds, or none for the top level of a file."""

    def __init__(
        self, function: Function | None = None, outer: LocalNames | None = None, parts: Iterable[ast.AST] | None = None
    ) -> None:
        self._outer = outer
        self.parameters: tuple[ast.arg, ...] = ()
        self.values: dict[str, list[ast.expr | None]] = {}
        """What each variable is assigned, as it is written; `None` for what it gets otherwise."""
        self._imports: dict[str, str] = {}
        if function is not None:
            given = function.args
            every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
            self.parameters = tuple(each for each in every if each is not None)
            for parameter in self.parameters:
                self.values[parameter.arg] = [None]
            self._read(walk_body(function.body) if parts is None else parts)

    def given(self, name: str) -> list[ast.expr | None]:
        """What a variable is assigned; where that is made here or loaded, ``net = checkpoint["net"]``, what is made."""
        return self.fresh(self.values[name])

    def fresh(self, values: list[Value]) -> list[Value]:
        """The values of several that are not loaded; all where there are no others."""
        return [each for each in values if each is None or not self._is_loaded(each)] or values

    def _is_loaded(self, value: ast.expr) -> bool:
        """Whether a value is what ``torch.load`` gives, or an entry of that."""
        match value:
            case ast.Call(func=function):
                return self.reference(function) in _LOADING
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str())):
                scope: LocalNames | None = self
                while scope is not None and name not in scope.values:
                    scope = scope._outer
                whole = scope.values[name] if scope is not None else []
                return any(isinstance(each, ast.Call) and self.reference(each.func) in _LOADING for each in whole)
        return False

    def reference(self, node: ast.AST) -> str:
        """The reference that a name, or a chain of attributes on one, is; empty for what starts from a variable."""
        text = dotted(node)
        if text is None:
            return ""
        root, _, rest = text.partition(".")
        scope: LocalNames | None = self
        while scope is not None:
            if root in scope.values:
                return ""
            if root in scope._imports:
                return ".".join(filter(None, (IMPORTED + scope._imports[root], rest)))
            scope = scope._outer
        return text

    def called(self, function: ast.expr) -> str:
        """The reference of what is called: of what is chosen from a module or a dict, that of any of it."""
        source = chosen_from(function)
        if source is None:
            return self.reference(function)
        reference = self.reference(source)
        return f"{reference}.{ANY}" if reference else ""

    def take_imports(self, imported: Mapping[str, str]) -> None:
        """Has names stand for what is imported, by their full names."""
        self._imports.update(imported)

    def _read(self, nodes: Iterable[ast.AST]) -> None:
        plain = set[ast.AST]()
        """The names that are assigned something by themselves."""
        stored: list[ast.Name] = []
        for node in nodes:
            if type(node) is ast.Name:
                if type(node.ctx) is not ast.Load:
                    stored.append(node)
                continue
            if type(node) not in _BINDING:
                continue
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        if isinstance(target, ast.Name):
                            plain.add(target)
                            self._bind(target.id, value)
                case ast.AnnAssign(target=ast.Name(id=name) as target, value=value) if value is not None:
                    plain.add(target)
                    self._bind(name, value)
                case ast.Import() | ast.ImportFrom():
                    self._imports.update(imported_names(node))
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    self._bind(name, None)
                case ast.ExceptHandler(name=str(name)):
                    self._bind(name, None)
        for each in stored:
            if each not in plain:
                self._bind(each.id, None)

    def _bind(self, name: str, value: ast.expr | None) -> None:
        self.values.setdefault(name, []).append(value)


def imported_names(node: ast.Import | ast.ImportFrom) -> Iterable[tuple[str, str]]:
    """The names that an import binds, each with the full name of what it is: relative ones keep their dots."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            if alias.name != "*":
                prefix = "." * node.level + (f"{node.module}." if node.module else "")
                yield alias.asname or alias.name, prefix + alias.name
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            top = alias.name.partition(".")[0]
            yield top, top
