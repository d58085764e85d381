"""Who calls a function of this file from other files of the project, and what its parameters are given there."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics.summaries.calls import INSTANCE, CallSummary, Parameter
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, Project
from torchlint.semantics.summaries.making import summary_of
from torchlint.semantics.summaries.summary import NOTHING_KNOWN, Made

_NEVER_ASKED = frozenset({"forward", "__call__", "__getitem__", "__len__", "__iter__", "main"})
"""What is hardly called by its name."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a call in another ``file`` gives for a parameter."""

    file: str
    made: Made


class Callers:
    """Looks up the calls of functions, of this file and of those that call it."""

    def __init__(self, module: ast.Module, project: Project, file: str) -> None:
        self._module = module
        self._project = project
        self._file = file
        self._known: dict[tuple[str, Parameter], tuple[Given, ...]] = {}

    @cached_property
    def lookup(self) -> Lookup:
        """Follows names as the callers see them, to this file among others."""
        return Lookup(self._project.as_others_see_it(summary_of(self._module)))

    def given(self, parameter: Parameter, file: str = "") -> tuple[Given, ...]:
        """What the calls in other files give for a parameter of a function of this file, or of another ``file``."""
        file = file or self._file
        key = (file, parameter)
        if key not in self._known:
            self._known[key] = ()
            self._known[key] = tuple(self._given(parameter, file))
        return self._known[key]

    def are_unrecorded(self, function: str) -> bool | None:
        """Whether all calls in other files of one of this file's functions are made with autograd off; `None` without any."""
        calls = [call.unrecorded for _, call in self._calls(function, self._file)]
        return all(calls) if calls else None

    def _given(self, parameter: Parameter, file: str) -> Iterator[Given]:
        for caller, call in self._calls(parameter.function, file):
            made = dict(call.given)
            found = made.get(parameter.name) or (made.get(parameter.place) if parameter.place else None)
            yield Given(caller, found if found is not None and not call.starred else NOTHING_KNOWN)

    def _calls(self, function: str, file: str) -> Iterator[tuple[str, CallSummary]]:
        """The calls of a function that are in other files than this one."""
        owner, _, name = function.rpartition(".")
        if name in _NEVER_ASKED or not file.endswith(".py"):
            return
        called = owner if name == "__init__" else name
        stem = os.path.basename(file).removesuffix(".py")
        words = (stem if stem != "__init__" else os.path.basename(os.path.dirname(file)), owner or name)
        for caller, calls in self._project.calls(called, words, file):
            if caller != self._file:
                yield from ((caller, call) for call in calls if self._runs(call, caller) == (file, function))

    def _runs(self, call: CallSummary, caller: str) -> tuple[str, str] | None:
        """The file and the name of the function that a call runs."""
        made, _, method = call.to.partition(INSTANCE)
        target = self.lookup.reference(made, caller)
        if isinstance(target, FunctionElsewhere):
            return (target.file, target.name) if not method else None
        if isinstance(target, ClassElsewhere):
            method = method or "__init__"
            for base in self.lookup.bases(target):
                if not isinstance(base, ClassElsewhere):
                    return None
                if method in base.summary.methods:
                    return base.file, f"{base.name}.{method}"
        return None
