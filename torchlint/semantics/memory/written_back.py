"""Values that are computed to be written into other tensors, through their ``.data`` or with autograd off, and nothing else.

What is to be changed is the statement that writes: under ``no_grad``, a ``.data`` of what it takes is as good as the tensor.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Binding, Semantics

_COMPUTES = frozenset(
    {"mean", "sum", "std", "var", "norm", "abs", "pow", "sqrt", "view", "reshape", "unsqueeze", "clone", "detach"}
)
"""Methods whose results go where the tensor would have gone."""
_DEPTH = 4


class WrittenBack:
    """Tells of expressions whether all that becomes of them, by arithmetic and under names, is written so."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._written: dict[Binding, bool] = {}
        """Of each name that was asked for, whether all that is done with its value is to write it."""

    def is_all(self, node: ast.expr) -> bool:
        """Whether a value goes through a name into what is written: `new = t * p.data`, then `q.data.copy_(new)`."""
        return self._reaches(node, _DEPTH, named=False)

    def goes_into_data(self, data: ast.expr) -> bool:
        """Whether values go at once to where another `.data` leads: `y.data.copy_(2 * x.data)`, `y.data = 2 * x.data`.

        That one hides more.
        """
        node: ast.AST = data
        while isinstance(parent := self._tree.parent(node), (ast.expr, ast.keyword)):
            match parent:
                case ast.Call(func=ast.Attribute(value=changed, attr=method)) if node in parent.args and method.endswith("_"):
                    return _is_reached_by_data(changed)
                case ast.Compare() | ast.Lambda():
                    return False
                case ast.Subscript(value=value) if value is not node:
                    return False
            node = parent
        return isinstance(parent, ast.Assign) and any(map(_is_data, parent.targets))

    def _reaches(self, node: ast.expr, depth: int, *, named: bool) -> bool:
        while True:
            parent = self._tree.parent(node)
            following = parent if isinstance(parent, (ast.BinOp, ast.UnaryOp)) else self._tree.called(node, _COMPUTES)
            if following is None:
                break
            node = following
        match parent:
            case ast.AugAssign(target=ast.Attribute(attr="data"), value=value):
                return named and value is node
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is node and depth:
                binding = self._semantics.bindings.of(target)
                return binding is not None and self._is_written(binding, depth - 1)
            case ast.Assign(targets=[ast.Attribute(attr="data")], value=value):
                return named and value is node
            case ast.Call(func=ast.Attribute(value=target, attr="copy_" | "add_" | "sub_"), args=[given]) if given is node:
                is_data = isinstance(target, ast.Attribute) and target.attr == "data"
                return named and (is_data or self._semantics.no_grad.block(parent))
        return False

    def _is_written(self, binding: Binding, depth: int) -> bool:
        if binding not in self._written:
            self._written[binding] = False  # while its uses are looked at
            uses = binding.uses
            self._written[binding] = bool(uses) and all(self._reaches(use, depth, named=True) for use in uses)
        return self._written[binding]


def _is_reached_by_data(changed: ast.expr) -> bool:
    """Whether a tensor is reached through a ``.data`` and what is changed of it in place: ``y.data.mul_(2)``."""
    while isinstance(changed, ast.Call) and isinstance(changed.func, ast.Attribute) and changed.func.attr.endswith("_"):
        changed = changed.func.value
    return isinstance(changed, ast.Attribute) and changed.attr == "data"


def _is_data(target: ast.expr) -> bool:
    """Whether a ``.data`` is assigned to, or several at once."""
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(part, ast.Attribute) and part.attr == "data" for part in parts)


class PutBackClones:
    """Tells of assignments to a ``.data`` whether they put back what the same optimizer has cloned."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, statement: ast.Assign, tensor: ast.expr) -> bool:
        """Whether a clone is put back with autograd off: ``p.data = self.state[p]["old"]`` of ``p.data.clone()``."""
        owner = self._tree.enclosing_class(statement)
        if owner is None or not self._semantics.no_grad.covers(statement):
            return False
        return (owner, ast.unparse(tensor), ast.unparse(statement.value)) in self._cloned

    @cached_property
    def _cloned(self) -> set[tuple[ast.ClassDef, str, str]]:
        """In which optimizer, of which tensor, and where each clone is kept."""
        found: set[tuple[ast.ClassDef, str, str]] = set()
        for statement in self._tree.of_type(ast.Assign):
            match statement:
                case ast.Assign(
                    targets=[ast.Subscript() as kept],
                    value=ast.Call(func=ast.Attribute(value=tensor, attr="clone"), args=[], keywords=[]),
                ):
                    owner = self._tree.enclosing_class(statement)
                    if owner is not None and self._is_optimizer(owner):
                        found.add((owner, ast.unparse(_plain(tensor)), ast.unparse(kept)))
        return found

    def _is_optimizer(self, owner: ast.ClassDef) -> bool:
        return any((self._semantics.qualified_name(base) or "").startswith("torch.optim.") for base in owner.bases)


def _plain(tensor: ast.expr) -> ast.expr:
    """A tensor whose values are cloned, without what takes it out of its graph: ``p`` of ``p.data`` and ``p.detach()``."""
    match tensor:
        case ast.Attribute(value=inner, attr="data") | ast.Call(func=ast.Attribute(value=inner, attr="detach")):
            return inner
    return tensor
