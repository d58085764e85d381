"""Tensors that a statement computes and throws away: ``x.to(device)``, ``mask.masked_fill(pad, 0)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics, Type, torch_api
from torchlint.semantics.code.expected_errors import is_tried
from torchlint.semantics.code.later_reads import LaterReads
from torchlint.semantics.code.tree import dotted, last_name
from torchlint.semantics.kinds.asked import AskedTensors
from torchlint.semantics.kinds.loaded import LoaderTensors

Node = TypeVar("Node")

_EFFECTS = frozenset(
    {"backward", "retain_grad", "register_hook", "record_stream", "module_load", "register_post_accumulate_grad_hook"}
)
"""Methods that are called for what they do."""
_METHODS = (
    frozenset(name for name, result in torch_api.TENSOR_METHODS.items() if result.startswith(("tensor", "tuple", "list")))
    | torch_api.NONDIFFERENTIABLE_METHODS
    | {"to", "type", "cuda", "cpu", "t"}
) - (torch_api.INPLACE_METHODS | _EFFECTS | {"tolist", "item"})
_ASSIGNABLE_METHODS = (
    frozenset(name for name, result in torch_api.TENSOR_METHODS.items() if result == "tensor")
    | {"to", "type", "cuda", "cpu", "t"}
) - (torch_api.SCALAR_REDUCTIONS_METHODS | torch_api.NONDIFFERENTIABLE_METHODS)
"""Methods whose result can take the tensor's place: one tensor, and no sum or comparison."""
_USED_BY_OTHERS = frozenset(
    {"expand", "view", "permute", "split", "sort", "index", "max", "min", "sum", "add", "put", "select"}
)
"""Methods that other types have, too: that they are called does not make a value a tensor, nor that it has an ``item()``."""
_OTHER_FUNCTIONS = ("torch.nn.init.", "torch.nn.utils.", "torch.autograd.", "torch.distributed.", "torch.cuda.", "torch.jit.")
_STATEFUL = ("batch_norm", "instance_norm", "embedding_bag")
"""Functions that change what they are given besides have this in their names."""
_FUNCTIONS = frozenset(
    name
    for name, result in torch_api.FUNCTIONS.items()
    if result.startswith(("tensor", "tuple", "list")) and not name.endswith("_") and not name.startswith(_OTHER_FUNCTIONS)
    if not any(word in name for word in _STATEFUL)
) - (torch_api.FACTORIES | torch_api.LOSS_FUNCTIONS)
_INPLACE_AT = {
    **dict.fromkeys(("relu", "relu6", "silu", "mish", "selu", "hardswish", "hardsigmoid"), 1),
    **dict.fromkeys(("elu", "celu", "leaky_relu"), 2),
    **dict.fromkeys(("hardtanh", "threshold", "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout"), 3),
    "feature_alpha_dropout": 3,
    "rrelu": 4,
}
"""Functions of `torch.nn.functional` that can work in place, and the position of the argument that makes them."""
_LAST_NAMES = _METHODS | {name.rpartition(".")[2] for name in _FUNCTIONS}
_MOVES = frozenset({"to", "cuda", "cpu"})
_NOT_THE_OWNERS = frozenset({"items", "values", "parameters", "named_parameters", "buffers", "named_buffers"})
"""Iterables whose elements are held elsewhere too: there, assigning to the loop's variable changes nothing."""
_STATES = {
    "torch.nn.LSTM": ((1, 0), (1, 1)),
    "torch.nn.LSTMCell": ((0,), (1,)),
    **dict.fromkeys(("torch.nn.GRU", "torch.nn.RNN"), ((1,),)),
}
"""Where the states stand in what recurrent networks give."""
_MODELS = frozenset({"model", "net", "network"})
"""Names of arguments that are modules; a value that is one of theirs is a tensor as a rule."""
_CLOCKS = frozenset(
    {"time", "perf_counter", "perf_counter_ns", "process_time", "monotonic", "time_ns", "synchronize", "elapsed_time"}
    | {"timeit", "Timer", "blocked_autorange", "profile", "record_function", "max_memory_allocated", "memory_allocated"}
)
"""Calls that measure: beside them, work is done for its own sake."""


@dataclass(frozen=True, eq=False, slots=True)
class Discarded(Generic[Node]):
    """A result that was computed from ``tensor``, which stays as it is.

    The result may be ``assignable`` to that, where it makes a difference.
    """

    tensor: Node
    assignable: bool


