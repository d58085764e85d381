"""Work on the GPU: what starts it without waiting for it, what waits for it, and what is there to begin with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.tree import FUNCTIONS, dotted, walk
from torchlint.semantics.devices.placement import Placement, Placements

WAITING_METHODS = frozenset({"item", "tolist", "cpu", "numpy", "nonzero", "synchronize", "masked_select", "unique", "wait"})
"""Methods that wait until the GPU has computed what they are called on."""

_MOVING_METHODS = frozenset({"to", "cuda"})
_NO_WORK = WAITING_METHODS | _MOVING_METHODS | torch_api.VIEW_METHODS
_WAITING_CALLS = frozenset({"builtins.print", "builtins.float", "builtins.int", "builtins.bool", "builtins.str"})
_HARMLESS_CALLS = frozenset(
    {
        *("builtins.len", "builtins.range", "builtins.enumerate", "builtins.zip", "builtins.isinstance", "builtins.list"),
        *("time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "timeit.default_timer"),
        *("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autocast", "torch.cuda.amp.autocast"),
    }
)
_HARMLESS_METHODS = frozenset({"append", "zero_grad", "size", "dim", "detach", "eval", "train", "parameters"})

_DECIDING = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.TryStar, ast.Match, ast.For, ast.AsyncFor, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.With, ast.AsyncWith),
)
"""What decides whether the code in it runs."""


class DeviceWork:
    """Tells what a file has put on the GPU, and what the calls on it do there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._placements = semantics.of(Placements)

    def starts(self, node: ast.AST) -> bool:
        """Whether ``node`` is an operation that starts work on the GPU and returns at once."""
        match node:
            case ast.Call(func=ast.Attribute(attr="backward"), args=[]):
                return self._in_scope_of_moves(node)
            case ast.Call(func=ast.Attribute(attr="step", value=owner)) if self._is_optimizer(owner):
                return self._in_scope_of_moves(node)
            case ast.Call(func=function) if self._computes(node):
                operands = [*node.args, *(word.value for word in node.keywords)]
                return any(self.is_moved(part) for part in (function, *operands))
            case ast.BinOp(op=ast.MatMult(), left=left, right=right):
                return self.is_moved(left) or self.is_moved(right)
        return False

    def may_wait(self, node: ast.AST) -> bool:
        """Whether ``node`` is a call that waits for the GPU, or one of which nobody here knows."""
        if not isinstance(node, ast.Call) or self.starts(node):
            return False
        name = self._semantics.qualified_name(node.func) or ""
        if name in _HARMLESS_CALLS:
            return False
        if name in _WAITING_CALLS or not isinstance(node.func, ast.Attribute):
            return True
        if node.func.attr in _MOVING_METHODS:
            return not any(
                word.arg == "non_blocking" for word in node.keywords
            )  # a copy from the host waits for what is queued
        if node.func.attr in WAITING_METHODS:
            return True
        return not (node.func.attr in _HARMLESS_METHODS | torch_api.VIEW_METHODS or self._computes(node))

    def _is_optimizer(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.OPTIMIZER

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call is of a module, or of torch's own functions or methods that give tensors."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            return torch_api.FUNCTIONS.get(name, "").startswith(("tensor", "tuple")) and name not in torch_api.FACTORIES
        if self._semantics.kind(call.func).type is Type.MODULE:
            return bool(call.args or call.keywords)
        if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).is_tensor:
            result = torch_api.TENSOR_METHODS.get(call.func.attr, "")
            return result.startswith(("tensor", "tuple")) and call.func.attr not in _NO_WORK
        return False

    # --- what is on the GPU ------------------------------------------------------------------------------------------

    def is_moved(self, node: ast.expr) -> bool:
        """Whether ``node`` is, or is taken of, something that the code around it puts on a device that may be a GPU."""
        if any(self._moves(part) is not None for part in walk(node)):
            return True
        chains = {chain for part in walk(node) if (chain := dotted(part)) is not None}
        function = self._semantics.tree.function(node)
        return any((chain, scope) in self._moved for chain in chains for scope in {function, None, _own(chain)})

    def surely_on_gpu(self, node: ast.AST) -> bool:
        """Whether the function around ``node`` needs a GPU wherever it is run: it moves things to ``cuda`` on no condition."""
        function = self._semantics.tree.function(node)
        return any(certain for (_, scope), certain in self._moved.items() if scope is function)

    def _in_scope_of_moves(self, node: ast.AST) -> bool:
        """Whether anything is moved in the function around ``node``, for its object, or for the whole file."""
        function = self._semantics.tree.function(node)
        return any(scope is function or scope in (None, "self") for _, scope in self._moved)

    @cached_property
    def _moved(self) -> dict[tuple[str, object], bool]:
        """What is moved to a GPU: names with the function they are of, and whether that is sure."""
        moved: dict[tuple[str, object], bool] = {}
        if self._stays_on_cpu:
            return moved
        calls = self._semantics.facts.calls
        for call in [*calls.get("cuda", ()), *calls.get("to", ())]:
            certain = self._moves(call)
            if certain is None:
                continue
            function = self._semantics.tree.function(call)
            for chain in self._names(call):
                key = (chain, _own(chain) or function)
                moved[key] = certain or moved.get(key, False)
        return moved

    @cached_property
    def _stays_on_cpu(self) -> bool:
        """Whether the file makes the CPU its device, and never speaks of CUDA."""
        devices = [
            call.args[0] if call.args else None
            for call in self._semantics.facts.calls.get("device", ())
            if self._semantics.qualified_name(call.func) == "torch.device"
        ]
        is_cpu = (isinstance(device, ast.Constant) and device.value == "cpu" for device in devices)
        return bool(devices) and all(is_cpu) and not self._semantics.words.speak_of("cuda")

    def _names(self, call: ast.Call) -> Iterator[str]:
        """The names of what a move is called on, where it is a statement, and of what its result is assigned to."""
        assert isinstance(call.func, ast.Attribute)
        statement = self._semantics.tree.statement(call)
        if isinstance(statement, ast.Expr) and (chain := dotted(call.func.value)) is not None:
            yield chain
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if (chain := dotted(part)) is not None:
                        yield chain

    def _moves(self, node: ast.AST) -> bool | None:
        """Whether a call surely moves to a GPU; ``None`` where it does not move, or not to a device that may be one."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr not in ("cuda", "to"):
            return None
        if self._stays_on_cpu:
            return None
        placement = self._placements.of(node)
        if placement is None or placement.device is None or placement.device_name.startswith("cpu"):
            return None
        if self._semantics.qualified_name(node.func.value) is not None and node.func.attr == "cuda":
            return None
        return self._names_gpu(placement) and not self._is_conditional(node) and self._is_of_torch(node.func.value)

    @staticmethod
    def _names_gpu(placement: Placement) -> bool:
        """Whether the device is written out as a GPU."""
        match placement.device:
            case str(device) | ast.Constant(value=str(device)):
                return device.strip("\"'").startswith("cuda")
        return False

    def _is_of_torch(self, moved: ast.expr) -> bool:
        """Whether what is moved is a tensor or a module for certain, so that the move is torch's own."""
        kind = self._semantics.kind(moved)
        is_module = kind.type is Type.MODULE and kind.name in torch_api.MODULES
        return is_module or self._semantics.of(Tensors).fact(moved).is_certain

    def _is_conditional(self, node: ast.AST) -> bool:
        """Whether anything around a node in its function decides whether, or how often, it runs."""
        for parent in self._semantics.tree.ancestors(node):
            if isinstance(parent, _DECIDING):
                return True
            if isinstance(parent, FUNCTIONS):
                return False
        return False


def _own(chain: str) -> str | None:
    """The scope of an attribute of an object, which all its methods share."""
    return "self" if chain.startswith("self.") else None
