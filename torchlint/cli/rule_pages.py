"""The rules' pages and the table of them, made from what stands with each rule: docstring, fixture and recorded proofs.

``python -m torchlint.cli.rule_pages`` writes ``docs/rules/`` and the table in ``README.md``; with ``--check`` it only says what
is out of date.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from torchlint.cli.exits import CLEAN, refuse
from torchlint.cli.model_page import model_page
from torchlint.cli.terminal import console, is_terminal
from torchlint.config.files import settings_here
from torchlint.config.keys import schema
from torchlint.proof.evidence import records
from torchlint.proof.hazards import fixtures_folder, hazard_path
from torchlint.rules import documentation, own_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.indexing import index
from torchlint.rules.selection import SelectionError, find_rule
from torchlint.server.settings import schema as server_schema

_CHECKOUT = Path(__file__).parents[2]
_TABLE = re.compile(r"(?<=<!-- rules -->\n).*?(?=<!-- /rules -->)", re.DOTALL)
_SUMMARY = re.compile(r"^## What it does\nFinds (?P<text>(?:`[^`]*`|[^`])*?)[:.;]\s", re.DOTALL)
_MARKER = re.compile(r"(?<![ \t])[ \t]*#[ \t]*TPL\d{3}\b.*$")
_DIFF_LINES = 24
"""About how many lines of a fixture's diff a page shows."""
_SHOWN = 100
"""How many characters of a seen value a page shows."""


def show(options: argparse.Namespace) -> int:
    """``torchlint rule`` with these options: writes the page, or the list of all rules, and returns the exit code."""
    try:
        known = settings_here().known
        rules = known if options.all else (find_rule(options.code, among=known),)
    except SelectionError as error:
        return refuse(str(error))
    if options.output_format == "json":
        descriptions = [described(rule) for rule in rules]
        sys.stdout.write(json.dumps(descriptions if options.all else descriptions[0], indent=2) + "\n")
    elif options.all:
        sys.stdout.write(documentation.table(rules))
    else:
        _write_page(page(rules[0]))
    return CLEAN


def _write_page(text: str) -> None:
    """Writes a page, as Markdown or, on a terminal, as what that means."""
    drawing = console(sys.stdout) if is_terminal(sys.stdout) else None
    if drawing is None:
        sys.stdout.write(text)
        return
    from rich.markdown import Markdown
    from rich.theme import Theme

    drawing.push_theme(Theme({"markdown.code": "bold cyan"}))
    drawing.print(Markdown(text.replace("<br>", "; "), code_theme="ansi_dark"))


def page(rule: Entry) -> str:
    """The page of a rule, in Markdown: its documentation, examples from its fixture, and its recorded proofs."""
    return "\n\n".join([documentation.page(rule).rstrip("\n"), *_fixture(rule), *_proofs(rule)]) + "\n"


def described(rule: Entry) -> dict[str, Any]:
    """What a rule's page says, for programs."""
    proofs = [
        {"torch": record["torch"], "date": record["date"], **proof}
        for record in records()
        for proof in record["proofs"]
        if proof["code"] == rule.code
    ]
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": documentation.summary(rule),
        "severity": rule.severity,
        "default": rule.default,
        "fix": documentation.fix_safety(rule).split(" or ") if documentation.fix_safety(rule) else [],
        "since": str(rule.since),
        "url": rule.page_url,
        "explanation": page(rule),
        "proofs": proofs,
    }


def table(rules: Sequence[Entry]) -> str:
    """A Markdown table of ``rules``, with links to their pages."""
    rows = ["| code | name | severity | default | fix | finds |", "|---|---|---|---|---|---|", *map(_row, rules)]
    return "\n".join(rows) + "\n"


def _row(rule: Entry) -> str:
    default = "on" if rule.default else "off"
    fix = documentation.fix_safety(rule) or "none"
    return f"| [{rule.code}](docs/rules/{rule.code}.md) | {rule.name} | {rule.severity} | {default} | {fix} | {finds(rule)} |"


def finds(rule: Entry) -> str:
    """What the rule finds, in a few words: how its documentation starts."""
    match = _SUMMARY.search(rule.documentation)
    return " ".join(match["text"].split()) if match else ""


# --- the fixture -----------------------------------------------------------------------------------------------------


def _fixture(rule: Entry) -> Iterator[str]:
    folder = hazard_path(rule, fixtures_folder()).parent
    if not (folder / "bad.py").is_file() or not (folder / "fixed.py").is_file():
        return
    hunks = list(_hunks(_lines(folder / "bad.py"), _lines(folder / "fixed.py")))
    yield "## More examples"
    yield f"From `fixtures/{folder.name}/bad.py`, with `--select {rule.code} --fix --unsafe-fixes`:"
    yield "\n".join(["```diff", *_first(hunks), "```"])


