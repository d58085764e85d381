"""Classes of modules that are given tensors, as if they were the functions: ``nn.Sigmoid(x)``, ``nn.MSELoss(out, y)``."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Grad, Semantics
from torchlint.semantics.kinds.results import LOSS_MODULES

_ACTIVATIONS = frozenset(
    f"torch.nn.{name}"
    for name in (
        *("Sigmoid", "Tanh", "ReLU", "ReLU6", "LogSigmoid", "Softsign", "SELU", "SiLU", "Mish", "GELU", "ELU", "LeakyReLU"),
        *("Softplus", "Softmax", "LogSoftmax", "Flatten"),
    )
)
"""Classes that take options, if anything: no tensor is one."""
_NEED_OPTIONS = frozenset({"torch.nn.Softmax", "torch.nn.LogSoftmax"})
"""Those that are not to be made without any."""
_WITHOUT_OPTIONS = frozenset({"torch.nn.Sigmoid", "torch.nn.Tanh", "torch.nn.LogSigmoid", "torch.nn.Softsign"})
"""Those that take none, and raise for whatever they are given."""
_OF_RESULTS = frozenset({"backward", "item"})


class MisusedClasses:
    """Finds the calls of classes in a file that are meant for calls of their instances."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def found(self) -> dict[ast.Call, bool]:
        """The calls that give a class of modules what a module should be given, and whether it needs no options."""
        found: dict[ast.Call, bool] = {}
        for name in {name.rpartition(".")[2] for name in _ACTIVATIONS | LOSS_MODULES}:
            for call in self._semantics.facts.calls.get(name, ()):
                full = self._semantics.qualified_name(call.func) or ""
                if self._is_misused(call, full):
                    found[call] = full not in _NEED_OPTIONS and not call.keywords
        return found

    def _is_misused(self, call: ast.Call, name: str) -> bool:
        if not call.args or any(isinstance(argument, ast.Starred) for argument in call.args) or self._is_called(call):
            return False
        if name in _ACTIVATIONS:
            return self._is_tensor(call.args[0]) or (name in _WITHOUT_OPTIONS and not _is_option(call.args[0]))
        if name not in LOSS_MODULES or len(call.args) < 2:
            return False
        return self._is_tensor(call.args[1]) or self._is_result(call.args[0]) or self._is_propagated(call)

    def _is_result(self, node: ast.expr) -> bool:
        """Whether an argument is what was computed with a graph: no weights of classes are."""
        kind = self._semantics.kind(node)
        return kind.is_tensor and kind.grad is Grad.GRAPH and isinstance(node, (ast.Name, ast.Call))

    def _is_tensor(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).is_tensor

    def _is_called(self, call: ast.Call) -> bool:
        parent = self._semantics.tree.parent(call)
        return isinstance(parent, ast.Call) and parent.func is call

    def _is_propagated(self, call: ast.Call) -> bool:
        """Whether what a call makes is back-propagated, read as a number or calculated with: no module can be."""
        if self._is_as_result(call):
            return True
        parent = self._semantics.tree.parent(call)
        if not isinstance(parent, ast.Assign) or len(parent.targets) != 1:
            return False
        binding = self._semantics.bindings.of(parent.targets[0])
        return binding is not None and any(map(self._is_as_result, binding.uses))

    def _is_as_result(self, use: ast.expr) -> bool:
        parent = self._semantics.tree.parent(use)
        if isinstance(parent, ast.Attribute):
            return parent.attr in _OF_RESULTS
        if isinstance(parent, ast.BinOp):
            return not isinstance(parent.op, ast.Mod)  # a text is made of anything
        return isinstance(parent, ast.AugAssign) and parent.value is use


def _is_option(node: ast.expr) -> bool:
    """Whether an argument is written as an option: ``True``, or ``inplace`` by name."""
    return isinstance(node, ast.Constant) or (isinstance(node, (ast.Name, ast.Attribute)) and "inplace" in ast.unparse(node))
