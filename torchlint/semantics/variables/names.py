"""Where a file refers to `Variable` without calling it: as a class, in quoted annotations, by names that nothing uses."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.apis.unused_imports import UnusedImports
from torchlint.semantics.apis.variable_wrappers import VARIABLE
from torchlint.semantics.code.names import canonical
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.variables.readers import Readers

NEVER = "no tensor is of the class `Variable`: what was never so until now may be so"


class VariableNames:
    """Tells what a file's references to Variable are for."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_sure(self, node: ast.expr) -> Fact:
        """Whether `torch.Tensor` does the same where a class is wanted: ``isinstance`` knows them as one, ``type`` does not."""
        child: ast.AST = node
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]) if classes is child:
                    return CERTAIN
                case ast.Call() | ast.Compare():
                    return unknown(NEVER)
                case ast.stmt():
                    break
            child = parent
        return self._semantics.of(Readers).is_inert(node)

    def is_class_wanted(self, node: ast.expr) -> bool:
        """Whether a class is wanted where ``node`` is: an annotation, ``isinstance``, a comparison with ``type(…)``."""
        child: ast.AST = node
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation) if annotation is child:
                    return True
                case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns) if returns is child:
                    return True
                case ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, classes]) if classes is child:
                    return True
                case ast.Compare(left=other) | ast.Call(args=[other, *_]) if other is not child:
                    return isinstance(other, ast.Call) and isinstance(other.func, ast.Name) and other.func.id == "type"
                case ast.Tuple() | ast.Subscript() | ast.BinOp() | ast.List() | ast.Set() | ast.Attribute():
                    child = parent
                case _:
                    return False
        return False

    # --- quoted annotations ------------------------------------------------------------------------------------------

    @cached_property
    def quoted(self) -> dict[ast.Constant, list[tuple[int, int]]]:
        """The annotations in strings that name Variable, and from where to where they do."""
        strings = self._semantics.tree.of_type(ast.Constant)
        naming = (node for node in strings if isinstance(node.value, str) and "Variable" in node.value)
        found = ((node, self._names_in(node)) for node in naming if self.is_class_wanted(node))
        return {node: places for node, places in found if places}

    def _names_in(self, annotation: ast.Constant) -> list[tuple[int, int]]:
        try:
            parsed = ast.parse(str(annotation.value), mode="eval")
        except SyntaxError:
            return []
        scope = self._semantics.bindings.scope_of(annotation)
        found: list[tuple[int, int]] = []
        for part in ast.walk(parsed):
            name = dotted(part) if isinstance(part, (ast.Name, ast.Attribute)) else None
            if name and (name == "Variable" or name.endswith(".Variable") or isinstance(part, ast.Name)):
                first, _, rest = name.partition(".")
                bindings = self._semantics.bindings.lookup(first, scope)
                targets = {canonical(".".join(filter(None, (binding.imported, rest)))) for binding in bindings}
                if targets == {VARIABLE} and isinstance(part, ast.expr):
                    found.append((part.col_offset, part.end_col_offset or 0))
        return found

    # --- names that nothing uses -------------------------------------------------------------------------------------

    @cached_property
    def imports(self) -> list[ast.alias]:
        """The imports of Variable that nothing uses; none in a file that exists for its imports, or where they may fail."""
        return [alias for alias in self._semantics.of(UnusedImports).of(VARIABLE) if alias.name == "Variable"]
