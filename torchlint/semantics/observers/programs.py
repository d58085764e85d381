"""Whether a file is a program, so that no other file imports from it: three answers, each as strict as what rests on it."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import walk

_RUNS = frozenset({"print", "backward", "apply", "step", "manual_seed", "train", "fit", "plot", "show"})
"""What the top level of a file calls that is a program, and no library."""


class Programs:
    """Tells what importing a file does, or running it.

    None of the answers follows from another one: `trains` looks into conditions at the top level as well, `runs` into
    assignments, and `acts` at what kinds of statements there are.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def trains(self) -> Fact:
        """Whether the top level of the file trains something, in no function and behind no look at ``__name__``.

        It is what safe fixes rest on: no project imports such a file for a name in it.
        """
        calls = self._semantics.facts.calls.get("backward", ())
        return CERTAIN if any(map(self._trains_on_import, calls)) else unknown("another file may import the name from this one")

    def _trains_on_import(self, call: ast.Call) -> bool:
        tree = self._semantics.tree
        if tree.function(call) is not None or any(isinstance(parent, ast.ClassDef) for parent in tree.ancestors(call)):
            return False
        branches = [parent for parent in tree.ancestors(call) if isinstance(parent, ast.If)]
        return not any(part.id == "__name__" for each in branches for part in ast.walk(each.test) if isinstance(part, ast.Name))

    @cached_property
    def runs(self) -> bool:
        """Whether the file runs a program as soon as it is imported, as scripts and notebooks do: it prints, seeds, fits.

        It is for the calls of functions: one that such a file defines is hardly called from elsewhere.
        """
        for statement in self._semantics.tree.module.body:
            if isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test):
                continue
            if isinstance(statement, (ast.Expr, ast.For, ast.While, ast.With, ast.Assign)):
                for part in walk(statement):
                    match part:
                        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in _RUNS:
                            return True
        return False

    @cached_property
    def acts(self) -> bool:
        """Whether the file is one that can be run: it asks whether it is, or does anything at its top level.

        It is for names that are imported into the file: nobody looks for `upsample` in a script.
        """
        return any(map(_acts, self._semantics.tree.module.body))


def _acts(statement: ast.stmt) -> bool:
    """Whether a statement of a module does something but define things."""
    match statement:
        case ast.Expr(value=ast.Call()) | ast.For() | ast.While() | ast.With():
            return True
        case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False
