"""Arrays that nobody else has, and that are not used again."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.certainty.arrays import Arrays
from torchlint.semantics.memory.links import Links
from torchlint.semantics.shapes.sizes import number

_SMALL = 1024
"""An array with fewer elements is not worth a word."""


class SpentArrays:
    """Tells of the arrays of a file which are copied for nothing."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._arrays = semantics.of(Arrays)
        self._links = semantics.of(Links)

    def is_copied_for_nothing(self, data: ast.expr) -> bool:
        """Whether ``data`` is an array that nobody else has, and that is not used again."""
        if not self._arrays.is_new_array(data) or self._is_small(data):
            return False
        while (shown := self._arrays.shown_array(data)) is not None:
            data = shown
        return not isinstance(data, ast.Name) or self._is_last_use(data)

    def _is_small(self, data: ast.expr) -> bool:
        """Whether the array is made of few numbers, as far as these are written out."""
        if isinstance(data, ast.Name):
            bindings = self._semantics.bindings.reaching(data)
            return bool(bindings) and all(binding.value is not None and self._is_small(binding.value) for binding in bindings)
        sizes: list[int] = []
        for part in ast.walk(data):
            match part:
                case ast.List() | ast.Tuple() if all(isinstance(item, ast.Constant) for item in part.elts):
                    written = [number(item) for item in part.elts]
                    sizes.append(
                        math.prod(size for size in written if size is not None) if None not in written else len(written)
                    )
                case ast.Call(func=function, args=args) if (self._semantics.qualified_name(function) or "").startswith(
                    "numpy."
                ):
                    numbers = [number(argument) for argument in args]
                    if args and None not in numbers:
                        sizes.append(math.prod(size for size in numbers if size is not None))
                case ast.Name(ctx=ast.Load(), id=name) if not (self._semantics.qualified_name(part) or "").startswith("numpy"):
                    sizes.append(_SMALL if name else 0)
        return bool(sizes) and max(sizes) < _SMALL

    def _is_last_use(self, name: ast.Name) -> bool:
        """Whether the array is neither read nor changed after ``name``, and nothing before may have kept it."""
        bindings, shown = self._with_earlier(self._semantics.bindings.reaching(name))
        if any(_has_other_names(self._semantics.tree.parent(binding.node)) for binding in bindings):
            return False
        made = [binding.node for binding in bindings if binding.form is Form.ASSIGNMENT]
        uses: list[ast.AST] = [use for binding in bindings for use in binding.uses]
        uses += [other.node for binding in bindings for other in self._changes(binding)]
        flow = self._semantics.control_flow
        for use in uses:
            if flow.scope(use) is not flow.scope(name) or flow.may_follow(name, use, avoiding=made):
                return False
            if use is not name and use not in shown and isinstance(use, ast.Name) and self._may_be_kept(use):
                return False
        return True

    def _with_earlier(self, bindings: Iterable[Binding]) -> tuple[set[Binding], set[ast.AST]]:
        """Bindings, those whose values they change or are views of, and the names by which they are."""
        found: set[Binding] = set()
        names: set[ast.AST] = set()
        pending = list(bindings)
        while pending:
            binding = pending.pop()
            if binding in found:
                continue
            found.add(binding)
            pending.extend(binding.before)
            value = binding.value if binding.form is Form.ASSIGNMENT else None
            while value is not None and not isinstance(value, ast.Name):
                value = self._arrays.shown_array(value)
            if isinstance(value, ast.Name):
                names.add(value)
                pending.extend(self._semantics.bindings.reaching(value))
        return found, names

    def _changes(self, binding: Binding) -> list[Binding]:
        """The augmented assignments to what ``binding`` binds."""
        return [other for other in binding.scope.bindings.get(binding.name, ()) if binding in other.before]

    def _may_be_kept(self, use: ast.Name) -> bool:
        """Whether the array, or a view of it, may live on in what is given it; not in numpy's functions and its own methods."""
        value = self._with_views(use)
        parent = self._semantics.tree.parent(value)
        if isinstance(parent, ast.Call) and value in parent.args:
            return not (self._semantics.qualified_name(parent.func) or "").startswith(
                ("numpy.", "builtins.len", "builtins.print")
            )
        return not isinstance(parent, (ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.UnaryOp, ast.AugAssign))

    def _with_views(self, value: ast.expr) -> ast.expr:
        """The longest expression around an array that is the array, or may be a view of it."""
        while True:
            value = self._links.outermost(value, also_perhaps=True)
            parent = self._semantics.tree.parent(value)
            if isinstance(parent, ast.Attribute) and parent.attr != "T":
                parent = self._semantics.tree.parent(parent)
                parent = parent if isinstance(parent, ast.Call) else None
            if isinstance(parent, ast.Call) and self._arrays.shown_array(parent) is not value:
                return value
            if not isinstance(parent, (ast.Attribute, ast.Call)):
                return value
            value = parent

    def are_in_list(self, data: ast.expr) -> bool:
        match data:
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return bool(elements) and all(self._arrays.is_array(element) for element in elements)
            case ast.ListComp(elt=element):
                return self._arrays.is_array(element)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(data)
                return bool(bindings) and all(self._binds_arrays(binding) for binding in bindings)
        return False

    def _binds_arrays(self, binding: Binding) -> bool:
        """Whether a name is bound to a list that arrays, and nothing else, are put into."""
        value = binding.value
        if binding.form is not Form.ASSIGNMENT or binding.path or value is None:
            return False
        if not isinstance(value, ast.List) or value.elts:
            return not isinstance(value, ast.Name) and self.are_in_list(value)
        added: list[ast.expr] = []
        for use in binding.uses:
            parent = self._semantics.tree.parent(use)
            if isinstance(parent, ast.Attribute):
                call = self._semantics.tree.parent(parent)
                if parent.attr != "append" or not isinstance(call, ast.Call) or len(call.args) != 1:
                    return False
                added.append(call.args[0])
        return bool(added) and all(self._arrays.is_array(item) for item in added)


def _has_other_names(statement: ast.AST | None) -> bool:
    """Whether an assignment gives a value to several targets: ``y = z = …``."""
    return isinstance(statement, ast.Assign) and len(statement.targets) > 1
