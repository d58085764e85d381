"""What the pictures show: the recorded evidence of the rules, and torchlint's own figures from their pages."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from charts import Panel

_DOCS = Path(__file__).parents[1]
BEFORE_AND_AFTER = ("before the fix", "after the fix")
_MOST_PANELS = 3

CURVES: dict[str, tuple[tuple[tuple[str, ...], str, tuple[str, ...], str], ...]] = {
    "TPL004": (
        (
            ("nodes",),
            "nodes of the autograd graph that hang on the total",
            ("1", "5", "10", "15", "20"),
            "steps of the training loop",
        ),
        (("bytes",), "bytes kept for a backward that never comes", ("1", "5", "10", "15", "20"), "steps of the evaluation"),
    ),
    "TPL013": ((("losses",), "loss", ("1", "5", "10", "15", "20"), "step"),),
    "TPL016": ((("losses",), "loss", ("1", "5", "10", "15", "20"), "step"),),
    "TPL305": ((("losses",), "loss of the same weights, evaluated twice", ("first", "second"), "evaluation"),),
    "TPL306": ((("batches seen",), "batches that the running statistics have seen", ("1st", "2nd", "3rd"), "epoch"),),
    "TPL308": ((("losses",), "loss", ("1", "10", "20", "30", "40"), "step"),),
}
"""For rules whose evidence is a course: the keys of its values, what they are, where they were taken, and what that counts."""


def proofs() -> list[dict[str, Any]]:
    """The recorded proofs on the CPU."""
    found: list[dict[str, Any]] = json.loads((_DOCS / "evidence" / "cpu.json").read_text(encoding="utf-8"))["proofs"]
    return found


def panels(proof: Mapping[str, Any]) -> list[Panel]:
    """The plots of a proof: its curves, and a comparison for each number that the fix changed."""
    before, after = proof["before"], proof["after"]
    if before is None or after is None:
        return []
    found, drawn = [], set()
    for keys, title, places, axis in CURVES.get(proof["code"], ()):
        values = tuple(_course(seen, keys) for seen in (before, after))
        shown = tuple(tuple(number(value, title) for value in series) for series in values)
        found.append(Panel(title, BEFORE_AND_AFTER, places, values, shown, is_curve=True, axis=axis))
        drawn.update(keys)
    for key in before:
        one, two = before[key], after.get(key)
        if key not in drawn and is_number(one) and is_number(two) and one != two:
            shown = ((number(one, key),), (number(two, key),))
            found.append(Panel(key, BEFORE_AND_AFTER, ("",), ((float(one),), (float(two),)), shown))
    return found[:_MOST_PANELS]


def _course(seen: Mapping[str, Any], keys: tuple[str, ...]) -> tuple[float, ...]:
    values = seen[keys[0]] if len(keys) == 1 else [seen[key] for key in keys]
    return tuple(float(value) for value in values)


def is_number(value: object) -> bool:
    """Whether a value is one to be plotted: truth values are none, and what is not a number is not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)


def number(value: float, what: str) -> str:
    """A number as a person reads it; of bytes, in the unit that fits."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if re.search(r"\bbytes\b", what) and value >= 1000:
        return f"{value / 1e6:.2f} MB" if value >= 1e6 else f"{value / 1e3:.1f} kB"
    return f"{int(value):,}" if value == int(value) else f"{value:.3g}"


# --- torchlint's own -------------------------------------------------------------------------------------------------


def rows(page: str, section: str) -> Iterator[list[str]]:
    """The rows of the first table in a section of a page, without its heading."""
    text = (_DOCS / page).read_text(encoding="utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def speed() -> Panel:
    """The seconds of torchlint and its peers over one code base."""
    wanted = {"torchlint", "ruff", "flake8 with flake8-bugbear", "libcst.parse_module", "TorchFix"}
    times = [(row[0], float(row[5])) for row in rows("performance.md", "Cold, timm 1.0.9") if row[0] in wanted]
    times.sort(key=lambda time: time[1])
    names, values = zip(*times, strict=True)
    shown = tuple(f"{value:.1f} s" for value in values)
    title = "processor seconds over timm 1.0.9, 246 files, 87,408 lines, nothing cached"
    return Panel(title, ("",), names, (values,), (shown,), stressed="torchlint")


_LEAST_FINDINGS = 20


def precision() -> Panel:
    """The share of true findings of each rule with enough of them."""
    found = []
    for row in rows("accuracy.md", "Rule by rule"):
        findings = int(row[3].replace(",", ""))
        if findings >= _LEAST_FINDINGS:
            found.append((row[0], float(row[6].removesuffix("%")), row[6]))
    names, values, shown = zip(*found, strict=True)
    title = f"share of true findings in labelled code bases, rules with at least {_LEAST_FINDINGS} findings"
    return Panel(title, ("",), names, (values,), (shown,))
