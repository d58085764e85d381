"""Variables of whole programs that nothing gives a value."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics


def is_left_unbound(value: ast.expr, semantics: Semantics) -> bool:
    """Whether nothing in the file gives a variable its value, which raises before it is indexed; a star gives no loss.

    Code that imports nothing is a part of a program, whose other parts give values.
    """
    names, tree = semantics.bindings, semantics.tree
    is_whole = bool(tree.of_type(ast.Import) or tree.of_type(ast.ImportFrom))
    return is_whole and isinstance(value, ast.Name) and not names.lookup(value.id, names.scope_of(value))
