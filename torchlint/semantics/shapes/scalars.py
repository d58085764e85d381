"""0-dim tensors that are indexed: ``loss.data[0]``."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Grad, Kind, Semantics, Type
from torchlint.semantics.code.tree import last_name, spoken_name
from torchlint.semantics.shapes.flattened_sums import FlattenedSums

_LOSS = re.compile(r"(^|_)loss($|_)|^loss|loss$", re.IGNORECASE)
_CRITERION = re.compile(r"criterion$|(^|_)loss_f", re.IGNORECASE)
CHAIN = frozenset({"cpu", "cuda", "numpy", "detach", "float", "double", "clone"})
"""Methods that leave a number the number it is."""
_TRAINING = ("data", "backward", "Variable")
"""Code with losses to index has one of these; elsewhere nothing that is indexed bare would have survived its first run."""


class Scalars:
    """Tells which indices are of tensors that have no dimensions."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def indexed(self) -> dict[ast.Subscript, ast.expr]:
        """The indices of 0-dim tensors, ``loss.data.cpu()[0]``, each with the tensor, ``loss``."""
        found = ((node, self._indexed(node)) for node in self._semantics.tree.of_type(ast.Subscript))
        return {node: tensor for node, tensor in found if tensor is not None}

    @cached_property
    def _trains(self) -> bool:
        return not self._semantics.words.all.isdisjoint(_TRAINING)

    def index_of(self, node: ast.expr) -> ast.Subscript | None:
        """The index of a 0-dim tensor that ``node`` is the base or a link of: ``loss.data.cpu()[0]`` for ``loss.data``."""
        while True:
            parent = self._semantics.tree.parent(node)
            match parent:
                case ast.Subscript(value=value) if value is node:
                    return parent if self._indexed(parent) is not None else None
                case ast.Attribute(attr="data"):
                    node = parent
                case ast.Attribute(attr=method) if method in CHAIN:
                    call = self._semantics.tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return None
                    node = call
                case _:
                    return None

    def _indexed(self, node: ast.Subscript) -> ast.expr | None:
        if not isinstance(node.ctx, ast.Load) or not _is_first(node.slice):
            return None
        value = base(node.value)
        if value is node.value and not self._trains:
            return None
        kind = self._semantics.kind(value)
        if value is node.value:
            is_scalar = (kind.is_tensor and kind.scalar and not kind.loose) or self._sums_losses(value) or self._counts(value)
            return value if is_scalar and not self._is_used_as_sequence(value) else None
        if kind.is_tensor and kind.scalar and not kind.loose:
            return value
        if self._counts(value):
            return value
        may_be = kind.type in (Type.UNKNOWN, Type.TENSOR) and kind.scalar is not False and kind.grad is not Grad.NONE
        return value if (may_be or self._is_number_elsewhere(value, kind)) and names_loss(value) else None

    def _counts(self, value: ast.expr) -> bool:
        """Whether a name is for a sum over the only dimension there was."""
        return isinstance(value, ast.Name) and self._semantics.of(FlattenedSums).is_number(value)

    def _is_number_elsewhere(self, value: ast.expr, kind: Kind) -> bool:
        """Whether a name is known for a number by one branch only, which is not where its ``data`` is read."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        kinds = [self._semantics.inference.binding_kind(binding) for binding in bindings]
        return kind.type is Type.NUMBER and any(each.type is Type.UNKNOWN for each in kinds)

    def _sums_losses(self, value: ast.expr) -> bool:
        """Whether a name is for a sum that starts as a number and gets ``.data`` of losses: ``n * criterion(x, y).data``."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        sums = [binding for binding in bindings if binding.form is Form.AUGMENTED]
        starts = [each for binding in sums for each in binding.before if each.form is not Form.AUGMENTED]
        kinds = [self._semantics.inference.binding_kind(each) for each in starts]
        others = [binding for binding in bindings if binding.form is not Form.AUGMENTED]
        return (
            bool(sums)
            and all(kind.type is Type.NUMBER for kind in kinds)
            and all(self._semantics.inference.binding_kind(each).type is Type.NUMBER for each in others)
            and all(binding.value is not None and self._has_data_of_loss(binding.value) for binding in sums)
        )

    def _has_data_of_loss(self, node: ast.expr) -> bool:
        """Whether an expression is the ``.data`` of a loss, or that and numbers computed together."""
        match node:
            case ast.BinOp(left=left, right=right):
                one, other = (left, right) if self._semantics.kind(right).type is Type.NUMBER else (right, left)
                return self._semantics.kind(other).type is Type.NUMBER and self._has_data_of_loss(one)
            case ast.Attribute(value=value, attr="data") | ast.Call(func=ast.Attribute(value=value, attr="detach")):
                kind = self._semantics.kind(value)
                return names_loss(value) and kind.type in (Type.UNKNOWN, Type.TENSOR) and kind.scalar is not False
        return False

    def _is_used_as_sequence(self, value: ast.expr) -> bool:
        """Whether the function around ``value`` asks for its type or length, or takes another item of it."""
        function = self._semantics.tree.function(value) or self._semantics.tree.module
        same = ast.dump(value)
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="isinstance" | "len" | "type" | "zip" | "enumerate"), args=[first, *_]):
                    if ast.dump(first) == same:
                        return True
                case ast.Subscript(value=part, slice=index) if not _is_first(index) and ast.dump(part) == same:
                    return True
        return False


def base(node: ast.expr) -> ast.expr:
    """The value that a chain of ``.data``, moves and casts starts from: ``loss`` of ``loss.data.cpu()``."""
    while True:
        match node:
            case ast.Attribute(value=value, attr="data"):
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=method), args=[], keywords=[]) if method in CHAIN:
                node = value
            case _:
                return node


def _is_first(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and index.value is not False


def names_loss(node: ast.expr) -> bool:
    """Whether a value is called a loss: with ``.data[0]`` behind it, the idiom of 0-dim losses before torch 0.4."""
    if isinstance(node, ast.Call):
        return _CRITERION.search(spoken_name(node.func)) is not None
    return _LOSS.search(last_name(node)) is not None
