"""Tensors that a function has for one step, as a beam search has its scores: what is changed of them may spoil no gradient.

A weight lives on, is in the graph of each step, and is changed between these; so a change of it that autograd does not see is
a hazard by itself. A value of a step may be one of a training as well as one of a decoder that only runs. So whoever is told
of a change of it needs to know more: that it has a graph.
"""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Grad, Semantics, torch_api
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, last_name

_LASTING = re.compile(
    r"param|weight|bias|state_dict|module|layer|buffer|embed|emb($|_)|kernel|theta|model|net($|_|\d)|optim|group|filter|codebook|"
    r"gamma|beta|average|avg|ema|shadow|named_|children|^(get|load|next|list|copy|deepcopy|dict|tuple|getattr)($|_)",
    re.IGNORECASE,
)
"""Words of what lives longer than a step, and of calls that may give it."""
_WEIGHT = re.compile(r"[a-z]?(p|w|b|t)\d?|tensor")
"""Short names that weights go by."""
_SAME = torch_api.VIEW_METHODS | torch_api.MAYBE_VIEW_METHODS | {"cpu", "cuda", "to", "detach", "index_select"}
_DEPTH = 6


class PassingValues:
    """Tells of tensors whether they are a function's own for a step, and nothing gives them a graph."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_passing(self, tensor: ast.expr) -> bool:
        """Whether a tensor is an argument, or what other code gave, that nothing shows to be a weight, or to have a graph.

        What the function computes of tensors itself is taken to have one, and so is all in the ``forward`` of a module.
        """
        function = self._semantics.tree.function(tensor)
        if isinstance(function, FUNCTIONS) and function.name == "forward" and self._semantics.kind(tensor).is_tensor:
            return False
        if function in self._back_propagating:
            return False
        return self._is_passing(tensor, _DEPTH)

    @cached_property
    def _back_propagating(self) -> frozenset[ast.AST | None]:
        """The functions that call a backward, and those around them: ``def closure():`` within a loop of steps."""
        return frozenset(
            around
            for call in self._semantics.facts.calls.get("backward", ())
            for around in self._semantics.tree.ancestors(call)
            if isinstance(around, (*FUNCTIONS, ast.Lambda))
        )

    def _is_passing(self, node: ast.expr, depth: int) -> bool:
        if not depth or self._semantics.kind(node).grad in (Grad.LEAF, Grad.GRAPH):
            return False
        match node:
            case ast.Name(id=name):
                if _LASTING.search(name) or _WEIGHT.fullmatch(name):
                    return False
                bindings = self._semantics.bindings.reaching(node)
                return bool(bindings) and all(self._passes(each, depth - 1) for each in bindings)
            case ast.Subscript(value=inner) | ast.Attribute(value=inner, attr="data"):
                return self._is_passing(inner, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _SAME:
                return self._is_passing(inner, depth)
            case ast.Call(func=function):
                return _LASTING.search(last_name(function)) is None and not self._semantics.kind(node).is_tensor
        return False

    def _passes(self, binding: Binding, depth: int) -> bool:
        match binding:
            case Binding(form=Form.PARAMETER):
                return not isinstance(binding.scope.node, ast.Lambda)
            case Binding(form=Form.LOOP, value=ast.expr() as walked):
                return not _speaks_of_lasting(walked)
            case Binding(form=Form.ASSIGNMENT, value=ast.expr() as value):
                return self._is_passing(value, depth)
        return False


def _speaks_of_lasting(node: ast.expr) -> bool:
    names = (last_name(part) for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute)))
    return any(_LASTING.search(name) for name in names)
