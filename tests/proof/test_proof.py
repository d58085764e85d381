"""The runtime proofs: every rule's hazard is real, flagged, and gone after the rule's own fix; and `torchlint prove`."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

import torchlint
from torchlint.cli.main import main
from torchlint.cli.prove import provable
from torchlint.engine.linter import lint
from torchlint.proof import hazards as proof
from torchlint.proof.hazards import Proof, fixtures_folder, hazard_path, prove
from torchlint.proof.table import table
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import select_rules
from torchlint.text.source import Source

ROOT = Path(__file__).parents[2]
EVIDENCE = ROOT / "docs" / "evidence"

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="runs PyTorch, which is not installed")

# Of each hazard program: the lines that are flagged, and lines that the fixed program must hold instead.
PATTERNS = {
    "TPL001": (["c.zero_()  # sigmoid's backward needs the values that are overwritten here"], ["c = out.detach()"]),
    "TPL002": (
        ["loss = (weight * hidden.data).sum()  # the hidden state, cut off from the step that computed it"],
        ["loss = (weight * hidden.detach()).sum()  # the hidden state, cut off from the step that computed it"],
    ),
    "TPL003": (
        [
            "w.data = torch.zeros(3, device=device)  # the backward of w * w needs the values that are replaced here",
            "layer.weight.data = torch.ones(3, 3, device=device)",
        ],
        [
            "w.copy_(torch.zeros(3, device=device))  # the backward of w * w needs the values that are replaced here",
            "layer.weight.copy_(torch.ones(3, 3, device=device))",
        ],
    ),
    "TPL004": (["total_loss += loss", "total_loss += loss"], ["total_loss += loss.detach()", "total_loss += loss.detach()"]),
    "TPL005": (["parameter.requres_grad = False"], ["parameter.requires_grad = False"]),
    "TPL101": (
        ["if type(h) == Variable:", "return Variable(h.data)", "output = decoder(Variable(hidden))"],
        ["if isinstance(h, torch.Tensor):", "return h.detach()", "output = decoder(hidden)"],
    ),
    "TPL102": (["logged = loss.data[0]"], ["logged = loss.item()"]),
    "TPL103": (["inputs = Variable(batch, volatile=True)"], ["with torch.no_grad():", "output = model(inputs)"]),
    "TPL104": (
        ["array = scores.cpu().float().data.numpy()"],
        ["array = scores.detach().cpu().float().numpy()"],
    ),
}


def rule_of(code: str) -> Entry:
    (rule,) = select_rules(select=[code])
    return rule


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest) -> str:
    """The devices there are: the CPU, and CUDA where torch sees one."""
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return str(request.param)


@pytest.mark.parametrize("rule", provable(select_rules(select=["ALL"])), ids=lambda rule: rule.code)
def test_hazard_is_flagged_real_and_repaired_by_the_fix(rule: Entry, device: str) -> None:
    proven = prove(rule, device)
    if proven.verdict.startswith("skipped"):
        pytest.skip(proven.verdict)
    assert (proven.verdict, proven.error) == ("proven", "")
    assert proven.device == device
    assert proven.before and proven.after and proven.before != proven.after


@needs_torch
@pytest.mark.parametrize("code", PATTERNS)
def test_only_the_pattern_is_flagged_and_fixed_as_documented(code: str) -> None:
    flagged, fixed = PATTERNS[code]
    path = hazard_path(rule_of(code), fixtures_folder())
    found = lint(Source(path.read_text(encoding="utf-8"), str(path)), [rule_of(code)])
    assert [diagnostic.snippet.strip() for diagnostic in found] == flagged
    fixed_lines = [line.strip() for line in prove(rule_of(code), "cpu").fixed_text.splitlines()]
    for line in fixed:
        assert line in fixed_lines


# --- verdicts ---------------------------------------------------------------------------------------------------------

FLAGGED_AND_REPAIRED = """\
import torch


def observe(device):
    w = torch.ones(2, device=device)
    w.requires_grad = True
    w.requres_grad = False
    return {"requires_grad": w.requires_grad}


def hazard(seen):
    return seen["requires_grad"]


def repaired(before, after):
    return after == {"requires_grad": False}
