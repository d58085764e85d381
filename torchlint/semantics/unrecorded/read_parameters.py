"""Parameters whose values go into new tensors that nobody back-propagates: copies, running means, differences."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import last_name

_LISTS = frozenset({"parameters", "named_parameters"})
_PASSES = frozenset({"builtins.zip", "builtins.enumerate", "builtins.list", "builtins.reversed"})
_PARAMETER = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "detach", "view", "reshape", "flatten", "squeeze"})
"""Methods that may give the same memory."""
_COPIES = frozenset({"clone"})
"""Methods that give the same values in memory of their own."""
_COMPUTES = frozenset({"abs", "norm", "pow", "square", "sqrt", "sum", "mean", "max", "min", "add", "sub", "mul", "div", "dist"})
"""Methods and functions that give a new tensor of what they are given."""
_AVERAGES = re.compile(r"(?:^|_)ema(?:$|_)|^ema|shadow|averaged?(?:$|_)|moving_av", re.IGNORECASE)
"""Names of what keeps running means of parameters."""
_KEEPS_GRAPH = re.compile(
    r"loss|penalt|regu|prox|reg(?:_|$)|(?:^|_)(?:l[12]|ewc|total|objective|cost|kl|out|output|logits?|x|h|hidden)(?:_|$)",
    re.IGNORECASE,
)
"""Names of what is back-propagated, to which a term of a parameter without its graph may be added by mistake."""


class ReadParameters:
    """Tells of the ``.data`` of parameters whether only new tensors are made of it, for which there is no graph to want."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, data: ast.Attribute) -> bool:
        """Whether an ``x.data`` of anything is copied, or that of a parameter goes into a mean, a difference or a gradient."""
        if self._is_copied(data):
            return True
        if not self._is_parameter(data.value):
            return False
        return self._is_computed_with(data) or self._is_named_to_compute(data) or self._is_averaged(data)

    # --- parameters --------------------------------------------------------------------------------------------------

    def _is_parameter(self, value: ast.expr) -> bool:
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(map(self._is_bound_to_parameter, bindings))
            case ast.Subscript(value=ast.Name() as whole, slice=index) if not isinstance(index, ast.Slice):
                bindings = self._semantics.bindings.reaching(whole)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and not each.path and self._is_dict_of_parameters(each.value)
                    for each in bindings
                )
            case ast.Subscript(value=ast.Call() as whole):
                return self._is_dict_of_parameters(whole)
        return False

    def _is_bound_to_parameter(self, binding: Binding) -> bool:
        if binding.form is Form.LOOP:
            return self._gives_parameters(binding.value)
        if binding.form is Form.PARAMETER and isinstance(binding.node, ast.arg) and binding.node.annotation is not None:
            return self._semantics.qualified_name(binding.node.annotation) in _PARAMETER
        return False

    def _gives_parameters(self, iterable: ast.expr | None) -> bool:
        """Whether a loop goes through parameters of models, of several side by side perhaps."""
        match iterable:
            case ast.Call(func=ast.Attribute(attr=method)) if method in _LISTS:
                return True
            case ast.Call(func=function, args=[_, *_] as parts) if self._semantics.qualified_name(function) in _PASSES:
                return all(map(self._gives_parameters, parts))
        return False

    def _is_dict_of_parameters(self, value: ast.expr | None) -> bool:
        match value:
            case ast.Call(func=ast.Name(id="dict"), args=[inner]):
                return self._gives_parameters(inner)
        return False

    # --- what becomes of them ----------------------------------------------------------------------------------------

    def _is_copied(self, data: ast.expr) -> bool:
        """Whether a copy is made, behind nothing but moves: ``p.data.to("cpu").clone()``."""
        node = data
        while (call := self._tree.called(node, _MOVES)) is not None:
            node = call
        return self._tree.called(node, _COPIES) is not None and not self._may_be_of_loss(data)

    def _is_averaged(self, data: ast.expr) -> bool:
        """Whether an object that keeps running means, by its name, is given a parameter: ``ema.update(name, p.data)``."""
        match self._tree.parent(data):
            case ast.Call(func=ast.Attribute(value=averages, attr="register" | "update")) as call if data in call.args:
                return _AVERAGES.search(last_name(averages)) is not None
        return False

    def _is_computed_with(self, data: ast.expr) -> bool:
        """Whether something new is computed of it, of which no loss is made as far as anything is called."""
        end, is_new = data, False
        while (following := self._following(end)) is not None:
            is_new |= not isinstance(following, ast.Call) or last_name(following.func) not in _MOVES
            end = following
        if not is_new:
            return False
        match statement := self._tree.statement(data):
            case ast.AugAssign(target=target, value=value):
                if value is not end:
                    return False
                return self._is_of_gradient(target) or self._gets_gradients(data)
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute() as target], value=value) if value is end:
                return self._is_of_gradient(target) or not self._may_be_of_loss(data)
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is end:
                return not self._may_be_of_loss(data) and self._is_kept_alone(target)
        return (
            isinstance(statement, ast.Expr)
            and isinstance(call := self._tree.parent(end), ast.Call)
            and last_name(call.func) in ("append", "copy_", "print")
            and not self._may_be_of_loss(data)
        )

    def _is_kept_alone(self, target: ast.Name) -> bool:
        """Whether a new value has a name only on the way to where it is kept: ``self.kept[name] = average.clone()``."""
        binding = self._semantics.bindings.of(target)
        uses = binding.uses if binding is not None else ()
        return bool(uses) and all(map(self._is_kept, uses))

    def _is_kept(self, use: ast.expr) -> bool:
        """Whether something that is read, or a copy of it, is stored, and goes into no loss."""
        end = use
        while (following := self._following(end) or self._tree.called(end, _COPIES)) is not None:
            end = following
        match self._tree.statement(use):
            case ast.Assign(targets=[ast.Subscript() | ast.Attribute()], value=value):
                return value is end and not self._may_be_of_loss(use)
        return False

    def _is_named_to_compute(self, data: ast.expr) -> bool:
        """Whether it has a name first, by which nothing but arithmetic is done with it."""
        match self._tree.parent(data):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is data and not self._may_be_of_loss(data):
                binding = self._semantics.bindings.of(target)
                uses = binding.uses if binding is not None else ()
                return bool(uses) and all(
                    isinstance(self._tree.parent(use), ast.BinOp) and not self._may_be_of_loss(use) for use in uses
                )
        return False

    def _following(self, node: ast.expr) -> ast.expr | None:
        """What is made of a value by arithmetic, or by methods and functions of tensors."""
        match parent := self._tree.parent(node):
            case ast.BinOp() | ast.UnaryOp(op=ast.USub()):
                return parent
            case ast.Call(func=function, args=[first, *_]) if first is node:
                library, _, name = (self._semantics.qualified_name(function) or "").rpartition(".")
                return parent if library == "torch" and name in _COMPUTES else None
        return self._tree.called(node, _MOVES | _COMPUTES | {"item"})

    def _is_of_gradient(self, target: ast.expr) -> bool:
        """Whether a gradient is changed: ``p.grad.data += …``."""
        if isinstance(target, ast.Attribute) and target.attr == "data":
            target = target.value
        return isinstance(target, ast.Attribute) and target.attr == "grad"

    def _gets_gradients(self, data: ast.AST) -> bool:
        """Whether the loop around adds to gradients by hand: what a sum of parameters there lacks."""
        loop = next(self._tree.loops(data), None)
        return isinstance(loop, ast.For) and any(
            isinstance(each, ast.AugAssign) and self._is_of_gradient(each.target) for each in loop.body
        )

    def _may_be_of_loss(self, node: ast.AST) -> bool:
        """Whether anything in the statement, or the function, is called like what is back-propagated."""
        function = self._tree.function(node)
        if function is not None and _KEEPS_GRAPH.search(getattr(function, "name", "")) is not None:
            return True
        if getattr(function, "name", "") == "forward":
            return True
        names = (
            each.id if isinstance(each, ast.Name) else each.attr
            for each in ast.walk(self._tree.statement(node))
            if isinstance(each, (ast.Name, ast.Attribute))
        )
        return any(_KEEPS_GRAPH.search(name) is not None for name in names)
