"""Assignments that `nn.Module` refuses: to the name of a parameter, a buffer or a module, of what is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

_PARAMETER = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_UNDOING = frozenset({"_parameters", "_buffers", "_modules", "__dict__", "__setattr__", "__delattr__"})
"""What a class speaks of that does the registering itself, or undoes it."""
_NEW_BY_METHOD = frozenset(
    {
        *("detach", "clone", "view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "expand", "flatten"),
        *("sum", "mean", "norm", "mul", "div", "add", "sub", "matmul", "mm", "bmm", "pow", "sqrt", "exp", "log", "abs"),
        *("clamp", "softmax", "sigmoid", "tanh", "masked_fill", "new_zeros", "new_ones", "new_empty", "new_full"),
    }
)
"""Methods of tensors whose result is never the tensor itself."""
_NEW_BY_FUNCTION = frozenset(
    {
        *(f"torch.{name}" for name in ("cat", "stack", "where", "softmax", "sigmoid", "tanh", "relu", "exp", "log", "sqrt")),
        *(f"torch.{name}" for name in ("abs", "clamp", "matmul", "mm", "bmm", "einsum", "mul", "div", "add", "sub", "clone")),
        *(f"torch.nn.functional.{name}" for name in ("normalize", "softmax", "relu", "sigmoid", "tanh", "gelu", "silu")),
    }
)
_HANDING_ON = frozenset({"torch.as_tensor", "torch.asarray"})
"""Functions that may give what they are given; found by running each on torch 2.13, as all that stands above."""
_OTHERS = frozenset({Type.NUMBER, Type.STRING, Type.ARRAY, Type.SEQUENCE, Type.MAPPING, Type.FUNCTION})


class Role(Enum):
    """What a name is registered as."""

    PARAMETER = "parameter"
    BUFFER = "buffer"
    MODULE = "module"


@dataclass(frozen=True, eq=False, slots=True)
class Refused(Generic[Node]):
    """The ``value`` that is assigned to what ``registered``, a statement of the constructor, makes a ``role`` of.

    ``given`` is the type of the value. The name ``is_filled`` where it has a tensor, or module, from the start, and not None.
    """

    role: Role
    value: Node
    registered: Node
    given: Type
    is_filled: bool


class RefusedAssignments:
    """Looks at the modules of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._classes = semantics.of(ModuleClasses)
        self._names: dict[ast.ClassDef, dict[str, tuple[Role, ast.stmt]]] = {}

    @cached_property
    def found(self) -> dict[ast.Assign, Refused[ast.AST]]:
        """The assignments, in methods of the class whose constructor registers the name."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.Assign, Refused[ast.AST]]]:
        for owner, facts in self._facts.classes.items():
            constructor = facts.methods.get("__init__")
            if constructor is None or not facts.slots or not self._classes.is_sure(owner):
                continue
            registered = {name: (role, statement) for name, role, statement in self._registered(constructor)}
            self._names[owner] = registered
            if not registered or self._undoes(owner):
                continue
            for name, (role, statement) in registered.items():
                for store in facts.slots[name].stores if name in facts.slots else ():
                    assignment = self._tree.parent(store)
                    if not isinstance(assignment, ast.Assign) or assignment.targets != [store]:
                        continue
                    given = self._refused(assignment.value, role)
                    if given is not None and self._is_behind(store, statement, constructor):
                        yield assignment, Refused(role, assignment.value, statement, given, self._is_filled(statement))

    def _registered(self, constructor: Function) -> Iterator[tuple[str, Role, ast.stmt]]:
        """What a constructor registers whatever its conditions: the names, as what, and where."""
        for statement in constructor.body:
            if any(isinstance(part, ast.Return) for part in walk(statement)):
                return
            match statement:
                case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=ast.Call() as value):
                    if self._facts.self_class(target.value) is not None and (role := self._role(value)) is not None:
                        yield name, role, statement
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=owner, attr=method), args=[ast.Constant(value=str(name)), *_])
                ):
                    if self._facts.self_class(owner) is None:
                        continue
                    if method == "register_buffer":
                        yield name, Role.BUFFER, statement
                    elif method == "register_parameter":
                        yield name, Role.PARAMETER, statement

    def _is_filled(self, registered: ast.stmt) -> bool:
        match registered:
            case ast.Expr(value=ast.Call(args=[_, value, *_])):
                return self._semantics.kind(value).is_tensor
        return isinstance(registered, ast.Assign)

    def _role(self, made: ast.Call) -> Role | None:
        if self._semantics.qualified_name(made.func) in _PARAMETER:
            return Role.PARAMETER
        kind = self._semantics.kind(made)
        is_known = isinstance(kind.definition, ast.ClassDef) and self._classes.is_sure(kind.definition)
        is_module = kind.type is Type.MODULE and (is_known or kind.name in torch_api.MODULES)
        return Role.MODULE if is_module else None

    def _undoes(self, owner: ast.ClassDef) -> bool:
        """Whether a class may take names out again, or registers in ways of its own."""
        for each in self._facts.bases(owner):
            for part in ast.walk(each):
                match part:
                    case ast.Delete() | ast.Call(func=ast.Name(id="delattr" | "setattr")):
                        return True
                    case ast.Call(func=function, args=given) if not (isinstance(function, ast.Name) and function.id == "super"):
                        if any(self._facts.self_class(part) is not None for part in given):
                            return True  # `weight_norm(self)`
                    case ast.Attribute(attr=name) | ast.FunctionDef(name=name) if name in _UNDOING:
                        return True
        return False

    def _is_behind(self, store: ast.Attribute, registered: ast.stmt, constructor: Function) -> bool:
        """Whether a name is registered when an assignment runs: behind it in the constructor, or in a method run later."""
        function = self._tree.function(store)
        if function is constructor:
            return store.lineno > registered.lineno
        if not isinstance(function, FUNCTIONS) or self._tree.parent(function) is not self._tree.parent(constructor):
            return False
        before = (call for call in self._facts.call_sites(function) if self._tree.function(call) is constructor)
        return all(call.lineno > registered.lineno for call in before)

    def _refused(self, value: ast.expr, role: Role) -> Type | None:
        """The type of a value that is refused in this role; ``None`` where it may be taken."""
        if self._is_plain(value):
            return Type.TENSOR if role is not Role.BUFFER else None
        if isinstance(value, ast.Call) and self._is_layer(value.func):
            return Type.TENSOR if role is Role.MODULE else None
        kind = self._semantics.kind(value)
        if kind.type in _OTHERS and not kind.loose:
            return kind.type
        is_module = role is Role.PARAMETER and isinstance(value, ast.Call) and self._role(value) is Role.MODULE
        return Type.MODULE if is_module else None

    def _is_layer(self, function: ast.expr) -> bool:
        """Whether a layer of torch that a constructor registers is called, which gives a tensor."""
        match self._registration(function):
            case Role.MODULE, ast.Assign(value=made):
                return self._semantics.kind(made).name in torch_api.MODULES
        return False

    def _registration(self, node: ast.expr) -> tuple[Role, ast.stmt] | None:
        """What a constructor registers an attribute of its class as, and where."""
        own = self._facts.self_class(node.value) if isinstance(node, ast.Attribute) else None
        return self._names.get(own, {}).get(node.attr) if own is not None and isinstance(node, ast.Attribute) else None

    def _is_plain(self, value: ast.expr) -> bool:
        """Whether a value is a tensor that is made on the spot, and no parameter."""
        match value:
            case ast.BinOp(left=left, right=right):
                return self._is_tensor(left) or self._is_tensor(right)
            case ast.UnaryOp(op=ast.USub(), operand=whole) | ast.Subscript(value=whole):
                return self._is_tensor(whole)
            case ast.Attribute(value=whole, attr="data" | "T" | "mT"):
                return self._is_tensor(whole)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                if name in _NEW_BY_FUNCTION or (name in torch_api.FACTORIES and name not in _HANDING_ON):
                    return True
                return (
                    isinstance(function, ast.Attribute) and function.attr in _NEW_BY_METHOD and self._is_tensor(function.value)
                )
        return False

    def _is_tensor(self, value: ast.expr) -> bool:
        """Whether a value is a tensor; what a constructor registers as one is, whatever is assigned to it later."""
        match self._registration(value):
            case Role.PARAMETER | Role.BUFFER, _:
                return True
        kind = self._semantics.kind(value)
        return (kind.is_tensor and not kind.loose) or self._is_plain(value)
