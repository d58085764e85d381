"""In-place writes to what `expand` and its like gave: tensors that show one piece of memory several times."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Literal, TypeVar

from torchlint.fact import CERTAIN, Fact, all_of, shortened, unknown
from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.certainty.sole_memory import SoleMemory
from torchlint.semantics.conditions.opposite import OppositePlaces
from torchlint.semantics.memory.changes import Change, Changes
from torchlint.semantics.memory.links import Links

Node = TypeVar("Node")

_METHODS = frozenset({"expand", "expand_as", "broadcast_to"})
_UNIFORM = frozenset({"zero_", "fill_"})
"""What gives all elements one value, whether they share their memory or not."""


@dataclass(frozen=True, eq=False, slots=True)
class ExpandedWrite(Generic[Node]):
    """A write to the result of the call ``expanded``, or to one of the tensors that the result is unpacked into.

    ``source`` is the tensor that was expanded, where there is one. Of a ``lost`` write nothing is kept but its effect on that.
    ``alone`` is whether nothing else has the memory of the source, so that a copy of it can be written to instead.
    """

    expanded: Node
    source: Node | None
    alone: Fact
    unpacked: bool = False
    lost: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class ExpandedWeight(Generic[Node]):
    """An expansion of ``source`` that is made a module's buffer or parameter."""

    source: Node
    alone: Fact
    made: Literal["register_buffer", "Parameter"]


@dataclass(frozen=True, slots=True)
class _Items:
    """What is read of a tensor: items to which nothing is written, by their indices, and the first use of the ``whole``."""

    read: dict[str, ast.Subscript]
    whole: ast.expr | None


