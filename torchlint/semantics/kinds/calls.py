"""The kinds that calls evaluate to."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.code.scopes import Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.annotations import instance
from torchlint.semantics.kinds.api import chosen_module, instance_of
from torchlint.semantics.kinds.kind import (
    ARRAY,
    NUMBER,
    STRING,
    UNKNOWN,
    Basis,
    Grad,
    Kind,
    Type,
    join,
    mapping,
    result_grad,
    sequence,
    tensor,
)
from torchlint.semantics.kinds.others.members import given_by, inherited, member_of, output_of, takes_no_graph
from torchlint.semantics.kinds.questions import Kinds
from torchlint.semantics.kinds.results import KEEPS_SCALAR, LOSS_MODULES, Results, element_at, is_on
from torchlint.semantics.summaries.lookup import ClassElsewhere

_NUMBER_METHODS = frozenset(
    {"item", "dim", "numel", "nelement", "get_device", "data_ptr", "element_size", "stride", "storage_offset"}
)
_SAME_MODULE = frozenset(
    {
        "to",
        "cuda",
        "cpu",
        "eval",
        "train",
        "half",
        "float",
        "double",
        "bfloat16",
        "apply",
        "requires_grad_",
        "share_memory",
        "type",
    }
)
_CASTING_METHODS = frozenset({"to", "type"})
_OF_FORM = frozenset({"expand_as", "view_as", "reshape_as", "type_as", "resize_as_"})
"""Methods that take nothing but the form of another tensor."""
_PROGRESS_BARS = frozenset({"tqdm", "tqdm_notebook"})
_ITERATORS = frozenset({"list", "tuple", "set", "reversed", "sorted", "iter", "frozenset"})
_NUMBERS = frozenset(
    {"float", "int", "len", "bool", "round", "id", "hash", "ord", "isinstance", "hasattr", "callable", "any", "all", "range"}
)
_STRINGS = frozenset({"str", "repr", "format", "input", "chr", "type"})
_INPUTS = frozenset({"input_ids", "inputs", "input", "x", "pixel_values", "labels", "attention_mask", "src", "tgt", "images"})


class Calls:
    """Infers what calls give."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._results = Results(kinds)

    def result(self, call: ast.Call) -> Kind:
        """What ``call`` evaluates to."""
        name = self._kinds.code.names.qualified(call.func)
        if name is not None and name.rpartition(".")[2] in _PROGRESS_BARS and call.args:
            return self._kinds.kind(call.args[0])
        if name is not None:
            found = self._builtin(call, name) if name.startswith("builtins.") else self._results.called(call, name)
            if found.known:
                return found
        if isinstance(call.func, ast.Attribute):
            found = self._method(call, call.func)
            if found.known:
                return found
        if _is_super_call(call.func):
            return UNKNOWN
        found = self._called(call, self._kinds.kind(call.func))
        return found if found.known or found.elsewhere is not None else chosen_module(call, self._kinds)

    # --- builtins ----------------------------------------------------------------------------------------------------

    def _builtin(self, call: ast.Call, name: str) -> Kind:
        name = name.removeprefix("builtins.")
        arguments = call.args
        if name == "range":
            return sequence(NUMBER)
        if name in _NUMBERS:
            return NUMBER
        if name in _STRINGS:
            return STRING
        if name in _ITERATORS:
            if not arguments:
                return sequence()
            items = self._kinds.kind(arguments[0]).items if name in ("list", "tuple") else None
            return sequence(element_at(self._kinds, arguments[0]), items)
        if name == "enumerate" and arguments:
            return sequence(sequence(items=(NUMBER, element_at(self._kinds, arguments[0]))))
        if name == "zip":
            return sequence(sequence(items=tuple(element_at(self._kinds, argument) for argument in arguments)))
        if name in ("filter", "map") and len(arguments) == 2:
            return sequence(element_at(self._kinds, arguments[1]) if name == "filter" else self._mapped(arguments[0]))
        if name == "sum" and arguments:
            element = element_at(self._kinds, arguments[0])
            return element if element.is_tensor or element.type is Type.NUMBER else UNKNOWN
        if name in ("max", "min", "abs", "next") and arguments:
            if name == "abs":
                return self._kinds.kind(arguments[0])
            if len(arguments) == 1 or name == "next":
                return element_at(self._kinds, arguments[0])
            return join([self._kinds.kind(argument) for argument in arguments])
        if name == "dict":
            return mapping()
        if (
            name == "getattr"
            and len(arguments) >= 2
            and isinstance(arguments[1], ast.Constant)
            and arguments[1].value in ("weight", "bias")
        ):
            return tensor(Grad.LEAF, why="the weight or bias of a layer")
        if name == "getattr" and len(arguments) >= 2:
            return self._looked_up(arguments[0], arguments[1])
        return UNKNOWN

    def _mapped(self, function: ast.expr) -> Kind:
        """What a function of torch that always gives one tensor makes of each value: ``map(torch.cat, zip(*batch))``."""
        name = self._kinds.code.names.qualified(function) or ""
        last = name.rpartition(".")[2]
        return tensor(why=f"the result of `{last}`") if torch_api.FUNCTIONS.get(name) == "tensor" else UNKNOWN

    # --- methods -----------------------------------------------------------------------------------------------------

    def _method(self, call: ast.Call, function: ast.Attribute) -> Kind:
        if (found := self._parameters(call, function)).known:
            return found
        if _is_super_call(function.value):
            return self._super(call, function)
        if function.attr == "__getattr__" and len(call.args) == 1:
            return self._looked_up(function.value, call.args[0])
        base = self._kinds.kind(function.value)
        if isinstance(base.definition, ast.ClassDef) and base.type in (Type.MODULE, Type.INSTANCE):
            if (found := inherited(base.definition, function.attr, self._kinds)).known:
                return found
        if base.elsewhere is not None and base.type in (Type.MODULE, Type.UNKNOWN) and function.attr not in _SAME_MODULE:
            if (found := member_of(base.elsewhere, f"{function.attr}()", self._kinds)).known and function.attr != "forward":
                return self._there(call, found)
        match base.type:
            case Type.TENSOR:
                return self._tensor_method(call, function, base)
            case Type.MODULE:
                return self._module_method(call, function, base)
            case Type.MAPPING:
                return _mapping_method(function.attr, base)
            case Type.SEQUENCE if function.attr in ("pop", "popleft", "next", "__next__"):
                return base.element or UNKNOWN
            case Type.STRING:
                return STRING
            case Type.INSTANCE | Type.LOADER | Type.OPTIMIZER if isinstance(base.definition, ast.ClassDef):
                return UNKNOWN
        if function.attr == "item" and not call.args:
            return NUMBER
        if base.type is Type.UNKNOWN and function.attr in torch_api.TENSOR_ONLY:
            called = tensor(why=f"its `{function.attr}` is called", basis=Basis.CALLED, used=function.attr)
            return self._tensor_method(call, function, called)
        if function.attr == "numpy" and not call.args:
            return ARRAY
        return UNKNOWN

    def _looked_up(self, owner: ast.expr, name: ast.expr) -> Kind:
        """``getattr(module, name)`` with the names of parameters or buffers that a loop goes through."""
        bindings = self._kinds.code.bindings.reaching(name) if isinstance(name, ast.Name) else ()
        match [binding.value for binding in bindings if binding.path == (0,) and binding.form is Form.LOOP]:
            case [ast.Call(func=ast.Attribute(attr="named_parameters" | "named_buffers" as method))] if len(bindings) == 1:
                if self._kinds.kind(owner).type is Type.MODULE:
                    grad = Grad.LEAF if method == "named_parameters" else Grad.NONE
                    return tensor(grad, why=f"one of the `{method}` of a module")
        return UNKNOWN

    def _parameters(self, call: ast.Call, function: ast.Attribute) -> Kind:
        """``.parameters()`` and its like give parameters, whatever unknown thing they are called on."""
        base = self._kinds.kind(function.value)
        if (
            isinstance(base.definition, ast.ClassDef)
            and self._kinds.code.definitions.method(base.definition, function.attr) is not None
        ):
            return UNKNOWN
        if base.type not in (Type.MODULE, Type.UNKNOWN, Type.INSTANCE, Type.OPTIMIZER) and not _is_super_call(function.value):
            return UNKNOWN
        if base.type is not Type.MODULE and self._kinds.own_autograd.are_used:
            return UNKNOWN
        parameter = tensor(Grad.LEAF, why="a parameter of a module")
        match function.attr:
            case "parameters" if not call.args or base.type is Type.MODULE:
                return sequence(parameter)
            case "named_parameters":
                return sequence(sequence(items=(STRING, parameter)))
            case "buffers":
                return sequence(tensor(Grad.NONE, why="a buffer of a module"))
            case "named_buffers":
                return sequence(sequence(items=(STRING, tensor(Grad.NONE, why="a buffer of a module"))))
            case "modules" | "children" if not call.args:
                return sequence(Kind(Type.MODULE, why="a submodule"))
            case "named_modules" | "named_children" if not call.args:
                return sequence(sequence(items=(STRING, Kind(Type.MODULE, why="a submodule"))))
            case "state_dict" if base.type is Type.MODULE:
                return mapping(tensor(Grad.NONE, why="an entry of a state dict"))
        return UNKNOWN

    def _super(self, call: ast.Call, function: ast.Attribute) -> Kind:
        """A method of the base class: if the file has it, what that returns; else what a module's method returns."""
        owner = self._kinds.code.tree.enclosing_class(call)
        if owner is None:
            return UNKNOWN
        for base in list(self._kinds.code.definitions.bases(owner))[1:]:
            method = self._kinds.code.definitions.classes[base].methods.get(function.attr)
            if method is not None:
                return self._there(call, self._kinds.returned(method))
        if self._kinds.code.definitions.is_module(owner) and function.attr in _SAME_MODULE:
            return Kind(Type.MODULE, name=owner.name, definition=owner)
        return UNKNOWN

    def _tensor_method(self, call: ast.Call, function: ast.Attribute, base: Kind) -> Kind:
        method = function.attr
        if method in ("detach", "detach_"):
            return tensor(Grad.NONE, base.scalar, why="detached")
        if method in ("requires_grad_", "retain_grad"):
            return self._results.flagged(call, base)
        if method == "numpy":
            return ARRAY
        if method == "tolist":
            return sequence(NUMBER)
        if method == "size":
            return NUMBER if call.args or call.keywords else sequence(NUMBER)
        if method in _NUMBER_METHODS:
            return NUMBER
        if method in torch_api.FACTORY_METHODS or method == "new":
            return tensor(Grad.LEAF if is_on(call, "requires_grad") else Grad.NONE, why=f"made by `{method}`")
        if method in ("to", "type") and not call.args and not call.keywords:
            return STRING
        if method in torch_api.INPLACE_METHODS:
            grad = result_grad([base.grad if base.grad is not Grad.LEAF else Grad.LEAF, *self._operand_grads(call)])
            return replace(base, grad=base.grad if base.grad is Grad.LEAF else self._results.here(call, grad))
        if method in _CASTING_METHODS or method in ("cuda", "cpu", "float", "double", "half", "bfloat16"):
            return tensor(self._moved(base.grad), base.scalar, loose=base.loose).because(base)
        result = torch_api.TENSOR_METHODS.get(method)
        if result is None:
            return UNKNOWN
        flat = method in torch_api.NONDIFFERENTIABLE_METHODS
        kind = self._results.tabled(call, result, method, flat, method in torch_api.SCALAR_REDUCTIONS_METHODS, 0)
        if method in _OF_FORM:
            kind = replace(kind, grad=self._results.here(call, result_grad([base.grad])))
        if (
            kind.is_tensor
            and base.scalar
            and method in KEEPS_SCALAR
            and not any(self._kinds.kind(part).scalar is False for part in call.args)
        ):
            kind = replace(kind, scalar=True)
        return kind.because(base) if kind.grad is Grad.GRAPH and base.why else kind

    def _operand_grads(self, call: ast.Call) -> list[Grad]:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_FORM:
            return []
        kinds = [self._kinds.kind(argument) for argument in call.args]
        return [kind.grad for kind in kinds if kind.is_tensor]

    @staticmethod
    def _moved(grad: Grad) -> Grad:
        """A moved or cast leaf may be a copy, which an operation produced, or the leaf itself."""
        return Grad.GRAPH if grad is Grad.LEAF else grad

    def _module_method(self, call: ast.Call, function: ast.Attribute, base: Kind) -> Kind:
        definition = base.definition
        if isinstance(definition, ast.ClassDef):
            method = self._kinds.code.definitions.method(definition, function.attr)
            if method is not None:
                if function.attr == "forward":
                    return self._forward(call, base)
                return self._there(call, self._kinds.returned(method))
        if function.attr == "eval" and (call.args or call.keywords):
            return UNKNOWN  # a module's own takes none: of an evaluator, which gives scores
        if function.attr in _SAME_MODULE:
            return base
        if function.attr == "forward":
            return self._forward(call, base)
        return UNKNOWN

    # --- calling values ----------------------------------------------------------------------------------------------

    def _called(self, call: ast.Call, kind: Kind) -> Kind:
        match kind.type:
            case Type.MODULE:
                return self._forward(call, kind)
            case Type.CLASS if isinstance(kind.definition, ast.ClassDef):
                return instance(kind.definition, self._kinds.code)
            case Type.CLASS if kind.elsewhere is not None:
                return instance_of(kind.elsewhere)
            case Type.CLASS:
                return self._results.of_torch(call, kind.name)
            case Type.UNKNOWN if (function := self._kinds.elsewhere.function(call.func)) is not None:
                return self._there(call, given_by(function, call, self._kinds))
            case Type.UNKNOWN if isinstance(made := self._kinds.elsewhere.target(call.func), ClassElsewhere):
                return Kind(elsewhere=made)  # of a class that makes no modules
            case Type.FUNCTION if isinstance(kind.definition, FUNCTIONS):
                if kind.definition.decorator_list and any(
                    "contextmanager" in ast.dump(part) for part in kind.definition.decorator_list
                ):
                    return UNKNOWN
                return self._there(call, self._kinds.returned(kind.definition))
            case Type.FUNCTION if kind.name.startswith("torch."):
                return replace(self._results.of_torch(call, kind.name), scalar=None)  # by another name, or a partial
            case Type.FUNCTION if isinstance(kind.definition, ast.Lambda):
                return self._kinds.kind(kind.definition.body)
            case Type.INSTANCE if isinstance(kind.definition, ast.ClassDef):
                method = self._kinds.code.definitions.method(kind.definition, "__call__")
                return self._there(call, self._kinds.returned(method)) if method is not None else UNKNOWN
        return UNKNOWN

    def _forward(self, call: ast.Call, module: Kind) -> Kind:
        """What calling a module gives: what its ``forward`` in the file returns, else a tensor or a nest of tensors."""
        if module.name in LOSS_MODULES:
            grads = [self._kinds.kind(argument).grad for argument in call.args[:1] if self._kinds.kind(argument).is_tensor]
            grad = result_grad(grads) if grads else Grad.UNKNOWN
            return tensor(self._results.here(call, grad), module.scalar, why=f"the result of a `{module.name}`")
        if not call.args and not isinstance(module.definition, ast.ClassDef) and not _gives_inputs(call):
            if any(self._kinds.kind(word.value).is_tensor for word in call.keywords):
                return tensor(self._results.here(call, Grad.UNKNOWN), loose=True, why="a module's output")
            return UNKNOWN  # rather a class that is taken for a module, called to make one
        if module.basis is Basis.ELSEWHERE:
            given = output_of(module.elsewhere, self._kinds.elsewhere) if module.elsewhere is not None else UNKNOWN
            if given.is_tensor and given.grad is Grad.UNKNOWN and self._cuts(call, module):
                return replace(given, grad=Grad.NONE)
            return self._recorded(call, given, UNKNOWN)
        why = (
            f"the output of `{ast.unparse(call.func)}`"
            if isinstance(call.func, (ast.Name, ast.Attribute))
            else "a module's output"
        )
        output = tensor(self._results.here(call, Grad.GRAPH), loose=True, why=why)
        if isinstance(module.definition, ast.ClassDef):
            method = self._kinds.code.definitions.method(module.definition, "forward")
            if method is not None:
                return self._recorded(call, self._kinds.returned(method), output)
            return output
        if is_without_parameters(module.name):
            output = replace(output, grad=self._results.here(call, self._results.arguments_grad(call)))
        if module.name in torch_api.TUPLE_MODULES:
            return sequence(items=(replace(output, loose=False), output))
        if (
            module.name.startswith("torch.nn.")
            and module.name not in torch_api.CONTAINER_MODULES
            and "Parallel" not in module.name
        ):
            return replace(output, loose=False)
        return output

    def _there(self, call: ast.Call, given: Kind) -> Kind:
        """What a function gives where it is called: without a graph, where autograd is off there."""
        if given.is_tensor:
            return replace(given, grad=self._results.here(call, given.grad))
        if given.items is not None:
            return sequence(items=tuple(self._there(call, item) for item in given.items))
        if given.element is None and not given.entries:
            return given
        element = self._there(call, given.element) if given.element is not None else None
        return replace(given, element=element, entries=tuple((key, self._there(call, each)) for key, each in given.entries))

    def _cuts(self, call: ast.Call, module: Kind) -> bool:
        """Whether another file's module takes no graph of the first thing that it is given, and nothing else has one."""
        if module.elsewhere is None or not call.args or call.keywords:
            return False
        if any(self._kinds.kind(each).grad in (Grad.GRAPH, Grad.LEAF) for each in call.args[1:]):
            return False
        return takes_no_graph(module.elsewhere, self._kinds.elsewhere)

    def _recorded(self, call: ast.Call, returned: Kind, output: Kind) -> Kind:
        """A forward method's result, taken to carry graph where nothing else is known of its grad status."""
        if returned.is_tensor:
            grad = Grad.GRAPH if returned.grad is Grad.UNKNOWN else returned.grad
            return replace(returned, grad=self._results.here(call, grad)).because(output)
        if returned.items is not None:
            return sequence(
                items=tuple(self._recorded(call, item, output) if item.is_tensor else item for item in returned.items)
            )
        return returned if returned.known and returned.type is not Type.NONE else output


def _gives_inputs(call: ast.Call) -> bool:
    """Whether the keywords of a call look like a model's inputs."""
    return any(word.arg is None or word.arg in _INPUTS for word in call.keywords)


def is_without_parameters(name: str) -> bool:
    """Whether a module class of torch computes from its inputs alone, such as ``nn.LogSoftmax``."""
    known = name in torch_api.MODULES - torch_api.CONTAINER_MODULES - {"torch.nn.Module"} and "Parallel" not in name
    return known and not torch_api.PARAMETER_ATTRIBUTES.get(name) and not torch_api.SUBMODULES.get(name)


def _mapping_method(method: str, base: Kind) -> Kind:
    element = base.element or UNKNOWN
    match method:
        case "values":
            return sequence(element)
        case "items":
            return sequence(sequence(items=(UNKNOWN, element)))
        case "get" | "pop" | "setdefault":
            return element
        case "copy":
            return base
    return UNKNOWN


def _is_super_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
