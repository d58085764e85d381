"""What a name held before its value was only moved: ``model = model.to(device)``."""

from __future__ import annotations

import ast

from torchlint.semantics.code.bindings import Binding, Bindings, Form

_MOVING = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "eval", "train"})
"""Methods that give the module that they are called on."""
_MOST = 16
"""So many bindings of a name are followed; code that moves a model more often is generated."""


def before_moves(bindings: tuple[Binding, ...], names: Bindings) -> list[Binding]:
    """The bindings that those of a module come from which do no more than to move it, round loops, too.

    Empty where there are none of these, or too many.
    """
    found: dict[Binding, None] = {}
    seen = set(bindings)
    pending = list(bindings)
    is_moved = False
    while pending:
        binding = pending.pop()
        moved = _moved(binding)
        if moved is None:
            found[binding] = None
            continue
        is_moved = True
        more = [each for each in names.reaching(moved) if each not in seen]
        seen.update(more)
        pending += more
        if len(seen) > _MOST:
            return []
    return list(found) if is_moved else []


def _moved(binding: Binding) -> ast.Name | None:
    """The same name in the value of a binding, where that is a module that is moved if it is one."""
    if binding.form is not Form.ASSIGNMENT or binding.path:
        return None
    value = binding.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVING:
        value = value.func.value
    return value if isinstance(value, ast.Name) and value.id == binding.name and value is not binding.value else None
