"""Classes of modules that have no parameters: their code makes none, and calls nothing that may have some.

What the parts are that it makes has to be asked of where they are from. Where a flag of the constructor decides,
``if trainable: self.weight = nn.Parameter(…)``, it is kept which value makes none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import Function, all_parts, last_name
from torchlint.semantics.summaries.local_names import LocalNames
from torchlint.semantics.summaries.members import Member
from torchlint.semantics.summaries.shown.freezing import asked_flag, flag_of, flags_of, may_thaw
from torchlint.semantics.summaries.summary import Parameterless, SelfFreezing

_MAKING = frozenset({"Parameter", "register_parameter"})
_OF_SELF = frozenset({"register_buffer", "size", "to", "cuda", "cpu", "eval", "train", "float", "half", "double"})
"""Methods of a module that give it no parameters."""
_OF_VALUES = torch_api.TENSOR_METHODS.keys() | {"append", "astype", "copy", "items", "keys", "values", "get", "format", "numpy"}


def parameterless_of(name: str, members: Sequence[Member]) -> Parameterless | None:
    """How a class of a name has no parameters, by its members alone; ``None`` where it may have some."""
    methods = {member.method.name: member.method for member in members if member.method is not None}
    if not methods or any(may_thaw(part) for member in members for part in _thawing(member)):
        return None
    constructor = methods.get("__init__")
    making = [call for member in members for call in member.every(ast.Call) if last_name(call.func) in _MAKING]
    by = _flag_of(constructor, making) if making else SelfFreezing()
    if by is None:
        return None
    apart = {part for call in making for part in all_parts(call)}
    stored = _stored(members)
    parts: dict[tuple[str, tuple[tuple[str, bool | None], ...]], None] = {}
    for member in members:
        scope = LocalNames() if member.method is None else LocalNames(member.method, parts=member.body)
        nested = {each.name for each in member.every(ast.FunctionDef) if not each.decorator_list}
        for call in member.every(ast.Call):
            if call in apart:
                continue
            reference = scope.reference(call.func)
            owner, _, method = reference.partition(".")
            if owner == name and method in methods:
                continue
            if reference and owner != "self":
                parts[reference, flags_of(call)] = None
            elif not _is_known(call.func, scope, set(methods), stored, nested):
                return None
    return Parameterless(by, tuple(parts))


def _thawing(member: Member) -> Iterator[ast.AST]:
    for kind in (ast.Call, ast.Assign, ast.keyword):
        yield from member.every(kind)


def _is_known(function: ast.expr, scope: LocalNames, methods: set[str], stored: dict[str, bool], nested: set[str]) -> bool:
    """Whether what is called is made by the class, by a call that is looked at itself, or is a method of a value."""
    match function:
        case ast.Call():
            return True
        case ast.Name(id=name):
            values = scope.values.get(name, [])
            return bool(values) and (name in nested or all(isinstance(each, ast.Call) for each in values))
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return name in methods | _OF_SELF if name not in stored else stored[name]
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super"))):
            return True
        case ast.Attribute(attr=method):
            return method in _OF_VALUES
    return False


def _stored(members: Sequence[Member]) -> dict[str, bool]:
    """The attributes of the object that the class stores, each with whether calls alone make what is stored."""
    found: dict[str, bool] = {}
    for member in members:
        plain: set[ast.AST] = set()
        for statement in member.every(ast.Assign):
            for target in statement.targets:
                match target:
                    case ast.Attribute(value=ast.Name(id="self"), attr=name):
                        plain.add(target)
                        found[name] = found.get(name, True) and isinstance(statement.value, ast.Call)
        for part in member.every(ast.Attribute):
            match part:
                case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if part not in plain:
                    found[name] = False
    return found


def _flag_of(constructor: Function | None, making: Sequence[ast.Call]) -> SelfFreezing | None:
    """The flag of a constructor that decides whether it makes any of its parameters; ``None`` where there is no such."""
    found: set[SelfFreezing] = set()
    left = set(making)
    for statement in constructor.body if constructor is not None else ():
        if isinstance(statement, ast.If):
            within = left.intersection(
                part for each in statement.body for part in all_parts(each) if isinstance(part, ast.Call)
            )
            if within:
                asked = asked_flag(statement.test)
                by = flag_of(constructor, asked[0], holds=not asked[1]) if asked is not None and constructor else None
                if by is None:
                    return None
                found.add(by)
                left -= within
    return found.pop() if len(found) == 1 and not left else None
