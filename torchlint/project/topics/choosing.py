"""Where the code of a project chooses the device that it runs on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from torchlint.project.topics.words import CHOOSING, speaks_of

_NUMBERS = re.compile(rb"""(?m)^[^#\n]{0,200}?["'][\w-]{0,20}gpu\w{0,9}["']""")
"""Options that say which GPU is meant, or whether one is."""
_MADE_VISIBLE = re.compile(rb"""(?m)^[^#\n]{0,60}CUDA_VISIBLE_DEVICES["']\]\s*=""")
"""Where it is said which GPUs the process sees: the first of these is the one, whatever its number."""
_BY_NUMBER = re.compile(
    rb"(?mi)^(?![ \t]{0,60}print\()[^#\n]{0,200}?(?:\b(?:if|elif|while|and|or|not|assert)\b[^#\n]{0,200}?gpu"
    rb"|gpu[^#\n]{0,200}?\b(?:if|and|or)\b|\b(?:cuda|to|device)\([^#)\n]{0,100}?gpu|gpu\w{0,9}\[)"
)
"""Where such an option says where something goes, or whether: a list that only a wrapper is given says neither."""


def chooses_device(texts: Iterable[bytes | None]) -> bool | None:
    """Whether code says where to run, and not only which GPUs the process is to see, or a model to be wrapped for; `None` where
    a file was not read, which is `None` itself.
    """
    is_unread = has_number = is_by_number = False
    for text in texts:
        if text is None:
            is_unread = True
        elif speaks_of(CHOOSING, text):
            return True
        else:
            has_number = has_number or _has_number(text)
            is_by_number = is_by_number or (b"gpu" in text.lower() and _BY_NUMBER.search(text) is not None)
    return None if is_unread else has_number and is_by_number


def _has_number(text: bytes) -> bool:
    """Whether code has an option that says which GPU is meant, and not which ones the process is to see."""
    return _NUMBERS.search(text) is not None and not _MADE_VISIBLE.search(text)
