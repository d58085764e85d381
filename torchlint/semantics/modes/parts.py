"""Parts of models of which no more is known than what they are called."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics, Type

_PART = re.compile(
    r"[A-GI-SU-Z]|(\w{1,20}_)?(encoder|decoder|backbone|net|network|generator|discriminator|classifier|projector)"
)
"""What parts of models are called that are modules."""


def is_called_a_part(function: ast.expr, semantics: Semantics) -> bool:
    """Whether what is called on a model of an unknown class has a name of parts of models: ``model.encoder(x)``."""
    if not isinstance(function, ast.Attribute) or not _PART.fullmatch(function.attr):
        return False
    owner = semantics.kind(function.value)
    is_open = owner.type in (Type.UNKNOWN, Type.MODULE) and owner.definition is None
    return is_open and semantics.kind(function).type is Type.UNKNOWN
