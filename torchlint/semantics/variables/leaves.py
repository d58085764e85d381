"""Tensors that are made leaves: whether ``requires_grad_()`` does what `Variable` did with ``requires_grad=True``."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, known, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.observers.transforms import MODULES
from torchlint.semantics.shapes.known_dtypes import KnownDtypes

_TRANSFORMS = frozenset(
    {"vmap", "grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize", "functionalize", "func"}
)
_FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})


class Leaves:
    """Tells of tensors whether they can be made leaves in place (ran on torch 2.13)."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def can_be_asked(self, data: ast.expr) -> Fact:
        """Whether nothing tells ``data.requires_grad_()`` from `Variable`: functions that torch transforms must not call it.

        The texts of the errors that tensors of integers raise are not the same.
        """
        is_float = self._semantics.of(KnownDtypes).of(data) in _FLOATS
        return self._is_plain & (CERTAIN if is_float else self._semantics.of(FreeErrors).texts)

    @cached_property
    def _is_plain(self) -> Fact:
        """Whether neither the file nor its project transforms functions, as by `torch.func.vmap`."""
        for node in self._semantics.of(Spellings).said(_TRANSFORMS):
            if self._transforms(node):
                return unknown(f"`{shortened(node)}` may run it, where nothing can be made to require a gradient")
        is_transformed = self._semantics.elsewhere.speaks_of("transforms of functions") is True
        return known(not is_transformed, "another file of the project may transform the function by `torch.func`")

    def _transforms(self, node: ast.expr) -> bool:
        name = self._semantics.qualified_name(node) or ""
        return f"{name}.".startswith((*MODULES, "torch.vmap."))
