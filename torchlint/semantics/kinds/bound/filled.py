"""What is written into a tensor after it was made: ``out = torch.zeros(9, 3)`` and then ``out[t] = layer(x)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import Tree

_OF_INTEGERS = re.compile(r"u?int\d*|long|short|byte|bool|(Long|Int|Short|Char|Byte|Bool)Tensor")
"""The dtypes whose tensors have no gradients, and what is called after them."""


def values_written(binding: Binding, tree: Tree) -> Iterator[ast.expr]:
    """The values that uses of a name put into the tensor that it is bound to, by assignment to its parts or a method.

    None where that has a dtype without gradients.
    """
    if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None or not binding.uses:
        return
    is_checked = False
    for use in binding.uses:
        for value in _written(use, tree):
            if not is_checked and _is_of_integers(binding.value):
                return
            is_checked = True
            yield value


def _written(use: ast.expr, tree: Tree) -> Iterator[ast.expr]:
    """What one use of a tensor writes into it, or into a part: ``x[i] = v``, ``x[i] += v``, ``x.copy_(v)``."""
    node, parent = use, tree.parent(use)
    while isinstance(parent, ast.Subscript) and parent.value is node:
        node, parent = parent, tree.parent(parent)
    match parent:
        case ast.Assign(value=value) if node is not use and node in parent.targets:
            yield value
        case ast.AugAssign(target=target, value=value) if target is node is not use:
            yield value
        case ast.Attribute(value=owner, attr=method) if owner is node and method.endswith("_") and not method.startswith("_"):
            call = tree.parent(parent)
            if isinstance(call, ast.Call) and call.func is parent:
                yield from call.args
                yield from (each.value for each in call.keywords)


def _is_of_integers(value: ast.expr) -> bool:
    return any(
        _OF_INTEGERS.fullmatch(part.attr if isinstance(part, ast.Attribute) else part.id) is not None
        for part in ast.walk(value)
        if isinstance(part, (ast.Attribute, ast.Name))
    )
