"""Who calls a function of this file from other files of the project, and what its parameters are given there."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.semantics.summaries.calls import INSTANCE, CallSummary, Parameter
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Lookup, Outside
from torchlint.semantics.summaries.project import Project
from torchlint.semantics.summaries.summary import IMPORTED, NOTHING_KNOWN, Bound, Made, Place

_NEVER_ASKED = frozenset({"forward", "__call__", "__getitem__", "__len__", "__iter__", "main"})
"""What is hardly called by its name."""
_MOST_STARRED = 40
"""So many files that import everything of one another are looked through."""
_MOST_CALLING = 4
"""So many functions that call one another are followed, to where autograd is off."""
_DEEPEST = 3
"""So many classes that derive from one another are followed."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a call in another ``file`` gives for a parameter; it is ``thawed`` where that file may thaw it, or add to it."""

    file: str
    made: Made
    thawed: bool = False


class Callers:
    """Looks up the calls of functions, of this file and of those that call it."""

    def __init__(self, module: ast.Module, project: Project, file: str) -> None:
        self._module = module
        self._project = project
        self._file = file
        self._known: dict[tuple[str, Parameter], tuple[Given, ...]] = {}
        self._unrecorded: dict[tuple[str, str], bool] = {}

    @cached_property
    def lookup(self) -> Lookup:
        """Follows names as the callers see them, to this file among others."""
        return Lookup(self._project.as_others_see_it(self._module))

    def given(self, parameter: Parameter, file: str = "") -> tuple[Given, ...]:
        """What the calls in other files give for a parameter of a function of this file, or of another ``file``."""
        file = file or self._file
        key = (file, parameter)
        if key not in self._known:
            self._known[key] = ()
            self._known[key] = tuple(self._given(parameter, file))
        return self._known[key]

    def are_possible(self) -> bool:
        """Whether another file imports this one, or something that is called so."""
        return self._file.endswith(".py") and bool(self._project.naming("import", (_stem(self._file),)))

    def take_with_all(self, name: str) -> bool:
        """Whether another file that speaks of a name has it of this one: it imports the name, or everything, or does so of one
        that imports everything of this one.
        """
        pending, seen = [self._file], {self._file}
        while pending and len(seen) <= _MOST_STARRED:
            file = pending.pop()
            if not file.endswith(".py"):
                continue
            speaking = set(self._project.naming(name, (_stem(file),)))
            for each in self._project.naming("import", (_stem(file),)):
                if each in seen:
                    continue
                summary = self._project.summary(each)
                bound = summary.by_name.get(name)
                if bound is None and any(self._is_file(star, each, file) for star in summary.stars):
                    if each in speaking:
                        return True
                    seen.add(each)
                    pending.append(each)
                elif bound is not None and self._is_taken(bound, name, each, file):
                    return True
        return False

    def _is_taken(self, bound: Bound, name: str, importer: str, file: str) -> bool:
        """Whether a name of another file is what it imports by that name of ``file``."""
        every = (each.removeprefix(IMPORTED) for each in (bound.reference, *bound.others) if each.startswith(IMPORTED))
        modules = (each.rpartition(".") for each in every)
        return any(last == name and self._is_file(module or ".", importer, file) for module, _, last in modules)

    def _is_file(self, module: str, importer: str, file: str) -> bool:
        """Whether a file imports another one by the name of a module: also from a folder that only the run adds to the path."""
        found = self.lookup.imported(module, importer)
        if isinstance(found, Outside) and not module.startswith("."):
            return f"{os.sep}{file.removesuffix('.py')}".endswith(os.sep + module.replace(".", os.sep))
        return isinstance(found, Place) and found.file == file

    def are_unrecorded(self, function: str) -> bool | None:
        """Whether all calls in other files of one of this file's functions are made with autograd off; `None` without any."""
        calls = [self._is_unrecorded(*each) for each in self._calls(function, self._file)]
        return all(calls) if calls else None

    def are_recorded(self, function: str) -> bool:
        """Whether no call in another file of one of this file's functions is made with autograd off, and there is one."""
        calls = [self._is_unrecorded(*each) for each in self._calls(function, self._file)]
        return bool(calls) and not any(calls)

    def _is_unrecorded(self, caller: str, call: CallSummary, depth: int = _MOST_CALLING) -> bool:
        """Whether a call in another file is made with autograd off, by it or by all that calls the function around it."""
        if call.unrecorded or not call.within or not depth:
            return call.unrecorded
        key = (caller, call.within)
        if key not in self._unrecorded:
            self._unrecorded[key] = False  # while it is looked at
            calls = list(self._calls(call.within, caller))
            self._unrecorded[key] = bool(calls) and all(self._is_unrecorded(*each, depth - 1) for each in calls)
        return self._unrecorded[key]

    def surroundings(self, function: str) -> tuple[str, ...]:
        """The functions and methods that the calls in other files of one of this file's functions stand in.

        Empty names stand for the code of a file itself, and for what is called with autograd off.
        """
        return tuple(call.within for _, call in self._calls(function, self._file))

    def are_in_training(self, function: str, trained_by: str) -> bool:
        """Whether all calls in other files of one of this file's functions find models as their training left them, as far as
        these files tell, and one of the files calls the function, too, that models are ``trained_by``.
        """
        calls = list(self._calls(function, self._file))
        if not calls or not all(call.in_training for _, call in calls):
            return False
        training = {caller for caller, _ in self._calls(trained_by, self._file)}
        return any(caller in training for caller, _ in calls)

    def makings(self, name: str, file: str) -> tuple[CallSummary, ...]:
        """The calls in other files than this one that make objects of a class of a ``file``, which has a constructor."""
        return tuple(call for _, call in self._calls(f"{name}.__init__", file))

    def _given(self, parameter: Parameter, file: str) -> Iterator[Given]:
        for caller, call in self._calls(parameter.function, file):
            made = dict(call.given)
            found = made.get(parameter.name) or (made.get(parameter.place) if parameter.place else None)
            thawed = parameter.name in call.thawed or parameter.place in call.thawed
            yield Given(caller, found if found is not None and not call.starred else NOTHING_KNOWN, thawed)

    def heirs(self, name: str, file: str = "") -> tuple[ClassElsewhere, ...]:
        """The classes of other files that derive from one of this file, or of another ``file``, and name it themselves."""
        file = file or self._file
        found: dict[ClassElsewhere, None] = {}
        for each in self._project.naming(name, (_stem(file), name)) if file.endswith(".py") else ():
            for heir, bound in self._project.summary(each).names:
                for base in bound.defined.bases if bound.defined is not None else ():
                    target = self.lookup.reference(base, each)
                    if isinstance(target, ClassElsewhere) and (target.file, target.name) == (file, name) and bound.defined:
                        found[ClassElsewhere(each, heir, bound.defined)] = None
        return tuple(found)

    def are_modules(self, name: str, file: str = "", depth: int = _DEEPEST) -> bool:
        """Whether all classes that derive from one, which is none of modules itself, are classes of modules of torch."""
        heirs = self.heirs(name, file) if depth else ()
        return bool(heirs) and all(
            self.lookup.is_plain(each) if self.lookup.is_module(each) else self.are_modules(each.name, each.file, depth - 1)
            for each in heirs
        )

    def _calls(self, function: str, file: str) -> Iterator[tuple[str, CallSummary]]:
        """The calls of a function that are in other files than this one."""
        owner, _, name = function.rpartition(".")
        if name in _NEVER_ASKED or not file.endswith(".py"):
            return
        called = owner if name == "__init__" else name
        for caller, calls in self._project.calls(called, (_stem(file), owner or name), file):
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


def _stem(file: str) -> str:
    """How a file is called by those that import from it."""
    stem = os.path.basename(file).removesuffix(".py")
    return stem if stem != "__init__" else os.path.basename(os.path.dirname(file))
