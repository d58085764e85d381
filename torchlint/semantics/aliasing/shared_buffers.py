"""Changes in place of an array or a tensor while the other one over the same memory is still used."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import position
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.links import Link, Links, Sharing
from torchlint.semantics.memory.places import Place, Places

Node = TypeVar("Node")

_CROSSINGS = frozenset({"from_numpy", "as_tensor", "asarray", "numpy", "from_dlpack"})
_MANY = 30
"""So many changes of one buffer are looked at: if none of these matters, the others hardly do."""
_DTYPES = {
    "torch.Tensor": "float32",
    "torch.FloatTensor": "float32",
    "torch.DoubleTensor": "float64",
    "torch.LongTensor": "int64",
    "torch.IntTensor": "int32",
    "torch.HalfTensor": "float16",
    "torch.ByteTensor": "uint8",
}
"""What an array has to be of for these constructors to share its memory; another one is copied."""
_MADE_TO_BE_FILLED = frozenset({"numpy.empty", "numpy.empty_like", "torch.empty", "torch.empty_like"})


@dataclass(frozen=True, eq=False, slots=True)
class SharedChange(Generic[Node]):
    """A change, by way of ``through``, of memory that ``conversion`` made shared between ``source`` and the name ``result``.

    ``gives_array`` is whether the conversion gives an array, of a tensor, and not the other way round. ``is_shown`` is whether
    all that a script does afterwards with the other side is to print it, as lessons do.
    """

    through: Node
    conversion: Node
    source: Node
    result: Node
    gives_array: bool
    is_shown: bool = False


class SharedBuffers:
    """Finds conversions that share memory, and what is changed on one side of them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links = semantics.of(Links)
        self._places = semantics.of(Places)
        self._changes = semantics.of(Changes)

    @cached_property
    def changes(self) -> dict[ast.expr, SharedChange[ast.expr]]:
        """The changes by the nodes that make them; of several conversions in a row the last one counts."""
        found: dict[ast.expr, SharedChange[ast.expr]] = {}
        for assignment in self._semantics.tree.of_type(ast.Assign):
            match assignment:
                case ast.Assign(targets=[ast.Name() as target], value=value):
                    change = self._change(target, value)
                    if change is not None:
                        found[change[0]] = change[1]
        for call in self._semantics.facts.calls.get("append", ()):
            kept = self._kept_in_list(call)
            if kept is not None:
                found.setdefault(*kept)
        return found

    @cached_property
    def perhaps(self) -> frozenset[ast.expr]:
        """The legacy constructors of named tensors whose array, or which, is changed while the other one is used.

        Whether they share memory depends on the type of the array's elements, which the file does not tell.
        """
        return frozenset(
            assignment.value
            for assignment in self._semantics.tree.of_type(ast.Assign)
            if isinstance(assignment, ast.Assign) and len(assignment.targets) == 1
            if isinstance(target := assignment.targets[0], ast.Name)
            if self._change(target, assignment.value, surely=False) is not None
        )

    def _change(
        self, target: ast.Name, value: ast.expr, *, surely: bool = True
    ) -> tuple[ast.expr, SharedChange[ast.expr]] | None:
        """What changes the memory that a conversion, which gets a name, makes shared, or may make shared."""
        binding = self._semantics.bindings.of(target)
        links = self._conversion(value) if surely else self._construction(value)
        place = self._places.place(links[-1].source) if links else None
        if binding is None or place is None or place.root.id == target.id or self._is_made_to_be_filled(place):
            return None
        of_result = self._change_of_result(target, binding, place)
        change = of_result or self._change_of_source(target, binding, place)
        if change is None:
            return None
        gives_array = self._semantics.kind(value).type is Type.ARRAY or links[0].name == "numpy"
        is_shown = self._is_shown(change.node, self._places.occurrences(place) if of_result is not None else binding.uses)
        return change.node, SharedChange(change.through, value, place.node, target, gives_array, is_shown)

    def _is_shown(self, change: ast.expr, uses: Iterable[ast.expr]) -> bool:
        """Whether a change is made at the top level, and what it changes besides is only printed or displayed behind it."""
        tree = self._semantics.tree
        if tree.function(change) is not None:
            return False
        behind = [use for use in uses if position(use) > position(change) and self._places.reads_values(use)]
        return bool(behind) and all(self._is_displayed(use) for use in behind)

    def _is_displayed(self, use: ast.expr) -> bool:
        """Whether a value is the only thing in its statement, or printed there."""
        match self._semantics.tree.statement(use):
            case ast.Expr(value=ast.Call(func=ast.Name(id="print" | "display"))):
                return True
            case ast.Expr(value=value):
                return value is use
        return False

    def _kept_in_list(self, call: ast.Call) -> tuple[ast.expr, SharedChange[ast.expr]] | None:
        """What changes, in each round, the one buffer that a loop puts in a list: ``kept.append(torch.from_numpy(a))``."""
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name() as kept), args=[value], keywords=[]):
                pass
            case _:
                return None
        links = self._conversion(value)
        place = self._places.place(links[-1].source) if links else None
        loop = next(self._semantics.tree.loops(call), None)
        if place is None or not isinstance(place.node, ast.Name) or loop is None:
            return None
        found = [*self._changes_of(place), *self._augmented(place.node)]
        changes = {change.node: change for change in found if self._semantics.tree.inside(change.node, loop)}
        uses = [use for binding in self._semantics.bindings.reaching(kept) for use in binding.uses]
        reads = [use for use in uses if self._called_on(use) not in ("append", "clear") and not self._is_last_item(use)]
        emptied: list[ast.AST] = [use for use in uses if self._called_on(use) == "clear"]
        if (items := self._places.place(kept)) is not None:
            emptied += self._places.rebound(items)
        for node in self._places.following(call, changes, [*self._places.rebound(place), *emptied]):
            if next(self._places.following(node, reads, emptied), None) is not None:
                change = changes[node]
                return node, SharedChange(change.through, value, place.node, kept, links[0].name == "numpy")
        return None

    def _augmented(self, name: ast.Name) -> Iterator[Change]:
        """The augmented assignments that a name may have its value from, each of which comes again in the next round."""
        for binding in self._semantics.bindings.reaching(name):
            if binding.form is Form.AUGMENTED and isinstance(binding.node, ast.Name):
                yield Change(binding.node, binding.node)

    def _is_last_item(self, use: ast.Name) -> bool:
        """Whether a list is asked for the item that it was given last, which is as it was then."""
        match self._semantics.tree.parent(use):
            case ast.Subscript(value=value, slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
                return value is use
        return False

    def _called_on(self, use: ast.Name) -> str | None:
        """The method that is called on a list."""
        parent = self._semantics.tree.parent(use)
        return parent.attr if isinstance(parent, ast.Attribute) else None

    # --- the conversion ----------------------------------------------------------------------------------------------

    def _conversion(self, value: ast.expr) -> list[Link]:
        """The chain of an expression that leads from a tensor to an array or back, over shared memory."""
        links = self._links.chain(value)
        if not any(self._crosses(link) for link in links) or any(link.name in ("detach", "data") for link in links):
            return []
        if any(link.sharing is not Sharing.ALWAYS and not self._is_of_same_type(link) for link in links):
            return []
        return links

    def _construction(self, value: ast.expr) -> list[Link]:
        """A call of a class of tensors with an array whose elements may be of its type."""
        links = self._links.chain(value)
        if not links or not links[0].name.endswith("Tensor"):
            return []
        needed = _DTYPES.get(self._semantics.qualified_name(getattr(links[0].node, "func", links[0].node)) or "")
        return links if self._element_type(links[0].source) in (None, needed) else []

    def _crosses(self, link: Link) -> bool:
        """Whether a link leads from one world to the other."""
        if link.name in ("as_tensor", "asarray") and self._semantics.kind(link.source).is_tensor:
            return self._semantics.qualified_name(getattr(link.node, "func", link.node)) == "numpy.asarray"
        return link.name in _CROSSINGS or link.name.endswith("Tensor")

    def _is_of_same_type(self, link: Link) -> bool:
        """Whether a legacy constructor surely gets an array of its own element type."""
        needed = _DTYPES.get(self._semantics.qualified_name(getattr(link.node, "func", link.node)) or "")
        return needed is not None and self._element_type(link.source) == needed

    def _element_type(self, array: ast.expr) -> str | None:
        """The element type that an array is made with, where that is written out."""
        if isinstance(array, ast.Name):
            values = [binding.value for binding in self._semantics.bindings.reaching(array)]
            types = {self._element_type(value) if isinstance(value, ast.Call) else None for value in values}
            return types.pop() if len(types) == 1 else None
        match array:
            case ast.Call(func=ast.Attribute(attr="astype"), args=[given, *_]):
                return self._type_name(given)
            case ast.Call(func=function, keywords=keywords):
                given_types = [word.value for word in keywords if word.arg == "dtype"]
                if given_types:
                    return self._type_name(given_types[0])
                name = self._semantics.qualified_name(function) or ""
                return "float64" if name in ("numpy.zeros", "numpy.ones", "numpy.empty") and len(array.args) == 1 else None
        return None

    def _type_name(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Constant):
            return str(node.value)
        name = self._semantics.qualified_name(node) or ""
        return name.removeprefix("numpy.") if name.startswith("numpy.") else {"builtins.float": "float64"}.get(name)

    def _is_made_to_be_filled(self, place: Place) -> bool:
        """Whether the source is made empty: to be filled by way of what shares its memory."""
        bindings = self._semantics.bindings.reaching(place.root)
        return any(
            isinstance(binding.value, ast.Call) and self._semantics.qualified_name(binding.value.func) in _MADE_TO_BE_FILLED
            for binding in bindings
        )

    # --- the change --------------------------------------------------------------------------------------------------

    def _change_of_result(self, target: ast.Name, binding: Binding, place: Place) -> Change | None:
        """A change of what the conversion gave, behind which its source is still used."""
        places = self._places
        changes = {change.node: change for change in self._changes.changes_of(binding)}
        for node in islice(places.following(target, changes, ()), _MANY):
            if places.is_read_after(place, node):
                return changes[node]
        return None

    def _change_of_source(self, target: ast.Name, binding: Binding, place: Place) -> Change | None:
        """A change of the source, behind which the result of the conversion, made before, is still used."""
        places = self._places
        result = places.place(target)
        uses = [use for use in binding.uses if places.reads_values(use)]
        if result is None or not uses:
            return None
        again = places.rebound(result)
        changes = {change.node: change for change in self._changes_of(place)}
        for node in islice(places.following(target, changes, [*places.rebound(place), *again]), _MANY):
            if next(places.following(node, uses, again), None) is not None:
                return changes[node]
        return None

    def _changes_of(self, place: Place) -> Iterator[Change]:
        if isinstance(place.node, ast.Name):
            for binding in self._semantics.bindings.reaching(place.node):
                yield from self._changes.changes(binding)
