"""Values that nothing reads but behind a ``detach()``: there and then, or by variables and what is computed of them."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.modes.runs.recorded_models import RecordedModels

_FORM = frozenset({"shape", "device", "dtype", "size", "ndim", "dim", "numel"})
"""What is read of a tensor that no graph is needed for."""
_KEPT = frozenset({"append", "extend", "insert", "add_", "copy_", "backward", "register_hook", "retain_grad", "requires_grad_"})
"""Methods that keep what they are given, or need the graph of what they are called on."""
_REDUCING = frozenset({"mean", "sum", "std", "var", "max", "min", "argmax", "argmin", "norm", "item", "tolist", "numpy", "eq"})
"""Methods whose result is no other look at the same tensor."""
_OF_GRAPHS = ("torch.autograd.", "torch.func.", "torch.jit.", "torch.utils.")
"""Functions of torch that ask for a graph, or keep what they are given."""
_READING = frozenset(f"builtins.{name}" for name in ("print", "float", "int", "bool", "len", "str", "repr", "isinstance"))
_DEEPEST = 40
"""So many operations and variables a value is followed through."""


class CutValues:
    """Tells of values whether their graph goes nowhere."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._bound: dict[Binding, bool | None] = {}

    def are_cut(self, value: ast.expr) -> bool:
        """Whether all that is made of a value is detached, and something is."""
        return self._ends(value, _DEEPEST) is True

    def _ends(self, value: ast.expr, depth: int) -> bool | None:
        """Whether a value is detached in the end; false if only its form is read, ``None`` if its graph may be used."""
        if not depth:
            return None
        if self._semantics.no_grad.covers(value) and self._is_computed_with(value):
            return False
        match self._tree.parent(value):
            case ast.Attribute(attr="detach") as attribute:
                return True if isinstance(self._tree.parent(attribute), ast.Call) else None
            case ast.Attribute(attr=name) if name in _FORM:
                return False
            case ast.Attribute(attr=name) as attribute if name not in _KEPT:
                outer = self._tree.parent(attribute)
                called = outer if isinstance(outer, ast.Call) and outer.func is attribute else attribute
                return self._ends(called, depth - 1)
            case ast.Call(func=function) as call if function is not value and self._computes(call):
                return self._ends(call, depth - 1)
            case ast.keyword() as word:
                taker = self._tree.parent(word)
                return self._ends(taker, depth - 1) if isinstance(taker, ast.Call) and self._computes(taker) else None
            case ast.Subscript(value=whole) as item if whole is value and isinstance(item.ctx, ast.Load):
                return self._ends(item, depth - 1)
            case ast.BinOp() | ast.UnaryOp() | ast.Tuple() | ast.List() as around if self._is_read(around):
                return self._ends(around, depth - 1)
            case ast.IfExp(test=test) as choice if test is not value:
                return self._ends(choice, depth - 1)
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                return self._bound_ends(binding, depth - 1) if binding is not None else None
        return None

    def _is_computed_with(self, value: ast.expr) -> bool:
        """Whether an operation takes a value, and gives none that is the same: where autograd is off, that has no graph."""
        match self._tree.parent(value):
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.FormattedValue():
                return True
            case ast.Attribute(attr=name) as attribute:
                return name in _REDUCING and isinstance(self._tree.parent(attribute), ast.Call)
            case ast.Call(func=function) if function is not value:
                return self._semantics.qualified_name(function) in _READING
        return False

    def _is_read(self, around: ast.expr) -> bool:
        """Whether a tuple or list is no target, and is handed to a function right away: ``torch.cat([x, y])``."""
        if not isinstance(around, (ast.Tuple, ast.List)):
            return True
        return isinstance(around.ctx, ast.Load) and isinstance(self._tree.parent(around), ast.Call)

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call gives a tensor of what it is given, and keeps nothing: of torch, of a module, or of a tensor."""
        name = self._semantics.qualified_name(call.func) or ""
        if last_name(call.func).endswith("_") or name.startswith(_OF_GRAPHS):
            return False
        if name.startswith("torch."):
            return True
        if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).is_tensor:
            return call.func.attr not in _KEPT
        kind = self._semantics.kind(call.func)
        return kind.type is Type.MODULE and not self._semantics.of(RecordedModels).may_keep(kind)

    def _bound_ends(self, binding: Binding, depth: int) -> bool | None:
        """Likewise of what a variable of a function has, which no other function reads."""
        if binding not in self._bound:
            self._bound[binding] = None  # while it is followed
            self._bound[binding] = self._find_bound(binding, depth)
        return self._bound[binding]

    def _find_bound(self, binding: Binding, depth: int) -> bool | None:
        function = binding.scope.node
        if binding.form is not Form.ASSIGNMENT or binding.path or not isinstance(function, FUNCTIONS):
            return None
        if self._semantics.of(Changes).augmented(binding):
            return None
        ends = {self._ends(use, depth) if self._tree.function(use) is function else None for use in binding.uses}
        return None if None in ends else True in ends
