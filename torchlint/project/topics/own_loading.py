"""Whether the code of a project has objects whose `load_state_dict` gives something else than that of torch."""

from __future__ import annotations

import re

_LOADING = re.compile(rb"(?m)^([ \t]+)(?:async[ \t]+)?def[ \t]+load_state_dict\b")
_WRAPPING = re.compile(rb"(?m)^([ \t]+)def[ \t]+__getattr__\b")
_SET_IN_CLASS = re.compile(
    rb"(?m)^[ \t]{1,60}load_state_dict[ \t]{0,4}=[^=]|\bdict\([^()\n]{0,200}\bload_state_dict[ \t]{0,4}="
)
_GIVING = re.compile(rb"\breturn[ \t]+(?!None\b|super\(|_IncompatibleKeys\b)[^\s#]|\byield\b")
_MAKING = re.compile(rb"\bdef[ \t]|\blambda\b|\bpartial\b")
_DECORATOR = re.compile(rb"^[ \t]*@(?!torch\.no_grad\b|torch\._dynamo|override\b|typing\.override\b)")
_PUT = re.compile(rb"\.load_state_dict[ \t]{0,4}=[^=]")
_NAMED = re.compile(rb"""["']load_state_dict["']""")
_ASKED = re.compile(rb"\b(?:hasattr|getattr|callable)\([^\n]{0,200}\Z")
_ABOVE, _LONGEST = 300, 20_000
"""So many bytes above a definition its decorator is looked for, and so many below what it gives."""


def _loads_in_own_way(text: bytes) -> bool:
    """Whether code has a class with a `load_state_dict` that gives a value, or with whatever attribute it is asked for."""
    if b"load_state_dict" in text and _SET_IN_CLASS.search(text) is not None:
        return True
    for pattern, giving in ((_LOADING, _GIVING), (_WRAPPING, _MAKING)):
        for start in pattern.finditer(text):
            above = text[max(0, start.start() - _ABOVE) : start.start()].rstrip().rpartition(b"\n")[2]
            if giving.search(_body(text, start)) is not None or _DECORATOR.search(above) is not None:
                return True
    return False


def _body(text: bytes, start: re.Match[bytes]) -> bytes:
    """What stands below a definition, deeper than it; what goes on at its own depth is a parameter or a bracket."""
    lines: list[bytes] = []
    depth = len(start[1])
    for line in text[start.end() : start.end() + _LONGEST].split(b"\n"):
        code = line.lstrip()
        is_out = len(line) - len(code) <= depth and code[:1] not in (b"", b"#", b")")
        if lines and is_out:
            break
        lines.append(line)
    return b"\n".join(lines)


def _is_patched(text: bytes) -> bool:
    """Whether code puts another function in the place of a `load_state_dict`."""
    if b"load_state_dict" not in text:
        return False
    if _PUT.search(text) is not None:
        return True
    for found in _NAMED.finditer(text):
        before = text[max(text.rfind(b"\n", 0, found.start()) + 1, found.start() - _ABOVE) : found.start()]
        if b"#" not in before and _ASKED.search(before) is None:
            return True
    return False


OWN_LOADING = {"own loading": _loads_in_own_way, "patched loading": _is_patched}
"""The topics, and what has to be so of a file's code that speaks of them."""
