"""Names followed from file to file: through imports, packages, re-exports and aliases, to what defines them.

What leads out of the project is known by its full name, as `torch.nn.Linear` is; what cannot be followed is unknown. A chain
that is longer than any that people write, or that comes back to where it was, is given up.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from torchlint.semantics import torch_api
from torchlint.semantics.code.definitions import MODULE_BASES
from torchlint.semantics.code.names import canonical
from torchlint.semantics.summaries.project import Project
from torchlint.semantics.summaries.summary import (
    ANY,
    IMPORTED,
    Act,
    Bound,
    ClassBody,
    ClassOutput,
    ClassSummary,
    FunctionSummary,
    Given,
    Made,
    Place,
)

_LONGEST = 24
"""So many steps are taken from a name to what it stands for; a class has no more bases that are looked at."""
_DEEPEST = 8
"""So many functions may hand an argument on to one another."""
_NEAR = 12
"""So many steps are taken to each of many things that there are to choose from."""
_MOST_CHOICES = 200
_HARMLESS = ("torch.", "numpy.", "math.", "time.", "logging.", "os.path.", "copy.deepcopy")
"""What other packages' functions are called that leave models and optimizers as they are."""
_READERS = frozenset(
    f"builtins.{name}"
    for name in ("print", "len", "isinstance", "hasattr", "getattr", "id", "type", "str", "repr", "int", "float", "callable")
)
_STATEFUL = (torch_api.PARAMETER_ATTRIBUTES, torch_api.BUFFERS)


@dataclass(frozen=True, slots=True)
class Outside:
    """Something that is not of the project, by its full name."""

    name: str


@dataclass(frozen=True, slots=True)
class ClassElsewhere:
    """A class of another file."""

    file: str
    name: str
    summary: ClassSummary = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionElsewhere:
    """A function of another file."""

    file: str
    name: str
    summary: FunctionSummary = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ValueElsewhere:
    """A value that a call gives at the top level of another file."""

    file: str
    made: Made


