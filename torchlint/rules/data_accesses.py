"""Every ``.data`` of a tensor in a file, and what is done there: what the rules about ``.data`` share.

Each place has one role, so that one rule reports it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from weakref import WeakKeyDictionary

from torchlint.semantics import Binding, Form, Grad, Kind, Semantics, Type, torch_api
from torchlint.semantics.kinds import tensor

_KEEPS_VALUES = frozenset(
    {
        *("resize_", "resize_as_", "set_", "t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "as_strided_"),
        *("detach_", "requires_grad_", "share_memory_", "rename_", "retain_grad"),
    }
)
"""In-place methods that change how a tensor looks at its storage, or its flags, but no value in it."""

VALUE_MUTATING_METHODS = torch_api.INPLACE_METHODS - _KEEPS_VALUES
_VIEWS = torch_api.VIEW_METHODS | {"reshape", "contiguous", "flatten"}
_CONVERSIONS = frozenset({"cpu", "cuda", "float", "double", "half", "long", "int", "byte", "bool", "to", "type", "clone", "squeeze", "contiguous"})
_HOST_METHODS = frozenset({"numpy", "tolist"})
_TELLING_METHODS = frozenset(
    {
        *("cpu", "cuda", "numpy", "clone", "float", "long", "view", "dim", "numel", "unsqueeze", "squeeze", "norm", "eq", "div", "mul"),
        *("masked_fill", "data_ptr", "new", "item", "type_as", "expand_as", "narrow", "contiguous"),
    }
)
"""Methods that show ``x`` to be a tensor where they are called on ``x.data``: those of nothing else that is called data."""
_TELLING_ARGUMENTS = frozenset({"type_as", "copy_", "eq", "expand_as", "view_as", "masked_fill_", "add_", "sub_", "mul_", "register_buffer"})
"""Methods that show ``x`` to be a tensor where ``x.data`` is their argument."""
_PROBES = frozenset({"torch.is_tensor", "torch.sparse_coo_tensor", "torch.save", "torch.from_numpy", "torch.tensor", "torch.as_tensor"})
"""Functions of torch that also take what is no tensor."""

_CONTAINERS = re.compile(
    r"(data_?set|loader|train_?set|test_?set|val_?set|train_?data|test_?data|corpus|storage|batch|packed|response|request|node|elem"
    r"|event|message|tree|field|vocab|buffer|memory|mnist|cifar|graph|store|frame|series|parser|args|config)",
    re.IGNORECASE,
)
"""Names of unknown values that are known for a ``data`` attribute of their own."""


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
    STORE = auto()  # w.data[i] = v, w.data[i] += v, w.data += v
    INITIALISER = auto()  # init.normal_(w.data)
    ALIAS = auto()  # c = w.data; c.zero_()


@dataclass(frozen=True, eq=False, slots=True)
class Access:
    """One ``.data`` of a tensor.

    ``receiver`` is the kind of the tensor. For a mutation, ``change`` is the node that makes it: the call, the target or,
    through an alias, each use that changes it.
    """

    node: ast.Attribute
    receiver: Kind
    role: Role
    means: Means | None = None
    change: ast.expr | None = None
    changes: tuple[ast.expr, ...] = field(default=())


_found: WeakKeyDictionary[Semantics, dict[ast.Attribute, Access]] = WeakKeyDictionary()


def accesses(semantics: Semantics) -> dict[ast.Attribute, Access]:
    """The ``.data`` accesses on tensors in a file, by their node, in the order of the text."""
    if semantics not in _found:
        _found[semantics] = _Classifier(semantics).run()
    return _found[semantics]


class _Classifier:
    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def run(self) -> dict[ast.Attribute, Access]:
        found = {}
        for node in self._tree.nodes:
            if isinstance(node, ast.Attribute) and node.attr == "data" and not self._is_api(node):
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
        if receiver.known and not receiver.is_tensor:
            return None
        role, means, change = self._use(node)
        if not receiver.known:
            if not self._shows_tensor(node, role, means):
                return None
            receiver = tensor(why="how its `.data` is used")
        if role is Role.READ and (changes := tuple(self._changes_through_alias(node))):
            return Access(node, receiver, Role.MUTATION, Means.ALIAS, changes[0], changes)
        return Access(node, receiver, role, means, change)

    # --- roles -------------------------------------------------------------------------------------------------------

    def _use(self, node: ast.Attribute) -> tuple[Role, Means | None, ast.expr | None]:
        parent = self._tree.parent(node)
        if isinstance(node.ctx, ast.Store):
            if isinstance(parent, ast.AugAssign):
                return Role.MUTATION, Means.STORE, node
            return Role.REBIND, None, None
        if isinstance(parent, ast.Call) and node in parent.args[:1]:
            name = self._semantics.qualified_name(parent.func) or ""
            if name == "torch.autograd.Variable":
                return Role.WRAPPED, None, None
            if name.startswith("torch.nn.init."):
                return Role.MUTATION, Means.INITIALISER, parent
        if (out := self._out_argument(node)) is not None:
            return Role.MUTATION, Means.METHOD, out
        if scalar_index(self._semantics, node) is not None:
            return Role.SCALAR, None, None
        change = self._change(node)
        if change is not None:
            return Role.MUTATION, Means.STORE if isinstance(change, ast.Subscript) else Means.METHOD, change
        if self.host_call(node) is not None:
            return Role.HOST, None, None
        return Role.READ, None, None

    def _out_argument(self, node: ast.Attribute) -> ast.expr | None:
        """The call that writes to ``node``: ``torch.add(a, b, out=w.data)``."""
        parent = self._tree.parent(node)
        if isinstance(parent, ast.keyword) and parent.arg == "out":
            call = self._tree.parent(parent)
            return call if isinstance(call, ast.Call) else None
        return None

    def _change(self, node: ast.expr) -> ast.expr | None:
        """The call or the store, if any, that changes values of ``node`` or of a view of it."""
        while True:
            parent = self._tree.parent(node)
            match parent:
                case ast.Subscript(value=value, ctx=ctx) if value is node:
                    if isinstance(ctx, ast.Store):
                        return parent
                    node = parent
                case ast.Attribute(value=value, attr=method) if value is node:
                    call = self._tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return None
                    if method in VALUE_MUTATING_METHODS:
                        return call
                    if method not in _VIEWS:
                        return None
                    node = call
                case ast.AugAssign(target=target) if target is node:
                    return node
                case _:
                    return None

    def host_call(self, node: ast.Attribute) -> ast.Call | None:
        """The ``.numpy()`` or ``.tolist()`` call that ``node`` is on the way to, through moves and casts only."""
        current: ast.expr = node
        while True:
            parent = self._tree.parent(current)
            call = self._tree.parent(parent) if parent is not None else None
            if not (isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent):
                return None
            if parent.attr in _HOST_METHODS:
                return call
            if parent.attr not in _CONVERSIONS:
                return None
            current = call

    def _changes_through_alias(self, node: ast.Attribute) -> Iterator[ast.expr]:
        """The places at which a local name bound to ``node`` is changed in place."""
        parent = self._tree.parent(node)
        if not (isinstance(parent, ast.Assign) and parent.value is node):
            return
        for target in parent.targets:
            binding = self._semantics.bindings.of(target)
            if binding is None:
                continue
            for use in binding.uses:
                if self._only_from(use, binding) and (change := self._change(use)) is not None:
                    yield change
            yield from self._augmented(binding)

    def _only_from(self, use: ast.Name, binding: Binding) -> bool:
        return self._semantics.bindings.reaching(use) == (binding,)

    def _augmented(self, binding: Binding) -> Iterator[ast.expr]:
        """The augmented assignments to the name of ``binding`` that change its tensor in place."""
        for other in binding.scope.bindings.get(binding.name, ()):
            if other.form is Form.AUGMENTED and other.before == (binding,) and isinstance(other.node, ast.expr):
                yield other.node

    # --- evidence ----------------------------------------------------------------------------------------------------

    def _shows_tensor(self, node: ast.Attribute, role: Role, means: Means | None) -> bool:
        """Whether what is done with ``x.data`` shows an unknown ``x`` to be a tensor."""
        if _CONTAINERS.search(_last_name(node.value)) or self._semantics.facts.self_class(node.value) is not None:
            return False
        if means in (Means.METHOD, Means.INITIALISER) or role is Role.WRAPPED or _names_loss(node.value):
            return True
        parent = self._tree.parent(node)
        match parent:
            case ast.Attribute(attr=method):
                call = self._tree.parent(parent)
                telling = method in _TELLING_METHODS or method in torch_api.TENSOR_ONLY
                return telling and isinstance(call, ast.Call) and call.func is parent
            case ast.Call(func=function) if node is not function:
                return self._takes_tensors(function)
            case ast.Subscript(slice=ast.Tuple(elts=elements)):
                return any(isinstance(element, ast.Slice) for element in elements)
            case ast.Assign(value=value) if role is Role.REBIND:
                return (self._semantics.qualified_name(value.func) or "").startswith("torch.") if isinstance(value, ast.Call) else False
        return False

    def _takes_tensors(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Attribute) and function.attr in _TELLING_ARGUMENTS:
            return True
        name = self._semantics.qualified_name(function) or ""
        return name.startswith("torch.") and name not in _PROBES and not name.startswith(("torch.utils.", "torch.distributed."))


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
    if kind.is_tensor and kind.scalar and not kind.loose:
        return parent, value
    through_data = value is not parent.value and _names_loss(value)
    if through_data and kind.type in (Type.UNKNOWN, Type.TENSOR) and kind.scalar is not False and kind.grad is not Grad.NONE:
        return parent, value
    return None


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
    return isinstance(node, (ast.Name, ast.Attribute)) and re.search(r"(^|_)loss($|_)|^loss|loss$", _last_name(node), re.I) is not None
