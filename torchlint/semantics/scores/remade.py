"""Values that code changes in place so that they may be of another sort: probabilities of which it takes logarithms."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.memory.links import Links
from torchlint.semantics.memory.references import References

Path: TypeAlias = tuple[int | str, ...]

_KEEPING = frozenset({"masked_fill_", "index_fill_", "clamp_", "clamp_min_", "clamp_max_", "clip_", "fill_diagonal_"})
"""Methods and functions that change some of the numbers in place, and none of what they are."""
_EXCHANGING = frozenset(
    {"update", "clear", "pop", "popitem", "setdefault", "insert", "remove", "sort", "reverse", "__setitem__"}
)
"""Methods of containers after which another item may be in a place."""
_ITEMS = frozenset({"values", "items"})
_READING = ("builtins.", "torch.", "numpy.", "logging.", "wandb.", "matplotlib.", "torchvision.", "sklearn.", "scipy.")
"""Whose functions leave what they are given as it is, but for those of torch whose names end in an underscore."""
_MOST_NAMES = 100
"""So many names for one value are followed; code that has more is generated."""


class Remade:
    """Tells what is changed in place. Each use of a name is looked at once, whatever is asked."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links = semantics.of(Links)
        self._changes = semantics.of(Changes)
        self._are_changed: dict[tuple[Binding, Path], bool] = {}
        self._found: dict[tuple[Binding, Path], tuple[bool, list[tuple[Binding, Path]]]] = {}

    def is_changed(self, binding: Binding, path: Path = ()) -> bool:
        """Whether what a name has, or the item of it that ``path`` leads to, is changed in place: ``p.log_()``."""
        key = (binding, path)
        if key not in self._are_changed:
            self._are_changed[key] = self._is_any_changed([key])
        return self._are_changed[key]

    def are_changed(self, uses: list[ast.Attribute], path: Path = ()) -> bool:
        """Whether what an attribute has is changed in place where it is used."""
        names: list[tuple[Binding, Path]] = []
        return any(self._is_changed_at(use, path, names) for use in uses) or self._is_any_changed(names)

    def _is_any_changed(self, names: list[tuple[Binding, Path]]) -> bool:
        """Whether what some names have is changed through them, or through other names for it."""
        pending, seen = list(names), set(names)
        while pending:
            is_changed, others = self._changed(pending.pop())
            new = set(others) - seen
            if is_changed or len(seen) + len(new) > _MOST_NAMES:
                return True
            seen |= new
            pending.extend(new)
        return False

    def _changed(self, name: tuple[Binding, Path]) -> tuple[bool, list[tuple[Binding, Path]]]:
        """Whether what a name has is changed through it, and other names that it is given."""
        if name not in self._found:
            binding, path = name
            others: list[tuple[Binding, Path]] = []
            is_changed = bool(self._changes.augmented(binding)) or any(
                self._is_changed_at(use, path, others) for use in binding.uses
            )
            self._found[name] = is_changed, others
        return self._found[name]

    def _is_changed_at(self, use: ast.expr, path: Path, others: list[tuple[Binding, Path]]) -> bool:
        """Whether a value is changed where it is used; ``others`` get the names that it is given there."""
        while (change := self._changes.change(use)) is not None:
            if not _keeps_sort(change.node):
                return True
            use = change.node  # `p.clamp_(0).log_()`
        if path and (item := self._item(use, path[0])) is not None:
            return not isinstance(item.ctx, ast.Load) or self._is_changed_at(item, path[1:], others)
        whole = self._links.outermost(use)
        if path and self._is_exchanged(whole):
            return True
        bound = self._links.bound_to(whole)
        others.extend([(bound, path)] if bound is not None else self._gone_through(whole, path))
        parent = self._semantics.tree.parent(whole)
        if isinstance(parent, ast.keyword):
            parent = self._semantics.tree.parent(parent)
        if isinstance(parent, ast.Call) and whole is not parent.func:
            return self._is_changed_by(parent, whole, path, others)
        return isinstance(parent, ast.Attribute) and parent.attr == "data" and isinstance(parent.ctx, ast.Store)

    def _item(self, use: ast.expr, key: int | str) -> ast.Subscript | None:
        """The item of a container that is taken right where this is used, if it may be the one of that key."""
        parent = self._semantics.tree.parent(use)
        match parent:
            case ast.Subscript(value=value, slice=ast.Constant(value=other)) if value is use:
                return parent if other == key else None
            case ast.Subscript(value=value) if value is use:
                return parent
        return None

    def _is_exchanged(self, container: ast.expr) -> bool:
        """Whether a method is called that puts other items into a container."""
        parent = self._semantics.tree.parent(container)
        return isinstance(parent, ast.Attribute) and parent.attr in _EXCHANGING

    def _gone_through(self, value: ast.expr, path: Path) -> Iterator[tuple[Binding, Path]]:
        """The names that a loop gives a value, or its items: ``for v in (p,):``, ``for v in d.values():``."""
        tree = self._semantics.tree
        parent = tree.parent(value)
        rest: Path = path
        if isinstance(parent, (ast.Tuple, ast.List)) and isinstance(parent.ctx, ast.Load):
            value, parent = parent, tree.parent(parent)
        elif path:
            rest = path[1:]
            if (
                isinstance(parent, ast.Attribute)
                and parent.attr in _ITEMS
                and isinstance(called := tree.parent(parent), ast.Call)
            ):
                value, parent = called, tree.parent(called)
        if isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is value:
            targets = (part for part in ast.walk(parent.target) if isinstance(part, ast.Name))
            yield from ((bound, rest) for target in targets if (bound := self._semantics.bindings.of(target)) is not None)

    def _is_changed_by(self, call: ast.Call, value: ast.expr, path: Path, others: list[tuple[Binding, Path]]) -> bool:
        """Whether a function may change what it is given: ``torch.log_(p)``, ``to_log(p)``."""
        name = self._semantics.qualified_name(call.func) or ""
        last = name.rpartition(".")[2]
        if name.startswith("torch."):
            return last.endswith("_") and last not in _KEEPING and call.args[:1] == [value]
        function = self._semantics.facts.called(call)
        if function is not None:
            parameter = self._semantics.of(References).parameter(call, function, value)
            bound = self._semantics.bindings.of(parameter) if parameter is not None else None
            others.extend([(bound, path)] if bound is not None else [])
            return False
        is_plain = isinstance(call.func, ast.Name) or bool(name)
        is_alone = isinstance(self._semantics.tree.parent(call), ast.Expr)
        return is_alone and is_plain and not name.startswith(_READING)


def _keeps_sort(change: ast.expr) -> bool:
    """Whether a change in place leaves logits what they are, and probabilities, but for some of them."""
    return isinstance(change, ast.Call) and isinstance(change.func, ast.Attribute) and change.func.attr in _KEEPING
