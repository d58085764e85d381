"""What holds for every program: of the findings, of the fixes, and of what the command makes of them.

The examples are the same in every run. ``--hypothesis-profile=thorough`` tries many more, and others each time.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from grammar import Choice
from hypothesis import given
from hypothesis import strategies as st
from invariants import check_findings, check_fix, check_order_of_rules, check_single_fixes, found_in, read, spliced
from programs import Program, collage, collages, program, programs

from torchlint.cli.main import main
from torchlint.diagnostic import Applicability, Edit, Location
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules import all_rules
from torchlint.text.source import SourceError

some_program = st.one_of(programs(), programs(), collages())
each_applicability = pytest.mark.parametrize("applicability", list(Applicability), ids=lambda each: each.value)


_NO_IDIOM = {
    "TPL109",
    "TPL110",
    "TPL111",
    "TPL309",
    "TPL310",
    "TPL311",
    "TPL312",
    "TPL313",
    "TPL314",
    "TPL315",
    "TPL316",
    "TPL317",
    "TPL319",
    "TPL320",
    "TPL321",
    "TPL322",
    "TPL323",
    "TPL324",
    "TPL325",
    "TPL327",
    "TPL328",
    "TPL329",
    "TPL330",
    "TPL331",
    "TPL332",
    "TPL405",
    "TPL406",
    "TPL502",
    "TPL506",
    "TPL601",
    "TPL602",
    "TPL603",
    "TPL604",
    "TPL605",
    "TPL607",
    "TPL608",
    "TPL701",
    "TPL702",
    "TPL703",
}
"""Rules that nothing in the grammar is about."""


def test_most_rules_find_something_in_the_programs() -> None:
    fired: Counter[str] = Counter()
    for seed in range(120):
        choice = Choice(random.Random(seed).randrange)
        for made in (program(choice), collage(choice)):
            fired.update({found.code for found in found_in(read(made.data))})
    default = [rule.code for rule in all_rules() if rule.default and rule.code not in _NO_IDIOM]
    silent = [code for code in default if code not in fired]
    assert len(silent) <= len(default) // 8, f"not in any program: {silent}"


# --- findings --------------------------------------------------------------------------------------------------------


@given(some_program)
def test_linting_never_fails(made: Program) -> None:
    check_findings(read(made.data))


@given(st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_what_is_not_python_is_said_to_be_so(data: bytes) -> None:
    for marked in (data, data + b"\nimport torch\nx = torch.ones(2)\nx.data.zero_()\n"):
        with contextlib.suppress(SourceError):
            check_findings(read(marked))


@given(some_program, st.randoms(use_true_random=False))
def test_the_order_of_the_rules_makes_no_difference(made: Program, chance: random.Random) -> None:
    source = read(made.data)
    order = chance.sample(all_rules(), len(all_rules()))
    check_order_of_rules(source, found_in(source), order)
    assert fix(source, order, Applicability.UNSAFE).text == fix(source, all_rules(), Applicability.UNSAFE).text


# --- fixes -----------------------------------------------------------------------------------------------------------


@each_applicability
@given(some_program)
def test_fixes_change_what_they_say_and_nothing_else(applicability: Applicability, made: Program) -> None:
    check_fix(read(made.data), applicability)


@given(some_program)
def test_a_fix_removes_its_finding(made: Program) -> None:
    source = read(made.data)
    check_single_fixes(source, found_in(source))


# --- the command -----------------------------------------------------------------------------------------------------


@given(some_program)
def test_the_command_says_what_it_does(made: Program) -> None:
    """The diff gives the fixed file, and so do the edits of the JSON report where one round of fixes is all there is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.py")
        path.write_bytes(made.data)
        select = ["--isolated", "--no-cache", "--jobs", "1", "--select", "ALL", "--unsafe-fixes", str(path)]
        report = json.loads(output("--output-format", "json", *select))
        diff = output("--diff", *select)
        assert path.read_bytes() == made.data
        output("--fix", *select)
        fixed = path.read_bytes().decode("utf-8-sig")
    source = read(made.data)
    assert patched(source.text, diff) == fixed
    options = Options(accumulate_with="detach")  # as where every rule is selected, TPL402 among them
    assert fixed == fix(source, all_rules(), Applicability.UNSAFE, options).text
    found = [found for found in lint(source, all_rules(), options) if found.fix is not None]
    entries = [entry for entry in report if entry["fix"] is not None]
    assert len(entries) == len(found)
    for entry, diagnostic in zip(entries, found):
        assert diagnostic.fix is not None
        edits = [Edit(place(each["location"]), place(each["end_location"]), each["content"]) for each in entry["fix"]["edits"]]
        assert spliced(source.text, edits) == source.edited(diagnostic.fix.edits)


def place(entry: dict[str, int]) -> Location:
    return Location(entry["row"], entry["column"])


def output(*arguments: str) -> str:
    """What the command writes to standard output."""
    written = io.BytesIO()
    with io.TextIOWrapper(written, encoding="utf-8", newline="") as stream, contextlib.redirect_stdout(stream):
        main([*arguments])
        stream.flush()
        return written.getvalue().decode()


_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def patched(text: str, diff: str) -> str:
    """The text that a unified diff makes of another."""
    old: list[str] = _LINE.findall(text)
    new: list[str] = []
    taken, marks = 0, ""
    for line in _LINE.findall(diff):
        if line.startswith(("---", "+++")) and not taken and not new:
            continue
        if hunk := _HUNK.match(line):
            start = int(hunk[1]) - (hunk[2] != "0")
            new += old[taken:start]
            taken = start
        elif line.startswith("\\"):
            new[-1:] = [new[-1].rstrip("\n")] if marks == "+" else new[-1:]
        else:
            marks = line[0]
            if marks in " -":
                assert old[taken].rstrip("\r\n") == line[1:].rstrip("\r\n")
                new += [old[taken]] if marks == " " else []
                taken += 1
            else:
                new.append(line[1:])
    return "".join([*new, *old[taken:]])
