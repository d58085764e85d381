"""What the constructor of a module registers, whatever its conditions: parameters, buffers and modules, by their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.tree import argument, walk
from torchlint.semantics.modules.classes import ModuleClasses

_PARAMETER = "torch.nn.Parameter"
_BUFFER = "torch.nn.Buffer"
_REGISTERING = {"register_buffer": "tensor", "register_parameter": "param"}


class Role(Enum):
    """What a name is registered as."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    MODULE = "module"


@dataclass(frozen=True, eq=False, slots=True)
class Registered:
    """What a name is registered as, where, and with what; it ``is_filled`` where that is known not to be None."""

    role: Role
    statement: ast.stmt
    value: ast.expr
    is_filled: bool


class RegisteredNames:
    """Tells what the classes of one file register."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._found: dict[ast.ClassDef, dict[str, Registered]] = {}

    def of(self, owner: ast.ClassDef) -> dict[str, Registered]:
        """What the constructor of a class registers in statements of its own, before it may be left."""
        if owner not in self._found:
            self._found[owner] = dict(self._registered(owner))
        return self._found[owner]

    def named(self, node: ast.expr) -> Registered | None:
        """What an attribute of ``self`` is registered as."""
        own = self._facts.self_class(node.value) if isinstance(node, ast.Attribute) else None
        return self.of(own).get(node.attr) if own is not None and isinstance(node, ast.Attribute) else None

    def _registered(self, owner: ast.ClassDef) -> Iterator[tuple[str, Registered]]:
        constructor = self._facts.classes[owner].methods.get("__init__")
        for statement in constructor.body if constructor is not None else ():
            if any(isinstance(part, ast.Return) for part in walk(statement)):
                return
            match statement:
                case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=ast.Call() as value):
                    if self._facts.self_class(target.value) is not None and (role := self.role(value)) is not None:
                        yield name, Registered(role, statement, value, is_filled=True)
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=method)) as call) if method in _REGISTERING:
                    named, given = argument(call, 0, "name"), argument(call, 1, _REGISTERING[method])
                    if self._facts.self_class(base) is None or given is None:
                        continue
                    if isinstance(named, ast.Constant) and isinstance(named.value, str):
                        role = Role.BUFFER if method == "register_buffer" else Role.PARAMETER
                        yield named.value, Registered(role, statement, given, self._semantics.kind(given).is_tensor)

    def role(self, made: ast.Call) -> Role | None:
        """What a call makes, if that is registered under the name that it is given."""
        name = self._semantics.qualified_name(made.func)
        if name == _PARAMETER:
            return Role.PARAMETER
        if name == _BUFFER:
            return Role.BUFFER
        kind = self._semantics.kind(made)
        is_own = isinstance(kind.definition, ast.ClassDef) and self._semantics.of(ModuleClasses).is_sure(kind.definition)
        return Role.MODULE if kind.type is Type.MODULE and (is_own or kind.name in torch_api.MODULES) else None
