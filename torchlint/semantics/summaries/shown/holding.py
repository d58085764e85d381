"""What the instances of a class hold: whether they run what they are given, may keep what they compute, add up values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import all_parts, is_self, last_name
from torchlint.semantics.summaries.members import Member

_HOLDERS = frozenset(
    {
        *("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel"),
        *("list", "tuple", "dict", "deepcopy"),
    }
)
"""What holds the modules that it is given; a layer is given numbers: ``self.head = nn.Linear(width, classes)``."""


_FILLING = frozenset({"append", "appendleft", "extend", "insert", "update", "add", "put", "setdefault"})
_HOLDS_WEIGHTS = frozenset({"weight", "bias"})
_CUTTING = frozenset(
    {"item", "detach", "detach_", "data", "tolist", "numpy", "float", "int", "isinstance", "hasattr", "is_tensor", "no_grad"}
)
"""What code says that takes the values of tensors alone, or asks for what it is given."""


# --- what they run that they are given -------------------------------------------------------------------------------


def runs_given_parts(members: Iterable[Member]) -> bool:
    """Whether a class stores a parameter of a method as an attribute of ``self``, and calls it or what is in it:
    ``self.encoder = encoder``, and then ``self.encoder(x)``.
    """
    every = list(members)
    stored = {name for member in every for name in _given(member)}
    return bool(stored) and any(_run(part) in stored for each in every for kind in _RUNNING for part in each.every(kind))


def _given(member: Member) -> Iterator[str]:
    """The attributes that a method gives a parameter, or a list of such."""
    if member.method is None:
        return
    arguments = member.method.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for part in member.own(ast.Assign):
        values = [part.value]
        if isinstance(part.value, ast.Call):
            values = part.value.args if last_name(part.value.func) in _HOLDERS else []
        elif isinstance(part.value, (ast.List, ast.Tuple)):
            values = part.value.elts
        if not any(isinstance(value, ast.Name) and value.id in given for value in values):
            continue
        for target in part.targets:
            targets = target.elts if isinstance(target, ast.Tuple) else [target]
            for each in targets:
                if isinstance(each, ast.Attribute) and is_self(each.value):
                    yield each.attr


_RUNNING: tuple[type[ast.Call] | type[ast.For], ...] = (ast.Call, ast.For)


def _run(part: ast.AST) -> str:
    """The attribute that is called, or gone through."""
    match part:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if is_self(owner):
            return name
        case ast.Call(func=ast.Subscript(value=ast.Attribute(value=owner, attr=name))) if is_self(owner):
            return name
        case ast.For(target=ast.Name(id=item), iter=ast.Attribute(value=owner, attr=name), body=body) if is_self(owner):
            return name if any(_calls(each, item) for each in all_parts(*body)) else ""
    return ""


def _calls(part: ast.AST, item: str) -> bool:
    """Whether code calls an item, or a method of it."""
    match part:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name))):
            return name == item
    return False


# --- what they keep --------------------------------------------------------------------------------------------------


def may_keep(members: list[Member]) -> bool:
    """Whether a method but those that only the constructor runs stores anything, or that one stores what it has computed."""
    methods = {member.method.name: member for member in members if member.method is not None}
    called = {name: _called(member) for name, member in methods.items()}
    made = _reached({"__init__"} & methods.keys(), called)
    making = made - _reached(methods.keys() - made | ({"forward"} & methods.keys()), called)
    if runs_given_parts(members):
        return True
    return any(
        _stores_results(member, methods.keys()) if name in making else _stores(member) for name, member in methods.items()
    )


def _called(member: Member) -> set[str]:
    """The methods that a method calls on its own object."""
    functions = (call.func for call in member.every(ast.Call))
    return {each.attr for each in functions if isinstance(each, ast.Attribute) and is_self(each.value)}


def _reached(names: Iterable[str], called: dict[str, set[str]]) -> set[str]:
    """Some methods, and those that they call."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in called and name not in found:
            found.add(name)
            pending.extend(called[name])
    return found


