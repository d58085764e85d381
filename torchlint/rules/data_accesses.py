"""Every ``.data`` of a tensor in a file, and what is done there: what the rules about ``.data`` share.

Each place has one role, so that one rule reports it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from weakref import WeakKeyDictionary

from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Form, Grad, Kind, Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.kind import tensor
from torchlint.semantics.autograd.backpropagation import Backpropagated

_RESHAPES_IN_PLACE = frozenset(
    {
        *("resize_", "resize_as_", "t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "as_strided_"),
        *("detach_", "requires_grad_", "rename_"),
    }
)
"""In-place methods that change how a tensor looks at its memory, or its flags, but no value in it; they return the tensor."""
_CHANGES_VALUES = torch_api.INPLACE_METHODS - _RESHAPES_IN_PLACE - {"set_", "share_memory_", "retain_grad"}
_VIEWS = torch_api.VIEW_METHODS | {"flatten", "_values"}
_CONVERSIONS = frozenset(
    {
        *("cpu", "cuda", "to", "type", "float", "double", "half", "long", "int", "byte", "bool"),
        *("clone", "squeeze", "contiguous"),
    }
)
_HOST_METHODS = frozenset({"numpy", "tolist"})

_TELLING_METHODS = frozenset(
    {
        *(
            "cpu",
            "cuda",
            "numpy",
            "clone",
            "float",
            "long",
            "view",
            "dim",
            "numel",
            "unsqueeze",
            "squeeze",
            "norm",
            "eq",
            "div",
            "mul",
        ),
        *("masked_fill", "data_ptr", "new", "item", "type_as", "expand_as", "narrow", "contiguous"),
    }
)
"""Methods that show ``x`` to be a tensor where they are called on ``x.data``: those of nothing else that is called data."""
_TELLING_ARGUMENTS = frozenset(
    {"type_as", "copy_", "eq", "expand_as", "view_as", "masked_fill_", "add_", "sub_", "mul_", "register_buffer"}
)
"""Methods that show ``x`` to be a tensor where ``x.data`` is their argument."""
_PROBES = frozenset(
    {"torch.is_tensor", "torch.sparse_coo_tensor", "torch.save", "torch.from_numpy", "torch.tensor", "torch.as_tensor"}
)
"""Functions of torch that also take what is no tensor."""

_CONTAINERS = re.compile(
    r"(data_?set|loader|train_?set|test_?set|val_?set|train_?data|test_?data|corpus|storage|batch|packed|response|request|node|elem"
    r"|^edges$|event|message|tree|field|vocab|buffer|memory|mnist|cifar|graph|store|frame|series|parser|args|config)",
    re.IGNORECASE,
)
"""Names of unknown values that are known for a ``data`` attribute of their own."""
_PARAMETERS = re.compile(r"(\w*_)?(params|parameters)")
_IMPORTING = re.compile(rb"[\w.]+[ \t]+import\b|[\w.]*[ \t]*\\")


def _may_read_data(data: bytes) -> bool:
    """Whether a file has a ``.data`` that is neither part of an import nor of ``torch.utils.data``."""
    position = data.find(b".data")
    while position >= 0:
        behind = data[position + 5 : position + 6]
        newline = max(data.rfind(b"\n", 0, position), data.rfind(b"\r", 0, position))
        line = data[newline + 1 : position].lstrip()
        if not (behind.isalnum() or behind == b"_" or line.endswith(b"torch.utils") or _is_import(line, data, position)):
            return True
        position = data.find(b".data", position + 5)
    return False


def _is_import(line: bytes, data: bytes, position: int) -> bool:
    """Whether ``line``, which goes on at ``position``, is an import and nothing else."""
    if b";" in line:
        return False
    return line.startswith(b"import ") or (line.startswith(b"from ") and _IMPORTING.match(data, position) is not None)


DATA_SCREEN = Screen(any_of=(b"data",), check=_may_read_data, names=frozenset({b".data"}))
"""What the rules about ``.data`` need of a file."""


class Role(Enum):
    """What is done with a tensor's ``.data``."""

    MUTATION = auto()
    REBIND = auto()
    SCALAR = auto()  # indexed though it has no dimensions
    HOST = auto()  # on the way to numpy or a list
    WRAPPED = auto()  # Variable(x.data)
    READ = auto()