class DiscardedResults:
    """Finds what a file computes for nothing."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._later_reads = semantics.of(LaterReads)

    @cached_property
    def found(self) -> dict[ast.Call, Discarded[ast.expr]]:
        """The calls whose results are thrown away, each with what it is computed from."""
        results: dict[ast.Call, Discarded[ast.expr]] = {}
        if "torch" in self._semantics.names.imported_libraries:
            for statement in self._semantics.tree.of_type(ast.Expr):
                for value in values_of(statement):
                    if isinstance(value, ast.Call) and last_name(value.func) in _LAST_NAMES:
                        discarded = self._discarded(statement, value)
                        if discarded is not None:
                            results[value] = discarded
        return results

    def is_measured(self, node: ast.stmt) -> bool:
        """Whether the function around looks at clocks or at memory."""
        function = self._semantics.tree.function(node)
        return any(
            self._semantics.tree.function(call) is function
            for name in _CLOCKS & self._semantics.facts.calls.keys()
            for call in self._semantics.facts.calls[name]
        )

    def _trains(self, node: ast.stmt) -> bool:
        """Whether the function around back-propagates and takes steps: the clock in it is for the log."""
        function, calls = self._semantics.tree.function(node), self._semantics.facts.calls
        return all(
            any(self._semantics.tree.function(call) is function for call in calls.get(name, ()))
            for name in ("backward", "step", "zero_grad")
        )

    def _discarded(self, node: ast.Expr, call: ast.Call) -> Discarded[ast.expr] | None:
        if any(word.arg in ("out", "inplace") for word in call.keywords):
            return None
        tensor = self._operand(call)
        if tensor is None or is_tried(self._semantics.tree, node):
            return None
        may_assign = self._may_assign(node, tensor) and not self._meets_what_left(call, tensor)
        if self.is_measured(node) and not (may_assign if _moves(call) else self._trains(node)):
            return None
        return Discarded(tensor, self._takes_its_place(call) and may_assign)

    # --- what is computed --------------------------------------------------------------------------------------------

    def _operand(self, call: ast.Call) -> ast.expr | None:
        """The variable, attribute or item whose tensor ``call`` computes another from, without any other effect."""
        name = self._semantics.qualified_name(call.func)
        if name is not None and not name.startswith("builtins."):
            return self._argument(call, name)
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _METHODS:
            return None
        root: ast.expr = call
        while isinstance(root, ast.Call) and isinstance(root.func, ast.Attribute):
            if root.func.attr not in _METHODS or any(word.arg == "out" for word in root.keywords):
                return None
            root = root.func.value
        return root if self._is_tensor(root, call) and self._is_tensor(call.func.value, call) else None

    def _argument(self, call: ast.Call, name: str) -> ast.expr | None:
        """The first argument of a function of torch, where that is what it works on."""
        if name not in _FUNCTIONS or not call.args or self._works_in_place(call, name):
            return None
        return call.args[0] if self._is_tensor(call.args[0], call) else None

    @staticmethod
    def _works_in_place(call: ast.Call, name: str) -> bool:
        """Whether an argument without a name may ask for work in place: ``F.relu(x, True)``."""
        place = _INPLACE_AT.get(name.removeprefix("torch.nn.functional."))
        if place is None or len(call.args) <= place:
            return any(isinstance(each, ast.Starred) for each in call.args)
        flag = call.args[place]
        return not isinstance(flag, ast.Constant) or bool(flag.value)

    def _is_tensor(self, node: ast.expr, call: ast.Call) -> bool:
        """Whether a variable, attribute or item holds a tensor for certain, and not just because of this very call."""
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return False
        asked = self._semantics.of(AskedTensors)
        if asked.are_tensors(node) or asked.are_none(node):
            return asked.are_tensors(node)
        kind = self._semantics.kind(node)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if kind.loose and method in _METHODS and self._is_state(node):
            return True
        if not kind.known or kind.loose:
            return method in _MOVES and (self._semantics.of(LoaderTensors).include(node) or self._is_given_to_model(node))
        if not kind.is_tensor:
            return False
        return not (method in _USED_BY_OTHERS and kind.used in (method, "item"))

    def _is_state(self, node: ast.expr) -> bool:
        """Whether a tensor is one of those that a recurrent network of torch's gives beside its outputs."""
        match node:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(
                    self._are_states(binding, ())
                    if binding.form is Form.ASSIGNMENT
                    else binding.form is Form.LOOP and binding.value is not None and self._is_pair(binding.value)
                    for binding in bindings
                )
            case ast.Subscript(value=value, slice=ast.Constant(value=0 | 1 | -1)):
                return self._is_pair(value)
        return False

    def _is_pair(self, node: ast.expr) -> bool:
        """Whether something is the pair of tensors that an LSTM gives."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(self._are_states(binding, (0,)) for binding in bindings)

    def _are_states(self, binding: Binding, rest: tuple[int, ...]) -> bool:
        """Whether a name has a part of what a recurrent network gives; ``rest`` leads on to a tensor of it."""
        if binding.form is not Form.ASSIGNMENT or not isinstance(binding.value, ast.Call):
            return False
        name = self._semantics.kind(binding.value.func).name
        path = (*binding.path, *rest)
        return path in _STATES.get(name, ())

    def _is_given_to_model(self, node: ast.expr) -> bool:
        """Whether a result of a call is an argument of a model, `model(x, mask)`, and nothing else is done with it."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        if not bindings or not all(
            each.form is Form.ASSIGNMENT and each.path and isinstance(each.value, ast.Call) for each in bindings
        ):
            return False  # the items of loops are whole batches, which may be moved in place
        uses = [use for each in bindings for use in each.uses if use is not node]
        return any(map(self._is_models_argument, uses)) and not any(
            isinstance(parent := self._semantics.tree.parent(use), ast.Call) and parent.func is use for use in uses
        )

    def _is_models_argument(self, use: ast.Name) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Call(func=ast.Name(id=name) as function, args=arguments) if use in arguments:
                return name in _MODELS or self._semantics.kind(function).type is Type.MODULE
            case ast.Call(func=ast.Attribute() as function, args=arguments) if use in arguments:
                return self._semantics.kind(function).type is Type.MODULE
        return False

    # --- where it could go -------------------------------------------------------------------------------------------

    def _takes_its_place(self, call: ast.Call) -> bool:
        """Whether what is computed is of the same sort as what it is computed from."""
        name = self._semantics.qualified_name(call.func) or "builtins."
        if not name.startswith("builtins."):
            in_place = f"{last_name(call.func)}_" in torch_api.INPLACE_METHODS
            return torch_api.FUNCTIONS.get(name) == "tensor" and (in_place or name.startswith("torch.nn.functional."))
        return last_name(call.func) in _ASSIGNABLE_METHODS

    def _may_assign(self, node: ast.Expr, tensor: ast.expr) -> bool:
        match tensor:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(tensor)
                return not any(map(_is_held_elsewhere, bindings)) and self._later_reads.follow(node, tensor)
            case ast.Attribute(value=owner):
                if self._semantics.kind(owner).is_tensor:
                    return False  # `x.data`, `x.grad`, `x.T`
                return self._semantics.kind(tensor).grad is not Grad.LEAF and dotted(tensor) is not None
            case ast.Subscript(value=owner):
                return self._semantics.kind(owner).type in (Type.SEQUENCE, Type.MAPPING)
        return False

    def _meets_what_left(self, call: ast.Call, tensor: ast.expr) -> bool:
        """Whether a tensor that goes to a device is then compared with one that was moved to the CPU, where it is now."""
        if not isinstance(tensor, ast.Name) or last_name(call.func) not in ("to", "cuda"):
            return False
        uses = (use for each in self._semantics.bindings.reaching(tensor) for use in each.uses if use is not tensor)
        return any(self._is_on_cpu(other) for use in uses for other in self._beside(use))

    def _beside(self, use: ast.expr) -> list[ast.expr]:
        """What a value, or what its own methods give of it, is computed with: `p` in `p.eq(x.view(-1))`."""
        current = use
        while True:
            match self._semantics.tree.parent(current):
                case ast.Attribute(attr=name) as method if name not in _MOVES:
                    current = method
                case ast.Call(func=function) as call if function is current:
                    current = call
                case ast.Call(func=ast.Attribute(value=owner), args=args) if current in args:
                    return [owner, *(each for each in args if each is not current)]
                case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
                    return [left if right is current else right]
                case _:
                    return []

    def _is_on_cpu(self, node: ast.expr, depth: int = 2) -> bool:
        """Whether the last move of a value that is seen is one to the CPU."""
        while isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
            match node:
                case ast.Call(func=ast.Attribute(attr="cpu")):
                    return True
                case ast.Call(func=ast.Attribute(attr="to" | "cuda"), args=args):
                    return any(isinstance(each, ast.Constant) and each.value == "cpu" for each in args)
            node = node.func if isinstance(node, ast.Call) else node.value
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) and depth else ()
        values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path and each.value is not None]
        return len(values) == len(bindings) > 0 and all(self._is_on_cpu(value, depth - 1) for value in values)


def values_of(statement: ast.Expr) -> list[ast.expr]:
    """What a statement computes and nobody gets: its expression, or each element of a tuple or list, `x.cuda(), y.cuda()`."""
    match statement.value:
        case ast.Tuple(elts=values) | ast.List(elts=values):
            return values
    return [statement.value]


def _moves(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _MOVES


def _is_held_elsewhere(binding: Binding) -> bool:
    """Whether a binding is the variable of a loop over what something else owns."""
    if binding.form is not Form.LOOP or not isinstance(binding.value, ast.Call):
        return False
    return last_name(binding.value.func) in _NOT_THE_OWNERS
