"""Legacy constructors of tensors that do what they say."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.aliasing.shared_buffers import SharedBuffers
from torchlint.semantics.apis.constructors import Constructors
from torchlint.semantics.apis.two_meanings import Ambiguities, TwoMeanings
from torchlint.semantics.numerics.large_integers import LargeIntegers
from torchlint.semantics.shapes.known_dtypes import KnownDtypes

_CASTS = {
    "float16": ("half",),
    "float32": ("float",),
    "float64": ("double",),
    "int16": ("short",),
    "int32": ("int",),
    "int64": ("long",),
}
"""The methods that give a tensor the dtype of a class."""
_SAME_DTYPE = frozenset(
    {"cuda", "cpu", "detach", "unsqueeze", "squeeze", "view", "reshape", "transpose", "permute", "contiguous"}
)
"""Methods on the way to them that leave the dtype."""
_NARROW = frozenset({"short", "char", "byte"})
"""Casts to integers that float32 holds all of."""
_NARROW_DTYPES = frozenset({"uint8", "int8", "uint16", "int16", "bool", "bool_"})
_SMALL = re.compile(
    r"(?:.*_)?(?:(?:bbox|box|rect|roi|corner|coord|coordinate|point|keypoint|kpt|landmark|anchor|polygon|pixel)(?:es|s)?"
    r"|lens?|lengths?|widths?|heights?|paths?)",
    re.IGNORECASE,
)
"""Names of places in a picture, numbers with a point perhaps, of lengths, and of the best path of a decoder: they are small."""
_PICTURES = frozenset({"cv2.imread", "cv2.imdecode", "PIL.Image.open", "imageio.imread", "skimage.io.imread"})
_OF_PICTURES = frozenset({"numpy.array", "numpy.asarray", "cv2.resize", "cv2.cvtColor", "cv2.flip"})
"""What reads a picture, and what makes others of it: their numbers are small."""
_DEPTH = 3


class DatedConstructions:
    """Tells them from those that may mean another thing than it seems."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._constructors = semantics.of(Constructors)
        self._ambiguities = semantics.of(Ambiguities)
        self._buffers = semantics.of(SharedBuffers)

    @cached_property
    def found(self) -> frozenset[ast.expr]:
        """The calls of constructors that are but dated, and the tests for classes of tensors.

        Such a call means one thing, and shares nothing that changes. Or nothing tells whether it is given a size or data, or
        the shape of a tensor or of an array. Or it would round large integers, and none of these is known to be large; where
        the floats are of 16 bits: one or a few written out, lengths, places, pictures, what fits into two bytes. Or it hands
        through what has its dtype anyway.
        """
        calls = (*self._constructors.made, *self._constructors.renewed)
        return frozenset({*filter(self._is_dated, calls), *self._constructors.tests})

    def _is_dated(self, call: ast.Call) -> bool:
        match self._ambiguities.found.get(call):
            case None:
                return call not in self._buffers.perhaps
            case TwoMeanings.ROUNDED:
                return self._is_cast_to_few(call) or self._come_through(call)
            case TwoMeanings.ANY_DTYPE:
                return self._is_of_same_dtype(call) or self._is_cast(call)
            case meanings:
                return meanings in (TwoMeanings.SIZE_OR_DATA, TwoMeanings.SIZE_OR_SHAPE)

    def _come_through(self, call: ast.Call) -> bool:
        """Whether floats hold the integers that they are made of: of 32 bits, all of which none is known to be large."""
        made = self._constructors.made.get(call)
        if made is not None and made.dtype in (None, "float32"):
            return not self._semantics.of(LargeIntegers).are_in(call.args[0])
        return self._is_small(call.args[0])

    def _is_cast_to_few(self, call: ast.Call) -> bool:
        """Whether the integers that a tensor is made are of two bytes at most."""
        method = self._semantics.tree.parent(call)
        return isinstance(method, ast.Attribute) and method.attr in _NARROW

    def _is_small(self, data: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether integers are small, by all that is seen of them: float32 holds them as they are."""
        if self._semantics.of(KnownDtypes).of(data) in _NARROW_DTYPES:
            return True
        match data:
            case ast.List(elts=[_, *_] as elements) | ast.Tuple(elts=[_, *_] as elements):
                return not any(isinstance(each, ast.Starred) for each in elements)
            case ast.ListComp(elt=element):
                return isinstance(element, ast.Call) and self._semantics.qualified_name(element.func) == "builtins.len"
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str(name))) if (
                _SMALL.fullmatch(name) is not None
            ):
                return True
            case ast.Name() if depth:
                return self._binds_small(data, depth - 1)
            case ast.Subscript(value=whole) if depth:
                return self._is_small(whole, depth - 1)
            case ast.Call(args=[first, *_]) if depth:
                return self._gives_small(data, first, depth - 1)
        return False

    def _binds_small(self, data: ast.Name, depth: int) -> bool:
        bindings = self._semantics.bindings.reaching(data)
        return bool(bindings) and all(
            each.form is Form.ASSIGNMENT and not each.path and each.value is not None and self._is_small(each.value, depth)
            for each in bindings
        )

    def _gives_small(self, call: ast.Call, first: ast.expr, depth: int) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        match name:
            case "builtins.range" | "numpy.arange":
                return True
            case "builtins.list" | "builtins.tuple" | "numpy.array" | "numpy.asarray" if self._is_small(first, depth):
                return True
            case "builtins.map":
                return self._semantics.qualified_name(first) == "builtins.len"
        return name in _PICTURES or (name in _OF_PICTURES and self._is_small(first, depth))

    def _is_of_same_dtype(self, call: ast.Call) -> bool:
        """Whether what is handed through is made of the dtype of the class, for all to see: `FloatTensor(torch.zeros(3))`."""
        made = self._constructors.made.get(call)
        if made is None or made.on_gpu or len(call.args) != 1:
            return False
        return self._semantics.of(KnownDtypes).of(call.args[0]) == (made.dtype or "float32")

    def _is_cast(self, call: ast.Call) -> bool:
        """Whether what is handed through, of any dtype, gets that of the class behind it: `torch.Tensor(x).cuda().float()`."""
        made = self._constructors.made.get(call)
        if made is None or made.on_gpu or made.chosen:
            return False
        casts, outer = _CASTS.get(made.dtype or "float32", ()), self._semantics.tree.parent(call)
        while isinstance(outer, ast.Attribute):
            if outer.attr in casts:
                return True
            called = self._semantics.tree.parent(outer)
            if outer.attr not in _SAME_DTYPE or not isinstance(called, ast.Call):
                return False
            outer = self._semantics.tree.parent(called)
        return False