class Means(Enum):
    """How a tensor is changed through its ``.data``."""

    METHOD = auto()  # w.data.zero_(), w.data[i].fill_(0)
    RESHAPED = auto()  # w.data.resize_(n).zero_()
    STORE = auto()  # w.data[i] = v, w.data[i] += v
    AUGMENTED = auto()  # w.data += v
    INITIALISER = auto()  # init.normal_(w.data)
    ARGUMENT = auto()  # torch.add(a, b, out=w.data), or a function of the file that changes what it is given
    ALIAS = auto()  # c = w.data; c.zero_()


@dataclass(frozen=True, eq=False, slots=True)
class Change:
    """The node that changes a tensor in place: a call, or the target of an assignment."""

    node: ast.expr
    means: Means


@dataclass(frozen=True, eq=False, slots=True)
class Access:
    """One ``.data`` of a tensor.

    ``receiver`` is the kind of the tensor. ``changes`` are those of a mutation: one, or through an alias each of them.
    """

    node: ast.Attribute
    receiver: Kind
    role: Role
    changes: tuple[Change, ...] = ()
    through_alias: bool = False

    @property
    def means(self) -> Means | None:
        """How the tensor is changed, if it is."""
        if self.through_alias:
            return Means.ALIAS
        return self.changes[0].means if self.changes else None


_found: WeakKeyDictionary[Semantics, dict[ast.Attribute, Access]] = WeakKeyDictionary()
_in_statement: WeakKeyDictionary[Semantics, dict[ast.AST, list[Access]]] = WeakKeyDictionary()


def accesses(semantics: Semantics) -> dict[ast.Attribute, Access]:
    """The ``.data`` accesses on tensors in a file, by their node, in the order of the text."""
    if semantics not in _found:
        _found[semantics] = _Classifier(semantics).run()
    return _found[semantics]


def accesses_in(semantics: Semantics, statement: ast.AST) -> list[Access]:
    """The accesses whose innermost statement is ``statement``."""
    if semantics not in _in_statement:
        found: dict[ast.AST, list[Access]] = {}
        for access in accesses(semantics).values():
            found.setdefault(semantics.tree.statement(access.node), []).append(access)
        _in_statement[semantics] = found
    return _in_statement[semantics].get(statement, [])


