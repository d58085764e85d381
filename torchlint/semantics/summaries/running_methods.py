"""Which methods of a class run it, or its parts, in the mode and with the autograd that they find: ``model.get_loss(x)``."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function, all_parts, last_name

_SETTING = re.compile(r"eval|train|training|no_grad|inference_mode|enable_grad|set_grad_enabled|requires_grad_?|apply")
"""What a method mentions that may set a mode, or turn autograd on or off."""

_PLAIN = frozenset({"staticmethod", "classmethod", "property"})


def running_methods(node: ast.ClassDef) -> tuple[str, ...]:
    """The methods beside ``forward`` that call the instance, its ``forward``, or what it holds, and set nothing meanwhile."""
    methods = {part.name: part for part in node.body if isinstance(part, FUNCTIONS)}
    if "forward" not in methods:
        return ()
    held = {name for method in methods.values() for name in _held(method)} - methods.keys()
    uses = {name: _uses(method, held) for name, method in methods.items()}
    setting = _reached({name for name, (_, sets, _) in uses.items() if sets}, uses)
    running = _reached({"forward", *(name for name, (runs, _, _) in uses.items() if runs)}, uses)
    return tuple(name for name in methods if name in running - setting and name != "forward" and not name.startswith("__"))


def _reached(names: set[str], uses: dict[str, tuple[bool, bool, set[str]]]) -> set[str]:
    """Some methods, and those that call them."""
    found = set(names)
    for _ in uses:
        more = {name for name, (_, _, called) in uses.items() if called & found} - found
        if not more:
            break
        found |= more
    return found


def _held(method: Function) -> set[str]:
    """The attributes that a method gives the instance."""
    stored = (part for part in all_parts(method) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store))
    return {part.attr for part in stored if _is_self(part.value)}


def _uses(method: Function, held: set[str]) -> tuple[bool, bool, set[str]]:
    """Whether a method runs the instance or what it holds, whether it may set something, and which methods it calls."""
    sets = any(last_name(each) not in _PLAIN for each in method.decorator_list)
    runs, called = False, set[str]()
    for part in all_parts(method):
        match part:
            case ast.Call(func=function) if _is_self(function):
                runs = True
            case ast.Call(func=ast.Attribute(value=owner, attr=name)) if _is_self(owner):
                runs = runs or (name in held and name not in torch_api.MODULE_ATTRIBUTES)
                called.add(name)
        if isinstance(part, (ast.Attribute, ast.Name)):
            name = part.attr if isinstance(part, ast.Attribute) else part.id
            sets = sets or _SETTING.fullmatch(name) is not None
    return runs, sets, called


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
