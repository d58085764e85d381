"""Classes of modules that may compute something with autograd off, or with weights that need no gradients; and those that may
wait for the GPU.
"""

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
_WAITING = frozenset(
    {
        *("item", "tolist", "cpu", "numpy", "nonzero", "masked_select", "unique", "synchronize", "wait", "to", "cuda", "print"),
        *("float", "int", "bool", "tensor", "as_tensor", "from_numpy", "multinomial", "equal", "allclose", "nms", "argwhere"),
    }
)
"""What is called that waits for the GPU, or may."""
_DECIDING = frozenset({"any", "all", "sum", "max", "min", "mean", "isnan", "isinf", "norm"})
"""What is asked of a tensor where that decides how to go on."""
_ROOTS = ("__init__", "forward", "__call__")


def may_quieten(members: Iterable[Member]) -> bool:
    """Whether the constructor of a class or its ``forward``, or a method that these come to, may turn autograd off, or take
    the gradients of weights away; a decorator that nobody here knows may, too.
    """
    for member in _reached(members, _ROOTS):
        if any(map(quietens, _parts(member))) or not all(map(_is_plain, member.method.decorator_list if member.method else ())):
            return True
    return False


def may_wait(members: Iterable[Member]) -> bool:
    """Whether the ``forward`` of a class, or a method that it comes to, may wait for the GPU: it asks for a number of a
    tensor, moves something, or takes what a condition is true of.
    """
    for member in _reached(members, ("forward", "__call__")):
        if any(last_name(call.func) in _WAITING for call in member.every(ast.Call)):
            return True
        if any(isinstance(each.slice, ast.Compare) for each in member.every(ast.Subscript)):
            return True
        tests = [each.test for each in member.every(ast.If)] + [each.test for each in member.every(ast.While)]
        if any(isinstance(part, ast.Call) and last_name(part.func) in _DECIDING for test in tests for part in ast.walk(test)):
            return True
    return False


def _reached(members: Iterable[Member], roots: Iterable[str]) -> Iterator[Member]:
    """Some methods of a class, and those that they come to."""
    methods = {member.method.name: member for member in members if member.method is not None}
    pending = list(roots)
    seen = set(pending)
    while pending:
        member = methods.get(pending.pop())
        if member is not None:
            yield member
            reached = {part.attr for part in member.every(ast.Attribute) if is_self(part.value)} & methods.keys() - seen
            pending += reached
            seen |= reached


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
