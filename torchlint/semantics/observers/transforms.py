"""Whether a file hands functions to transforms of torch, under which ``.detach()`` does not do what ``.data`` does.

Where transforms of `torch.func` are nested, `.data` takes a tensor out of one level and `.detach()` out of all; under `vmap`,
`.data` is refused (ran). Forward mode and `torch.autograd.functional` take one for the other (ran).
"""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics

_WORDS = ("func", "vmap")
"""One of them is part of some word of every file that names a transform."""
MODULES = ("torch.func.", "functorch.", "torch._functorch.")
"""What the names of transforms start with, but for `torch.vmap`."""
_NO_TRANSFORMS = frozenset({"functional_call", "stack_module_state"})


class Transforms:
    """Tells of a file whether it speaks of such a transform; that of another file is out of sight."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def are_unused(self) -> Fact:
        """Whether no function is handed to a transform, as far as the file shows."""
        if not any(map(self._semantics.words.speak_of, _WORDS)):
            return CERTAIN
        nodes: list[ast.Name | ast.Attribute] = [*self._semantics.tree.of_type(ast.Name)]
        for node in [*nodes, *self._semantics.tree.of_type(ast.Attribute)]:
            name = self._semantics.qualified_name(node) or ""
            if name == "torch.vmap" or (name.startswith(MODULES) and name.rpartition(".")[2] not in _NO_TRANSFORMS):
                return unknown(f"under `{name.rpartition('.')[2]}`, a detached tensor may be another than its `.data`")
        return CERTAIN
