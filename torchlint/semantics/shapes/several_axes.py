"""Which tensors have two axes at least, where nothing says how many."""

from __future__ import annotations

import ast
from typing import TypeGuard

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.tree import is_none
from torchlint.semantics.shapes.batches import Batches
from torchlint.semantics.shapes.ranks import KEEPING, KEEPING_MODULES, Ranks
from torchlint.semantics.shapes.sizes import number

_ALONG = frozenset(
    {
        *("max", "min", "argmax", "argmin", "sum", "mean", "size", "topk", "sort", "argsort", "gather", "select", "unsqueeze"),
        *("softmax", "log_softmax", "norm", "prod", "cumsum", "narrow", "split", "chunk", "index_select", "logsumexp"),
    }
)
"""Functions and methods that are told an axis, by ``dim`` or first of all."""
_OF_CLASSES = frozenset({"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"})
_MODULES_OF_CLASSES = frozenset({"torch.nn.CrossEntropyLoss", "torch.nn.NLLLoss", "torch.nn.NLLLoss2d"})


class SeveralAxes:
    """Tells of one file's tensors whether they have two axes at least: from what makes them, and what is done with them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._ranks = semantics.of(Ranks)
        self._batches = semantics.of(Batches)
        self._beliefs = Beliefs(semantics.bindings, self._find)

    def has(self, node: ast.expr) -> bool:
        """Whether ``node`` is, on every path, a tensor with two axes or more."""
        return self.is_used_so(node) or self._beliefs.hold(node)

    def _find(self, value: Value) -> bool:
        if isinstance(value, Binding):
            return self._binds(value)
        if (rank := self._ranks.of(value)) is not None:
            return rank > 1
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._beliefs.hold(binding) for binding in bindings)
            case ast.Attribute(value=inner, attr="data") | ast.UnaryOp(operand=inner):
                return self._beliefs.hold(inner)
            case ast.BinOp(left=left, op=operator, right=right) if not isinstance(operator, ast.MatMult):
                return self._beliefs.hold(left) or self._beliefs.hold(right)
            case ast.Call():
                return self._gives(value)
        return False

    def _binds(self, binding: Binding) -> bool:
        if any(self.is_used_so(use) for use in binding.uses):
            return True
        value = binding.value
        return binding.form is Form.ASSIGNMENT and not binding.path and value is not None and self._beliefs.hold(value)

    def _gives(self, call: ast.Call) -> bool:
        """Whether a call gives a tensor with two axes or more."""
        module = self._semantics.kind(call.func)
        if module.type is Type.MODULE:
            is_torchs = module.name.startswith("torch.nn.")
            if (
                is_torchs
                and module.name.rpartition(".")[2] in KEEPING_MODULES
                and call.args
                and self._beliefs.hold(call.args[0])
            ):
                return True
            return self._batches.is_batch(call) and (not is_torchs or module.name.endswith(("Linear", "Sequential")))
        name = self._semantics.qualified_name(call.func) or ""
        last, operands = name.rpartition(".")[2], call.args
        if not name.startswith("torch.") and isinstance(call.func, ast.Attribute):
            last, operands = call.func.attr, [call.func.value, *call.args]
        if last in ("cat", "concat"):
            return (_axis(call, operands[1:]) or 0) > 0
        return last in KEEPING and bool(operands) and self._beliefs.hold(operands[0])

    def is_used_so(self, node: ast.expr) -> bool:
        """Whether something is done with a value, right where it stands, that takes a second axis."""
        match self._semantics.tree.parent(node):
            case ast.Subscript(value=value, slice=ast.Tuple(elts=indices)) if value is node:
                return sum(not is_none(index) for index in indices) > 1
            case ast.Attribute(attr=method) as attribute:
                match self._semantics.tree.parent(attribute):
                    case ast.Call(func=function) as call if function is attribute and method in _ALONG:
                        return self._takes_second(call, call.args, method)
                    case ast.Subscript(slice=index) if method == "shape":
                        return number(index) == 1
            case ast.Call(args=[first, *rest]) as call if first is node:
                name = self._semantics.qualified_name(call.func) or ""
                last = name.rpartition(".")[2]
                if name in _OF_CLASSES or self._semantics.kind(call.func).name in _MODULES_OF_CLASSES:
                    return True
                return name.startswith("torch.") and last in _ALONG and self._takes_second(call, rest, last)
        return False

    def is_result_used_so(self, call: ast.Call) -> bool:
        """Whether the same is done with what a call gives, right there or by its name."""
        uses: list[ast.expr] = [call]
        match self._semantics.tree.parent(call):
            case ast.Assign(targets=[ast.Name() as target]) if (binding := self._semantics.bindings.of(target)) is not None:
                uses += binding.uses
        around = (self._semantics.tree.parent(use) for use in uses)
        return any(map(self.is_used_so, [*uses, *(each for each in around if _is_data(each))]))

    @staticmethod
    def _takes_second(call: ast.Call, arguments: list[ast.expr], operation: str) -> bool:
        if operation in ("topk", "split", "chunk", "norm"):
            arguments = arguments[1:]
        axis = _axis(call, arguments)
        return axis is not None and axis > (1 if operation == "unsqueeze" else 0)


def _axis(call: ast.Call, arguments: list[ast.expr]) -> int | None:
    """The axis that a call is told, where that is written out."""
    word = next((word.value for word in call.keywords if word.arg in ("dim", "axis")), None)
    given = word if word is not None else arguments[0] if arguments else None
    return number(given) if given is not None else None


def _is_data(node: ast.AST | None) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "data"
