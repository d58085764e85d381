"""Room for programs that are nested deeply: Python's parser takes more levels than its interpreter does by default."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_RECURSION_LIMIT = 6000
"""Deep enough for every program that Python's own parser takes, within what it has room for on its stack."""


@contextmanager
def recursion_headroom() -> Iterator[None]:
    """Has calls go deeper than Python allows by default."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
