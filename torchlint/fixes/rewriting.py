"""Edits of statements and imports: wrapping, deleting and adding them, spelling torch's name.

An edit here is ``(start offset, end offset, new text)``.
"""

from __future__ import annotations

import ast
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property

from torchlint.fixes.names.imports import NewImports, TextEdit
from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.bindings import Scope
from torchlint.semantics.code.names import imported_by_call
from torchlint.text.layout import can_be_indented, indentation, stands_alone
from torchlint.text.source import Source

_SEMICOLON = re.compile(r"(?:[ \t\f]|\\(?:\r\n?|\n))*;(?:[ \t\f]|\\(?:\r\n?|\n))*")
"""What separates two statements that share a line."""
_ELSE = re.compile(r"\s*else\s*:\s*")


def combined(*groups: list[TextEdit]) -> list[TextEdit]:
    """The edits of all groups, but for the insertions at places that another edit takes away."""
    edits = [edit for group in groups for edit in group]
    spans = sorted(edit[:2] for edit in edits if edit[0] < edit[1])
    starts = [start for start, _ in spans]

    def is_taken_away(place: int) -> bool:
        index = bisect_left(starts, place)
        return index > 0 and place < spans[index - 1][1]

    return [edit for edit in edits if edit[0] < edit[1] or not is_taken_away(edit[0])]


