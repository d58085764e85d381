"""Where a file's new imports go, and whether they mean there what they say."""

from __future__ import annotations

import ast
import sys
from functools import cached_property
from typing import TypeAlias

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.text.layout import indentation
from torchlint.text.source import Source

TextEdit: TypeAlias = tuple[int, int, str]


class NewImports:
    """Adds imports to one file."""

    def __init__(self, source: Source, semantics: Semantics) -> None:
        self._source = source
        self._semantics = semantics

    def is_plain(self, name: str, place: ast.AST) -> Fact:
        """Whether a new import of a module, as ``name``, means that module at ``place``, and hides nothing of the file's own.

        An import of everything may give the name another meaning: `from shutil import *` has a function `copy`, and so has
        numpy; what torch's modules have by the names of other modules are those (ran).
        """
        if self._last_star is None:
            return CERTAIN
        doubt = f"`import *` may give `{name}` another meaning"
        if self._semantics.tree.statement(place).lineno < self._last_star.lineno:
            return unknown(doubt)
        uses = (node for node in self._semantics.tree.of_type(ast.Name) if isinstance(node, ast.Name) and node.id == name)
        is_used = any(isinstance(use.ctx, ast.Load) and not self._semantics.bindings.reaching(use) for use in uses)
        return unknown(doubt) if is_used else CERTAIN

    @cached_property
    def _last_star(self) -> ast.stmt | None:
        """The last statement at the top of the file that imports everything of another module than those of torch."""
        found: ast.stmt | None = None
        for statement in self._source.tree.body:
            if any(_imports_everything(node) for node in ast.walk(statement)):
                found = statement
        return found

    def add(self, statement: str) -> TextEdit:
        """Adds an import where the file's other imports of its kind are; one that may fail, among those that may.

        One of another module than torch goes below the imports of everything, which may bind its name.
        """
        body = self._source.tree.body
        imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
        plain = [node for node in imports if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
        torch = [node for node in plain if _imports_torch(node)]
        module = statement.split()[1].partition(".")[0]
        if module != "torch" and self._last_star is not None:
            return self._line_behind(self._last_star, statement)
        if plain and module in sys.stdlib_module_names:
            return self._add_standard_import(statement, module, plain)
        tried = [node for block in body if isinstance(block, ast.Try) for node in block.body if _imports_torch(node)]
        if tried and module == "torch" and not torch:
            return self._line_before(tried[0], statement)
        if torch or plain:
            return self._line_before((torch or plain)[0], statement)
        if imports:
            return self._line_behind(imports[-1], statement)
        if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            return self._line_behind(body[0], statement)
        free = [node for node in body if self._source.may_precede(node.lineno)]
        return self._line_before((free or body)[0], statement) if body else (0, 0, statement + self._source.newline)

    def _add_standard_import(self, statement: str, module: str, plain: list[ast.Import | ast.ImportFrom]) -> TextEdit:
        """Adds an import of the standard library among the others of it, or in a group of its own in front."""
        standard = [node for node in plain if isinstance(node, ast.Import) and _module_of(node) in sys.stdlib_module_names]
        before = [node for node in standard if _module_of(node) < module]
        if before:
            return self._line_behind(before[-1], statement)
        leads = plain[0] in standard or _module_of(plain[0]) in sys.stdlib_module_names
        return self._line_before(plain[0], statement, newlines=1 if leads else 2)

    def _line_before(self, node: ast.stmt, statement: str, newlines: int = 1) -> TextEdit:
        """Puts a statement on a line in front of that of ``node``, or right in front of it where other code shares its line."""
        decorators = getattr(node, "decorator_list", None)
        start = self._source.text.rindex("@", 0, self._source.start(decorators[0])) if decorators else self._source.start(node)
        row = self._source.location(start).row
        line = self._source.line_start(row)
        if self._source.text[line:start].strip(" \t\f\ufeff") or (row > 1 and self._source.line(row - 1).endswith("\\")):
            return (start, start, f"{statement}; ")
        return (line, line, indentation(self._source, node.lineno) + statement + self._source.newline * newlines)

    def _line_behind(self, node: ast.stmt, statement: str) -> TextEdit:
        """Puts a statement on the line below ``node``, or right behind it where other code shares its line."""
        end = self._source.end(node)
        row = self._source.location(end).row
        rest = self._source.text[end : self._source.line_span(row)[1]].strip()
        if (rest and not rest.startswith("#")) or row == self._source.line_count:
            return (end, end, f"; {statement}")
        place = self._source.line_start(row + 1)
        return (place, place, statement + self._source.newline)


def _imports_torch(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom)) and _module_of(node) == "torch"


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    """The package that an import is from; empty for a relative one."""
    if isinstance(node, ast.ImportFrom):
        return "" if node.level else (node.module or "").partition(".")[0]
    return node.names[0].name.partition(".")[0]


def _imports_everything(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*" and _module_of(node) != "torch"
