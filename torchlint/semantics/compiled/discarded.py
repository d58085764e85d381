"""Models that are compiled and not run as such: what ``torch.compile`` gives is thrown away."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.expected_errors import is_tried
from torchlint.semantics.code.tree import dotted

Node = TypeVar("Node")

_SETUP = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "bfloat16", "requires_grad_"})
"""Methods of modules that change the module and give it again."""


@dataclass(frozen=True, eq=False, slots=True)
class DiscardedCompile(Generic[Node]):
    """A call of ``torch.compile`` on ``target``, which stays as it is.

    ``compiles_itself`` is whether the ``compile()`` of the target does it: that of a module whose class is none of torch's own,
    whose code is not looked at then (run: a ``Sequential`` compiles nothing). ``is_set_up`` is whether more is done with the
    result.
    """

    target: Node
    compiles_itself: bool
    is_set_up: bool


class DiscardedCompiles:
    """Looks at the statements of one file that compile something."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Call, DiscardedCompile[ast.expr]]:
        """The calls of ``torch.compile`` whose result nothing gets."""
        found: dict[ast.Call, DiscardedCompile[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("compile", ()):
            if self._semantics.qualified_name(call.func) == "torch.compile":
                whole = self._whole(call)
                target = _target(call)
                if isinstance(self._tree.parent(whole), ast.Expr) and target is not None:
                    kind = self._semantics.kind(target)
                    is_module = kind.type is Type.MODULE
                    if is_module or not is_tried(self._tree, self._tree.statement(call)):
                        compiles_itself = is_module and kind.name not in torch_api.MODULES | torch_api.CONTAINER_MODULES
                        found[call] = DiscardedCompile(target, compiles_itself, whole is not call)
        return found

    def _whole(self, call: ast.Call) -> ast.expr:
        """``torch.compile(model).to(device)`` for the call in it."""
        current: ast.expr = call
        while True:
            match self._tree.parent(current):
                case ast.Attribute(attr=name) as method if name in _SETUP:
                    around = self._tree.parent(method)
                    if not isinstance(around, ast.Call) or around.func is not method:
                        return current
                    current = around
                case _:
                    return current


def _target(call: ast.Call) -> ast.expr | None:
    """The variable that is compiled; ``None`` for everything that has no name, and where it is not known."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "model")]
    return given[0] if len(given) == 1 and dotted(given[0]) is not None else None
