"""The documents say what is so: generated pages are current, examples give what stands there, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from torchlint.cli.rule_pages import main, outdated, page, table
from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.proof.hazards import fixtures_folder, hazard_path
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.documentation import fix_safety
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Word
from torchlint.text.source import Source

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

SECTIONS = ["What it does", "Why is this bad", "Example", "Use instead", "Fix safety", "References"]
RULES = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="runs PyTorch, which is not installed")


# --- the README ------------------------------------------------------------------------------------------------------


def readme_program() -> str:
    match = re.search(r"^<!-- train\.py -->\n```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    assert match
    return match[1]


CONSOLE = re.findall(r"^```console\n\$ torchlint (?P<arguments>.*)\n(?P<output>(?:.*\n)*?)```$", README, re.MULTILINE)


@pytest.mark.parametrize(("arguments", "output"), CONSOLE, ids=[arguments for arguments, _ in CONSOLE])
def test_readme_shows_what_the_command_prints(arguments: str, output: str, tmp_path: Path) -> None:
    if arguments.startswith("prove"):
        pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(readme_program(), encoding="utf-8")
    command = [sys.executable, "-m", "torchlint", *shlex.split(arguments)]
    run = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "120", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    assert run.stdout == output


def test_readme_has_examples() -> None:
    assert [arguments for arguments, _ in CONSOLE] == ["train.py", "--diff train.py", "prove TPL005 --device cpu"]


def run_readme_program(text: str) -> tuple[bool, bool]:
    """Whether the backbone was trained, and whether the returned loss still holds graph."""
    import torch

    torch.manual_seed(0)
    program = ModuleType("train")
    exec(text, program.__dict__)
    backbone = torch.nn.Linear(4, 512)
    before = backbone.weight.clone()
    loader = [(torch.randn(8, 4), torch.randint(10, (8,))) for _ in range(3)]
    loss: Any = program.train(backbone, loader)
    return not torch.equal(before, backbone.weight), loss.requires_grad


@needs_torch
def test_readme_program_is_as_bad_as_it_says_and_its_fix_as_good() -> None:
    text = readme_program()
    assert run_readme_program(text) == (True, True)
    fixed = fix(Source(text), all_rules(), Applicability.SAFE)
    assert [found.code for found in fixed.remaining] == ["TPL001"]
    assert run_readme_program(fixed.text) == (False, False)
    hidden = [rule for rule in all_rules() if rule.code == "TPL001"]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):  # which the backbone, not frozen, needs
        run_readme_program(fix(Source(text), hidden, Applicability.UNSAFE).text)


# --- pages -----------------------------------------------------------------------------------------------------------


def test_generated_documents_are_current() -> None:
    wrong = [str(path.relative_to(ROOT)) for path in outdated(ROOT)]
    assert wrong == [], "python -m torchlint.cli.rule_pages brings them up to date"


def test_table_has_a_row_for_each_rule() -> None:
    class Misnomer(Rule):
        """
        ## What it does
        Finds misnomers in `text`, and
        more: this one.

        ## Fix safety
        Safe: nothing happens.
        """

        code = "TPL999"
        name = "misnomer"
        default = False
        triggers = (Word("text"),)

    assert table([Entry.of(Misnomer)]) == (
        "| code | name | severity | default | fix | finds |\n"
        "|---|---|---|---|---|---|\n"
        "| [TPL999](docs/rules/TPL999.md) | misnomer | error | off | safe | misnomers in `text`, and more |\n"
    )


def test_page_has_an_example_of_the_fix_and_the_proof() -> None:
    (typo,) = (rule for rule in all_rules() if rule.code == "TPL005")
    text = page(typo)
    assert text.startswith("# requires-grad-typo (TPL005)\n")
    assert "\n## More examples\n\nFrom `fixtures/tpl005_requires_grad_typo/bad.py`" in text
    assert re.search(r"^-.*\.requres_grad = False$", text, re.MULTILINE)
    assert re.search(r"^\+.*\.requires_grad = False$", text, re.MULTILINE)
    assert "# TPL005" not in text
    assert "\n## Proof\n\n`fixtures/tpl005_requires_grad_typo/hazard.py` " in text
    assert "| requires_grad: `true`<br>backbone moved: `true`<br>head moved: `true` | requires_grad: `false`<br>" in text


def test_check_changes_nothing_and_says_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torchlint.cli.rule_pages._CHECKOUT", tmp_path)
    pages = tmp_path / "docs" / "rules"
    pages.mkdir(parents=True)
    (pages / "TPL000.md").write_text("of a rule that is gone\n")
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- rules -->\nold\n<!-- /rules -->\nafter\n")

    assert main(["--check"]) == 1
    stale = ("README.md", "docs/model.md", "docs/rules/TPL000.md", "docs/rules/TPL001.md")
    assert "".join(f"out of date: {name}\n" for name in stale) in capsys.readouterr().out
    assert "\nold\n" in readme.read_text()

    assert main([]) == 0
    assert "removed: docs/rules/TPL000.md\nwritten: docs/rules/TPL001.md\n" in capsys.readouterr().out
    assert [path.name for path in sorted(pages.iterdir())] == [f"{rule.code}.md" for rule in all_rules()]
    assert re.fullmatch(r"before\n<!-- rules -->\n\| code .*\n<!-- /rules -->\nafter\n", readme.read_text(), re.DOTALL)
    assert main(["--check"]) == 0
    assert capsys.readouterr().out == ""


# --- what the rules say ----------------------------------------------------------------------------------------------


def sections(rule: Entry) -> dict[str, str]:
    return dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n?)*)", rule.documentation, re.MULTILINE))


def code_in(text: str) -> str:
    return "".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


@RULES
def test_documentation_has_the_fixed_sections(rule: Entry) -> None:
    assert list(sections(rule)) == SECTIONS
    assert all(text.strip() for text in sections(rule).values())


def test_criteria_have_a_row_for_each_rule() -> None:
    text = (ROOT / "docs" / "criteria.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[(TPL\d+)\]\(rules/(TPL\d+)\.md\) (\S+) \| [^|]+ \| [^|]+ \| [^|]+ \|$", text, re.MULTILINE)
    assert sorted(rows) == sorted((rule.code, rule.code, rule.name) for rule in all_rules())


@RULES
def test_documented_example_is_flagged_and_its_replacement_is_not(rule: Entry) -> None:
    said = sections(rule)
    assert {diagnostic.code for diagnostic in lint(Source(code_in(said["Example"])), [rule])} == {rule.code}
    assert lint(Source(code_in(said["Use instead"])), all_rules()) == []


@RULES
def test_fixes_are_as_safe_as_documented(rule: Entry) -> None:
    bad = hazard_path(rule, fixtures_folder()).parent / "bad.py"
    found = lint(Source(bad.read_text(encoding="utf-8"), str(bad)), [rule])
    safeties = {diagnostic.fix.applicability.value for diagnostic in found if diagnostic.fix}
    assert " or ".join(sorted(safeties)) == fix_safety(rule)


# --- links -----------------------------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return named | set(re.findall(r'<a id="([^"]+)">', text))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`\n]+`", "", prose)
    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        path = document.parent / target if target else document
        assert path.exists(), link
        assert not anchor or anchor in anchors(path), link


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_files_exist(document: Path) -> None:
    names = re.findall(r"`((?:torchlint|tests|fixtures|docs|\.ci)/[\w./-]*)`", document.read_text(encoding="utf-8"))
    assert [name for name in names if not (ROOT / name).exists()] == []