class _Classifier:
    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._evidence = _Evidence(semantics)

    def run(self) -> dict[ast.Attribute, Access]:
        found = {}
        for node in self._tree.nodes:
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "data"
                and node.end_lineno is not None
                and not self._is_api(node)
            ):
                access = self._classify(node)
                if access is not None:
                    found[node] = access
        return found

    def _is_api(self, node: ast.Attribute) -> bool:
        """Whether ``a.data`` names a module or class that was imported, such as ``torch.utils.data``."""
        name = self._semantics.qualified_name(node)
        return name is not None and not name.startswith("builtins.")

    def _classify(self, node: ast.Attribute) -> Access | None:
        receiver = self._semantics.kind(node.value)
        if (receiver.known and not receiver.is_tensor) or isinstance(node.ctx, ast.Del) or self._is_looked_up(node):
            return None
        role, change = self._use(node)
        if not receiver.known or receiver.loose:
            if self._evidence.is_probed(node):
                return None
            if not receiver.known:
                if not self._evidence.shows_tensor(node, role, change):
                    return None
                receiver = tensor(why="how its `.data` is used")
        if role is Role.READ and (changes := tuple(self._changes_through_alias(node, set()))):
            return Access(node, receiver, Role.MUTATION, changes, through_alias=True)
        return Access(node, receiver, role, (change,) if change else ())

    def _is_looked_up(self, node: ast.Attribute) -> bool:
        """Whether the code takes ``x.data["name"]``: the features of a graph, a message's payload."""
        match self._tree.parent(node):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())):
                return value is node
        return False

    # --- roles -------------------------------------------------------------------------------------------------------

    def _use(self, node: ast.Attribute) -> tuple[Role, Change | None]:
        parent = self._tree.parent(node)
        if isinstance(node.ctx, ast.Store):
            if isinstance(parent, ast.AugAssign) and not isinstance(parent.op, ast.MatMult):
                return Role.MUTATION, Change(node, Means.AUGMENTED)
            return Role.REBIND, None  # there is no in-place `@`: `x.data @= y` assigns a new tensor
        if isinstance(parent, ast.Call) and node in parent.args[:1]:
            if self._semantics.qualified_name(parent.func) == "torch.autograd.Variable":
                return Role.WRAPPED, None
        if scalar_index(self._semantics, node) is not None:
            return Role.SCALAR, None
        change = self._change(node)
        if change is not None:
            return Role.MUTATION, change
        if self._reaches_host(node):
            return Role.HOST, None
        return Role.READ, None

    def _reaches_host(self, node: ast.expr) -> bool:
        """Whether ``node`` is on the way to ``.numpy()`` or ``.tolist()``, through moves and casts only."""
        while (call := self._method_call(node)) is not None:
            method = _method(call)
            if method in _HOST_METHODS:
                return True
            if method not in _CONVERSIONS:
                return False
            node = call
        return False

    def _method_call(self, node: ast.expr) -> ast.Call | None:
        """The call of a method of ``node``."""
        parent = self._tree.parent(node)
        call = self._tree.parent(parent) if isinstance(parent, ast.Attribute) else None
        return call if isinstance(call, ast.Call) and call.func is parent else None

    # --- changes -----------------------------------------------------------------------------------------------------

    def _change(self, node: ast.expr) -> Change | None:
        """What changes values of ``node``, or of a view of it, if anything does."""
        view, reshaped = self._view(node)
        parent = self._tree.parent(view)
        match parent:
            case ast.Attribute(attr=method) if method in _CHANGES_VALUES and (call := self._method_call(view)) is not None:
                return Change(self._last_change(call), Means.RESHAPED if reshaped else Means.METHOD)
            case ast.Subscript(value=value, ctx=ast.Store()) if value is view:
                return Change(parent, Means.STORE)
            case ast.AugAssign(target=target) if target is view:
                return Change(view, Means.STORE)
            case ast.Call(args=[first, *_]) if first is view and self._is_initialiser(parent.func):
                return Change(parent, Means.INITIALISER)
            case ast.keyword(arg="out"):
                written = self._tree.parent(parent)
                return Change(written, Means.ARGUMENT) if isinstance(written, ast.Call) else None
            case ast.Call() if view is not parent.func and self._changes_argument(parent, view):
                return Change(parent, Means.ARGUMENT)
        return None

    def _view(self, node: ast.expr) -> tuple[ast.expr, bool]:
        """The last link of a chain of views and indices of ``node``, and whether the chain reshapes in place."""
        reshaped = False
        while True:
            parent = self._tree.parent(node)
            if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
                node = parent
            elif (call := self._method_call(node)) is not None and _method(call) in _VIEWS | _RESHAPES_IN_PLACE:
                reshaped = reshaped or _method(call) in _RESHAPES_IN_PLACE
                node = call
            else:
                return node, reshaped

    def _last_change(self, call: ast.Call) -> ast.Call:
        """The last of the in-place methods that are called one on the other: ``w.data.mul_(a).add_(b)``."""
        while (following := self._method_call(call)) is not None and _method(following) in _CHANGES_VALUES:
            call = following
        return call

    def _is_initialiser(self, function: ast.expr) -> bool:
        name = self._semantics.qualified_name(function) or ""
        return name.startswith("torch.nn.init.") and name != "torch.nn.init.calculate_gain"

    def _changes_argument(self, call: ast.Call, argument: ast.expr) -> bool:
        """Whether a call is of a function of the file that changes what it is given for ``argument`` in place."""
        function = self._semantics.facts.definition(call.func)
        if not isinstance(function, FUNCTIONS) or self._tree.inside(call, function):
            return False
        for parameter in [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]:
            if self._semantics.facts.argument(call, function, parameter) is argument:
                binding = self._semantics.bindings.of(parameter)
                return binding is not None and any(self._changes_of(binding, set()))
        return False

    # --- aliases -----------------------------------------------------------------------------------------------------

    def _changes_through_alias(self, node: ast.expr, seen: set[Binding]) -> Iterator[Change]:
        """What changes values of a local name that is bound to ``node`` or to a view of it."""
        view, _ = self._view(node)
        parent = self._tree.parent(view)
        while isinstance(parent, ast.IfExp) and view is not parent.test:
            view, parent = parent, self._tree.parent(parent)
        targets = parent.targets if isinstance(parent, ast.Assign) else []
        for target in [parent.target] if isinstance(parent, ast.NamedExpr) else targets:
            binding = self._semantics.bindings.of(target)
            if binding is not None:
                yield from self._changes_of(binding, seen)

    def _changes_of(self, binding: Binding, seen: set[Binding]) -> Iterator[Change]:
        """What changes values of the tensor that a name is bound to, through that name or another for it."""
        if binding in seen:
            return
        seen.add(binding)
        for use in binding.uses:
            if (change := self._change(use)) is not None:
                yield change
            yield from self._changes_through_alias(use, seen)
        for other in self._augmented.get(binding, ()):
            if isinstance(other.node, ast.expr):
                yield Change(other.node, Means.AUGMENTED)

    @cached_property
    def _augmented(self) -> dict[Binding, list[Binding]]:
        """For each binding, the augmented assignments to what it bound."""
        found: dict[Binding, list[Binding]] = defaultdict(list)
        for scope in self._semantics.bindings.scopes.values():
            for binding in (binding for bindings in scope.bindings.values() for binding in bindings):
                for previous in binding.before:
                    found[previous].append(binding)
        return found


