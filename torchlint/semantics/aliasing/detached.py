"""In-place changes of a ``.detach()`` of a tensor that is used again."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.links import Link, Links, Sharing, is_assigned
from torchlint.semantics.memory.places import Place, Places

Node = TypeVar("Node")

_DEPTH = 3
_MANY = 30
"""So many changes of one alias are looked at: if none of these matters, the others hardly do."""


@dataclass(frozen=True, eq=False, slots=True)
class DetachedChange(Generic[Node]):
    """A change of ``alias`` in place that changes ``tensor``, from which it was detached, as well.

    ``node`` is the call that makes it, or what is assigned to, and ``through`` the expression that it changes. ``has_name`` is
    whether the alias was given a name first, ``on_cpu`` whether the two share their memory on the CPU only. ``is_shown`` is
    whether the file shows who reads the tensor later: the function itself, or a caller that has it from there.
    """

    node: Node
    through: Node
    alias: Node
    tensor: Node
    has_name: bool
    on_cpu: bool
    is_shown: bool = True


@dataclass(frozen=True, eq=False, slots=True)
class _Alias:
    """An expression over the memory of a tensor, and the links down to that."""

    node: ast.expr
    tensor: Place
    links: list[Link]

    @property
    def on_cpu(self) -> bool:
        return any(link.sharing is Sharing.ON_CPU for link in self.links)


class DetachedAliases:
    """Finds what changes detached tensors of a file by mistake."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links = semantics.of(Links)
        self._changes = semantics.of(Changes)
        self._places = semantics.of(Places)

    @cached_property
    def changes(self) -> dict[ast.expr, list[DetachedChange[ast.expr]]]:
        """The changes, by the nodes that make them."""
        found: dict[ast.expr, list[DetachedChange[ast.expr]]] = defaultdict(list)
        for change in self._found() if self._detaches else ():
            found[change.node].append(change)
        return dict(found)

    @cached_property
    def _detaches(self) -> bool:
        """Whether the file detaches anything by a method, or makes arrays, at all."""
        return any(node.attr in ("detach", "numpy") for node in self._semantics.tree.of_type(ast.Attribute))

    def _found(self) -> Iterator[DetachedChange[ast.expr]]:
        for node in self._semantics.tree.of_type(ast.Assign, ast.Call):
            match node:
                case ast.Assign(targets=[ast.Name() as target], value=value):
                    yield from self._through_name(target, value)
                case ast.Call(func=ast.Attribute(attr="numpy")):
                    yield from self._right_there(node)

    def _through_name(self, target: ast.Name, value: ast.expr) -> Iterator[DetachedChange[ast.expr]]:
        """The first change that matters of an alias with a name."""
        alias = self._alias(value)
        binding = self._semantics.bindings.of(target)
        if alias is None or binding is None:
            return
        changes = {change.node: change for change in self._changes.changes_of(binding)}
        replaced = alias.tensor.root.id == target.id
        anew = () if replaced else self._places.rebound_in(self._semantics.control_flow.scope(target), alias.tensor)
        for node in islice(self._places.following(target, changes, anew), _MANY):
            if self._is_given_back(target.id, alias.tensor, node):
                return
            if self._may_be_live(alias.tensor, changes[node], replaced=replaced):
                is_shown = self._is_shown(alias.tensor, changes[node], replaced=replaced)
                yield self._change(changes[node], alias, has_name=True, is_shown=is_shown)
                return

    def _is_given_back(self, name: str, place: Place, change: ast.expr) -> bool:
        """Whether the tensor is given the changed values a few lines below: `w = fc.weight.data.numpy()`, `w[0] = 1`, and
        `fc.weight.data = torch.from_numpy(w)`.
        """
        statement = self._semantics.tree.statement(change)
        block = self._semantics.tree.block(statement)
        for other in block[block.index(statement) + 1 :]:
            match other:
                case ast.Assign(targets=[ast.Attribute(value=tensor, attr="data")], value=value):
                    given = value
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(value=ast.Attribute(value=tensor, attr="data") | tensor, attr="copy_"),
                        args=[given, *_],
                    )
                ):
                    pass
                case _:
                    continue
            is_same = ast.dump(tensor) == ast.dump(place.node)
            if is_same and any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(given)):
                return True
        return False

    def _right_there(self, array: ast.Call) -> Iterator[DetachedChange[ast.expr]]:
        """The change of an alias where it is made: ``x.detach().numpy()[0] = 1``."""
        change = self._changes.change(array)
        alias = self._alias(array) if change is not None else None
        if change is not None and alias is not None and self._may_be_live(alias.tensor, change):
            yield self._change(change, alias, has_name=False, is_shown=self._is_shown(alias.tensor, change))

    @staticmethod
    def _change(change: Change, alias: _Alias, *, has_name: bool, is_shown: bool) -> DetachedChange[ast.expr]:
        return DetachedChange(change.node, change.through, alias.node, alias.tensor.node, has_name, alias.on_cpu, is_shown)

    # --- the alias ---------------------------------------------------------------------------------------------------

    def _alias(self, value: ast.expr) -> _Alias | None:
        """A value that a chain with a ``.detach()`` gives of a tensor."""
        links = self._links.chain(value)
        names = {link.name for link in links}
        through_array = "data" in names and "numpy" in names
        if not (through_array or ("detach" in names and "data" not in names)):
            return None  # changes through `.data` alone are another question
        if any(link.sharing is Sharing.PERHAPS for link in links):
            return None
        place = self._places.place(links[-1].source)
        if place is None:
            return None
        alias = _Alias(value, place, links)
        return None if alias.on_cpu and self._is_on_cuda(place) else alias

    def _is_on_cuda(self, place: Place) -> bool:
        """Whether a tensor was surely moved to a GPU, or computed of one that was, so that ``.cpu()`` copies it.

        So it was where it is an argument of a function that cannot do without a GPU: its author took it from there.
        """
        if self._is_moved(place.root, _DEPTH):
            return True
        bindings = self._semantics.bindings.reaching(place.root)
        is_argument = bool(bindings) and all(binding.form is Form.PARAMETER for binding in bindings)
        return is_argument and self._semantics.tree.function(place.root) in self._on_cuda

    @cached_property
    def _on_cuda(self) -> frozenset[ast.AST]:
        """The functions that move something to a GPU, whatever is available."""
        calls = self._semantics.facts.calls
        moves = [move for name in ("cuda", "to") for move in calls.get(name, ()) if _moves_to_cuda(move)]
        functions = (self._semantics.tree.function(move) for move in moves if self._runs_anyway(move))
        return frozenset(function for function in functions if function is not None)

    def _runs_anyway(self, call: ast.Call) -> bool:
        """Whether a method is called wherever the function runs that it stands in, as far as conditions go."""
        if not isinstance(call.func, ast.Attribute):
            return False
        around = takewhile(lambda node: not isinstance(node, FUNCTIONS), self._semantics.tree.ancestors(call))
        return not any(isinstance(node, (ast.If, ast.IfExp, ast.Try, ast.Lambda)) for node in around)

    def _is_moved(self, name: ast.Name, depth: int) -> bool:
        bindings = self._semantics.bindings.reaching(name)
        values = [binding.value for binding in bindings]
        return bool(values) and all(
            value is not None and (_moves_to_cuda(value) or self._is_computed_there(value, depth)) for value in values
        )

    def _is_computed_there(self, value: ast.expr, depth: int) -> bool:
        """Whether a value is what a call makes of tensors that were moved to a GPU, and does not bring back."""
        if depth == 0 or not isinstance(value, ast.Call) or any(map(_moves_to_cpu, ast.walk(value))):
            return False
        names = [argument for argument in value.args if isinstance(argument, ast.Name)]
        return bool(names) and all(self._is_moved(name, depth - 1) for name in names)

    # --- whether the change matters ----------------------------------------------------------------------------------

    def _may_be_live(self, place: Place, change: Change, *, replaced: bool = False) -> bool:
        """Whether the tensor that was detached is used again after the change: here, by the caller, or as a weight.

        ``replaced`` tells that its name is now that of the alias.
        """
        if self._semantics.kind(place.node).grad is Grad.LEAF and not self._is_by_mistake(change):
            return False
        return self._is_read_here(place, change, replaced=replaced) or self._is_the_callers(place)

    def _is_read_here(self, place: Place, change: Change, *, replaced: bool) -> bool:
        return self._is_weight(place) or (not replaced and self._places.is_read_after(place, change.node))

    def _is_shown(self, place: Place, change: Change, *, replaced: bool = False) -> bool:
        """Whether the file shows a later read of the tensor: in the function, or where one that calls it goes on with it."""
        if self._is_read_here(place, change, replaced=replaced):
            return True
        parameters = self._parameters(place.node, set()) if isinstance(place.node, ast.Name) else None
        given = self._semantics.inference.given(parameters[0]) if parameters else []
        return any(map(self._is_read_by_caller, given))

    def _is_read_by_caller(self, argument: ast.expr | None) -> bool:
        place = self._places.place(argument) if argument is not None else None
        return argument is not None and place is not None and self._places.is_read_after(place, argument)

    def _is_weight(self, place: Place) -> bool:
        return isinstance(place.node, ast.Attribute) and self._semantics.kind(place.node).grad is Grad.LEAF

    def _is_by_mistake(self, change: Change) -> bool:
        """Whether the change of a leaf is none on purpose: made where autograd is on, to an alias that is read later."""
        if self._semantics.no_grad.covers(change.node):
            return False
        root = change.through
        while isinstance(root, (ast.Attribute, ast.Subscript, ast.Call)):
            root = root.func if isinstance(root, ast.Call) else root.value
        place = self._places.place(root)
        return place is not None and self._places.is_read_after(place, change.node)

    def _is_the_callers(self, place: Place) -> bool:
        """Whether the tensor is an argument that a caller still has: not where all callers in the file pass new values."""
        parameters = self._parameters(place.node, set()) if isinstance(place.node, ast.Name) else None
        if not parameters:
            return False
        function = parameters[0].scope.node
        if not isinstance(function, FUNCTIONS) or function.name.endswith("_"):
            return False
        given = self._semantics.inference.given(parameters[0])
        return not given or any(isinstance(argument, (ast.Name, ast.Attribute)) for argument in given)

    def _parameters(self, name: ast.Name, seen: set[Binding]) -> list[Binding] | None:
        """The parameters that a name is, or is a view of; ``None`` where it may be something else."""
        found: list[Binding] = []
        for binding in self._semantics.bindings.reaching(name):
            if binding in seen:
                continue
            seen.add(binding)
            if binding.form is Form.PARAMETER:
                found.append(binding)
                continue
            links = self._links.chain(binding.value) if binding.value is not None and is_assigned(binding) else []
            source = links[-1].source if links and all(link.sharing is Sharing.ALWAYS for link in links) else None
            inner = self._parameters(source, seen) if isinstance(source, ast.Name) else None
            if inner is None:
                return None
            found += inner
        return found


def _moves_to_cuda(value: ast.expr) -> bool:
    """Whether a value is made by ``.cuda()`` or on a device that is written out, somewhere on its way."""
    for part in ast.walk(value):
        match part:
            case ast.IfExp():
                return False
            case ast.Call(func=ast.Attribute(attr="cuda")):
                return True
            case (
                ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant(value=str(device)), *_])
                | ast.keyword(arg="device", value=ast.Constant(value=str(device)))
            ):
                return device.startswith("cuda")
    return False


def _moves_to_cpu(part: ast.AST) -> bool:
    match part:
        case ast.Attribute(attr="cpu" | "numpy" | "tolist") | ast.Constant(value="cpu"):
            return True
    return False
