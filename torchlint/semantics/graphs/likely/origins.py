"""What values come from that are moved, cast, looked at in another form, or indexed."""

from __future__ import annotations

import ast

from torchlint.semantics.code.tree import last_name
from torchlint.semantics.graphs.likely.inputs import MOVERS

SAME = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous", "view", "squeeze", "unsqueeze"})
"""Methods that give the same values in another place or dtype, or with other dimensions of size one."""
LOOKS = SAME | {"reshape", "flatten", "transpose", "permute", "t", "contiguous", "detach"}
"""Methods that give the same values in another form or place."""


def origin_of(node: ast.expr) -> ast.expr:
    """What a chain of moves, casts and indices starts from."""
    while True:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in SAME:
                node = value
            case ast.Call(func=function, args=[value], keywords=[]) if MOVERS.fullmatch(last_name(function)):
                node = value
            case ast.Subscript(value=value, slice=index) if not (
                isinstance(index, ast.Constant) and isinstance(index.value, str)
            ):
                node = value
            case _:
                return node
