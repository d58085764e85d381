"""Which values have no graph to leave, as a reader of the file would say: what damage nobody needs to be told of.

It is enough that something shows it, and nothing the contrary: a name, or a loss that takes classes. What a safe fix rests on
is `graphs.graphless`; what a computation is made of tells `unrecorded.plain_values`, for which no name of a label counts.
"""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Grad, Semantics, Type
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import spoken_name
from torchlint.semantics.graphs.frozen.attributes import FrozenAttributes
from torchlint.semantics.graphs.frozen.results import FrozenResults
from torchlint.semantics.graphs.likely.choosing import Choosing
from torchlint.semantics.graphs.likely.cut_values import VARIABLE, CutValues
from torchlint.semantics.graphs.likely.given_arrays import GivenArrays
from torchlint.semantics.graphs.likely.handed_in import HandedIn
from torchlint.semantics.graphs.likely.inputs import LikelyInputs
from torchlint.semantics.graphs.likely.looked_up import LookedUp
from torchlint.semantics.graphs.likely.origins import LOOKS, origin_of
from torchlint.semantics.graphs.likely.places import Places
from torchlint.semantics.graphs.likely.plain_runs import PlainRuns
from torchlint.semantics.graphs.likely.refilled import RefilledTensors
from torchlint.semantics.graphs.likely.unrecorded_values import UnrecordedValues
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.provenance.registered_buffers import RegisteredBuffers

_LABELS = re.compile(
    r"(^|_)(labels?|targets?|tgts?|gts?|ground_?truths?|y_?true|classes|lengths?|lens?|masks?|idx|idxs|ind|inds|indices|ids|"
    r"priors?|anchors?|prior_?boxes)($|_)",
    re.IGNORECASE,
)
"""Names of what a dataset gives for an answer, of integers and of fixed boxes: no layer of a model makes these."""
_INTEGERS = re.compile(r"(^|_)(lengths?|lens?|idxs?|inds|indices|ids)$|^(num|n)_|^(?-i:len(gth)?[A-Z])", re.IGNORECASE)
"""Names of what is counted or points to something, a model's outputs among them: `output_lengths`, `lenY`."""
_ANSWER = re.compile(r"y(s|_?(b|batch|batched|i|\d|train|test|val))?", re.IGNORECASE)
"""What a function calls the answers that it is given: labels, unless it makes something else of them."""
_OUTPUTS = re.compile(
    r"pred|out|logit|score|prob|soft|gen|fake|hat|embed|param|weight|loss|(^|_)(errs?|errors?|costs?)($|_)", re.IGNORECASE
)
"""Parts of names of what a model gives, or has: ``target_param`` is of the target network, ``err_label`` a loss."""
_CLASS_LOSSES = frozenset({"cross_entropy", "nll_loss", "multi_margin_loss", "CrossEntropyLoss", "NLLLoss", "MultiMarginLoss"})
"""Losses of torch whose targets are classes as a rule."""
COUNTED_FIGURES = re.compile(r"(\w+_)?(acc|accs|accuracy|accuracies|prec[15]|top[15]|n?_?correct)\d?")
"""Names of figures that are counted."""
_ASKS = frozenset({"requires_grad", "requires_grad_"})
_DEPTH = 4


