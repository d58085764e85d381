"""What a file may ask of the project that it is in: whoever knows that answers in these words."""

from __future__ import annotations

import ast
from typing import Protocol

from torchlint.semantics.summaries.calls import Calls
from torchlint.semantics.summaries.summary import ClassBody, ClassOutput, Given, Place, Summary

USED, MAY_USE = "@", "?"
"""What an answer starts with that is the path of a file which uses what was asked for."""

ANEW = "#"
"""What the name of a class starts with where it is asked for those, too, who make objects of it without naming it."""


class Project(Protocol):
    """The project that a file is in, as that file sees it."""

    def module(self, name: str, file: str) -> tuple[Place, ...]:
        """The places that the first part of ``name`` may be, as ``file`` imports it; of a relative name, its dots' folder."""
        ...

    def inner(self, place: Place, name: str) -> Place | None:
        """The module or package of that name in a package."""
        ...

    def summary(self, file: str) -> Summary:
        """What a file says."""
        ...

    def body(self, file: str, name: str) -> ClassBody:
        """What the code says of a class of a file, or of a function."""
        ...

    def calls(self, name: str, words: tuple[str, ...], file: str) -> tuple[tuple[str, Calls], ...]:
        """The calls of something called ``name`` in a file, and in those that import one of some words."""
        ...

    def naming(self, name: str, words: tuple[str, ...]) -> tuple[str, ...]:
        """The other files that import one of some words, and have a name in them."""
        ...

    def mentions(self, name: str) -> str:
        """Why it is not certain that no other file uses what this one calls ``name``; empty where that is certain.

        Behind `USED` a file that does, behind `MAY_USE` one that may; in front of the name, perhaps `ANEW`. Without a name, the
        question is whether another file imports this one at all.
        """
        ...

    def opened_by(self) -> str:
        """Why code outside of the project may use this file; empty if there is no reason."""
        ...

    def outputs(self, file: str) -> tuple[ClassOutput, ...]:
        """What calling the modules of a file gives, as far as that file alone tells."""
        ...

    def given(self, file: str, name: str) -> Given:
        """What a function of a file gives, or a method or attribute, ``Class.name``, as far as that file alone tells."""
        ...

    def may_bind(self, file: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """Where a file may have one of some names from: modules that it imports everything of, or, as ``""``, itself."""
        ...

    def as_others_see_it(self, own: ast.Module) -> Project:
        """What the other files see of the project, to which this one belongs: it says what its own summary does."""
        ...

    @property
    def is_record(self) -> bool:
        """Whether a run has left this file beside its results, as a copy of another one of the project."""
        ...

    def speaks_of(self, topic: str, *, near: bool = False) -> bool | None:
        """Whether any file of the project, or of this one's folder, has the words of a topic; `None` where that is unknown."""
        ...
