"""Whether the code looks at itself: at who called it, at its variables and attributes by name, at its own text."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics

_FRAMES = frozenset(
    {
        *("_getframe", "_current_frames", "currentframe", "getouterframes", "getinnerframes", "stacklevel", "findCaller"),
        *("traceback", "__traceback__", "tb_frame", "tb_next", "f_back", "f_code", "co_name", "exc_info", "extract_stack"),
        *("settrace", "setprofile", "__code__", "walk_stack", "getrecursionlimit", "setrecursionlimit", "stack_info"),
    }
)
"""Words of code that sees the frames of the functions that run."""
_NAMING = frozenset({"locals", "globals", "eval", "exec", "f_locals", "f_globals", "co_varnames"})
"""Words of code that reads variables by their names."""
_LISTING = frozenset(
    {"__dict__", "__getattribute__", "__getstate__", "__reduce__", "getmembers", "attrgetter", "pickle", "f_locals"}
)
"""Words of code that reads attributes by their names, or all of them."""

_LIVING = frozenset({"weakref", "WeakKeyDictionary", "WeakSet", "WeakValueDictionary", "gc", "getrefcount", "__del__"})
"""Words of code that sees when an object is gone."""


class Reflection:
    """Tells what a file reads of itself other than by the names in its code."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._words = semantics.words.all

    @cached_property
    def sees_no_frames(self) -> Fact:
        """Whether nobody notices that a function is called through another one."""
        calls = self._semantics.facts.calls
        found = sorted(self._words & _FRAMES) or sorted({"stack", "trace"} & calls.keys() if "inspect" in self._words else ())
        return CERTAIN if not found else unknown(f"`{found[0]}` may see the frame that the decorator adds")

    @cached_property
    def asks_for_no_lives(self) -> Fact:
        """Whether nobody notices how long an object lives: an `id` may be another object's as soon as it is gone."""
        found = sorted(self._words & _LIVING) + ["id"] * bool(self._calls_of("id"))
        return CERTAIN if not found else unknown(f"`{found[0]}` may notice that the object does not live as long")

    @cached_property
    def reads_no_variables(self) -> Fact:
        """Whether variables are read by nothing but the names in the code."""
        found = sorted(self._words & _NAMING)
        if any(not call.args and isinstance(call.func, ast.Name) for call in self._semantics.facts.calls.get("vars", ())):
            found.append("vars")
        return CERTAIN if not found else unknown(f"`{found[0]}` may read variables by their names")

    @cached_property
    def reads_no_attributes(self) -> Fact:
        """Whether attributes are read by nothing but the names in the code."""
        found = sorted(self._words & _LISTING)
        found += [name for name in ("vars", "dir") if any(call.args for call in self._semantics.facts.calls.get(name, ()))]
        found += [
            name
            for name in ("getattr", "hasattr")
            if any(len(call.args) > 1 and not isinstance(call.args[1], ast.Constant) for call in self._calls_of(name))
        ]
        return CERTAIN if not found else unknown(f"`{found[0]}` may read attributes by their names")

    def _calls_of(self, name: str) -> list[ast.Call]:
        return [call for call in self._semantics.facts.calls.get(name, ()) if isinstance(call.func, ast.Name)]
