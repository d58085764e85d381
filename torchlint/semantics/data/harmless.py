"""Reads of ``.data`` that no author would change: nothing that has a graph, or could get one, comes of them."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Grad, Semantics
from torchlint.semantics.code.definitions import is_static
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name
from torchlint.semantics.conditions.deciding_reads import DecidingReads
from torchlint.semantics.data.beginnings import Beginnings
from torchlint.semantics.data.indices import Indices
from torchlint.semantics.data.rebinds import DataRebinds
from torchlint.semantics.data.recomputed import RecomputedWeights
from torchlint.semantics.data.state_entries import StateEntries
from torchlint.semantics.data.written_out import NUMBERS, REDUCES, RESHAPES, WrittenOut
from torchlint.semantics.memory.reads import Reads
from torchlint.semantics.memory.written_back import WrittenBack
from torchlint.semantics.observers.unrecorded_calls import UnrecordedCalls
from torchlint.semantics.purpose import Purpose
from torchlint.semantics.shapes.scalars import Scalars
from torchlint.semantics.unrecorded.fleeting_reads import FleetingReads
from torchlint.semantics.unrecorded.read_parameters import ReadParameters
from torchlint.semantics.unrecorded.shown_numbers import ShownNumbers

_COMPARISONS = frozenset(
    {"eq", "ne", "lt", "le", "gt", "ge", "equal", "allclose", "isnan", "isinf", "isfinite", "sign", "nonzero"}
)
"""Methods whose results have no graph, whatever they are computed from."""
_COMPARING = frozenset(f"torch.{name}" for name in _COMPARISONS)
_KEEPS = frozenset(
    {"cpu", "cuda", "to", "float", "double", "long", "int", "view", "squeeze", "unsqueeze", "reshape", "abs"}
    | {"view_as", "expand_as", "type_as"}
)
"""Methods behind which values are still those that a comparison is about."""
_PLACES = frozenset({"idx", "idxs", "index", "indices", "ids", "inds"})
"""Names of tensors that places are kept in."""
_COPIES = frozenset({"numpy", "clone", "item", "tolist"})
"""Methods behind which nothing of a tensor's memory is left, or no tensor."""
_TAKE_PLACES = frozenset(
    f"{name}{end}"
    for name in ("scatter", "scatter_add", "gather", "index_select", "index_add", "index_copy", "index_fill")
    for end in ("", "_")
)
"""Methods of tensors that are given a dimension and places in it; functions of torch take the tensor before."""
_ASSERTS = re.compile(r"_?assert(_|[A-Z]|$)")
"""What methods and functions of tests are called that compare values."""
_TO_PICTURE = re.compile(r"^tensor2\w|^(tensor_)?to_(im|img|image|np|numpy|array)")
"""Names of functions that make a picture or an array of a tensor."""
_FUNCTION = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
_EVALUATING_STEP = re.compile(r"_?(val|valid|validation|validate|eval|evaluation|test|predict)_step")
"""What methods are called that a loop of an evaluation calls for each batch."""
_WEIGHT = re.compile(r"(weight|bias)(_(ih|hh|hr)(_l\d+)?(_reverse)?)?")
"""What layers call their parameters, recurrent ones among them."""
_EXCHANGES = frozenset(f"torch.distributed.{name}" for name in ("broadcast", "all_reduce", "reduce", "send", "isend", "recv"))
_TYPES = frozenset({"builtins.isinstance", "builtins.type", "torch.is_tensor"})
_PARAMETER = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


