"""Replacements of libcst nodes as the smallest edits of the text.

A new tree keeps, as the same objects, the nodes of the old one that stay. Where these stand in the old text is known from
writing the old statement out, and where they come to stand from writing out the new tree: what lies between them is what is
edited. So nothing is searched for in the text, and what is kept is kept with its comments, brackets and line breaks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import libcst as cst

from torchlint.fixes.alignment import column_behind, moved_along
from torchlint.fixes.parentheses import WITH_OWN_PARENTHESES
from torchlint.model.positions import Written, written
from torchlint.model.statements import Parsed

TextEdit: TypeAlias = tuple[int, int, str]

_BLANK = " \t\f"


def replacement(
    old: cst.CSTNode,
    new: cst.CSTNode,
    parsed: Parsed,
    text: str,
    indentation: str | None = None,
    *,
    moves: bool = False,
) -> list[TextEdit]:
    """The edits that make ``new`` of ``old``, a node of ``parsed``, which stands in ``text``.

    The parentheses around ``old`` stay where they are, or around it where it is a part of the new. Lines within brackets are
    indented by ``indentation``, where that is not the same all over ``parsed``. With ``moves``, the further lines of what is
    kept move along with the first one.
    """
    start, end = _inside_parentheses(old, parsed)
    if isinstance(old, cst.BaseExpression) and isinstance(new, cst.BaseExpression) and new.lpar and new.lpar == old.lpar:
        new = new if isinstance(old, WITH_OWN_PARENTHESES) else new.with_changes(lpar=(), rpar=())  # it was made of the old
    if isinstance(old, cst.BaseSmallStatement) and isinstance(new, cst.BaseSmallStatement):
        new = new.with_changes(semicolon=old.semicolon)
    code, nodes = written(new, parsed.module, parsed.indentation if indentation is None else indentation)
    if any(node is old for node, _, _ in nodes):
        start, end = parsed.spans[old]
    edits: list[TextEdit] = []
    before_old, before_new = start, 0
    opened = 0  # brackets that were taken away so far: a comment within them has no place any more
    kept = list(_kept(nodes, code, start, end, parsed, text))
    for kept_old, kept_new in [*kept, ((end, end), (len(code), len(code)))]:
        gap = code[before_new : kept_new[0]]
        edit = (before_old, kept_old[0], gap if opened else _spaced(gap, text[before_old : kept_old[0]]))
        if text[edit[0] : edit[1]] != edit[2]:
            edit = edit if opened else keeping_comments(edit, parsed.comments, text)
            edits.append(_behind_first_lines(_up_to_last_line(edit, text), text))
        opened += _brackets(text[edit[0] : edit[1]]) - _brackets(edit[2])
        before_old, before_new = kept_old[1], kept_new[1]
    if edits and edits[0][0] == start:
        edits[0] = _behind_a_word(edits[0], text)
    if moves and kept:
        (first, _), (place, _) = kept[0]
        column = column_behind(start, code[:place], text)
        moved = moved_along((first, kept[-1][0][1]), column, start, parsed.strings, text)
        edits += [each for each in moved if not any(_joins(edit, each[0]) for edit in edits)]
    return edits


def _behind_a_word(edit: TextEdit, text: str) -> TextEdit:
    """An edit with a blank in front where its code would run into a word: ``return(…)`` needed none."""
    start, end, new = edit
    would_join = start > 0 and new != "" and f"{text[start - 1]}{new[0]}".isidentifier()
    return (start, end, f" {new}") if would_join else edit


def _joins(edit: TextEdit, line: int) -> bool:
    """Whether an edit takes the start of a line, or the line break before it."""
    start, end, new = edit
    return start < line < end or (line == end and start < end and not new.endswith(("\n", "\r")))


def _inside_parentheses(node: cst.CSTNode, parsed: Parsed) -> tuple[int, int]:
    """Where a node stands, without the parentheses around it; those of a tuple or a generator are its own."""
    if isinstance(node, cst.BaseExpression) and node.lpar and not isinstance(node, WITH_OWN_PARENTHESES):
        return parsed.spans[node.lpar[-1]][1], parsed.spans[node.rpar[0]][0]
    return parsed.spans[node]


def _kept(
    nodes: Written, code: str, start: int, end: int, parsed: Parsed, text: str
) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The largest nodes that are kept, in their order: where they stand in the text and in the new code."""
    position = 0
    for node, new_start, new_end in nodes:
        span = parsed.spans.get(node)
        if span is None or new_start < position or new_start == new_end:
            continue
        if start <= span[0] and span[1] <= end and text[span[0] : span[1]] == code[new_start:new_end]:
            yield span, (new_start, new_end)
            start, position = span[1], new_end


