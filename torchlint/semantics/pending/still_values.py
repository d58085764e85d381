"""Which values hold no graph that has saved anything, for certain: a list of what is known to, all else may."""

from __future__ import annotations

import ast
import builtins
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.beliefs import Beliefs, Value
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, given_to
from torchlint.semantics.observers.callers import Callers
from torchlint.semantics.observers.libraries import KEEPING_NOTHING
from torchlint.semantics.pending.library_functions import calls_what_it_is_given, hands_back

_NUMBERS = frozenset({"item", "tolist", "numpy", "size", "dim", "numel", "stride", "data_ptr", "detach"})
"""Methods of tensors whose result has no graph."""
_HANDS_ON = frozenset(
    {
        *("parameters", "named_parameters", "buffers", "named_buffers", "modules", "named_modules", "children"),
        *("named_children", "state_dict", "items", "values", "keys", "to", "cuda", "cpu", "double", "float", "train", "eval"),
        *("requires_grad_", "zero_grad", "apply"),
    }
)
"""Methods whose result is a part of what they are called on, or it itself."""
_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        *(
            "range",
            "enumerate",
            "zip",
            "list",
            "tuple",
            "dict",
            "set",
            "sorted",
            "reversed",
            "len",
            "int",
            "float",
            "str",
            "bool",
        ),
        *("isinstance", "getattr", "type", "iter", "next", "print", "abs", "round", "min", "max", "sum", "open"),
    )
)
_COPIES = frozenset({"copy.deepcopy", "copy.copy"})
_DATASETS = ("torchvision.datasets.", "torchvision.transforms.", "torch.utils.data.")
_MAKES_NEW = torch_api.FACTORIES | {
    "torch.from_numpy",
    "torch.as_tensor",
    "torch.normal",
    "torch.bernoulli",
    "torch.multinomial",
}


