"""Which values share their memory, what changes them in place, and which of them are read afterwards."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from torchlint.semantics import torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.kinds.kind import Type

if TYPE_CHECKING:
    from torchlint.semantics import Semantics

_Node = TypeVar("_Node", bound=ast.AST)

RESHAPES_IN_PLACE = frozenset(
    {
        *("resize_", "resize_as_", "t_", "transpose_", "squeeze_", "unsqueeze_", "swapaxes_", "swapdims_", "as_strided_"),
        *("detach_", "requires_grad_", "rename_", "share_memory_"),
    }
)
"""In-place methods that change how a tensor looks at its memory, or its flags, but no value in it; they return the tensor."""
CHANGES_VALUES = torch_api.INPLACE_METHODS - RESHAPES_IN_PLACE - {"set_", "retain_grad"}
"""In-place methods of tensors that change values."""
_CHANGES_ARRAY = frozenset({"fill", "sort", "partition", "put", "itemset", "setfield", "byteswap"})
_CHANGING_FUNCTIONS = frozenset(
    {
        *("numpy.copyto", "numpy.put", "numpy.place", "numpy.putmask", "numpy.fill_diagonal", "numpy.random.shuffle"),
        *("random.shuffle", "numpy.add.at", "numpy.subtract.at", "numpy.multiply.at", "numpy.put_along_axis"),
    }
)
"""Functions that change their first argument in place."""
_MOVES = frozenset({"cpu", "to", "type", "float", "double", "half", "bfloat16", "long", "int", "cuda", "type_as"})
_ARRAY_VIEWS = frozenset({"view", "transpose", "squeeze", "swapaxes", "diagonal"})
_ARRAY_MAYBE_VIEWS = frozenset({"reshape", "ravel"})
_FROM_ARRAY = frozenset(
    {"torch.from_numpy", "torch.as_tensor", "torch.asarray", "torch.from_dlpack", "torch.utils.dlpack.from_dlpack"}
)
_ELEMENT_TYPES = ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Bool")


_ABOUT_THE_VALUE = frozenset(
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
            "layout",
            "requires_grad",
        ),
        *(
            "get_device",
            "element_size",
            "data_ptr",
            "is_contiguous",
            "stride",
            "is_floating_point",
            "grad",
            "requires_grad_",
            "type",
        ),
        *(
            "new",
            "new_zeros",
            "new_ones",
            "new_full",
            "new_empty",
            "new_tensor",
            "ctypes",
            "flags",
            "itemsize",
            "strides",
            "zero_",
        ),
    }
)
"""What is read or called of a tensor or array without its values."""


_MOST_NAMES = 100
"""So many names for the memory of one tensor are followed; code that has more is generated."""


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


@dataclass(frozen=True, eq=False, slots=True)
class Change:
    """A place where values are changed in place: ``node`` is the call or the target, ``through`` the value's expression."""

    node: ast.expr
    through: ast.expr


@dataclass(frozen=True, eq=False, slots=True)
class Place:
    """A variable or a chain of attributes on one, as it is read at one point of the code."""

    node: ast.expr
    spelling: str
    root: ast.Name


@dataclass(frozen=True, eq=False, slots=True)
class _Occurrences:
    """The reads of a place in the order of the text: all of them, those of its values, and what they change."""

    all: list[ast.expr]
    of_values: list[ast.expr]
    changes: list[Change]


