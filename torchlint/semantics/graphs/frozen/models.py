"""Models all of whose parameters a function freezes: what it computes with them afterwards is not recorded by autograd."""

from __future__ import annotations

import ast
from typing import TypeAlias

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import Function, position, walk_body
from torchlint.semantics.memory.references import Reference, References

_Node: TypeAlias = ast.stmt | ast.expr


class FrozenModels:
    """Tells of places in a function whether it has frozen a model before."""

    def __init__(self, semantics: Semantics) -> None:
        self._references = semantics.of(References)
        self._frozen: dict[Function, list[tuple[_Node, Reference]]] = {}

    def is_frozen(self, function: Function, model: Reference, node: _Node) -> bool:
        """Whether a function freezes all of a model above ``node``."""
        if function not in self._frozen:
            switches = [
                (place, frozen_by(place)) for place in walk_body(function.body) if isinstance(place, (ast.Call, ast.For))
            ]
            found = [(place, self._references.of(module)) for place, module in switches if module is not None]
            self._frozen[function] = [(place, reference) for place, reference in found if reference is not None]
        return any(model == frozen and position(place) < position(node) for place, frozen in self._frozen[function])


def frozen_by(node: ast.AST) -> ast.expr | None:
    """The module all of whose parameters a call or a statement freezes; ``None`` where it freezes none."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            return frozen_by(call)
        case ast.Call(func=ast.Attribute(value=module, attr="requires_grad_"), args=[ast.Constant(value=False)]):
            return module
        case ast.For(
            target=ast.Name(id=name),
            iter=ast.Call(func=ast.Attribute(value=module, attr="parameters"), args=[], keywords=[]),
            body=[only],
        ) if _freezes(only, name):
            return module
    return None


def _freezes(statement: ast.stmt, name: str) -> bool:
    """Whether a statement freezes the parameter that has a name."""
    match statement:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=owner), attr="requires_grad")], value=ast.Constant(value=False)
        ):
            return owner == name
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=owner), attr="requires_grad_"), args=[ast.Constant(value=False)]
            )
        ):
            return owner == name
    return False