@dataclass(frozen=True, slots=True)
class Entries:
    """A dict of classes and functions at the top level of another file: what these stand for."""

    targets: tuple[Target | None, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several things of a module or a dict: which, only the running program knows."""

    targets: tuple[Target | None, ...]


Target: TypeAlias = Outside | ClassElsewhere | FunctionElsewhere | ValueElsewhere | Place | Entries | OneOf


def agreed(targets: Sequence[Target | None]) -> Target | None:
    """What several imports of one name stand for, if it is the same."""
    first = targets[0]
    return first if all(each == first for each in targets) else None


class Lookup:
    """Follows names through a project."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._names: dict[str, dict[str, Bound]] = {}
        self.told: dict[tuple[str, str, int, frozenset[str]], Any] = {}
        """What is known of functions and members by those who asked before, each by how far they looked."""
        self._starring: set[tuple[str, str]] = set()
        """The files whose star imports are being looked through, each for a name."""

    def imported(self, name: str, file: str, steps: int = _LONGEST) -> Target | None:
        """What the full name of an import, as ``file`` has it, stands for."""
        places = self._project.module(name, file)
        parts = [part for part in name.lstrip(".").split(".") if part]
        if not name.startswith("."):
            if not places:
                return Outside(canonical(name))
            parts = parts[1:]
        for place in places:
            if (found := self._below(place, parts, steps)) is not None:
                return found
        return None

    def _below(self, place: Place, parts: list[str], steps: int) -> Target | None:
        """What attributes of a module lead to."""
        for index, part in enumerate(parts):
            if steps <= 0:
                return None
            if part == ANY:
                return self._any_of(place, steps - 1) if index + 1 == len(parts) else None
            rest = parts[index + 1 :]
            inner = self._project.inner(place, part) if rest else None
            bound = self._bindings(place.file).get(part) if inner is None else None
            if bound is not None:
                return self._further(self._bound(bound, part, place.file, steps - 1), rest, steps - 1)
            inner = inner or self._project.inner(place, part)
            if inner is None:
                return self._further(self._starred(place.file, part, steps - 1), rest, steps - 1)
            place = inner
        return place

    def _further(self, found: Target | None, parts: list[str], steps: int) -> Target | None:
        """What attributes of something lead to: of a class or a value, nothing that is known."""
        if not parts or found is None:
            return found
        if isinstance(found, Outside):
            return Outside(canonical(".".join((found.name, *parts))))
        if isinstance(found, Entries):
            return OneOf(found.targets) if parts == [ANY] else None
        return self._below(found, parts, steps) if isinstance(found, Place) else None

    def any_of(self, found: Target | None) -> OneOf | None:
        """What may be chosen from a module or a dict."""
        chosen = self._further(found, [ANY], _LONGEST)
        return chosen if isinstance(chosen, OneOf) else None

    def _any_of(self, place: Place, steps: int) -> OneOf | None:
        """The classes and functions that are to be had of a module, those that it imports among them."""
        found: dict[str, Target | None] = {}
        places = [place, *(each for each in self._all_starred(place.file) if isinstance(each, Place))]
        for each in reversed(places):
            for name, bound in self._bindings(each.file).items():
                if not name.startswith("_"):
                    found[name] = self._bound(bound, name, each.file, min(steps, _NEAR))
        made = (target for target in found.values() if isinstance(target, (ClassElsewhere, FunctionElsewhere)))
        return OneOf(tuple(dict.fromkeys(made))) if len(found) <= _MOST_CHOICES else None

    def _all_starred(self, file: str) -> Iterator[Target | None]:
        """The modules that a file imports everything of, and those that they do."""
        pending, seen = [file], {file}
        while pending and len(seen) < _MOST_CHOICES:
            current = pending.pop(0)
            for module in self._project.summary(current).stars if current else ():
                found = self.imported(module, current)
                if isinstance(found, Place) and found.file not in seen:
                    seen.add(found.file)
                    pending.append(found.file)
                    yield found

    def _bindings(self, file: str) -> dict[str, Bound]:
        if file not in self._names:
            self._names[file] = self._project.summary(file).by_name if file else {}
        return self._names[file]

    def _bound(self, bound: Bound, name: str, file: str, steps: int) -> Target | None:
        if bound.defined is not None:
            return ClassElsewhere(file, name, bound.defined)
        if bound.function is not None:
            return FunctionElsewhere(file, name, bound.function)
        if bound.reference:
            every = (bound.reference, *bound.others)
            steps //= len(every)  # so that ever more branches of conditions take no more steps than one chain
            return agreed([self.reference(each, file, steps) for each in every]) if name not in every else None
        if bound.entries:
            return Entries(tuple(self.reference(each, file, min(steps, _NEAR)) for each in bound.entries[:_MOST_CHOICES]))
        return ValueElsewhere(file, bound.made) if bound.made.by or bound.made.items else None

    def _starred(self, file: str, name: str, steps: int) -> Target | None:
        """What a file's star imports bind a name to: no file is asked twice, however many import everything of it."""
        if name.startswith("_") or steps <= 0 or (file, name) in self._starring:
            return None
        is_first = not self._starring
        self._starring.add((file, name))
        try:
            for module in reversed(self._project.summary(file).stars if file else ()):
                if (found := self.star(module, name, file, steps - 1)) is not None:
                    return found
        finally:
            if is_first:
                self._starring.clear()
        return None

    def star(self, module: str, name: str, file: str, steps: int = _LONGEST) -> Target | None:
        """What ``from module import *`` in ``file`` binds a name to; `None` where it does not."""
        if name.startswith("_") or steps <= 0:
            return None
        found = self.imported(module, file, steps - 1)
        if not isinstance(found, Place) or not found.file:
            return None
        exported = self._project.summary(found.file).exported
        return self._below(found, [name], steps - 1) if exported is None or name in exported else None

    def reference(self, reference: str, file: str, steps: int = _LONGEST) -> Target | None:
        """What a reference in the summary of ``file`` stands for."""
        if steps <= 0 or not reference:
            return None
        if reference.startswith(IMPORTED):
            return self.imported(reference[len(IMPORTED) :], file, steps - 1)
        first, *parts = reference.split(".")
        if (bound := self._bindings(file).get(first)) is not None:
            return self._further(self._bound(bound, first, file, steps - 1), parts, steps - 1)
        found = self._starred(file, first, steps - 1)
        if found is None and not self._project.summary(file).stars:
            return Outside(f"builtins.{reference}")
        return self._further(found, parts, steps)

    # --- what a class is ---------------------------------------------------------------------------------------------

    def bases(self, found: ClassElsewhere) -> Iterator[ClassElsewhere | Outside | None]:
        """A class and all that it derives from, nearest first; `None` for what is not known."""
        pending: list[ClassElsewhere | Outside | None] = [found]
        seen: set[tuple[str, str]] = set()
        while pending and len(seen) < _LONGEST:
            current = pending.pop(0)
            if isinstance(current, ClassElsewhere):
                if (current.file, current.name) in seen:
                    continue
                seen.add((current.file, current.name))
                for base in current.summary.bases:
                    target = self.reference(base, current.file)
                    pending.append(target if isinstance(target, (ClassElsewhere, Outside)) else None)
            yield current

    def body(self, found: ClassElsewhere | FunctionElsewhere) -> ClassBody:
        """What the code of a class says, or of a function."""
        return self._project.body(found.file, found.name)

    def is_module(self, found: ClassElsewhere) -> bool:
        """Whether a class derives from torch's modules."""
        outside = (base.name for base in self.bases(found) if isinstance(base, Outside))
        return any(name.startswith(MODULE_BASES) for name in outside)

    def is_plain(self, found: ClassElsewhere) -> bool:
        """Whether a class, and each that it derives from, leaves calls and modes to the modules of torch."""
        return all(
            not base.summary.unusual if isinstance(base, ClassElsewhere) else base is not None for base in self.bases(found)
        )

    def runs(self, found: ClassElsewhere, method: str) -> bool:
        """Whether a method of a class runs its instance in the mode and with the autograd that it finds."""
        for base in self.bases(found):
            if not isinstance(base, ClassElsewhere) or method in base.summary.methods:
                return isinstance(base, ClassElsewhere) and method in self.body(base).running
        return False

    def has_state(self, found: ClassElsewhere, depth: int = _DEEPEST) -> bool:
        """Whether instances of a class surely have parameters or buffers."""
        for base in self.bases(found):
            if not isinstance(base, ClassElsewhere):
                if base is not None and any(table.get(base.name) for table in _STATEFUL):
                    return True
                continue
            if self.body(base).registers:
                return True
            for reference in self.body(base).stored:
                target = self.reference(reference, base.file)
                if isinstance(target, Outside) and any(table.get(target.name) for table in _STATEFUL):
                    return True
                if isinstance(target, ClassElsewhere) and depth and self.has_state(target, depth - 1):
                    return True
        return False

    def buffers(self, found: ClassElsewhere) -> set[str]:
        """The names that a class, and those that it derives from, register buffers by."""
        return {name for base in self.bases(found) if isinstance(base, ClassElsewhere) for name in self.body(base).buffers}

    def output(self, found: ClassElsewhere, path: tuple[int | str, ...]) -> tuple[str, ClassOutput] | None:
        """What calling an instance of a class gives, or a part of that, and in which file it is made."""
        for base in self.bases(found):
            if not isinstance(base, ClassElsewhere) or base.summary.unusual:
                return None
            if "forward" in base.summary.methods:
                outputs = self._project.outputs(base.file)
                return next(((base.file, each) for each in outputs if (each.name, each.path) == (base.name, path)), None)
        return None

    # --- what functions and classes give, as their files alone tell ----------------------------------------------------------

    def given(self, found: FunctionElsewhere) -> Given:
        """What calling a function gives."""
        return Given() if found.summary.hidden else self._project.given(found.file, found.name)

    def given_by(
        self, found: ClassElsewhere, name: str, own: Container[str] = (), *, above: bool = False
    ) -> tuple[str, Given] | None:
        """What calling a method ``name()`` gives, or an attribute holds, and the file that says so; ``own`` are overridden.

        `None` where a method that it rests on is another one in a class between, or not all of the bases are known. What the
        class has itself does not count where it is asked what is ``above``.
        """
        overridden: set[str] = set()
        for base in list(self.bases(found))[above:]:
            if not isinstance(base, ClassElsewhere):
                if base is None:
                    return None
                continue
            given = self._project.given(base.file, f"{base.name}.{name}")
            if given.type or name.removesuffix("()") in base.summary.methods:
                is_safe = not any(each in overridden or each in own for each in given.rests_on)
                return (base.file, given) if is_safe else None
            overridden.update(base.summary.methods)
        return None

    # --- what a function does ------------------------------------------------------------------------------------------

    def acts(self, found: FunctionElsewhere, place: str, depth: int = _DEEPEST) -> tuple[Act, ...] | None:
        """What a function does with the argument at a place, an index or a keyword; `None` where that is not known.

        What it hands on is followed: no act of the result is one of handing on.
        """
        summary = found.summary
        every = (*summary.positional, *summary.named)
        name = place
        if place.isdigit():
            name = summary.positional[int(place)] if int(place) < len(summary.positional) else ""
        if summary.hidden or name not in every or not depth:
            return None
        acts: list[Act] = []
        for act in dict(summary.acts).get(name, ()):
            if act.what == "other":
                return None
            if act.what != "give":
                acts.append(act)
                continue
            further = self._handed_on(act, found.file, depth)
            if further is None:
                return None
            acts += [Act(each.what, each.sure and act.sure) for each in further]
        return tuple(acts)

    def runs_given(self, found: FunctionElsewhere, place: str) -> bool | None:
        """Whether a function runs the model at a place in a loop, with the autograd and the mode that it finds; ``None`` where
        it may do something else with it, or runs none.
        """
        acts = self.acts(found, place)
        if acts is None or any(act.what != "give" for act in acts):
            return None
        positional = found.summary.positional
        name = positional[int(place)] if place.isdigit() and int(place) < len(positional) else place
        return dict(found.summary.runs).get(name)

    def _handed_on(self, act: Act, file: str, depth: int) -> tuple[Act, ...] | None:
        target = self.reference(act.to, file)
        if isinstance(target, Outside):
            return () if target.name.startswith(_HARMLESS) or target.name in _READERS else None
        if isinstance(target, FunctionElsewhere) and act.place:
            return self.acts(target, act.place, depth - 1)
        return None
