"""Values that are read to leave no tensor over their memory: numbers of a text, copies of weights, steps of an optimizer."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Form, Grad, Semantics, torch_api
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.memory.reads import Reads

_SAME_VALUES = frozenset({"cpu", "cuda", "to", "view", "reshape", "squeeze", "flatten", "contiguous"})
"""Methods whose items are those of the tensor."""
_CASTS = frozenset({"float", "double", "half", "to", "clone", "type"})
_FILLS = frozenset({"zero_", "fill_", "normal_", "uniform_", "random_", "bernoulli_"})
"""Methods that leave nothing of the values that were there."""
_LAYERS_OWN = re.compile(r"weight|bias|(weight|bias)_(ih|hh)_l\d+(_reverse)?")
"""What layers call their parameters."""
_WEIGHTS = re.compile(r"w|weights?|params?|parameters?|bias(es)?|p", re.IGNORECASE)
"""What weights are called that somebody goes through, or keeps a list of."""
_TO_ONE = frozenset({"mean", "sum", "max", "min", "norm", "std", "var"})
"""Methods and functions that give one number of a tensor, unless an axis is named."""
_REDUCES = re.compile(r"_?((dist|distributed|all)_)?(all_?)?reduce(_(tensor|mean|value|loss|sum|metric|across_processes))?")
"""Names of functions that give the mean or the sum of what the processes have."""

_MEASURES = (re.compile(r"(^|_)mem(ory)?($|_)"), re.compile(r"(^|_)(log|print|report|usage|stats?|sizes?)($|_)"))
"""What is in the names of functions that report how much memory is in use."""


class FleetingReads:
    """Tells of the ``.data`` of tensors whether no tensor is left of what is read."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_one(self, data: ast.Attribute) -> bool:
        """Whether an ``x.data`` is shown number by number, copied to be filled anew or as a parameter, or detached later."""
        return (
            self._is_shown_by_items(data)
            or self._is_copied_for_its_form(data)
            or self._is_copy_of_weight(data)
            or self._is_number_or_copy_of_weight(data)
            or self._is_reduced_to_number(data)
            or self._is_computed_with_by_optimizer(data)
            or self._is_measured(data)
            or self._is_copied(data)
            or self._is_detached_later(data)
        )

    def _is_shown_by_items(self, data: ast.expr) -> bool:
        """Whether a text is made of each number: ``" ".join(f"{x:.2f}" for x in row.data)``."""
        end = self._behind(data, _SAME_VALUES)
        match self._tree.parent(end):
            case ast.comprehension(target=ast.Name() as item, iter=walked) if walked is end:
                binding = self._semantics.bindings.of(item)
                uses = binding.uses if binding is not None else ()
                return bool(uses) and all(isinstance(self._tree.parent(use), ast.FormattedValue) for use in uses)
        return False

    def _is_copied_for_its_form(self, data: ast.expr) -> bool:
        """Whether a copy is filled at once: ``w.data.clone().zero_()``."""
        copy = self._tree.called(data, frozenset({"clone"}))
        return copy is not None and self._tree.called(copy, _FILLS) is not None

    def _is_copy_of_weight(self, data: ast.Attribute) -> bool:
        """Whether a layer's weight, or its amount, is copied at once: ``layer.weight.data.clone()``."""
        match data.value:
            case ast.Attribute(value=owner, attr=name) if _LAYERS_OWN.fullmatch(name):
                if self._semantics.facts.self_class(owner) is not None:
                    return False  # one's own is computed with in the forward
                end: ast.expr = data
                while isinstance(item := self._tree.parent(end), ast.Subscript) and item.value is end:
                    end = item
                end = self._tree.called(end, frozenset({"abs"})) or end
                return self._tree.called(end, frozenset({"clone"})) is not None
        return False

    def _is_number_or_copy_of_weight(self, data: ast.Attribute) -> bool:
        """Whether a weight is copied, or one number is asked for: `kept.copy_(w.data)`, `torch.mean(w.data)`."""
        if not self._is_weight(data.value) or isinstance(self._tree.statement(data), ast.AugAssign):
            return False  # a sum may be a penalty
        end = self._tree.called(data, frozenset({"abs"})) or data
        call = self._tree.called(end, _TO_ONE | {"clone"})
        if call is not None:
            return not call.args and not call.keywords
        match self._tree.parent(end):
            case ast.Call(func=ast.Attribute(attr="copy_"), args=[only]):
                return only is end
            case ast.Call(func=function, args=[only], keywords=[]) if only is end:
                library, _, name = (self._semantics.qualified_name(function) or "").rpartition(".")
                return library == "torch" and name in {*_TO_ONE, "unique"}
        return False

    def _is_weight(self, value: ast.expr) -> bool:
        """Whether a value is one of the weights that a loop goes through, or an item of a list of them: ``self.W[i]``."""
        match value:
            case ast.Name(id=name):
                bindings = self._semantics.bindings.reaching(value)
                is_walked = bool(bindings) and all(each.form is Form.LOOP for each in bindings)
                is_one = _WEIGHTS.fullmatch(name) is not None or self._semantics.kind(value).grad is Grad.LEAF
                return is_walked and is_one
            case ast.Subscript(value=ast.Attribute(attr=name)):
                return _WEIGHTS.fullmatch(name) is not None
        return False

    def _is_reduced_to_number(self, data: ast.expr) -> bool:
        """Whether one number is asked for of what the processes have: ``reduce_mean(loss.data, n).item()``."""
        match call := self._tree.parent(data):
            case ast.Call(func=function, args=[first, *_]) if first is data and _REDUCES.fullmatch(last_name(function)):
                return self._tree.called(call, frozenset({"item"})) is not None
        return False

    def _is_computed_with_by_optimizer(self, data: ast.Attribute) -> bool:
        """Whether an optimizer computes something new with a parameter that it goes through: ``decay * p.data``."""
        bindings = self._semantics.bindings.reaching(data.value) if isinstance(data.value, ast.Name) else ()
        if not bindings or any(binding.form is not Form.LOOP for binding in bindings):
            return False
        if self._is_written_back(data):
            return self._is_in_optimizer(data)
        if isinstance(statement := self._tree.statement(data), ast.AugAssign) and statement.value is data:
            return False  # it goes into what the optimizer keeps, as it is
        return self._semantics.of(Reads).makes_new_value(data) and self._is_in_optimizer(data)

    def _is_written_back(self, data: ast.Attribute) -> bool:
        """Whether values, cast or not, have a name by which they are computed with and put back, and are kept nowhere:
        ``wide = p.data.float()``, ``wide.add_(step)``, ``p.data.copy_(wide)``.
        """
        match self._tree.parent(end := self._behind(data, _CASTS)):
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is end:
                binding = self._semantics.bindings.of(name)
                uses = binding.uses if binding is not None else ()
                return any(map(self._is_put_back, uses)) and not any(map(self._is_kept, uses))
        return False

    def _is_put_back(self, use: ast.expr) -> bool:
        match self._tree.parent(use):
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="data"), attr="copy_"), args=[only]):
                return only is use
            case ast.Assign(targets=[ast.Attribute(attr="data")], value=value):
                return value is use
        return False

    def _is_kept(self, use: ast.expr) -> bool:
        """Whether a value, or a look at it, is stored, given back, or handed to a function that is none of torch's."""
        match parent := self._tree.parent(use):
            case ast.Assign(targets=[ast.Attribute(attr="data")]) | ast.Attribute() | ast.BinOp() | ast.AugAssign():
                return False
            case ast.Call(func=ast.Attribute(attr=method) as function) if parent.func is not use:
                is_of_torch = (self._semantics.qualified_name(function) or "").startswith("torch.")
                return not is_of_torch and method not in torch_api.TENSOR_METHODS and method not in torch_api.INPLACE_METHODS
        return True

    def _is_measured(self, data: ast.expr) -> bool:
        """Whether a function that reports how much memory there is, by its name, is given a value: ``log_memory([x.data])``."""
        parent = self._tree.parent(data)
        if isinstance(parent, (ast.List, ast.Tuple)):
            parent = self._tree.parent(parent)
        return isinstance(parent, ast.Call) and all(part.search(last_name(parent.func)) for part in _MEASURES)

    def _is_copied(self, data: ast.expr) -> bool:
        """Whether ``torch.tensor`` copies a value, or an item of it, which has no graph then."""
        end = self._behind(data, _SAME_VALUES)
        match self._tree.parent(end):
            case ast.Call(func=function, args=[first, *_]) if first is end:
                return self._semantics.qualified_name(function) == "torch.tensor"
        return False

    def _is_detached_later(self, data: ast.expr) -> bool:
        """Whether a value has a name, and each use of it is detached: ``fake = net(x).data``, then ``fake.cpu().detach()``."""
        match self._tree.parent(data):
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is data:
                binding = self._semantics.bindings.of(name)
                return binding is not None and bool(binding.uses) and all(map(self._is_detached, binding.uses))
        return False

    def _is_detached(self, use: ast.expr) -> bool:
        node = use
        while (call := self._tree.called(node, _SAME_VALUES | _CASTS)) is not None:
            node = call
        return self._tree.called(node, frozenset({"detach"})) is not None

    def _is_in_optimizer(self, node: ast.AST) -> bool:
        owner = self._tree.enclosing_class(node)
        return owner is not None and any(
            (self._semantics.qualified_name(base) or "").startswith("torch.optim.") for base in owner.bases
        )

    def _behind(self, node: ast.expr, methods: frozenset[str]) -> ast.expr:
        """What methods, and indices, make of a value in the end."""
        while True:
            parent = self._tree.parent(node)
            is_item = isinstance(parent, ast.Subscript) and parent.value is node
            following = parent if is_item else self._tree.called(node, methods)
            if not isinstance(following, ast.expr):
                return node
            node = following