class StillValues:
    """Tells of expressions and names whether what they hold can have saved nothing for a backward pass.

    A value is `plain` if it cannot require grad, and `still` if it may (a module, its parameters, an optimizer) but is
    itself the result of no operation. That the attributes and items of such values are so, too, is for who asks to see to:
    it is so where the file stores nothing else in any.

    `unrecorded.graph_carriers` asks what may be of a graph whatever autograd's mode is, a parameter among it. Here a parameter
    is still, and what is computed where autograd is off is plain.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._callers = semantics.of(Callers)
        self._plain = Beliefs(semantics.bindings, self._is_plain)
        self._still = Beliefs(semantics.bindings, self._is_still)

    def is_plain(self, value: Value) -> bool:
        """Whether a value cannot require grad."""
        return self._plain.hold(value)

    def is_still(self, value: Value) -> bool:
        """Whether a value is the result of no operation that autograd has recorded."""
        return self._plain.hold(value) or self._still.hold(value)

    def is_own(self, attribute: str) -> bool:
        """Whether a class of the file has a method or a property of this name, which may give anything."""
        return attribute in self._methods

    @cached_property
    def _methods(self) -> frozenset[str]:
        classes = self._semantics.facts.classes.values()
        return frozenset(name for facts in classes for name in facts.methods)

    # --- names -------------------------------------------------------------------------------------------------------

    def _binding(self, binding: Binding, beliefs: Beliefs) -> bool:
        match binding.form:
            case Form.IMPORT:
                return binding.imported.partition(".")[0] in KEEPING_NOTHING
            case Form.FUNCTION | Form.CLASS:
                return True
            case Form.PARAMETER:
                return self._parameter(binding, beliefs)
            case Form.AUGMENTED:
                holds = self.is_still if isinstance(binding.value, ast.List) and beliefs is self._still else self.is_plain
                before = bool(binding.before) and all(holds(each) for each in binding.before)
                return before and binding.value is not None and holds(binding.value)
            case Form.ASSIGNMENT | Form.LOOP | Form.CONTEXT if binding.value is not None:
                return beliefs.hold(binding.value)
        return False

    def _parameter(self, binding: Binding, beliefs: Beliefs) -> bool:
        function = binding.scope.node
        if not isinstance(function, FUNCTIONS) or not isinstance(binding.node, ast.arg):
            return False
        arguments = function.args
        if binding.node in (arguments.vararg, arguments.kwarg) or not self._callers.fact(function).is_certain:
            return False
        calls = self._callers.calls(function)
        if self._semantics.facts.classes and isinstance(self._tree.parent(function), ast.ClassDef):
            first = [*arguments.posonlyargs, *arguments.args][:1]
            if binding.node in first:
                return beliefs is self._still
        given = [self._given(call, function, binding.node) for call in calls]
        return all(value is not None and beliefs.hold(value) for value in given)

    def _given(self, call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: ast.arg) -> ast.expr | None:
        match call:
            case ast.Call(func=ast.Attribute(value=model, attr="apply")) if function.name != "apply":
                return model
        if function.name == "__init__" and not isinstance(call.func, ast.Attribute):
            positional = [*function.args.posonlyargs, *function.args.args][1:]
            if any(isinstance(each, ast.Starred) for each in call.args) or any(word.arg is None for word in call.keywords):
                return None
            given = dict(zip((each.arg for each in positional), call.args)) | {str(w.arg): w.value for w in call.keywords}
            return given.get(parameter.arg, self._semantics.facts.default(function, parameter))
        return self._semantics.facts.argument(call, function, parameter)

    # --- expressions -------------------------------------------------------------------------------------------------

    def _is_plain(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binding(value, self._plain)
            case ast.Name():
                return self._is_name(value, self._plain)
            case ast.Constant() | ast.JoinedStr() | ast.Compare():
                return True
            case ast.Attribute(attr=name) if self.is_own(name):
                return False
            case ast.Attribute(attr="data" | "shape" | "device" | "dtype" | "ndim"):
                return True
            case ast.Attribute() if (owner := self._semantics.facts.self_class(value.value)) is not None:
                return self._is_plain_slot(owner, value.attr)
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self.is_plain(inner)
            case ast.UnaryOp(operand=inner):
                return self.is_plain(inner)
            case ast.BinOp(left=left, right=right):
                return (self.is_plain(left) and self.is_plain(right)) or self._is_off(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_plain(body) and self.is_plain(orelse)
            case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(self.is_plain(part) for part in parts)
            case ast.Dict(values=parts):
                return all(self.is_plain(part) for part in parts)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                return self.is_plain(element)
            case ast.Call():
                return self._gives_plain(value)
        return False

    def _is_plain_slot(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether all that a class stores in an attribute cannot require grad."""
        slots = self._semantics.facts.slots(owner, name)
        stores = [store for slot in slots for store in slot.stores]
        values = [getattr(self._tree.parent(store), "value", None) for store in stores]
        given = [value for slot in slots for value, _ in slot.class_values]
        return bool(values or given) and all(value is not None and self.is_plain(value) for value in [*values, *given])

    def _gives_plain(self, call: ast.Call) -> bool:
        arguments = given_to(call)
        name = self._name(call.func)
        if any(word.arg in (None, "requires_grad", "out") for word in call.keywords):
            return False
        plain = all(self.is_plain(argument) for argument in arguments)
        if hands_back(name) or calls_what_it_is_given(name):
            return plain and hands_back(name)
        if name in _MAKES_NEW or name.startswith(("numpy.", "random.", "math.", "time.", "argparse.", "os.")):
            return True
        if name == "torch.autograd.Variable" or (name.startswith("torch.") and name.endswith("Tensor")):
            return plain
        if name in _BUILTINS or name.startswith(_DATASETS) or name == "tqdm.tqdm":
            return plain
        if name.startswith("torch."):
            calls_nothing = name in torch_api.FUNCTIONS
            return calls_nothing and (plain or (self._is_off(call) and all(self.is_still(each) for each in arguments)))
        if isinstance(call.func, ast.Attribute):
            receiver, method = call.func.value, call.func.attr
            if self.is_own(method):
                return False
            if method in _NUMBERS:
                return True
            calls = any(isinstance(self._semantics.facts.definition(each), FUNCTIONS) for each in arguments)
            if method != "requires_grad_" and plain and not calls and self.is_plain(receiver):
                return True
        return self._is_off(call) and self.is_still(call.func) and all(self.is_still(each) for each in arguments)

    def _name(self, function: ast.expr) -> str:
        """The API that is called; also where it is one of two types of tensors, on the GPU or not."""
        name = self._semantics.qualified_name(function)
        bindings = self._semantics.bindings.reaching(function) if name is None and isinstance(function, ast.Name) else ()
        for binding in bindings:
            if binding.form is Form.ASSIGNMENT and isinstance(binding.value, ast.IfExp) and len(bindings) == 1:
                names = [self._semantics.qualified_name(each) or "" for each in (binding.value.body, binding.value.orelse)]
                return names[0] if all(each.startswith("torch.") and each.endswith("Tensor") for each in names) else ""
        return name or ""

    def _is_still(self, value: Value) -> bool:
        match value:
            case Binding():
                return self._binding(value, self._still)
            case ast.Name():
                return self._is_name(value, self._still)
            case ast.Attribute(attr=name) if self.is_own(name):
                return False
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self.is_still(inner)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_still(body) and self.is_still(orelse)
            case ast.BinOp(left=ast.List() as left, right=right, op=ast.Add()):
                return self.is_still(left) and self.is_still(right)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Dict(values=parts):
                return all(self.is_still(part) for part in parts)
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                return self.is_still(element)
            case ast.Call():
                return self._gives_still(value)
        return False

    def _gives_still(self, call: ast.Call) -> bool:
        arguments = given_to(call)
        name = self._semantics.qualified_name(call.func) or ""
        if name == "torch.nn.Parameter" or name in torch_api.MODULES - torch_api.CONTAINER_MODULES:
            return True  # a leaf, or a layer: whatever it is made of
        if not all(self.is_still(argument) for argument in arguments):
            return False
        if name in _BUILTINS or name in _COPIES or name in _MAKES_NEW or hands_back(name):
            return True
        if name.startswith(("torch.nn.", "torch.optim.", "torchvision.models.")):
            return name[name.rfind(".") + 1 :][:1].isupper() or name.startswith("torchvision.models.")
        definition = self._semantics.facts.definition(call.func)
        if isinstance(definition, ast.ClassDef):
            return True
        if isinstance(definition, FUNCTIONS) and not definition.decorator_list:
            if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in ast.walk(definition)):
                return False  # going through it runs the rest
            return all(value is not None and self.is_still(value) for value in self._semantics.facts.returned(definition))
        if not isinstance(call.func, ast.Attribute) or self.is_own(call.func.attr):
            return False
        return call.func.attr in _HANDS_ON and self.is_still(call.func.value)

    def _is_name(self, name: ast.Name, beliefs: Beliefs) -> bool:
        bindings = self._semantics.bindings.reaching(name)
        if not bindings:
            qualified = self._semantics.qualified_name(name) or ""
            return hasattr(builtins, name.id) or qualified.partition(".")[0] in KEEPING_NOTHING - {"builtins"}
        return all(beliefs.hold(binding) or self._plain.hold(binding) for binding in bindings)

    def _is_off(self, node: ast.expr) -> bool:
        return self._semantics.no_grad.block(node)
