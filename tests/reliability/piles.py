"""Runs torchlint over piles of Python: ``piles.py [--fix] PATH…``, and looks for crashes.

Each Python file below the paths, whatever settings leave out, is linted with all rules by the function that the command uses.
With ``--fix`` all fixes are applied in memory, as for ``--diff``; the result must be Python and, in a second round, need no
fix. Nothing is written. Files that are no Python to the Python that runs, or not text, are counted: that is said of them, and
no crash. A file that takes more than a minute counts as one. The exit code is 1 where anything went wrong.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff

from torchlint.diagnostic import Applicability
from torchlint.engine.runner import Action, Outcome, Task, examine
from torchlint.rules import all_rules
from torchlint.text.reading import DEFAULT_LIMIT, read_file

SUFFIXES = (".py", ".pyi", ".ipynb")
_LONG = 60.0
"""Seconds of processor time that no file may take."""


def files_below(paths: list[str]) -> Iterator[str]:
    """The Python files below ``paths``, each once."""
    seen = set()
    for path in paths:
        for folder, folders, names in os.walk(path):
            folders.sort()
            for name in sorted(names):
                real = os.path.realpath(os.path.join(folder, name))
                if name.endswith(SUFFIXES) and os.path.isfile(real) and real not in seen:
                    seen.add(real)
                    yield os.path.join(folder, name)


def check(path: str, task: Task, tally: Counter[str]) -> list[str]:
    """Lints, or lints and fixes, one file; gives what should not have happened."""
    try:
        data = read_file(path, DEFAULT_LIMIT)
    except OSError as error:
        tally["refused"] += 1
        return [] if "larger" in str(error) else [f"{path}: {error}"]
    tally["files"] += 1
    tally["bytes"] += len(data)
    began = time.process_time()
    outcome = examine(data, path, task)
    took = time.process_time() - began
    tally["findings"] += len(outcome.diagnostics)
    wrong = [str(error) for error in outcome.errors if "internal error" in error.message]
    too_deep = any(error.message.startswith(("cannot lint", "not looked at")) for error in outcome.errors)
    tally["Python that is nested too deeply"] += too_deep
    tally["not Python, or not text"] += bool(outcome.errors) and not wrong and not too_deep
    if took > _LONG:
        wrong.append(f"{path}: took {took:.0f} seconds for {len(data)} bytes")
    if outcome.replacement is not None:
        wrong += check_fixed(path, data, outcome, task, tally)
    return wrong


def check_fixed(path: str, data: bytes, outcome: Outcome, task: Task, tally: Counter[str]) -> list[str]:
    """What is wrong with the fixed text."""
    assert outcome.replacement is not None
    tally["files with fixes"] += 1
    tally["fixes"] += len(outcome.fixed)
    again = examine(outcome.replacement, path, task)
    wrong = [f"{path}: after the fix: {error}" for error in again.errors]
    if again.replacement is not None:
        wrong.append(f"{path}: the fixed text has more to fix: {', '.join(each.code for each in again.fixed)}")
    if path.endswith(".py") and _compiles(data) and not _compiles(outcome.replacement):
        wrong.append(f"{path}: the fixed text is parsed, but no longer compiled")
    before, after = (content.decode("latin-1").splitlines(keepends=True) for content in (data, outcome.replacement))
    tally["lines removed or changed"] += sum(line.startswith("-") for line in unified_diff(before, after)) - 1
    return wrong


def _compiles(data: bytes) -> bool:
    """Whether Python takes a file: it parses more than it compiles, a keyword that is given twice, say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(data, "", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fix", action="store_true", help="apply all fixes, in memory")
    parser.add_argument("--budget", type=float, default=float("inf"), metavar="SECONDS", help="end after so long")
    parser.add_argument("paths", nargs="+", metavar="PATH")
    options = parser.parse_args()
    task = Task(all_rules(), Action.FIX if options.fix else Action.LINT, Applicability.UNSAFE)
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    began = time.monotonic()
    gc.disable()
    for path in files_below(options.paths):
        for line in check(path, task, tally):
            wrong.append(line)
            print(line, flush=True)
        if tally["files"] % 200 == 0:
            gc.collect()
        if time.monotonic() - began > options.budget:
            print(f"ended after {options.budget:.0f} seconds, at {path}")
            break
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}; {len(task.rules)} rules")
    print("; ".join(f"{name}: {count}" for name, count in tally.items()))
    print(f"crashes and the like: {len(wrong)}; {time.monotonic() - began:.0f} seconds")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