class HarmlessReads:
    """Tells of the ``.data`` of tensors whether what is read has no graph to be hidden from anyway."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._off: dict[Function, bool] = {}

    def is_harmless(self, data: ast.Attribute) -> bool:
        """Whether only a form, a comparison or a text is made of an ``x.data``, or it is read where autograd is off."""
        return (
            self._semantics.of(Reads).is_of_form(data)
            or self._names_form(data)
            or self._is_compared(data)
            or self._semantics.of(WrittenOut).is_one(data)
            or self._is_made_parameter(data)
            or self._is_buffer_of_parameter(data)
            or self._semantics.of(WrittenOut).is_counted(data)
            or _is_of_volatile(data)
            or self._is_copied_to_places(data)
            or self._semantics.of(WrittenBack).is_all(data)
            or self._semantics.of(WrittenBack).goes_into_data(data)
            or self._is_detached_as_well(data)
            or self._semantics.of(Scalars).are_kept_for_index(data)
            or self._is_index(data)
            or self._semantics.of(Indices).are(data.value)
            or self._semantics.of(StateEntries).is_entry(data.value)
            or self._is_shown_input(data)
            or self._is_exchanged(data)
            or self._is_of_meant_rebind(data)
            or self._semantics.of(RecomputedWeights).is_named(data.value)
            or self._is_of_state(data)
            or self._is_off(data)
            or self._is_of_new_model(data)
            or self._semantics.of(FleetingReads).is_one(data)
            or self._semantics.of(DecidingReads).is_one(data)
            or self._semantics.of(Purpose).is_comparison(data)
            or self._semantics.of(ShownNumbers).is_one(data)
            or self._semantics.of(ReadParameters).is_one(data)
        )

    def has_no_graph(self, data: ast.Attribute) -> bool:
        """Whether an ``x.data`` is read of a position, of what was drawn, of a state dict, in an evaluation's step, or in an
        operation that autograd is taught.
        """
        if self._semantics.of(Indices).are(data.value) or self._semantics.of(StateEntries).is_entry(data.value):
            return True
        function, value = self._tree.function(data), data.value
        if isinstance(function, FUNCTIONS) and self._is_of_function(function):
            return True
        if not isinstance(function, FUNCTIONS) or _EVALUATING_STEP.fullmatch(function.name) is None:
            return False
        values = [value]
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and each.value is not None]
            if len(values) < len(bindings):
                return False
        return bool(values) and all(isinstance(each, ast.Call) for each in values)

    def _names_form(self, data: ast.Attribute) -> bool:
        """Whether the type is asked for, or the form of an item or of what has a name: `w = next(…).data; w.new(3)`."""
        item = self._as_places(data)
        if item is not data and self._semantics.of(Reads).is_of_form(item):
            return True
        if self._semantics.of(Reads).is_of_size_behind(data):
            return True
        match parent := self._tree.parent(data):
            case ast.Call(func=function, args=[first, *_]) if first is data:
                return self._semantics.qualified_name(function) in _TYPES
            case ast.Attribute(attr="record_stream"):
                return True
            case ast.Attribute(attr="storage") if call := self._tree.parent(parent):
                match self._tree.parent(call):
                    case ast.Attribute(attr="type" | "size" | "data_ptr"):
                        return True
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is data:
                binding = self._semantics.bindings.of(name)
                reads = self._semantics.of(Reads)
                return binding is not None and bool(binding.uses) and all(reads.is_of_form(use) for use in binding.uses)
        return False

    def _is_compared(self, data: ast.expr) -> bool:
        """Whether only a comparison is made of a value, as it is or as it is computed with, or an assertion."""
        if isinstance(self._tree.statement(data), ast.Assert):
            return True
        node: ast.expr = data
        while True:
            match parent := self._tree.parent(node):
                case ast.Compare():
                    return True
                case ast.Attribute(attr=method) if method in _COMPARISONS:
                    return True
                case ast.Call(func=function, args=arguments) if node in arguments and _ASSERTS.match(last_name(function)):
                    return True
                case ast.Call(func=function, args=[only], keywords=[]) if only is node and self._keeps(function):
                    node = parent
                case ast.Call(func=ast.Attribute(attr=method) as function, args=arguments) if node in arguments:
                    return method in _COMPARISONS or self._semantics.qualified_name(function) in _COMPARING
                case ast.BinOp() | ast.UnaryOp():
                    node = parent
                case ast.Subscript(value=value) if value is node:
                    node = parent
                case ast.Attribute(attr=method) if method in _KEEPS | NUMBERS:
                    call = self._tree.parent(parent)
                    if not (isinstance(call, ast.Call) and call.func is parent) or (method in REDUCES and call.args):
                        return False
                    node = call
                case _:
                    return False

    def _keeps(self, function: ast.expr) -> bool:
        """Whether a function of torch gives values that a comparison is about, as the method does: ``torch.abs(x)``."""
        library, _, name = (self._semantics.qualified_name(function) or "").rpartition(".")
        return library == "torch" and name in _KEEPS | NUMBERS

    def _is_made_parameter(self, data: ast.expr) -> bool:
        """Whether a value is made a parameter, which is a leaf of its own anyway."""
        match self._tree.parent(data):
            case ast.Call(func=function, args=[first, *_]) if first is data:
                return self._semantics.qualified_name(function) in _PARAMETER
        return False

    def _is_buffer_of_parameter(self, data: ast.Attribute) -> bool:
        """Whether a buffer is to share the memory of a tensor that becomes a parameter beside it, as in torch's own norms.

        There, it may also be a plain attribute.
        """
        match self._tree.parent(data):
            case (
                ast.Call(func=ast.Attribute(attr="register_buffer"), args=[_, given])
                | ast.Call(func=ast.Name(id="setattr"), args=[_, _, given])
            ) if given is data:
                shared = ast.dump(data.value)
                beside = self._semantics.facts.calls.get("register_parameter", ())
                function = self._tree.function(data)
                return any(
                    self._tree.function(call) is function and any(ast.dump(each) == shared for each in call.args)
                    for call in beside
                )
        return False

    def _is_copied_to_places(self, data: ast.expr) -> bool:
        """Whether values are copied to where places are kept, and are such themselves: `idx.select(1, 0).copy_(y.data)`."""
        match self._tree.parent(data):
            case ast.Call(func=ast.Attribute(value=target, attr="copy_"), args=[first]) if first is data:
                while isinstance(target, (ast.Call, ast.Subscript, ast.Attribute)):
                    target = target.func if isinstance(target, ast.Call) else target.value
                return isinstance(target, ast.Name) and target.id.lower() in _PLACES
        return False

    def _is_index(self, data: ast.expr) -> bool:
        """Whether something is chosen by a value: `words[token.data[0]]`. Integers and booleans have no graph."""
        node = self._as_places(data)
        parent = self._tree.parent(node)
        match parent:
            case ast.keyword(arg="index"):
                return True
            case ast.Call(func=ast.Attribute(attr=name) as function, args=given) if name in _TAKE_PLACES:
                is_of_torch = self._semantics.qualified_name(function) == f"torch.{name}"
                return node in given[1 + is_of_torch : 2 + is_of_torch]
            case ast.For(target=ast.Name() as each, iter=values) | ast.comprehension(target=ast.Name() as each, iter=values):
                binding = self._semantics.bindings.of(each)
                return values is node and binding is not None and bool(binding.uses) and all(map(self._is_slice, binding.uses))
        return self._is_slice(node)

    def _is_slice(self, node: ast.expr) -> bool:
        """Whether something is chosen by a value, or by several of which it is one."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.Tuple):
            node, parent = parent, self._tree.parent(parent)
        return isinstance(parent, ast.Subscript) and parent.slice is node

    def _as_places(self, data: ast.expr) -> ast.expr:
        """What becomes of a value by methods and indices that leave integers what they are."""
        node = data
        while True:
            match parent := self._tree.parent(node):
                case ast.Subscript(value=value) if value is node:
                    node = parent
                case ast.Attribute(attr=method) if method in RESHAPES and isinstance(
                    call := self._tree.parent(parent), ast.Call
                ):
                    node = call
                case _:
                    return node

    def _is_detached_as_well(self, data: ast.expr) -> bool:
        """Whether a value is detached as well, on the way to a copy or a number: `x.data[0].detach().numpy()`."""
        node, is_detached = data, False
        while True:
            match parent := self._tree.parent(node):
                case ast.Subscript(value=value) if value is node:
                    node = parent
                case ast.Attribute(attr=method) if method in _COPIES:
                    return is_detached or (method == "clone" and self._is_detached_behind(parent))
                case ast.Attribute(attr=method) if method in RESHAPES or method == "detach":
                    is_detached |= method == "detach"
                    call = self._tree.parent(parent)
                    if not isinstance(call, ast.Call):
                        return False
                    node = call
                case _:
                    return False

    def _is_detached_behind(self, method: ast.Attribute) -> bool:
        """Whether what a method gives is detached at once: ``x.data.clone().detach()``."""
        outer = self._tree.parent(self._tree.parent(method) or method)
        return isinstance(outer, ast.Attribute) and outer.attr == "detach"

    def _is_shown_input(self, data: ast.Attribute) -> bool:
        """Whether an argument, or a leaf, becomes a picture or an array on the spot: `tensor2np(tensor2im(in0.data))`."""
        match self._tree.parent(data):
            case ast.Call(func=function, args=[first, *_]) if first is data and _TO_PICTURE.search(last_name(function)):
                if self._semantics.kind(data.value).grad is Grad.LEAF:
                    return True
                bindings = self._semantics.bindings.reaching(data.value) if isinstance(data.value, ast.Name) else ()
                return bool(bindings) and all(binding.form is Form.PARAMETER for binding in bindings)
        return False

    def _is_exchanged(self, data: ast.Attribute) -> bool:
        """Whether processes exchange the values of a leaf, a parameter: no graph is of its making, and none is told of it."""
        match self._tree.parent(data):
            case ast.Call(func=function, args=arguments) if data in arguments:
                name = self._semantics.qualified_name(function) or ""
                return name in _EXCHANGES and self._semantics.kind(data.value).grad is Grad.LEAF
        return False

    def _is_of_meant_rebind(self, data: ast.expr) -> bool:
        return self._tree.statement(data) in self._semantics.of(DataRebinds).meant

    def _is_of_state(self, data: ast.Attribute) -> bool:
        """Whether a function keeps numbers of its own in a tensor, and sets its ``.data`` in a loop: `u.data = f(u.data)`."""
        function = self._tree.function(data)
        if not isinstance(data.value, ast.Name) or function is None:
            return False
        if any(binding.form is Form.LOOP for binding in self._semantics.bindings.reaching(data.value)):
            return False  # each of a model's parameters
        return (function, data.value.id) in self._rebound

    @cached_property
    def _rebound(self) -> set[tuple[ast.AST, str]]:
        """The names whose ``.data`` is assigned from what is computed of it, with the functions that do so."""
        found: set[tuple[ast.AST, str]] = set()
        for statement in self._tree.of_type(ast.Assign):
            match statement:
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=name), attr="data")], value=ast.Call(args=[_, *_])):
                    function = self._tree.function(statement)
                    if function is not None and any(self._tree.loops(statement)):
                        found.add((function, name))
        return found

    def _is_of_new_model(self, data: ast.Attribute) -> bool:
        """Whether a weight is read while the model is made, initialised or loaded: nothing is computed with it yet."""
        is_weight = isinstance(data.value, ast.Attribute) and _WEIGHT.fullmatch(data.value.attr) is not None
        return is_weight and self._semantics.of(Beginnings).sets(data.value, data)

    def _is_off(self, data: ast.expr) -> bool:
        """Whether autograd is off here, by a block or the decorator of a function, or wherever the function is called.

        What does one step of an evaluation is called by the loop of it, which is where autograd is turned off.
        """
        no_grad = self._semantics.no_grad
        if no_grad.block(data):
            return True
        function = self._tree.function(data)
        if not isinstance(function, FUNCTIONS):
            return False
        if _EVALUATING_STEP.fullmatch(function.name) or self._is_of_function(function):
            return True
        if function not in self._off:
            calls = self._semantics.facts.calls.get(function.name, ())
            self._off[function] = bool(calls) and all(no_grad.block(call) for call in calls)
            self._off[function] |= self._semantics.of(UnrecordedCalls).are_all_of(function)
        return self._off[function]

    def _is_of_function(self, method: Function) -> bool:
        """Whether a method is one that autograd runs, itself off: the `forward` or `backward` of a function of its own.

        A `backward` that is a static method may be differentiated again, where graphs of gradients are asked for.
        """
        owner = self._tree.parent(method)
        if not isinstance(owner, ast.ClassDef) or method.name not in ("forward", "backward"):
            return False
        if method.name == "backward" and is_static(method) and "create_graph" in self._semantics.words.all:
            return False
        return any(self._semantics.qualified_name(base) in _FUNCTION for base in owner.bases)


def _is_of_volatile(data: ast.Attribute) -> bool:
    """Whether a value is computed of what is marked as volatile on the spot: autograd is to be off there anyway."""
    return any(
        isinstance(part, ast.keyword) and part.arg == "volatile" and isinstance(part.value, ast.Constant) and part.value.value
        for part in ast.walk(data.value)
    )
