"""Views that no strides can give: they merge axes that a transposition has torn apart in memory."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.expected_errors import is_tried
from torchlint.semantics.code.tree import FUNCTIONS, argument
from torchlint.semantics.shapes.layout import Contiguity, Layout, Size, view_must_copy
from torchlint.semantics.shapes.layouts import Layouts


class TornViews:
    """Finds the views of a file's transposed tensors that raise."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._layouts = semantics.of(Layouts)

    @cached_property
    def calls(self) -> set[ast.Call]:
        """The calls of ``view`` and ``view_as`` that raise, for one of the values that the tensor may have been given."""
        calls = self._semantics.facts.calls
        return {call for name in ("view", "view_as") for call in calls.get(name, ()) if self._is_torn(call)}

    def _is_torn(self, call: ast.Call) -> bool:
        match call:
            case ast.Call(func=ast.Attribute(value=tensor), args=[_, *_], keywords=[]):
                if not self._may_be(tensor) or not any(self._raises(call, each) for each in self._layouts.alternatives(tensor)):
                    return False
                if self._is_minded(tensor) or is_tried(self._semantics.tree, self._semantics.tree.statement(call)):
                    return False
                if self._is_of_one_row(tensor) or self._may_be_of_one_item(call, tensor) or self._is_of_single_samples(tensor):
                    return False
                return not self._may_be_used_up(call, tensor)
        return False

    def _is_of_one_row(self, tensor: ast.expr) -> bool:
        """Whether ``correct[:k]`` has one row, and its view is fine: each ``k`` is of the default ``(1,)``.

        That is so where no file of the project speaks of several, and where the file calls the function itself, without any.
        """
        match tensor:
            case ast.Subscript(slice=ast.Slice(lower=None, upper=ast.Name() as count)):
                bindings = self._semantics.bindings.reaching(count)
                walked = [each.value for each in bindings if each.form is Form.LOOP and isinstance(each.value, ast.Name)]
                if len(walked) == len(bindings) == 1 and self._is_one_by_default(walked[0]):
                    return self._is_left_at_default(walked[0]) or self._semantics.elsewhere.speaks_of("several") is False
        return False

    def _may_be_used_up(self, call: ast.Call, tensor: ast.expr) -> bool:
        """Whether all but the batch is merged of what a stack of convolutions leaves, which may be one step.

        Strides and paddings decide: `x = self.convs(x).transpose(1, 2)`, then `x.view(x.size(0), -1)`.
        """
        match call.args:
            case [_, ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))]:
                pass
            case _:
                return False
        match self._made(tensor):
            case ast.Call(func=ast.Attribute(value=before, attr="transpose" | "permute" | "swapaxes")):
                made = self._made(before)
                return isinstance(made, ast.Call) and self._is_stack_of_convolutions(made.func)
        return False

    def _may_be_of_one_item(self, call: ast.Call, tensor: ast.expr) -> bool:
        """Whether the batch is merged with the next axis of what a function gives that the file knows nothing of, and which
        may have batches of one: `out = net(x)`, then `out.transpose(1, 2).view(-1, 20)`.
        """
        match call.args, tensor:
            case [ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)), _], ast.Call(func=ast.Attribute(value=before)):
                made = self._made(before)
                if made is before or not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name):
                    return False
                is_known = self._semantics.qualified_name(made.func) or self._semantics.facts.definition(made.func)
                return not is_known and self._leaves_batch(tensor)
        return False

    def _is_of_single_samples(self, tensor: ast.expr) -> bool:
        """Whether the first axis, which is moved, is that of batches which the file's loader makes of one item each."""
        turned = self._made(tensor)
        loaders = self._semantics.facts.calls.get("DataLoader", ())
        if not loaders or not isinstance(turned, ast.Call) or self._leaves_batch(turned):
            return False
        sizes = [argument(loader, 1, "batch_size") for loader in loaders]
        return all(isinstance(size, ast.Constant) and size.value == 1 for size in sizes)

    def _leaves_batch(self, turned: ast.Call) -> bool:
        """Whether a transposition leaves the first axis where it is."""
        match turned:
            case ast.Call(func=ast.Attribute(attr="transpose" | "swapaxes"), args=[*axes]):
                return not any(isinstance(each, ast.Constant) and each.value == 0 for each in axes)
            case ast.Call(func=ast.Attribute(attr="permute"), args=[ast.Constant(value=0), *_]):
                return True
        return False

    def _made(self, value: ast.expr) -> ast.expr:
        """What a name was given, if that is one thing; anything else is itself."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        given = bindings[0] if len(bindings) == 1 else None
        if given is not None and given.form is Form.ASSIGNMENT and not given.path and given.value is not None:
            return given.value
        return value

    def _is_stack_of_convolutions(self, layer: ast.expr) -> bool:
        """Whether a layer is a sequence that its class makes, and the class makes convolutions in one dimension."""
        facts = self._semantics.facts
        owner = facts.self_class(layer.value) if isinstance(layer, ast.Attribute) else None
        if owner is None or not isinstance(layer, ast.Attribute):
            return False
        stores = [store for slot in facts.slots(owner, layer.attr) for store in slot.stores]
        made = [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]
        names = [self._semantics.qualified_name(each.func) if isinstance(each, ast.Call) else None for each in made]
        if not names or any(name != "torch.nn.Sequential" for name in names):
            return False
        tree = self._semantics.tree
        return any(tree.enclosing_class(each) is owner for each in facts.calls.get("Conv1d", ()))

    def _is_one_by_default(self, name: ast.Name) -> bool:
        """Whether a name is a parameter with the default ``(1,)``."""
        for binding in self._semantics.bindings.reaching(name):
            function = binding.scope.node
            if binding.form is Form.PARAMETER and isinstance(function, FUNCTIONS) and isinstance(binding.node, ast.arg):
                match self._semantics.facts.default(function, binding.node):
                    case ast.Tuple(elts=[ast.Constant(value=1)]):
                        return True
        return False

    def _is_left_at_default(self, name: ast.Name) -> bool:
        """Whether the file calls the function that a parameter is of, and gives the parameter nothing."""
        facts = self._semantics.facts
        for binding in self._semantics.bindings.reaching(name):
            function, parameter = binding.scope.node, binding.node
            if not isinstance(function, FUNCTIONS) or not isinstance(parameter, ast.arg):
                return False
            sites, default = facts.call_sites(function), facts.default(function, parameter)
            if not sites or any(facts.argument(site, function, parameter) is not default for site in sites):
                return False
        return True

    def _is_minded(self, tensor: ast.expr) -> bool:
        """Whether a variable is asked whether it ``is_contiguous()``: what it is viewed as depends on that."""
        bindings = self._semantics.bindings.reaching(tensor) if isinstance(tensor, ast.Name) else ()
        return not self._asked.isdisjoint(bindings)

    @cached_property
    def _asked(self) -> frozenset[Binding]:
        """What is bound to variables that are asked whether they are contiguous."""
        asked = (call.func for call in self._semantics.facts.calls.get("is_contiguous", ()))
        names = (each.value for each in asked if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name))
        return frozenset(binding for name in names for binding in self._semantics.bindings.reaching(name))

    def _raises(self, call: ast.Call, layout: Layout) -> bool:
        if layout.contiguity is Contiguity.UNKNOWN or layout.is_compact:
            return False
        shape: list[Size] | None = None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "view":
            layout, shape = self._layouts.view(call, layout)
        elif (other := self._layouts.of(call.args[0])).closed:
            shape = [axis.size for axis in other.front]
        return shape is not None and view_must_copy(layout, shape)

    def _may_be(self, tensor: ast.expr) -> bool:
        """Whether a value is a tensor, as far as the file tells."""
        kind = self._semantics.kind(tensor)
        return kind.is_tensor or not kind.known
