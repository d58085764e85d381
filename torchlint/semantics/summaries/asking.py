"""About which parameters the callers in other files are asked: those that may be models, optimizers, losses or loaders.

Most parameters of a project are numbers and tensors, and most files train nothing: asking of all of them would cost as much as
linting does.
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import Function
from torchlint.semantics.summaries.calls import Parameter, parameter

_TRAINING = frozenset({"backward", "step", "zero_grad", "eval", "load_state_dict", "get_lr", "save", "param_groups"})
"""Attributes in files for which it matters what a model, a loss or an optimizer is."""
_GRADIENTS_OFF = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_LOSSES = frozenset({"criterion", "loss_fn", "loss_func", "loss_function", "loss_fct"})
_NAMED = _GRADIENTS_OFF | _LOSSES
_WHOLE = frozenset(
    {
        *("backward", "step", "zero_grad", "eval", "train", "forward", "parameters", "named_parameters", "state_dict"),
        *("load_state_dict", "modules", "to", "cuda", "cpu", "get_lr", "param_groups", "module", "requires_grad"),
        *("dataset", "sampler", "batch_size"),
    }
)
"""Attributes of what callers are asked about."""


class Asking:
    """Tells about which parameters of a file somebody should be asked."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def parameter(self, binding: Binding, function: Function, name: str) -> Parameter | None:
        """The parameter of a function that others can name, if it may be something of which they can tell more."""
        tree = self._code.tree
        owner = tree.parent(function)
        is_method = isinstance(owner, ast.ClassDef) and tree.parent(owner) is tree.module
        if not (is_method or owner is tree.module) or not self._matters or not any(map(self._may_tell, binding.uses)):
            return None
        assert isinstance(binding.node, ast.arg)
        default = self._code.definitions.default(function, binding.node)
        if isinstance(default, ast.Constant) and default.value is not None:
            return None  # a number, a text or a flag
        return parameter(function, name, owner.name if isinstance(owner, ast.ClassDef) else "")

    @cached_property
    def _matters(self) -> bool:
        """Whether the file trains or runs models, or calls their ``forward`` itself."""
        for node in self._code.tree.of_type(ast.Attribute):
            if node.attr in _TRAINING or node.attr in _GRADIENTS_OFF:
                return True
            if node.attr == "forward" and not isinstance(node.value, ast.Call):
                return True
        return any(node.id in _NAMED for node in self._code.tree.of_type(ast.Name))

    def _may_tell(self, use: ast.Name | ast.Attribute) -> bool:
        """Whether a use is one of a model, an optimizer or a loader, or hands it on."""
        parent = self._code.tree.parent(use)
        match parent:
            case ast.Attribute(attr=attribute):
                return attribute in _WHOLE
            case ast.Call() | ast.keyword():
                return True
            case ast.For() | ast.comprehension():
                return parent.iter is use
            case ast.Assign(value=value):
                return value is use or isinstance(value, ast.Tuple)
            case ast.Tuple() | ast.List() | ast.Dict():
                return True
        return False
