"""What functions, and methods of other files, give that run with autograd off themselves, and torchvision's pictures."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function
from torchlint.semantics.kinds.calls import is_without_parameters
from torchlint.semantics.summaries.lookup import ClassElsewhere
from torchlint.semantics.summaries.shown.unrecorded import gives_unrecorded
from torchlint.semantics.summaries.summary import Open

_PICTURES = frozenset(
    f"torchvision.utils.{name}"
    for name in ("make_grid", "draw_bounding_boxes", "draw_segmentation_masks", "draw_keypoints", "flow_to_image")
)
"""Functions that torchvision decorates with ``torch.no_grad()``."""
_POINTWISE = frozenset({"softmax", "log_softmax", "sigmoid", "tanh", "relu", "exp", "squeeze", "unsqueeze"})
"""Methods, and functions of torch, whose results have a graph only if what they are given has one."""


class UnrecordedResults:
    """Tells of calls whether a decorator of what they run keeps their results out of every graph."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._functions: dict[Function, bool] = {}

    def gives(self, call: ast.Call) -> bool:
        """Whether a call runs a function, or a method of another file, that gives what it makes with autograd off alone."""
        if self._semantics.qualified_name(call.func) in _PICTURES:
            return True
        definition = self._semantics.facts.definition(call.func)
        if isinstance(definition, FUNCTIONS):
            if definition not in self._functions:
                self._functions[definition] = gives_unrecorded(definition)
            return self._functions[definition]
        elsewhere = self._semantics.elsewhere
        if not elsewhere.is_in_project:
            return False
        function = elsewhere.function(call.func)
        if function is not None:
            return function.summary.unrecorded and not self._hands_back(elsewhere.lookup.given(function).type)
        kind = self._semantics.kind(call.func)
        if kind.type is Type.MODULE and kind.elsewhere is not None:
            return self._is_unrecorded(kind.elsewhere, "forward")
        if not isinstance(call.func, ast.Attribute):
            return False
        owners = self._owners(call.func.value)
        return bool(owners) and all(owner is not None and self._is_unrecorded(owner, call.func.attr) for owner in owners)

    def _owners(self, value: ast.expr) -> list[ClassElsewhere | None]:
        """The classes that something may be an instance of: of an argument, those of what the calls in the file give."""
        kind = self._semantics.kind(value)
        if kind.classes_elsewhere or not isinstance(value, ast.Name):
            return [*kind.classes_elsewhere]
        inference = self._semantics.inference
        given = [each for binding in self._semantics.bindings.reaching(value) for each in inference.given(binding)]
        return [self._semantics.kind(each).elsewhere if each is not None else None for each in given]

    def computes_of(self, call: ast.Call) -> ast.expr | None:
        """What a function, a method or a layer without parameters computes something of, so that only its graph goes on."""
        match call:
            case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in _POINTWISE:
                if (self._semantics.qualified_name(call.func) or "").startswith("torch."):
                    return first
        match call:
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _POINTWISE:
                return value
            case ast.Call(func=function, args=[only], keywords=[]):
                kind = self._semantics.kind(function)
                if kind.type is Type.MODULE and is_without_parameters(kind.name):
                    return only
        return None

    def _is_unrecorded(self, owner: ClassElsewhere, method: str) -> bool:
        """Whether a method of a class, or of the first of its bases that has it, gives only such."""
        lookup = self._semantics.elsewhere.lookup
        for base in lookup.bases(owner):
            if not isinstance(base, ClassElsewhere):
                if base is None:
                    return False
                continue
            if method in base.summary.methods:
                return method in lookup.body(base).unrecorded
        return False

    def _hands_back(self, given: str) -> bool:
        """Whether a function gives an argument as it is, with the graph that it has."""
        return given == Open.ARGUMENT.value
