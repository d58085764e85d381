"""Which values share their memory: what takes a view, or hands on the same memory."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, auto

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.kinds.kind import Type

_MOVES = frozenset({"cpu", "to", "type", "float", "double", "half", "bfloat16", "long", "int", "cuda", "type_as"})
_ARRAY_VIEWS = frozenset({"view", "transpose", "squeeze", "swapaxes", "diagonal"})
_ARRAY_MAYBE_VIEWS = frozenset({"reshape", "ravel"})
_FROM_ARRAY = frozenset(
    {"torch.from_numpy", "torch.as_tensor", "torch.asarray", "torch.from_dlpack", "torch.utils.dlpack.from_dlpack"}
)
_ELEMENT_TYPES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Bool")
_LEGACY_CONSTRUCTORS = frozenset({"torch.Tensor", *(f"torch.{name}Tensor" for name in _ELEMENT_TYPES)})


class Sharing(Enum):
    """When two values share their memory."""

    ALWAYS = auto()
    ON_CPU = auto()  # `.cpu()`: a copy of what is on another device
    PERHAPS = auto()  # `.float()`, `.contiguous()`: a copy only where one is needed


@dataclass(frozen=True, eq=False, slots=True)
class Link:
    """An expression that gives a value over the memory of another, its ``source``; ``name`` is what makes it, as written."""

    node: ast.expr
    source: ast.expr
    name: str
    sharing: Sharing


class Links:
    """Looks up what expressions of one file share their memory with."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links: dict[ast.expr, Link | None] = {}

    def link(self, node: ast.expr) -> Link | None:
        """How ``node`` shares the memory of one of its parts, if it does."""
        if node not in self._links:
            self._links[node] = self._link(node)
        return self._links[node]

    def chain(self, node: ast.expr) -> list[Link]:
        """The links from ``node`` down to what it starts from: of ``x.detach().numpy()`` those of ``numpy`` and ``detach``."""
        links: list[Link] = []
        while (link := self.link(node)) is not None:
            links.append(link)
            node = link.source
        return links

    def outermost(self, node: ast.expr, *, also_perhaps: bool = False) -> ast.expr:
        """The longest expression around ``node`` that still shares its memory, as far as that is certain on a CPU."""
        while (parent := self.around(node)) is not None:
            if parent.sharing is Sharing.PERHAPS and not also_perhaps:
                break
            node = parent.node
        return node

    def around(self, node: ast.expr) -> Link | None:
        """What is right around ``node`` and gives a value over its memory."""
        parent = self._semantics.tree.parent(node)
        if isinstance(parent, ast.Attribute):
            call = self._semantics.tree.parent(parent)
            parent = call if isinstance(call, ast.Call) and call.func is parent else parent
        if not isinstance(parent, (ast.Attribute, ast.Call, ast.Subscript)):
            return None
        link = self.link(parent)
        return link if link is not None and link.source is node else None

    def _link(self, node: ast.expr) -> Link | None:
        match node:
            case ast.Attribute(value=source, attr=name, ctx=ast.Load()) if name in torch_api.VIEW_PROPERTIES:
                if self._semantics.kind(source).is_tensor or (name == "T" and self.is_array(source)):
                    return Link(node, source, name, Sharing.ALWAYS)
            case ast.Subscript(value=source, slice=index, ctx=ast.Load()) if self._is_basic(index):
                if self.is_array(source) or (self._semantics.kind(source).is_tensor and not self._semantics.kind(source).loose):
                    return Link(node, source, "[...]", Sharing.ALWAYS)
            case ast.Call():
                return self._call(node)
        return None

    def _call(self, call: ast.Call) -> Link | None:
        name = self._semantics.qualified_name(call.func) or ""
        if name and not name.startswith("builtins."):
            return self._function(call, name)
        if not isinstance(call.func, ast.Attribute):
            return None
        source, method = call.func.value, call.func.attr
        of_tensor, of_array = _method_sharing(call, method), _array_sharing(method)
        if of_tensor is of_array is None:
            return None  # whatever it is a method of
        if self._semantics.kind(source).is_tensor:
            sharing = of_tensor
        else:
            sharing = of_array if self.is_array(source) else None
        return Link(call, source, method, sharing) if sharing is not None else None

    def _function(self, call: ast.Call, name: str) -> Link | None:
        if not call.args or isinstance(call.args[0], ast.Starred):
            return None
        source, last = call.args[0], name.rpartition(".")[2]
        sharing: Sharing | None = None
        if name in _FROM_ARRAY:
            converts = len(call.args) > 1 or any(word.arg in ("dtype", "copy", None) for word in call.keywords)
            moves = any(word.arg == "device" for word in call.keywords)
            sharing = Sharing.PERHAPS if converts else Sharing.ON_CPU if moves else Sharing.ALWAYS
            if name != "torch.from_numpy" and not (self.is_array(source) or self._semantics.kind(source).is_tensor):
                sharing = None  # a list, or what may be one
        elif name == "torch.autograd.Variable":
            sharing = Sharing.ALWAYS
        elif name == "numpy.asarray" and (self.is_array(source) or self._semantics.kind(source).is_tensor):
            sharing = Sharing.PERHAPS if len(call.args) > 1 or call.keywords else Sharing.ALWAYS
        elif name in _LEGACY_CONSTRUCTORS and len(call.args) == 1 and self.is_array(source):
            sharing = Sharing.PERHAPS
        elif name == f"torch.{last}" and last in torch_api.VIEW_METHODS and self._semantics.kind(source).is_tensor:
            sharing = Sharing.ALWAYS
        return Link(call, source, last, sharing) if sharing is not None else None

    def is_array(self, node: ast.expr) -> bool:
        """Whether a value is an array; what torch gives for ``numpy()`` is, whatever index is taken of it."""
        if self._semantics.kind(node).type is Type.ARRAY:
            return True
        return isinstance(node, ast.Subscript) and self.is_array(node.value) and self._is_basic(node.slice)

    def _is_basic(self, index: ast.expr) -> bool:
        """Whether an index surely takes a view: numbers, slices, loop counters; not what may be a mask or a list."""
        match index:
            case ast.Slice() | ast.Constant(value=int() | None) if not isinstance(getattr(index, "value", None), bool):
                return True
            case ast.Constant(value=value):
                return value is ...
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._is_basic(operand)
            case ast.Tuple(elts=parts):
                return all(self._is_basic(part) for part in parts)
            case ast.Compare() | ast.BoolOp():
                return False  # a mask, whatever is compared
        return self._semantics.kind(index).type is Type.NUMBER

    def bound_to(self, node: ast.expr) -> Binding | None:
        """The name that an assignment binds to the value of ``node``: ``c`` for the whole value of ``c = node``."""
        tree = self._semantics.tree
        parent = tree.parent(node)
        match parent:
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is node:
                return self._semantics.bindings.of(target)
            case ast.AnnAssign(target=ast.Name() as target, value=value) | ast.NamedExpr(target=target, value=value):
                return self._semantics.bindings.of(target) if value is node else None
        return None


