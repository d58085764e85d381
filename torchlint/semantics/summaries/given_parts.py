"""Whether the instances of a class run what they are given: ``self.encoder = encoder``, and then ``self.encoder(x)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics.code.tree import FUNCTIONS, all_parts, last_name, parts_apart

_HOLDERS = frozenset(
    {
        *("Sequential", "ModuleList", "ModuleDict", "DataParallel", "DistributedDataParallel"),
        *("list", "tuple", "dict", "deepcopy"),
    }
)
"""What holds the modules that it is given; a layer is given numbers: ``self.head = nn.Linear(width, classes)``."""


def runs_given_parts(node: ast.ClassDef) -> bool:
    """Whether a class stores a parameter of a method as an attribute of ``self``, and calls it or what is in it."""
    stored = {name for method in node.body if isinstance(method, FUNCTIONS) for name in _stored(method)}
    return bool(stored) and any(_run(part) in stored for part in all_parts(node) if type(part) in _RUNNING)


def _stored(method: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """The attributes that are given a parameter, or a list of such."""
    given = {each.arg for each in (*method.args.posonlyargs, *method.args.args, *method.args.kwonlyargs)}
    for part in parts_apart(method.body)[0]:
        if isinstance(part, ast.Assign):
            values = [part.value]
            if isinstance(part.value, ast.Call):
                values = part.value.args if last_name(part.value.func) in _HOLDERS else []
            elif isinstance(part.value, (ast.List, ast.Tuple)):
                values = part.value.elts
            for target in part.targets:
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                for each in targets:
                    if isinstance(each, ast.Attribute) and _is_self(each.value):
                        if any(isinstance(value, ast.Name) and value.id in given for value in values):
                            yield each.attr


_RUNNING = frozenset({ast.Call, ast.For})


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
