"""Functions that give the number of what they call by a name."""

from __future__ import annotations

import re

_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_RETURNS = re.compile(rb"[ \t]*return\b")
_OF_RUNS = re.compile(rb"(?i)train|val|test|eval|epoch|fit|step|main|run|loop|iter")


class Numbering:
    """Where a function takes the number of what it calls by a name, and returns that beside other things."""

    def __init__(self, name: str) -> None:
        self._name = name.encode("utf-8", "surrogatepass")
        self._made, self._number, self._itself = _number_of(self._name)

    def is_in(self, text: bytes) -> bool:
        """Whether code has such a function."""
        if self._name not in text:
            return False
        is_made = is_running = False
        for line in text.splitlines():
            definition = _DEFINITION.match(line)
            if definition is not None:
                is_made, is_running = False, _OF_RUNS.search(definition[1]) is not None
            elif self._name in line and not is_running:
                is_made = is_made or self._made.match(line) is not None
                if _RETURNS.match(line) and b"," in line:
                    if self._number.search(line) or (is_made and self._itself.search(line)):
                        return True
        return False


def _number_of(name: bytes) -> tuple[re.Pattern[bytes], ...]:
    """Where a name gets the number of what it stands for, where that number is taken, and where the name is read by itself."""
    said = rb"(?<![\w.])" + re.escape(name) + rb"\b"
    number = rb"(?:" + said + rb"(?:\.\w{1,20}\(\)){0,3}\.item\(\)|\bfloat\(" + said + rb"\))"
    made = rb"[ \t]*" + said + rb"[ \t]{0,9}=[ \t]{0,9}" + number + rb"[ \t]{0,9}(?:#|$)"
    return re.compile(made), re.compile(number), re.compile(said + rb"(?![.\[(])")
