"""The loops of a file that train: each is the innermost one around a ``backward``, and makes steps of an optimizer."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.tree import Loop, walk


class TrainingLoops:
    """Finds the loops of a file that train."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def all(self) -> list[Loop]:
        """The loops that train, in the order of what they back-propagate."""
        tree = self._semantics.tree
        roots = (tree.statement(root) for root in self._semantics.of(Backpropagated).roots)
        loops = (next(tree.loops(root), None) for root in roots if not isinstance(root, ast.Return))
        return [loop for loop in dict.fromkeys(loops) if loop is not None and _steps(loop)]


def _steps(loop: Loop) -> bool:
    return any(isinstance(part, ast.Call) and _is_step(part.func) for statement in loop.body for part in walk(statement))


def _is_step(function: ast.expr) -> bool:
    """Whether a method steps: ``step``, or what the wrapper of an optimizer calls it, ``optimizer.step_and_update_lr``."""
    match function:
        case ast.Attribute(attr="step"):
            return True
        case ast.Attribute(value=ast.Name(id=name) | ast.Attribute(attr=name), attr=method):
            return method.startswith("step_") and "optim" in name.lower()
    return False
