"""The kinds that calls evaluate to."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.annotations import annotated_kind
from torchlint.semantics.kinds.kind import (
    ARRAY,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Grad,
    Kind,
    Type,
    join,
    mapping,
    result_grad,
    sequence,
    tensor,
)

if TYPE_CHECKING:
    from torchlint.semantics.kinds.inference import Inference

LEGACY_LOSS_FUNCTIONS = frozenset({"torch.nn.functional.binary_cross_entropy_with_logits", "torch.nn.functional.nll_loss2d"})
LEGACY_LOSS_MODULES = frozenset({"torch.nn.NLLLoss2d", "torch.nn.BCELoss2d"})
GRAD_SCALERS = frozenset(
    {"torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler"}
)
LOSS_FUNCTIONS = torch_api.LOSS_FUNCTIONS | LEGACY_LOSS_FUNCTIONS
LOSS_MODULES = torch_api.LOSS_MODULES | LEGACY_LOSS_MODULES

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
_WRAPPERS = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace", "torch.nn.DataParallel"})
_CASTING_METHODS = frozenset({"to", "type"})
_KEEPS_SCALAR = frozenset(
    {
        "int",
        "long",
        "clone",
        "detach",
        "cpu",
        "cuda",
        "to",
        "float",
        "double",
        "half",
        "type",
        "neg",
        "abs",
        "exp",
        "log",
        "sqrt",
        "div",
        "mul",
        "add",
        "sub",
    }
)
_PROGRESS_BARS = frozenset({"tqdm", "tqdm_notebook"})
_ITERATORS = frozenset({"list", "tuple", "set", "reversed", "sorted", "iter", "frozenset"})
_NUMBERS = frozenset(
    {"float", "int", "len", "bool", "round", "id", "hash", "ord", "isinstance", "hasattr", "callable", "any", "all", "range"}
)
_STRINGS = frozenset({"str", "repr", "format", "input", "chr", "type"})
_INPUTS = frozenset({"input_ids", "inputs", "input", "x", "pixel_values", "labels", "attention_mask", "src", "tgt", "images"})


class Calls:
    """Infers what calls give."""

    def __init__(self, inference: Inference) -> None:
        self._inference = inference

    def result(self, call: ast.Call) -> Kind:
        """What ``call`` evaluates to."""
        name = self._inference.names.qualified(call.func)
        if name is not None and name.rpartition(".")[2] in _PROGRESS_BARS and call.args:
            return self._inference.kind(call.args[0])
        if name is not None:
            found = self._builtin(call, name) if name.startswith("builtins.") else self._api(call, name)
            if found.known:
                return found
        if isinstance(call.func, ast.Attribute):
            found = self._method(call, call.func)
            if found.known:
                return found
        if _is_super_call(call.func):
            return UNKNOWN
        return self._called(call, self._inference.kind(call.func))

    # --- torch and numpy ---------------------------------------------------------------------------------------------

    def _api(self, call: ast.Call, name: str) -> Kind:
        if name.startswith("torch."):
            return self._torch(call, name)
        if name in ("random.sample", "random.choices", "random.shuffle"):
            return sequence(self._element(call.args[0])) if call.args and name != "random.shuffle" else NONE
        if name == "random.choice":
            return self._element(call.args[0]) if call.args else UNKNOWN
        if name.startswith(("numpy.", "math.", "random.", "time.")):
            return ARRAY if name.startswith("numpy.") else NUMBER
        if name == "itertools.chain":
            return sequence(join([self._element(argument) for argument in call.args]))
        if name == "typing.cast" and len(call.args) == 2:
            return annotated_kind(call.args[0], self._inference)
        if name == "functools.partial" and call.args:
            return self._inference.kind(call.args[0])
        if name == "copy.deepcopy" or name == "copy.copy":
            return self._inference.kind(call.args[0]) if call.args else UNKNOWN
        if name in ("collections.deque", "collections.OrderedDict", "collections.defaultdict", "collections.Counter"):
            return self._collection(call, name)
        if name.startswith("torchvision.models."):
            return Kind(Type.MODULE, name=name, why=f"`{name}` makes a module")
        if name.endswith(".from_pretrained"):
            return Kind(Type.MODULE, name=name) if "Model" in name else UNKNOWN
        if name.startswith("torchvision.datasets.") or name in ("argparse.Namespace",):
            return Kind(Type.INSTANCE, name=name, why=f"made by `{name}`")
        return UNKNOWN

    def _collection(self, call: ast.Call, name: str) -> Kind:
        if name == "collections.deque":
            return sequence(self._element(call.args[0]) if call.args else UNKNOWN)
        if name == "collections.defaultdict" and call.args and isinstance(call.args[0], ast.Name):
            factory = call.args[0].id
            return mapping(sequence() if factory == "list" else NUMBER if factory in ("int", "float") else UNKNOWN)
        return mapping()

    def _torch(self, call: ast.Call, name: str) -> Kind:
        if name == "torch.autograd.Variable":
            return self._variable(call)
        if name in torch_api.MODULES or name in LEGACY_LOSS_MODULES or name == "torch.nn.DataParallel" or name in _WRAPPERS:
            return self._module(call, name)
        if name in torch_api.OPTIMIZERS:
            return Kind(Type.OPTIMIZER, name=name, why=f"made by `{name}`")
        if name in torch_api.SCHEDULERS:
            return Kind(Type.SCHEDULER, name=name, why=f"made by `{name}`")
        if name == "torch.utils.data.DataLoader":
            return Kind(Type.LOADER, name=name, why="made by `DataLoader`")
        if name in GRAD_SCALERS:
            return Kind(Type.INSTANCE, name=name, why=f"made by `{name}`")
        if name in ("torch.nn.Parameter", "torch.nn.UninitializedParameter"):
            return tensor(Grad.NONE if _is_off(call, "requires_grad") else Grad.LEAF, why="made by `nn.Parameter`")
        if name.startswith("torch.nn.utils.rnn.pack"):
            return Kind(Type.PACKED, why=f"made by `{name}`")
        if name == "torch.nn.utils.rnn.pad_packed_sequence":
            return sequence(items=(tensor(why="a padded sequence"), tensor(Grad.NONE)))
        if name in ("torch.load", "torch.utils.data.random_split"):
            return UNKNOWN
        if name in torch_api.FACTORIES or (name.startswith("torch.") and name.endswith("Tensor") and name.count(".") <= 2):
            return self._factory(call, name)
        if name in LOSS_FUNCTIONS:
            return self._loss(call, name, call)
        return self._function(call, name)

    def _variable(self, call: ast.Call) -> Kind:
        flag = call.args[1] if len(call.args) > 1 else _keyword(call, "requires_grad")
        if flag is not None and not isinstance(flag, ast.Constant):
            return tensor(why="made by `Variable`")
        if flag is not None and flag.value:
            return tensor(Grad.LEAF, why="made by `Variable(…, requires_grad=True)`")
        scalar = self._inference.kind(call.args[0]).scalar if call.args else None
        return tensor(Grad.NONE, scalar, why="made by `Variable`")

    def _factory(self, call: ast.Call, name: str) -> Kind:
        if _is_on(call, "requires_grad"):
            return tensor(Grad.LEAF, why=f"made by `{name}` with `requires_grad=True`")
        if name.startswith(("torch.cuda", "torch.is_", "torch.get_")) and not name.endswith("Tensor"):
            return UNKNOWN
        flag = _keyword(call, "requires_grad")
        scalar = name == "torch.tensor" and bool(call.args) and self._inference.kind(call.args[0]).type is Type.NUMBER
        grad = Grad.UNKNOWN if flag is not None and not _is_off(call, "requires_grad") else Grad.NONE
        if name in torch_api.PASSING_FACTORIES and call.args and self._inference.kind(call.args[0]).is_tensor:
            return self._inference.kind(call.args[0])
        return tensor(grad, True if scalar else None, why=f"made by `{name}`")

    def _module(self, call: ast.Call, name: str) -> Kind:
        if name in _WRAPPERS or name.endswith("DataParallel"):
            wrapped = self._inference.kind(call.args[0]) if call.args else UNKNOWN
            if wrapped.type in (Type.MODULE, Type.FUNCTION):
                return wrapped
            return Kind(Type.MODULE, why=f"wrapped by `{name}`")
        element = None
        if name in torch_api.CONTAINER_MODULES:
            element = join([self._element(argument) for argument in call.args]) if call.args else None
            if name == "torch.nn.ParameterList" or name == "torch.nn.ParameterDict":
                element = tensor(Grad.LEAF, why=f"a parameter of a `{name}`")
            elif element is not None and element.type is not Type.MODULE:
                element = None
            if name == "torch.nn.Sequential":
                element = None
        kind = Kind(Type.MODULE, name=name, element=element, why=f"made by `{name}`")
        return replace(kind, scalar=_is_reduced(call)) if name in LOSS_MODULES else kind

    def _loss(self, call: ast.Call, name: str, construction: ast.Call) -> Kind:
        grads = [self._inference.kind(argument).grad for argument in call.args[:1] if self._inference.kind(argument).is_tensor]
        grad = result_grad(grads) if grads else Grad.UNKNOWN
        return tensor(self._here(call, grad), _is_reduced(construction), why=f"the result of `{name}`")

    def _function(self, call: ast.Call, name: str) -> Kind:
        """A function of torch, by the tables: its result carries graph if an argument does."""
        result = torch_api.FUNCTIONS.get(name)
        if result is None and name.startswith("torch.nn.functional.") and name.rpartition(".")[2].islower():
            result = "tensor"  # also the functions that only older versions have
        if result is None:
            return UNKNOWN
        found = self._tabled(
            call, result, name, name in torch_api.NONDIFFERENTIABLE_FUNCTIONS, name in torch_api.SCALAR_REDUCTIONS_FUNCTIONS, 1
        )
        return replace(found, scalar=True) if found.is_tensor and self._keeps_scalar(call, name) else found

    def _keeps_scalar(self, call: ast.Call, name: str) -> bool:
        """Whether a function works value by value, and on what has no dimensions alone: ``torch.abs(loss - 1)``."""
        if name.rpartition(".")[2] not in _KEEPS_SCALAR or not call.args or call.keywords:
            return False
        kinds = [self._inference.kind(argument) for argument in call.args]
        return any(kind.scalar for kind in kinds) and all(kind.scalar or kind.type is Type.NUMBER for kind in kinds)

    def _tabled(self, call: ast.Call, result: str, name: str, flat: bool, reduces: bool, operands: int) -> Kind:
        """What a function or method that the tables describe gives; ``operands`` positional arguments are what it works on."""
        why = f"the result of `{name.rpartition('.')[2]}`"
        match result:
            case "number" | "bool" | "size":
                return NUMBER if result != "size" else sequence(NUMBER)
            case "none" | "None":
                return NONE
            case "string":
                return STRING
            case "array":
                return ARRAY
        extra = call.args[operands:] or [word.value for word in call.keywords if word.arg in ("dim", "axis", "keepdim")]
        if not result.startswith(("tensor", "tuple", "list")):
            return UNKNOWN
        grad = Grad.NONE if flat else self._here(call, self._arguments_grad(call))
        unsure = any(word.arg is None for word in call.keywords) or any(isinstance(part, ast.Starred) for part in call.args)
        value = tensor(grad, True if reduces and not extra and not unsure else None, why=why)
        if name.rpartition(".")[2] == "where":
            return value if extra else sequence(tensor(Grad.NONE, why="indices"))
        if result == "tensor" or (result == "tensor|tuple" and not extra):
            return value
        if result == "list":
            return sequence(value)
        values = tensor(grad, why=why)
        indices = tensor(Grad.NONE, why="indices")
        last = name.rpartition(".")[2]
        if last in ("max", "min", "median", "mode", "kthvalue", "topk", "sort", "cummax", "cummin", "nanmedian"):
            second = call.args[operands] if len(call.args) > operands else None
            if second is not None and self._inference.kind(second).is_tensor:
                return values  # torch.max(a, b) is elementwise
            return sequence(items=(values, indices))
        return sequence(values)

    def _arguments_grad(self, call: ast.Call) -> Grad:
        grads: list[Grad] = []
        operands: list[ast.expr] = [*call.args, *(word.value for word in call.keywords)]
        if isinstance(call.func, ast.Attribute) and self._inference.kind(call.func.value).is_tensor:
            operands.append(call.func.value)
        for operand in operands:
            kind = self._inference.kind(operand)
            if kind.items is not None:
                grads.extend(item.grad for item in kind.items if item.is_tensor or not item.known)
                continue
            if kind.type is Type.SEQUENCE and kind.element is not None and kind.element.is_tensor:
                kind = kind.element
            if kind.is_tensor:
                grads.append(kind.grad)
            elif not kind.known:
                grads.append(Grad.UNKNOWN)
        return result_grad(grads)

    def _here(self, call: ast.Call, grad: Grad) -> Grad:
        """The grad status of a result that is computed where ``call`` stands."""
        return Grad.NONE if grad is not Grad.NONE and self._inference.no_grad.covers(call) else grad

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
            kind = self._inference.kind(arguments[0]) if arguments else UNKNOWN
            return sequence(
                self._element(arguments[0]) if arguments else UNKNOWN, kind.items if name in ("list", "tuple") else None
            )
        if name == "enumerate" and arguments:
            return sequence(sequence(items=(NUMBER, self._element(arguments[0]))))
        if name == "zip":
            return sequence(sequence(items=tuple(self._element(argument) for argument in arguments)))
        if name in ("filter", "map") and len(arguments) == 2:
            return sequence(self._element(arguments[1])) if name == "filter" else sequence()
        if name == "sum" and arguments:
            element = self._element(arguments[0])
            return element if element.is_tensor or element.type is Type.NUMBER else UNKNOWN
        if name in ("max", "min", "abs", "next") and arguments:
            if name == "abs":
                return self._inference.kind(arguments[0])
            if len(arguments) == 1 or name == "next":
                return self._element(arguments[0])
            return join([self._inference.kind(argument) for argument in arguments])
        if name == "dict":
            return mapping()
        if (
            name == "getattr"
            and len(arguments) >= 2
            and isinstance(arguments[1], ast.Constant)
            and arguments[1].value in ("weight", "bias")
        ):
            return tensor(Grad.LEAF, why="the weight or bias of a layer")
        return UNKNOWN

    def _element(self, node: ast.expr) -> Kind:
        from torchlint.semantics.kinds.inference import element_of

        if isinstance(node, ast.Starred):
            inner = self._element(node.value)
            return element_of(inner)
        return element_of(self._inference.kind(node))

    # --- methods -----------------------------------------------------------------------------------------------------

    def _method(self, call: ast.Call, function: ast.Attribute) -> Kind:
        if (found := self._parameters(call, function)).known:
            return found
        if _is_super_call(function.value):
            return self._super(call, function)
        base = self._inference.kind(function.value)
        match base.type:
            case Type.TENSOR:
                return self._tensor_method(call, function, base)
            case Type.MODULE:
                return self._module_method(call, function, base)
            case Type.MAPPING:
                return _mapping_method(function.attr, base)
            case Type.SEQUENCE if function.attr in ("pop", "popleft"):
                return base.element or UNKNOWN
            case Type.STRING:
                return STRING
            case Type.INSTANCE | Type.LOADER | Type.OPTIMIZER if isinstance(base.definition, ast.ClassDef):
                return UNKNOWN
        if function.attr == "item" and not call.args:
            return NUMBER
        if base.type is Type.UNKNOWN and function.attr in torch_api.TENSOR_ONLY:
            return self._tensor_method(call, function, tensor(why=f"its `{function.attr}` is called"))
        if function.attr == "numpy" and not call.args:
            return ARRAY
        return UNKNOWN

    def _parameters(self, call: ast.Call, function: ast.Attribute) -> Kind:
        """``.parameters()`` and its like give parameters, whatever unknown thing they are called on."""
        base = self._inference.kind(function.value)
        if (
            isinstance(base.definition, ast.ClassDef)
            and self._inference.facts.method(base.definition, function.attr) is not None
        ):
            return UNKNOWN
        if base.type not in (Type.MODULE, Type.UNKNOWN, Type.INSTANCE, Type.OPTIMIZER) and not _is_super_call(function.value):
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
        owner = self._inference.tree.enclosing_class(call)
        if owner is None:
            return UNKNOWN
        for base in list(self._inference.facts.bases(owner))[1:]:
            method = self._inference.facts.classes[base].methods.get(function.attr)
            if method is not None:
                return self._inference.returned(method)
        if self._inference.facts.is_module(owner) and function.attr in _SAME_MODULE:
            return Kind(Type.MODULE, name=owner.name, definition=owner)
        return UNKNOWN

    def _tensor_method(self, call: ast.Call, function: ast.Attribute, base: Kind) -> Kind:
        method = function.attr
        if method in ("detach", "detach_"):
            return tensor(Grad.NONE, base.scalar, why="detached")
        if method in ("requires_grad_", "retain_grad"):
            return tensor(Grad.LEAF if base.grad is Grad.NONE else base.grad, base.scalar, why=base.why)
        if method == "numpy":
            return ARRAY
        if method == "tolist":
            return sequence(NUMBER)
        if method == "size":
            return NUMBER if call.args or call.keywords else sequence(NUMBER)
        if method in _NUMBER_METHODS:
            return NUMBER
        if method in torch_api.FACTORY_METHODS or method == "new":
            return tensor(Grad.LEAF if _is_on(call, "requires_grad") else Grad.NONE, why=f"made by `{method}`")
        if method in ("to", "type") and not call.args and not call.keywords:
            return STRING
        if method in torch_api.INPLACE_METHODS:
            grad = result_grad([base.grad if base.grad is not Grad.LEAF else Grad.LEAF, *self._operand_grads(call)])
            return replace(base, grad=base.grad if base.grad is Grad.LEAF else self._here(call, grad))
        if method in _CASTING_METHODS or method in ("cuda", "cpu", "float", "double", "half", "bfloat16"):
            return tensor(self._moved(base.grad), base.scalar, loose=base.loose, why=base.why)
        result = torch_api.TENSOR_METHODS.get(method)
        if result is None:
            return UNKNOWN
        flat = method in torch_api.NONDIFFERENTIABLE_METHODS
        kind = self._tabled(call, result, method, flat, method in torch_api.SCALAR_REDUCTIONS_METHODS, 0)
        if (
            kind.is_tensor
            and base.scalar
            and method in _KEEPS_SCALAR
            and not any(self._inference.kind(part).scalar is False for part in call.args)
        ):
            kind = replace(kind, scalar=True)
        return kind.because(base.why or kind.why) if kind.grad is Grad.GRAPH else kind

    def _operand_grads(self, call: ast.Call) -> list[Grad]:
        kinds = [self._inference.kind(argument) for argument in call.args]
        return [kind.grad for kind in kinds if kind.is_tensor]

    @staticmethod
    def _moved(grad: Grad) -> Grad:
        """A moved or cast leaf may be a copy, which an operation produced, or the leaf itself."""
        return Grad.GRAPH if grad is Grad.LEAF else grad

    def _module_method(self, call: ast.Call, function: ast.Attribute, base: Kind) -> Kind:
        definition = base.definition
        if isinstance(definition, ast.ClassDef):
            method = self._inference.facts.method(definition, function.attr)
            if method is not None:
                if function.attr == "forward":
                    return self._forward(call, base)
                return self._inference.returned(method)
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
                return self._inference.instance(kind.definition)
            case Type.CLASS:
                return self._torch(call, kind.name)
            case Type.FUNCTION if isinstance(kind.definition, FUNCTIONS):
                if kind.definition.decorator_list and any(
                    "contextmanager" in ast.dump(part) for part in kind.definition.decorator_list
                ):
                    return UNKNOWN
                found = self._inference.returned(kind.definition)
                return replace(found, grad=self._here(call, found.grad)) if found.is_tensor else found
            case Type.FUNCTION if kind.name.startswith("torch."):
                return replace(self._torch(call, kind.name), scalar=None)  # by another name, or a partial
            case Type.FUNCTION if isinstance(kind.definition, ast.Lambda):
                return self._inference.kind(kind.definition.body)
            case Type.INSTANCE if isinstance(kind.definition, ast.ClassDef):
                method = self._inference.facts.method(kind.definition, "__call__")
                return self._inference.returned(method) if method is not None else UNKNOWN
        return UNKNOWN

    def _forward(self, call: ast.Call, module: Kind) -> Kind:
        """What calling a module gives: what its ``forward`` in the file returns, else a tensor or a nest of tensors."""
        if module.name in LOSS_MODULES:
            grads = [
                self._inference.kind(argument).grad for argument in call.args[:1] if self._inference.kind(argument).is_tensor
            ]
            grad = result_grad(grads) if grads else Grad.UNKNOWN
            return tensor(self._here(call, grad), module.scalar, why=f"the result of a `{module.name}`")
        if not call.args and not isinstance(module.definition, ast.ClassDef) and not _gives_inputs(call):
            return UNKNOWN  # rather a class that is taken for a module, called to make one
        why = (
            f"the output of `{ast.unparse(call.func)}`"
            if isinstance(call.func, (ast.Name, ast.Attribute))
            else "a module's output"
        )
        output = tensor(self._here(call, Grad.GRAPH), loose=True, why=why)
        if isinstance(module.definition, ast.ClassDef):
            method = self._inference.facts.method(module.definition, "forward")
            if method is not None:
                return self._recorded(call, self._inference.returned(method), output)
            return output
        if _is_without_parameters(module.name):
            output = replace(output, grad=self._here(call, self._arguments_grad(call)))
        if module.name in torch_api.TUPLE_MODULES:
            return sequence(items=(replace(output, loose=False), output))
        if (
            module.name.startswith("torch.nn.")
            and module.name not in torch_api.CONTAINER_MODULES
            and "Parallel" not in module.name
        ):
            return replace(output, loose=False)
        return output

    def _recorded(self, call: ast.Call, returned: Kind, output: Kind) -> Kind:
        """A forward method's result, taken to carry graph where nothing else is known of its grad status."""
        if returned.is_tensor:
            grad = Grad.GRAPH if returned.grad is Grad.UNKNOWN else returned.grad
            return replace(returned, grad=self._here(call, grad), why=output.why)
        if returned.items is not None:
            return sequence(
                items=tuple(self._recorded(call, item, output) if item.is_tensor else item for item in returned.items)
            )
        return returned if returned.known and returned.type is not Type.NONE else output


def _gives_inputs(call: ast.Call) -> bool:
    """Whether the keywords of a call look like a model's inputs."""
    return any(word.arg is None or word.arg in _INPUTS for word in call.keywords)


def _is_without_parameters(name: str) -> bool:
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


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((word.value for word in call.keywords if word.arg == name), None)


def _is_on(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return isinstance(value, ast.Constant) and value.value is True


def _is_off(call: ast.Call, name: str) -> bool:
    value = _keyword(call, name)
    return isinstance(value, ast.Constant) and not value.value


def _is_reduced(construction: ast.Call) -> bool | None:
    """Whether a loss that is made or called like this has no dimensions; ``None`` where that is not written out."""
    if any(word.arg is None for word in construction.keywords):
        return None
    reduction = _keyword(construction, "reduction")
    if reduction is not None:
        return reduction.value != "none" if isinstance(reduction, ast.Constant) else None
    reduce = _keyword(construction, "reduce")
    if reduce is not None:
        return bool(reduce.value) if isinstance(reduce, ast.Constant) else None
    return True
