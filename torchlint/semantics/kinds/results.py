"""The kinds that functions and classes of torch and other libraries give, by the tables."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import argument, given_to, keyword, last_name
from torchlint.semantics.kinds.annotations import annotated_kind
from torchlint.semantics.kinds.kind import (
    ARRAY,
    NONE,
    NUMBER,
    STRING,
    UNKNOWN,
    Basis,
    Grad,
    Kind,
    Type,
    element_of,
    join,
    mapping,
    result_grad,
    sequence,
    tensor,
)
from torchlint.semantics.kinds.questions import Kinds

LEGACY_LOSS_FUNCTIONS = frozenset({"torch.nn.functional.binary_cross_entropy_with_logits", "torch.nn.functional.nll_loss2d"})
LEGACY_LOSS_MODULES = frozenset({"torch.nn.NLLLoss2d", "torch.nn.BCELoss2d"})
GRAD_SCALERS = frozenset(
    {"torch.amp.GradScaler", "torch.cuda.amp.GradScaler", "torch.cpu.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler"}
)
_UNWEIGHTED = frozenset(
    {
        *("L1Loss", "MSELoss", "SmoothL1Loss", "KLDivLoss", "MultiLabelMarginLoss", "SoftMarginLoss"),
        *("l1_loss", "mse_loss", "smooth_l1_loss", "kl_div", "multilabel_margin_loss", "soft_margin_loss"),
    }
)
"""Losses with nothing in front of ``size_average`` and ``reduce``: these are given by position, too."""
LOSS_FUNCTIONS = torch_api.LOSS_FUNCTIONS | LEGACY_LOSS_FUNCTIONS
LOSS_MODULES = torch_api.LOSS_MODULES | LEGACY_LOSS_MODULES

_WRAPPERS = frozenset({"torch.compile", "torch.jit.script", "torch.jit.trace", "torch.nn.DataParallel"})
KEEPS_SCALAR = frozenset(
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
"""Functions and methods that work value by value: what has no dimensions has none afterwards."""

WARM_UPS = frozenset(
    f"get_{kind}_schedule_with_warmup"
    for kind in ("linear", "cosine", "constant", "polynomial_decay", "cosine_with_hard_restarts")
)
"""Functions of transformers that make a `LambdaLR`."""
_LAMBDA = "torch.optim.lr_scheduler.LambdaLR"

_GROWING = frozenset({"append", "extend", "insert", "appendleft"})


class Results:
    """Infers what calling an API gives."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def called(self, call: ast.Call, name: str) -> Kind:
        """What calling the API of that dotted name gives."""
        if name.startswith("torch."):
            return self.of_torch(call, name)
        if name in ("random.sample", "random.choices", "random.shuffle"):
            return sequence(element_at(self._kinds, call.args[0])) if call.args and name != "random.shuffle" else NONE
        if name == "random.choice":
            return element_at(self._kinds, call.args[0]) if call.args else UNKNOWN
        if name.startswith(("numpy.", "math.", "random.", "time.")):
            return ARRAY if name.startswith("numpy.") else NUMBER
        if name == "itertools.chain":
            return sequence(join([element_at(self._kinds, argument) for argument in call.args]))
        if name == "typing.cast" and len(call.args) == 2:
            return annotated_kind(call.args[0], self._kinds.code)
        if name == "functools.partial" and call.args:
            return self._kinds.kind(call.args[0])
        if name == "copy.deepcopy" or name == "copy.copy":
            return self._kinds.kind(call.args[0]) if call.args else UNKNOWN
        if name in ("collections.deque", "collections.OrderedDict", "collections.defaultdict", "collections.Counter"):
            return self._collection(call, name)
        if name.startswith("torchvision.models."):
            return Kind(Type.MODULE, name=name, why=f"`{name}` makes a module")
        if name.startswith("transformers.") and name.rpartition(".")[2] in WARM_UPS:
            return Kind(Type.SCHEDULER, name=_LAMBDA, why=f"made by `{name}`")
        if name.endswith(".from_pretrained"):
            return Kind(Type.MODULE, name=name) if "Model" in name else UNKNOWN
        if name.startswith("torchvision.datasets.") or name in ("argparse.Namespace",):
            return Kind(Type.INSTANCE, name=name, why=f"made by `{name}`")
        return UNKNOWN

    def _collection(self, call: ast.Call, name: str) -> Kind:
        if name == "collections.deque":
            return sequence(element_at(self._kinds, call.args[0]) if call.args else UNKNOWN)
        if name == "collections.defaultdict" and call.args and isinstance(call.args[0], ast.Name):
            factory = call.args[0].id
            return mapping(sequence() if factory == "list" else NUMBER if factory in ("int", "float") else UNKNOWN)
        return mapping()

    def of_torch(self, call: ast.Call, name: str) -> Kind:
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
            grad = Grad.NONE if _is_off(call, "requires_grad") else Grad.LEAF
            return tensor(grad, why="made by `nn.Parameter`", basis=Basis.PARAMETER)
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
        if name == "torch.autograd.grad" and len(call.args) < 5 and not _may_be_on(call, "create_graph"):
            return sequence(tensor(Grad.NONE, why="a gradient without a graph of its own"))
        return self._function(call, name)

    def _variable(self, call: ast.Call) -> Kind:
        flag = call.args[1] if len(call.args) > 1 else keyword(call, "requires_grad")
        is_open = any(word.arg is None for word in call.keywords) or any(isinstance(each, ast.Starred) for each in call.args)
        if is_open or (flag is not None and not isinstance(flag, ast.Constant)):
            return tensor(why="made by `Variable`")
        if flag is not None and flag.value:
            return tensor(Grad.LEAF, why="made by `Variable(…, requires_grad=True)`")
        scalar = self._kinds.kind(call.args[0]).scalar if call.args else None
        return tensor(Grad.NONE, scalar, why="made by `Variable`")

    @staticmethod
    def flagged(call: ast.Call, base: Kind) -> Kind:
        """What `requires_grad_` gives, which is the tensor: a leaf where it has no graph, unless it is told not to be."""
        match call.args or [word.value for word in call.keywords]:
            case [ast.Constant(value=False)] if base.grad in (Grad.NONE, Grad.LEAF):
                return tensor(Grad.NONE, base.scalar, why="set not to require grad")
        return tensor(Grad.LEAF if base.grad is Grad.NONE else base.grad, base.scalar).because(base)

    def _factory(self, call: ast.Call, name: str) -> Kind:
        if is_on(call, "requires_grad"):
            return tensor(Grad.LEAF, why=f"made by `{name}` with `requires_grad=True`")
        if name.startswith(("torch.cuda", "torch.is_", "torch.get_")) and not name.endswith("Tensor"):
            return UNKNOWN
        flag = keyword(call, "requires_grad")
        scalar = name == "torch.tensor" and bool(call.args) and self._is_number(call, call.args[0])
        grad = Grad.UNKNOWN if flag is not None and not _is_off(call, "requires_grad") else Grad.NONE
        if name in torch_api.PASSING_FACTORIES and call.args and self._kinds.kind(call.args[0]).is_tensor:
            return self._kinds.kind(call.args[0])
        return tensor(grad, True if scalar else None, why=f"made by `{name}`")

    def _is_number(self, call: ast.Call, data: ast.expr) -> bool:
        """Whether what a tensor is made of is a number, and was not made of the tensor itself, in a circle: what is asked first
        would decide what either is.
        """
        tree, bindings = self._kinds.code.tree, self._kinds.code.bindings
        statement = tree.parent(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else ()
        own = {bindings.of(target) for target in targets} - {None}
        for binding in bindings.reaching(data) if own and isinstance(data, ast.Name) else ():
            parts = (part for part in ast.walk(binding.value) if isinstance(part, ast.Name)) if binding.value else ()
            if any(not own.isdisjoint(bindings.reaching(part)) for part in parts):
                return False
        return self._kinds.kind(data).type is Type.NUMBER

    def _module(self, call: ast.Call, name: str) -> Kind:
        if name in _WRAPPERS or name.endswith("DataParallel"):
            wrapped = self._kinds.kind(call.args[0]) if call.args else UNKNOWN
            if wrapped.type in (Type.MODULE, Type.FUNCTION):
                return wrapped if wrapped.basis is not Basis.ELSEWHERE else replace(wrapped, basis=Basis.MADE)
            return Kind(Type.MODULE, why=f"wrapped by `{name}`")
        element = None
        if name in torch_api.CONTAINER_MODULES:
            element = join([element_at(self._kinds, argument) for argument in call.args]) if call.args else None
            if name == "torch.nn.ParameterList" or name == "torch.nn.ParameterDict":
                element = tensor(Grad.LEAF, why=f"a parameter of a `{name}`")
            elif element is not None and element.type is not Type.MODULE:
                element = None
            if name == "torch.nn.Sequential":
                element = None
        kind = Kind(Type.MODULE, name=name, element=element, why=f"made by `{name}`")
        return replace(kind, scalar=is_reduced(call)) if name in LOSS_MODULES else kind

    def _loss(self, call: ast.Call, name: str, construction: ast.Call) -> Kind:
        grads = [self._kinds.kind(argument).grad for argument in call.args[:1] if self._kinds.kind(argument).is_tensor]
        grad = result_grad(grads) if grads else Grad.UNKNOWN
        return tensor(self.here(call, grad), is_reduced(construction), why=f"the result of `{name}`")

    def _function(self, call: ast.Call, name: str) -> Kind:
        """A function of torch, by the tables: its result carries graph if an argument does."""
        result = torch_api.FUNCTIONS.get(name)
        if result is None and name.startswith("torch.nn.functional.") and name.rpartition(".")[2].islower():
            result = "tensor"  # also the functions that only older versions have
        if result is None:
            return UNKNOWN
        found = self.tabled(
            call, result, name, name in torch_api.NONDIFFERENTIABLE_FUNCTIONS, name in torch_api.SCALAR_REDUCTIONS_FUNCTIONS, 1
        )
        return replace(found, scalar=True) if found.is_tensor and self._keeps_scalar(call, name) else found

    def _keeps_scalar(self, call: ast.Call, name: str) -> bool:
        """Whether a function works value by value, and on what has no dimensions alone: ``torch.abs(loss - 1)``."""
        if name.rpartition(".")[2] not in KEEPS_SCALAR or not call.args or call.keywords:
            return False
        kinds = [self._kinds.kind(argument) for argument in call.args]
        return any(kind.scalar for kind in kinds) and all(kind.scalar or kind.type is Type.NUMBER for kind in kinds)

    def tabled(self, call: ast.Call, result: str, name: str, flat: bool, reduces: bool, operands: int) -> Kind:
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
        extra = call.args[operands:] or [
            word.value for word in call.keywords if word.arg in ("dim", "axis", "keepdim", "other")
        ]
        if not result.startswith(("tensor", "tuple", "list")):
            return UNKNOWN
        grad = Grad.NONE if flat else self.here(call, self.arguments_grad(call))
        unsure = any(word.arg is None for word in call.keywords) or any(isinstance(part, ast.Starred) for part in call.args)
        value = tensor(grad, True if reduces and not extra and not unsure else None, why=why)
        if name.rpartition(".")[2] == "where":
            return value if extra else sequence(tensor(Grad.NONE, why="indices"))
        last = name.rpartition(".")[2]
        if "pool" in last and result == "tensor|tuple":
            result, extra = "tuple" if self._returns_indices(call, last) else "tensor", extra[:0]
        if result == "tensor" or (result == "tensor|tuple" and not extra):
            return value
        if result == "list":
            return sequence(value)
        values = tensor(grad, why=why)
        indices = tensor(Grad.NONE, why="indices")
        if last in torch_api.VALUES_AND_INDICES:
            second = argument(call, operands, "other")
            if second is not None and (len(call.args) <= operands or self._kinds.kind(second).is_tensor):
                return values  # torch.max(a, b) is elementwise
            return sequence(items=(values, indices))
        return sequence(values)

    def arguments_grad(self, call: ast.Call) -> Grad:
        grads: list[Grad] = []
        operands: list[ast.expr] = given_to(call)
        if isinstance(call.func, ast.Attribute) and self._kinds.kind(call.func.value).is_tensor:
            operands.append(call.func.value)
        for operand in operands:
            kind = self._kinds.kind(operand)
            if kind.items is not None:
                grads.extend(item.grad for item in kind.items if item.is_tensor or not item.known)
                if self._grows(operand):
                    grads.append(Grad.UNKNOWN)
                continue
            if kind.type is Type.SEQUENCE and kind.element is not None and kind.element.is_tensor:
                kind = kind.element
            if kind.is_tensor:
                grads.append(kind.grad)
            elif not kind.known:
                grads.append(Grad.UNKNOWN)
        return result_grad(grads)

    def _returns_indices(self, call: ast.Call, pooling: str) -> bool:
        """Whether a pooling may give the places of the maxima as well."""
        flag = keyword(call, "return_indices")
        if flag is not None:
            return not (isinstance(flag, ast.Constant) and not flag.value)
        return len(call.args) > (2 if pooling.startswith("adaptive") else 4 if pooling.startswith("fractional") else 6)

    def _grows(self, operand: ast.expr) -> bool:
        """Whether more is put into a list that a name was given: ``outputs = []; outputs.append(output)``, or ``+=``."""
        code = self._kinds.code
        bindings = code.bindings.reaching(operand) if isinstance(operand, ast.Name) else ()
        if any(isinstance(code.tree.statement(binding.node), ast.AugAssign) for binding in bindings):
            return True
        parents = (code.tree.parent(use) for binding in bindings for use in binding.uses)
        return any(isinstance(parent, ast.Attribute) and parent.attr in _GROWING for parent in parents)

    def here(self, call: ast.Call, grad: Grad) -> Grad:
        """The grad status of a result that is computed where ``call`` stands."""
        return Grad.NONE if grad is not Grad.NONE and self._kinds.no_grad.covers(call) else grad


def element_at(kinds: Kinds, node: ast.expr) -> Kind:
    """What iterating over ``node`` gives, or over its parts where it is starred."""
    if isinstance(node, ast.Starred):
        return element_of(element_at(kinds, node.value))
    return element_of(kinds.kind(node))


def is_on(call: ast.Call, name: str) -> bool:
    """Whether a keyword argument is a plain ``True``."""
    value = keyword(call, name)
    return isinstance(value, ast.Constant) and value.value is True


def _is_off(call: ast.Call, name: str) -> bool:
    value = keyword(call, name)
    return isinstance(value, ast.Constant) and not value.value


def _may_be_on(call: ast.Call, name: str) -> bool:
    """Whether a keyword argument that is off by default is given anything but a plain false value."""
    is_given = any(word.arg in (name, None) for word in call.keywords)
    return is_given and not _is_off(call, name)


def is_reduced(construction: ast.Call) -> bool | None:
    """Whether a loss that is made or called like this has no dimensions; ``None`` where that is not written out."""
    if any(word.arg is None for word in construction.keywords):
        return None
    reduction = keyword(construction, "reduction")
    if reduction is not None:
        return reduction.value != "none" if isinstance(reduction, ast.Constant) else None
    name = last_name(construction.func)
    place = 3 if name.islower() else 1  # a function is given the tensors first
    reduce = argument(construction, place, "reduce") if name in _UNWEIGHTED else keyword(construction, "reduce")
    if reduce is not None:
        return bool(reduce.value) if isinstance(reduce, ast.Constant) else None
    return True
