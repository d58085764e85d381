"""What changes values of tensors and arrays in place."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.memory.links import Links, Sharing

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
CHANGING = frozenset(_CHANGES_ARRAY | {name.rpartition(".")[2] for name in _CHANGING_FUNCTIONS})
"""What calls are named that change something in place, but for those whose names end in an underscore."""
_MOST_NAMES = 100
"""So many names for the memory of one tensor are followed; code that has more is generated."""


@dataclass(frozen=True, eq=False, slots=True)
class Change:
    """A place where values are changed in place: ``node`` is the call or the target, ``through`` the value's expression."""

    node: ast.expr
    through: ast.expr


class Changes:
    """Looks up what changes values in one file, right where they are used or through other names for the same memory."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._links = semantics.of(Links)
        self._changes: dict[tuple[ast.expr, bool], Change | None] = {}
        self._changes_through: dict[tuple[Binding, bool], list[Change]] = {}

    def change(self, use: ast.expr, *, also_perhaps: bool = False) -> Change | None:
        """What changes values of ``use``, or of something that is taken of it over the same memory, right where it stands."""
        key = (use, also_perhaps)
        if key not in self._changes:
            self._changes[key] = self._find_change(use, also_perhaps)
        return self._changes[key]

    def _find_change(self, use: ast.expr, also_perhaps: bool) -> Change | None:
        through = use
        while (link := self._links.around(through)) is not None and link.name not in CHANGES_VALUES:
            if link.sharing is Sharing.PERHAPS and not also_perhaps:
                break
            through = link.node
        tree = self._semantics.tree
        parent = tree.parent(through)
        match parent:
            case ast.Attribute(attr=method) if isinstance(call := tree.parent(parent), ast.Call) and call.func is parent:
                if method in CHANGES_VALUES or (method in _CHANGES_ARRAY and self._links.is_array(through)):
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
            self._semantics.kind(call.func.value).is_tensor or self._links.is_array(call.func.value)
        )

    def changes(self, binding: Binding, *, also_perhaps: bool = False) -> list[Change]:
        """What changes values of what ``binding`` binds, through its name, in the order of its uses."""
        key = (binding, also_perhaps)
        if key not in self._changes_through:
            changes = (self.change(use, also_perhaps=also_perhaps) for use in binding.uses)
            augmented = (other.node for other in self.augmented(binding))
            self._changes_through[key] = [
                *(change for change in changes if change is not None),
                *(Change(node, node) for node in augmented if isinstance(node, ast.Name)),
            ]
        return self._changes_through[key]

    def changes_of(self, binding: Binding, seen: set[Binding] | None = None) -> Iterator[Change]:
        """What changes values through a name, or through other names that are bound to it or to a view of it."""
        seen = set() if seen is None else seen
        if binding in seen or len(seen) == _MOST_NAMES:
            return
        seen.add(binding)
        yield from self.changes(binding)
        for use in binding.uses:
            other = self._links.bound_to(self._links.outermost(use))
            if other is not None:
                yield from self.changes_of(other, seen)

    def augmented(self, binding: Binding) -> list[Binding]:
        """The augmented assignments to what ``binding`` bound."""
        return self._augmented.get(binding, [])

    @cached_property
    def _augmented(self) -> dict[Binding, list[Binding]]:
        """For each binding, the augmented assignments to what it bound."""
        found: dict[Binding, list[Binding]] = defaultdict(list)
        for scope in self._semantics.bindings.scopes.values():
            for binding in (binding for bindings in scope.bindings.values() for binding in bindings):
                for previous in binding.before:
                    found[previous].append(binding)
        return found


def _is_text(index: ast.expr) -> bool:
    """Whether an index is a string: the key of a mapping, not a place in a tensor."""
    return isinstance(index, ast.Constant) and isinstance(index.value, str)
