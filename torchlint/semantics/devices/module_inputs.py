"""The tensors of a module's methods that are where its inputs are: what a method is given, and what is computed of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, Function, own_returns

MAKING = frozenset({"FloatTensor", "LongTensor", "ByteTensor", "BoolTensor", "DoubleTensor", "IntTensor", "Tensor"})
"""Classes of torch whose constructors make tensors."""
PLACING = frozenset({"to", "cuda", "cpu", "type_as", "device", "_apply", "get_device", "pin_memory"})
"""What is said of a tensor, or of a module, whose device is looked after by hand."""
_NUMBERS = frozenset({"shape", "size", "device", "dtype", "dim", "ndim", "numel", "item", "tolist", "numpy", "is_cuda"})
_SIZE = 2
"""Where the size stands among the arguments of ``torch.normal``, if that is given any."""
_DEPTH = 6


class ModuleInputs:
    """Tells what of a file's tensors comes into a method from outside."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._inputs: dict[Binding, bool] = {}
        self._given_back: dict[Function, bool] = {}

    def makes(self, call: ast.Call) -> bool:
        """Whether a call makes a tensor of some dimensions, on no device that is said."""
        name = self._semantics.qualified_name(call.func) or ""
        if name == "torch.normal":
            return len(call.args) > _SIZE or any(word.arg == "size" for word in call.keywords)  # else, of two tensors
        has_none = any(isinstance(each, (ast.Tuple, ast.List)) and not each.elts for each in call.args[:1])
        return self.is_factory(name, call.args) and self._semantics.kind(call).scalar is not True and not has_none

    def is_factory(self, name: str, arguments: list[ast.expr]) -> bool:
        """Whether an API makes a tensor of some dimensions: one without any is taken on every device."""
        short = name.removeprefix("torch.")
        if short in ("tensor", "as_tensor") and name.startswith("torch."):
            return bool(arguments) and self._has_items(arguments[0])
        return name in torch_api.FACTORIES or name == "torch.from_numpy" or (name.startswith("torch.") and short in MAKING)

    def _has_items(self, data: ast.expr) -> bool:
        return isinstance(data, (ast.List, ast.Tuple, ast.ListComp)) or self._semantics.kind(data).type in (
            Type.SEQUENCE,
            Type.ARRAY,
        )

    def is_input(self, value: ast.expr, method: Function) -> bool:
        """Whether a value is a tensor that is computed of what a method is given, or of the module's own parameters."""
        if not self._semantics.kind(value).is_tensor or self._semantics.kind(value).scalar is True:
            return False
        return self._comes_in(value, 0)

    def _comes_in(self, value: ast.expr, depth: int) -> bool:
        return any(self._is_given(part, depth) for part in self._parts(value))

    def _parts(self, value: ast.expr) -> Iterator[ast.expr]:
        """The parts of an expression, but for what gives new tensors a size, a type or numbers; none if it says a device."""
        pending: list[ast.AST] = [value]
        found: list[ast.expr] = []
        while pending:
            part = pending.pop()
            if (isinstance(part, ast.Attribute) and part.attr in ("cpu", "numpy")) or _is_to_cpu(part):
                return
            if isinstance(part, ast.Attribute) and part.attr in _NUMBERS:
                continue
            if (
                isinstance(part, ast.Subscript)
                and isinstance(part.value, ast.Name)
                and self._semantics.kind(part.value).is_tensor
            ):
                pending.append(part.value)  # an item is where the tensor is, whatever the index
                continue
            if (
                isinstance(part, ast.Call)
                and self.makes(part)
                and all(word.arg not in (None, "device") for word in part.keywords)
            ):
                continue
            if isinstance(part, ast.Call) and (called := self._called(part)) is not None and not self._gives_back(called):
                continue
            if isinstance(part, ast.expr):
                found.append(part)
            pending.extend(ast.iter_child_nodes(part))
        yield from found

    def _called(self, call: ast.Call) -> Function | None:
        """The function of the file, or the method of the class, that a call runs, where that is all that it may be."""
        function = call.func
        if isinstance(function, ast.Name):
            bindings = self._semantics.bindings.reaching(function)
            found: ast.AST | None = bindings[0].node if len(bindings) == 1 else None
        elif isinstance(function, ast.Attribute) and (owner := self._facts.self_class(function.value)) is not None:
            found = self._facts.classes[owner].methods.get(function.attr)
        else:
            return None
        return found if isinstance(found, FUNCTIONS) and not found.decorator_list else None

    def _gives_back(self, function: Function) -> bool:
        """Whether something that a function returns is where its arguments are, or may be: not numbers that it keeps itself."""
        if function not in self._given_back:
            self._given_back[function] = True  # while it is looked at, for those that call themselves
            returned = [each.value for each in own_returns(function) if each.value is not None]
            names = [part for value in returned for part in ast.walk(value) if isinstance(part, ast.Name)]
            self._given_back[function] = not returned or not all(map(self._is_fixed, names))
        return self._given_back[function]

    def _is_fixed(self, name: ast.Name) -> bool:
        """Whether a name stands for the object itself, or for an API, and for nothing that a call is given."""
        return self._facts.self_class(name) is not None or self._semantics.qualified_name(name) is not None

    def _is_given(self, part: ast.expr, depth: int) -> bool:
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            weights = torch_api.PARAMETER_ATTRIBUTES.get(self._semantics.kind(part.func).name)
            return bool(weights) and self._facts.self_class(part.func.value) is not None
        if not isinstance(part, ast.Name) or not self._semantics.kind(part).is_tensor or depth >= _DEPTH:
            return False
        bindings = self._semantics.bindings.reaching(part)
        return bool(bindings) and all(self._is_from_outside(binding, depth) for binding in bindings)

    def _is_from_outside(self, binding: Binding, depth: int) -> bool:
        if binding not in self._inputs:
            self._inputs[binding] = binding.form is Form.AUGMENTED  # of itself: told by its other bindings
            if binding.form is Form.PARAMETER:
                self._inputs[binding] = not self._is_number_by_default(binding) and not self._is_given_on_cpu(binding)
            elif self._is_of_lengths(binding):
                self._inputs[binding] = False
            elif binding.value is not None and binding.form in (Form.ASSIGNMENT, Form.LOOP):
                self._inputs[binding] = self._comes_in(binding.value, depth + 1)
        return self._inputs[binding]

    def _is_of_lengths(self, binding: Binding) -> bool:
        """Whether a variable is the lengths of what is unpacked, which torch keeps on the CPU:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pad_packed_sequence.html
        """
        call = binding.value if binding.path == (1,) else None
        name = self._semantics.qualified_name(call.func) if isinstance(call, ast.Call) else None
        return name == "torch.nn.utils.rnn.pad_packed_sequence"

    def _is_given_on_cpu(self, parameter: Binding) -> bool:
        """Whether all that the file's calls give for a parameter is moved to the CPU first."""
        values = self._semantics.inference.given(parameter)
        return bool(values) and all(value is not None and self._is_on_cpu(value) for value in values)

    def _is_on_cpu(self, value: ast.expr) -> bool:
        """Whether a value is what ``cpu()`` gives, or computed of that by a method; also by a name for it."""
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            values = [each.value for each in bindings if each.form is Form.ASSIGNMENT and not each.path]
            if len(values) != 1 or len(bindings) != 1 or not isinstance(values[0], (ast.Call, ast.Subscript)):
                return False
            value = values[0]
        while True:
            match value:
                case ast.Call(func=ast.Attribute(attr="cpu")):
                    return True
                case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name not in PLACING:
                    value = owner
                case ast.Subscript(value=owner):
                    value = owner
                case _:
                    return False

    def _is_number_by_default(self, parameter: Binding) -> bool:
        """Whether a parameter is a number where it is not given: a weight or a rate, and no tensor."""
        function, argument = parameter.scope.node, parameter.node
        if not isinstance(function, FUNCTIONS) or not isinstance(argument, ast.arg):
            return False
        default = self._facts.default(function, argument)
        return isinstance(default, ast.Constant) and isinstance(default.value, (bool, int, float))


def _is_to_cpu(part: ast.AST) -> bool:
    match part:
        case ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value="cpu"), *_]):
            return True
    return False
