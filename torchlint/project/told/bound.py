"""What a text may bind some names by, where it is imported: told by its words, with no tree and no summary."""

from __future__ import annotations

import re
from functools import lru_cache
from string import ascii_letters, digits

_EVERYTHING = re.compile(rb"import[ \t\\\r\n]*\*")
_STAR = re.compile(rb"(?:^|[;:])[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*\*", re.MULTILINE)
_INNER = frozenset(each.encode() for each in f"._{digits}{ascii_letters}")
"""What comes before an attribute, or before the rest of a longer word."""
_IMPORT = re.compile(
    rb"(?:^|[;:])[ \t]*(?:from[ \t](?![ \t]*torch[ .\t])[^\n;:#]*?import[ \t\\\r\n]*"
    rb"(?:\((?:[^()#]|#[^\n]*)*|(?:[^\n;#\\]|\\\r?\n)*)|import[ \t]+(?:[^\n;#\\]|\\\r?\n)*)",
    re.MULTILINE,
)
ITSELF = ""
"""What stands for the text itself among the modules that it may have a name of."""


def may_bind(data: bytes, names: tuple[str, ...]) -> tuple[str, ...]:
    """Where a text may have one of some names from: the text `ITSELF`, and the modules that it imports everything of.

    It is the text itself that defines, assigns or imports a name, but for imports from torch; and where that is in doubt.
    Attributes, annotations and arguments of these names bind nothing.
    """
    everything = len(_EVERYTHING.findall(data))
    modules = [each.decode() for each in _STAR.findall(data)] if everything else []
    stars = tuple(dict.fromkeys(each for each in modules if each.partition(".")[0] != "torch"))
    return (ITSELF, *stars) if len(modules) != everything or _may_bind_itself(data, names) else stars


def _may_bind_itself(data: bytes, names: tuple[str, ...]) -> bool:
    word, binding = _patterns(names)
    if all(data[match.start() - 1 : match.start()] in _INNER for match in word.finditer(data)):
        return False  # which is soon told
    return binding.search(data) is not None or any(word.search(match[0]) for match in _IMPORT.finditer(data))


@lru_cache(maxsize=16)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """The ends of words that are some names, and what defines or assigns one of these."""
    any_of = rb"(?:" + b"|".join(re.escape(name.encode()) for name in names) + rb")\b"
    start = rb"(?:^[ \t]*|[=;][ \t\\\r\n]*|^[ \t]*(?:if|elif|else|try|finally|with|except)\b[^\n]*:[ \t]*)"
    assigned = start + any_of + rb"[ \t\\\r\n]*(?:=(?!=)|:[^\n;]*(?:=|[\[(,\\][ \t\r]*$))"
    defined = rb"\b(?:class|def)[ \t\\\r\n]+" + any_of
    return re.compile(any_of), re.compile(assigned + b"|" + defined, re.MULTILINE)
