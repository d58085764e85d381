"""What functions of Python's libraries do with what they are given: keep it, call it, compute with it or give it back."""

from __future__ import annotations

import sys

_CALL = ("functools.", "concurrent.", "asyncio.", "multiprocessing.", "threading.", "contextvars.", "timeit.", "sched.")
"""Modules whose functions call what they are given, now or later."""
_CALLING = frozenset(
    {
        *("builtins.map", "builtins.filter", "builtins.eval", "builtins.exec", "heapq.merge"),
        *(f"itertools.{name}" for name in ("accumulate", "starmap", "groupby", "takewhile", "dropwhile", "filterfalse")),
    }
)
_COMPUTING = frozenset(f"builtins.{name}" for name in ("sum", "abs", "pow", "divmod", "max", "min", "round", "sorted"))
_KEEP_NOTHING = (
    *(
        "builtins.",
        "math.",
        "os.",
        "time.",
        "copy.",
        "random.",
        "statistics.",
        "json.",
        "pickle.",
        "collections.",
        "itertools.",
    ),
    *("logging.", "warnings.", "sys.", "re.", "io.", "csv.", "string.", "datetime.", "glob.", "pathlib.", "shutil.", "typing."),
    *("tempfile.", "argparse.", "pprint.", "textwrap.", "subprocess.", "hashlib.", "struct.", "platform.", "gc.", "inspect."),
)
"""Modules whose functions put nothing of what they are given into another object that they are given: not `heapq.heappush`."""
_CHOOSING = frozenset(f"random.{name}" for name in ("choice", "choices", "sample"))


def is_of_python(name: str) -> bool:
    """Whether a function is one of Python's own libraries, or built in."""
    root, dot, _ = name.partition(".")
    return bool(dot) and root in sys.stdlib_module_names


def keeps_nothing(name: str) -> bool:
    """Whether a function of Python's keeps nothing of what it is given, but in what it gives."""
    return name.startswith(_KEEP_NOTHING) and not calls_what_it_is_given(name)


def calls_what_it_is_given(name: str) -> bool:
    """Whether a function of Python's calls what it is given, be it as soon as its result is gone through."""
    return name in _CALLING or name.startswith(_CALL)


def computes(name: str) -> bool:
    """Whether a function of Python's computes with what it is given, or lets it compute."""
    return name in _COMPUTING or name.startswith("operator.") or calls_what_it_is_given(name)


def hands_back(name: str) -> bool:
    """Whether what a function of Python's gives is made of what it is given, and of nothing else."""
    return (name.startswith("itertools.") and name not in _CALLING) or name in _CHOOSING