class Expansions:
    """Finds what is expanded in a file, and what is written to it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._changes = semantics.of(Changes)
        self._links = semantics.of(Links)
        self._memory = semantics.of(SoleMemory)
        self._opposite = semantics.of(OppositePlaces)
        self._read: dict[Binding, _Items] = {}

    @cached_property
    def writes(self) -> dict[ast.expr, list[ExpandedWrite[ast.expr]]]:
        """The writes, by the nodes that make them: calls, and what is assigned to."""
        found: dict[ast.expr, list[ExpandedWrite[ast.expr]]] = defaultdict(list)
        for call, source in self._expansions.items():
            statement = self._semantics.tree.statement(call)
            for change in self._changed(call):
                if not _is_uniform(change, call) and not self._opposite.are(call, change.node):
                    lost = isinstance(statement, ast.Expr) and self._semantics.tree.inside(change.node, statement)
                    found[change.node].append(ExpandedWrite(call, source, self._is_alone(call, source, change), lost=lost))
        for call in self._semantics.facts.calls.get("meshgrid", ()):
            for change in self._changed_parts(call) if self._library_name(call) == "torch.meshgrid" else ():
                alone = all_of(*map(self._memory.fact, call.args))
                found[change.node].append(ExpandedWrite(call, None, alone, unpacked=True))
        return dict(found)

    @cached_property
    def weights(self) -> dict[ast.Call, ExpandedWeight[ast.expr]]:
        """The expansions that are made buffers or parameters."""
        made = ((call, source, next(self._weights_made(call), None)) for call, source in self._expansions.items())
        return {
            call: ExpandedWeight(source, self._memory.fact(source) & self._is_whole(call), how)
            for call, source, how in made
            if how is not None
        }

    def _is_whole(self, call: ast.Call) -> Fact:
        """Whether nothing in the file writes to single elements of the attribute that an expansion becomes."""
        statement = self._semantics.tree.statement(call)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = {each.attr for each in targets if isinstance(each, ast.Attribute)}
        names |= {each.value for each in ast.walk(statement) if isinstance(each, ast.Constant) and isinstance(each.value, str)}
        item = next((self._written_attributes[name] for name in sorted(names) if name in self._written_attributes), None)
        return CERTAIN if item is None else unknown(f"`{shortened(item)}` may be meant for all elements")

    @cached_property
    def _written_attributes(self) -> dict[str, ast.Subscript]:
        """The attributes of which items are written to, each with the first place."""
        items = [item for item in self._semantics.tree.of_type(ast.Subscript) if not isinstance(item.ctx, ast.Load)]
        return {item.value.attr: item for item in reversed(items) if isinstance(item.value, ast.Attribute)}

    def _is_alone(self, call: ast.Call, source: ast.expr, change: Change) -> Fact:
        """Whether nothing else has the memory of ``source``, and nobody relies on that rows show what is written to another.

        To write to one row that is always the same, and to read others, may be meant so; as may be to write all of such a row,
        and to read the whole.
        """
        alone = self._memory.fact(source)
        written = self._written_item(change)
        if not alone.is_certain or written is None or not self._is_fixed(written.slice):
            return alone
        binding = self._links.bound_to(self._links.outermost(call))
        if binding is None:
            return unknown("code may rely on that all rows show what is written to one of them")
        items = self._items(binding)
        own = ast.dump(written.slice)
        other: ast.expr | None = next((item for said, item in items.read.items() if said != own), None)
        if other is None and not isinstance(written.slice, ast.Tuple):
            other = items.whole
        return alone if other is None else unknown(f"`{shortened(other)}` may rely on what is written to one row")

    def _items(self, binding: Binding) -> _Items:
        """What is read of what a name stands for."""
        if binding not in self._read:
            parents = [(use, self._semantics.tree.parent(use)) for use in binding.uses]
            items = [(ast.dump(each.slice), each) for _, each in parents if isinstance(each, ast.Subscript)]
            written = {said for said, each in items if not isinstance(each.ctx, ast.Load)}
            read = {said: each for said, each in reversed(items) if said not in written}
            whole = next((use for use, each in parents if not isinstance(each, ast.Subscript)), None)
            self._read[binding] = _Items(read, whole)
        return self._read[binding]

    @staticmethod
    def _written_item(change: Change) -> ast.Subscript | None:
        """The item of a tensor that a change is one of: ``e[0]`` of ``e[0] = x`` and of ``e[0].copy_(x)``."""
        node: ast.AST | None = change.node
        while isinstance(node, (ast.Call, ast.Attribute)):
            node = node.func if isinstance(node, ast.Call) else node.value
        return node if isinstance(node, ast.Subscript) else None

    def _is_fixed(self, index: ast.expr) -> bool:
        """Whether an index starts with one number: that is written out, or stands for a whole row and is counted by no loop."""
        match index:
            case ast.Tuple(elts=[ast.Constant(value=int()), *_]) | ast.Constant(value=int()):
                return True
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
                return True
            case ast.Name():
                bindings = self._semantics.bindings.reaching(index)
                kind = self._semantics.kind(index)
                return not any(each.form is Form.LOOP for each in bindings) and (not kind.known or kind.type is Type.NUMBER)
            case ast.Attribute():
                return not self._semantics.kind(index).known
        return False

    # --- what is expanded --------------------------------------------------------------------------------------------

    @cached_property
    def _expansions(self) -> dict[ast.Call, ast.expr]:
        """The calls that expand a tensor, each with the tensor, in the order of the text."""
        found = ((call, self._source(call)) for call in self._semantics.tree.of_type(ast.Call))
        return {call: source for call, source in found if source is not None}

    def _source(self, call: ast.Call) -> ast.expr | None:
        """What a call expands."""
        match call:
            case ast.Call(func=ast.Attribute(value=tensor, attr=method), args=[_, *_]) if method in _METHODS:
                name = self._library_name(call)
                if name:
                    return call.args[0] if name == "torch.broadcast_to" else None
                kind = self._semantics.kind(tensor)
                return tensor if kind.is_tensor and not kind.loose and not _keeps_shape(call) else None
            case ast.Call(func=ast.Name(), args=[tensor, *_]) if self._library_name(call) == "torch.broadcast_to":
                return tensor
        return None

    def _library_name(self, call: ast.Call) -> str:
        """The dotted name of a function of a library that is called."""
        name = self._semantics.qualified_name(call.func) or ""
        return "" if name.startswith("builtins.") else name

    # --- what is written ---------------------------------------------------------------------------------------------

    def _changed(self, value: ast.expr) -> Iterator[Change]:
        """The changes of an expression, and of the names and attributes it is assigned to."""
        if (change := self._changes.change(value)) is not None:
            yield change
        outermost = self._links.outermost(value)
        if (binding := self._links.bound_to(outermost)) is not None:
            yield from self._changes.changes_of(binding)
        match self._semantics.tree.parent(outermost):
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)]):
                definition = self._semantics.facts.self_class(owner)
                slots = self._semantics.facts.slots(definition, name) if definition is not None else []
                if sum(len(slot.stores) for slot in slots) == 1:
                    for use in (use for slot in slots for use in slot.uses):
                        if (change := self._changes.change(use)) is not None:
                            yield change

    def _changed_parts(self, call: ast.Call) -> Iterator[Change]:
        """The changes of the tensors that a call's result is unpacked into."""
        match self._semantics.tree.parent(call):
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value) if value is call:
                for target in targets:
                    binding = self._semantics.bindings.of(target) if isinstance(target, ast.Name) else None
                    changes = self._changes.changes_of(binding) if binding is not None else ()
                    yield from (change for change in changes if not _is_uniform(change, call))

    def _weights_made(self, call: ast.Call) -> Iterator[Literal["register_buffer", "Parameter"]]:
        """What the calls are that make the result of ``call`` a module's buffer or parameter."""
        value = self._links.outermost(call)
        binding = self._links.bound_to(value)
        for use in [value, *(binding.uses if binding is not None else ())]:
            match self._semantics.tree.parent(use):
                case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[_, tensor, *more], keywords=words) if (
                    tensor is use
                ):
                    persistent = [*more, *(word.value for word in words)]
                    if all(isinstance(value, ast.Constant) and value.value is True for value in persistent):
                        yield "register_buffer"
                case ast.Call(func=function, args=[tensor, *_], keywords=words) if tensor is use:
                    if self._semantics.qualified_name(function) == "torch.nn.Parameter" and not words:
                        yield "Parameter"


def _is_uniform(change: Change, call: ast.Call) -> bool:
    """Whether a change gives the whole of what is expanded one value."""
    match change.node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr=method)):
            return method in _UNIFORM
        case ast.Call(func=ast.Attribute(value=value, attr=method)):
            return method in _UNIFORM and value is call
    return False


def _keeps_shape(call: ast.Call) -> bool:
    """Whether all sizes that are asked for are 1 or those that the tensor has: nothing is shown twice."""
    sizes = call.args
    if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
        sizes = sizes[0].elts
    return bool(sizes) and all(_is_one(size) for size in sizes)


def _is_one(size: ast.expr) -> bool:
    match size:
        case ast.Constant(value=1) | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return True
    return False
