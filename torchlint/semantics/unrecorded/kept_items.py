"""What becomes of the items of a list: whether they can have no graph, or are to have theirs."""

from __future__ import annotations

import ast

from torchlint.semantics import Binding, Semantics

_ARRAYS = frozenset(f"numpy.{name}" for name in ("concatenate", "stack", "vstack", "hstack"))
_ARRAY = frozenset({"numpy.array", "numpy.asarray"})


class KeptItems:
    """Tells of lists whether no graph is kept there for nothing, by what is done with the items."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._without: dict[Binding, bool] = {}
        """Of each binding of a list that was asked for, whether no graph is kept there for nothing."""
        self._giving: dict[Binding, bool] = {}
        """Of each binding of an outer list, whether its function returns one of the items."""

    def have_none(self, root: ast.expr) -> bool:
        """Whether items become arrays, which what requires a gradient cannot, or are handed on for their graph."""
        bindings = self._semantics.bindings.reaching(root) if isinstance(root, ast.Name) else ()
        return any(map(self._has_none, bindings))

    def _has_none(self, binding: Binding) -> bool:
        if binding not in self._without:
            self._without[binding] = any(self._becomes_array(use) or self._is_handed_on(use) for use in binding.uses)
        return self._without[binding]

    def _becomes_array(self, use: ast.Name) -> bool:
        """Whether numpy makes one array of what a name holds, or of an item: of tensors that require a gradient it raises."""
        return self._is_given_to(use, _ARRAYS) or any(self._is_given_to(item, _ARRAY) for item in self._items(use))

    def _is_given_to(self, value: ast.expr, functions: frozenset[str]) -> bool:
        match self._tree.parent(value):
            case ast.Call(func=function, args=[first, *_]) if first is value:
                return self._semantics.qualified_name(function) in functions
        return False

    def _items(self, use: ast.Name) -> tuple[ast.Name, ...]:
        """Where the items of a list are read that a loop goes through: `for item in kept`, `for i, item in enumerate(kept)`."""
        match self._tree.parent(use):
            case ast.Call(func=ast.Name(id="enumerate")) as walked:
                match self._tree.parent(walked):
                    case ast.For(target=ast.Tuple(elts=[_, ast.Name() as item])):
                        pass
                    case _:
                        return ()
            case ast.For(target=ast.Name() as item, iter=walked) if walked is use:
                pass
            case _:
                return ()
        binding = self._semantics.bindings.of(item)
        return tuple(binding.uses) if binding is not None else ()

    def _is_handed_on(self, use: ast.Name) -> bool:
        """Whether an item goes into another list, of which the function returns an item: ``outer.append(inner[-1])``."""
        item = self._tree.parent(use)
        match self._tree.parent(item) if isinstance(item, ast.Subscript) else None:
            case ast.Call(func=ast.Attribute(value=ast.Name() as other, attr="append"), args=[given]) if given is item:
                return any(map(self._gives_item, self._semantics.bindings.reaching(other)))
        return False

    def _gives_item(self, binding: Binding) -> bool:
        """Whether a function returns one item of a list, alone or beside others."""
        if binding not in self._giving:
            self._giving[binding] = any(map(self._is_returned_item, binding.uses))
        return self._giving[binding]

    def _is_returned_item(self, use: ast.Name) -> bool:
        end = self._tree.parent(use)
        if not isinstance(end, ast.Subscript):
            return False
        while isinstance(end, (ast.Subscript, ast.Tuple, ast.Dict)):
            end = self._tree.parent(end)
        return isinstance(end, ast.Return)
