"""Which values are batches: their first axis counts items, and the last batch of an epoch may have a single one."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.tree import FUNCTIONS, is_none
from torchlint.semantics.kinds.kind import Basis
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.shapes.layout import SWAPS
from torchlint.semantics.shapes.sizes import bound_value, number

_MOST = 30
"""So many expressions that a value is made of are looked at."""
_REDUCTIONS = frozenset(
    {"mean", "sum", "max", "min", "amax", "amin", "argmax", "norm", "prod", "any", "all", "topk", "std", "var"}
)
_RESHAPING = frozenset(
    {"view", "reshape", "flatten", "ravel", "expand", "repeat", "permute", "t", "squeeze", "unflatten", "view_as", "movedim"}
)
_PRODUCTS = frozenset({"bmm", "matmul"})
_OF_NO_BATCH = frozenset(
    {"item", "numpy", "tolist", "size", "dim", "nonzero", "unique", "masked_select", "diag", "trace", "unfold"}
)
_MOVES = frozenset({"to", "cuda", "cpu", "type"})
_MODULES_WITHOUT_BATCH = frozenset({"torch.nn.Parameter", "torch.nn.Flatten", "torch.nn.Unflatten"})


class Batches:
    """Tells of one file's expressions whether they are batches of unknown size."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._beliefs = Beliefs(semantics.bindings, self._find)

    def is_batch(self, node: ast.expr) -> bool:
        """Whether ``node`` is, on every path, a tensor whose first axis is that of a batch."""
        return self._beliefs.hold(node)

    def _find(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binds_batch(value)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(self._beliefs.hold(binding) for binding in bindings)
            case ast.Call():
                return self._gives_batch(value)
            case ast.BinOp(left=left, right=right):
                return self.is_batch(left) or self.is_batch(right)
            case ast.UnaryOp(operand=operand):
                return self.is_batch(operand)
            case ast.Attribute(value=inner, attr="data"):
                return self.is_batch(inner)
            case ast.Subscript(value=inner, slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), *_])):
                return self.is_batch(inner)
        return False

    def _binds_batch(self, binding: Binding) -> bool:
        if binding.form is Form.PARAMETER:
            return self._is_forward_argument(binding)
        if binding.form is Form.LOOP:
            kind = self._semantics.inference.binding_kind(binding)
            return kind.is_tensor and kind.basis is Basis.BATCH and self.loads_many(binding.value)
        if binding.form is Form.AUGMENTED:
            return bool(binding.before) and all(self._beliefs.hold(before) for before in binding.before)
        value = bound_value(binding)
        return binding.form is Form.ASSIGNMENT and value is not None and self.is_batch(value)

    def _is_forward_argument(self, binding: Binding) -> bool:
        """Whether a parameter is what a module's ``forward`` is given."""
        function = binding.scope.node
        if not isinstance(function, FUNCTIONS) or function.name != "forward":
            return False
        owner = self._semantics.tree.parent(function)
        kind = self._semantics.inference.binding_kind(binding)
        return isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner) and kind.is_tensor

    def loads_many(self, iterated: ast.expr | None) -> bool:
        """Whether the loader that is iterated over may give batches of more than one, and one of a single item in the end."""
        origins = [iterated] if iterated is not None else []
        for part in [node for origin in origins for node in ast.walk(origin)]:
            if isinstance(part, ast.Name):
                values = [binding.value for binding in self._semantics.bindings.reaching(part)]
                origins += [value for value in values if isinstance(value, ast.Call)]
            elif isinstance(part, ast.Attribute) and (owner := self._semantics.facts.self_class(part.value)) is not None:
                stores = (store for slot in self._semantics.facts.slots(owner, part.attr) for store in slot.stores)
                assignments = (self._semantics.tree.parent(store) for store in stores)
                origins += [
                    each.value for each in assignments if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)
                ]
        for origin in origins:
            for call in [node for node in ast.walk(origin) if isinstance(node, ast.Call)]:
                if self._semantics.kind(call).type is Type.LOADER:
                    words = {word.arg: word.value for word in call.keywords}
                    drops = words.get("drop_last")
                    if isinstance(drops, ast.Constant) and drops.value is True:
                        return False
                    size = words.get("batch_size") or (call.args[1] if len(call.args) > 1 else None)
                    if size is None or number(size) == 1 or is_none(size):
                        return False
        return True

    # --- calls -------------------------------------------------------------------------------------------------------

    def _gives_batch(self, call: ast.Call) -> bool:
        if isinstance(call.func, ast.Attribute) and (name := self._semantics.qualified_name(call.func)) is not None:
            if name.startswith("torch."):
                return self._function_gives_batch(call, name)
        module = self._semantics.kind(call.func)
        if module.type is Type.MODULE:
            return self._module_gives_batch(call, module.name)
        if isinstance(call.func, ast.Attribute):
            return self._method_gives_batch(call, call.func)
        return False

    def _module_gives_batch(self, call: ast.Call, module: str) -> bool:
        """The output of a module, if not for something that was made a batch of one on the spot."""
        if module in LOSS_MODULES or module in _MODULES_WITHOUT_BATCH or module in torch_api.TUPLE_MODULES:
            return False
        kind = self._semantics.kind(call)
        if not kind.is_tensor or kind.scalar or not call.args or isinstance(call.args[0], ast.Starred):
            return False
        inputs = call.args[0]
        if module.startswith("torch.nn.") and self._semantics.facts.self_class(_owner(call.func)) is not None:
            return self.is_batch(inputs)
        return self.is_batch(inputs) or (self._is_called_in_training(call) and not self._is_single(inputs))

    def _is_called_in_training(self, call: ast.Call) -> bool:
        """Whether a model is called where batches are loaded: in a loop over a loader."""
        for loop in self._semantics.tree.loops(call):
            if isinstance(loop, (ast.For, ast.AsyncFor)) and self._iterates_loader(loop):
                return True
        return False

    def _iterates_loader(self, loop: ast.For | ast.AsyncFor) -> bool:
        targets = [node for node in ast.walk(loop.target) if isinstance(node, ast.Name)]
        bindings = [self._semantics.bindings.of(target) for target in targets]
        kinds = [self._semantics.inference.binding_kind(binding) for binding in bindings if binding is not None]
        return any(kind.is_tensor and kind.basis is Basis.BATCH for kind in kinds) and self.loads_many(loop.iter)

    def _is_single(self, node: ast.expr) -> bool:
        """Whether a value, or what it is bound to, was given a first axis of size 1: ``x.unsqueeze(0)``, ``x[None]``."""
        seen: set[ast.AST] = set()
        pending: list[ast.expr] = [node]
        while pending and len(seen) < _MOST:
            current = pending.pop()
            seen.add(current)
            for part in ast.walk(current):
                match part:
                    case ast.Call(func=ast.Attribute(attr="unsqueeze" | "unsqueeze_"), args=[ast.Constant(value=0)]):
                        return True
                    case ast.Subscript(slice=ast.Constant(value=None) | ast.Tuple(elts=[ast.Constant(value=None), *_])):
                        return True
                    case ast.Name(ctx=ast.Load()):
                        values = [binding.value for binding in self._semantics.bindings.reaching(part)]
                        pending += [value for value in values if value is not None and value not in seen]
        return False

    def _function_gives_batch(self, call: ast.Call, name: str) -> bool:
        last = name.rpartition(".")[2]
        if not call.args or not self._semantics.kind(call).is_tensor or self._semantics.kind(call).scalar:
            return False
        if name.startswith("torch.nn.functional.") or name.count(".") == 1:
            if last in _RESHAPING or last in _OF_NO_BATCH or last in torch_api.FACTORIES or "loss" in last or last == "stack":
                return False
            if last in SWAPS:
                return self._keeps_first(call.args[1:]) and self.is_batch(call.args[0])
            if last in _REDUCTIONS and not self._keeps_batch(call, call.args[1:]):
                return False
            first = call.args[0]
            if last in ("cat", "concat"):
                return self._joins_batches(call)
            return self.is_batch(first) or (last in _PRODUCTS and any(self.is_batch(part) for part in call.args[:2]))
        return False

    def _joins_batches(self, call: ast.Call) -> bool:
        """Whether batches are joined along another axis than that of the batch."""
        parts = call.args[0].elts if isinstance(call.args[0], (ast.List, ast.Tuple)) else []
        word = next((word.value for word in call.keywords if word.arg in ("dim", "axis")), None)
        along = number(call.args[1] if len(call.args) > 1 else word)
        return along not in (0, None) and any(self.is_batch(part) for part in parts)

    def _method_gives_batch(self, call: ast.Call, function: ast.Attribute) -> bool:
        method = function.attr
        if method not in torch_api.TENSOR_METHODS and method not in _MOVES:
            return False
        if method in _RESHAPING or method in _OF_NO_BATCH:
            return False
        if method == "unsqueeze" and (not call.args or number(call.args[0]) in (0, None)):
            return False
        if method in SWAPS and not self._keeps_first(call.args):
            return False
        if method in _REDUCTIONS and not self._keeps_batch(call, call.args):
            return False
        if not self._semantics.kind(call).is_tensor:
            return False
        return self.is_batch(function.value)

    @staticmethod
    def _keeps_first(indices: list[ast.expr]) -> bool:
        """Whether a transposition leaves the first axis where it is."""
        return all(number(index) not in (0, None) for index in indices)

    @staticmethod
    def _keeps_batch(call: ast.Call, arguments: list[ast.expr]) -> bool:
        """Whether a reduction is over other axes than the first."""
        word = next((word.value for word in call.keywords if word.arg in ("dim", "axis")), None)
        along = word if word is not None else (arguments[0] if arguments else None)
        parts = along.elts if isinstance(along, (ast.Tuple, ast.List)) else [along]
        return along is not None and all(number(part) not in (0, None) for part in parts)


def _owner(function: ast.expr) -> ast.expr:
    """``self`` of ``self.layer``."""
    return function.value if isinstance(function, ast.Attribute) else function
