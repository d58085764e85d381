"""How the code around a place spells an API, and the imports that takes."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact
from torchlint.fixes.names.imports import TextEdit
from torchlint.fixes.rewriting import Rewriter
from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.bindings import Scope
from torchlint.semantics.code.names import canonical

_USUAL = {"numpy": "np"}
"""Modules that everybody imports by another name."""


class Spelling:
    """Spells APIs in one file."""

    def __init__(self, semantics: Semantics, rewriter: Rewriter) -> None:
        self._semantics = semantics
        self._bindings = semantics.bindings
        self._rewriter = rewriter
        self._known: dict[tuple[str, Scope], tuple[str, list[TextEdit]]] = {}
        self._imported_in: dict[Scope, list[tuple[str, list[Binding]]]] = {}

    def of(self, name: str, node: ast.AST) -> tuple[str, list[TextEdit]]:
        """How ``node``'s scope spells an API such as ``torch.nn.ModuleList``, with the edits that import what that takes."""
        key = (name, self._bindings.scope_of(node))
        if key not in self._known:
            self._known[key] = self._of(name, node)
        return self._known[key]

    def is_plain(self, name: str, node: ast.AST) -> Fact:
        """Whether an API means what it says where ``node`` stands, once it is imported, if it has to be."""
        spelled, imports = self.of(name, node)
        is_new = bool(imports) and name.partition(".")[0] != "torch"
        return self._rewriter.imports.is_plain(spelled.partition(".")[0], node) if is_new else CERTAIN

    def _of(self, name: str, node: ast.AST) -> tuple[str, list[TextEdit]]:
        module, _, last = name.rpartition(".")
        found = self._imported(name, node)
        if found is not None:
            return found, []
        if module:
            found = self._imported(module, node) or self._taken_for_granted(module, node)
            if found is not None:
                return f"{found}.{last}", []
        package, _, rest = name.partition(".")
        if package == "torch":
            outer = self._of_outer_package(module, node)
            if outer is not None:
                return f"{outer}.{last}", []
            torch, imports = self._rewriter.torch_name(node)
            return f"{torch}.{rest}" if rest else torch, imports
        return self._with_import(module, last, node)

    def _of_outer_package(self, module: str, node: ast.AST) -> str | None:
        """A module of torch by a package that is imported: ``nn.init``."""
        outer, _, last = module.rpartition(".")
        if outer in ("", "torch"):
            return None
        found = self._imported(outer, node) or self._taken_for_granted(outer, node)
        return f"{found}.{last}" if found is not None else None

    def _imported(self, name: str, node: ast.AST) -> str | None:
        """The name by which ``name`` is imported where ``node`` stands."""
        scope = self._bindings.scope_of(node)
        for current in self._bindings.visible_from(scope):
            for candidate, found in self._imports_in(current):
                if self._imports(found, name) and self._bindings.lookup(candidate, scope) == tuple(found):
                    if not self._rewriter.is_imported_later(found, scope, node):
                        return candidate
        return None

    def _imports_in(self, scope: Scope) -> list[tuple[str, list[Binding]]]:
        """The names that are imported in a scope, with all their bindings there."""
        if scope not in self._imported_in:
            every = scope.bindings.items()
            imported = [each for each in every if any(binding.form is Form.IMPORT for binding in each[1])]
            self._imported_in[scope] = imported
        return self._imported_in[scope]

    def _imports(self, found: list[Binding], name: str) -> bool:
        imports = (binding for binding in found if binding.form is Form.IMPORT)
        return all(canonical(binding.imported) == name for binding in imports) and self._rewriter.is_imported(found)

    def _taken_for_granted(self, module: str, node: ast.AST) -> str | None:
        """The name that the file uses for a module without binding it, as snippets do."""
        scope = self._bindings.scope_of(node)
        return next((name for name in self._unbound.get(module, ()) if not self._bindings.lookup(name, scope)), None)

    @cached_property
    def _unbound(self) -> dict[str, dict[str, None]]:
        """The names that nothing binds where they stand, by what they are taken for."""
        found: dict[str, dict[str, None]] = {}
        for name in self._semantics.tree.of_type(ast.Name):
            if not self._bindings.reaching(name) and (module := self._semantics.qualified_name(name)) is not None:
                found.setdefault(module, {})[name.id] = None
        return found

    def _with_import(self, module: str, last: str, node: ast.AST) -> tuple[str, list[TextEdit]]:
        """An API of another library, which nothing imports where ``node`` stands."""
        scope = self._bindings.scope_of(node)
        name = _USUAL.get(module, module)
        if not self._bindings.lookup(name, scope):
            statement = f"import {module}" if name == module else f"import {module} as {name}"
            return f"{name}.{last}", [self._rewriter.imports.add(statement)]
        name = self._rewriter.free_name(last, scope, of=f"{module}.{last}")
        alias = "" if name == last else f" as {name}"
        return name, [self._rewriter.imports.add(f"from {module} import {last}{alias}")]
