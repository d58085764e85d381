"""Whether no backward that has saved a tensor can still follow where it is changed."""

from __future__ import annotations

import ast

from torchlint.fact import Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.pending.constructing import Constructing
from torchlint.semantics.pending.fresh import Fresh
from torchlint.semantics.pending.survivors import Survivors


class Unsaved:
    """Tells of changes of a tensor whether a backward that finds the tensor changed can follow."""

    def __init__(self, semantics: Semantics) -> None:
        self._words = semantics.words
        self._fresh = semantics.of(Fresh)
        self._survivors = semantics.of(Survivors)
        self._constructing = semantics.of(Constructing)

    def fact(self, tensor: ast.expr, place: ast.AST) -> Fact:
        """Whether no backward that has saved ``tensor`` can come behind ``place``, where the tensor is changed.

        A tensor and what is made of it by ``.detach()`` count their changes together; autograd compares the counts, and
        raises. So the tensor was just made here, or is part of what a constructor has just made, or no graph outlives the
        place at all.
        """
        if self._words.speak_of("_version"):
            return unknown("the file reads `_version`, which counts the changes but for those through `.data`")
        for fact in (self._fresh.fact(tensor, place), self._constructing.fact(tensor, place)):
            if fact.is_certain:
                return fact
        return self._survivors.fact(place)
