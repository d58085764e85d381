"""Parameters that are annotated as a tensor and get something else, as the file itself shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, is_none


class BeliedAnnotations:
    """Tells of parameters whether what they are said to be is not so."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[Binding, bool] = {}

    def is_belied(self, parameter: Binding) -> bool:
        """Whether a call in the file gives a parameter what is no tensor, or its default is none; ``None`` does not count."""
        if parameter not in self._known:
            self._known[parameter] = False  # while the calls are looked at
            self._known[parameter] = any(map(self._is_no_tensor, self._given(parameter)))
        return self._known[parameter]

    def _given(self, parameter: Binding) -> Iterator[ast.expr]:
        function, argument = parameter.scope.node, parameter.node
        if isinstance(function, FUNCTIONS) and isinstance(argument, ast.arg):
            default = self._semantics.facts.default(function, argument)
            if default is not None:
                yield default
        for each in self._semantics.inference.given(parameter):
            if each is not None:
                yield from self._items(each) or (each,)

    def _items(self, node: ast.expr) -> list[ast.expr]:
        """The items of a list that is written out, where a loop goes through it by the name: ``for x in [1, w]: scale(x)``."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        match bindings:
            case [Binding(form=Form.LOOP, path=(), value=ast.List(elts=items) | ast.Tuple(elts=items))]:
                return items
        return []

    def _is_no_tensor(self, given: ast.expr) -> bool:
        kind = self._semantics.kind(given)
        return not is_none(given) and kind.type in (Type.SEQUENCE, Type.ARRAY, Type.NUMBER)
