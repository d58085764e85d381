"""Loops that evaluate a model: which of them sum up what comes out, and which show it to somebody."""

from __future__ import annotations

import ast

from torchlint.semantics.code.tree import LOOPS, Function, Loop, given_to, last_name, walk_body

_SHOWING = frozenset({"info", "debug", "write", "set_description", "set_postfix", "print"})
"""Methods that show what they are given, and keep nothing of it."""
_FEW = 20
"""So many rounds at most are taken to be of samples that somebody looks at."""


def sums_up(loop: Loop) -> bool:
    """Whether a loop goes through data, and adds up what comes out, or hands numbers on: ``meter.update(loss.item())``."""
    if not isinstance(loop, ast.For):
        return False
    for part in walk_body(loop.body):
        match part:
            case ast.AugAssign(value=value) if not isinstance(value, ast.Constant):
                return True
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name)) as call) if name not in _SHOWING:
                if any(_is_number(inner) for given in given_to(call) for inner in ast.walk(given)):
                    return True
    return False


def shows(statement: ast.stmt) -> bool:
    """Whether a statement opens windows, or draws the few pictures of a grid, and adds nothing up: somebody looks at each; or
    is done a few times, by a number that is written there, or a loop of a single round.
    """
    if isinstance(statement, LOOPS) and isinstance(statement.body[-1], ast.Break):
        return True
    is_shown = _is_short(statement)
    for part in ast.walk(statement):
        if isinstance(part, ast.AugAssign):
            return False
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            is_shown = is_shown or (part.func.attr in ("show", "waitKey") and not part.args[1:])
            is_shown = is_shown or (part.func.attr == "imshow" and isinstance(part.func.value, ast.Subscript))
    return is_shown


def prints_each(statement: ast.stmt) -> bool:
    """Whether a statement is a loop that prints something in each of its rounds, and adds nothing up."""
    if not isinstance(statement, LOOPS) or any(isinstance(part, ast.AugAssign) for part in walk_body(statement.body)):
        return False
    return any(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and last_name(each.value.func) == "print"
        for each in statement.body
    )


def _is_short(statement: ast.stmt) -> bool:
    """Whether a statement is a loop of a few rounds with no other loop in it: ``for i in range(10):``."""
    match statement:
        case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(rounds))])):
            return rounds <= _FEW and not any(isinstance(part, LOOPS) for part in walk_body(statement.body))
    return False


def saves_picture(function: Function) -> bool:
    """Whether a function without a loop makes a picture of what a model gives, once."""
    parts = list(walk_body(function.body))
    if any(isinstance(part, (ast.For, ast.While, ast.comprehension)) for part in parts):
        return False
    return any(isinstance(part, ast.Call) and last_name(part.func) == "save_image" for part in parts)


def _is_number(node: ast.AST) -> bool:
    """Whether code makes a number of a tensor."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
