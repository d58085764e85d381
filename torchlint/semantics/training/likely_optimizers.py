"""What must be an optimizer though nothing tells its kind: a caller gives it, another file sets it, another library makes it.

Its name says so, or that it was made from a model's parameters; and nothing is done with it that no optimizer of torch can do.
"""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import dotted, last_name
from torchlint.semantics.kinds.kind import Kind, Type
from torchlint.semantics.kinds.results import GRAD_SCALERS
from torchlint.semantics.training.optimizers import OPTIMIZER_METHODS, Optimizers, takes_parameters

_OPTIMIZER = re.compile(
    r"(?i:optimi[sz]er)|(^|_)optim([A-Z_\d]|$)|[a-z\d]Optim([A-Z_\d]|$)|(^|_)opt([A-Z_\d]|$)|[a-z\d]Opt([A-Z_\d]|$)"
)
"""What an optimizer is called: `optimizer`, `optimizerG`, `d_optim`, `opt_g`."""
_NO_OPTIMIZER = re.compile(r"sched|(^|_)lr(_|$)|warm|anneal|config|(^|_)args?(_|$)|state", re.IGNORECASE)
"""What is called like one, and is something else: a schedule."""
_SEVERAL = re.compile(r"optimi[sz]ers$|optims$", re.IGNORECASE)
"""What several optimizers are called, which one object may hold together."""
_ENGINES = ("deepspeed", "colossalai", "mxnet", "paddle", "mindspore", "tinygrad")
"""Libraries whose steps zero the gradients, or that have gradients of their own."""


class LikelyOptimizers:
    """Tells what must be an optimizer in one file, though its kind is not known."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._others: dict[str, bool] = {}

    def steps(self, call: ast.Call) -> ast.expr | None:
        """The optimizer of ``optimizer.step()`` or ``scaler.step(optimizer)`` that must be one; ``None`` where it need not."""
        match call:
            case ast.Call(func=ast.Attribute(value=optimizer, attr="step"), args=[], keywords=[]):
                return optimizer if self.is_likely(optimizer) else None
            case ast.Call(func=ast.Attribute(value=scaler, attr="step"), args=[optimizer], keywords=[]):
                return optimizer if self._is_scaler(scaler) and self.is_likely(optimizer) else None
        return None

    def is_likely(self, node: ast.expr) -> bool:
        """Whether an expression must give an optimizer that acts as torch's do."""
        text = dotted(node)
        if text is None or not isinstance(node, (ast.Name, ast.Attribute)) or self._has_engines:
            return False
        if not self._may_be_optimizer(self._semantics.kind(node)):
            return False
        return (self._is_named(node) or self._is_made_of_parameters(node)) and not self._does_other_things(text)

    def _is_named(self, node: ast.expr) -> bool:
        """Whether a name is that of an optimizer; that of several counts where the file zeroes their gradients by one call."""
        name = last_name(node)
        if not _OPTIMIZER.search(name) or _NO_OPTIMIZER.search(name):
            return False
        return not _SEVERAL.search(name) or self._semantics.of(Optimizers).acts_as_optimizer(node)

    def _may_be_optimizer(self, kind: Kind) -> bool:
        return kind.type is Type.OPTIMIZER or not kind.known

    def _is_scaler(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).name in GRAD_SCALERS or "scaler" in last_name(node).lower()

    def _is_made_of_parameters(self, node: ast.expr) -> bool:
        """Whether a variable is bound to what a call makes of ``model.parameters()``."""
        if not isinstance(node, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(node)
        return bool(bindings) and all(
            binding.form is Form.ASSIGNMENT and isinstance(binding.value, ast.Call) and takes_parameters(binding.value)
            for binding in bindings
        )

    def _does_other_things(self, text: str) -> bool:
        """Whether a method is called of it that optimizers of torch lack: such a one may zero gradients in its step."""
        if text not in self._others:
            self._others[text] = any(
                isinstance(call.func, ast.Attribute) and dotted(call.func.value) == text
                for name, calls in self._semantics.facts.calls.items()
                if name not in OPTIMIZER_METHODS
                for call in calls
            )
        return self._others[text]

    @property
    def _has_engines(self) -> bool:
        words = self._semantics.words.all
        return any(engine in words for engine in _ENGINES) or "torch" not in words
