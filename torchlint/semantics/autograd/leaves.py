"""Whether a value is surely what an operation produced: no leaf of the graph, whatever autograd recorded of it."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, Tree
from torchlint.semantics.kinds.kind import Grad, Kind, Type

MAY_RETURN_ITSELF = frozenset(
    {
        *("contiguous", "to", "type", "type_as", "cpu", "cuda", "float", "double", "half", "bfloat16", "flatten", "ravel"),
        *("to_dense", "positive", "resolve_conj", "resolve_neg", "requires_grad_", "dropout", "dropout1d", "dropout2d"),
        *("dropout3d", "alpha_dropout", "feature_alpha_dropout", "atleast_1d", "atleast_2d", "atleast_3d", "real", "squeeze_"),
    }
)
"""Methods and functions that, for some arguments, return the very tensor that they were given (ran)."""
_MAY_BE_INPUT = frozenset(
    {"torch.nn.Identity", "torch.nn.Dropout", "torch.nn.Dropout2d", "torch.nn.Flatten", "torch.nn.Sequential"}
)
_COPYING_CASTS = frozenset({"double", "half", "bfloat16"})
_DEVICE = re.compile(r"(\w*_)?(device|dev|cuda|gpu)", re.IGNORECASE)


class Operations:
    """Tells results of operations from leaves."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._results: dict[ast.AST, bool] = {}

    def is_result(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor with graph that an operation made: on each way that the file shows."""
        if node not in self._results:
            self._results[node] = False  # what is made of itself alone
            self._results[node] = self._is_result(node)
        return self._results[node]

    def is_result_binding(self, binding: Binding) -> bool:
        """Whether what a binding gives its name is the result of an operation."""
        if binding.form is Form.AUGMENTED:
            return bool(binding.before) and all(self.is_result_binding(first) for first in _first(binding))
        if binding.form is not Form.ASSIGNMENT or binding.value is None:
            return False
        if binding.path:
            return isinstance(binding.value, ast.Call) and self._is_item(binding)
        return self.is_result(binding.value)

    def _is_item(self, binding: Binding) -> bool:
        """Whether a name gets one of several results: ``output, hidden = rnn(x)``, ``a, b = x.chunk(2)``."""
        assert isinstance(binding.value, ast.Call)
        kind = self._semantics.inference.binding_kind(binding)
        return self._has_graph(kind) and self._is_torch_call(binding.value)

    def _is_result(self, node: ast.expr) -> bool:
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(self.is_result_binding(binding) for binding in bindings)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_result(body) and self.is_result(orelse)
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                return self._has_graph(self._semantics.kind(node))
            case ast.Subscript(value=value):
                base = self._semantics.kind(value)
                return base.is_tensor and not base.loose and base.grad in (Grad.GRAPH, Grad.LEAF) and self._records(node)
            case ast.Attribute(value=value, attr="T" | "mT" | "H" | "mH"):
                return self._has_graph(self._semantics.kind(node))
            case ast.Attribute():
                return self._is_result_slot(node)
            case ast.Call():
                return self._is_result_call(node)
        return False

    def _is_result_slot(self, node: ast.Attribute) -> bool:
        """Whether every value that the class stores in an attribute of ``self`` is a result."""
        facts = self._semantics.facts
        owner = facts.self_class(node.value)
        slots = facts.slots(owner, node.attr) if owner is not None else []
        stores = [store for slot in slots for store in slot.stores]
        if not stores or any(slot.class_values for slot in slots):
            return False
        for store in stores:
            match self._semantics.tree.parent(store):
                case ast.Assign(targets=[target], value=ast.Constant(value=None)) if target is store:
                    continue
                case ast.Assign(targets=targets, value=value) if store in targets and self.is_result(value):
                    continue
            return False
        return self._has_graph(self._semantics.kind(node))

    def _is_result_call(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if isinstance(call.func, ast.Attribute) and not name.startswith("torch."):
            receiver = call.func.value
            base = self._semantics.kind(receiver)
            if base.is_tensor and (call.func.attr in MAY_RETURN_ITSELF or call.func.attr in torch_api.INPLACE_METHODS):
                return self.is_result(receiver) or self._is_moved_leaf(call, call.func)
        if not self._has_graph(self._semantics.kind(call)):
            return False
        if self._is_torch_call(call):
            return True
        function = self._semantics.kind(call.func)
        if function.type is Type.MODULE and isinstance(function.definition, ast.ClassDef):
            forward = self._semantics.facts.method(function.definition, "forward")
            return forward is not None and self._returns_result(forward)
        return isinstance(function.definition, FUNCTIONS) and self._returns_result(function.definition)

    def _is_torch_call(self, call: ast.Call) -> bool:
        """Whether an operation of torch is called: one of its functions, a method of a tensor, a module with a graph."""
        name = self._semantics.qualified_name(call.func) or ""
        last = name.rpartition(".")[2]
        if name.startswith("torch."):
            return last not in MAY_RETURN_ITSELF and name not in torch_api.FACTORIES and name != "torch.autograd.Variable"
        function = self._semantics.kind(call.func)
        if function.type is Type.MODULE:
            return function.definition is None and bool(call.args) and function.name not in _MAY_BE_INPUT
        if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).is_tensor:
            return call.func.attr in torch_api.TENSOR_METHODS and call.func.attr not in MAY_RETURN_ITSELF
        return False

    def _returns_result(self, function: Function) -> bool:
        values = self._semantics.facts.returned(function)
        return bool(values) and all(value is not None and self.is_result(value) for value in values)

    def _is_moved_leaf(self, call: ast.Call, function: ast.Attribute) -> bool:
        """Whether a leaf is copied to another device or type: the copy is what gets the name."""
        if not self._records(call) or not (function.attr in _COPYING_CASTS or _moves(call, function)):
            return False
        match function.value:
            case ast.Call() as made:
                return self._semantics.kind(made).grad is Grad.LEAF and self._is_made_on_cpu(made)
            case ast.Name() as name:
                return self._is_made_leaf_before(name)
        return False

    def _is_made_on_cpu(self, made: ast.Call) -> bool:
        """Whether a factory makes a tensor in the usual place, of the usual type."""
        name = self._semantics.qualified_name(made.func)
        if name not in torch_api.FACTORIES and name != "torch.autograd.Variable":
            return False
        calls = [part for part in ast.walk(made) if isinstance(part, ast.Call)]
        moved = any(isinstance(part.func, ast.Attribute) and part.func.attr in MAY_RETURN_ITSELF for part in calls)
        return not moved and not any(word.arg in ("device", "dtype") for part in calls for word in part.keywords)

    def _is_made_leaf_before(self, name: ast.Name) -> bool:
        """Whether ``x.requires_grad = True`` stands before the use of a name, and its value knows no graph otherwise."""
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or not self._semantics.kind(name).is_tensor or self._semantics.kind(name).grad is Grad.GRAPH:
            return False
        return any(
            _requires_grad(self._semantics.tree.parent(use), self._semantics.tree)
            and self._semantics.control_flow.may_follow(use, name)
            for use in bindings[0].uses
        )

    def _has_graph(self, kind: Kind) -> bool:
        return kind.is_tensor and kind.grad is Grad.GRAPH

    def _records(self, node: ast.expr) -> bool:
        return not self._semantics.no_grad.covers(node)


def _moves(call: ast.Call, function: ast.Attribute) -> bool:
    """Whether a call moves a tensor to a device that may not be the CPU."""
    match function.attr, call.args:
        case "cuda", _:
            return True
        case "to", [ast.Constant(value=str(place)), *_]:
            return not place.startswith("cpu")
        case "to", [ast.Name(id=name) | ast.Attribute(attr=name), *_]:
            return _DEVICE.fullmatch(name) is not None
    return False


def _requires_grad(attribute: ast.AST | None, tree: Tree) -> bool:
    """Whether ``attribute`` is that of ``x.requires_grad = True`` or ``x.requires_grad_()``."""
    match attribute:
        case ast.Attribute(attr="requires_grad", ctx=ast.Store()):
            match tree.parent(attribute):
                case ast.Assign(value=ast.Constant(value=flag)):
                    return flag is True
        case ast.Attribute(attr="requires_grad_"):
            call = tree.parent(attribute)
            return isinstance(call, ast.Call) and not call.args and not call.keywords
    return False


def _first(binding: Binding) -> list[Binding]:
    """What the first of a chain of augmented assignments changes."""
    found: list[Binding] = []
    seen: set[Binding] = set()
    pending = [binding]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        if current.before:
            pending.extend(current.before)
        else:
            found.append(current)
    return found
