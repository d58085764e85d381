"""Classes of modules that may compute something with autograd off, or with weights that need no gradients."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from torchlint.semantics.code.tree import is_self, is_true, last_name
from torchlint.semantics.summaries.members import Member

_TURNING_OFF = frozenset({"no_grad", "inference_mode", "set_grad_enabled", "_set_grad_enabled", "smart_inference_mode"})
_FREEZING = re.compile(
    r"(?<!un)freez|(^|_)(set_|toggle_)?requires_grads?_?$|toggle_grad|eval_mode|^disable_grad", re.IGNORECASE
)
"""What is called that takes the gradients of weights away, or may."""
_PLAIN = frozenset(
    {
        *("staticmethod", "classmethod", "property", "cached_property", "lru_cache", "abstractmethod", "override", "overload"),
        *("autocast", "export", "ignore", "unused", "script_method", "custom_fwd", "jaxtyped", "typechecked", "beartype"),
    }
)
"""Decorators that leave autograd as it is."""
_ROOTS = ("__init__", "forward", "__call__")


def may_quieten(members: Iterable[Member]) -> bool:
    """Whether the constructor of a class or its ``forward``, or a method that these come to, may turn autograd off, or take
    the gradients of weights away; a decorator that nobody here knows may, too.
    """
    methods = {member.method.name: member for member in members if member.method is not None}
    pending, seen = [*_ROOTS], set(_ROOTS)
    while pending:
        member = methods.get(pending.pop())
        if member is None:
            continue
        if any(map(quietens, _parts(member))) or not all(map(_is_plain, member.method.decorator_list if member.method else ())):
            return True
        reached = {part.attr for part in member.every(ast.Attribute) if is_self(part.value)} & methods.keys() - seen
        pending += reached
        seen |= reached
    return False


def _parts(member: Member) -> Iterator[ast.AST]:
    yield from member.every(ast.Attribute)
    yield from member.every(ast.Name)
    yield from member.every(ast.Assign)
    yield from member.every(ast.Call)


def _is_plain(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return last_name(function) in _PLAIN


def quietens(part: ast.AST) -> bool:
    """Whether a part of code turns autograd off, or takes the gradients of weights away."""
    match part:
        case ast.Attribute() | ast.Name():
            return last_name(part) in _TURNING_OFF
        case ast.Assign() | ast.Call():
            return freezes(part)
    return False


def freezes(part: ast.AST) -> bool:
    """Whether an assignment or a call takes the gradients of weights away, or may."""
    match part:
        case ast.Assign(targets=targets, value=value):
            return not is_true(value) and any(
                isinstance(each, ast.Attribute) and each.attr == "requires_grad" for each in targets
            )
        case ast.Call(func=function, args=args):
            name = last_name(function)
            if name == "requires_grad_":
                return bool(args or part.keywords) and not all(map(is_true, args))
            return _FREEZING.search(name) is not None
    return False
