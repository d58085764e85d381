"""The same program laid out in other ways: spaces, line breaks, comments, tabs and newlines that mean nothing to Python.

All functions take and give text with ``\\n`` for newlines; `with_newlines` comes last.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator

from grammar import Choice

COMMENTS = ("# why", "#", "#: about it", '# 😀 ‘quoted’ "text"', "# x.data", "#\ttabbed", "# type: ignore", "# ünïcode")

_ATOMIC_START = getattr(tokenize, "FSTRING_START", None)
_ATOMIC_END = getattr(tokenize, "FSTRING_END", None)
_EDGES = (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)


def gaps(text: str) -> Iterator[tuple[int, int, int]]:
    """Where white space may stand within a statement: the start and the end of each gap, and the depth of brackets there."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    depth = strings = 0
    before: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if before is not None and not strings and before.type not in _EDGES and token.type not in _EDGES:
            if before.end[0] == token.start[0]:
                yield starts[before.end[0] - 1] + before.end[1], starts[token.start[0] - 1] + token.start[1], depth
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        strings += (token.type == _ATOMIC_START) - (token.type == _ATOMIC_END) if _ATOMIC_START is not None else 0
        before = token


def line_ends(text: str) -> Iterator[int]:
    """The offsets of the ends of lines where a comment may be added: that hold code, and no comment yet."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    before: tokenize.TokenInfo | None = None
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL) and token.string and before is not None:
            if before.type != tokenize.COMMENT and before.end[0] == token.start[0] and before.string.strip():
                yield starts[token.start[0] - 1] + token.start[1]
        before = token


def logical_lines(text: str) -> Iterator[int]:
    """The offsets of the starts of lines at which a statement begins."""
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type in (tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT):
            continue
        if fresh and token.type != tokenize.ENDMARKER:
            yield starts[token.start[0] - 1]
        fresh = token.type == tokenize.NEWLINE


def edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """The text with spans of it replaced."""
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def spaced(text: str, choice: Choice, one_in: int = 6) -> str:
    """With more space between the tokens of statements."""
    widths = (" ", "  ", "\t", "   ")
    return edited(text, [(start, end, choice.of(widths)) for start, end, _ in gaps(text) if choice.one_in(one_in)])


_BREAKS = ("\n", "\n        ", " \n\n\t")


def broken(text: str, choice: Choice, one_in: int = 8, breaks: tuple[str, ...] = _BREAKS) -> str:
    """With more line breaks within brackets."""
    places = [(start, end) for start, end, depth in gaps(text) if depth and choice.one_in(one_in)]
    return edited(text, [(start, end, choice.of(breaks)) for start, end in places])


def interrupted(text: str, choice: Choice, one_in: int = 8) -> str:
    """With more comments within brackets."""
    return broken(text, choice, one_in, ("  # and on\n  ", " # 😀\n\n\t"))


def continued(text: str, choice: Choice, one_in: int = 12) -> str:
    """With more lines that end in a backslash."""
    places = [(start, end) for start, end, _ in gaps(text) if choice.one_in(one_in)]
    return edited(text, [(start, end, choice.of((" \\\n    ", "\\\n ", " \\\n\t"))) for start, end in places])


def commented(text: str, choice: Choice, one_in: int = 4) -> str:
    """With more comments at the ends of lines."""
    ends = [end for end in line_ends(text) if choice.one_in(one_in)]
    return edited(text, [(end, end, choice.of(("  ", " ", "")) + choice.of(COMMENTS)) for end in ends])


def parted(text: str, choice: Choice, one_in: int = 5) -> str:
    """With more blank lines, form feeds and comments between statements."""
    between = ("\n", "   \n", "\f\n", "# a line of its own\n", "    # indented as it likes\n", "\n\n\n")
    starts = [start for start in logical_lines(text) if choice.one_in(one_in)]
    return edited(text, [(start, start, choice.of(between)) for start in starts])


def trailing(text: str, choice: Choice, one_in: int = 4) -> str:
    """With spaces at the ends of lines."""
    ends = [end for end in line_ends(text) if choice.one_in(one_in)]
    return edited(text, [(end, end, choice.of((" ", "   ", "\t"))) for end in ends])


def joined(text: str, choice: Choice, one_in: int = 4) -> str:
    """With more simple statements on one line, divided by semicolons."""
    lines = text.split("\n")
    starts = {text.count("\n", 0, start) for start in logical_lines(text)}
    simple = [row in starts and row + 1 in starts and _is_simple(line) for row, line in enumerate(lines)]
    out: list[str] = []
    for row, line in enumerate(lines):
        if row and simple[row] and simple[row - 1] and _indent(line) == _indent(lines[row - 1]) and choice.one_in(one_in):
            out[-1] += choice.of(("; ", ";", " ; ")) + line.strip()
        else:
            out.append(line)
    return "\n".join(out)


def _is_simple(line: str) -> bool:
    words = line.split()
    return (
        bool(words)
        and "#" not in line
        and not line.rstrip().endswith((":", "\\"))
        and words[0][0] != "@"
        and words[0]
        not in ("if", "for", "while", "with", "class", "def", "else:", "match", "case", "try:", "async", "finally:")
    )


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def tabbed(text: str) -> str:
    """Indented by tabs, where lines start a statement."""
    starts = list(logical_lines(text))
    edits = []
    for start in starts:
        match = re.compile(r"(?:    )+").match(text, start)
        if match:
            edits.append((match.start(), match.end(), "\t" * (len(match.group()) // 4)))
    return edited(text, edits)


def with_newlines(text: str, newlines: str, choice: Choice) -> str:
    """With other newlines; ``mixed`` ones are chosen line by line."""
    if newlines != "mixed":
        return text.replace("\n", newlines)
    return "".join(part + choice.of(("\n", "\r\n", "\r")) for part in text.split("\n")[:-1]) + text.split("\n")[-1]
