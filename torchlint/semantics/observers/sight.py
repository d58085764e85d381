"""Whether all of a project that may use a name of this file is in sight, and none of it does."""

from __future__ import annotations

import ast
import os
import re
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.summaries.project import ANEW, MAY_USE, USED

_BY_NAME = frozenset({"globals", "locals", "eval", "exec", "vars", "getattr"})
"""Functions by which a file gets at its own names by text."""
_RUNNERS = frozenset({"fire", "plac", "defopt", "jsonargparse", "tyro", "argh", "invoke", "fabric", "sacred", "celery"})
"""Libraries that call a file's functions by their names."""
_TESTS = re.compile(r"(test_.*|.*_test)\.py$")
_SERVED = frozenset(
    {
        *("model_fn", "input_fn", "predict_fn", "output_fn", "transform_fn", "lambda_handler", "handle", "handler"),
        *("init", "predict", "serve", "app", "agent"),
    }
)
"""Functions that servers and competitions call by these names."""


class Sight:
    """Tells of names of the file whether other files may use them, by what the project says.

    Where there is no project, where it is not known which files it has, or where any of them may import others by names that
    are computed, it is not known.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._project = semantics.elsewhere.around
        self._file = os.path.basename(semantics.elsewhere.file)

    @property
    def is_known(self) -> bool:
        """Whether there is a project to ask."""
        return self._project is not None

    @cached_property
    def unreached(self) -> Fact:
        """Whether no other code imports the file."""
        if self._project is None:
            return unknown("another file may import this one")
        if _TESTS.match(self._file):
            return unknown("what runs tests hands over what other files make")
        return self._asked("")

    def of(self, name: str, *, is_class: bool = False) -> Fact:
        """Whether no other code uses what the file calls ``name``, nor makes objects of a class of their own class."""
        if self._project is None:
            return unknown(f"`{name}` may be used elsewhere")
        if doubt := self._called_by_name(name):
            return unknown(doubt)
        return self._asked(name, of_class=is_class)

    def user(self, name: str) -> str:
        """Another file that uses what this one calls ``name``, or may, as far as the project shows one; empty otherwise."""
        found = self._project.mentions(name) if self._project is not None else ""
        return found[1:] if found.startswith((USED, MAY_USE)) else ""

    def _asked(self, name: str, *, of_class: bool = False) -> Fact:
        assert self._project is not None
        doubt = self._project.opened_by() or self._project.mentions(f"{ANEW}{name}" if of_class else name)
        if doubt.startswith(USED):
            doubt = f"`{doubt.removeprefix(USED)}` uses it" if name else f"`{doubt.removeprefix(USED)}` may import it"
        elif doubt.startswith(MAY_USE):
            doubt = f"`{doubt.removeprefix(MAY_USE)}` may use it"
        if not doubt:
            return CERTAIN
        return unknown(f"`{name}` may be used elsewhere: {doubt}" if name else f"the file may be used elsewhere: {doubt}")

    def _called_by_name(self, name: str) -> str:
        """What may call a function of the file that no code names."""
        calls = self._semantics.facts.calls
        for each in sorted(_BY_NAME):
            of_name = [call for call in calls.get(each, ()) if isinstance(call.func, ast.Name)]
            if any(each != "getattr" or not _is_of_object(call) for call in of_name):
                return f"`{each}` may find `{name}` by its name"
        texts = (each.value for each in self._semantics.tree.of_type(ast.Constant) if isinstance(each, ast.Constant))
        if any(">>>" in text and name in text for text in texts if isinstance(text, str)):
            return f"an example in a text runs `{name}`"
        runners = self._semantics.names.imported_libraries & _RUNNERS
        if runners:
            return f"`{min(runners)}` may call `{name}` by its name"
        if name in _SERVED or (name.lower().startswith(("test", "setup", "teardown", "pytest")) and _TESTS.match(self._file)):
            return f"`{name}` may be called by its name"
        return ""


def _is_of_object(call: ast.Call) -> bool:
    """Whether a call of ``getattr`` names what it asks for, or asks no file for it: ``getattr(args, name)``."""
    if len(call.args) > 1 and isinstance(call.args[1], ast.Constant):
        return True
    return bool(call.args) and isinstance(call.args[0], ast.Name)
