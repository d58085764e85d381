"""Whether the instances of a class run what they are given: ``self.encoder = encoder``, and then ``self.encoder(x)``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics.code.tree import last_name
from torchlint.semantics.summaries.members import Member

_HOLDERS = frozenset(
    {
        *("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel"),
        *("list", "tuple", "dict", "deepcopy"),
    }
)
"""What holds the modules that it is given; a layer is given numbers: ``self.head = nn.Linear(width, classes)``."""


def runs_given_parts(members: Iterable[Member]) -> bool:
    """Whether a class stores a parameter of a method as an attribute of ``self``, and calls it or what is in it."""
    every = list(members)
    stored = {name for member in every for name in _stored(member)}
    return bool(stored) and any(_run(part) in stored for each in every for kind in _RUNNING for part in each.every(kind))


def _stored(member: Member) -> Iterator[str]:
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
                if isinstance(each, ast.Attribute) and _is_self(each.value):
                    yield each.attr


_RUNNING: tuple[type[ast.Call] | type[ast.For], ...] = (ast.Call, ast.For)


def _run(part: ast.AST) -> str:
    """The attribute that is called, or gone through."""
    match part:
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if _is_self(owner):
            return name
        case ast.Call(func=ast.Subscript(value=ast.Attribute(value=owner, attr=name))) if _is_self(owner):
            return name
        case ast.For(iter=ast.Attribute(value=owner, attr=name)) if _is_self(owner):
            return name
    return ""


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
