"""Values that are made where autograd is off: by a block, in what is called there alone, or in what turns it off itself."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.graphs.likely.cut_values import CutValues
from torchlint.semantics.graphs.likely.origins import LOOKS, origin_of
from torchlint.semantics.observers.unrecorded_calls import UnrecordedCalls
from torchlint.semantics.observers.unrecorded_results import UnrecordedResults

_JOINS = frozenset({"torch.cat", "torch.stack", "torch.concat", "torch.vstack", "torch.hstack"})
_DEPTH = 4


class UnrecordedValues:
    """Tells of values whether they are made where autograd is off, or of such alone."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._cut = semantics.of(CutValues)
        self._results = semantics.of(UnrecordedResults)

    def is_one(self, node: ast.expr) -> bool:
        """Whether a value is made where autograd is off, or in a function that runs so."""
        origin = origin_of(node)
        return self.is_given(origin) or self.is_made(origin)

    def is_given(self, node: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a name is bound to nothing but what calls gave where autograd is off: it has no graph outside, either."""
        if isinstance(node, ast.Call):
            return self._is_result_without(node, depth)
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(self._is_given_without(binding, depth) for binding in bindings)

    def _is_given_without(self, binding: Binding, depth: int) -> bool:
        """Whether a call gave a value where autograd is off, or it is a look at such a value: `out = out.view(-1, 2)`."""
        if binding.form is not Form.ASSIGNMENT:
            return False
        item = _item_of(binding.value)
        if isinstance(item, ast.Name) and item is not binding.value and depth:
            return self.is_given(item, depth - 1)  # an entry of what a call gave there: `out["logits"]`
        if not isinstance(item, ast.Call):
            return False
        if self._semantics.no_grad.covers(binding.node) or self._is_called_unrecorded(binding.node):
            return True
        if isinstance(call := _item_of(binding.value), ast.Call) and self._is_result_without(call, depth):
            return True
        match binding.value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if depth and method in LOOKS and not binding.path:
                return self.is_given(inner, depth - 1)
        return False

    def _is_result_without(self, call: ast.Call, depth: int) -> bool:
        """Whether what is called turns autograd off itself, or computes something of such a result: ``softmax(infer(x))``."""
        if self._results.gives(call):
            return True
        part = self._results.computes_of(call) if depth else None
        return part is not None and self.is_given(origin_of(part), depth - 1)

    def is_made(self, node: ast.expr) -> bool:
        """Whether a value is made where autograd is off, or is an argument of a function that runs so."""
        if not self._semantics.no_grad.covers(node) and not self._is_called_unrecorded(node):
            return False
        while isinstance(node, ast.Subscript):
            node = node.value  # an item of what a model gave there: `out["logits"]`
        if isinstance(node, ast.Call):
            return True
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(map(self._is_bound_without_autograd, bindings))

    def is_gathered(self, node: ast.expr) -> bool:
        """Whether a value is joined of a list that is filled with such values alone, each made where autograd is off."""
        if isinstance(node, ast.Name):
            bindings = self._semantics.bindings.reaching(node)
            node = bindings[0].value or node if len(bindings) == 1 and not bindings[0].path else node
        match node:
            case ast.Call(func=function, args=[ast.Name() as parts, *_]):
                if self._semantics.qualified_name(function) in _JOINS:
                    bindings = self._semantics.bindings.reaching(parts)
                    if any(each.form is Form.AUGMENTED for each in bindings):
                        every = {*bindings, *(before for each in bindings for before in each.before)}
                        return all(map(self._is_extended_without_autograd, every))
                    return bool(bindings) and all(map(self._is_filled_without_autograd, bindings))
        return False

    def _is_filled_without_autograd(self, binding: Binding) -> bool:
        """Whether a list starts empty, and its methods add such values alone: `kept.append(out.cpu())`."""
        match binding.value:
            case ast.List(elts=[]) if binding.form is Form.ASSIGNMENT and not binding.path:
                fills = [self._tree.parent(self._tree.parent(use) or use) for use in binding.uses if self._is_method(use)]
                return bool(fills) and all(isinstance(fill, ast.Call) and self._adds_graphless(fill) for fill in fills)
        return False

    def _is_extended_without_autograd(self, binding: Binding) -> bool:
        """Whether a list starts empty, or more such values are added to it: `kept += [out.cpu()]`."""
        match binding.value:
            case ast.List(elts=[]):
                return not binding.path
            case ast.List(elts=values) if binding.form is Form.AUGMENTED:
                return all(map(self._is_graphless_part, values))
        return False

    def _is_method(self, use: ast.Name) -> bool:
        return isinstance(self._tree.parent(use), ast.Attribute)

    def _adds_graphless(self, fill: ast.Call) -> bool:
        """Whether a call of a list's method adds values without a graph."""
        match fill:
            case ast.Call(func=ast.Attribute(attr="append" | "extend"), args=[value], keywords=[]):
                return self._is_graphless_part(value)
        return False

    def _is_graphless_part(self, value: ast.expr) -> bool:
        """Whether what a list gets has no graph: by what makes it, on the spot, or as autograd is off."""
        kind = self._semantics.kind(value)
        is_known = kind.is_tensor and kind.grad is Grad.NONE
        return is_known or self._cut.is_cut(value) or self.is_made(origin_of(value))

    def _is_bound_without_autograd(self, binding: Binding) -> bool:
        """Whether a variable gets its value where autograd is off, or is a parameter of what runs there."""
        if binding.form is Form.PARAMETER:
            function = binding.scope.node
            return isinstance(function, FUNCTIONS) and (
                self._semantics.no_grad.covers(function.body[0]) or self._is_called_unrecorded(function.body[0])
            )
        return self._semantics.no_grad.covers(binding.node) or self._is_called_unrecorded(binding.node)

    def _is_called_unrecorded(self, node: ast.AST) -> bool:
        """Whether a node stands in a function that other files call where autograd is off alone."""
        return self._semantics.of(UnrecordedCalls).are_all_of(self._tree.function(node))


def _item_of(value: ast.expr | None) -> ast.expr | None:
    """What a value is an item of: a call in ``accuracy(out, y)[0]``."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return value
