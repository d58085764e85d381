"""The loops of a file that train: each is the innermost one around a ``backward``, and makes steps of an optimizer."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.tree import Loop, walk


def training_loops(semantics: Semantics) -> list[Loop]:
    """The loops that train, in the order of what they back-propagate."""
    roots = (semantics.tree.statement(root) for root in semantics.backpropagated.roots)
    loops = (next(semantics.tree.loops(root), None) for root in roots if not isinstance(root, ast.Return))
    return [loop for loop in dict.fromkeys(loops) if loop is not None and _steps(loop)]


def _steps(loop: Loop) -> bool:
    return any(
        isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "step"
        for statement in loop.body
        for part in walk(statement)
    )
