"""Tensors that a module keeps as plain attributes, and that stay where they are when it is moved, yet meet its inputs."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function, keyword, last_name
from torchlint.semantics.devices.module_inputs import MAKING, PLACING, ModuleInputs
from torchlint.semantics.devices.moves.parameter_views import ParameterViews
from torchlint.semantics.devices.moves.said import says_device
from torchlint.semantics.devices.weighted_layers import WeightedLayers
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

_KEEPING = frozenset(
    {
        *("unsqueeze", "squeeze", "view", "reshape", "expand", "repeat", "transpose", "permute", "t", "T", "mT", "flatten"),
        *("float", "long", "bool", "int", "half", "double", "clone", "detach", "contiguous", "exp", "log", "sqrt", "data"),
        *("repeat_interleave", "chunk", "narrow", "sum", "mean", "abs", "neg", "pow"),
    }
)
"""Methods and attributes of a tensor whose result is where the tensor is."""
_ACROSS = frozenset({"to", "type_as", "copy_", "view_as", "expand_as", "reshape_as", "new_tensor", "size", "set_", "cpu"})
"""Methods that take a tensor that is elsewhere."""
_ELEMENTWISE = frozenset(
    f"torch.{name}"
    for name in (
        *("matmul", "mm", "bmm", "mul", "add", "sub", "div", "where", "einsum", "cat", "stack", "cdist", "masked_fill"),
        *("logical_and", "logical_or", "gather", "index_select", "nn.functional.embedding", "nn.functional.linear"),
        *("nn.functional.conv1d", "nn.functional.conv2d", "nn.functional.conv3d", "nn.functional.mse_loss"),
        *("nn.functional.l1_loss", "nn.functional.grid_sample", "dot", "outer", "bitwise_and", "eq", "maximum", "minimum"),
        *("nn.functional.cross_entropy", "nn.functional.nll_loss", "nn.functional.smooth_l1_loss", "nn.functional.kl_div"),
        *("nn.functional.binary_cross_entropy", "nn.functional.binary_cross_entropy_with_logits"),
    )
)
_JOINING = frozenset(f"torch.{name}" for name in ("cat", "concat", "stack", "hstack", "vstack", "dstack"))
_ALONG = frozenset(
    f"torch.{name}"
    for name in ("exp", "log", "sqrt", "sin", "cos", "abs", "softmax", "sigmoid", "tanh", "triu", "tril", "unsqueeze", "pow")
)
"""Functions whose result is where their first argument is."""
_DEPTH = 6


@dataclass(frozen=True, eq=False, slots=True)
class PlainTensor(Generic[Node]):
    """A tensor that an attribute is given in ``__init__``, the ``use`` of it that meets ``other``, and in which method.

    Not ``is_always`` where the attribute may be made a parameter afterwards. It may be a view of a ``parameter`` of the module,
    whose memory is another one once the module was moved.
    """

    value: Node
    use: Node
    other: Node
    method: str
    is_always: bool = True
    parameter: Node | None = None


class PlainTensors:
    """Finds, in the modules of a file, the tensors that are neither parameters nor buffers, and would have to be."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._views = semantics.of(ParameterViews)
        self._inputs = semantics.of(ModuleInputs)

    @cached_property
    def found(self) -> dict[ast.Assign, PlainTensor[ast.expr]]:
        """The assignments in constructors of modules that keep such a tensor, each with the first use that needs it moved."""
        found: dict[ast.Assign, PlainTensor[ast.expr]] = {}
        for definition, facts in self._facts.classes.items():
            constructor = facts.methods.get("__init__")
            if constructor is None or not self._semantics.of(ModuleClasses).is_sure(definition) or self._places(definition):
                continue
            for name, slot in facts.slots.items():
                stores = [store for store in slot.stores if not self._is_trained(store)]
                if len(stores) != 1 or slot.class_values or len(self._facts.slots(definition, name)) != 1:
                    continue
                if name in self._facts.stored_attributes:
                    continue  # `net.scale = net.scale.to(device)`
                if self._is_registered(definition, name):
                    continue
                assignment = self._tree.parent(stores[0])
                if self._tree.function(stores[0]) is not constructor or not self._is_plain(assignment):
                    continue
                assert isinstance(assignment, ast.Assign)
                uses = slot.uses
                if self._is_row(assignment.value):
                    uses = [use for use in uses if not self._is_item(use)]
                met = self._met(uses)
                if met is not None:
                    is_always, parameter = len(slot.stores) == 1, self._views.viewed(assignment.value)
                    found[assignment] = PlainTensor(assignment.value, *met, is_always=is_always, parameter=parameter)
        return found

    def _is_registered(self, definition: ast.ClassDef, name: str) -> bool:
        """Whether a class registers a buffer or a parameter of that name itself."""
        for method in ("register_buffer", "register_parameter"):
            for call in self._facts.calls.get(method, ()):
                given = call.args[0] if call.args else keyword(call, "name")
                if isinstance(given, ast.Constant) and given.value == name and self._tree.inside(call, definition):
                    return True
        return False

    def _is_trained(self, store: ast.Attribute) -> bool:
        """Whether an attribute is made a parameter there, under a condition: otherwise it stays what it was."""
        assignment = self._tree.parent(store)
        if not isinstance(assignment, ast.Assign) or not isinstance(self._tree.parent(assignment), ast.If):
            return False
        function = getattr(assignment.value, "func", None)
        return function is not None and self._semantics.qualified_name(function) == "torch.nn.Parameter"

    def _places(self, definition: ast.ClassDef) -> bool:
        """Whether a class moves its tensors itself when it is moved, or sets attributes of itself by names from elsewhere."""
        for call in self._facts.calls.get("setattr", ()):
            is_named = len(call.args) > 1 and isinstance(call.args[1], ast.Constant)
            if not is_named and call.args and self._facts.self_class(call.args[0]) is definition:
                return True
        return any(
            {"_apply", "to", "cuda"} & self._facts.classes[base].methods.keys() for base in self._facts.bases(definition)
        )

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _is_plain(self, assignment: ast.AST | None) -> bool:
        """Whether a new tensor, with dimensions, is kept on the device where torch makes tensors."""
        if not isinstance(assignment, ast.Assign) or len(assignment.targets) != 1:
            return False
        if self._views.viewed(assignment.value) is not None:
            return not says_device(self._semantics.tree.function(assignment))
        kind = self._semantics.kind(assignment.value)
        is_own = kind.is_tensor and kind.grad not in (Grad.LEAF, Grad.GRAPH)
        return is_own and kind.scalar is not True and self._is_made_here(assignment.value, 0)

    def _is_made_here(self, value: ast.expr, depth: int) -> bool:
        """Whether a value is computed of what torch's factories make, on no device that is said, and of numbers."""
        makes = False
        for part in ast.walk(value):
            match part:
                case ast.Call(func=function, args=arguments, keywords=words):
                    if last_name(function) in PLACING or any(word.arg in (None, "device", "requires_grad") for word in words):
                        return False
                    name = self._semantics.qualified_name(function) or ""
                    if (source := _placed_as(part, name)) is not None and not self._is_own(source, depth):
                        return False
                    makes = makes or (self._inputs.is_factory(name, arguments))
                case ast.Name():
                    bindings = self._semantics.bindings.reaching(part)
                    if depth < _DEPTH and self._semantics.kind(part).is_tensor:
                        values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path]
                        if len(values) != len(bindings) or len(values) != 1 or values[0] is None:
                            return False
                        if not self._is_made_here(values[0], depth + 1) or self._is_placed(bindings[0]):
                            return False
                        makes = True
        return makes

    def _is_own(self, source: ast.expr, depth: int) -> bool:
        """Whether what a new tensor is put beside is made here, too, or is a parameter of the module; of others, who knows."""
        if self._semantics.kind(source).grad is Grad.LEAF:
            return True
        return depth < _DEPTH and self._is_made_here(source, depth + 1)

    @staticmethod
    def _is_placed(binding: Binding) -> bool:
        return any(isinstance(use, ast.Attribute) and use.attr in PLACING for use in binding.uses)

    def _is_row(self, value: ast.expr) -> bool:
        """Whether all tensors that a value makes have one dimension, so that an item of them has none."""
        made = [part for part in ast.walk(value) if isinstance(part, ast.Call) and not self._counts(part)]
        return bool(made) and all(map(self._makes_row, made))

    def _counts(self, call: ast.Call) -> bool:
        """Whether a call gives what a comprehension goes through, or how much of it there is."""
        return self._semantics.qualified_name(call.func) in ("builtins.range", "builtins.len")

    def _makes_row(self, call: ast.Call) -> bool:
        name = (self._semantics.qualified_name(call.func) or "").removeprefix("torch.")
        words = {word.arg for word in call.keywords}
        match call.args:
            case [ast.List(elts=items) | ast.Tuple(elts=items)] if name in ("tensor", "as_tensor", *MAKING):
                return all(self._is_number(item) for item in items)
            case [ast.ListComp(elt=ast.BinOp() | ast.Constant() as item)] if name in ("tensor", "as_tensor", *MAKING):
                return not any(isinstance(part, (ast.List, ast.Tuple, ast.Call)) for part in ast.walk(item))
            case [size] if name in ("ones", "zeros", "empty", "rand", "randn"):
                return self._is_number(size) and "size" not in words
        return name in ("arange", "linspace", "logspace") and not words - {"dtype", "steps"}

    def _is_number(self, value: ast.expr) -> bool:
        """Whether a value is a number, or has a name of which nothing shows that it is a shape."""
        kind = self._semantics.kind(value)
        is_open = isinstance(value, (ast.Name, ast.Attribute)) and not last_name(value).endswith(("shape", "size", "dims"))
        return kind.type is Type.NUMBER or (is_open and kind.type is Type.UNKNOWN)

    def _is_item(self, use: ast.expr) -> bool:
        """Whether a use of a tensor asks for one item by its number."""
        match self._tree.parent(use):
            case ast.Subscript(value=value, slice=index) if value is use:
                return self._semantics.kind(index).type is Type.NUMBER
        return False

    # --- what it meets -----------------------------------------------------------------------------------------------

    def _met(self, uses: list[ast.Attribute]) -> tuple[ast.expr, ast.expr, str] | None:
        """The first use in a method that combines it with an input; ``None`` where any use looks after the device."""
        first: tuple[ast.expr, ast.expr, str] | None = None
        for use in uses:
            method = self._method(use)
            if method is None or method.name in ("__init__", "reset_parameters", "_reset_parameters"):
                if self._is_moved(use):
                    return None
                continue
            pending, seen = [use], 0
            while pending and seen < 24:
                current: ast.expr = pending.pop()
                seen += 1
                if self._is_moved(current):
                    return None
                top, other = self._meets(current, method)
                other = other or self._joined(top, method)
                if other is not None and first is None and not self._is_moved_then(top):
                    first = (use, other, method.name)
                pending += self._names_for(top)  # type: ignore[arg-type]
        return first

    def met_by(self, made: ast.expr, method: Function) -> list[ast.expr]:
        """The inputs of a method that a tensor which is made in it is combined with; none where a device is looked after."""
        met: list[ast.expr] = []
        pending, seen = [made], 0
        while pending and seen < 24:
            current = pending.pop()
            seen += 1
            if self._is_moved(current):
                return []
            top, other = self._meets(current, method)
            other = other or self._joined(top, method)
            if other is not None and not self._is_moved_then(top):
                met.append(other)
            pending += self._names_for(top)
            parent = self._tree.parent(top)
            if (
                isinstance(parent, ast.Call)
                and top in parent.args[:1]
                and self._semantics.qualified_name(parent.func) in _ALONG
            ):
                pending.append(parent)
        return met

    def _joined(self, value: ast.expr, method: Function) -> ast.expr | None:
        """The input that a value is joined with: ``torch.cat([x, value])``."""
        parent = self._tree.parent(value)
        call = self._tree.parent(parent) if isinstance(parent, (ast.List, ast.Tuple)) else None
        if not isinstance(call, ast.Call) or self._semantics.qualified_name(call.func) not in _JOINING:
            return None
        assert isinstance(parent, (ast.List, ast.Tuple))
        return next((each for each in parent.elts if each is not value and self._inputs.is_input(each, method)), None)

    def _method(self, use: ast.expr) -> Function | None:
        """The method of the class that a use of ``self.x`` stands in."""
        function = self._tree.function(use)
        while isinstance(function, ast.Lambda):
            function = self._tree.function(function)
        return function if isinstance(function, FUNCTIONS) and isinstance(self._tree.parent(function), ast.ClassDef) else None

    def _names_for(self, value: ast.expr) -> list[ast.Name]:
        """The uses of the name that a value is given, where it is and nothing else can be."""
        binding = self._named(value)
        return [] if binding is None else [use for use in binding.uses if self._is_only(binding, use)]

    def _named(self, value: ast.expr) -> Binding | None:
        """The binding of the one name that a value is given."""
        parent = self._tree.parent(value)
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            return self._semantics.bindings.of(parent.targets[0])
        return None

    def _is_only(self, binding: Binding, use: ast.Name) -> bool:
        """Whether a use of a name is of what it is bound to there, or else of a number."""
        others = [other for other in self._semantics.bindings.reaching(use) if other is not binding]
        return all(isinstance(other.value, ast.Constant) and not other.path for other in others)

    def _is_moved(self, use: ast.expr) -> bool:
        """Whether a use of a tensor moves it, or asks for its device; also an item or a view of it."""
        current, parent = use, self._tree.parent(use)
        while isinstance(parent, (ast.Attribute, ast.Subscript)) or (isinstance(parent, ast.Call) and parent.func is current):
            if isinstance(parent, ast.Attribute) and parent.attr in PLACING:
                return True
            current, parent = parent, self._tree.parent(parent)
            if isinstance(parent, ast.Subscript) and parent.slice is current:
                return False
        return False

    def _is_moved_then(self, value: ast.expr) -> bool:
        """Whether what an operation makes of a tensor is moved: it was on the CPU, and so was what the tensor met."""
        made = self._tree.parent(value)
        if isinstance(made, (ast.List, ast.Tuple)):
            made = self._tree.parent(made)  # `torch.cat([x, value])`
        if not isinstance(made, (ast.BinOp, ast.Compare, ast.Call)):
            return False
        if self._is_moved(made):
            return True
        binding = self._named(self._form_of(made))
        return binding is not None and any(map(self._is_moved, binding.uses))

    def _form_of(self, value: ast.expr) -> ast.expr:
        """What methods make of a tensor that stays where it is: ``(a < b).float()`` of ``a < b``."""
        while True:
            match self._tree.parent(value):
                case ast.Attribute(attr=name) as method if name in _KEEPING:
                    call = self._tree.parent(method)
                    value = call if isinstance(call, ast.Call) and call.func is method else method
                case _:
                    return value

    def _meets(self, use: ast.expr, method: Function) -> tuple[ast.expr, ast.expr | None]:
        """The largest expression that is where a tensor is, and what of another place it is combined with, if anything."""
        current = use
        while True:
            parent = self._tree.parent(current)
            match parent:
                case ast.Subscript(value=value, slice=index) if value is current:
                    if self._inputs.is_input(index, method) and self._semantics.kind(index).is_tensor:
                        return current, index
                    current = parent
                case ast.Attribute(attr=name) if name in _KEEPING:
                    call = self._tree.parent(parent)
                    current = call if isinstance(call, ast.Call) and call.func is parent else parent
                case ast.Attribute() if isinstance(call := self._tree.parent(parent), ast.Call) and call.func is parent:
                    others = call.args if parent.attr not in _ACROSS else []
                    return current, next((each for each in others if self._inputs.is_input(each, method)), None)
                case ast.UnaryOp():
                    current = parent
                case ast.BinOp(left=left, right=right):
                    other = right if current is left else left
                    if self._inputs.is_input(other, method):
                        return current, other
                    current = parent
                case ast.Compare(left=left, comparators=[right]):
                    other = right if current is left else left
                    if self._inputs.is_input(other, method):
                        return current, other
                    current = parent
                case ast.Call() if current is not parent.func:
                    return current, self._met_in_call(parent, current, method)
                case _:
                    return current, None

    def _met_in_call(self, call: ast.Call, given: ast.expr, method: Function) -> ast.expr | None:
        function = call.func
        if self._semantics.qualified_name(function) in _ELEMENTWISE:
            others = [each for each in call.args if each is not given]
            return next((each for each in others if self._inputs.is_input(each, method)), None)
        if isinstance(function, ast.Attribute) and function.attr not in _ACROSS:
            owner = function.value
            if self._semantics.kind(owner).is_tensor and self._inputs.is_input(owner, method):
                return owner
        is_weighted = given in call.args[:1] and self._semantics.of(WeightedLayers).is_weighted(function)
        return function if is_weighted else None


def _placed_as(call: ast.Call, name: str) -> ast.expr | None:
    """The tensor on whose device a function of torch makes another one: of which it has the form, or the values."""
    if not name.startswith("torch."):
        return None
    by_name = {word.arg: word.value for word in call.keywords}
    if name.endswith("_like"):
        return call.args[0] if call.args else by_name.get("input")
    if name.startswith("torch.sparse_") and name.endswith("_tensor"):
        position = 1 if name == "torch.sparse_coo_tensor" else 2
        return call.args[position] if len(call.args) > position else by_name.get("values")
    return None
