"""Running again whenever something changes: a file to lint, or a configuration file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence

_SUFFIXES = (".py", ".pyi", ".ipynb", "pyproject.toml", "torchlint.toml")
_TICK = 300
"""Milliseconds after which it is looked whether the run has been interrupted, or a configuration file has changed."""


def watch(paths: Sequence[str], run: Callable[[], int], configurations: Callable[[], Iterable[str]]) -> int:
    """Calls ``run``, and again after each change below ``paths`` or in one of the ``configurations``, which may lie elsewhere
    or not be there yet, until it is interrupted; returns the exit code."""
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
    seen = _states(configurations())
    print("Watching for changes; Ctrl-C ends.", file=sys.stderr, flush=True)
    for changed in changes:
        if changed or _states(seen) != seen:
            before = _states(configurations())
            code = _run(run)
            seen = {**_states(configurations()), **before}
    return code


def _states(files: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """What tells one state of each file from another; nothing for one that is not there."""
    states: dict[str, tuple[int, ...]] = {}
    for file in files:
        try:
            status = os.stat(file)
        except (OSError, ValueError):
            states[file] = ()
        else:
            states[file] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    return states


def _run(run: Callable[[], int]) -> int:
    code = run()
    sys.stdout.flush()
    return code
