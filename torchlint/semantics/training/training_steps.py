"""What a training loop does with gradients: where they are computed, used and wiped, and by which optimizer.

Three acts make a training step: ``backward`` adds to the gradients, ``step`` uses them, ``zero_grad`` wipes them.
`TrainingSteps` finds them, also where a function of the file does them for its caller, and tells which variables hold the
same optimizer. Where code that the file does not show might act, it says that it might.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from torchlint.semantics import torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, Tree, dotted, last_name
from torchlint.semantics.kinds.evidence import is_engine_backward
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.kinds.results import GRAD_SCALERS

if TYPE_CHECKING:
    from torchlint.semantics import Semantics

Making: TypeAlias = ast.Call | ast.arg
"""Where an optimizer comes from: the call that makes it, or a parameter that is annotated as one."""

_BACKWARDS = frozenset({"backward", "manual_backward"})
_PREPARING = {"prepare": "accelerator", "setup": "fabric", "initialize": "amp"}
_PARAMETER_METHODS = frozenset({"parameters", "named_parameters", "trainable_parameters"})
_WIPING_NAME = re.compile(
    r"(zero|clear|reset|clean|wipe|null|empty|free|drop).*grad|grad.*(zero|clear|reset|none)|foreach_zero", re.I
)
_OVERWRITING = frozenset({"zero_", "fill_", "mul_", "copy_", "set_"})
_HARMLESS_WITH_OPTIMIZER = re.compile(
    r"(^|_)lr|learning_rate|sched|clip|log|print|save|checkpoint|unscale|scale_loss|master_params|state|norm|summary|watch"
    r"|momentum|isinstance|^(len|id|type|repr|str|getattr|hasattr|list|enumerate|zip)$",
    re.I,
)
_CALLBACK = re.compile(
    r"callback|hook|(^|_)on_(batch|step|epoch|train|iter)|before_|after_|closure|event|dispatch|emit|fire", re.I
)
_COMPUTES = re.compile(r"^(model|net|network|criterion|forward|predict|(.*_)?loss(_fn|_fct|_function)?|device|metrics?)$", re.I)
_ACTS_ON_MODEL = re.compile(r"train_|_train|step|reset|zero|clear|update|prepare|optimi[sz]e", re.I)
_HARMLESS_METHODS = frozenset(
    {"append", "add_scalar", "info", "debug", "warning", "format", "item", "update", "write", "set_postfix", "set_description"}
    | {"log", "print", "flush", "time", "get", "items", "keys", "values", "join", "size", "unscale_", "get_scale", "add"}
)


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """A call that adds to gradients, and what it back-propagates."""

    call: ast.Call
    loss: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call by which an optimizer changes its parameters: ``optimizer.step()``, ``scaler.step(optimizer)``."""

    call: ast.Call
    optimizer: ast.expr


@dataclass(frozen=True, slots=True, eq=False)
class ZeroGrad:
    """A call of ``zero_grad``, of an optimizer or a module."""

    call: ast.Call
    of: ast.expr


_Act = TypeVar("_Act", Backward, Step, ZeroGrad)


class _Placed(Generic[_Act]):
    """Acts by the loops that they stand in, and by the function around them."""

    def __init__(self, acts: list[_Act], tree: Tree) -> None:
        self.by_loop: dict[ast.AST, list[_Act]] = {}
        self.by_function: dict[ast.AST, list[_Act]] = {}
        self._in_regions: dict[ast.AST, list[tuple[_Act, ast.Call]]] = {}
        for act in acts:
            function = tree.function(act.call)
            if function is not None:
                self.by_function.setdefault(function, []).append(act)
            for parent in tree.ancestors(act.call):
                if isinstance(parent, LOOPS):
                    self.by_loop.setdefault(parent, []).append(act)

    def in_region(self, region: Region, tree: Tree) -> list[tuple[_Act, ast.Call]]:
        """Those that a round may run, in the order of the text, each with the call in the loop that runs it."""
        if region.loop not in self._in_regions:
            self._in_regions[region.loop] = list(self._find_in(region, tree))
        return self._in_regions[region.loop]

    def _find_in(self, region: Region, tree: Tree) -> Iterator[tuple[_Act, ast.Call]]:
        near = set(self.by_loop.get(region.loop, ()))
        for function in region.functions:
            near.update(self.by_function.get(function, ()))
        for act in sorted(near, key=lambda act: _position(act.call)):
            place = region.place(act.call, tree)
            if place is not None:
                yield act, place


