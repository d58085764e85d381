"""The table of rules, and what a rule's page has on the site only: its picture, its figures on real code, its relations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib import import_module
from pathlib import Path

from builder.pictures import shown
from torchlint.cli.rule_pages import finds
from torchlint.rules import documentation, own_rules
from torchlint.rules.catalogue import Entry
from torchlint.target import OLDEST

_DOCS = Path(__file__).parents[1]
_CODE = re.compile(r"\bTPL\d{3}\b")
_MOST_RELATED = 6


# --- the table -------------------------------------------------------------------------------------------------------


def table() -> str:
    """All rules as a table of HTML, with the controls that filter it, which are hidden where no script runs."""
    rules = own_rules()
    rows = "\n".join(_row(rule) for rule in rules)
    families = "\n".join(
        f"- **{name}**: {says}" for name, says in sorted({_family(rule): _says(rule) for rule in rules}.items())
    )
    return f"""```{{raw}} html
<form class="rule-filters" hidden aria-label="Filter the rules">
  <label class="rule-text">Text <input type="search" name="text" autocomplete="off"></label>
  {_choice("family", sorted({_family(rule) for rule in rules}))}
  {_choice("default", ["on", "off"])}
  {_choice("fix", ["safe", "unsafe", "none"])}
  {_choice("since", sorted({_since(rule) for rule in rules}, key=lambda since: (since != "any", _numbers(since))))}
  <p class="rule-count" role="status" aria-live="polite"></p>
</form>
<table class="rule-table">
<caption class="rule-caption">The rules of torchlint</caption>
<thead><tr><th scope="col">code</th><th scope="col">rule</th><th scope="col">family</th><th scope="col">default</th>\
<th scope="col">fix</th><th scope="col">since</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
```

## Families

{families}"""


def _choice(name: str, values: list[str]) -> str:
    options = "".join(f"<option>{escape(value)}</option>" for value in values)
    return f'<label>{name.capitalize()} <select name="{name}"><option value="">all</option>{options}</select></label>'


def _row(rule: Entry) -> str:
    fix = documentation.fix_safety(rule) or "none"
    default = "on" if rule.default else "off"
    facts = {"family": _family(rule), "default": default, "fix": fix, "since": _since(rule)}
    said = {**facts, "text": documentation.summary(rule)}  # more than is shown can be searched
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in said.items())
    cells = "".join(f'<td data-label="{name}">{escape(value)}</td>' for name, value in facts.items())
    summary = re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(finds(rule)))
    return (
        f'<tr{data}><th scope="row"><a href="rules/{rule.code}.html">{rule.code}</a></th>'
        f'<td class="rule-says"><strong>{rule.name}</strong> <span>{summary}</span></td>{cells}</tr>'
    )


def _family(rule: Entry) -> str:
    """The package that a rule stands in."""
    return rule.module.split(".")[2]


def _says(rule: Entry) -> str:
    """What the package of a rule's family says of itself."""
    text = (import_module(".".join(rule.module.split(".")[:3])).__doc__ or "").strip()
    text = re.sub(rf"^(Rules about |{_family(rule)}[^:]*: )", "", text, flags=re.IGNORECASE)
    return text[:1].lower() + text[1:]


def _since(rule: Entry) -> str:
    """The oldest torch to which what the rule says applies."""
    return "any" if rule.since <= OLDEST else str(rule.since)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


# --- a rule's page ---------------------------------------------------------------------------------------------------


def completed(name: str, text: str) -> str:
    """The page ``name`` with what only the site has, if it is the page of a rule."""
    known = {f"rules/{rule.code}": rule for rule in own_rules()}
    if name not in known:
        return text
    rule = known[name]
    text = text.replace("\n## Proof\n", f"\n## Proof\n\n{shown(name, rule.code)}", 1)
    return "\n".join([text.rstrip("\n"), "", *_on_real_code(rule), "", *_relations(rule), ""])


def _on_real_code(rule: Entry) -> Iterator[str]:
    """What the labelled code bases say about the rule."""
    yield "## On real code\n"
    row = _figures().get(rule.code)
    if row is None or row[3] == "0":
        yield "In the code bases whose findings were labelled, [accuracy](../accuracy.md), the rule has found nothing yet."
        return
    findings, true, precision, occurrences, found, recall = row[3], row[4], row[6], row[7], row[8], row[9]
    yield (
        f"Of its {findings} findings in the code bases [whose findings were labelled](../accuracy.md#rule-by-rule), {true} are "
        f"true: a precision of **{precision}**. Of {occurrences} known occurrences, {found} are found: a recall of {recall}."
    )


@cache
def _figures() -> dict[str, list[str]]:
    """The rows of the table of rules on the page of accuracy; the first cell stands at 1."""
    text = (_DOCS / "accuracy.md").read_text(encoding="utf-8").partition("\n## Rule by rule\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("| TPL")]
    return {cells[1]: cells[1:] for cells in rows}


def _relations(rule: Entry) -> Iterator[str]:
    """The rules that a page names, or that name it; else, the next ones of the family."""
    others = {other.code: other for other in own_rules() if other.code != rule.code}
    named = [code for code in dict.fromkeys(_CODE.findall(rule.documentation)) if code in others]
    naming = [code for code, other in others.items() if rule.code in other.documentation]
    family = sorted(
        (code for code, other in others.items() if _family(other) == _family(rule)),
        key=lambda code: abs(int(code[3:]) - int(rule.code[3:])),
    )
    yield "## Related rules\n"
    related = list(dict.fromkeys([*named, *rule.yields_to, *naming]))
    for code in (related or family[:3])[:_MOST_RELATED]:
        if code in others:
            yield f"- [{code}]({code}.md) {others[code].name}: {finds(others[code])}"
    yield f"- all of [{_family(rule)}](../rules.md)"
