"""Which values have a graph as a reader of the function would say: a model, a layer or torch computes them there.

That nothing speaks against a graph, which `likely.graphless` tells, is less: what callers hand in, or an object holds, may be
anything, however it is called.
"""

from __future__ import annotations

import ast
import builtins
import re

from torchlint.semantics import Binding, Form, Grad, Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.torch_api import TENSOR_METHODS

_OUTPUTS = re.compile(
    r"pred|(^|_)outs?(_|\d|$)|outputs?|logits?|scores?(_|\d|$)|prob|softmax|(^|_)log_?ps?(_|$)|fake|generated|(^|_)gen(_|$)|"
    r"hat(_|\d|$)|recon|decoded|hidden|(^|_)(mu|log_?var)(_|\d|$)|loss|entropy|nll|elbo|(^|_)(errs?|errors?|costs?)(_|\d|$)",
    re.IGNORECASE,
)
"""Parts of the names of what a model gives, and of losses."""
_FIGURES = re.compile(
    r"(^|_)(accs?|accuracy|accuracies|n?_?corrects?|hits|f1|m?iou|precision|recall|bleu|[wc]er)(_|\d|$)", re.IGNORECASE
)
"""Parts of the names of figures that are counted, and have no graph."""
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
_LIBRARIES = frozenset({"torch", "torchvision", "numpy", "math", "random", "copy", "itertools", "functools", "cv2"})
"""Libraries whose functions are no models."""
_FILLS = frozenset({"append", "extend", "insert"})
_INFERS = re.compile(r"(^|_)(infer\w*|synthesi[sz]e|beam\w*|greedy|samplers?|sampling|sample)(_|$)", re.IGNORECASE)
"""What methods are called that only have a model infer, for callers that have turned autograd off."""
_DEPTH = 4


class EvidentGraphs:
    """Tells of tensors whether something in the file shows that they have a graph, or are leaves that require grad."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._bound: dict[tuple[Binding, int], bool] = {}
        self._inferring: dict[ast.AST, bool] = {}

    def shows(self, node: ast.expr) -> bool:
        """Whether ``node`` has a graph by what computes it in the function: a model, a layer, or a call whose result is called
        like an output or a loss.

        So has what a function is given that leaves the graph by its name: ``repackage_hidden(h)``. What a method computes
        that only infers is left to its callers, and what is called like a count of right answers has none.
        """
        if isinstance(node, ast.Name) and _FIGURES.search(node.id) is not None:
            return False
        function = self._tree.function(node)
        if function is not None and _DETACHES.search(getattr(function, "name", "")) is not None:
            return True
        if self._semantics.kind(node).grad is Grad.LEAF:
            return True
        return not self._only_infers(function) and self._shows(node, _DEPTH)

    def _only_infers(self, function: ast.AST | None) -> bool:
        """Whether a method is called like one that has a model infer, for whom it may concern, and back-propagates nothing."""
        if not isinstance(function, FUNCTIONS) or _INFERS.search(function.name) is None:
            return False
        if not isinstance(self._tree.parent(function), ast.ClassDef):
            return False
        if function not in self._inferring:
            attributes = (part for part in ast.walk(function) if isinstance(part, ast.Attribute))
            self._inferring[function] = all(part.attr != "backward" for part in attributes)
        return self._inferring[function]

    def _shows(self, node: ast.expr, depth: int) -> bool:
        parts = [node]
        while parts:
            part = parts.pop()
            if self._semantics.kind(part).grad in (Grad.GRAPH, Grad.LEAF) or self._is_of_model(part):
                return True
            if isinstance(part, ast.Name) and self._is_bound_to_one(part, depth):
                return True
            if self._is_entry_of_result(part) or self._is_propagated(part):
                return True
            parts += self._computed_of(part)
        return False

    def _is_of_model(self, node: ast.expr) -> bool:
        """Whether something that is called a model gives a value."""
        return isinstance(node, ast.Call) and _MODEL.search(last_name(node.func)) is not None

    def _is_propagated(self, node: ast.expr) -> bool:
        """Whether a value that is called like an output or a loss is back-propagated, itself or in a sum or a product."""
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if _OUTPUTS.search(name) is not None:
                return self._semantics.of(Backpropagated).name(node)
        return False

    def _is_entry_of_result(self, node: ast.expr) -> bool:
        """Whether a value is taken, by the name of an output or a loss, out of what a call gave: ``found["loss"]``."""
        match node:
            case (
                ast.Subscript(value=ast.Name() as whole, slice=ast.Constant(value=str(name)))
                | ast.Attribute(value=ast.Name() as whole, attr=name)
            ) if _OUTPUTS.search(name) is not None:
                bindings = self._semantics.bindings.reaching(whole)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT and each.value is not None and self._is_unknown_call(each.value)
                    for each in bindings
                )
        return False

    def _is_unknown_call(self, value: ast.expr) -> bool:
        """Whether code that is neither torch's nor another library's gives a value, perhaps a model."""
        while isinstance(value, ast.Subscript):
            value = value.value
        if not isinstance(value, ast.Call) or self._computed_of(value):
            return False
        library, _, name = (self._semantics.qualified_name(value.func) or "").partition(".")
        if library in _LIBRARIES or (library == "builtins" and hasattr(builtins, name)):
            return False
        return not (isinstance(value.func, ast.Attribute) and value.func.attr in TENSOR_METHODS)

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
        """Whether an assignment, or a loop, gives what has a graph: ``for each in outputs``."""
        if (binding, depth) not in self._bound:
            self._bound[binding, depth] = self._is_assigned_one(binding, depth)
        return self._bound[binding, depth]

    def _is_assigned_one(self, binding: Binding, depth: int) -> bool:
        value = _own_part(binding)
        if value is None or binding.form not in (Form.ASSIGNMENT, Form.LOOP, Form.AUGMENTED):
            return False
        if self._is_one_of_several(binding):
            return False
        if self._shows(value, depth) or (_OUTPUTS.search(binding.name) is not None and self._is_unknown_call(value)):
            return True
        if binding.form is Form.AUGMENTED:
            return any(self._is_given_one(each, depth - 1) for each in binding.before) if depth else False
        return isinstance(value, ast.List) and self._is_filled_with_one(binding, depth)

    def _is_filled_with_one(self, binding: Binding, depth: int) -> bool:
        """Whether a list gets a value that has a graph: ``outputs.append(self.decoder(x))``."""
        if not depth:
            return False
        for use in binding.uses:
            call = self._tree.called(use, _FILLS)
            if call is not None and any(self._shows(each, depth - 1) for each in call.args):
                return True
        return False

    def _is_one_of_several(self, binding: Binding) -> bool:
        """Whether a name is given one of several results of torch's, perhaps the places of a maximum; kinds tell of these."""
        match binding.value:
            case ast.Call(func=function) if binding.path:
                name = self._semantics.qualified_name(function) or ""
                return name.startswith("torch.") or (isinstance(function, ast.Attribute) and function.attr in TENSOR_METHODS)
        return False


def _own_part(binding: Binding) -> ast.expr | None:
    """What gives a name its value, of several beside one another the one that is meant for it: ``a, b = [], model(x)``."""
    value = binding.value
    for place in binding.path:
        if not isinstance(value, (ast.Tuple, ast.List)) or any(isinstance(each, ast.Starred) for each in value.elts):
            break
        if place is None or place >= len(value.elts):
            break
        value = value.elts[place]
    return value
