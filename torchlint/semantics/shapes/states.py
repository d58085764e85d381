"""Last states of recurrent networks, whose first axis has the layers and directions, dealt out into rows of samples."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import last_name

_STATES = {"torch.nn.LSTM": ((1, 0), (1, 1)), "torch.nn.GRU": ((1,),), "torch.nn.RNN": ((1,),)}
"""Where in their results recurrent networks have states with the axes (layers times directions, batch, features)."""
_COUNTS = re.compile(r"dir|layers?$", re.IGNORECASE)
"""How the number of directions or layers is called."""


class RecurrentStates:
    """Tells the states of one file, and how they are reshaped."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_dealt_out(self, tensor: ast.expr, sizes: Sequence[ast.expr]) -> bool:
        """Whether a new shape has a row for each sample, with all that the state has of it: so it has to be transposed first.

        ``h_n.view(-1, 2 * self.hidden)`` and ``h_n.view(x.size(0), -1)`` put pieces of several samples into a row.
        """
        if len(sizes) != 2 or not self._is_state(tensor):
            return False
        rows, columns = sizes
        if _is_rest(columns):
            return self._is_size_of_another(rows, tensor)
        match columns:
            case ast.BinOp(op=ast.Mult(), left=left, right=right) if _is_count(left) or _is_count(right):
                return _is_rest(rows) or self._is_size_of_another(rows, tensor)
        return False

    def _is_state(self, tensor: ast.expr) -> bool:
        """Whether a name is such a state, of a network with several layers or directions."""
        bindings = self._semantics.bindings.reaching(tensor) if isinstance(tensor, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or not isinstance(bindings[0].value, ast.Call):
            return False
        made = self._made(bindings[0].value.func)
        return bool(made) and all(
            isinstance(each, ast.Call)
            and bindings[0].path in _STATES.get(self._semantics.qualified_name(each.func) or "", ())
            and _has_several(each)
            for each in made
        )

    def _made(self, network: ast.expr) -> list[ast.expr | None]:
        """What a network is given as, where it is a name or an attribute of ``self``."""
        if isinstance(network, ast.Name):
            return [each.value if not each.path else None for each in self._semantics.bindings.reaching(network)]
        owner = self._semantics.facts.self_class(network.value) if isinstance(network, ast.Attribute) else None
        if owner is None or not isinstance(network, ast.Attribute):
            return []
        stores = [store for slot in self._semantics.facts.slots(owner, network.attr) for store in slot.stores]
        assigned = [self._semantics.tree.parent(store) for store in stores]
        return [each.value if isinstance(each, ast.Assign) else None for each in assigned]

    def _is_size_of_another(self, size: ast.expr, tensor: ast.expr) -> bool:
        """Whether a size is written as that of an axis of something else than the tensor."""
        match size:
            case ast.Call(func=ast.Attribute(value=other, attr="size")):
                return ast.unparse(other) != ast.unparse(tensor)
            case ast.Subscript(value=ast.Attribute(value=other, attr="shape")):
                return ast.unparse(other) != ast.unparse(tensor)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(size)
                value = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
                return value is not None and not isinstance(value, ast.Name) and self._is_size_of_another(value, tensor)
        return False


def _is_rest(size: ast.expr) -> bool:
    return isinstance(size, ast.UnaryOp) and isinstance(size.op, ast.USub) and isinstance(size.operand, ast.Constant)


def _is_count(factor: ast.expr) -> bool:
    """Whether a factor is a number of directions or layers: 2, ``self.num_directions``."""
    if isinstance(factor, ast.Constant):
        return isinstance(factor.value, int) and 1 < factor.value < 9
    return _COUNTS.search(last_name(factor)) is not None


def _has_several(made: ast.Call) -> bool:
    """Whether a network is made with several layers or directions, as far as the call says."""
    words = {word.arg: word.value for word in made.keywords}
    layers = words.get("num_layers", made.args[2] if len(made.args) > 2 else None)
    is_one = layers is None or (isinstance(layers, ast.Constant) and layers.value == 1)
    both = words.get("bidirectional")
    is_single = both is None or (isinstance(both, ast.Constant) and not both.value)
    return None not in words and not (is_one and is_single)