class Rewriter:
    """Makes edits to one file."""

    def __init__(self, source: Source, semantics: Semantics) -> None:
        self._source = source
        self._semantics = semantics
        self.imports = NewImports(source, semantics)

    # --- statements --------------------------------------------------------------------------------------------------

    def stands_alone(self, statement: ast.stmt) -> bool:
        """Whether no other code is on the lines of ``statement``, so that it can be indented by itself."""
        return stands_alone(self._source, statement)

    def indentation(self, statement: ast.stmt) -> str:
        """The white space that ``statement``'s line starts with."""
        return indentation(self._source, statement.lineno)

    def indent_unit(self, statement: ast.stmt) -> str:
        """What one more level of indentation adds, in the style of the code around ``statement``."""
        own = self.indentation(statement)
        for row in self._opening_rows(statement):
            outer = indentation(self._source, row)
            if own.startswith(outer) and len(own) > len(outer):
                return own[len(outer) :]
        return self._usual_unit

    @cached_property
    def _usual_unit(self) -> str:
        """What the first block of the file is indented by."""
        for node in self._semantics.tree.nodes:
            body = getattr(node, "body", None)
            if isinstance(node, ast.stmt) and isinstance(body, list) and body[0].lineno > node.lineno:
                inner, outer = self.indentation(body[0]), self.indentation(node)
                if inner.startswith(outer) and len(inner) > len(outer):
                    return inner[len(outer) :]
        return "    "

    def _opening_rows(self, statement: ast.stmt) -> Iterator[int]:
        """The rows on which the blocks around ``statement`` are opened, innermost first."""
        for parent in self._semantics.tree.ancestors(statement):
            if isinstance(parent, ast.match_case):
                yield parent.pattern.lineno
            elif isinstance(parent, (ast.stmt, ast.ExceptHandler)):
                yield parent.lineno

    def indent(self, first: int, last: int, unit: str) -> list[TextEdit]:
        """Indents the lines from row ``first`` to row ``last`` by ``unit``, but for those that start inside a string."""
        inside: set[int] = set()
        if not self._rows_of_long_strings.isdisjoint(range(first, last + 1)):
            inside = self._rows_inside_strings
        rows = [row for row in range(first, last + 1) if row not in inside and self._source.line(row).strip()]
        return [(start, start, unit) for start in map(self._source.line_start, rows)]

    @cached_property
    def _rows_of_long_strings(self) -> set[int]:
        """The rows of strings that take several; which of them start inside one takes the tokens to tell."""
        rows: set[int] = set()
        for node in self._semantics.tree.of_type(ast.Constant, ast.JoinedStr):
            if node.end_lineno not in (node.lineno, None):
                rows.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        return rows

    @cached_property
    def _rows_inside_strings(self) -> set[int]:
        """The rows that start inside a string, f-strings included."""
        rows: set[int] = set()
        opened: list[int] = []
        for token in self._source.tokens:
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                rows.update(range(token.start[0] + 1, token.end[0] + 1))
            elif kind in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif kind in ("FSTRING_END", "TSTRING_END"):
                rows.update(range(opened.pop() + 1, token.end[0] + 1))
        return rows

    def wrap(
        self, statements: list[ast.stmt], context: str, imports: list[TextEdit], before: str = ""
    ) -> list[TextEdit] | None:
        """Puts neighbouring statements into ``with context:``; ``imports`` are the edits that import what ``context`` names.

        Those that go under ``no_grad`` go into the block before them where there is one, unless theirs starts with the
        statement ``before``. ``None`` where other code shares the statements' lines, or where they cannot be indented.
        """
        if not all(self.stands_alone(statement) and can_be_indented(self._source, statement) for statement in statements):
            return None
        is_no_grad = context.endswith(".no_grad()") or context == "no_grad()"
        if is_no_grad and not before and (block := self._no_grad_block_before(statements[0])) is not None:
            return self._join(block, statements)
        first, last = statements[0], statements[-1]
        unit = self.indent_unit(first)
        assert last.end_lineno is not None
        indentation, newline = self.indentation(first), self._source.newline
        header = f"{indentation}with {context}:{newline}"
        if before:
            header += f"{indentation}{unit}{before}{newline}"
        start = self._source.line_start(first.lineno)
        if imports and imports[0][0] == start:
            header, imports = imports[0][2] + header, []
        above = self._source.line_span(first.lineno - 1)[1] if first.lineno > 1 else start
        code = start + len(indentation) + 1
        # The newlines around the block are a part of the edit, and so is the first character of the code: of two blocks that
        # touch or overlap, the second one waits for the next round, and then joins the first.
        following = self._no_grad_block_after(last, unit) if is_no_grad else None
        return [
            (above, code, self._source.text[above:start] + header + unit + self._source.text[start:code]),
            *self.indent(first.lineno, last.end_lineno, unit)[1:],
            *self._behind_block(last.end_lineno, following, unit),
            *imports,
        ]

    def _no_grad_block_before(self, statement: ast.stmt) -> ast.With | None:
        """The ``with torch.no_grad():`` that ends right before ``statement``."""
        block = self._semantics.tree.block(statement)
        position = block.index(statement)
        return self._as_no_grad_block(block[position - 1]) if position else None

    def _no_grad_block_after(self, statement: ast.stmt, unit: str) -> ast.With | None:
        """The ``with torch.no_grad():`` that starts right behind ``statement``, and can be added to a block before it."""
        block = self._semantics.tree.block(statement)
        position = block.index(statement)
        following = self._as_no_grad_block(block[position + 1]) if position + 1 < len(block) else None
        if following is None or not self.stands_alone(following):
            return None
        is_plain = self._source.line(following.lineno).rstrip().endswith(":") and following.items[0].optional_vars is None
        header_end = following.items[0].context_expr.end_lineno
        indented = self.indentation(following.body[0]) == self.indentation(following) + unit
        return following if is_plain and header_end == following.lineno and indented else None

    def _as_no_grad_block(self, statement: ast.stmt) -> ast.With | None:
        if not isinstance(statement, ast.With) or statement.body[0].lineno == statement.lineno or len(statement.items) != 1:
            return None
        context = statement.items[0].context_expr
        is_no_grad = isinstance(context, ast.Call) and self._semantics.qualified_name(context.func) == "torch.no_grad"
        return statement if is_no_grad else None

    def _behind_block(self, last: int, following: ast.With | None, unit: str) -> list[TextEdit]:
        """What ends a block at row ``last``: where another one ``following`` becomes a part of it, that one's header goes."""
        if following is None:
            return [self._newline_after(last)]
        header = (self._source.line_start(following.lineno), self._source.line_start(following.lineno + 1), "")
        return [*self.indent(last + 1, following.lineno - 1, unit), header]

    def _join(self, block: ast.With, statements: list[ast.stmt]) -> list[TextEdit]:
        """Makes ``statements``, and the comments before them, the end of the with block that they follow."""
        outer = self.indentation(block)
        unit = self.indentation(block.body[0])[len(outer) :]
        first, last = statements[0].lineno, statements[-1].end_lineno
        assert block.end_lineno is not None and last is not None
        while first > block.end_lineno + 1 and self._is_comment_or_blank(first - 1, outer):
            first -= 1
        following = self._no_grad_block_after(statements[-1], unit)
        return [*self.indent(first, last, unit), *self._behind_block(last, following, unit)]

    def _is_comment_or_blank(self, row: int, indentation: str) -> bool:
        line = self._source.line(row)
        return line.startswith(f"{indentation}#") or not line.strip()

    def _newline_after(self, row: int) -> TextEdit:
        """An edit that changes nothing, but keeps another from being made to the lines below a block in the same round."""
        start, end = self._source.line_span(row)[1], self._source.line_start(row + 1)
        return (start, end, self._source.text[start:end])

    def delete_alias(self, statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> TextEdit:
        """Deletes one name of an import, or the whole import where it is the only one."""
        if len(statement.names) == 1:
            return self.delete_statement(statement)
        index = statement.names.index(alias)
        if index + 1 < len(statement.names):
            return (self._source.start(alias), self._source.start(statement.names[index + 1]), "")
        return (self._source.end(statement.names[index - 1]), self._source.end(alias), "")

    def delete_statement(self, statement: ast.stmt) -> TextEdit:
        """Deletes a statement with its line, or makes it ``pass`` where its block would be empty."""
        block = self._semantics.tree.block(statement)
        start, end = self._source.start(statement), self._source.end(statement)
        if len(block) == 1 and not isinstance(self._semantics.tree.parent(statement), ast.Module):
            return self.delete_else([statement]) or self.delete_no_grad([statement]) or (start, end, "pass")
        if self.stands_alone(statement):
            assert statement.end_lineno is not None
            return (self._source.line_start(statement.lineno), self._source.line_start(statement.end_lineno + 1), "")
        if match := _SEMICOLON.match(self._source.text, end):
            return (start, match.end(), "")
        index = block.index(statement)
        before = self._source.end(block[index - 1]) if index else start
        return (before if _SEMICOLON.fullmatch(self._source.text, before, start) else start, end, "")

    def delete_else(self, block: Sequence[ast.stmt]) -> TextEdit | None:
        """Deletes an ``else`` with all that is in it, if no comment and no other code is on its lines; ``None`` otherwise."""
        first, last = block[0], block[-1]
        parent = self._semantics.tree.parent(first)
        if not isinstance(parent, (ast.If, ast.For, ast.AsyncFor, ast.While)) or parent.orelse != list(block):
            return None
        assert last.end_lineno is not None
        start = self._source.line_start((parent.body[-1].end_lineno or parent.lineno) + 1)
        line_end = self._source.line_span(last.end_lineno)[1]
        is_alone = not self._source.text[self._source.end(last) : line_end].strip()
        text = self._source.text[self._source.start(first) : line_end]
        if not is_alone or "#" in text or not _ELSE.fullmatch(self._source.text, start, self._source.start(first)):
            return None
        return (start, self._source.line_start(last.end_lineno + 1), "")

    def delete_no_grad(self, block: Sequence[ast.stmt]) -> TextEdit | None:
        """Deletes a ``with torch.no_grad():`` with all that is in it, if no comment is; ``None`` for any other block."""
        parent = self._semantics.tree.parent(block[0])
        if not isinstance(parent, ast.With) or self._as_no_grad_block(parent) is None or parent.body != list(block):
            return None
        assert parent.end_lineno is not None
        start, end = self._source.line_start(parent.lineno), self._source.line_start(parent.end_lineno + 1)
        is_last = len(self._semantics.tree.block(parent)) == 1
        if is_last or not self.stands_alone(parent) or "#" in self._source.text[start:end]:
            return None
        return (start, end, "")

    # --- names -------------------------------------------------------------------------------------------------------

    def torch_name(self, node: ast.AST) -> tuple[str, list[TextEdit]]:
        """How ``node``'s scope spells the module ``torch``, with the edits that import it where nothing does."""
        bindings = self._semantics.bindings
        scope = bindings.scope_of(node)
        for current in bindings.visible_from(scope):
            for name in self._names_of_torch(current):
                found = bindings.lookup(name, scope)
                if self.is_imported(found) and not self.is_imported_later(found, scope, node):
                    return name, []
        if self._imports_nothing() or self._takes_torch_for_granted:
            return "torch", []
        name = self.free_name("torch", scope, of="torch")
        return name, [self.imports.add("import torch" if name == "torch" else f"import torch as {name}")]

    def is_imported(self, found: Sequence[Binding]) -> bool:
        """Whether a name that has these bindings is an import, or None where that failed, when the program runs."""
        imports = [binding for binding in found if not _is_none(binding)]
        return all(binding.form is Form.IMPORT or imported_by_call(binding) for binding in imports) and any(
            not self._is_for_type_checkers(binding) for binding in imports
        )

    def is_imported_later(self, found: Sequence[Binding], scope: Scope, node: ast.AST) -> bool:
        """Whether a name that a function imports is imported behind ``node``, which is in the same function."""
        if scope is self._semantics.bindings.module or any(binding.scope is not scope for binding in found):
            return False
        place = self._semantics.tree.statement(node).lineno
        return all(self._semantics.tree.statement(binding.node).lineno > place for binding in found)

    def _is_for_type_checkers(self, binding: Binding) -> bool:
        """Whether a binding is under ``if TYPE_CHECKING:``, which is not run."""
        child = binding.node
        for parent in self._semantics.tree.ancestors(binding.node):
            if isinstance(parent, ast.If) and child in parent.body:
                test = parent.test
                if getattr(test, "id", getattr(test, "attr", None)) == "TYPE_CHECKING":
                    return True
            child = parent
        return False

    def free_name(self, name: str, scope: Scope, of: str) -> str:
        """``name``, or a longer one where it stands for something else than the import ``of`` in ``scope``."""
        bindings = self._semantics.bindings

        def is_taken(name: str) -> bool:
            found = bindings.lookup(name, scope)
            return any(binding.scope is not bindings.module or binding.imported != of for binding in found)

        while is_taken(name):
            name = f"_{name}"
        return name

    def _names_of_torch(self, scope: Scope) -> list[str]:
        """The names under which a scope imports torch."""
        if scope not in self._torch_names:
            self._torch_names[scope] = [
                name
                for name, found in scope.bindings.items()
                if any(binding.imported == "torch" or imported_by_call(binding) == "torch" for binding in found)
            ]
        return self._torch_names[scope]

    @cached_property
    def _torch_names(self) -> dict[Scope, list[str]]:
        return {}

    @cached_property
    def _takes_torch_for_granted(self) -> bool:
        """Whether the file uses the name ``torch`` without binding it."""
        names = [node for node in self._semantics.tree.of_type(ast.Name) if node.id == "torch"]
        return any(isinstance(name.ctx, ast.Load) and not self._semantics.bindings.reaching(name) for name in names)

    def _imports_nothing(self) -> bool:
        """Whether the file imports nothing: a snippet that takes the usual names for granted."""
        return not self._semantics.tree.of_type(ast.Import, ast.ImportFrom)


def _is_none(binding: Binding) -> bool:
    """Whether a binding stands for an import that failed: ``torch = None``."""
    return isinstance(binding.value, ast.Constant) and binding.value.value is None
