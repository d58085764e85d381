"""Whether a loss may be back-propagated for certain: a number with a graph that nothing else goes back through."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Form, Grad, Semantics, torch_api
from torchlint.semantics.certainty.own_tensors import OwnTensors
from torchlint.semantics.certainty.sources import Condition, Sources
from torchlint.semantics.certainty.torch_objects import TorchObjects

_SWITCHES = frozenset(
    {"requires_grad", "requires_grad_", "set_grad_enabled", "inference_mode", "enable_grad", "autograd", "retain_graph", "grad"}
)
"""Words of code that has to do with graphs in ways of its own."""
_REDUCING = frozenset({"reduction", "reduce", "size_average", None})
_NUMBERS = frozenset(f"builtins.{name}" for name in ("print", "float", "str", "repr", "format"))


class Losses:
    """Tells of names whether they are losses with a graph, made of layers of torch and data that has none."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def may_be_propagated(self, loss: ast.Name) -> Fact:
        """Whether ``loss.backward()`` runs, and nothing but that goes back through the graph."""
        doubt = unknown(f"nothing shows that `{loss.id}` is a number with a graph of its own")
        if self._tree.function(loss) is not None or self._semantics.no_grad.block(loss):
            return unknown(f"autograd may be off where `{loss.id}` is computed")
        bindings = self._semantics.bindings.reaching(loss)
        if (
            len(bindings) != 1
            or bindings[0].form is not Form.ASSIGNMENT
            or bindings[0].path
            or _SWITCHES & self._semantics.words.all
        ):
            return doubt
        match bindings[0].value:
            case ast.Call(func=function, args=[ast.Call() as prediction, ast.expr() as target], keywords=words) as call:
                is_mean = not words and self._semantics.kind(call).grad is Grad.GRAPH and self._is_loss(function)
                if not is_mean or not self._is_of_layers(prediction) or not self._has_no_graph(target):
                    return doubt
            case _:
                return doubt
        for use in bindings[0].uses:
            if use is not loss and not self._is_number(use):
                return unknown(f"`{loss.id}` is used in other ways as well")
        return CERTAIN

    def _is_loss(self, function: ast.expr) -> bool:
        """Whether a loss of torch is called that gives the mean."""
        if self._semantics.qualified_name(function) in torch_api.LOSS_FUNCTIONS:
            return True

        def makes(value: ast.expr) -> Fact | None:
            if isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) in torch_api.LOSS_MODULES:
                return CERTAIN if not {word.arg for word in value.keywords} & _REDUCING and not value.args else None
            return None

        return self._semantics.of(Sources).fact(function, Condition("loss of torch", makes)).is_certain

    def _is_of_layers(self, prediction: ast.Call) -> bool:
        """Whether layers of torch, with weights that nobody can have frozen, are called with data that has no graph."""
        model = prediction.func
        if not isinstance(model, ast.Name) or not self._semantics.of(TorchObjects).trained(model).is_certain:
            return False
        uses = [use for each in self._semantics.bindings.reaching(model) for use in each.uses]
        return all(map(self._is_plain_use, uses)) and all(map(self._has_no_graph, prediction.args))

    def _is_plain_use(self, use: ast.Name) -> bool:
        """Whether a model is called, or one of its methods is named: nobody else has it."""
        parent = self._tree.parent(use)
        return isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is use)

    def _has_no_graph(self, node: ast.expr) -> bool:
        return self._semantics.of(OwnTensors).is_bare(node).is_certain or self._is_of_loop(node)

    def _is_of_loop(self, node: ast.expr) -> bool:
        """Whether a name is what a loop gives anew each round, of a loader of torch's."""
        if not isinstance(node, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(node)
        return bool(bindings) and all(
            each.form is Form.LOOP
            and isinstance(each.value, ast.Name)
            and self._semantics.of(TorchObjects).loader(each.value).is_certain
            for each in bindings
        )

    def _is_number(self, use: ast.Name) -> bool:
        match self._tree.parent(use):
            case ast.Attribute(attr="item" | "detach"):
                return True
            case ast.Call(func=function):
                return self._semantics.qualified_name(function) in _NUMBERS
            case ast.FormattedValue():
                return True
        return False
