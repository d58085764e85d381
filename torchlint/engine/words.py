"""The sieve of words: which rules a file's bytes may be about.

It is made of what rules declare, and looks at the words of a file before it is decoded or parsed. Next to nothing is imported
for it: in flake8, all of torchlint that files without candidates load is this and the index of rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol

from torchlint.rules.triggers import Comment, Misspelt, Needs, Trigger, is_near

if TYPE_CHECKING:
    from torchlint.options import Options
    from torchlint.rules.catalogue import Entry

_OTHER_LIBRARIES = (
    *("caffe", "chainer", "cupy", "jax", "jittor", "keras", "mindspore", "mxnet", "oneflow", "paddle", "pandas"),
    *("scipy", "sklearn", "sympy", "tensorflow", "theano"),
)
_IMPORTS_OTHER = rb"(?m)^[ \t]*(?:import|from)[ \t]+(?:" + "|".join(_OTHER_LIBRARIES).encode() + rb")\b"
_IMPORTS_TORCH = rb"(?m)^[ \t]*(?:import|from)[ \t].*(?:(?<!py)torch|lightning|fastai)"
_IMPORTS_ALL = rb"(?m)^[ \t]*from[ \t]+[.\w]+[ \t]+import[ \t]*\*"
_USES_TORCH = rb"(?<![.\w])torch\.[A-Za-z]"
"""Torch may be among all that is imported of another file."""


class Declared(Protocol):
    """What a rule declares."""

    @property
    def code(self) -> str: ...

    @property
    def triggers(self) -> tuple[Trigger, ...]: ...

    @property
    def needs(self) -> Needs: ...


def passes_sieve(data: bytes, rules: Iterable[Declared]) -> bool:
    """Whether any of ``rules`` could find something in a file with these bytes."""
    return any(map(Raw(data).may_hold, rules)) and not is_foreign(data)


def awake_rules(rules: Iterable[Entry], data: bytes, options: Options, *, triggers: bool = True) -> list[Entry]:
    """Those of ``rules`` that could find something in a text with these bytes; with ``triggers`` off, all for its torch."""
    raw = Raw(data)
    return [rule for rule in rules if rule.since <= options.target and (not triggers or raw.may_hold(rule))]


def is_foreign(data: bytes) -> bool:
    """Whether a file imports another library whose objects have a ``data`` or a ``backward``, and not torch."""
    if _words_of(data).isdisjoint(_OTHER_LIBRARIES):
        return False
    if re.search(_IMPORTS_OTHER, data) is None or re.search(_IMPORTS_TORCH, data) is not None:
        return False
    return re.search(_IMPORTS_ALL, data) is None or re.search(_USES_TORCH, data) is None


_TABLE = bytes(
    byte if (chr(byte).isalnum() and byte < 128) or byte == ord("_") or byte > 127 else ord(" ") for byte in range(256)
)
"""Leaves of a text its words, with letters beyond ASCII kept in them."""


class Raw:
    """The words in the bytes of a file, neither decoded nor parsed; taken once, for all rules."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._words = _words_of(data)

    def may_hold(self, rule: Declared) -> bool:
        """Whether a file with these bytes may hold a finding of ``rule``."""
        for group in rule.needs:
            if self._words.isdisjoint(group):
                return False
        return any(map(self.may_hold_trigger, rule.triggers))

    def may_hold_trigger(self, trigger: Trigger) -> bool:
        """Whether a file with these bytes may hold a trigger."""
        if isinstance(trigger, Misspelt):
            return any(is_near(word, trigger.word) for word in self._near(trigger.word))
        if isinstance(trigger, Comment):
            return trigger.text.encode() in self._data.lower()
        return trigger.words is None or not self._words.isdisjoint(trigger.words)

    def _near(self, word: str) -> Iterator[str]:
        """The words that may be ``word``, misspelt: two edits, or a swap, leave one of three pieces whole."""
        pieces, shortest = _pieces(word), len(word) - 2
        long_enough = [each for each in self._words if len(each) >= shortest]  # few are
        return (each for each in long_enough if any(piece in each for piece in pieces))


@lru_cache(maxsize=1)
def _words_of(data: bytes) -> frozenset[str]:
    """The words of a file; kept, as it is asked for to tell whether the file is read and again when it is linted."""
    return frozenset(data.translate(_TABLE).decode("utf-8", "replace").split())


@cache
def _pieces(word: str) -> tuple[str, ...]:
    third = (len(word) - 2) // 3  # a letter between two pieces: a swap there spoils but one of them
    return word[:third], word[third + 1 : -third - 1], word[-third:]
