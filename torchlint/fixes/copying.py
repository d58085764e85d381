"""New code that copies values where they are taken."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from torchlint.fixes.code import expression, method_call


def copied(value: cst.BaseExpression, methods: Sequence[str]) -> cst.BaseExpression:
    """What ``methods`` make of a value, each called on what the one before gives; the first takes the place of a ``.data``.

    They are called within the parentheses around the value.
    """
    copy, others = value, methods
    if isinstance(value, cst.Attribute) and value.attr.value == "data":
        copy, others = method_call(value, methods[0]), methods[1:]
    elif isinstance(value, (cst.Attribute, cst.Call, cst.Subscript)):
        copy = value.with_changes(lpar=(), rpar=())
    for name in others:
        copy = expression(f"{{value}}.{name}()", value=copy)
    return copy
