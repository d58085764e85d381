"""Differences that are the hazard: what a rule is about was printed, and the fixed program does what was meant.

Each is explained in code. Either the program as it was meant, written here with no help from the fixer, prints what the fixed
one prints; or the program raised what the hazard raises, and the fixed one prints the same up to there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from fixing import Fixed
from forked import run

from outcomes import Outcome

MEANT = {
    "TPL005": (r"\b(?:requres_grad|require_grad|requires_gard|requires_grd) = ", "requires_grad = "),
    "TPL006": (r"(\w+)\.requires_grad = (True|False|0|not True)$", r"\1.requires_grad_(bool(\2))"),
    "TPL009": (r"^(\s*(?:best|old|before) = )(.*)$", r'\1__import__("copy").deepcopy(\2)'),
    "TPL010": (r"^(\s*)(mid = .*)$", r"\1\2\n\1mid.retain_grad()"),
    "TPL013": (r"^(\s*\w+\.(?:step|train|eval|zero_grad))$", r"\1()"),
    "TPL203": (r"^(\s*wide = .*\[0\]\.expand\(.*\))$", r"\1.clone()"),
    "TPL301": (r"(self\.layers) = (\[.*\])$", r"\1 = nn.ModuleList(\2)"),
}
"""For each rule whose hazard is a wrong result, the line that has it, and the line that was meant."""

RAISES = {
    "TPL004": "Trying to backward through the graph a second time",
    "TPL011": "modified by an inplace operation|a leaf Variable that requires grad is being used in an in-place",
    "TPL102": "invalid index of a 0-dim tensor|too many indices|slice\\(\\) cannot be applied to a 0-dim",
    "TPL204": "view size is not compatible",
}
"""For each rule whose hazard raises, the message."""

NOTHING_TRAINS = "does not require grad and does not have a grad_fn"
"""How the program that was meant may end: all that a backward pass reaches was to be frozen, and was not."""


def explanation(files: Mapping[str, str], fixed: Fixed, before: Outcome, after: Outcome) -> str:
    """The rules whose hazard explains that a program prints something else when it is fixed; nothing if it is a failure."""
    for code, message in RAISES.items():
        if fixed.applied[code] and before.error and re.search(message, before.error):
            if Outcome(after.printed[: len(before.printed)], None).same(Outcome(before.printed, None)):
                return code
    meant = {name: _meant(text, fixed.files[name], fixed) for name, text in files.items()}
    if meant == files:
        return ""
    outcome = run(meant)
    if outcome.same(after) and (outcome.error in (None, before.error) or NOTHING_TRAINS in outcome.error):
        return " ".join(sorted(code for code in MEANT if fixed.applied[code]))
    return ""


def _meant(text: str, fixed_text: str, fixed: Fixed) -> str:
    """A file as it was meant, where a fix has changed the line; a line that only gets company is one for TPL010."""
    kept = [line.strip() for line in fixed_text.splitlines()]
    marked = {line for line, following in pairwise(kept) if following == "mid.retain_grad()"}
    lines = []
    for line in text.splitlines():
        for code, (pattern, meant) in MEANT.items():
            if fixed.applied[code] and (line.strip() in marked if code == "TPL010" else line.strip() not in kept):
                line = re.sub(pattern, meant, line)
        lines.append(line)
    return "\n".join(lines) + "\n"
