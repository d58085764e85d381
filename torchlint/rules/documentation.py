"""The rules' pages and their table, from the rules themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torchlint.rules.catalogue import Entry

_SECTION = re.compile(r"^## (?P<title>.*)\n(?P<text>(?:(?!## ).*\n?)*)", re.MULTILINE)
_HEADINGS = ("code", "name", "severity", "default", "fix")


def page(rule: Entry) -> str:
    """A rule's page as Markdown: name and code, whether it is on, its severity, what its fixes are, and its docstring."""
    default = "This rule is on by default." if rule.default else "This rule is off unless it is selected."
    severity = f"What it finds is {'an error' if rule.severity == 'error' else 'a warning'}."
    fix = {
        "": "It has no fix.",
        "safe": "Its fix is safe.",
        "unsafe": "Its fix is unsafe: it is applied with `--unsafe-fixes` only.",
        "safe or unsafe": "Its fix is safe or, applied with `--unsafe-fixes` only, unsafe, depending on the code.",
    }[fix_safety(rule)]
    return f"# {rule.name} ({rule.code})\n\n{default} {severity} {fix}\n\n{rule.documentation}\n"


def sections(rule: Entry) -> dict[str, str]:
    """The sections of a rule's docstring by their titles, in their order."""
    return {match["title"].strip(): match["text"] for match in _SECTION.finditer(rule.documentation)}


def table(rules: Sequence[Entry]) -> str:
    """A line for each rule: code, name, severity, whether it is on by default, what its fixes are."""
    rows = [
        _HEADINGS,
        *((rule.code, rule.name, rule.severity, "on" if rule.default else "off", fix_safety(rule) or "none") for rule in rules),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]]) + "\n"


def summary(rule: Entry) -> str:
    """The first sentence of what a rule's page says it does."""
    text = " ".join(sections(rule).get("What it does", "").split("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", text)[0]


def fix_safety(rule: Entry) -> str:
    """What the section "Fix safety" says that the rule's fixes are: "safe", "unsafe" or "safe or unsafe"; empty without it."""
    words = set(re.findall(r"\w+", sections(rule).get("Fix safety", "").lower()))
    return " or ".join(word for word in ("safe", "unsafe") if word in words)
