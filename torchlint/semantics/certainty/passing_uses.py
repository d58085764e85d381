"""Uses of a tensor that only read it: they tell neither which object it is nor keep it, and bring no graph to it.

Whether such a use is given a tensor or another one over the same memory makes no difference.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import given_to

_FORM = frozenset({"data", "shape", "dtype", "device", "ndim", "is_cuda", "layout", "itemsize", "nbytes"})
_FORM_METHODS = frozenset(
    {
        *(
            "size",
            "dim",
            "ndimension",
            "numel",
            "nelement",
            "stride",
            "element_size",
            "storage_offset",
            "data_ptr",
            "get_device",
        ),
        *("is_contiguous", "is_floating_point", "is_complex", "item", "tolist", "numpy", "detach"),
    }
)
"""What tells the form of a tensor or its values, or makes another object over its memory."""
_OVER_MEMORY = frozenset({"data", "numpy", "detach"})
"""Of these, what makes another object over the tensor's memory, which sees what is changed there in place."""
_COPIES_OF_ARRAYS = frozenset({"copy"})
_SAME = frozenset({"cuda", "cpu", "to", "type", "float", "double", "half", "long", "int", "contiguous", "view", "unsqueeze"})
"""Methods that may give the tensor itself, or a view of it."""
_READING = frozenset(f"builtins.{name}" for name in ("len", "int", "float", "bool", "str", "repr", "print", "format", "range"))
NEW_METHODS = frozenset(
    {
        *("abs", "add", "all", "any", "argmax", "argmin", "bernoulli", "bmm", "ceil", "clamp", "clone", "cos", "cumsum", "div"),
        *("dot", "eq", "equal", "exp", "floor", "gather", "ge", "gt", "index_select", "le", "log", "log_softmax", "logsumexp"),
        *("lt", "masked_fill", "masked_select", "matmul", "max", "mean", "min", "mm", "mul", "multinomial", "mv", "ne", "neg"),
        *("nonzero", "norm", "pow", "prod", "relu", "repeat", "round", "scatter", "sigmoid", "sign", "sin", "softmax", "sort"),
        *("sqrt", "std", "sub", "sum", "tanh", "topk", "var", "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor"),
    }
)
"""Methods that compute something new: tensors over memory of their own, or numbers."""
_FUNCTIONS = frozenset(
    {
        *(f"torch.{name}" for name in NEW_METHODS if name.isidentifier() and f"torch.{name}" in torch_api.FUNCTIONS),
        "torch.autograd.Variable",
        *(f"torch.{name}" for name in ("cat", "stack", "zeros_like", "ones_like", "rand_like", "randn_like", "empty_like")),
        *(name for name in torch_api.LOSS_FUNCTIONS if name.startswith("torch.nn.functional.")),
        *(f"torch.nn.functional.{name}" for name in ("linear", "embedding", "one_hot", "softmax", "log_softmax", "normalize")),
        *(f"torch.nn.functional.{name}" for name in ("conv1d", "conv2d", "conv3d", "avg_pool2d", "max_pool2d")),
    }
)
"""Functions of torch that compute something new, and keep nothing of what they are given but for the backward pass."""
FILLING = frozenset({"fill_", "zero_", "normal_", "uniform_", "random_", "exponential_", "bernoulli_", "clamp_"})
"""Methods that change the values in place; the number that they are given last, if any, is what comes in."""
_LAYERS = torch_api.LOSS_MODULES | {f"torch.nn.{name}" for name in ("Linear", "Conv1d", "Conv2d", "Conv3d", "Embedding")}
_PLACING = frozenset({"out", "inplace", "requires_grad", None})
_NUMBERS = frozenset(f"builtins.{name}" for name in ("len", "int", "float", "round"))
_SIZES = frozenset({"size", "numel", "nelement", "dim", "ndimension"})
"""Methods that tell how large a tensor is."""
_DEEP = 4


