"""Where the code of a file moves something to a GPU whatever its flags say."""

from __future__ import annotations

import ast
import warnings

from torchlint.semantics.gpus.needed import moves_in_any_case

_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def needs_gpu(text: bytes) -> bool:
    """Whether code puts something on a GPU in any case; what cannot be read does not."""
    if b"cuda" not in text:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return moves_in_any_case(ast.parse(text))
    except _UNREADABLE:
        return False
