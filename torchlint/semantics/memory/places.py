"""Variables and attributes: where the same one is read, given another value, and read after something happened."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import dotted
from torchlint.semantics.memory.changes import Change, Changes

_Node = TypeVar("_Node", bound=ast.AST)

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


class Places:
    """Looks up the variables of one file, and attributes of them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._changes = semantics.of(Changes)
        self._rebound: dict[str, list[ast.AST]] = {}
        self._occurrences: dict[tuple[str, tuple[Binding, ...], ast.ClassDef | None], _Occurrences] = {}
        self._reads: dict[str, dict[object, list[int]]] = {}
        self._rebound_in: dict[tuple[str, ast.AST], tuple[ast.AST, ...]] = {}

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

    def changes_at(self, place: Place) -> list[Change]:
        """What changes values of a place where it is read."""
        return self._occurrences_of(place).changes

    def occurrences(self, place: Place) -> list[ast.expr]:
        """Every read of what may be the same place, in the order of the text."""
        return self._occurrences_of(place).all

    def _occurrences_of(self, place: Place) -> _Occurrences:
        key = (place.spelling, self._bindings_of(place.root), self._semantics.facts.self_class(place.root))
        if key not in self._occurrences:
            found = list(self._find_occurrences(place))
            changes = [change for use in found if (change := self._changes.change(use)) is not None]
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
        chains: dict[str, list[ast.expr]] = defaultdict(list)
        spellings: dict[ast.AST, str] = {}
        for node in reversed(self._semantics.tree.of_type(ast.Attribute)):  # the parts of a chain before the whole
            base = node.value.id if isinstance(node.value, ast.Name) else spellings.get(node.value)
            if base is not None:
                spellings[node] = spelling = f"{base}.{node.attr}"
                chains[spelling].append(node)
        for nodes in chains.values():
            nodes.reverse()
        for name in self._semantics.tree.of_type(ast.Name):
            chains[name.id].append(name)
        return chains

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
