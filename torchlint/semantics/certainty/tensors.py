"""What is a tensor for certain, so that a fix may rest on it: not because it is called or used like one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, refuted, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.belied import BeliedAnnotations
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.invariants import Invariants
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.observers.programs import Programs
from torchlint.semantics.provenance.loaders import Loaders
from torchlint.semantics.provenance.modules import PARALLEL, Made, Modules
from torchlint.semantics.provenance.numbers import Numbers
from torchlint.semantics.provenance.own_stores import OwnStores
from torchlint.semantics.provenance.parameters import Parameters
from torchlint.semantics.provenance.values import Part, Values, index_of, shown
from torchlint.semantics.provenance.witnesses import Witnesses

_CASTS = frozenset({"to", "type", "cuda", "cpu", "float", "double", "half", "bfloat16", "long", "int", "bool"})
PARTS = frozenset({"T", "mT", "H", "mH", "data", "grad", "real", "imag"})
"""Attributes of a tensor that are tensors."""
_RECURRENT = frozenset({"torch.nn.RNN", "torch.nn.GRU", "torch.nn.LSTM"})
_OPAQUE = (
    torch_api.CONTAINER_MODULES
    | torch_api.TUPLE_MODULES
    | PARALLEL
    | {"torch.nn.Identity", "torch.nn.TripletMarginWithDistanceLoss", "torch.nn.LinearCrossEntropyLoss"}
)
"""Modules of torch that give what they are given or what other code makes, or several tensors."""
_INDICES_AT = {"MaxPool": 4, "AdaptiveMaxPool": 1, "FractionalMaxPool": 3}
"""Behind so many arguments, a pooling layer is told by place to give indices, too."""
_NO_RESULTS = ("torch.load", "torch.nn.utils.", "torch.jit.", "torch.utils.", "torch.func.", "torch.nn.init.sparse")
_UNINITIALISED = frozenset({"torch.nn.UninitializedParameter", "torch.nn.parameter.UninitializedParameter"})


class Tensors:
    """Tells of expressions whether they are tensors of torch, in a way that fixes can rest on.

    Trusted are: an annotation that is `torch.Tensor`; that functions and layers of torch give tensors, as long as the file
    speaks of no hook and of no ``__torch_function__``; that a module that is made in sight, of a class of the file or of torch,
    has what its class gives it; that `nn.Module` keeps nothing but tensors where it has registered one. Parameters that wait
    for their first batch to be initialised do not count: they cannot be detached.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._values = semantics.of(Values)
        self._modules = semantics.of(Modules)
        self._witnesses = semantics.of(Witnesses)
        self._tensors = Invariants["Part | tuple[Binding, bool]"](self._find)

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a tensor: by what makes it, by an annotation, or as code that has run would have raised."""
        if self.is_tensor(node):
            return CERTAIN
        kind = self._semantics.kind(node)
        if kind.known and not kind.is_tensor:
            return refuted(f"`{shown(node)}` is no tensor")
        return unknown(self._doubt(node))

    def tensor_or_lazy(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a tensor, be it a parameter that waits for its first batch, which has flags but no values yet."""
        return CERTAIN if self._semantics.of(Parameters).is_parameter(node) else self.fact(node)

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` is a tensor for certain."""
        return self._holds(node, exact=self._is_exact(node))

    def _is_exact(self, node: ast.expr) -> bool:
        """Whether the ``self`` of a method is of that very class: a program's, of which nothing in the file derives."""
        own = self._semantics.tree.enclosing_class(node)
        if own is None or not self._semantics.of(Programs).trains.is_certain:
            return False
        return not any(own in self._semantics.facts.bases(each) for each in self._semantics.facts.classes if each is not own)

    def binds(self, binding: Binding) -> bool:
        """Whether what ``binding`` binds is a tensor for certain."""
        return self._tensors.holds((binding, False))

    def _holds(self, node: ast.expr, path: tuple[int, ...] = (), *, exact: bool = False) -> bool:
        return self._tensors.holds(Part(node, path, exact))

    # --- expressions -------------------------------------------------------------------------------------------------

    def _find(self, part: Part | tuple[Binding, bool]) -> bool:
        if not isinstance(part, Part):
            binding, exact = part
            return isinstance(binding.node, ast.expr) and self._binds(binding, Part(binding.node, exact=exact))
        taken = self._values.taken(part)
        if taken is None:
            return False
        match taken.node:
            case ast.Name():
                return self._is_name_of_tensor(taken.node, taken)
            case ast.Call():
                return self._gives(taken.node, taken.path, taken.exact) or self._is_row(taken)
            case ast.Subscript(value=inner):
                return self._is_item(taken.node, inner, taken)
            case ast.IfExp(body=body, orelse=orelse):
                return all(self._holds(each, taken.path, exact=taken.exact) for each in (body, orelse))
            case ast.NamedExpr(value=inner):
                return self._holds(inner, taken.path, exact=taken.exact)
        return self._is_computed(taken.node, taken.exact) if not taken.path else self._is_row(taken)

    def _is_row(self, part: Part) -> bool:
        """Whether a part is that of a tensor."""
        return bool(part.path) and self._holds(part.node, part.path[:-1], exact=part.exact)

    def _is_item(self, node: ast.Subscript, inner: ast.expr, part: Part) -> bool:
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
            return False  # whatever is bound to the name elsewhere
        if self._holds(inner, exact=part.exact):
            return True
        index = index_of(node)
        return index is not None and self._holds(inner, (index, *part.path), exact=part.exact)

    def _is_computed(self, node: ast.expr, exact: bool) -> bool:
        match node:
            case ast.BinOp(left=left, right=right):
                return self._is_of_tensors([left, right], exact)
            case ast.Compare(left=left, comparators=[right], ops=[operator]):
                is_about_objects = isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn))
                return not is_about_objects and self._is_of_tensors([left, right], exact)
            case ast.UnaryOp(op=operator, operand=operand):
                return not isinstance(operator, ast.Not) and self._holds(operand, exact=exact)
            case ast.Attribute():
                return self._is_attribute(node, exact)
        return False

    def _is_of_tensors(self, operands: Iterable[ast.expr], exact: bool) -> bool:
        """Whether operands are tensors and numbers, one a tensor at least; what other classes make of an operator is theirs."""
        given = list(operands)
        others = [operand for operand in given if not self._holds(operand, exact=exact)]
        if not others or len(others) == len(given):
            return not others
        numbers = self._semantics.of(Numbers)
        return all(numbers.is_number(other) or self._is_demanded_beside(other, given, exact) for other in others)

    def _is_demanded_beside(self, operand: ast.expr, operands: list[ast.expr], exact: bool) -> bool:
        """Whether working out another operand has shown one to be a tensor: ``x`` of ``x + conv(x)``."""
        if not isinstance(operand, ast.Name) or self.has_own_classes:
            return False
        others = [other for other in operands if other is not operand]
        return any(self._witnesses.is_demanded_within(operand, other, exact=exact) for other in others)

    # --- names -------------------------------------------------------------------------------------------------------

    def _is_name_of_tensor(self, name: ast.Name, part: Part) -> bool:
        if not part.path and (self._has_shown(name, part.exact) or self._semantics.of(Parameters).is_initialised(name)):
            return True
        found = self._values.bindings(name)
        return bool(found) and all(self._binds(binding, part) for binding in found)

    def _has_shown(self, name: ast.Name, exact: bool) -> bool:
        return not self.has_own_classes and self._witnesses.have_shown(name, exact=exact)

    def _binds(self, binding: Binding, part: Part) -> bool:
        if binding.form is Form.PARAMETER:
            return not part.path and self._is_declared(binding)
        if binding.form is Form.AUGMENTED:
            return not part.path and self._binds_sum(binding, part.exact)
        if binding.form is Form.LOOP:
            return not part.path and self._binds_item(binding, part.exact)
        value = self._values.assigned(binding, exact=part.exact)
        return value is not None and self._holds(value.node, value.path + part.path, exact=part.exact)

    def _is_declared(self, binding: Binding) -> bool:
        """Whether a parameter is annotated as a tensor, where the file has no tensors of its own, and gives it nothing else."""
        annotation = binding.annotation
        return (
            isinstance(annotation, (ast.Name, ast.Attribute))
            and self._semantics.qualified_name(annotation) in ("torch.Tensor", "torch.nn.Parameter")
            and not self.has_own_classes
            and not self._semantics.of(BeliedAnnotations).is_belied(binding)
        )

    @cached_property
    def has_own_classes(self) -> bool:
        """Whether the file has a class of tensors of its own, whose methods may do something else."""
        derives = self._semantics.facts.derives_from
        own = any(derives(each, "torch.Tensor", "torch.nn.Parameter") for each in self._semantics.facts.classes)
        return own or bool({"__torch_function__", "as_subclass", "__torch_dispatch__"} & self._semantics.words.all)

    def _binds_sum(self, binding: Binding, exact: bool) -> bool:
        """Whether an augmented assignment keeps a tensor, or makes a number one."""
        numbers = self._semantics.of(Numbers)
        value = binding.value
        if value is None or not binding.before:
            return False
        is_tensor = self._holds(value, exact=exact)
        if not is_tensor and not numbers.is_number(value):
            return False
        before = [self._tensors.holds((each, exact)) for each in binding.before]
        return all(before) or (is_tensor and all(h or numbers.binds(each) for h, each in zip(before, binding.before)))

    def _binds_item(self, binding: Binding, exact: bool) -> bool:
        """Whether a loop gives a name tensors: rows of one, the parameters of a module, batches of a loader made in sight."""
        iterable, path = binding.value, binding.path
        if iterable is None or None in path:
            return False
        if self._semantics.of(Parameters).are_tensors(iterable, path, exact=exact, given=self._given):
            return True
        if self._semantics.of(Loaders).gives(iterable, path):
            return True
        while True:
            match iterable:
                case ast.Call(func=ast.Name(id="enumerate"), args=[inner]) if path[:1] == (1,):
                    iterable, path = inner, path[1:]
                case ast.Call(func=ast.Name(id="zip"), args=parts) if path and path[0] is not None and path[0] < len(parts):
                    if any(isinstance(each, ast.Starred) for each in parts):
                        return False
                    iterable, path = parts[path[0]], path[1:]
                case _ if elements := self._values.listed(iterable):
                    steps = tuple(step for step in path if step is not None)
                    return all(self._holds(each, steps, exact=exact) for each in elements)
                case ast.Call() if not path and self._gives_several(iterable):
                    return self._holds(iterable, (0,), exact=exact)
                case _:
                    return not path and self._holds(iterable, exact=exact)

    def _given(self, node: ast.expr) -> Sequence[ast.expr]:
        """What the calls give for an argument, all of them in sight; of what is no argument, that itself."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        callers = self._semantics.of(Callers)
        match bindings:
            case [Binding(form=Form.PARAMETER, node=ast.arg() as parameter, scope=scope)] if isinstance(scope.node, FUNCTIONS):
                function = scope.node
                is_plain = function.name != "__init__" and parameter in function.args.args
                if is_plain and callers.fact(function).is_certain:
                    calls = callers.calls(function)
                    values = [self._semantics.facts.argument(call, function, parameter) for call in calls]
                    known = [value for value in values if value is not None]
                    is_applied = any(isinstance(call.func, ast.Attribute) for call in calls)
                    return known if len(known) == len(values) and not is_applied else (node,)
        return (node,)

    def _gives_several(self, call: ast.Call) -> bool:
        """Whether a call is of a function or method of torch that gives a tuple of tensors, all alike."""
        name = self._semantics.qualified_name(call.func) or ""
        result = torch_api.FUNCTIONS.get(name, "")
        if isinstance(call.func, ast.Attribute) and not name.startswith("torch."):
            result = torch_api.TENSOR_METHODS.get(call.func.attr, "")
        return result in ("tuple", "list")

    # --- calls -------------------------------------------------------------------------------------------------------

    def _gives(self, call: ast.Call, path: tuple[int, ...], exact: bool) -> bool:
        """Whether what a call gives, or the part of it at ``path``, is a tensor."""
        name = self._semantics.qualified_name(call.func)
        if name is not None and name.startswith("torch."):
            return not self._has_functions and self._gives_by_torch(call, name, path)
        if name == "copy.deepcopy" and len(call.args) == 1:
            return self._holds(call.args[0], path, exact=exact)
        if (
            name == "builtins.next"
            and call.args
            and self._semantics.of(Parameters).are_tensors(call.args[0], path, exact=exact)
        ):
            return True
        if isinstance(call.func, ast.Attribute) and self._gives_by_method(call, call.func, path, exact):
            return True
        if (function := self._values.called(call)) is not None:
            returned = self._values.returned(function)
            return bool(returned) and all(self._holds(each, path) for each in returned or ())
        if isinstance(call.func, ast.Attribute):
            own = self._modules.classes(call.func.value, exact=exact)
            if own and all(self._semantics.facts.method(each, call.func.attr) is not None for each in own):
                return all(self._gives_by_own(each, call.func.attr, path) for each in own)
        made = self._modules.made(call.func, exact=exact)
        return (
            bool(made) and not self._modules.are_hooked and all(self._gives_by_module(call, each, path, exact) for each in made)
        )

    @cached_property
    def _has_functions(self) -> bool:
        """Whether the file has objects that take part in torch's functions, which then give what these make of it."""
        return "__torch_function__" in self._semantics.words.all

    def _gives_by_torch(self, call: ast.Call, name: str, path: tuple[int, ...]) -> bool:
        if name.startswith(_NO_RESULTS) or name in _UNINITIALISED:
            return name == "torch.nn.utils.rnn.pad_sequence" and not path
        if name in ("torch.autograd.Variable", "torch.nn.Parameter") and not path:
            return True
        if path:
            result = torch_api.FUNCTIONS.get(name, "").partition("|")
            return len(path) == 1 and ("tuple" in result or "list" in result)
        kind = self._semantics.kind(call)
        is_open = any(isinstance(each, ast.Starred) for each in call.args) or any(word.arg is None for word in call.keywords)
        return kind.is_tensor and not kind.loose and not (is_open and "|" in torch_api.FUNCTIONS.get(name, ""))

    def _gives_by_method(self, call: ast.Call, method: ast.Attribute, path: tuple[int, ...], exact: bool) -> bool:
        result = torch_api.TENSOR_METHODS.get(method.attr, "tensor" if method.attr in _CASTS else "")
        if method.attr == "type" and not call.args and not call.keywords:
            return False
        wanted = ("tuple", "list") if path else ("tensor",)
        if (
            len(path) > 1
            or not result
            or method.attr == "as_subclass"
            or not (result.startswith(wanted) or result.endswith(wanted))
        ):
            return False
        if not path and "|" in result and not self._semantics.kind(call).is_tensor:
            return False
        return self._holds(method.value, exact=exact)

    def _gives_by_own(self, definition: ast.ClassDef, method: str, path: tuple[int, ...]) -> bool:
        """Whether a method of a class of the file, of an object of that very class, gives a tensor."""
        function = self._semantics.facts.method(definition, method)
        returned = self._values.returned(function) if function is not None else None
        return bool(returned) and all(self._holds(each, path, exact=True) for each in returned or ())

    def _gives_by_module(self, call: ast.Call, made: Made, path: tuple[int, ...], exact: bool) -> bool:
        """Whether calling a module gives a tensor, or several with one at ``path``."""
        if made.definition is not None:
            return self._gives_by_own(made.definition, "forward", path)
        if made.name in PARALLEL and made.call.args:
            inner = self._modules.made(made.call.args[0])
            return bool(inner) and all(self._gives_by_module(call, each, path, exact) for each in inner)
        if made.name == "torch.nn.Sequential":
            last = [self._modules.made(layer) for layer in self._modules.last_layers(made)]
            of_any = [each for layer in last for each in layer]
            return bool(last) and all(last) and all(self._gives_by_module(call, each, path, exact) for each in of_any)
        if made.name in _RECURRENT:
            is_long = made.name == "torch.nn.LSTM"
            if path == (0,):  # of a packed sequence it would be one
                return bool(call.args) and self._holds(call.args[0], exact=exact)
            return path in ((1, 0), (1, 1)) if is_long else path == (1,)
        if made.name == "torch.nn.LSTMCell":
            return path in ((0,), (1,))
        return not path and gives_tensor(made)

    # --- attributes --------------------------------------------------------------------------------------------------

    def _is_attribute(self, node: ast.Attribute, exact: bool) -> bool:
        if node.attr in PARTS and (self._holds(node.value, exact=exact) or self._is_gradient(node)):
            return True
        if self._semantics.of(Parameters).is_own(node):
            return True
        if (value := self._semantics.of(OwnStores).value(node)) is not None and self._holds(value, exact=exact):
            return True
        if (stored := self._modules.stored(node.value, node.attr, exact=exact)) and all(
            self._holds(each.node, each.path, exact=True) for each in stored
        ):
            return True
        made = self._modules.made(node.value, exact=exact)
        return bool(made) and all(
            node.attr in torch_api.PARAMETER_ATTRIBUTES.get(each.name, ()) and "Lazy" not in each.name for each in made
        )

    def _is_gradient(self, node: ast.Attribute) -> bool:
        """Whether ``node`` is the gradient or data of a parameter: a lazy one has no gradient, and data that is empty."""
        return node.attr in ("grad", "data") and self._semantics.of(Parameters).is_parameter(node.value)

    # --- what is said of the others ----------------------------------------------------------------------------------

    def _doubt(self, node: ast.expr) -> str:
        """Why ``node`` may be no tensor."""
        match node:
            case ast.Name(id=name):
                for binding in self._semantics.bindings.reaching(node):
                    if not self._binds(binding, Part(node)):
                        return self._doubt_of(binding)
                return f"nothing shows that `{name}` is a tensor"
            case ast.Attribute(attr="data" | "grad" | "T", value=inner) | ast.Subscript(value=inner):
                return self._doubt(inner)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in torch_api.TENSOR_METHODS:
                return self._doubt(inner) if isinstance(inner, ast.Name) else f"`{shown(node)}` may be no tensor"
        return f"`{shown(node)}` may be no tensor"

    def _doubt_of(self, binding: Binding) -> str:
        name = binding.name
        match binding.form:
            case Form.PARAMETER:
                return f"`{name}` is an argument; it may be no tensor"
            case Form.IMPORT:
                return f"`{name}` is imported; it may be no tensor"
        if binding.value is None:
            return f"`{name}` may be no tensor"
        return f"`{name}` comes from `{shown(binding.value)}`; it may be no tensor"


def gives_tensor(made: Made) -> bool:
    """Whether calling a layer or loss of torch gives one tensor, whatever it is given."""
    if made.name in _OPAQUE:
        return False
    last = re.sub("[123]d$", "", made.name.rpartition(".")[2])
    if last in _INDICES_AT:
        words = {word.arg for word in made.call.keywords}
        return not words & {None, "return_indices"} and len(made.call.args) <= _INDICES_AT[last]
    return True
