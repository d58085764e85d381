"""What is done to a value that is kept, by the name that it has beside the container that keeps it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding

_ALIASING = torch_api.VIEW_METHODS | torch_api.MAYBE_VIEW_METHODS | {"cpu", "cuda", "to", "float", "detach", "data"}
CHANGING = frozenset({"zero_", "mul_", "div_", "add_", "sub_", "clamp_", "fill_"})
FILLING = frozenset({"append", "appendleft", "insert", "extend", "clear", "reverse", "update", "keys"})
ENDS = frozenset(
    f"builtins.{name}" for name in ("print", "float", "int", "bool", "str", "repr", "len", "format", "isinstance", "type")
)
HANDS_ON = frozenset(
    f"builtins.{name}"
    for name in ("max", "min", "sorted", "list", "tuple", "reversed", "enumerate", "zip", "iter", "next", "dict")
)
COMPUTES = frozenset({"builtins.sum", "builtins.abs"})


class KeptChanges:
    """Tells of values that are kept whether what is detached of them, or their number, stays what they are."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._added: dict[tuple[ast.AST, str], dict[Binding, list[Binding]]] = {}
        self._left_alone: dict[tuple[Binding, ...], Fact] = {}
        self._unchanged: dict[tuple[Binding, ...], Fact] = {}

    def left_alone(self, part: ast.expr) -> Fact:
        """Whether a value that is kept gets no other memory and no other shape, which what is detached of it would not see."""
        bindings = self._bindings(part)
        if bindings not in self._left_alone:
            self._left_alone[bindings] = self._is_left_alone(bindings)
        return self._left_alone[bindings]

    def _is_left_alone(self, bindings: Iterable[Binding]) -> Fact:
        for use in self._uses(bindings):
            method = self._semantics.tree.parent(use)
            if isinstance(method, ast.Attribute) and (
                isinstance(method.ctx, ast.Store) or (method.attr.endswith("_") and method.attr not in CHANGING)
            ):
                return unknown(f"`{ast.unparse(method)}` changes the tensor that is kept")
        return CERTAIN

    def unchanged(self, part: ast.expr) -> Fact:
        """Whether nothing changes a value that is kept, which its number would not see: it is only computed with."""
        bindings = self._bindings(part)
        if bindings not in self._unchanged:
            self._unchanged[bindings] = self._is_unchanged(bindings)
        return self._unchanged[bindings]

    def _is_unchanged(self, bindings: Collection[Binding]) -> Fact:
        for binding in bindings:
            if self.added_to(binding):
                return unknown(f"`{binding.name}` is changed in place")
        for use in self._uses(bindings):
            parent = self._semantics.tree.parent(use)
            match parent:
                case ast.Attribute(attr=method):
                    is_known = method in torch_api.TENSOR_METHODS and not method.endswith("_") and method not in _ALIASING
                case ast.Call(func=function):
                    name = self._semantics.qualified_name(function) or ""
                    is_known = name.startswith("torch.") or name in ENDS | HANDS_ON | COMPUTES or self._is_kept(parent)
                case _:
                    is_known = isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare, ast.FormattedValue)) or (
                        isinstance(parent, ast.Assign) and not isinstance(parent.targets[0], ast.Name)
                    )
            if not is_known:
                return unknown(f"`{ast.unparse(use)}` may be changed in place")
        return CERTAIN

    def _is_kept(self, call: ast.Call) -> bool:
        return isinstance(call.func, ast.Attribute) and call.func.attr in FILLING

    def _bindings(self, part: ast.expr) -> tuple[Binding, ...]:
        return tuple(self._semantics.bindings.reaching(part)) if isinstance(part, ast.Name) else ()

    def _uses(self, bindings: Iterable[Binding]) -> Iterator[ast.Name]:
        return (use for binding in bindings for use in binding.uses)

    def added_to(self, binding: Binding) -> list[Binding]:
        """The augmented assignments to what a variable has from a binding."""
        key = (binding.scope.node, binding.name)
        if key not in self._added:
            found: dict[Binding, list[Binding]] = {}
            for later in binding.scope.bindings.get(binding.name, ()):
                for before in later.before:
                    found.setdefault(before, []).append(later)
            self._added[key] = found
        return self._added[key].get(binding, [])