class _Evidence:
    """Tells from what is done with ``x.data`` whether ``x``, of which nothing is known, is a tensor."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def is_probed(self, node: ast.Attribute) -> bool:
        """Whether the code asks whether ``x`` has a ``data``, or of what type it is: a tensor would need no asking."""
        if self._is_argument_of(node, "builtins.isinstance"):
            return True
        return bool(self._probed) and ast.dump(node.value) in self._probed

    @cached_property
    def _probed(self) -> set[str]:
        """What the code asks for a ``data``."""
        return {
            ast.dump(call.args[0])
            for call in self._semantics.facts.calls.get("hasattr", ())
            if len(call.args) == 2 and isinstance(call.args[1], ast.Constant) and call.args[1].value == "data"
        }

    def shows_tensor(self, node: ast.Attribute, role: Role, change: Change | None) -> bool:
        """Whether the use of ``node``, which is ``x.data``, shows ``x`` to be a tensor."""
        name = _last_name(node.value)
        if self._semantics.facts.self_class(node.value) is not None:
            return False
        parent = self._tree.parent(node)
        method = parent.attr if isinstance(parent, ast.Attribute) else ""
        if _CONTAINERS.search(name):
            return method in ("cpu", "cuda") and not name.startswith("packed") and self._is_called(parent)
        if role is Role.WRAPPED or _names_loss(node.value) or self._is_loop_over_parameters(node.value):
            return True
        if change is not None and change.means in (Means.METHOD, Means.RESHAPED, Means.INITIALISER):
            return True
        if self._semantics.of(Backpropagated).name(node.value) and (not method or method in torch_api.TENSOR_ATTRIBUTES):
            return not self._is_used_as_other(node.value)
        match parent:
            case ast.Attribute(attr="is_sparse" | "is_cuda"):
                return True
            case ast.Attribute():
                return (method in _TELLING_METHODS or method in torch_api.TENSOR_ONLY) and self._is_called(parent)
            case ast.Call(func=function) if node is not function:
                return self._takes_tensors(function)
            case ast.Subscript() if change is not None and change.means is Means.STORE:
                stored = getattr(self._tree.statement(node), "value", None)
                return isinstance(stored, ast.expr) and self._semantics.kind(stored).is_tensor
            case ast.BinOp(left=left, right=right):
                other = right if left is node else left
                return self._semantics.kind(other).is_tensor and not self._is_used_as_other(node.value)
            case ast.Assign(value=ast.Call(func=function)) if role is Role.REBIND:
                return (self._semantics.qualified_name(function) or "").startswith("torch.")
            case ast.Assign(targets=[ast.Attribute(value=target, attr="data")]):
                return self._semantics.kind(target).is_tensor  # only a tensor can be stored there
        return False

    def _is_used_as_other(self, node: ast.expr) -> bool:
        """Whether the code takes from ``node`` what no tensor has: ``opt.data`` beside ``opt.epochs``.

        So is a sparse matrix of scipy known, whose ``nonzero`` gives rows and columns.
        """
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        parents = (self._tree.parent(use) for binding in bindings for use in binding.uses)
        return any(
            isinstance(parent, ast.Attribute) and (parent.attr not in torch_api.TENSOR_ATTRIBUTES or self._is_unpacked(parent))
            for parent in parents
        )

    def _is_unpacked(self, attribute: ast.Attribute) -> bool:
        """Whether ``attribute`` is that of ``rows, columns = x.nonzero()``."""
        call = self._tree.parent(attribute)
        statement = (
            self._tree.parent(call) if isinstance(call, ast.Call) and call.func is attribute and not call.keywords else None
        )
        return attribute.attr == "nonzero" and isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple)

    def _is_called(self, method: ast.AST | None) -> bool:
        call = self._tree.parent(method) if method is not None else None
        return isinstance(call, ast.Call) and call.func is method

    def _is_argument_of(self, node: ast.expr, function: str) -> bool:
        call = self._tree.parent(node)
        return isinstance(call, ast.Call) and node in call.args and self._semantics.qualified_name(call.func) == function

    def _takes_tensors(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute) and function.attr in _TELLING_ARGUMENTS:
            return self._semantics.facts.self_class(function.value) is None
        name = self._semantics.qualified_name(function) or ""
        return name.startswith("torch.") and name not in _PROBES and not name.startswith(("torch.utils.", "torch.distributed."))

    def _is_loop_over_parameters(self, node: ast.expr) -> bool:
        """Whether ``node`` is the variable of a loop over something that is called ``params`` or the like."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(
            binding.form is Form.LOOP and binding.value is not None and _gives_parameters(binding.value, binding.path)
            for binding in bindings
        )


