"""Edits that make a copy of what is shared."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.semantics import Semantics, Type
from torchlint.semantics.memory.links import Links
from torchlint.text.source import Source


class Copying:
    """Makes edits to one file that copy a value where it is taken."""

    def __init__(self, source: Source, semantics: Semantics) -> None:
        self._source = source
        self._semantics = semantics

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self._source, self._semantics)

    def deepcopy(self, node: ast.expr) -> list[TextEdit]:
        """``copy.deepcopy(node)``, with the import where it is missing; of a ``copy.copy(x)`` only the function changes."""
        name, imports = self._deepcopy_name(node)
        if isinstance(node, ast.Call) and self._semantics.qualified_name(node.func) == "copy.copy":
            return [(self._source.start(node.func), self._source.end(node.func), name), *imports]
        start, end = self._source.start(node), self._source.end(node)
        return [(start, start, f"{name}("), (end, end, ")"), *imports]

    def _deepcopy_name(self, node: ast.expr) -> tuple[str, list[TextEdit]]:
        """How the code around ``node`` spells ``copy.deepcopy``, with the edits that import it where nothing does."""
        bindings = self._semantics.bindings
        scope = bindings.scope_of(node)
        for current in (scope, bindings.module):
            for name, found in current.bindings.items():
                if bindings.lookup(name, scope) != tuple(found) or not self._rewriter.is_imported(found):
                    continue
                if any(binding.imported == "copy.deepcopy" for binding in found):
                    return name, []
                if any(binding.imported == "copy" for binding in found):
                    return f"{name}.deepcopy", []
        if bindings.lookup("copy", scope):
            name = self._rewriter.free_name("deepcopy", scope, of="copy.deepcopy")
            alias = "" if name == "deepcopy" else f" as {name}"
            return name, [self._rewriter.add_import(f"from copy import deepcopy{alias}")]
        return "copy.deepcopy", [self._rewriter.add_import("import copy")]

    def copy_tensor(self, node: ast.expr, *, detached: bool = False) -> list[TextEdit]:
        """``node.clone()``, detached as well; of an array ``node.copy()``; in place of a last ``.data``.

        ``detached`` tells that the value has no graph, whatever its expression.
        """
        end = self._source.end(node)
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return [self._rewriter.replace_attribute(node, ".detach().clone()")]
        links = self._semantics.of(Links).chain(node)
        conversions = [link.name for link in links if link.name in ("numpy", "asarray", "from_numpy", "as_tensor")]
        if self._semantics.kind(node).type is Type.ARRAY or conversions[:1] == ["numpy"]:
            return [(end, end, ".copy()")]
        if detached or any(link.name in ("detach", "data") for link in links):
            return [(end, end, ".clone()")]
        return [(end, end, ".detach().clone()")]

    def copy_parameters(self, node: ast.expr, parameters: ast.expr) -> list[TextEdit]:
        """Copies of what ``model.parameters()`` or ``named_parameters()`` gives, ``node`` being a list or dict of it."""
        start, end = self._source.start(node), self._source.end(node)
        inner = self._source.segment(parameters)
        assert isinstance(parameters, ast.Call) and isinstance(parameters.func, ast.Attribute)
        if parameters.func.attr == "parameters":
            new = f"[p.detach().clone() for p in {inner}]"
        elif isinstance(node, ast.Call) and self._semantics.qualified_name(node.func) == "builtins.dict":
            new = f"{{name: p.detach().clone() for name, p in {inner}}}"
        else:
            new = f"[(name, p.detach().clone()) for name, p in {inner}]"
        return [(start, end, new)]