class PassingUses:
    """Tells what is done with a tensor at one place."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def only_read(self, node: ast.expr, *, also_fill: bool = False, lets_go: bool = False) -> bool:
        """Whether the code at ``node`` only reads the tensor there.

        With ``also_fill`` it may put plain numbers into it as well; with ``lets_go`` nothing may go on with its memory either,
        under whatever name: neither a detached tensor nor an array.
        """
        parent = self._tree.parent(node)
        match parent:
            case ast.BinOp() | ast.FormattedValue() | ast.Expr():
                return True
            case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
                return True
            case ast.Compare(ops=operators):
                return not any(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in operators)
            case ast.Attribute(attr=name, ctx=ast.Load()) if name in _FORM:
                return not (lets_go and name in _OVER_MEMORY) or self.only_read(parent, also_fill=also_fill, lets_go=True)
            case ast.Attribute(ctx=ast.Load()):
                return self._only_calls(parent, also_fill, lets_go)
            case ast.Subscript(value=value) if value is node:
                return self._only_indexes(parent, also_fill, lets_go)
            case ast.Call() if node in parent.args:
                return self._only_computes(parent, lets_go)
            case ast.keyword(arg=str()):
                call = self._tree.parent(parent)
                return isinstance(call, ast.Call) and self._only_computes(call, lets_go)
            case ast.List() | ast.Tuple():
                call = self._tree.parent(parent)
                return isinstance(call, ast.Call) and parent in call.args and self._only_joins(call)
        return False

    def all_only_read(self, uses: Collection[ast.Name], *, also_fill: bool = False) -> bool:
        """Whether all these uses only read the tensor."""
        return all(self.only_read(use, also_fill=also_fill) for use in uses)

    def _only_calls(self, method: ast.Attribute, also_fill: bool, lets_go: bool) -> bool:
        call = self._tree.parent(method)
        if not isinstance(call, ast.Call) or call.func is not method or {word.arg for word in call.keywords} & _PLACING:
            return False
        if method.attr in _FORM_METHODS or method.attr in NEW_METHODS:
            return not (lets_go and method.attr in _OVER_MEMORY) or self.only_read(call, also_fill=also_fill, lets_go=True)
        if method.attr in FILLING:
            filled = also_fill and all(map(self.is_plain, given_to(call)))
            return filled and self.only_read(call, also_fill=also_fill, lets_go=lets_go)
        if method.attr in _COPIES_OF_ARRAYS:
            return lets_go and not call.args and not call.keywords
        return method.attr in _SAME and self.only_read(call, also_fill=also_fill, lets_go=lets_go)

    def _only_indexes(self, item: ast.Subscript, also_fill: bool, lets_go: bool) -> bool:
        if isinstance(item.ctx, ast.Load):
            return self.only_read(item, also_fill=also_fill, lets_go=lets_go)
        match self._tree.parent(item):
            case ast.Assign(targets=[target], value=value) if target is item:
                return also_fill and self.is_plain(value)
            case ast.AugAssign(value=value):
                return also_fill and self.is_plain(value)
        return False

    def _only_computes(self, call: ast.Call, lets_go: bool) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        if name in _READING:
            return True
        if {word.arg for word in call.keywords} & _PLACING:
            return False
        if name in _FUNCTIONS:
            return not lets_go or name != "torch.autograd.Variable"
        return self._is_layer(call.func)

    def _only_joins(self, call: ast.Call) -> bool:
        joins = self._semantics.qualified_name(call.func) in ("torch.cat", "torch.stack")
        return joins and not {word.arg for word in call.keywords} & _PLACING

    def _is_layer(self, function: ast.expr) -> bool:
        """Whether a layer or loss of torch is called that computes something new, and is made in sight."""
        match function:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(function)
                values = [each.value for each in bindings if each.value is not None and not each.path]
                return bool(values) and len(values) == len(bindings) and all(map(self._makes_layer, values))
            case ast.Call():
                return self._makes_layer(function)
        return False

    def _makes_layer(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._semantics.qualified_name(node.func) in _LAYERS

    # --- what brings no graph ----------------------------------------------------------------------------------------

    def is_plain(self, node: ast.expr, depth: int = _DEEP) -> bool:
        """Whether a value is no tensor with a graph: a number, a size, or what numpy computed, which refuses such (ran)."""
        match node:
            case ast.Constant():
                return True
            case ast.UnaryOp(operand=operand):
                return self.is_plain(operand, depth)
            case ast.BinOp(left=left, right=right):
                return self.is_plain(left, depth) and self.is_plain(right, depth)
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(self._binds_plain(each, depth - 1) for each in bindings)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _SIZES:
                return self._semantics.kind(owner).type is not Type.INSTANCE
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return name.startswith("numpy.") or name in _NUMBERS
            case ast.Attribute(value=owner, attr="shape" | "ndim"):
                return self._semantics.kind(owner).type is not Type.INSTANCE
            case ast.Subscript(value=ast.Attribute(attr="shape") | ast.Call(func=ast.Attribute(attr="size")) as sizes):
                return self.is_plain(sizes, depth)
        return False

    def _binds_plain(self, binding: Binding, depth: int) -> bool:
        value = binding.value
        match binding.form:
            case Form.ASSIGNMENT:
                return value is not None and not binding.path and self.is_plain(value, depth)
            case Form.LOOP:
                return isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == "builtins.range"
        return False