class TrainingSteps:
    """Finds the acts of training steps in one file, and answers questions about them."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._bindings = semantics.bindings
        self._names = semantics.names
        self._facts = semantics.facts
        self._inference = semantics.inference
        self._regions: dict[ast.AST, Region] = {}

    # --- the acts ----------------------------------------------------------------------------------------------------

    @cached_property
    def backwards(self) -> list[Backward]:
        """The calls that surely add to gradients."""
        found: list[Backward] = []
        for name in _BACKWARDS:
            for call in self._facts.calls.get(name, ()):
                loss = self._back_propagated(call)
                if loss is not None:
                    found.append(Backward(call, loss))
        return sorted(found, key=lambda backward: _position(backward.call))

    def _back_propagated(self, call: ast.Call) -> ast.expr | None:
        if self._names.qualified(call.func) == "torch.autograd.backward" or is_engine_backward(call):
            return call.args[0] if call.args else None
        if isinstance(call.func, ast.Attribute) and self._inference.kind(call.func.value).is_tensor:
            return call.func.value
        if isinstance(call.func, ast.Attribute) and isinstance(result := call.func.value, ast.Call) and not call.args:
            if isinstance(result.func, ast.Attribute) and result.func.attr == "scale" and result.args:
                return result.args[0]
            return result if not self._inference.kind(result).known else None
        return None

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of optimizers of torch that the file makes, or that it declares to be given."""
        found: list[Step] = []
        for call in [*self._facts.calls.get("step", ()), *self._facts.calls.get("optimizer_step", ())]:
            optimizer = stepped(call)
            if optimizer is not None and self.makings(optimizer):
                found.append(Step(call, optimizer))
        return sorted(found, key=lambda step: _position(step.call))

    @cached_property
    def zero_grads(self) -> list[ZeroGrad]:
        """The calls of ``zero_grad``."""
        calls = self._facts.calls.get("zero_grad", ())
        return [ZeroGrad(call, call.func.value) for call in calls if isinstance(call.func, ast.Attribute)]

    def acts_as_optimizer(self, node: ast.expr) -> bool:
        """Whether an expression gives an optimizer, or has both a ``step`` and a ``zero_grad`` in this file."""
        return self._inference.kind(node).type is Type.OPTIMIZER or ast.dump(node) in self._stepped_and_zeroed

    @cached_property
    def _stepped_and_zeroed(self) -> set[str]:
        owners: dict[str, set[str]] = {"step": set(), "zero_grad": set()}
        for node in self._tree.nodes:
            if isinstance(node, ast.Attribute) and node.attr in owners:
                owners[node.attr].add(ast.dump(node.value))
        return owners["step"] & owners["zero_grad"]

    # --- which optimizer ---------------------------------------------------------------------------------------------

    def same(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions surely give the same object, by what they are spelled like and bound to."""
        if dotted(one) is None or dotted(one) != dotted(other):
            return False
        first, second = _root(one), _root(other)
        if not isinstance(first, ast.Name) or not isinstance(second, ast.Name):
            return False
        return self._bindings.reaching(first) == self._bindings.reaching(second) or (
            self._facts.self_class(first) is not None and self._facts.self_class(first) is self._facts.self_class(second)
        )

    def makings(self, optimizer: ast.expr) -> frozenset[Making] | None:
        """Where the optimizer that an expression gives is made; ``None`` if that is uncertain, or it is not torch's."""
        found = self._makings(optimizer, set())
        return frozenset(found) if found else None

    def _makings(self, node: ast.expr, seen: set[ast.AST]) -> set[Making] | None:
        if node in seen:
            return set()
        seen.add(node)
        match node:
            case ast.Constant(value=None):
                return set()
            case ast.Call():
                return {node} if self._names.qualified(node.func) in torch_api.OPTIMIZERS else self._returned(node, seen)
            case ast.IfExp(body=body, orelse=orelse):
                return self._all((self._makings(body, seen), self._makings(orelse, seen)))
            case ast.Name():
                bindings = self._bindings.reaching(node)
                return self._all(self._bound(binding, seen) for binding in bindings) if bindings else None
            case ast.Attribute(value=owner, attr=name):
                definition = self._inference.kind(owner).definition
                if isinstance(definition, ast.ClassDef):
                    slots = self._facts.slots(definition, name)
                    if any(value is not None for slot in slots for value, _ in slot.class_values) or not slots:
                        return None
                    return self._all(self._stored(store, seen) for slot in slots for store in slot.stores)
        return None

    def _returned(self, call: ast.Call, seen: set[ast.AST]) -> set[Making] | None:
        function = self.called(call)
        values = self._facts.returned(function) if function is not None else []
        return self._all(self._makings(value, seen) if value is not None else None for value in values) if values else None

    def _unpacked(self, value: ast.expr, path: tuple[int | None, ...]) -> ast.expr | None:
        """The part of a value that unpacking gives at ``path``; of what an engine prepares, the thing that it was given."""
        for index in path:
            if isinstance(value, ast.Call) and is_preparation(value):
                value = ast.Tuple(elts=value.args)
            if not isinstance(value, (ast.Tuple, ast.List)) or index is None or index >= len(value.elts):
                return None
            value = value.elts[index]
        if not path and isinstance(value, ast.Call) and is_preparation(value) and len(value.args) == 1:
            return value.args[0]
        return value

    def _stored(self, store: ast.Attribute, seen: set[ast.AST]) -> set[Making] | None:
        statement = self._tree.parent(store)
        if isinstance(statement, ast.Assign) or (isinstance(statement, ast.AnnAssign) and statement.value is not None):
            assert statement.value is not None
            return self._makings(statement.value, seen)
        return None

    def _bound(self, binding: Binding, seen: set[ast.AST]) -> set[Making] | None:
        if binding.form is Form.ASSIGNMENT and binding.value is not None:
            value = self._unpacked(binding.value, binding.path)
            return self._makings(value, seen) if value is not None else None
        function = binding.scope.node
        if binding.form is not Form.PARAMETER or not isinstance(binding.node, ast.arg) or not isinstance(function, FUNCTIONS):
            return None
        if binding.annotation is not None:
            name = self._names.qualified(binding.annotation) or ""
            if name in torch_api.OPTIMIZERS or name == "torch.optim.Optimizer":
                return {binding.node}
        arguments = [self._facts.argument(call, function, binding.node) for call in self._inference.call_sites(function)]
        if not arguments:
            return None
        return self._all(self._makings(argument, seen) if argument is not None else None for argument in arguments)

    @staticmethod
    def _all(found: Iterable[set[Making] | None]) -> set[Making] | None:
        """All that the parts found; ``None`` if one is not certain."""
        joined: set[Making] = set()
        for part in found:
            if part is None:
                return None
            joined |= part
        return joined

    def trained(self, optimizer: ast.expr) -> frozenset[str] | None:
        """What the parameters of an optimizer are of, as it is spelled where the optimizer is made; ``None`` if not certain."""
        owners: set[str] = set()
        for making in self.makings(optimizer) or ():
            given = making.args[0] if isinstance(making, ast.Call) and making.args else None
            found = _owners(given) if given is not None else None
            if not found:
                return None
            owners |= found
        return frozenset(owners) or None

    def apart(self, one: ast.expr, other: ast.expr) -> bool:
        """Whether two expressions surely give optimizers of different parameters, as the two of a GAN."""
        makings = self.makings(one), self.makings(other)
        if not makings[0] or not makings[1] or makings[0] & makings[1]:
            return False
        trained = self.trained(one), self.trained(other)
        if trained[0] is None or trained[1] is None:
            return False
        return not any(_overlap(first, second) for first in trained[0] for second in trained[1])

    # --- what is called ----------------------------------------------------------------------------------------------

    def called(self, call: ast.Call) -> Function | None:
        """The function or method of the file that a call runs, if it is certain: of a class, its constructor."""
        found = self._facts.definition(call.func)
        if isinstance(found, ast.ClassDef):
            return self._facts.method(found, "__init__")
        if isinstance(found, FUNCTIONS):
            return found
        if isinstance(call.func, ast.Attribute):
            definition = self._inference.kind(call.func.value).definition
            if isinstance(definition, ast.ClassDef):
                return self._facts.method(definition, call.func.attr)
        return None

    def region(self, loop: Loop) -> Region:
        """The code that a round of ``loop`` may run: its body, and the functions of the file that are called from there."""
        if loop not in self._regions:
            roots: list[ast.AST] = [*([loop.test] if isinstance(loop, ast.While) else [loop.iter]), *loop.body]
            functions: list[Function] = []
            calls: dict[Function, ast.Call] = {}
            pending: list[tuple[ast.AST, ast.Call | None]] = [(root, None) for root in roots]
            while pending:
                root, through = pending.pop()
                for node in ast.walk(root):
                    if not isinstance(node, ast.Call):
                        continue
                    function = self.called(node)
                    if function is not None and function not in calls:
                        calls[function] = through or node
                        functions.append(function)
                        pending.extend((statement, through or node) for statement in function.body)
            self._regions[loop] = Region(loop, roots, functions, calls)
        return self._regions[loop]

    def backwards_in(self, region: Region) -> list[tuple[Backward, ast.Call]]:
        """The backward calls that a round surely may run, each with the call in the loop that runs it."""
        return self._placed_backwards.in_region(region, self._tree)

    def steps_in(self, region: Region) -> list[tuple[Step, ast.Call]]:
        """The steps of optimizers that a round surely may run, each with the call in the loop that runs it."""
        return self._placed_steps.in_region(region, self._tree)

    def zero_grads_in(self, loop: Loop) -> list[ZeroGrad]:
        """The calls of ``zero_grad`` in a loop, or in functions that are defined there."""
        return self._placed_zero_grads.by_loop.get(loop, [])

    @cached_property
    def _placed_backwards(self) -> _Placed[Backward]:
        return _Placed(self.backwards, self._tree)

    @cached_property
    def _placed_steps(self) -> _Placed[Step]:
        return _Placed(self.steps, self._tree)

    @cached_property
    def _placed_zero_grads(self) -> _Placed[ZeroGrad]:
        return _Placed(self.zero_grads, self._tree)

    # --- what code that is not shown may do --------------------------------------------------------------------------

    def may_wipe(self, region: Region, optimizer: ast.expr) -> bool:
        """Whether anything in a loop may wipe the gradients of an optimizer, as far as that can be told."""
        return any(self._may_wipe(node, optimizer) for node in region.nodes) or self.is_handed_out(optimizer)

    def _may_wipe(self, node: ast.AST, optimizer: ast.expr) -> bool:
        match node:
            case ast.Attribute(attr="zero_grad", value=other):
                return not self.apart(optimizer, other)
            case ast.Attribute(attr="grad", ctx=ast.Store() | ast.Del()):
                return True
            case ast.Attribute(attr="data", value=ast.Attribute(attr="grad"), ctx=ast.Store()):
                return True
            case ast.Attribute(attr=name) | ast.Name(id=name) if _WIPING_NAME.search(name):
                return True
            case ast.Call(func=ast.Attribute(attr=name)) if name in _OVERWRITING:
                return self._reads_gradients
            case ast.AugAssign(target=ast.Attribute(attr="grad")):
                return True
            case ast.Call():
                return self._unknown_may_wipe(node, optimizer)
        return False

    @cached_property
    def _reads_gradients(self) -> bool:
        return any(isinstance(node, ast.Attribute) and node.attr == "grad" for node in self._tree.nodes)

    def _unknown_may_wipe(self, call: ast.Call, optimizer: ast.expr) -> bool:
        """Whether a call of what the file does not show may wipe gradients: given the optimizer, or known to hold it."""
        name = last_name(call.func)
        if _CALLBACK.search(dotted(call.func) or name):
            return True
        if self.called(call) is not None or stepped(call) is not None or name in _BACKWARDS:
            return False
        if (self._names.qualified(call.func) or "").startswith(("torch.", "numpy.", "math.", "time.")):
            return False
        root = _root(optimizer)
        if root is not optimizer and isinstance(call.func, ast.Attribute) and ast.dump(call.func.value) == ast.dump(root):
            return self._is_hidden_method(call.func, root) and not _HARMLESS_WITH_OPTIMIZER.search(name)
        return self._acts_on_trained(call, optimizer)

    def _is_hidden_method(self, function: ast.Attribute, root: ast.expr) -> bool:
        """Whether a method of the object that holds the optimizer may be one of a base class that the file does not show."""
        definition = self._inference.kind(root).definition
        if not isinstance(definition, ast.ClassDef):
            return True
        if any(slot.stores or slot.class_values for slot in self._facts.slots(definition, function.attr)):
            return False
        return self._inference.kind(function).type is not Type.MODULE and not _COMPUTES.search(function.attr)

    def is_handed_out(self, optimizer: ast.expr) -> bool:
        """Whether code that the file does not show is given the optimizer, and might wrap it or act on it later."""
        texts = {dotted(optimizer), dotted(_root(optimizer))}
        return any(self._may_keep(call) for text in texts if text is not None for call in self._handed.get(text, ()))

    @cached_property
    def _handed(self) -> dict[str, list[ast.Call]]:
        """The calls that are given each variable or attribute, itself or in a list, tuple or dict."""
        found: dict[str, list[ast.Call]] = {}
        for calls in self._facts.calls.values():
            for call in calls:
                for argument in [*call.args, *(word.value for word in call.keywords)]:
                    for text in _given(argument):
                        found.setdefault(text, []).append(call)
        return found

    def _may_keep(self, call: ast.Call) -> bool:
        """Whether a call is of code that is not shown, and may do more with an optimizer than look at it."""
        if self.called(call) is not None or stepped(call) is not None or is_preparation(call):
            return False
        if _HARMLESS_WITH_OPTIMIZER.search(last_name(call.func)):
            return False
        if (self._names.qualified(call.func) or "").startswith("torch."):
            return False
        kind = self._inference.kind(call.func)
        return not isinstance(kind.definition, ast.ClassDef)

    def _acts_on_trained(self, call: ast.Call, optimizer: ast.expr) -> bool:
        """Whether what is called sounds as if it would do a part of a training step on the model."""
        if not _ACTS_ON_MODEL.search(last_name(call.func)):
            return False
        trained = self.trained(optimizer)
        if trained is None:
            return True
        touched: list[ast.expr] = [*call.args, *(word.value for word in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            touched.append(call.func.value)
        return any(_overlap(dotted(part) or "", owner) for part in touched for owner in trained)

    def may_back_propagate(self, call: ast.Call) -> bool:
        """Whether a call may add to gradients: any that is not known to do something else."""
        name = last_name(call.func)
        if name in _BACKWARDS:
            return True
        qualified = self._names.qualified(call.func) or ""
        if qualified.startswith(("torch.", "numpy.", "math.", "time.", "logging.")):
            return qualified.startswith("torch.autograd")
        if _is_builtin(qualified):
            return False
        if not isinstance(call.func, ast.Attribute):
            return self._inference.kind(call.func).type is not Type.MODULE
        kind = self._inference.kind(call.func.value)
        if name in ("zero_grad", "step", "state_dict", "clip_grad_norm_") and not call.args:
            return False
        if kind.known and kind.type not in (Type.INSTANCE, Type.MODULE, Type.CLASS, Type.FUNCTION):
            return False
        return name not in _HARMLESS_METHODS and kind.name not in GRAD_SCALERS


class Region:
    """The code that a round of a loop may run."""

    def __init__(self, loop: Loop, roots: list[ast.AST], functions: list[Function], calls: dict[Function, ast.Call]) -> None:
        self.loop = loop
        self.functions = functions
        self._roots = roots
        self._calls = calls

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes, those of nested functions included."""
        roots = [*self._roots, *(statement for function in self.functions for statement in function.body)]
        return [node for root in roots for node in ast.walk(root)]

    @cached_property
    def _own(self) -> set[ast.AST]:
        return {node for root in self._roots for node in ast.walk(root)}

    def place(self, node: ast.Call, tree: Tree) -> ast.Call | None:
        """The call in the loop's body that is ``node`` or runs it; ``None`` where no round runs it."""
        function = tree.function(node)
        if node in self._own:
            return node if function is tree.function(self.loop) else None
        return self._calls.get(function) if isinstance(function, FUNCTIONS) else None

    def makes(self, making: Making, tree: Tree) -> bool:
        """Whether a round makes the optimizer anew."""
        return making in self._own or tree.function(making) in self.functions


def stepped(call: ast.Call) -> ast.expr | None:
    """The optimizer of ``optimizer.step()``, ``scaler.step(optimizer)`` or ``xm.optimizer_step(optimizer)``, by the shape."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("step", "optimizer_step"):
        return None
    if call.func.attr == "step" and not call.args and not call.keywords:
        return call.func.value
    return call.args[0] if len(call.args) == 1 else None


def is_preparation(call: ast.Call) -> bool:
    """Whether accelerate, fabric or apex prepares what it is given, and gives it back in the same order.

    Their optimizers step and wipe when they are told to, as torch's do.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _PREPARING:
        return False
    owner = last_name(call.func.value).lower()
    return owner.endswith(_PREPARING[call.func.attr])


def _root(node: ast.expr) -> ast.expr:
    """The object that a chain of attributes starts from."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def _given(argument: ast.expr) -> Iterator[str]:
    """The variables and attributes that an argument is, or is a container of."""
    match argument:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            for part in parts:
                yield from _given(part)
        case ast.Starred(value=part):
            yield from _given(part)
        case ast.Name() | ast.Attribute() if (text := dotted(argument)) is not None:
            yield text


def _owners(given: ast.expr) -> set[str]:
    """``model`` of ``model.parameters()``, of each such call in what an optimizer is given."""
    owners: set[str] = set()
    for part in ast.walk(given):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _PARAMETER_METHODS:
            owners.add(dotted(part.func.value) or "")
    return owners if "" not in owners else set()


def _overlap(one: str, other: str) -> bool:
    """Whether one of two chains of attributes is, or is a part of, the other."""
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _is_builtin(qualified: str) -> bool:
    return qualified.startswith("builtins.") and hasattr(builtins, qualified.removeprefix("builtins."))


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
