"""Values that say where: ``x.scatter_(1, seen, 0)``, or that places are copied into. They are integers, which have no graph."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name

_BY_PLACE = frozenset(
    {
        *("gather", "index_select", "index_fill", "index_fill_", "index_copy", "index_copy_", "index_add", "index_add_"),
        *("scatter", "scatter_", "scatter_add", "scatter_add_"),
    }
)
"""Methods whose second argument says where, and functions of torch whose third one does: torch 2.13 takes integers alone."""
_DRAWS = frozenset({"multinomial", "argmax", "argmin", "argsort", "randint", "randperm"})
"""What gives integers."""
_COPIES = frozenset({"index_copy_", "copy_", "masked_scatter_", "scatter_"})
_KEEPS = frozenset(
    {"view", "squeeze", "unsqueeze", "reshape", "flatten", "contiguous", "cpu", "cuda", "to", "clone", "detach", "expand"}
    | {"index_select", "masked_select", "gather", "long", "expand_as", "t"}
)
"""Methods of integers whose results are such."""


class Places:
    """Tells of values whether they, as they are or in part, say where something is."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are(self, value: ast.expr) -> bool:
        """Whether a value, in whatever form, is an index to read or write by, or gets a copy of such under its name."""
        end = self._end(value)
        if self._says_where(end):
            return True
        match self._tree.parent(end):
            case ast.Assign(targets=[ast.Name() as target], value=assigned) if assigned is end:
                binding = self._semantics.bindings.of(target)
                uses = binding.uses if binding is not None else ()
                return any(
                    self._semantics.bindings.reaching(use) == (binding,)
                    and (self._says_where(self._end(use)) or self._gets(use))
                    for use in uses
                )
        return False

    def _says_where(self, value: ast.expr) -> bool:
        call = self._tree.parent(value)
        word = ""
        if isinstance(call, ast.keyword):
            word, call = call.arg or "", self._tree.parent(call)
        if not isinstance(call, ast.Call) or last_name(call.func) not in _BY_PLACE or self._is_own(call.func):
            return False
        if word:
            return word == "index"
        is_function = (self._semantics.qualified_name(call.func) or "").startswith("torch.")
        place = 2 if is_function else 1
        return len(call.args) > place and call.args[place] is value

    def _is_own(self, function: ast.expr) -> bool:
        """Whether a method of the object itself is called so, or a function that the file defines or has from elsewhere."""
        return not isinstance(function, ast.Attribute) or self._semantics.facts.self_class(function.value) is not None

    def _gets(self, use: ast.Name) -> bool:
        """Whether drawn integers are copied into what a name stands for: ``it.index_copy_(0, i, torch.multinomial(p, 1))``."""
        call = self._tree.called(use, _COPIES)
        return isinstance(call, ast.Call) and bool(call.args) and self._is_drawn(call.args[-1])

    @staticmethod
    def _is_drawn(value: ast.expr) -> bool:
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPS:
            value = value.func.value
        return isinstance(value, ast.Call) and last_name(value.func) in _DRAWS

    def _end(self, value: ast.expr) -> ast.expr:
        """What ``.data``, moves and views make of a value in the end."""
        while True:
            match parent := self._tree.parent(value):
                case ast.Attribute(attr="data"):
                    value = parent
                case ast.Attribute(attr=method) if method in _KEEPS - {"long", "index_select", "masked_select", "gather"}:
                    call = self._tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return value
                    value = call
                case ast.Subscript(value=whole) if whole is value:
                    value = parent
                case _:
                    return value
