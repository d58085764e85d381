"""Renaming a function or class of a library where it is used, with the imports that the old name came by."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from torchlint.fixes.names.imports import TextEdit
from torchlint.fixes.rewriting import Rewriter
from torchlint.semantics import Binding, Form, Semantics
from torchlint.text.source import Source


class Renaming:
    """Makes the edits to one file."""

    def __init__(self, source: Source, semantics: Semantics, rewriter: Rewriter) -> None:
        self._source = source
        self._semantics = semantics
        self._rewriter = rewriter

    def edits(self, node: ast.Name | ast.Attribute, old: str, new: str) -> list[TextEdit] | None:
        """The edits that make ``node``, which refers to ``old``, refer to ``new``; ``None`` where the file has no place for it.

        Both are dotted names. Where ``old`` was imported by its name, the import and all uses of it change together.
        """
        module, _, last = new.rpartition(".")
        if isinstance(node, ast.Attribute):
            if old.rpartition(".")[0] == module:
                end = self._source.end(node)
                return [(end - len(node.attr), end, last)]
            return self._spell_out([node], new)
        bindings = self._semantics.bindings.reaching(node)
        if not bindings:
            return [self._replace(node, last)] if old.rpartition(".")[0] == module else self._spell_out([node], new)
        if len(bindings) != 1 or bindings[0].form is not Form.IMPORT or self._is_bound_otherwise(bindings[0]):
            return None
        return self._rename_import(bindings[0], old, new)

    def _rename_import(self, binding: Binding, old: str, new: str) -> list[TextEdit] | None:
        alias, statement = binding.node, self._semantics.tree.parent(binding.node)
        if not isinstance(alias, ast.alias) or not isinstance(statement, ast.ImportFrom):
            return None
        module, _, last = new.rpartition(".")
        if old.rpartition(".")[0] != module:
            spelled = self._spell_out(binding.uses, new)
            return [*spelled, self._rewriter.delete_alias(statement, alias)] if spelled is not None else None
        start = self._source.start(alias)
        edit = (start, start + len(alias.name), last)
        if alias.asname is not None:
            return [edit]
        bound = self._semantics.bindings.lookup(last, binding.scope)
        if any(other.imported != new for other in bound):
            return None
        imported = self._rewriter.delete_alias(statement, alias) if self._is_at_hand(bound, statement) else edit
        return [imported, *(self._replace(use, last) for use in binding.uses)]

    def _is_bound_otherwise(self, binding: Binding) -> bool:
        """Whether a use of an import may be one of another value, which keeps its name; what is deleted is used, too."""
        others = [each.node for each in binding.scope.bindings[binding.name] if each is not binding]
        is_deleted = any(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del) for node in others)
        return is_deleted or any(len(self._semantics.bindings.reaching(use)) > 1 for use in binding.uses)

    def _is_at_hand(self, bound: Sequence[Binding], statement: ast.ImportFrom) -> bool:
        """Whether a name is there already wherever ``statement`` could import it."""
        tree = self._semantics.tree
        if len(bound) != 1:
            return False
        other = tree.statement(bound[0].node)
        return other is statement or (tree.block(other) is tree.block(statement) and other.lineno < statement.lineno)

    def _spell_out(self, nodes: list[ast.Name] | list[ast.Attribute], new: str) -> list[TextEdit] | None:
        """Replaces the nodes by the name that starts with ``torch``."""
        edits: list[TextEdit] = []
        for node in nodes:
            torch, imports = self._rewriter.torch_name(node)
            edits += [self._replace(node, f"{torch}{new.removeprefix('torch')}"), *imports]
        return list(dict.fromkeys(edits)) if new.startswith("torch.") else None

    def _replace(self, node: ast.expr, text: str) -> TextEdit:
        return (self._source.start(node), self._source.end(node), text)
