"""Code of other files that a file calls, and that needs a GPU in any case."""

from __future__ import annotations

import ast
from collections.abc import Container

from torchlint.semantics import Semantics
from torchlint.semantics.conditions.unasked_moves import UnaskedMoves
from torchlint.semantics.summaries.lookup import ClassElsewhere, FunctionElsewhere, Target

_DEEPEST = 3
"""So many parts of parts of a model are looked at."""
_MOST_PARTS = 24
"""So many parts of one class are looked at."""


class GpuElsewhere:
    """Tells whether what a file calls of other files puts something on a GPU, whatever the flags of the program say."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._elsewhere = semantics.elsewhere
        self._known: dict[tuple[str, str], bool] = {}
        self._asked: dict[tuple[str, bool], bool] = {}

    def is_needed_by(self, units: Container[ast.AST | None]) -> bool:
        """Whether some functions and classes, ``None`` for the script itself, use such code in any case: one of them calls it,
        hands on a function of that kind, or makes an object of such a class; or a class among them derives from one.
        """
        if not self._elsewhere.is_in_project:
            return False
        asked = self._semantics.of(UnaskedMoves)
        for call in self._semantics.tree.of_type(ast.Call):
            for each in _used(call) if asked.unit(call) in units else ():
                if self._is_needed_for(each, is_called=each is call.func) and asked.is_made(call):
                    return True
        bases = (base for each in self._semantics.tree.of_type(ast.ClassDef) if each in units for base in each.bases)
        return any(self._needs(self._elsewhere.target(base), _DEEPEST) for base in bases)

    def _is_needed_for(self, used: ast.expr, *, is_called: bool) -> bool:
        """Whether what is called or handed on is such code; a class that is handed on is asked about, and not run."""
        key = (ast.unparse(used), is_called)
        if key not in self._asked:
            found = self._elsewhere.target(used)
            is_run = is_called or isinstance(found, FunctionElsewhere)
            self._asked[key] = is_run and self._needs(found, _DEEPEST)
        return self._asked[key]

    def _needs(self, found: Target | None, depth: int) -> bool:
        """Whether a class or function of another file is such code; anything else is none that is known."""
        if not isinstance(found, (ClassElsewhere, FunctionElsewhere)):
            return False
        key = (found.file, found.name)
        if key not in self._known:
            self._known[key] = False  # what comes back to itself
            self._known[key] = self._looked_for(found, depth)
        return self._known[key]

    def _looked_for(self, found: ClassElsewhere | FunctionElsewhere, depth: int) -> bool:
        """Whether the code of a function says so; of a class also that of its bases, and of the parts that it makes."""
        lookup = self._elsewhere.lookup
        if isinstance(found, FunctionElsewhere):
            return lookup.body(found).needs_gpu
        for each in lookup.bases(found):
            body = lookup.body(each) if isinstance(each, ClassElsewhere) else None
            if body is not None and body.needs_gpu:
                return True
        parts = lookup.body(found).stored[:_MOST_PARTS] if depth else ()
        targets = (lookup.reference(each, found.file) for each in parts)
        return any(self._needs(each, depth - 1) for each in targets if isinstance(each, ClassElsewhere))


def _used(call: ast.Call) -> list[ast.expr]:
    """What a call calls, and what it is given by name."""
    given = [call.func, *call.args, *(word.value for word in call.keywords)]
    return [each for each in given if isinstance(each, (ast.Name, ast.Attribute))]
