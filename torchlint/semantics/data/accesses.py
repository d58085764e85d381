"""Every ``.data`` of a tensor in a file, and what is done there; each has one role."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Binding, Semantics, torch_api
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.data.evidence import DataEvidence
from torchlint.semantics.data.roles import Access, Change, Means, Role
from torchlint.semantics.kinds.kind import tensor
from torchlint.semantics.memory.changes import CHANGES_VALUES, RESHAPES_IN_PLACE, Changes
from torchlint.semantics.provenance.absent_attributes import AbsentAttributes
from torchlint.semantics.shapes.scalars import Scalars

_VIEWS = torch_api.VIEW_METHODS | {"flatten", "_values"}
_CONVERSIONS = frozenset(
    {
        *("cpu", "cuda", "to", "type", "float", "double", "half", "long", "int", "byte", "bool"),
        *("clone", "squeeze", "contiguous"),
    }
)
_HOST_METHODS = frozenset({"numpy", "tolist"})


class DataAccesses:
    """Tells what is done with each ``.data`` of a tensor."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._evidence = semantics.of(DataEvidence)
        self._scalars = semantics.of(Scalars)
        self._absent = semantics.of(AbsentAttributes)
        self._known_within: dict[ast.AST, list[Access[ast.expr]]] = {}

    @cached_property
    def all(self) -> dict[ast.Attribute, Access[ast.expr]]:
        """The ``.data`` accesses on tensors in a file, by their node, in the order of the text."""
        found = {}
        for node in self._tree.of_type(ast.Attribute):
            is_placed = node.end_lineno is not None  # in an f-string it may not be
            if node.attr == "data" and is_placed and not self._is_api(node):
                access = self._classify(node)
                if access is not None:
                    found[node] = access
        return found

    def within(self, nodes: Iterable[ast.AST]) -> list[Access[ast.expr]]:
        """The accesses in some statements, and in the statements that are parts of these."""
        return [access for node in nodes for access in self._within(node)]

    def _within(self, node: ast.AST) -> list[Access[ast.expr]]:
        if node not in self._known_within:
            self._known_within[node] = [access for part in ast.walk(node) for access in self._by_statement.get(part, ())]
        return self._known_within[node]

    @cached_property
    def _by_statement(self) -> dict[ast.AST, list[Access[ast.expr]]]:
        found: dict[ast.AST, list[Access[ast.expr]]] = defaultdict(list)
        for access in self.all.values():
            found[self._tree.statement(access.node)].append(access)
        return found

    def _is_api(self, node: ast.Attribute) -> bool:
        """Whether ``a.data`` names a module or class that was imported, such as ``torch.utils.data``."""
        name = self._semantics.qualified_name(node)
        return name is not None and not name.startswith("builtins.")

    def _classify(self, node: ast.Attribute) -> Access[ast.expr] | None:
        receiver = self._semantics.kind(node.value)
        if (receiver.known and not receiver.is_tensor) or isinstance(node.ctx, ast.Del) or self._is_looked_up(node):
            return None
        if self._evidence.is_of_sequence(node.value) or self._absent.is_absent(node.value):
            return None
        if self._evidence.is_of_image(receiver):
            return None
        role, change = self._use(node)
        if not receiver.known or receiver.loose:
            if self._evidence.is_probed(node):
                return None
            if not receiver.known:
                if self._semantics.inference.own_autograd.are_used or not self._evidence.shows_tensor(node, role, change):
                    return None
                receiver = tensor(why="how its `.data` is used")
        if role is Role.READ and (changes := tuple(self._changes_through_name(node, set()))):
            return Access(node, receiver, Role.MUTATION, changes)
        return Access(node, receiver, role, (change,) if change else ())

    def _is_looked_up(self, node: ast.Attribute) -> bool:
        """Whether the code takes ``x.data["name"]``, the features of a graph, a message's payload; or calls ``x.data()``."""
        match self._tree.parent(node):
            case ast.Subscript(value=value, slice=ast.Constant(value=str())):
                return value is node
            case ast.Call(func=function):
                return function is node
        return False

    # --- roles -------------------------------------------------------------------------------------------------------

    def _use(self, node: ast.Attribute) -> tuple[Role, Change[ast.expr] | None]:
        parent = self._tree.parent(node)
        if isinstance(node.ctx, ast.Store):
            if isinstance(parent, ast.AugAssign) and not isinstance(parent.op, ast.MatMult):
                return Role.MUTATION, Change(node, Means.AUGMENTED)
            return Role.REBIND, None  # there is no in-place `@`: `x.data @= y` assigns a new tensor
        if isinstance(parent, ast.Call) and node in parent.args[:1]:
            if self._semantics.qualified_name(parent.func) == "torch.autograd.Variable":
                return Role.WRAPPED, None
        if self._scalars.index_of(node) is not None:
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

    def _change(self, node: ast.expr) -> Change[ast.expr] | None:
        """What changes values of ``node``, or of a view of it, if anything does."""
        view, reshaped = self._view(node)
        parent = self._tree.parent(view)
        match parent:
            case ast.Attribute(attr=method) if method in CHANGES_VALUES and (call := self._method_call(view)) is not None:
                return Change(self._last_change(call), Means.RESHAPED if reshaped else Means.METHOD)
            case ast.Subscript(value=value, ctx=ast.Store()) if value is view:
                return Change(parent, Means.RESHAPED if reshaped else Means.STORE)
            case ast.AugAssign(target=target) if target is view:
                return Change(view, Means.RESHAPED if reshaped else Means.STORE)
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
            elif (call := self._method_call(node)) is not None and _method(call) in _VIEWS | RESHAPES_IN_PLACE:
                reshaped = reshaped or _method(call) in RESHAPES_IN_PLACE
                node = call
            else:
                return node, reshaped

    def _last_change(self, call: ast.Call) -> ast.Call:
        """The last of the in-place methods that are called one on the other: ``w.data.mul_(a).add_(b)``."""
        while (following := self._method_call(call)) is not None and _method(following) in CHANGES_VALUES:
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

    # --- changes through a local name --------------------------------------------------------------------------------

    def _changes_through_name(self, node: ast.expr, seen: set[Binding]) -> Iterator[Change[ast.expr]]:
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

    def _changes_of(self, binding: Binding, seen: set[Binding]) -> Iterator[Change[ast.expr]]:
        """What changes values of the tensor that a name is bound to, through that name or another for it."""
        if binding in seen:
            return
        seen.add(binding)
        for use in binding.uses:
            if (change := self._change(use)) is not None:
                yield Change(change.node, Means.ALIAS, use)
            yield from self._changes_through_name(use, seen)
        for other in self._semantics.of(Changes).augmented(binding):
            if isinstance(other.node, ast.expr):
                yield Change(other.node, Means.ALIAS, other.node)


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
