"""Where scripts load what others have saved, and whether the model that they give it to is wrapped."""

from __future__ import annotations

import re

RUNNING = re.compile(r"(?i)(^|_)(test|eval|valid|infer|predict|demo|generate|sample|export|visuali[sz]e|convert)\w{0,9}(_|\.)")
"""How files are called that run models which others have trained."""
_LOADING = re.compile(rb"\bload_state_dict\([^)]")
_WRAPPING = re.compile(rb"DataParallel|DDP|\.module\b")


def loads_bare(text: bytes | None, words: list[str]) -> bool:
    """Whether code loads a file and gives a model the state in it, and says nothing of wrappers.

    The state has the first one of some words for its key: code that speaks of others of these loads something else.
    """
    if text is None or b"torch.load" not in text or not _LOADING.search(text) or _WRAPPING.search(text):
        return False
    spoken_of = [any(quote + word.encode() + quote in text for quote in (b"'", b'"')) for word in words]
    return spoken_of[0] or not any(spoken_of)


def wrapping_under(flag: str) -> re.Pattern[bytes]:
    """A model that is wrapped where a flag is set; in any case, by the script itself, where there is none."""
    if not flag:
        return re.compile(rb"(?m)^\w{1,40} = [\w.]{0,40}\bDataParallel\(")
    condition = re.escape(flag.encode())
    return re.compile(
        rb"(?m)^([ \t]{0,60})if[ (]{1,3}"
        + condition
        + rb"\)?:[^\n]{0,200}\n(?:\1[ \t][^\n]{0,200}\n){0,5}?[^\n#]{0,200}\bDataParallel\("
    )


def loads_behind(text: bytes | None, wrapping: re.Pattern[bytes]) -> bool:
    """Whether code loads a file and gives a model the state in it behind a place where it wraps one."""
    place = wrapping.search(text) if text is not None and b"torch.load" in text else None
    return place is not None and text is not None and _LOADING.search(text, place.end()) is not None
