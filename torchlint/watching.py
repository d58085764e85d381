"""Running again whenever something changes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

_SUFFIXES = (".py", ".pyi", ".ipynb", "pyproject.toml", "torchlint.toml")


def watch(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Calls ``run``, and again after each change below ``paths``, until it is interrupted; returns the exit code."""
    try:
        import watchfiles
    except ImportError:
        print("torchlint: error: --watch needs the package watchfiles: pip install 'torchlint[watch]'", file=sys.stderr)
        return 2
    code = run()
    sys.stdout.flush()
    print("Watching for changes; Ctrl-C ends.", file=sys.stderr, flush=True)
    changes = watchfiles.watch(
        *paths, watch_filter=lambda change, path: path.endswith(_SUFFIXES), raise_interrupt=False, debounce=200
    )
    for _ in changes:
        code = run()
        sys.stdout.flush()
    return code