def _lines(path: Path) -> list[str]:
    """The lines of a fixture without the comments that say what is to be flagged."""
    return [_MARKER.sub("", line) for line in path.read_text(encoding="utf-8").splitlines()]


def _hunks(bad: Sequence[str], fixed: Sequence[str]) -> Iterator[list[str]]:
    """What differs, with two lines around it; blank lines at the ends are left out."""
    diff = list(difflib.unified_diff(bad, fixed, lineterm="", n=2))[2:]
    for is_heading, lines in groupby(diff, key=lambda line: line.startswith("@@")):
        if not is_heading:
            yield "\n".join(line.rstrip() for line in lines).strip("\n").split("\n")


def _first(hunks: Sequence[list[str]]) -> Iterator[str]:
    """The first hunks that a page has room for, and a line between them."""
    shown = 0
    for hunk in hunks:
        if shown and shown + len(hunk) > _DIFF_LINES:
            continue
        if shown:
            yield "@@"
        yield from hunk
        shown += len(hunk)


# --- recorded proofs -------------------------------------------------------------------------------------------------


def _proofs(rule: Entry) -> Iterator[str]:
    rows = [row for record in records() for row in _proven(rule, record)]
    program = hazard_path(rule, fixtures_folder())
    if not rows:
        return
    yield "## Proof"
    yield (
        f"`fixtures/{program.parent.name}/hazard.py` has this pattern. It was run, fixed by the rule's own fix, and run\n"
        f"again; `torchlint prove {rule.code}` does the same for you."
    )
    yield "\n".join(["| device | seen before the fix | seen after it | verdict |", "|---|---|---|---|", *rows])


def _proven(rule: Entry, record: Mapping[str, Any]) -> Iterator[str]:
    """A row of the table for each proof of ``rule`` in a file that ``torchlint prove --json`` wrote."""
    for proof in record["proofs"]:
        if proof["code"] == rule.code and proof["before"] is not None and proof["after"] is not None:
            device = f"{proof['device']}, torch {record['torch']}, {record['date']}"
            yield f"| {device} | {_seen(proof['before'])} | {_seen(proof['after'])} | {proof['verdict']} |"


def _seen(values: Mapping[str, Any]) -> str:
    return "<br>".join(f"{key}: `{_cell(value)}`" for key, value in values.items())


def _cell(value: object) -> str:
    """``value`` as it can stand between backquotes in a table's cell."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("|", "¦").replace("`", "'").replace("\n", " ")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1].rstrip() + "…"


# --- the checkout's documents ----------------------------------------------------------------------------------------


def documents(root: Path) -> dict[Path, str]:
    """What the generated documents of the checkout at ``root`` should hold.

    They are the rules' pages, the README with its table, the schema of the configuration, which knows the rules' codes, that
    of the language server's settings, the page of what rules can ask, and the index of what they declare.
    """
    rules = own_rules()
    readme = root / "README.md"
    pages = {root / "docs" / "rules" / f"{rule.code}.md": page(rule) for rule in rules}
    listing = table(rules)
    described = json.dumps(schema(), indent=2) + "\n"
    pages[root / "docs" / "torchlint.schema.json"] = described
    pages[root / "docs" / "torchlint-server.schema.json"] = json.dumps(server_schema(), indent=2) + "\n"
    pages[root / "docs" / "model.md"] = model_page()
    pages[root / "torchlint" / "rules" / "index.py"] = index()
    return {**pages, readme: _TABLE.sub(lambda _: listing, readme.read_text(encoding="utf-8"), count=1)}


def outdated(root: Path) -> dict[Path, str | None]:
    """The generated documents that are not as they should be, each with what it should hold; None for one that should go."""
    expected = documents(root)
    wrong: dict[Path, str | None] = {
        path: text for path, text in expected.items() if not path.is_file() or path.read_text(encoding="utf-8") != text
    }
    return wrong | dict.fromkeys(path for path in (root / "docs" / "rules").glob("*.md") if path not in expected)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes what is out of date and returns 0; with ``--check``, names it and returns 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m torchlint.cli.rule_pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if something is out of date")
    options = parser.parse_args(arguments)
    wrong = outdated(_CHECKOUT)
    for path, text in sorted(wrong.items()):
        print(
            f"{'out of date' if options.check else 'written' if text is not None else 'removed'}: {path.relative_to(_CHECKOUT)}"
        )
        if not options.check:
            _write(path, text)
    return 1 if wrong and options.check else 0


def _write(path: Path, text: str | None) -> None:
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
