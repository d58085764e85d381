"""Layers that a class makes and never runs: their mode makes no difference to anything."""

from __future__ import annotations

import ast
from functools import lru_cache

from torchlint.semantics.code.tree import FUNCTIONS, is_self, last_name
from torchlint.semantics.summaries.summary import is_modal

_GOING_THROUGH = frozenset(
    {"children", "modules", "named_children", "named_modules", "_modules", "__dict__", "getattr", "vars", "get_submodule"}
)
"""What gives layers without saying their names."""


def idle_layers(owner: ast.ClassDef, module: ast.Module) -> frozenset[ast.AST]:
    """The calls in a class that make layers which know a mode for attributes that no code of the file reads."""
    if not any(isinstance(each, FUNCTIONS) and each.name == "forward" for each in owner.body):
        return frozenset()  # what runs it is not in sight
    made: dict[ast.AST, str] = {}
    for part in ast.walk(owner):
        match part:
            case ast.Assign(targets=[ast.Attribute(value=holder, attr=name)], value=ast.Call(func=function) as call) if is_self(
                holder
            ) and is_modal(last_name(function)):
                made[call] = name
    if not made:
        return frozenset()
    read = _read_in(module)
    return frozenset() if read & _GOING_THROUGH else frozenset(call for call, name in made.items() if name not in read)


@lru_cache(maxsize=4)
def _read_in(module: ast.Module) -> frozenset[str]:
    """The names that the code of a file reads, of attributes and of variables."""
    parts = (part for part in ast.walk(module) if isinstance(part, (ast.Attribute, ast.Name)))
    return frozenset(last_name(part) for part in parts if isinstance(part.ctx, ast.Load))
