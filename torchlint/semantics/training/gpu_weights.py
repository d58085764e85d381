"""Models and tensors that a file puts on a GPU which is written out, and leaves there: `.cpu()` gives a copy of them."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.memory.places import Place

_MODES = frozenset({"eval", "train", "float", "double", "half", "requires_grad_"})
"""Methods that leave what they are called on where it is."""
_MOVES = frozenset({"cpu", "to", "to_empty", "data", "_apply"})
"""What may bring a model back from a GPU, or put other data in a tensor."""


class GpuWeights:
    """Tells of places whether their values lie on a GPU whenever they are there."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_at(self, place: Place) -> bool:
        """Whether all that the root of a place may be is put on a GPU where it is made, and moved nowhere."""
        bindings = self._semantics.bindings.reaching(place.root)
        return bool(bindings) and all(
            (self._is_made_there(binding) or any(map(self._is_moved_as_a_whole, binding.uses)))
            and not any(map(self._is_moved, binding.uses))
            for binding in bindings
        )

    def _is_made_there(self, binding: Binding) -> bool:
        is_whole = binding.form is Form.ASSIGNMENT and not binding.path
        return is_whole and binding.value is not None and self._is_put_there(binding.value)

    def _is_moved_as_a_whole(self, use: ast.expr) -> bool:
        """Whether a module is moved to a GPU in any case: by ``model.cuda()`` as a statement of its function or file."""
        tree = self._semantics.tree
        parent = tree.parent(use)
        call = tree.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr == "cuda" else None
        statement = tree.parent(call) if isinstance(call, ast.Call) else None
        return (
            isinstance(statement, ast.Expr)
            and isinstance(tree.parent(statement), (ast.Module, *FUNCTIONS))
            and not self._semantics.kind(use).is_tensor
        )

    def _is_put_there(self, value: ast.expr) -> bool:
        """Whether a value ends in a move to a GPU: ``Net().cuda()``, ``Net().to("cuda:0").eval()``."""
        while True:
            match value:
                case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in _MODES:
                    value = inner
                case ast.Call(func=ast.Attribute(attr="cuda")):
                    return True
                case (
                    ast.Call(func=ast.Attribute(attr="to"), args=[device, *_])
                    | ast.Call(func=ast.Attribute(attr="to"), args=[], keywords=[ast.keyword(arg="device", value=device), *_])
                ):
                    return self._is_gpu(device)
                case _:
                    return False

    def _is_gpu(self, device: ast.expr) -> bool:
        """Whether a device is a GPU as it is written, or a name that stands for such alone."""
        match device:
            case ast.Name():
                values = self._semantics.bindings.values(device)
                return bool(values) and all(map(self._is_text, values))
        return self._is_text(device)

    def _is_text(self, device: ast.expr) -> bool:
        match device:
            case ast.Constant(value=str(text)):
                return text.startswith("cuda")
            case ast.Call(func=function, args=[ast.Constant(value=str(text)), *_]):
                return text.startswith("cuda") and self._semantics.qualified_name(function) == "torch.device"
        return False

    def _is_moved(self, use: ast.expr) -> bool:
        """Whether a use of a variable may move what it holds."""
        parent = self._semantics.tree.parent(use)
        if not isinstance(parent, ast.Attribute):
            return False
        return parent.attr in _MOVES and (parent.attr != "data" or not isinstance(parent.ctx, ast.Load))
