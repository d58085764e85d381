"""What the use of a value says about it: only tensors have ``.grad_fn``, only what is a scalar loss is back-propagated."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property

from torchlint.semantics import torch_api
from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.definitions import Slot
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.kinds.kind import UNKNOWN, Basis, Grad, Kind, Type, tensor
from torchlint.semantics.summaries.own_autograd import OwnAutograd

_CALLED_ON_TENSORS = frozenset(
    {"size", "dim", "view", "cuda", "numel", "item", "long", "float", "expand", "permute", "data_ptr"}
)
_TENSOR_CLASSES = frozenset({"torch.Tensor", "torch.autograd.Variable", "torch.nn.Parameter", "torch.FloatTensor"})
_PACKED = "torch.nn.utils.rnn.PackedSequence"
_OPTIMIZER_EVIDENCE = frozenset({"step", "zero_grad"})
_MODULE_EVIDENCE = frozenset({"parameters", "named_parameters", "eval", "train", "modules", "named_modules", "load_state_dict"})
TESTED = "it is tested for being a tensor"
"""Why a value is taken for a tensor that is asked whether it is one; it is none where the answer was no."""
_SURE_MODULE_EVIDENCE = frozenset({"parameters", "named_parameters", "modules", "named_modules"})
"""Methods that hardly anything but a module has, even if it has attributes that modules do not have of themselves."""
_TENSOR_ENDINGS = ("Tensor", "Variable", "Parameter")
"""What the names of classes end in whose objects are tensors."""


class Evidence:
    """Refines what is known of a value by how it is used."""

    def __init__(self, code: Code, own: OwnAutograd) -> None:
        self._code = code
        self._own = own

    def refine(self, kind: Kind, binding: Binding) -> Kind:
        """The kind of what ``binding`` binds, given what its value tells."""
        found = self._refined_binding(kind, binding)
        if kind.elsewhere is not None and not found.known:
            return kind  # of a class of another file, whatever its instances are
        return kind if found is not kind and self._own.are_used else found

    def _refined_binding(self, kind: Kind, binding: Binding) -> Kind:
        if kind.basis is Basis.ELSEWHERE and not kind.is_tensor:
            found = self._refined_binding(UNKNOWN, binding)
            return kind.because(found) if found.type is Type.MODULE else kind
        if kind.type not in (Type.UNKNOWN, Type.TENSOR) or binding.form in (Form.IMPORT, Form.CLASS, Form.FUNCTION):
            return kind
        uses: list[ast.Name | ast.Attribute] = list(binding.uses)
        if kind.is_tensor and (kind.grad is not Grad.UNKNOWN and kind.scalar is not None) and not kind.loose:
            return kind
        if not kind.known and self._is_model_output(binding):
            return tensor(Grad.GRAPH, loose=True, why="the output of a model, whose loss is back-propagated")
        found = self._refined(kind, uses)
        if found is not kind and found.is_tensor and found.basis is Basis.CALLED and _is_made_by_class(binding):
            return kind
        if not found.known and self._is_forward_argument(binding):
            return tensor(loose=True, why="an argument of a module's forward")
        return found

    def _is_model_output(self, binding: Binding) -> bool:
        """Whether a call's result has a ``loss`` that is back-propagated: ``outputs = model(x); outputs.loss.backward()``."""
        if not isinstance(binding.value, ast.Call) or binding.path or binding.form is not Form.ASSIGNMENT:
            return False
        for use in binding.uses:
            parent = self._code.tree.parent(use)
            if isinstance(parent, ast.Attribute) and parent.attr == "loss" and self._reaches_backward(parent):
                return True
        return False

    def _reaches_backward(self, loss: ast.Attribute) -> bool:
        if loss in self._backpropagated:
            return True
        statement = self._code.tree.parent(loss)
        match statement:
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._code.bindings.of(target)
                return binding is not None and any(use in self._backpropagated for use in binding.uses)
        return False

    def refine_slot(self, kind: Kind, slots: Iterable[Slot]) -> Kind:
        """The kind of an attribute of ``self``, given what the values stored there tell."""
        found = self._refined_slot(kind, slots)
        if kind.elsewhere is not None and not found.known:
            return kind
        return kind if found is not kind and self._own.are_used else found

    def _refined_slot(self, kind: Kind, slots: Iterable[Slot]) -> Kind:
        if kind.basis is Basis.ELSEWHERE and not kind.is_tensor:
            found = self._refined_slot(UNKNOWN, slots)
            return kind.because(found) if found.type is Type.MODULE else kind
        if kind.type not in (Type.UNKNOWN, Type.TENSOR, Type.NONE):
            return kind
        uses: list[ast.Name | ast.Attribute] = [use for slot in slots for use in (*slot.uses, *slot.stores)]
        return self._refined(kind if kind.type is not Type.NONE else Kind(), uses)

    def _refined(self, kind: Kind, uses: list[ast.Name | ast.Attribute]) -> Kind:
        if any(self._is_backpropagated(use) for use in uses):
            if kind.is_tensor:
                return replace(kind, grad=Grad.GRAPH, scalar=True if kind.scalar is None else kind.scalar, loose=False)
            return tensor(Grad.GRAPH, True, why="it is back-propagated", basis=Basis.PROPAGATED)
        if kind.is_tensor:
            return kind
        found: Kind | None = None
        if self._called_methods(uses) >= _OPTIMIZER_EVIDENCE:
            return Kind(Type.OPTIMIZER, why="its `step` and `zero_grad` are called", basis=Basis.CALLED)
        for use in uses:
            said = self._said(use)
            if said is not None and not said.known:
                return next(filter(None, map(self._shown_as_module, uses)), Kind())
            found = found or said
        return found or kind

    def _shown_as_module(self, use: ast.Name | ast.Attribute) -> Kind | None:
        """A module, whatever attributes of its own it has, where its parameters or submodules are asked for."""
        said = self._said(use)
        return said if said is not None and said.type is Type.MODULE and said.used in _SURE_MODULE_EVIDENCE else None

    def _called_methods(self, uses: list[ast.Name | ast.Attribute]) -> set[str]:
        parents = [self._code.tree.parent(use) for use in uses]
        return {parent.attr for parent in parents if isinstance(parent, ast.Attribute)}

    def _is_backpropagated(self, use: ast.Name | ast.Attribute) -> bool:
        """Whether a use is ``x`` in ``x.backward()``, or in ``accelerator.backward(x)`` and its like."""
        return use in self._backpropagated

    @cached_property
    def _backpropagated(self) -> set[ast.expr]:
        found: set[ast.expr] = set()
        calls = self._code.definitions.calls
        for call in [*calls.get("backward", ()), *calls.get("manual_backward", ())]:
            if is_engine_backward(call):
                found.add(call.args[0])
            elif isinstance(call.func, ast.Attribute) and not call.args:
                receiver = call.func.value
                found.add(receiver)
                if (
                    isinstance(receiver, ast.Call)
                    and isinstance(receiver.func, ast.Attribute)
                    and receiver.func.attr == "scale"
                ):
                    found.update(receiver.args[:1])
        return found

    def _said(self, use: ast.Name | ast.Attribute) -> Kind | None:
        """What one use says: a kind, `UNKNOWN` for what cannot be a tensor or module, ``None`` for nothing."""
        parent = self._code.tree.parent(use)
        match parent:
            case ast.Attribute(value=value, attr=attribute) if value is use:
                return self._attribute_says(parent, attribute)
            case ast.Call(func=function, args=[first, *_]) if first is use:
                return self._argument_says(function, parent)
        return None

    def _attribute_says(self, parent: ast.Attribute, attribute: str) -> Kind | None:
        called = isinstance(call := self._code.tree.parent(parent), ast.Call) and call.func is parent
        if attribute in ("data", "grad"):
            return None
        if attribute == "batch_sizes":
            return Kind(Type.PACKED, why="its `batch_sizes` is read", basis=Basis.READ, used=attribute)
        if attribute in torch_api.TENSOR_ONLY or attribute == "volatile":
            return tensor(why=f"its `{attribute}` is used", basis=Basis.READ, used=attribute)
        if attribute in _MODULE_EVIDENCE and called:
            return Kind(Type.MODULE, why=f"its `{attribute}` is called", basis=Basis.CALLED, used=attribute)
        if attribute == "param_groups":
            return Kind(Type.OPTIMIZER, why="its `param_groups` is used", basis=Basis.READ, used=attribute)
        if called and attribute in _CALLED_ON_TENSORS and attribute not in torch_api.MODULE_ATTRIBUTES:
            return tensor(why=f"its `{attribute}` is called", basis=Basis.CALLED, used=attribute)
        if (
            attribute not in torch_api.TENSOR_ATTRIBUTES
            and attribute not in torch_api.MODULE_ATTRIBUTES
            and not attribute.startswith("_")
        ):
            return Kind()
        return None

    def _argument_says(self, function: ast.expr, call: ast.Call) -> Kind | None:
        name = self._code.names.qualified(function)
        if name == "builtins.isinstance" and len(call.args) == 2:
            return self._tested(call.args[1])
        if name == "builtins.hasattr":
            return Kind()  # it may be anything, or the code would not ask
        if name == "torch.is_tensor":
            guards = isinstance(self._code.tree.parent(call), (ast.If, ast.IfExp))
            return tensor(why=TESTED) if guards else None
        if name is None:
            return None
        if name.startswith("torch.nn.functional.") or (name in torch_api.FUNCTIONS and name not in torch_api.FACTORIES):
            if name in torch_api.FUNCTIONS and torch_api.FUNCTIONS[name].startswith("tensor") and not _takes_sequence(name):
                return tensor(why=f"it is given to `{name}`")
        return None

    def _tested(self, classes: ast.expr) -> Kind | None:
        names = [self._code.names.qualified(part) for part in (classes.elts if isinstance(classes, ast.Tuple) else [classes])]
        if any(name in _TENSOR_CLASSES for name in names):
            return tensor(why=TESTED)
        if names == [_PACKED]:
            return Kind(Type.PACKED, why="it is tested for being a packed sequence")
        if any((name or "").startswith("torch.nn.") for name in names):
            return Kind(Type.MODULE, why="it is tested for being a module")
        return None

    def _is_forward_argument(self, binding: Binding) -> bool:
        function = binding.scope.node
        if binding.form is not Form.PARAMETER or not isinstance(function, FUNCTIONS) or function.name != "forward":
            return False
        owner = self._code.tree.parent(function)
        if not isinstance(owner, ast.ClassDef) or not self._code.definitions.is_module(owner):
            return False
        return not any(said is not None for said in self._all_said(binding))

    def _all_said(self, binding: Binding) -> Iterator[Kind | None]:
        return (self._said(use) for use in binding.uses)