def _gives_parameters(iterable: ast.expr, path: tuple[int | None, ...]) -> bool:
    """Whether iterating gives parameters at ``path``, by the name of what is iterated over."""
    match iterable:
        case ast.Name() | ast.Attribute():
            return not path and _PARAMETERS.fullmatch(_last_name(iterable)) is not None
        case ast.Call(func=ast.Name(id="zip"), args=arguments):
            index = path[0] if path else None
            return index is not None and 0 <= index < len(arguments) and _gives_parameters(arguments[index], path[1:])
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            return path[:1] == (1,) and _gives_parameters(inner, path[1:])
        case ast.Call(func=ast.Name(id="list" | "tuple" | "reversed"), args=[inner]):
            return _gives_parameters(inner, path)
    return False


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _last_name(node: ast.expr) -> str:
    """The name by which a value is called where it is used: ``b`` of ``a.b``, ``a`` of ``a[0]`` and of ``a()``."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value) | ast.Call(func=value):
            return _last_name(value)
    return ""


# --- leaving `.data` out ---------------------------------------------------------------------------------------------

_ABOUT_THE_TENSOR = frozenset(
    {
        *(
            "shape",
            "size",
            "dim",
            "ndim",
            "ndimension",
            "numel",
            "nelement",
            "dtype",
            "device",
            "is_cuda",
            "is_sparse",
            "layout",
        ),
        *("get_device", "element_size", "data_ptr", "is_contiguous", "stride", "is_floating_point", "tolist", "item", "new"),
        *("new_zeros", "new_ones", "new_full", "new_empty", "new_tensor"),
    }
)
"""What reads the same from a tensor and from its ``.data`` and never takes part in the graph."""
_LIKE = frozenset(f"torch.{name}_like" for name in ("zeros", "ones", "full", "empty", "rand", "randn", "randint"))
_MAY_GIVE_THE_SAME = (
    torch_api.VIEW_METHODS
    | torch_api.MAYBE_VIEW_METHODS
    | torch_api.INPLACE_METHODS
    | {"cpu", "cuda", "to", "type", "float", "double", "half", "bfloat16", "long", "int", "short", "byte", "bool", "char"}
    | {"contiguous", "type_as", "coalesce", "pin_memory", "requires_grad_", "retain_grad", "register_hook", "backward"}
)
"""Methods that may return their tensor itself, or another look at it, or that are about its place in the graph."""


def reads_form(semantics: Semantics, node: ast.expr) -> bool:
    """Whether only the shape, type or device of ``node`` is read, or a number."""
    match semantics.tree.parent(node):
        case ast.Attribute(attr=attribute, ctx=ast.Load()):
            return attribute in _ABOUT_THE_TENSOR
        case ast.Call(func=ast.Attribute(attr="type_as" | "view_as" | "expand_as" | "reshape_as" | "resize_as_")):
            return True
        case ast.Call(func=function, args=[first, *_]) if first is node:
            return semantics.qualified_name(function) in _LIKE
    return False


def makes_new_value(semantics: Semantics, node: ast.expr) -> bool:
    """Whether ``node`` stands where only its values go into a result that is a new tensor, or none."""
    parent = semantics.tree.parent(node)
    match parent:
        case ast.BinOp() | ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert()):
            return True
        case ast.Compare(ops=operators):
            return not any(isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in operators)
        case ast.Attribute(attr=method):
            return method in torch_api.TENSOR_METHODS and method not in _MAY_GIVE_THE_SAME
        case ast.AugAssign(value=value):
            return value is node
        case ast.Call(func=ast.Attribute(value=base, attr=method), args=arguments) if semantics.kind(base).is_tensor:
            return node in arguments and method in torch_api.TENSOR_METHODS
        case ast.Call(func=function, args=arguments) if node in arguments:
            name = semantics.qualified_name(function) or ""
            return name in torch_api.FUNCTIONS and name.rpartition(".")[2] not in _MAY_GIVE_THE_SAME
    return False


# --- losses ----------------------------------------------------------------------------------------------------------

_LOSS = re.compile(r"(^|_)loss($|_)|^loss|loss$", re.IGNORECASE)
_SCALAR_CHAIN = frozenset({"cpu", "cuda", "numpy", "detach", "float", "double", "clone"})


def scalar_index(semantics: Semantics, node: ast.expr) -> tuple[ast.Subscript, ast.expr] | None:
    """The index of a 0-dim tensor that ``node`` is the base or a link of: the subscript, and the tensor.

    ``loss.data`` and ``loss`` give ``(loss.data.cpu()[0], loss)``.
    """
    current = node
    while True:
        parent = semantics.tree.parent(current)
        if isinstance(parent, ast.Subscript) and parent.value is current:
            break
        if isinstance(parent, ast.Attribute) and parent.attr == "data":
            current = parent
            continue
        call = semantics.tree.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr in _SCALAR_CHAIN else None
        if not (isinstance(call, ast.Call) and call.func is parent):
            return None
        current = call
    if not isinstance(parent.ctx, ast.Load) or not _is_first(parent.slice):
        return None
    value = scalar_base(parent.value)
    kind = semantics.kind(value)
    in_chain = value is not parent.value
    if kind.is_tensor and kind.scalar and not kind.loose and (in_chain or not _is_used_as_sequence(semantics, value)):
        return parent, value
    if (
        in_chain
        and _names_loss(value)
        and kind.type in (Type.UNKNOWN, Type.TENSOR)
        and kind.scalar is not False
        and kind.grad is not Grad.NONE
    ):
        return parent, value
    return None


def _is_used_as_sequence(semantics: Semantics, value: ast.expr) -> bool:
    """Whether the function around ``value`` asks for its type or length, or takes another item of it."""
    function = semantics.tree.function(value) or semantics.tree.module
    same = ast.dump(value)
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id="isinstance" | "len" | "type" | "zip" | "enumerate"), args=[first, *_]):
                if ast.dump(first) == same:
                    return True
            case ast.Subscript(value=base, slice=index) if not _is_first(index) and ast.dump(base) == same:
                return True
    return False


def scalar_base(node: ast.expr) -> ast.expr:
    """The value that a chain of ``.data``, moves and casts starts from: ``loss`` of ``loss.data.cpu()``."""
    while True:
        match node:
            case ast.Attribute(value=value, attr="data"):
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=[], keywords=[]) if method in _SCALAR_CHAIN:
                node = value
            case _:
                return node


def _is_first(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and index.value is not False


def _names_loss(node: ast.expr) -> bool:
    """Whether a value is called a loss: with ``.data[0]`` behind it, the idiom of 0-dim losses before torch 0.4."""
    if isinstance(node, ast.Call) and re.search(r"criterion$|(^|_)loss_f", _last_name(node.func), re.IGNORECASE):
        return True
    return (
        isinstance(node, (ast.Name, ast.Attribute))
        and re.search(r"(^|_)loss($|_)|^loss|loss$", _last_name(node), re.IGNORECASE) is not None
    )
