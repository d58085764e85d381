"""Whether the mode of a module makes a difference whose class is another file's."""

from __future__ import annotations

from collections.abc import Iterable

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Outside
from torchlint.semantics.summaries.summary import ClassSummary, is_modal

_DEEPEST = 8
"""So many classes and functions are looked into that make parts of one another."""
_PLAIN = frozenset({"torch.nn.Module", "builtins.object", *(each for each in torch_api.MODULES if not is_modal(each))})
"""The classes that know no mode themselves."""
_OTHERS = ("torch.", "builtins.", "numpy.", "math.", "copy.", "functools.", "collections.")


class ModesElsewhere:
    """Tells of classes of other files whether the mode of their instances makes a difference."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._known: dict[tuple[str, str], bool | None] = {}

    def matters(self, found: ClassElsewhere, depth: int = _DEEPEST) -> bool | None:
        """Whether the mode makes a difference; ``None`` where not all of the class can be followed."""
        key = (found.file, found.name)
        if key not in self._known:
            self._known[key] = False  # for a class that has instances of itself
            self._known[key] = self._look_into(found, depth)
        return self._known[key]

    def runs_given(self, found: ClassElsewhere) -> bool:
        """Whether a class keeps modules that it is given, and runs them."""
        lookup = self._semantics.elsewhere.lookup
        return any(isinstance(base, ClassElsewhere) and lookup.body(base).runs_given for base in lookup.bases(found))

    def _look_into(self, found: ClassElsewhere, depth: int) -> bool | None:
        lookup = self._semantics.elsewhere.lookup
        answers: list[bool | None] = []
        for base in lookup.bases(found):
            if isinstance(base, ClassElsewhere):
                body = lookup.body(base)
                if body.matters:
                    return True
                answers += (self._of_part(each, base, depth) for each in body.called)
                answers += (None for each in body.stored if not each)
            elif base is None or base.name not in _PLAIN:
                answers.append(True if base is not None and is_modal(base.name) else None)
        return _any_known(answers)

    def _of_part(self, reference: str, owner: ClassElsewhere, depth: int) -> bool | None:
        """Whether the mode makes a difference to what is called in a class, if that is a part of it."""
        lookup = self._semantics.elsewhere.lookup
        target = lookup.reference(reference, owner.file)
        if isinstance(target, ClassElsewhere):
            return self.matters(target, depth - 1) if depth else None
        if isinstance(target, Outside) and target.name.startswith(_OTHERS):
            return False
        is_stored = reference in lookup.body(owner).stored
        if isinstance(target, FunctionElsewhere) and is_stored and depth:
            return self._of_function(target, depth)
        is_class = isinstance(target, Outside) and target.name.rpartition(".")[2][:1].isupper()
        return None if is_stored or is_class else False

    def _of_function(self, function: FunctionElsewhere, depth: int) -> bool | None:
        """Whether the mode makes a difference to what a function makes: instances of the classes that it gives, or any
        part that it calls.
        """
        made = [self._semantics.elsewhere.lookup.reference(by, function.file) for by in function.summary.gives.by]
        classes = [each for each in made if isinstance(each, ClassElsewhere)]
        if not made or len(classes) < len(made):
            classes = [ClassElsewhere(function.file, function.name, ClassSummary())]
        return _any_known(self.matters(each, depth - 1) for each in classes)


def _any_known(answers: Iterable[bool | None]) -> bool | None:
    """Whether any of some answers is yes; ``None`` where that hangs on those that are not known."""
    every = set(answers)
    return True if True in every else None if None in every else False