def _takes_sequence(name: str) -> bool:
    return name.rpartition(".")[2] in (
        "cat",
        "concat",
        "concatenate",
        "stack",
        "hstack",
        "vstack",
        "dstack",
        "block_diag",
        "meshgrid",
        "einsum",
    )


def is_engine_backward(call: ast.Call) -> bool:
    """Whether ``x.backward(y)`` is, by its shape, of an engine that back-propagates ``y``: accelerate, deepspeed, apex."""
    if not isinstance(call.func, ast.Attribute) or not call.args:
        return False
    if call.func.attr == "manual_backward":
        return True
    receiver = call.func.value
    name = receiver.attr if isinstance(receiver, ast.Attribute) else receiver.id if isinstance(receiver, ast.Name) else ""
    engines = ("accelerator", "fabric", "engine", "optimizer", "optim", "model", "trainer", "strategy", "scaler", "self", "amp")
    return any(name.lower().endswith(engine) for engine in engines)


def _is_made_by_class(binding: Binding) -> bool:
    """Whether a value is an object of a class, by its name: `average = Averager()` has an ``item()`` of its own."""
    match binding:
        case Binding(form=Form.ASSIGNMENT, path=(), value=ast.Call(func=function)):
            name = last_name(function)
            is_class = name[:1].isupper() and any(map(str.islower, name))
            return is_class and not name.endswith(_TENSOR_ENDINGS)
    return False