def _method_sharing(call: ast.Call, method: str) -> Sharing | None:
    """Whether what a method of a tensor returns shares the memory of the tensor."""
    if method == "numpy":
        return Sharing.ON_CPU if any(word.arg == "force" for word in call.keywords) else Sharing.ALWAYS
    if method in torch_api.VIEW_METHODS or method in torch_api.INPLACE_METHODS or method in ("_values", "_indices"):
        return Sharing.ALWAYS
    if method == "cpu":
        return Sharing.ON_CPU
    if method == "to":
        match call:
            case (
                ast.Call(args=[ast.Constant(value="cpu")], keywords=[])
                | ast.Call(args=[], keywords=[ast.keyword(arg="device", value=ast.Constant(value="cpu"))])
            ):
                return Sharing.ON_CPU
    if method in torch_api.MAYBE_VIEW_METHODS or method in _MOVES:
        return Sharing.PERHAPS
    return None


def _array_sharing(method: str) -> Sharing | None:
    """Whether what a method of an array returns shares the memory of the array."""
    if method in _ARRAY_VIEWS:
        return Sharing.ALWAYS
    return Sharing.PERHAPS if method in _ARRAY_MAYBE_VIEWS else None


def is_assigned(binding: Binding) -> bool:
    """Whether a binding is a plain assignment of one value."""
    return binding.form is Form.ASSIGNMENT and not binding.path
