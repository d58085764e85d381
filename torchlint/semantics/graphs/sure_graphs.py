"""What has a graph, or is a leaf that requires grad, for certain: nothing that is seen or imported takes it away."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.observers.other_code import OtherCode

_FACTORIES = frozenset(
    f"torch.{name}" for name in ("ones", "zeros", "rand", "randn", "full", "tensor", "empty", "eye", "linspace", "arange")
)
_LAYERS = frozenset(
    f"torch.nn.{name}" for name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "Bilinear", "Embedding")
)
"""Layers of torch whose result depends on their weights, whatever they are given."""
_PLAIN = frozenset(
    f"torch.nn.{name}" for name in ("ReLU", "Tanh", "Sigmoid", "Softplus", "GELU", "ELU", "LeakyReLU", "Flatten", "Dropout")
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult)
_DERIVED = frozenset(
    {
        *("abs", "exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu", "softmax", "log_softmax", "pow", "square"),
        *("sum", "mean", "norm", "view", "reshape", "flatten", "t", "transpose", "permute", "unsqueeze", "squeeze", "prod"),
        *("add", "sub", "mul", "div", "matmul", "mm", "bmm", "mv", "dot", "clone", "cuda", "cpu", "neg", "clamp"),
    }
)
"""Methods, and functions of torch, whose result has the graph of what they are called on."""
_TAKING = frozenset(
    {
        *("detach_", "set_grad_enabled", "_set_grad_enabled", "inference_mode", "set_"),
        *("freeze", "eval_mode", "setattr", "weight_norm", "spectral_norm", "register_parametrization", "exec", "swap_tensors"),
    }
)
"""Calls that may take a graph away, or the flag that a leaf has."""
_DEEP = 12


class SureGraphs:
    """Tells of values whether they require grad whenever their code runs with autograd on."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def unchanged(self) -> Fact:
        """Whether leaves keep their flag: the file takes none, autograd is off around updates at most, no code is imported."""
        for node in self._tree.of_type(ast.Attribute):
            if node.attr == "requires_grad" and isinstance(node.ctx, ast.Store) and not self._gives_true(node):
                return unknown("the code takes `requires_grad` away from some tensors")
        if any(call.args or call.keywords for call in self._semantics.facts.calls.get("requires_grad_", ())):
            return unknown("the code takes `requires_grad` away from some tensors")
        for name in sorted(_TAKING):
            if name in self._semantics.facts.calls:
                return unknown(f"the code calls `{name}`, so that the tensor may have no graph")
        for statement in self._tree.of_type(ast.With):
            if not self._only_updates(statement):
                return unknown("autograd may be off, in a context of the code's own")
        calls = self._semantics.facts.calls.get("no_grad", ())
        if not all(isinstance(self._tree.parent(call), ast.withitem) for call in calls):
            return unknown("autograd may be off, in a context of the code's own")
        if any(node.decorator_list for node in self._tree.nodes if isinstance(node, FUNCTIONS)):
            return unknown("autograd may be off, by a decorator")
        if not self._semantics.of(OtherCode).reads_nothing("requires_grad").is_certain:
            return unknown("code that is imported may freeze tensors, or turn autograd off")
        return CERTAIN

    def requires_grad(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a tensor that requires grad for certain, autograd being on."""
        return self.unchanged & (CERTAIN if self.has_graph(node, None) else _doubt(node))

    def depends(self, node: ast.expr, leaf: Binding) -> bool:
        """Whether the gradient of ``node`` reaches a leaf, by operations that all can be seen."""
        return self.has_graph(node, leaf)

    def is_leaf(self, node: ast.expr) -> bool:
        """Whether ``node`` is a variable that is a leaf made with the flag, and never bound to anything else."""
        return isinstance(node, ast.Name) and (made := self.made(node)) is not None and self._makes_leaf(made.value)

    def made(self, name: ast.Name) -> Binding | None:
        """What a variable of one value is assigned, in the function that reads it; changes in place leave it the same."""
        bound = self._semantics.bindings.of(name)
        reaching = self._semantics.bindings.reaching(name) if bound is None else (bound,)
        flow = self._semantics.control_flow
        found = [each for each in reaching if each.form is not Form.AUGMENTED]
        if not found and reaching:
            others = reaching[0].scope.bindings.get(name.id, [])
            found = [each for each in others if each.form is not Form.AUGMENTED]
        if len(found) != 1 or found[0].form is not Form.ASSIGNMENT or found[0].path or found[0].value is None:
            return None
        return found[0] if flow.scope(found[0].node) is flow.scope(name) else None

    # --- what has a graph --------------------------------------------------------------------------------------------

    def has_graph(self, node: ast.expr, leaf: Binding | None, depth: int = 0) -> bool:
        """Whether a graph goes into ``node``, that of ``leaf`` if one is given."""
        if depth > _DEEP:
            return False
        match node:
            case ast.Name():
                return self._of_name(node, leaf, depth)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                return self.has_graph(left, leaf, depth + 1) or self.has_graph(right, leaf, depth + 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.has_graph(operand, leaf, depth + 1)
            case ast.Subscript(value=value):
                return self.has_graph(value, leaf, depth + 1)
            case ast.Call():
                return self._of_call(node, leaf, depth)
        return False

    def _of_name(self, name: ast.Name, leaf: Binding | None, depth: int) -> bool:
        made = self.made(name)
        if made is None or made.value is None:
            return False
        if made is leaf:
            return True
        return self.has_graph(made.value, leaf, depth + 1)

    def _of_call(self, call: ast.Call, leaf: Binding | None, depth: int) -> bool:
        if leaf is None and self._makes_leaf(call):
            return True
        name = self._semantics.qualified_name(call.func) or ""
        if any(word.arg in (None, "out", "dtype", "inplace") for word in call.keywords):
            return False
        if _gives_dtype(call):
            return False
        given = call.args[:2]
        last = name.rpartition(".")[2]
        if name.startswith("torch.") and (last in _DERIVED or last in ("mse_loss", "l1_loss", "linear")):
            return any(self.has_graph(each, leaf, depth + 1) for each in given)
        if leaf is None and self._is_layer(call.func):
            return True
        match call.func:
            case ast.Attribute(value=inner, attr=method) if method in _DERIVED:
                if self.has_graph(inner, leaf, depth + 1):
                    return True
                return method in ("matmul", "mm", "mul", "add", "sub") and any(
                    self.has_graph(each, leaf, depth + 1) for each in given
                )
        return False

    def _makes_leaf(self, value: ast.expr | None) -> bool:
        match value:
            case ast.Call(func=function, args=arguments, keywords=words):
                name = self._semantics.qualified_name(function)
                if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
                    return len(arguments) == 1 and not words
                flags = [word.value for word in words if word.arg == "requires_grad"]
                return name in _FACTORIES and any(isinstance(each, ast.Constant) and each.value is True for each in flags)
        return False

    def _is_layer(self, function: ast.expr) -> bool:
        """Whether a layer of torch with weights is called, or a sequence of such, that the file makes."""
        match function:
            case ast.Name():
                found = self._semantics.bindings.reaching(function)
                value = found[0].value if len(found) == 1 and found[0].form is Form.ASSIGNMENT and not found[0].path else None
            case _:
                return False
        if not isinstance(value, ast.Call):
            return False
        if self._name_of(value) == "torch.nn.Sequential":
            names = [self._name_of(each) for each in value.args]
            return not value.keywords and set(names) <= _LAYERS | _PLAIN and not _LAYERS.isdisjoint(names)
        return self._name_of(value) in _LAYERS

    def _name_of(self, call: ast.expr) -> str:
        return self._semantics.qualified_name(call.func) or "" if isinstance(call, ast.Call) else ""

    def _gives_true(self, store: ast.Attribute) -> bool:
        match self._tree.parent(store):
            case ast.Assign(value=ast.Constant(value=True)):
                return True
        return False

    def _only_updates(self, statement: ast.With) -> bool:
        """Whether a ``with`` block turns autograd off and has nothing in it but changes in place, and what is shown."""
        for item in statement.items:
            context = item.context_expr
            if not isinstance(context, ast.Call) or self._name_of(context) not in ("torch.no_grad", "torch.enable_grad"):
                return False
        return all(isinstance(each, (ast.AugAssign, ast.Expr)) or _fills(each) for each in statement.body)


def _fills(statement: ast.stmt) -> bool:
    """Whether a statement puts values into a part of something: ``w[0] = 1``."""
    return isinstance(statement, ast.Assign) and all(isinstance(target, ast.Subscript) for target in statement.targets)


def _gives_dtype(call: ast.Call) -> bool:
    """Whether ``x.view(torch.int32)`` may be called, which has no graph: what is given is no size to be seen."""
    match call:
        case ast.Call(func=ast.Attribute(attr="view"), args=[ast.Attribute(attr=name)]):
            return name != "shape"
        case ast.Call(func=ast.Attribute(attr="view"), args=[ast.Name()]):
            return True
    return False


def _doubt(node: ast.expr) -> Fact:
    return unknown(f"`{shortened(node)}` may have no graph")
