"""What holds for every file, whatever is in it: checked by the property tests and by the fuzzer."""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from torchlint.diagnostic import Applicability, Diagnostic, Edit, Location
from torchlint.engine import fixer
from torchlint.engine.fixer import FixResult
from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source, parses

_NEWLINE = re.compile(r"\r\n|\r|\n")


def read(data: bytes) -> Source:
    """The source that a file's bytes hold."""
    return Source.decode(data, "program.py")


def found_in(source: Source) -> list[Diagnostic]:
    """What all rules find."""
    return lint(source, all_rules())


# --- edits, made here and not by the code under test -----------------------------------------------------------------


def spliced(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits made, one by one, from the last to the first."""
    for edit in sorted(set(edits), reverse=True):
        text = text[: _offset(text, edit.location)] + edit.content + text[_offset(text, edit.end_location) :]
    return text


def _offset(text: str, place: Location) -> int:
    starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]
    return starts[place.row - 1] + place.column - 1


# --- what is checked -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Rounds:
    """The rounds of a run of the fixer: the text before each, the findings whose fixes were applied, and the text after."""

    texts: list[tuple[str, list[Diagnostic], str]] = field(default_factory=list)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        """Records what the fixer does."""
        apply = fixer.apply

        def recording(source: Source, diagnostics: Sequence[Diagnostic]) -> str:
            chosen = list(diagnostics)
            text = apply(source, chosen)
            self.texts.append((source.text, chosen, text))
            return text

        fixer.apply = recording  # type: ignore[assignment]
        try:
            yield
        finally:
            fixer.apply = apply


def check_findings(source: Source) -> list[Diagnostic]:
    """The findings, after a look at what every finding must be like: places in the text, edits that do not overlap."""
    found = found_in(source)
    lines = _NEWLINE.split(source.text)
    for each in found:
        places = [(each.location, each.end_location)]
        if each.fix is not None:
            edits = sorted(each.fix.edits)
            assert edits, f"a fix without edits: {each}"
            places += [(edit.location, edit.end_location) for edit in edits]
            for one, other in pairwise(edits):
                assert one.end_location <= other.location, f"edits overlap: {each}"
        for start, end in places:
            assert start <= end, f"backwards: {each}"
            for place in (start, end):
                assert 1 <= place.row <= len(lines), f"beyond the text: {each}"
                assert 1 <= place.column <= len(lines[place.row - 1]) + 1, f"beyond its line: {each}"
        assert each.snippet == lines[each.location.row - 1]
    return found


def check_fix(source: Source, applicability: Applicability) -> FixResult:
    """What a fix makes of a text, after a look at whether it does only what it may."""
    rounds = Rounds()
    with rounds.recorded():
        result = fixer.fix(source, all_rules(), applicability)
    text = source.text
    for before, chosen, after in rounds.texts:
        assert before == text
        edits = [edit for each in chosen if each.fix is not None for edit in each.fix.edits]
        assert after == spliced(before, edits), "the text has changed outside of the edits"
        text = after if parses(after) else text
    assert result.text == text
    assert not result.broken, f"a fix that breaks the program: {result.broken}"
    assert parses(result.text)
    again = fixer.fix(source.with_text(result.text), all_rules(), applicability)
    assert again.text == result.text, "a second run changes the text again"
    assert not again.fixed
    for each in result.remaining:
        applicable = each.fix is not None and (applicability is Applicability.UNSAFE or each.fix.applicability is applicability)
        assert not applicable, f"left although it can be fixed: {each}"
    check_text(source, result)
    check_comments(rounds)
    return result


def check_comments(rounds: Rounds) -> None:
    """Whether each comment is still there, but for those on lines of which a fix has left nothing, and for noqa comments."""
    for before, chosen, after in rounds.texts:
        if all(each.code != "TPL900" for each in chosen) and parses(after):
            lost = Counter(comments(before)) - Counter(comments(after))
            lines = {line.strip() for line in _NEWLINE.split(before)} if lost else set()
            edits = [edit for each in chosen if each.fix is not None for edit in each.fix.edits]
            for comment in lost:
                with_code = [line for line in lines if line.endswith(comment) and line != comment]
                assert any(_takes_line(before, line, edit) for line in with_code for edit in edits), f"lost: {comment!r}"


def _takes_line(text: str, line: str, edit: Edit) -> bool:
    """Whether an edit deletes a line that reads ``line``, all of it."""
    lines = _NEWLINE.split(text)
    for row in range(edit.location.row, edit.end_location.row + 1):
        found = lines[row - 1]
        before = found[: edit.location.column - 1] if row == edit.location.row else ""
        after = found[edit.end_location.column - 1 :] if row == edit.end_location.row else ""
        if found.strip() == line and not (before + edit.content + after).strip():
            return True
    return False


def check_text(source: Source, result: FixResult) -> None:
    """Whether what the fixes have no business with is as it was: newlines, the encoding."""
    newlines = set(_NEWLINE.findall(source.text))
    if len(newlines) == 1:
        assert set(_NEWLINE.findall(result.text)) <= newlines, "newlines of another kind"
    assert source.encode(result.text).decode(source.encoding + ("-sig" if source.bom else "")) == result.text


def comments(text: str) -> list[str]:
    """The comments of a program."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    tokens = tokenize.generate_tokens(io.StringIO(plain, newline="").readline)
    return [token.string.rstrip() for token in tokens if token.type == tokenize.COMMENT]


def check_single_fixes(source: Source, found: Sequence[Diagnostic]) -> None:
    """Whether each fix, made alone, gives a program in which its finding is no more."""
    for each in found:
        if each.fix is None:
            continue
        text = spliced(source.text, each.fix.edits)
        assert parses(text), f"alone, the fix breaks the program: {each}"
        left = found_in(source.with_text(text))
        place = len(spliced(source.text[: _offset(source.text, each.location)], _before(each, each.fix.edits)))
        same = [other for other in left if (other.code, other.message) == (each.code, each.message)]
        assert not any(
            _offset(text, other.location) == place and _flagged(text, other) == _flagged(source.text, each) for other in same
        ), f"the finding is still there: {each}"


def _before(diagnostic: Diagnostic, edits: Sequence[Edit]) -> list[Edit]:
    return [edit for edit in edits if edit.end_location <= diagnostic.location]


def _flagged(text: str, diagnostic: Diagnostic) -> str:
    return text[_offset(text, diagnostic.location) : _offset(text, diagnostic.end_location)]


def check_order_of_rules(source: Source, found: Sequence[Diagnostic], order: Sequence[Entry]) -> None:
    """Whether the order in which the rules are given makes no difference."""
    assert lint(source, order) == list(found)
