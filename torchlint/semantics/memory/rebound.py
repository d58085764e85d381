"""Loops that compute something new of each item and keep it nowhere: ``for v in batch: v = v.to(device)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, walk

Node = TypeVar("Node")

_PARAMETERS = {"parameters": (), "named_parameters": (1,), "buffers": (), "named_buffers": (1,)}
"""Methods of modules that give tensors, and where these are in each item."""
_MOVES = frozenset({"to", "cuda", "cpu", "type", "float", "half", "double", "bfloat16", "long", "int", "bool"})
"""What gives a tensor of another device or type, which a tensor cannot be changed into."""
_METHODS = (
    frozenset(name for name, result in torch_api.TENSOR_METHODS.items() if result == "tensor") | {"to", "type", "cuda", "cpu"}
) - torch_api.INPLACE_METHODS
_FUNCTIONS = frozenset(
    name
    for name, result in torch_api.FUNCTIONS.items()
    if result == "tensor" and not name.endswith("_") and not name.startswith(("torch.nn.init.", "torch.nn.utils."))
)


@dataclass(frozen=True, eq=False, slots=True)
class Rebound(Generic[Node]):
    """The new value of a loop's variable that nothing reads: the items of ``container`` stay as they are.

    ``loop`` does nothing else if it is ``alone``. An item can be stored under ``key`` where there is one, ``parameters`` can be
    changed in place unless they would have to be ``moved``. ``names`` are the items where they are written out.
    """

    container: Node
    loop: Node
    key: Node | None
    names: tuple[Node, ...]
    alone: bool
    parameters: bool
    moved: bool


class ReboundItems:
    """Looks at the loops of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Assign, Rebound[ast.AST]]:
        """The assignments to a loop's variable of what nothing reads."""
        found: dict[ast.Assign, Rebound[ast.AST]] = {}
        if "torch" not in self._semantics.names.imported_libraries:
            return found
        for loop in self._tree.of_type(ast.For):
            for name in _targets(loop.target):
                rebound = self._assignment(loop, name) or self._replacement(loop, name)
                if rebound is not None and (what := self._rebound(loop, name, rebound)) is not None:
                    found[rebound] = what
        return found

    def _assignment(self, loop: ast.For, name: ast.Name) -> ast.Assign | None:
        """The one assignment in the body of a loop that gives its variable a value that is computed of it, and is not read."""
        variable = self._semantics.bindings.of(name)
        if variable is None or len(variable.uses) > _MOST:
            return None
        assigning = [use for use in variable.uses if _assigns(self._tree.statement(use), name.id)]
        if not assigning:
            return None
        use = assigning[0]
        statement = self._tree.statement(use)
        if not all(self._is_apart(other, statement, loop) for other in variable.uses if other is not use):
            return None
        match statement:
            case ast.Assign(targets=[ast.Name(id=target) as stored], value=value) if target == name.id:
                new = self._semantics.bindings.of(stored)
                if new is None or new.uses or next(self._tree.loops(statement), None) is not loop:
                    return None
                if self._semantics.bindings.reaching(use) != (variable,) or _is_outer(new) or not self._is_new(value, use):
                    return None
                return statement
        return None

    def _replacement(self, loop: ast.For, name: ast.Name) -> ast.Assign | None:
        """The assignment that gives a loop's parameter a tensor from elsewhere, which is not read: ``p = averaged[name]``."""
        match self._container(loop, name)[0]:
            case ast.Call(func=ast.Attribute(attr=method), args=[]) if method in _PARAMETERS:
                inside = (part for statement in loop.body for part in walk(statement))
            case _:
                return None
        for statement in inside:
            match statement:
                case ast.Assign(targets=[ast.Name(id=target) as stored], value=value) if target == name.id:
                    new = self._semantics.bindings.of(stored)
                    if new is None or new.uses or _is_outer(new) or next(self._tree.loops(statement), None) is not loop:
                        continue
                    if self._is_taken(value) and not any(
                        isinstance(part, ast.Name) and part.id == target for part in walk(value)
                    ):
                        return statement
        return None

    def _is_taken(self, value: ast.expr) -> bool:
        """Whether a value is an item of something, ``averaged[name].clone()``, and nothing else happens."""
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _METHODS:
            if any(word.arg in ("out", "inplace") for word in value.keywords):
                return False
            value = value.func.value
        return isinstance(value, ast.Subscript) and not any(isinstance(part, (ast.Call, ast.NamedExpr)) for part in walk(value))

    def _is_apart(self, use: ast.Name, statement: ast.stmt, loop: ast.For) -> bool:
        """Whether a use of a loop's variable decides if a statement is run, or stands where that is not run."""
        child: ast.AST = statement
        for parent in self._tree.ancestors(statement):
            if parent is loop:
                return False
            if isinstance(parent, ast.If) and self._tree.inside(use, parent):
                return self._tree.inside(use, parent.test) or not any(
                    self._tree.inside(use, each) for each in _arm(parent, child)
                )
            child = parent
        return False

    def _is_new(self, value: ast.expr, use: ast.Name) -> bool:
        """Whether a value is a new tensor that is computed of the one in ``use``, and nothing else happens."""
        return self._is_tensor(use) and self._is_computed(value, use)

    def _is_tensor(self, use: ast.Name) -> bool:
        """Whether a loop's variable is a tensor: it is known to be one, or is in a dict that a data loader gives."""
        if self._semantics.kind(use).is_tensor:
            return True
        (binding,) = self._semantics.bindings.reaching(use)
        match binding.value:
            case ast.Call(func=ast.Attribute(value=whole, attr="items" | "values"), args=[]):
                kind = self._semantics.kind(whole)
                return kind.is_tensor and kind.loose
        return False

    def _is_computed(self, value: ast.expr, use: ast.Name) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), keywords=words) if name in _METHODS:
                if any(word.arg in ("out", "inplace") for word in words):
                    return False
                if not any(part is use for part in walk(owner)):
                    return self._is_function(value, use)
                return owner is use or self._is_computed(owner, use)
            case ast.Call():
                return self._is_function(value, use)
            case ast.BinOp() | ast.UnaryOp():
                return not any(isinstance(part, (ast.Call, ast.NamedExpr)) and not self._is_pure(part) for part in walk(value))
        return False

    def _is_function(self, call: ast.Call, use: ast.Name) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name not in _FUNCTIONS or any(word.arg in ("out", "inplace") for word in call.keywords) or not call.args:
            return False
        return call.args[0] is use or self._is_computed(call.args[0], use)

    def _is_pure(self, part: ast.AST) -> bool:
        """Whether a call in an operation computes something and does nothing else."""
        if not isinstance(part, ast.Call):
            return False
        if isinstance(part.func, ast.Attribute) and part.func.attr in _METHODS:
            return True
        name = self._semantics.qualified_name(part.func) or ""
        return name in _FUNCTIONS or name.startswith(("math.", "numpy.")) or name in ("builtins.float", "builtins.len")

    # --- whose items they are ----------------------------------------------------------------------------------------

    def _rebound(self, loop: ast.For, name: ast.Name, statement: ast.Assign) -> Rebound[ast.AST] | None:
        container, key, is_item = self._container(loop, name)
        alone = loop.body == [statement] and not loop.orelse
        value = statement.value
        moved = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MOVES
        match container:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[]) if _PARAMETERS.get(method) == is_item:
                kind = self._semantics.kind(owner).type
                is_module = kind in (Type.MODULE, Type.UNKNOWN) or self._semantics.facts.self_class(owner) is not None
                return Rebound(container, loop, None, (), alone, True, moved) if is_module else None
            case ast.Name() | ast.Attribute() if is_item == () and self._is_kept(container, loop):
                return Rebound(container, loop, key, (), alone, False, moved)
            case ast.Tuple(elts=items) | ast.List(elts=items) if is_item == () and key is None:
                if len(items) > 1 and all(isinstance(item, ast.Name) and self._is_kept(item, loop) for item in items):
                    return Rebound(container, loop, None, tuple(items), alone, False, moved)
        return None

    def _container(self, loop: ast.For, name: ast.Name) -> tuple[ast.expr, ast.expr | None, tuple[int, ...]]:
        """What a loop's variable is an item of, its key there if the loop has one, and where it is in what is iterated over."""
        match loop.iter, loop.target:
            case (
                ast.Call(func=ast.Attribute(value=container, attr="items"), args=[]),
                ast.Tuple(elts=[ast.Name() as key, item]),
            ) if item is name:
                return container, key, ()
            case ast.Call(func=ast.Attribute(value=container, attr="values"), args=[]), target if target is name:
                return container, None, ()
            case ast.Call(func=ast.Name(id="enumerate"), args=[container]), ast.Tuple(elts=[ast.Name() as key, item]):
                if item is name:
                    return container, key, ()
            case iterated, ast.Tuple(elts=[_, item]) if item is name:
                return iterated, None, (1,)
            case iterated, target if target is name:
                return iterated, None, ()
        return loop.iter, None, (-1,)

    def _is_kept(self, container: ast.expr, loop: ast.For) -> bool:
        """Whether something holds tensors that is read once more behind a loop, and gives the same ones each time."""
        kind = self._semantics.kind(container)
        if kind.type in (Type.LOADER, Type.MODULE, Type.INSTANCE, Type.ARRAY) or kind.name.endswith("Loader"):
            return False
        if not isinstance(container, ast.Name):
            return kind.type in (Type.SEQUENCE, Type.MAPPING)
        return any(
            use is not container
            and self._semantics.control_flow.may_follow(container, use)
            and not self._tree.inside(use, loop)
            for binding in self._semantics.bindings.reaching(container)
            for use in binding.uses[:_MOST]
        )


_MOST = 24
"""How many uses of a container are looked at."""


def _targets(target: ast.expr) -> list[ast.Name]:
    match target:
        case ast.Name():
            return [target]
        case ast.Tuple(elts=parts):
            return [part for part in parts if isinstance(part, ast.Name)]
    return []


def _assigns(statement: ast.stmt, name: str) -> bool:
    """Whether a statement assigns to a name, and to nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
    return False


def _arm(branch: ast.If, statement: ast.AST) -> list[ast.stmt]:
    """The statements beside one of a branch, and itself."""
    return branch.body if statement in branch.body else branch.orelse


def _is_outer(binding: Binding) -> bool:
    """Whether a name is read elsewhere: other code may read the module's names, and a class's."""
    return (
        binding.form is not Form.ASSIGNMENT
        or isinstance(binding.scope.node, ast.ClassDef)
        or bool(not isinstance(binding.scope.node, FUNCTIONS) and binding.name in binding.scope.foreign)
    )