def _spaced(new: str, old: str) -> str:
    """``new``, which stands between two nodes, with the blanks of ``old`` around it where it has blanks itself."""
    core, replaced = new.strip(), old.strip(" \t\f\\\r\n")
    if not core or not replaced or core.isalpha() or "#" in old or "\n" in replaced or "\r" in replaced:
        return new
    before, behind = old.split(replaced)[0], old[old.rindex(replaced) + len(replaced) :]
    if core[0].isalnum():
        before = before or " "  # a word needs one
    if core[-1].isalnum() or (core[-1] == "," and replaced[-1] != ","):
        behind = behind or " "
    return (before if new[0].isspace() else "") + core + (behind if new[-1].isspace() else "")


def _up_to_last_line(edit: TextEdit, text: str) -> TextEdit:
    """An edit of several lines, without the last one if that stays as it is."""
    start, end, new = edit
    line = max(text.rfind("\n", start, end), text.rfind("\r", start, end)) + 1
    above = new[: len(new) - (end - line)]
    if not line or not new.endswith(text[line:end]) or not (above or text[:start]).endswith(("\n", "\r")):
        return edit
    return (start, line, above)


def _behind_first_lines(edit: TextEdit, text: str) -> TextEdit:
    """An edit of several lines, without those at its start, and the indentation behind them, that stay as they are."""
    start, end, new = edit
    same = 0
    while start + same < end and new[same : same + 1] == text[start + same]:
        same += 1
    return (start + same, end, new[same:]) if "\n" in new[:same] or "\r" in new[:same] else edit


def _brackets(code: str) -> int:
    return sum(code.count(each) for each in "([{") - sum(code.count(each) for each in ")]}")


def keeping_comments(edit: TextEdit, comments: Sequence[tuple[int, int]], text: str) -> TextEdit:
    """An edit that leaves the comments in its span: code goes from their lines, and lines of nothing but code go."""
    start, end, new = edit
    inside = [comment for comment in comments if start <= comment[0] and comment[1] <= end]
    if not inside or "#" in new:
        return edit
    kept = ""
    line_start = start
    for comment_start, comment_end in inside:
        lines = text[line_start:comment_start].splitlines(keepends=True) or [""]
        if lines[-1].endswith(("\n", "\r")):
            lines.append("")
        if _brackets("".join(lines)):
            return edit  # the comment is within what goes
        is_first = line_start == start
        if is_first and len(lines) > 1:
            kept += lines[0][len(lines[0].rstrip("\r\n")) :]
        kept += _without_code(lines[-1], indented=not is_first or len(lines) > 1)
        newline = _newline_at(text, comment_end)
        kept += text[comment_start:comment_end] + newline
        line_start = comment_end + len(newline)
    last = text[line_start:end].splitlines(keepends=True)[-1:] or [""]
    indentation = last[0][: len(last[0]) - len(last[0].lstrip(_BLANK))]
    if not new and _newline_at(text, end):
        newline = _newline_at(text, inside[-1][1])
        return (start, end, kept.removesuffix(newline))
    return (start, end, kept + indentation + new)


def _without_code(line: str, *, indented: bool) -> str:
    """What is in front of a comment, less the code there."""
    if not line.strip(_BLANK):
        return line
    indentation = line[: len(line) - len(line.lstrip(_BLANK))] if indented else ""
    return indentation + line[len(line.rstrip(_BLANK)) :]


def _newline_at(text: str, place: int) -> str:
    return next((each for each in ("\r\n", "\n", "\r") if text.startswith(each, place)), "")