class LikelyGraphless:
    """Tells of tensors whether nothing gives them a graph, as far as the file shows."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._inputs = semantics.of(LikelyInputs)
        self._looked_up = semantics.of(LookedUp)
        self._unrecorded = semantics.of(UnrecordedValues)
        self._cut = semantics.of(CutValues)
        self._buffers = semantics.of(RegisteredBuffers)
        self._frozen = semantics.of(FrozenResults)
        self._plain_runs = PlainRuns(semantics, self.is_graphless)
        self._choosing = semantics.of(Choosing)
        self._handed_in = HandedIn(semantics, self.is_graphless)
        self._classes: dict[Binding, bool] = {}
        """What is bound by each binding that was asked for: whether it is given to a loss as classes."""
        self._constants: dict[tuple[ast.ClassDef, str], bool] = {}
        """Of each attribute that was asked for, whether nothing that may have a graph is kept there."""

    def is_graphless(self, node: ast.expr) -> bool:
        """Whether ``node`` has no graph: by what makes it, as it is a label, or as it is made where autograd is off."""
        if self._is_cut_by_wrapper(node):
            return False  # TPL101 takes the wrapper away, and with it what it cut
        kind = self._semantics.kind(node)
        if kind.grad is not Grad.LEAF and (self._unrecorded.is_given(origin_of(node)) or self._frozen.are(origin_of(node))):
            return True
        if self._semantics.of(FrozenAttributes).are(origin_of(node)) or self._plain_runs.are(origin_of(node)):
            return True
        if kind.is_tensor and kind.grad is not Grad.UNKNOWN:
            return kind.grad is Grad.NONE or (self.is_handed_in(node) and self._choosing.is_one(node))
        if kind.type not in (Type.TENSOR, Type.UNKNOWN):
            return False
        origin = origin_of(node)
        if self.names_label(origin) or self._is_class_target(origin) or self._unrecorded.is_made(origin):
            return True
        if (
            self._choosing.is_one(node)
            or self._semantics.of(Places).are(node)
            or self._is_kept_as_label(node, origin)
            or self._looked_up.are(origin)
        ):
            return True
        if self._is_of_data_set(origin) or self._buffers.has(origin) or self._is_kept_constant(origin):
            return True
        return (
            self._cut.is_of_cut(origin)
            or self._inputs.is_input(origin)
            or self._unrecorded.is_gathered(origin)
            or self._is_figure(origin)
            or self._semantics.of(GivenArrays).are(origin)
            or self._semantics.of(RefilledTensors).are(origin)
            or self._handed_in.are_graphless(origin)
        )

    def is_handed_in(self, node: ast.expr) -> bool:
        """Whether a value is an argument of its function, or an item of one, so that the callers decide what it is."""
        return self._handed_in.is_one(node)

    def _is_figure(self, node: ast.expr) -> bool:
        """Whether a value is made of what was predicted with autograd off: in another form, or compared with labels."""
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in LOOKS:
                return self._unrecorded.is_one(origin_of(inner)) or self._unrecorded.is_gathered(origin_of(inner))
            case ast.Call(func=ast.Name() | ast.Attribute() as function, args=[ast.Name() as predicted, *others], keywords=[]):
                if self._semantics.kind(function).type is Type.MODULE and self._has_parameters(function):
                    return False
                is_compared = any(isinstance(other, ast.Name) and self.names_label(other) for other in others)
                return is_compared and not self.names_label(predicted) and self._unrecorded.is_given(predicted)
        return False

    def _has_parameters(self, module: ast.expr) -> bool:
        """Whether a module is none of torch's losses."""
        return self._semantics.kind(module).name not in LOSS_MODULES

    def _is_of_data_set(self, node: ast.expr) -> bool:
        """Whether a loop takes a value out of one of torchvision's data sets."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return bool(bindings) and all(
            each.form is Form.LOOP and each.value is not None and self._is_data_set(each.value) for each in bindings
        )

    def _is_data_set(self, value: ast.expr) -> bool:
        if isinstance(value, ast.Call):
            return (self._semantics.qualified_name(value.func) or "").startswith("torchvision.datasets.")
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        return bool(bindings) and all(
            isinstance(each.value, ast.Call) and not each.path and self._is_data_set(each.value) for each in bindings
        )

    def _is_kept_as_label(self, node: ast.expr, origin: ast.expr) -> bool:
        """Whether a function takes a `y` for its labels: `target = y.cpu().data.numpy()`."""
        if not isinstance(origin, ast.Name) or _ANSWER.fullmatch(origin.id) is None:
            return False
        bindings = self._semantics.bindings.reaching(origin)
        if not bindings or any(binding.form is not Form.PARAMETER for binding in bindings):
            return False
        target = self._choosing.name_of(node)
        return target is not None and self.names_label(target)

    def _is_cut_by_wrapper(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether a value has no graph only because a plain ``Variable(…)`` cuts what may have one."""
        if depth == _DEPTH:
            return True
        for part in ast.walk(node):
            values = [part]
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                values = [binding.value for binding in self._semantics.bindings.reaching(part) if binding.value is not None]
            for value in values:
                if isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == VARIABLE:
                    held = value.args[0] if value.args else None
                    if held is not None and not self._has_none_of_itself(held, depth + 1):
                        return True
        return False

    def _has_none_of_itself(self, node: ast.expr, depth: int) -> bool:
        """Whether what a wrapper holds has no graph, and no wrapper is why."""
        if self._cut.is_cut(node):
            return True  # before it was wrapped: `Variable(net(x).data)`
        kind = self._semantics.kind(node)
        is_known = kind.is_tensor and kind.grad is Grad.NONE
        has_none = is_known or self.names_label(origin_of(node)) or self._inputs.is_read(node)
        return has_none and not self._is_cut_by_wrapper(node, depth)

    def names_label(self, node: ast.expr) -> bool:
        """Whether a value, or the batch's attribute or entry that it is, is called a label."""
        match node:
            case ast.Subscript(slice=ast.Constant(value=str(name))):
                pass
            case _:
                name = spoken_name(node)
        if _INTEGERS.search(name) is not None:
            return True
        if COUNTED_FIGURES.fullmatch(name.lower()) is not None and isinstance(node, ast.Name):
            return True
        return _LABELS.search(name) is not None and _OUTPUTS.search(name) is None

    def _is_kept_constant(self, node: ast.expr) -> bool:
        """Whether all that a class keeps in an attribute is what it makes of no graph, or that on another device."""
        owner = self._semantics.facts.self_class(node.value) if isinstance(node, ast.Attribute) else None
        if owner is None or not isinstance(node, ast.Attribute):
            return False
        if (owner, node.attr) not in self._constants:
            slots = self._semantics.facts.slots(owner, node.attr)
            stores = [store for slot in slots for store in slot.stores]
            parents = [self._tree.parent(use) for slot in slots for use in slot.uses]
            is_asked = any(
                isinstance(each, ast.Attribute) and each.attr in _ASKS for each in [*parents, *map(self._tree.parent, stores)]
            )
            values = [getattr(self._tree.parent(store), "value", None) for store in stores]
            made = [value for value in values if not self._is_itself(value, node.attr)]
            self._constants[owner, node.attr] = bool(made) and not is_asked and all(map(self._is_made_plain, made))
        return self._constants[owner, node.attr]

    def _is_itself(self, value: ast.expr | None, name: str) -> bool:
        """Whether an attribute is given its own value on another device: ``self.top = self.top.to(x.device)``."""
        if not isinstance(value, ast.Call):
            return False
        origin = origin_of(value)
        return (
            isinstance(origin, ast.Attribute)
            and origin.attr == name
            and self._semantics.facts.self_class(origin.value) is not None
        )

    def _is_made_plain(self, value: ast.expr | None) -> bool:
        if value is None:
            return False
        kind = self._semantics.kind(value)
        return kind.is_tensor and kind.grad is Grad.NONE and not self._is_cut_by_wrapper(value)

    def _is_class_target(self, node: ast.expr) -> bool:
        """Whether a name is given to a loss as the classes that are to be found."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        return any(map(self._is_given_as_classes, bindings))

    def _is_given_as_classes(self, binding: Binding) -> bool:
        if binding not in self._classes:
            self._classes[binding] = any(map(self._is_target_of_class_loss, binding.uses))
        return self._classes[binding]

    def _is_target_of_class_loss(self, use: ast.Name) -> bool:
        match self._tree.parent(use):
            case ast.Call(func=function, args=[_, target, *_]) if target is use:
                name = self._semantics.qualified_name(function) or self._semantics.kind(function).name
                return name.rpartition(".")[2] in _CLASS_LOSSES
        return False