"""


@pytest.fixture
def typo(tmp_path: Path) -> SimpleNamespace:
    """TPL005, and a function that proves it with another program than its own."""
    rule = rule_of("TPL005")
    path = tmp_path / "tpl005_requires_grad_typo" / "hazard.py"

    def prove_with(text: str) -> Proof:
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        return prove(rule, "cpu", tmp_path)

    return SimpleNamespace(prove=prove_with, rule=rule, folder=tmp_path)


@needs_torch
def test_verdict_proven(typo: SimpleNamespace) -> None:
    proven = typo.prove(FLAGGED_AND_REPAIRED)
    assert proven.verdict == "proven"
    assert proven.passed
    assert (proven.flagged, proven.before, proven.after) == (1, {"requires_grad": True}, {"requires_grad": False})
    assert "    w.requires_grad = False\n" in proven.fixed_text


@needs_torch
def test_verdict_not_flagged(typo: SimpleNamespace) -> None:
    proven = typo.prove(FLAGGED_AND_REPAIRED.replace("w.requres_grad = False", "pass"))
    assert (proven.verdict, proven.flagged, proven.before) == ("not flagged", 0, None)
    assert not proven.passed


@needs_torch
def test_verdict_no_damage(typo: SimpleNamespace) -> None:
    proven = typo.prove(FLAGGED_AND_REPAIRED.replace("w.requires_grad = True\n", "w.requires_grad = False\n"))
    assert (proven.verdict, proven.before, proven.after) == ("no damage", {"requires_grad": False}, None)
    assert not proven.passed


@needs_torch
def test_verdict_not_repaired_when_the_damage_stays(typo: SimpleNamespace) -> None:
    lasting = FLAGGED_AND_REPAIRED.replace("    return {", "    w.requires_grad = True\n    return {")
    proven = typo.prove(lasting)
    assert (proven.verdict, proven.after) == ("not repaired", {"requires_grad": True})
    assert not proven.passed


@needs_torch
def test_verdict_not_repaired_when_only_the_damage_is_gone(typo: SimpleNamespace) -> None:
    proven = typo.prove(FLAGGED_AND_REPAIRED.replace("after == {", 'after == {"else": 1, '))
    assert (proven.verdict, proven.after) == ("not repaired", {"requires_grad": False})


@needs_torch
def test_a_program_that_raises_is_a_verdict_with_its_line(typo: SimpleNamespace) -> None:
    proven = typo.prove(FLAGGED_AND_REPAIRED.replace("w = torch.ones(2, device=device)", 'w = torch.ones(2, device="nowhere")'))
    assert proven.verdict == "failed"
    assert proven.error.startswith("hazard.py:5: RuntimeError: ")
    assert "\n" not in proven.error
    assert not proven.passed


@needs_torch
def test_a_program_that_is_not_python_is_a_verdict(typo: SimpleNamespace) -> None:
    proven = typo.prove("def observe(device:\n")
    assert proven.verdict == "failed"
    assert proven.error.startswith("SyntaxError: ")


@needs_torch
def test_a_program_without_observe_is_a_verdict(typo: SimpleNamespace) -> None:
    proven = typo.prove(FLAGGED_AND_REPAIRED.replace("def observe", "def look"))
    assert proven.verdict == "failed"
    assert "observe" in proven.error


def test_a_rule_without_a_program_is_a_verdict(typo: SimpleNamespace) -> None:
    proven = prove(typo.rule, "cpu", typo.folder)
    assert proven.verdict == "failed"
    assert proven.error.startswith("FileNotFoundError: ")


@needs_torch
def test_a_program_for_another_device_is_skipped(typo: SimpleNamespace) -> None:
    proven = typo.prove('NEEDS = "cuda"\n' + FLAGGED_AND_REPAIRED)
    assert (proven.verdict, proven.before) == ("skipped: needs cuda", None)
    assert proven.passed


@needs_torch
def test_warnings_of_a_program_are_not_shown(typo: SimpleNamespace, recwarn: pytest.WarningsRecorder) -> None:
    noisy = FLAGGED_AND_REPAIRED.replace("    return {", '    __import__("warnings").warn("old")\n    return {')
    assert typo.prove(noisy).verdict == "proven"
    assert not recwarn.list


# --- the table --------------------------------------------------------------------------------------------------------


def test_table_wraps_cells_and_shortens_values() -> None:
    proofs = [
        Proof(
            "TPL001",
            "data-mutation",
            "cpu",
            "proven",
            before={"a.grad": [0.0, 0.25], "raised": None},
            after={"a.grad": None, "raised": "changed in place: [torch.FloatTensor [3]], which is output 0 of Sigmoid"},
        ),
        Proof("TPL005", "requires-grad-typo", "cpu", "failed", error="hazard.py:5: ValueError: no"),
    ]
    assert table(proofs, 94) == textwrap.dedent(
        """\
        rule                       device  before                    after                     verdict
        -------------------------  ------  ------------------------  ------------------------  -------
        TPL001 data-mutation       cpu     a.grad=[0, 0.25],         a.grad=None,              proven
                                           raised=None               raised=changed in place
        TPL005 requires-grad-typo  cpu     -                         -                         failed

        TPL005 on cpu: hazard.py:5: ValueError: no"""
    )


# --- the command ------------------------------------------------------------------------------------------------------


@needs_torch
def test_prove_prints_one_row_per_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "TPL102", "TPL001", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rule", "device", "before", "after", "verdict"]
    rows = [line.split() for line in lines if line.startswith("TPL")]
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        ("TPL001", "data-mutation", "cpu", "proven"),
        ("TPL102", "scalar-index", "cpu", "proven"),
    ]


@needs_torch
def test_prove_says_where_it_was_not_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["prove", "TPL102"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith("Not run on CUDA: torch ")


@needs_torch
def test_prove_on_cuda_without_cuda_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert main(["prove", "--device", "cuda"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("torchlint prove: not run on CUDA: torch ")
    assert output.err.count("\n") == 1


@needs_torch
def test_prove_fails_when_a_proof_does(
    typo: SimpleNamespace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "fixtures_folder", lambda: typo.folder)
    assert main(["prove", "TPL005", "--device", "cpu"]) == 1
    assert "TPL005 on cpu: FileNotFoundError: " in capsys.readouterr().out


def test_prove_refuses_an_unknown_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "TPL9999"]) == 2
    output = capsys.readouterr()
    assert "TPL9999" in output.err
    assert output.err.count("\n") == 1


def test_a_rule_about_the_text_has_nothing_to_prove(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "TPL900"]) == 2
    assert capsys.readouterr().err == "torchlint prove: TPL900 is about the text alone: there is nothing to run\n"


@needs_torch
def test_prove_writes_what_was_seen_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "TPL102", "--device", "cpu", "--json", str(tmp_path / "proofs.json")]) == 0
    written = json.loads((tmp_path / "proofs.json").read_text(encoding="utf-8"))
    import torch

    assert written["torch"] == torch.__version__
    assert written["torchlint"] == torchlint.__version__
    assert written["devices"]["cuda"] == "not run"
    (row,) = written["proofs"]
    assert (row["code"], row["name"], row["device"], row["verdict"]) == ("TPL102", "scalar-index", "cpu", "proven")
    assert row["before"]["logged"] is None
    assert row["before"]["raised"].startswith("invalid index of a 0-dim tensor")
    assert row["after"] == {"logged": 5.0, "raised": None}


@needs_torch
def test_prove_says_when_it_cannot_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "TPL102", "--device", "cpu", "--json", str(tmp_path / "none" / "proofs.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_prove_without_torch_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('blocked')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(torchlint.__file__).parents[1])])}
    run = subprocess.run(
        [sys.executable, "-m", "torchlint", "prove"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert run.stdout == ""
    assert "pip install torch" in run.stderr
    assert run.stderr.count("\n") == 1


# --- the recorded evidence --------------------------------------------------------------------------------------------


def test_recorded_evidence_is_of_the_programs_as_they_are() -> None:
    recorded = json.loads((EVIDENCE / "cpu.json").read_text(encoding="utf-8"))
    seen = {row["code"]: row for row in recorded["proofs"]}
    for rule in provable(select_rules(select=["ALL"])):
        text = hazard_path(rule, ROOT / "fixtures").read_text(encoding="utf-8")
        needs_cuda = re.search(r'^NEEDS = "cuda"$', text, re.MULTILINE) is not None
        assert seen[rule.code]["verdict"] == ("skipped: needs cuda" if needs_cuda else "proven")
        assert seen[rule.code]["sha256"] == hashlib.sha256(text.encode()).hexdigest(), f"record {rule.code} again"
