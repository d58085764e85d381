"""Where new tensors are made on the device that is asked for, or the default one: no context moves them elsewhere."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.grad_mode import NEUTRAL
from torchlint.semantics.provenance.values import shown

_SETTING = frozenset({"set_default_device", "set_default_tensor_type", "DeviceContext"})
_OTHERS = NEUTRAL - {"torch.device"} | {"torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled"}


class DefaultDevices:
    """Tells whether a place is under a context that sets where tensors are made, as far as the file shows."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def fact(self, node: ast.AST) -> Fact:
        """Whether ``torch.tensor(x)`` at ``node`` makes its copy where ``x`` is."""
        if _SETTING & self._semantics.words.all:
            return unknown("the file sets the device that tensors are made on")
        child = node
        for parent in self._semantics.tree.ancestors(node):
            if isinstance(parent, (ast.With, ast.AsyncWith)) and isinstance(child, ast.stmt):
                for item in parent.items:
                    context = item.context_expr
                    name = self._semantics.qualified_name(context.func if isinstance(context, ast.Call) else context)
                    if name not in _OTHERS:
                        return unknown(f"`{shown(context)}` may set the device that tensors are made on")
            child = parent
        return CERTAIN
