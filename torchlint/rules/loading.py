"""The calls of ``torch.load`` in a file."""

from __future__ import annotations

import ast
import re
from typing import TypeGuard

from torchlint.rules.screens import GAP
from torchlint.semantics import Semantics


def may_name(function: bytes) -> re.Pattern[bytes]:
    """What a file holds that refers to ``torch.load`` or ``torch.save`` under whatever name."""
    note = rb"(?:#[^\r\n]{0,300}[\r\n]" + GAP + rb"){0,5}"
    attribute = GAP + note + rb"\.[\s\\]*(?:" + function + rb"\b|serialization\b|#)"
    imported = rb"[\s\\]+import\b[^\n\r]*(?:\b" + function + rb"\b|[(*\\]|\bserialization\b)"
    return re.compile(rb"torch(?<!\wtorch)(?:" + attribute + rb"|[\s\\]+as\b|" + imported + b")")


MAY_LOAD = may_name(b"load")
"""What a file holds that calls ``torch.load`` under whatever name."""

_BUFFERS = frozenset({"io.BytesIO", "six.BytesIO", "tempfile.TemporaryFile", "tempfile.NamedTemporaryFile"})
_NAMES = frozenset({"torch.load", "torch.serialization.load"})


def is_torch_load(node: ast.AST, semantics: Semantics) -> TypeGuard[ast.Call]:
    """Whether ``node`` is a call of ``torch.load``."""
    return isinstance(node, ast.Call) and semantics.qualified_name(node.func) in _NAMES


def is_in_memory(file: ast.expr | None, semantics: Semantics) -> bool:
    """Whether what is loaded from or saved to is a buffer in memory that the code around it fills itself."""
    if not isinstance(file, ast.Name):
        return False
    for binding in semantics.bindings.reaching(file):
        value = binding.value
        if isinstance(value, ast.Call) and semantics.qualified_name(value.func) in _BUFFERS:
            if not value.args or _saves(semantics.tree.function(file), semantics):
                return True
    return False


def _saves(function: ast.AST | None, semantics: Semantics) -> bool:
    """Whether ``torch.save`` is called in ``function``."""
    calls = semantics.facts.calls.get("save", ())
    return any(
        semantics.qualified_name(call.func) == "torch.save" and semantics.tree.function(call) is function for call in calls
    )


def last_name(node: ast.expr) -> str:
    """The last of the names of a chain, without what it is indexed with."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(value=value):
            return last_name(value)
    return ""


def shortened(node: ast.expr) -> str:
    """The source of an argument for a message, or dots where it is long."""
    text = ast.unparse(node)
    return text if len(text) <= 40 else "…"
