"""Running again whenever something changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

_SUFFIXES = (".py", ".pyi", ".ipynb", "pyproject.toml", "torchlint.toml")
_TICK = 300
"""Milliseconds after which it is looked whether the run has been interrupted."""


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Calls ``run``, and again after each change below ``paths``, until it is interrupted; returns the exit code."""
    try:
        import watchfiles
    except ImportError:
        print("torchlint: error: --watch needs the package watchfiles: pip install 'torchlint[watch]'", file=sys.stderr)
        return 2
    changes = watchfiles.watch(
        *paths,
        watch_filter=lambda change, path: path.endswith(_SUFFIXES),
        raise_interrupt=False,
        yield_on_timeout=True,
        rust_timeout=_TICK,
    )
    next(changes, None)  # from here on nothing that changes is missed
    code = _run(run)
    print("Watching for changes; Ctrl-C ends.", file=sys.stderr, flush=True)
    for changed in changes:
        if changed:
            code = _run(run)
    return code


def _run(run: Callable[[], int]) -> int:
    code = run()
    sys.stdout.flush()
    return code
