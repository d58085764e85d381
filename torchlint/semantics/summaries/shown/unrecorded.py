"""Functions that give nothing but what they make with autograd off: by a decorator, or in blocks that have all they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics.code.tree import Function, last_name, own_parts, walk_body

_TURNING_OFF = frozenset({"no_grad", "inference_mode"})


def turns_off(context: ast.expr) -> bool:
    """Whether a context manager or a decorator is called like those of torch that turn autograd off."""
    match context:
        case ast.Call(func=function, args=[], keywords=[]):
            return last_name(function) in _TURNING_OFF
        case ast.Call(func=function, args=[ast.Constant(value=False)], keywords=[]):
            return last_name(function) == "set_grad_enabled"
    return last_name(context) in _TURNING_OFF


def gives_unrecorded(function: Function) -> bool:
    """Whether a function gives only what it has made with autograd off, and nothing that it was given."""
    parts = own_parts(function.body)
    values = [value for part in parts if isinstance(part, ast.Return) for value in _each(part.value)]
    if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts) or not values:
        return False
    given = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
    if any(map(turns_off, function.decorator_list)):
        return not any(isinstance(value, ast.Name) and value.id in given for value in values)
    if function.decorator_list:
        return False
    within = {part for block in _blocks(parts) for part in walk_body(block.body)}
    if not within:
        return False
    outside = {
        part.id for part in parts if isinstance(part, ast.Name) and part not in within and not isinstance(part.ctx, ast.Load)
    }
    inside = {part.id for part in within if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    made = inside - outside - given
    return all(isinstance(value, ast.Constant) or _is_made(value, within, made) for value in values)


def _is_made(value: ast.expr, within: set[ast.AST], made: set[str]) -> bool:
    """Whether a value is computed in a block with autograd off, or a name for such."""
    if value not in within and not isinstance(value, ast.Name):
        return False
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        value = value.value
    return value.id in made if isinstance(value, ast.Name) else True


def _each(value: ast.expr | None) -> Iterator[ast.expr]:
    """The parts of what is returned."""
    if isinstance(value, (ast.Tuple, ast.List)):
        for part in value.elts:
            yield from _each(part)
    elif value is not None:
        yield value


def _blocks(parts: list[ast.AST]) -> Iterator[ast.With]:
    """The blocks that turn autograd off."""
    for part in parts:
        if isinstance(part, ast.With) and any(turns_off(item.context_expr) for item in part.items):
            yield part
