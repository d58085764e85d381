"""No pattern goes back without bound: a hostile text of 50,000 characters, and a clock that rings long after a linear one.

A quadratic pattern takes a thousand million steps for such a text, and one that is exponential never ends.
"""

from __future__ import annotations

import math
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any

import pytest
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern
from patterns import Text, Used, hostile, package_patterns

from torchlint.config.patterns import without_backtracking
from torchlint.project.told.bound import _patterns
from torchlint.project.topics.attributes import moving_on, reading, storing_patterns
from torchlint.project.topics.loads import wrapping_under
from torchlint.project.topics.numbering import _number_of
from torchlint.project.topics.unasked import _assigning
from torchlint.rules import all_rules
from torchlint.semantics.saving.training_runs import _pattern
from torchlint.text.noqa import _Patterns
from torchlint.text.pythons.scanner import _text_patterns

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no clock of the process")

LENGTH = 50_000
SECONDS = 0.3
FIRST_LENGTH = 4_000
FIRST_SECONDS = 0.001
"""What takes less than this for a text of the first length is linear: the longer one, which costs more, is not tried then. A
quadratic pattern takes millions of steps for it."""
LONGEST_PATH = 4096
OF_PATHS = ("torchlint.config.patterns.read_patterns", "torchlint.config.patterns._BETWEEN_STARS")
"""What is held against paths, or lines of .gitignore files, in time by the square of their length; longer ones are not."""

NAMES = {rule.name: rule.code for rule in all_rules()}
GITIGNORE = ["*a*b*.py", "a/**/b*/**/c", "[!]a-z]*[]]x*", "/a?b*[^]]*", "*\\**"]

OF_FUNCTIONS: dict[str, Sequence[Any]] = {
    "torchlint.config.patterns.read_patterns": [
        without_backtracking(str(GitIgnoreSpecPattern.pattern_to_regex(line)[0])) for line in GITIGNORE
    ],
    "torchlint.model.variables._is_in_type_comment": [r"\bx\b"],
    "torchlint.semantics.apis.unused_imports._is_named_in_strings": [r"\bx\b"],
    "torchlint.project.told.bound._patterns": [pattern.pattern for pattern in _patterns(("Tensor", "Variable", "_x"))],
    "torchlint.project.topics.loads.wrapping_under": [wrapping_under("args.gpus").pattern],
    "torchlint.project.topics.attributes.moving_on": [moving_on("schedule").pattern],
    "torchlint.project.topics.attributes.reading": [reading("softmax").pattern],
    "torchlint.project.topics.attributes.storing_patterns": [
        each.pattern for name in ("layers", "layers|Sub|Base") for each in storing_patterns(name) if each is not None
    ],
    "torchlint.project.topics.unasked._assigning": [each.pattern for each in _assigning("DEVICE")],
    "torchlint.project.topics.numbering._number_of": [each.pattern for each in _number_of(b"seg_loss")],
    "torchlint.project.callers._look_for": [rb"\bx\s*(?:\(|as\b)"],
    "torchlint.project.told.mentioning._is_use": [r"\bx\b"],
    "torchlint.project.told.mentions._look_for": [rb"(?<!\w)x(?!\w)"],
    "torchlint.project.told.packages._may_install": [rb"(?<!\w)x(?!\w)"],
    "torchlint.semantics.saving.training_runs._may_be_same": [_pattern("a{b}c{d}{e}-{f}{g}e")],
    "torchlint.rules.aliasing.tpl201_shared_buffer_mutation.check": [r"a\.b\[0\]\b"],
    "torchlint.text.noqa.__init__": [
        pattern for made in (_Patterns(NAMES), _Patterns({})) for pattern in (made.item, made.on_line, made.on_file)
    ],
    "torchlint.text.pythons.older_names.restore": ["as___|aw___"],
    "torchlint.text.pythons.scanner._text_patterns": [
        pattern for quote in (b"'", b'"""') for raw in (False, True) for pattern in _text_patterns(quote, raw)
    ],
}
"""The patterns that are made within functions, as these make them."""


@cache
def all_patterns() -> list[Used]:
    """Every pattern once, with all that it is used for."""
    found: dict[tuple[Any, int], Used] = {}
    for each in package_patterns(OF_FUNCTIONS):
        key = (each.pattern.pattern, each.pattern.flags)
        known = found.get(key)
        found[key] = each if known is None else Used(known.place, each.pattern, known.methods | each.methods)
    return list(found.values())


class TooLongError(Exception):
    pass


@contextmanager
def limited() -> Iterator[None]:
    def ring(signum: int, frame: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(pattern: re.Pattern[Any], method: str, text: Text, length: int) -> float:
    """How long a pattern takes for a text; infinity where it takes too long."""
    whole = text.of(length)
    subject: Any = whole.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else whole
    function = getattr(pattern, method)
    begun = time.process_time()
    try:
        with limited():
            if method == "sub":
                function(subject[:0], subject)
            elif method == "finditer":
                for _ in function(subject):
                    pass
            else:
                function(subject)
    except TooLongError:
        return math.inf
    return time.process_time() - begun


def slow(used: Used) -> Iterator[tuple[str, str]]:
    """The ways in which a pattern takes too long, each with the beginning and the end of a text."""
    longest = LONGEST_PATH if used.place in OF_PATHS else LENGTH
    for text in hostile(used.pattern):
        for method in sorted(used.methods - {"compile"}) or ["match"]:
            if longest == LENGTH and seconds(used.pattern, method, text, FIRST_LENGTH) < FIRST_SECONDS:
                continue
            if seconds(used.pattern, method, text, longest) == math.inf:
                yield method, f"{text.of(60)!r} of {longest} characters"


@pytest.mark.parametrize("used", all_patterns(), ids=lambda used: used.place)
def test_no_pattern_takes_more_than_linear_time(used: Used) -> None:
    assert list(islice(slow(used), 1)) == []


BAD = [
    r"(a+)+$",
    r"(?:a|a)*b",
    r"\s+\s+$",
    r"(?:[ \t]*(?:\r\n?|\n))*x",
    r"(?:\w+,?)*;",
    r"a.*b.*c",
    r"(?:\[\]?[^]]*\]|[^\[])+x",
]


@pytest.mark.parametrize("pattern", BAD)
def test_patterns_that_go_back_are_found(pattern: str) -> None:
    """The texts are hostile enough: what is known to be slow is found to be."""
    assert any(True for _ in slow(Used("", re.compile(pattern), frozenset({"search"}))))


def test_the_package_has_patterns() -> None:
    assert len(all_patterns()) > 100