class Aliases:
    """Answers questions about shared memory in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links: dict[ast.expr, Link | None] = {}
        self._rebound: dict[str, list[ast.AST]] = {}
        self._occurrences: dict[tuple[str, tuple[Binding, ...], ast.ClassDef | None], _Occurrences] = {}
        self._reads: dict[str, dict[object, list[int]]] = {}
        self._changes_through: dict[tuple[Binding, bool], list[Change]] = {}
        self._rebound_in: dict[tuple[str, ast.AST], tuple[ast.AST, ...]] = {}
        self._changes: dict[tuple[ast.expr, bool], Change | None] = {}

    # --- what an expression shares its memory with -------------------------------------------------------------------

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
        while (parent := self._linking_parent(node)) is not None:
            if parent.sharing is Sharing.PERHAPS and not also_perhaps:
                break
            node = parent.node
        return node

    def _linking_parent(self, node: ast.expr) -> Link | None:
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
                if self._semantics.kind(source).is_tensor or (name == "T" and self._is_array(source)):
                    return Link(node, source, name, Sharing.ALWAYS)
            case ast.Subscript(value=source, slice=index, ctx=ast.Load()) if self._is_basic(index):
                if self._is_array(source) or (
                    self._semantics.kind(source).is_tensor and not self._semantics.kind(source).loose
                ):
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
        if self._semantics.kind(source).is_tensor:
            sharing = _method_sharing(call, method)
        elif self._is_array(source):
            sharing = _array_sharing(method)
        else:
            sharing = None
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
            if name != "torch.from_numpy" and not (self._is_array(source) or self._semantics.kind(source).is_tensor):
                sharing = None  # a list, or what may be one
        elif name == "torch.autograd.Variable":
            sharing = Sharing.ALWAYS
        elif name == "numpy.asarray" and (self._is_array(source) or self._semantics.kind(source).is_tensor):
            sharing = Sharing.PERHAPS if len(call.args) > 1 or call.keywords else Sharing.ALWAYS
        elif name in _LEGACY_CONSTRUCTORS and len(call.args) == 1 and self._is_array(source):
            sharing = Sharing.PERHAPS
        elif name == f"torch.{last}" and last in torch_api.VIEW_METHODS and self._semantics.kind(source).is_tensor:
            sharing = Sharing.ALWAYS
        return Link(call, source, last, sharing) if sharing is not None else None

    def _is_array(self, node: ast.expr) -> bool:
        """Whether a value is an array; what torch gives for ``numpy()`` is, whatever index is taken of it."""
        if self._semantics.kind(node).type is Type.ARRAY:
            return True
        return isinstance(node, ast.Subscript) and self._is_array(node.value) and self._is_basic(node.slice)

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
        return self._semantics.kind(index).type is Type.NUMBER

    # --- what changes a value ----------------------------------------------------------------------------------------

    def change(self, use: ast.expr, *, also_perhaps: bool = False) -> Change | None:
        """What changes values of ``use``, or of something that is taken of it over the same memory, right where it stands."""
        key = (use, also_perhaps)
        if key not in self._changes:
            self._changes[key] = self._find_change(use, also_perhaps)
        return self._changes[key]

    def _find_change(self, use: ast.expr, also_perhaps: bool) -> Change | None:
        through = use
        while (link := self._linking_parent(through)) is not None and link.name not in CHANGES_VALUES:
            if link.sharing is Sharing.PERHAPS and not also_perhaps:
                break
            through = link.node
        tree = self._semantics.tree
        parent = tree.parent(through)
        match parent:
            case ast.Attribute(attr=method) if isinstance(call := tree.parent(parent), ast.Call) and call.func is parent:
                if method in CHANGES_VALUES or (method in _CHANGES_ARRAY and self._is_array(through)):
                    return Change(call, through)
            case ast.Subscript(value=value, slice=index, ctx=ast.Store()) if value is through:
                return None if _is_text(index) else Change(parent, through)
            case ast.AugAssign(target=target) if target is through:
                return Change(through, through)
            case ast.keyword(arg="out") if isinstance(call := tree.parent(parent), ast.Call) and self._computes(call):
                return Change(call, through)
            case ast.Call(func=function, args=[first, *_]) if first is through:
                name = self._semantics.qualified_name(function) or ""
                if name in _CHANGING_FUNCTIONS or (name.startswith("torch.nn.init.") and name.endswith("_")):
                    return Change(parent, through)
        return None

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call is of a function of torch or numpy, or of a method of a tensor or array."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith(("torch.", "numpy.")):
            return True
        return isinstance(call.func, ast.Attribute) and (
            self._semantics.kind(call.func.value).is_tensor or self._is_array(call.func.value)
        )

    def changes(self, binding: Binding, *, also_perhaps: bool = False) -> list[Change]:
        """What changes values of what ``binding`` binds, through its name, in the order of its uses."""
        key = (binding, also_perhaps)
        if key not in self._changes_through:
            changes = (self.change(use, also_perhaps=also_perhaps) for use in binding.uses)
            augmented = (other.node for other in self._augmented.get(binding, ()))
            self._changes_through[key] = [
                *(change for change in changes if change is not None),
                *(Change(node, node) for node in augmented if isinstance(node, ast.Name)),
            ]
        return self._changes_through[key]

    def changes_at(self, place: Place) -> list[Change]:
        """What changes values of a place where it is read."""
        return self._occurrences_of(place).changes

    def changes_of(self, binding: Binding, seen: set[Binding] | None = None) -> Iterator[Change]:
        """What changes values through a name, or through other names that are bound to it or to a view of it."""
        seen = set() if seen is None else seen
        if binding in seen or len(seen) == _MOST_NAMES:
            return
        seen.add(binding)
        yield from self.changes(binding)
        for use in binding.uses:
            other = self.bound_to(self.outermost(use))
            if other is not None:
                yield from self.changes_of(other, seen)

    @cached_property
    def _augmented(self) -> dict[Binding, list[Binding]]:
        """For each binding, the augmented assignments to what it bound."""
        found: dict[Binding, list[Binding]] = defaultdict(list)
        for scope in self._semantics.bindings.scopes.values():
            for binding in (binding for bindings in scope.bindings.values() for binding in bindings):
                for previous in binding.before:
                    found[previous].append(binding)
        return found

    # --- variables ---------------------------------------------------------------------------------------------------

    def place(self, node: ast.expr) -> Place | None:
        """The variable, or the attribute of one, that ``node`` is; ``None`` for anything else."""
        spelling = dotted(node)
        if spelling is None:
            return None
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        assert isinstance(root, ast.Name)
        return Place(node, spelling, root)

    def same(self, one: Place, other: Place) -> bool:
        """Whether two places of one function, or two attributes of ``self``, may be one and the same."""
        if one.spelling != other.spelling:
            return False
        first, second = (self._bindings_of(place.root) for place in (one, other))
        if not first and not second:
            return True
        if not set(first).isdisjoint(second):
            return True
        owner = self._semantics.facts.self_class(one.root)
        return owner is not None and owner is self._semantics.facts.self_class(other.root)

    def _bindings_of(self, name: ast.Name) -> tuple[Binding, ...]:
        if isinstance(name.ctx, ast.Load):
            return self._semantics.bindings.reaching(name)
        binding = self._semantics.bindings.of(name)
        return (binding, *binding.before) if binding is not None else ()

    def occurrences(self, place: Place) -> list[ast.expr]:
        """Every read of what may be the same place, in the order of the text."""
        return self._occurrences_of(place).all

    def _occurrences_of(self, place: Place) -> _Occurrences:
        key = (place.spelling, self._bindings_of(place.root), self._semantics.facts.self_class(place.root))
        if key not in self._occurrences:
            found = list(self._find_occurrences(place))
            changes = [change for use in found if (change := self.change(use)) is not None]
            self._occurrences[key] = _Occurrences(found, [use for use in found if self.reads_values(use)], changes)
        return self._occurrences[key]

    def _find_occurrences(self, place: Place) -> Iterator[ast.expr]:
        reads = self._reads_of(place.spelling)
        numbers = {number for key in self._identities(place) for number in reads.get(key, ())}
        nodes = self._by_spelling[place.spelling]
        yield from (nodes[number] for number in sorted(numbers))

    def _reads_of(self, spelling: str) -> dict[object, list[int]]:
        """The reads of what is spelled so, by their places in `_by_spelling`, for each thing that they may be of."""
        if spelling not in self._reads:
            found = self._reads[spelling] = dict[object, list[int]]()
            for number, node in enumerate(self._by_spelling.get(spelling, ())):
                if isinstance(getattr(node, "ctx", None), ast.Load) and (place := self.place(node)) is not None:
                    for key in self._identities(place):
                        found.setdefault(key, []).append(number)
        return self._reads[spelling]

    def _identities(self, place: Place) -> set[object]:
        """What makes two places of one spelling the same where they share any of it, as `same` tells."""
        found: set[object] = set(self._bindings_of(place.root)) or {None}
        owner = self._semantics.facts.self_class(place.root)
        return found if owner is None else {*found, owner}

    def rebound(self, place: Place) -> list[ast.AST]:
        """The nodes, of any scope, that give the place, or what it is an attribute of, another value or memory."""
        if place.spelling not in self._rebound:
            self._rebound[place.spelling] = self._stores(place.spelling.split("."))
        return self._rebound[place.spelling]

    def _stores(self, parts: list[str]) -> list[ast.AST]:
        found: list[ast.AST] = []
        for length in range(1, len(parts) + 1):
            for node in self._by_spelling.get(".".join(parts[:length]), ()):
                if not isinstance(getattr(node, "ctx", None), ast.Load) and not self._is_augmented(node):
                    found.append(node)
            found += [
                node
                for node in self._by_spelling.get(".".join((*parts[:length], "data")), ())
                if isinstance(getattr(node, "ctx", None), ast.Store) and not self._is_augmented(node)
            ]
        return found

    def _is_augmented(self, node: ast.AST) -> bool:
        """Whether ``node`` is the target of an augmented assignment, which changes tensors in place."""
        parent = self._semantics.tree.parent(node)
        return isinstance(parent, ast.AugAssign) and parent.target is node

    @cached_property
    def _by_spelling(self) -> dict[str, list[ast.expr]]:
        """The names and attributes of the file, by how they are spelled."""
        found: dict[str, list[ast.expr]] = defaultdict(list)
        spellings: dict[ast.AST, str | None] = {}
        for node in reversed(self._semantics.tree.nodes):  # the parts of a chain before the whole
            if isinstance(node, ast.Name):
                spellings[node] = node.id
                found[node.id].append(node)
            elif isinstance(node, ast.Attribute):
                base = spellings.get(node.value)
                spellings[node] = spelling = f"{base}.{node.attr}" if base is not None else None
                if spelling is not None:
                    found[spelling].append(node)
        for nodes in found.values():
            nodes.reverse()
        return found

    # --- order -------------------------------------------------------------------------------------------------------

    def following(self, event: ast.AST, nodes: Iterable[_Node], avoiding: Sequence[ast.AST]) -> Iterator[_Node]:
        """Those of ``nodes`` that may run after ``event``, with none of ``avoiding`` in between: found in one go for all."""
        flow = self._semantics.control_flow
        scope = flow.scope(event)
        beside = [node for node in nodes if flow.scope(node) is scope]
        if beside:
            yield from filter(flow.ahead_of(scope, [event], avoiding, up_to=beside).includes, beside)

    def is_read_after(self, place: Place, event: ast.AST, avoiding: Iterable[ast.AST] = ()) -> bool:
        """Whether values of ``place`` may be read after ``event``, before it is given another value or any of ``avoiding``."""
        flow = self._semantics.control_flow
        obstacles = self.rebound_in(flow.scope(event), place)
        if others := tuple(avoiding):
            obstacles = (*obstacles, *others)
        return flow.leads_to_any(event, self._occurrences_of(place).of_values, obstacles)

    def rebound_in(self, scope: ast.AST, place: Place) -> tuple[ast.AST, ...]:
        """Those of `rebound` that are of one scope; the very same tuple for the same question."""
        key = (place.spelling, scope)
        if key not in self._rebound_in:
            flow = self._semantics.control_flow
            self._rebound_in[key] = tuple(node for node in self.rebound(place) if flow.scope(node) is scope)
        return self._rebound_in[key]

    def reads_values(self, use: ast.expr) -> bool:
        """Whether a read of a tensor or array is of its values, and not just of its shape, type or device."""
        match self._semantics.tree.parent(use):
            case ast.Attribute(attr=attribute, ctx=context):
                return isinstance(context, ast.Load) and attribute not in _ABOUT_THE_VALUE
            case ast.Call(func=ast.Name(id="len" | "type" | "isinstance" | "id")):
                return False
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) if value is use:
                return False
            case ast.Compare(ops=[ast.Is() | ast.IsNot()]) | ast.Delete():
                return False
        return True

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


_LEGACY_CONSTRUCTORS = frozenset({"torch.Tensor", *(f"torch.{name}Tensor" for name in _ELEMENT_TYPES)})


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


def _is_text(index: ast.expr) -> bool:
    """Whether an index is a string: the key of a mapping, not a place in a tensor."""
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def is_assigned(binding: Binding) -> bool:
    """Whether a binding is a plain assignment of one value."""
    return binding.form is Form.ASSIGNMENT and not binding.path
