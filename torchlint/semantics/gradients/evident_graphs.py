"""Which values have a graph as a reader of the file would say: what computes them shows it, or they are called so.

That nothing speaks against a graph, which `likely.graphless` tells, is less: what callers hand in, or unknown code gives, may
be anything.
"""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.torch_api import TENSOR_METHODS

_OUTPUTS = re.compile(
    r"pred|(^|_)outs?(_|\d|$)|outputs?|logits?|scores?(_|\d|$)|prob|softmax|(^|_)log_?ps?(_|$)|fake|generated|(^|_)gen(_|$)|"
    r"hat(_|\d|$)|recon|decoded|hidden|(^|_)(mu|log_?var)(_|\d|$)|loss|entropy|nll|elbo|(^|_)(errs?|errors?|costs?)(_|\d|$)",
    re.IGNORECASE,
)
"""Parts of the names of what a model gives, and of losses."""
_MODEL = re.compile(
    r"(^|_)(model|q?_?net|network|critic|actor|policy|encoder|decoder|generator|discriminator)(_|$|\d)|^net[A-Z]|^G(_|$)"
)
"""What models are called."""
_DETACHES = re.compile(r"repackage|detach|truncate", re.IGNORECASE)
"""Parts of the names of functions that are there to leave the graph."""
_PASSES = frozenset(
    {"builtins.zip", "builtins.enumerate", "builtins.list", "builtins.tuple", "builtins.reversed", "builtins.sum"}
)
_CHOOSE = frozenset({"torch.gather", "torch.index_select", "torch.take", "torch.take_along_dim"})
"""Functions that are given places besides the tensor."""
_DEPTH = 4


class EvidentGraphs:
    """Tells of tensors whether something in the file shows that they have a graph, or are leaves that require grad."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._bound: dict[tuple[Binding, int], bool] = {}

    def shows(self, node: ast.expr) -> bool:
        """Whether ``node`` has a graph by what computes it, a model or a layer, or is called like an output or a loss.

        So has what a function is given that leaves the graph by its name: ``repackage_hidden(h)``.
        """
        function = self._tree.function(node)
        if function is not None and _DETACHES.search(getattr(function, "name", "")) is not None:
            return True
        return self._shows(node, _DEPTH)

    def _shows(self, node: ast.expr, depth: int) -> bool:
        parts = [node]
        while parts:
            part = parts.pop()
            if self._semantics.kind(part).grad in (Grad.GRAPH, Grad.LEAF) or self._is_called_so(part):
                return True
            if isinstance(part, ast.Name) and self._is_bound_to_one(part, depth):
                return True
            parts += self._computed_of(part)
        return False

    def _is_called_so(self, node: ast.expr) -> bool:
        """Whether a value or an entry has the name of an output or a loss, or something called a model gives it."""
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(name))) | ast.Name(id=name) | ast.Attribute(attr=name):
                return _OUTPUTS.search(name) is not None
            case ast.Call(func=function):
                return _MODEL.search(last_name(function)) is not None
        return False

    def _computed_of(self, node: ast.expr) -> list[ast.expr]:
        """What a value is computed of, or an item of, by torch, its methods or operators."""
        match node:
            case ast.Subscript(value=value) | ast.Starred(value=value) | ast.UnaryOp(operand=value):
                return [value]
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.IfExp(body=first, orelse=other):
                return [first, other]
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return parts
            case ast.ListComp(elt=item) | ast.GeneratorExp(elt=item):
                return [item]
            case ast.Call(func=function, args=given):
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("torch.") or name in _PASSES:
                    return given[:1] if name in _CHOOSE else given
                if isinstance(function, ast.Attribute) and function.attr in TENSOR_METHODS:
                    return [function.value]
        return []

    def _is_bound_to_one(self, name: ast.Name, depth: int) -> bool:
        bindings = self._semantics.bindings.reaching(name) if depth else ()
        return any(self._is_given_one(each, depth - 1) for each in bindings)

    def _is_given_one(self, binding: Binding, depth: int) -> bool:
        """Whether an assignment, or a loop, gives what has a graph: ``for each in model.outputs``."""
        if (binding, depth) not in self._bound:
            is_followed = binding.form in (Form.ASSIGNMENT, Form.LOOP) and not self._is_one_of_several(binding)
            value = binding.value if is_followed else None
            self._bound[binding, depth] = value is not None and self._shows(value, depth)
        return self._bound[binding, depth]

    def _is_one_of_several(self, binding: Binding) -> bool:
        """Whether a name is given one of several results of torch's, perhaps the places of a maximum; kinds tell of these."""
        match binding.value:
            case ast.Call(func=function) if binding.path:
                name = self._semantics.qualified_name(function) or ""
                return name.startswith("torch.") or (isinstance(function, ast.Attribute) and function.attr in TENSOR_METHODS)
        return False
