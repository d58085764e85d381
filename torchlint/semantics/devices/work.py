"""Work on the GPU: what starts it without waiting for it, what waits for it, and what is there to begin with."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, dotted, given_to, keyword, position, push_children
from torchlint.semantics.devices.placement import Placement, Placements
from torchlint.semantics.modes.trained_models import CALLED_A_MODEL
from torchlint.semantics.provenance.numbers import Numbers

WAITING_METHODS = frozenset({"item", "tolist", "cpu", "numpy", "nonzero", "synchronize", "masked_select", "unique", "wait"})
"""Methods that wait until the GPU has computed what they are called on."""

_MOVING_METHODS = frozenset({"to", "cuda"})
_NO_WORK = WAITING_METHODS | _MOVING_METHODS | torch_api.VIEW_METHODS
_MAKERS = torch_api.FACTORIES | torch_api.MODULES
_WAITING_CALLS = frozenset({"builtins.print", "builtins.float", "builtins.int", "builtins.bool", "builtins.str"})
_HARMLESS_CALLS = frozenset(
    {
        *("builtins.len", "builtins.range", "builtins.enumerate", "builtins.zip", "builtins.isinstance", "builtins.list"),
        *("time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "timeit.default_timer"),
        *("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.autocast", "torch.cuda.amp.autocast"),
    }
)
_FORM_METHODS = frozenset({"size", "dim", "numel", "nelement", "stride", "get_device", "is_contiguous"})
"""What is known of a tensor before it is computed."""
_HARMLESS_METHODS = frozenset({"append", "zero_grad", "size", "dim", "detach", "eval", "train", "parameters"})

_DECIDING = (
    *(ast.If, ast.IfExp, ast.BoolOp, ast.Try, ast.TryStar, ast.Match, ast.For, ast.AsyncFor, ast.While),
    *(*COMPREHENSIONS, ast.Lambda, ast.With, ast.AsyncWith),
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
                return self._in_scope_of_moves(node) and not self._reads_losses(owner)
            case ast.Call(func=function) if self._computes(node):
                operands = given_to(node)
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
        if name in _WAITING_CALLS:
            return not all(map(self._is_known_at_once, given_to(node)))
        if not isinstance(node.func, ast.Attribute):
            return True
        if node.func.attr in _MOVING_METHODS:
            return not any(word.arg == "non_blocking" for word in node.keywords)  # a copy waits for what is queued
        if node.func.attr in WAITING_METHODS:
            return True
        return not (node.func.attr in _HARMLESS_METHODS | torch_api.VIEW_METHODS or self._computes(node))

    def is_read(self, node: ast.AST) -> bool:
        """Whether ``node`` is a tensor whose value decides or is shown there, which waits for it: ``if x.isnan().any()``."""
        match parent := self._semantics.tree.parent(node):
            case ast.If(test=value) | ast.While(test=value) | ast.IfExp(test=value) | ast.Assert(test=value):
                is_asked = value is node
            case ast.UnaryOp(op=ast.Not()) | ast.BoolOp() | ast.FormattedValue():
                is_asked = node is not getattr(parent, "format_spec", None)
            case _:
                is_asked = False
        return is_asked and isinstance(node, ast.expr) and self._semantics.kind(node).is_tensor

    def _is_known_at_once(self, node: ast.expr) -> bool:
        """Whether nothing has to be computed for a value to be read: a text, a number, the form of a tensor."""
        match node:
            case ast.Constant() | ast.Attribute(attr=("shape" | "dtype" | "device" | "ndim" | "is_cuda" | "requires_grad")):
                return True
            case ast.JoinedStr(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(self._is_known_at_once, parts))
            case ast.FormattedValue(value=part) | ast.Subscript(value=part) | ast.UnaryOp(operand=part):
                return self._is_known_at_once(part)
            case ast.BinOp(left=left, right=right):
                return self._is_known_at_once(left) and self._is_known_at_once(right)
            case ast.Call(func=ast.Attribute(attr=name)) if name in _FORM_METHODS:
                return True
            case ast.Call(func=function, args=parts):
                called = self._semantics.qualified_name(function)
                if called == "builtins.len" or (called in _WAITING_CALLS and all(map(self._is_known_at_once, parts))):
                    return True
        return self._semantics.of(Numbers).is_number(node)

    def _is_optimizer(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.OPTIMIZER

    def is_step(self, node: ast.AST) -> bool:
        """Whether a call is an optimizer's step."""
        match node:
            case ast.Call(func=ast.Attribute(attr="step", value=owner)):
                return self._is_optimizer(owner)
        return False

    def _reads_losses(self, optimizer: ast.expr) -> bool:
        """Whether an optimizer reads each loss as a number to decide how to go on, and so waits for it: `float(closure())`."""
        return self._semantics.kind(optimizer).name == "torch.optim.LBFGS"

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call is of a module, or of torch's own functions or methods that give tensors."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            gives_tensors = torch_api.FUNCTIONS.get(name, "").startswith(("tensor", "tuple"))
            return gives_tensors and name not in torch_api.FACTORIES and name.removeprefix("torch.") not in WAITING_METHODS
        if self.runs_module(call):
            return bool(call.args or call.keywords)
        if isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).is_tensor:
            result = torch_api.TENSOR_METHODS.get(call.func.attr, "")
            return result.startswith(("tensor", "tuple")) and call.func.attr not in _NO_WORK
        return False

    def runs_module(self, call: ast.Call) -> bool:
        """Whether a call is of a module. One whose class nobody here knows is put on a GPU, as nothing else is that can be
        called, or it is called a model, and whoever calls the function gives it.
        """
        called, kind = call.func, self._semantics.kind(call.func)
        if kind.known or (self._semantics.qualified_name(called) or "").startswith("torch."):
            return kind.type is Type.MODULE
        if isinstance(called, ast.Name):
            bindings = self._semantics.bindings.reaching(called)
            if bindings and all(each.form is Form.PARAMETER for each in bindings) and CALLED_A_MODEL.search(called.id):
                return True
        chain = dotted(called)
        scopes = {self._semantics.tree.function(called), None, _own(chain)} if chain is not None else ()
        return any((chain, scope) in self._moved for scope in scopes)

    # --- what is on the GPU ------------------------------------------------------------------------------------------

    def is_moved(self, node: ast.expr) -> bool:
        """Whether ``node`` is, or is taken of, something that the code around it puts on a device that may be a GPU."""
        parts = list(self._parts_on_gpu(node))
        if any(self._moves(part) is not None for part in parts):
            return True
        chains = {chain for part in parts if (chain := dotted(part)) is not None}
        function = self._semantics.tree.function(node)
        return any(
            (chain, scope) in self._moved
            and not (scope is function and self._is_moved_later((chain, scope), node))
            and not self._is_back((chain, scope), node)
            for chain in chains
            for scope in {function, None, _own(chain)}
        )

    def _parts_on_gpu(self, node: ast.AST) -> Iterator[ast.AST]:
        """The parts of an expression, but for what is brought to the CPU there."""
        pending = [node]
        while pending:
            part = pending.pop()
            if not self._is_brought_back(part):
                yield part
                push_children(part, pending)

    def _is_brought_back(self, node: ast.AST) -> bool:
        """Whether a call gives what it is called on to the CPU."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            return False
        if node.func.attr in ("cpu", "numpy", "tolist", "item"):
            return not node.args
        placement = self._placements.of(node) if node.func.attr == "to" else None
        return placement is not None and placement.device_name.startswith("cpu")

    def _is_moved_later(self, moved: tuple[str, object], node: ast.expr) -> bool:
        """Whether all the moves stand behind ``node``, with no loop around both."""
        loops = set(self._semantics.tree.loops(node))
        moves = self._moves_of[moved]
        return all(position(node) < position(each) and loops.isdisjoint(self._semantics.tree.loops(each)) for each in moves)

    def _is_back(self, moved: tuple[str, object], node: ast.expr) -> bool:
        """Whether what was moved has been brought to the CPU by the time that ``node`` is run, and has not been moved since."""
        backs = [each for each in self._backs.get(moved, ()) if self._is_before(each, node)]
        if not backs:
            return False
        last = max(map(position, backs))
        return not any(last < position(each) < position(node) for each in self._moves_of[moved])

    def _is_before(self, statement: ast.stmt, node: ast.expr) -> bool:
        """Whether a statement has run whenever ``node`` is run."""
        tree = self._semantics.tree
        behind = (each for each in tree.block(statement) if position(statement) < position(each))
        return any(tree.inside(node, each) for each in behind)

    def surely_on_gpu(self, node: ast.AST) -> bool:
        """Whether the function around ``node`` needs a GPU wherever it is run: it moves things to ``cuda`` on no condition."""
        function = self._semantics.tree.function(node)
        return any(certain for (_, scope), certain in self._moved.items() if scope is function)

    def _in_scope_of_moves(self, node: ast.AST) -> bool:
        """Whether anything is moved in the function around ``node``, for its object, or for the whole file."""
        function = self._semantics.tree.function(node)
        return any(scope is function or scope in (None, "self") for _, scope in self._moved)

    @cached_property
    def _backs(self) -> dict[tuple[str, object], list[ast.stmt]]:
        """What is brought back to the CPU, with the statements that do so."""
        calls = self._semantics.facts.calls
        backs = (call for call in [*calls.get("cpu", ()), *calls.get("to", ())] if self._is_brought_back(call))
        return self._statements_by_name(call for call in backs if isinstance(self._semantics.tree.parent(call), ast.stmt))

    @cached_property
    def _moves_of(self) -> dict[tuple[str, object], list[ast.stmt]]:
        """What is moved to a GPU, with the statements that do so."""
        calls = self._semantics.facts.calls
        moves = (call for call in [*calls.get("cuda", ()), *calls.get("to", ())] if self._moves(call) is not None)
        return self._statements_by_name([*moves, *self._made])

    def _statements_by_name(self, calls: Iterable[ast.Call]) -> dict[tuple[str, object], list[ast.stmt]]:
        found: dict[tuple[str, object], list[ast.stmt]] = defaultdict(list)
        for call in calls:
            for chain in self._names(call):
                found[chain, _own(chain) or self._semantics.tree.function(call)].append(self._semantics.tree.statement(call))
        return found

    @cached_property
    def _made(self) -> list[ast.Call]:
        """The tensors and modules of torch that are made on a device that may be a GPU."""
        calls = self._semantics.facts.calls
        makers = sorted({name.rpartition(".")[2] for name in _MAKERS} & calls.keys())
        return [call for name in makers for call in calls[name] if self._made_on(call) is not None]

    def _made_on(self, call: ast.Call) -> bool | None:
        """Whether a call of a constructor of torch surely makes something on a GPU; ``None`` where it is not asked to."""
        if self._semantics.qualified_name(call.func) not in _MAKERS:
            return None
        device = keyword(call, "device")
        if device is None:
            return None
        written = Placement(device)
        if written.device_name.startswith(("cpu", "meta", "None")) or self._is_device_of_cpu(device):
            return None
        return self._names_gpu(written) and not self._is_conditional(call)

    def _is_device_of_cpu(self, device: ast.expr) -> bool:
        """Whether a device is written out as another than a GPU: ``torch.device("cpu")``, or a name for that."""
        if isinstance(device, ast.Name):
            values = [binding.value for binding in self._semantics.bindings.reaching(device) if binding.value is not None]
            return bool(values) and all(
                isinstance(each, (ast.Constant, ast.Call)) and self._is_device_of_cpu(each) for each in values
            )
        if isinstance(device, ast.Call) and self._semantics.qualified_name(device.func) == "torch.device":
            return bool(device.args) and self._is_device_of_cpu(device.args[0])
        return isinstance(device, ast.Constant) and str(device.value).startswith(("cpu", "meta", "None"))

    @cached_property
    def _moved(self) -> dict[tuple[str, object], bool]:
        """What is moved to a GPU: names with the function they are of, and whether that is sure."""
        moved: dict[tuple[str, object], bool] = {}
        if self._stays_on_cpu:
            return moved
        calls = self._semantics.facts.calls
        for call in [*calls.get("cuda", ()), *calls.get("to", ()), *self._made]:
            certain = self._moves(call)
            certain = self._made_on(call) if certain is None else certain
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
        statement = self._semantics.tree.statement(call)
        if isinstance(statement, ast.Expr) and isinstance(call.func, ast.Attribute):
            if (chain := dotted(call.func.value)) is not None:
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
        if isinstance(placement.device, ast.expr) and self._is_device_of_cpu(placement.device):
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