def _stores(member: Member) -> bool:
    """Whether a method stores something outside of itself, or may."""
    if member.every(ast.Global):
        return True
    if member.every(ast.Nonlocal):
        return True
    if any(not isinstance(part.ctx, ast.Load) for part in member.every(ast.Attribute)):
        return True
    if any(not isinstance(part.ctx, ast.Load) and _is_of_object(part.value) for part in member.every(ast.Subscript)):
        return True
    return any(map(_fills, member.every(ast.Call)))


def _fills(call: ast.Call) -> bool:
    """Whether a call puts something into what an object holds: ``self.states.append(h)``, ``self.state.copy_(h)``."""
    name = last_name(call.func)
    if name == "setattr" or name.startswith("register_"):
        return True
    is_changing = name in _FILLING or (name.endswith("_") and not name.endswith("__"))
    return is_changing and isinstance(call.func, ast.Attribute) and _is_of_object(call.func.value)


def _is_of_object(node: ast.expr) -> bool:
    """Whether something is reached through an attribute."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Attribute)


def _stores_results(member: Member, methods: Iterable[str]) -> bool:
    """Whether the making of an object stores what a part of it gives, or what somebody else makes."""
    assert member.method is not None
    arguments = member.method.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    for call in member.every(ast.Call):
        if (isinstance(call.func, ast.Name) and call.func.id in given) or last_name(call.func).endswith("_hook"):
            return True
    for statement in member.every(ast.Assign):
        if not any(isinstance(target, ast.Attribute) for target in statement.targets):
            continue
        for part in all_parts(statement.value):
            if isinstance(part, ast.BinOp) and _has_weights(part):
                return True
            match part:
                case ast.Call(func=ast.Attribute(value=owner, attr=name)) if is_self(owner):
                    if name not in methods and name not in torch_api.MODULE_ATTRIBUTES:
                        return True
    return False


def _has_weights(node: ast.BinOp) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in _HOLDS_WEIGHTS for part in ast.walk(node))


# --- what they add up ------------------------------------------------------------------------------------------------


def gathering_methods(members: Iterable[Member]) -> tuple[str, ...]:
    """The methods that add what they are given to a sum, as it is: ``self.sum += value * n``."""
    every = list(members)
    if any(part.attr in ("detach", "detach_") for member in every for part in member.every(ast.Attribute)):
        return ()
    return tuple(member.method.name for member in every if member.method is not None and _gathers(member))


def _gathers(member: Member) -> bool:
    method = member.method
    if method is None or method.decorator_list or len(method.args.args) < 2:
        return False
    if member.every(ast.With):
        return False
    value = method.args.args[1].arg
    if any(part.id == value and not isinstance(part.ctx, ast.Load) for part in member.every(ast.Name)):
        return False
    if any(part.attr in _CUTTING for part in member.every(ast.Attribute)):
        return False
    if any(last_name(call.func) in _CUTTING for call in member.every(ast.Call)):
        return False
    if any(
        isinstance(part.op, ast.Add) and _is_own(part.target) and _has(part.value, value) for part in member.own(ast.AugAssign)
    ):
        return True
    return any(_adds_to_itself(part, value) for part in member.own(ast.Assign))


def _adds_to_itself(statement: ast.Assign, value: str) -> bool:
    """Whether an attribute becomes the sum of itself and a value: ``self.sum = self.sum + value``."""
    match statement:
        case ast.Assign(targets=[target], value=ast.BinOp(left=left, op=ast.Add(), right=right)) if _is_own(target):
            return _is_own(left) and ast.unparse(left) == ast.unparse(target) and _has(right, value)
    return False


def _has(node: ast.expr, value: str) -> bool:
    """Whether a value, or a multiple of it, is what is added."""
    match node:
        case ast.Name(id=name):
            return name == value
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div(), right=right):
            return _has(left, value) or _has(right, value)
    return False


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and is_self(node.value)
