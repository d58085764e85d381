"""Where the code of files moves something to a GPU whatever its flags say, and constants that say so."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlint.project.programs import UNREADABLE, parsed


def needs_gpu(text: bytes) -> bool:
    """Whether code puts something on a GPU in any case; what cannot be read does not."""
    if b"cuda" not in text:
        return False
    from torchlint.semantics.gpus.needed import moves_in_any_case

    try:
        return moves_in_any_case(parsed(text))
    except UNREADABLE:
        return False


def is_gpu_everywhere(name: str, texts: Iterable[bytes | None]) -> bool:
    """Whether each of some files that assigns to a name gives it the first GPU, and one does; a file that cannot be read may
    have any name.
    """
    assigned, constant = _assigning(name)
    found = False
    for text in texts:
        count = len(assigned.findall(text)) if text is not None else 0
        if text is None or count != len(constant.findall(text)):
            return False
        found = found or count > 0
    return found


def _assigning(name: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Where anything is assigned to a name or an attribute called so, or imported by it; and where that is the first GPU, by
    the file itself.
    """
    said = re.escape(name.encode("utf-8", "surrogatepass"))
    gpu = rb"""(?:torch\.device\([ ]?)?["']cuda(?::0)?["'][ ]?\)?"""
    return (
        re.compile(
            rb"(?m)^[^#\n]{0,200}?\b(?:"
            + said
            + rb"[ \t]{0,9}(?::[ \t]{0,9}[\w.]{1,30})?[ \t]{0,9}=[^=]|as[ ]"
            + said
            + rb"\b)"
        ),
        re.compile(
            rb"(?m)^" + said + rb"[ \t]{0,9}(?::[ \t]{0,9}[\w.]{1,30})?[ \t]{0,9}=[ \t]{0,9}" + gpu + rb"[ \t\r]{0,9}(?:#|$)"
        ),
    )
