"""What the command does at a terminal: progress, watching, completion, and the pages of rules for programs."""

from __future__ import annotations

import io
import json
import queue
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import pytest

from command import environment, torchlint_
from torchlint.cli.progress import Progress
from torchlint.rules import all_rules

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- progress --------------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.cli.progress._DELAY", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with Progress(3, terminal) as progress:
        for _ in range(3):
            progress.advance(1)
    assert "Linting" in terminal.getvalue()
    assert "/3" in terminal.getvalue()
    assert terminal.getvalue().rstrip(" ").endswith("\r")


def test_a_short_run_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.cli.progress._DELAY", 3600.0)
    terminal = Terminal()
    with Progress(3, terminal) as progress:
        progress.advance(3)
    assert terminal.getvalue().strip() == ""


def test_a_quiet_run_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.cli.progress._DELAY", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with Progress(3, terminal, wanted=False) as progress:
        progress.advance(3)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_in_pipes_and_on_dumb_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchlint.cli.progress._DELAY", 0.0)
    pipe = io.StringIO()
    with Progress(3, pipe) as progress:
        progress.advance(3)
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    with Progress(3, terminal) as progress:
        progress.advance(3)
    assert pipe.getvalue() == terminal.getvalue() == ""


# --- watching --------------------------------------------------------------------------------------------------------


def test_watch_reports_again_when_a_file_changes() -> None:
    pytest.importorskip("watchfiles")
    Path("a.py").write_text(TYPO)
    command = [sys.executable, "-u", "-m", "torchlint", "--watch", "--output-format", "concise", "."]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(PYTHONUNBUFFERED="1")
    )
    assert process.stdout is not None and process.stderr is not None
    lines: queue.Queue[str] = queue.Queue()
    for stream in (process.stdout, process.stderr):
        threading.Thread(target=forward, args=(stream, lines), daemon=True).start()
    try:
        wait_for(lines, "Watching for changes")
        Path("a.py").write_text(TYPO.replace("requres", "requires"))
        wait_for(lines, "All checks passed!")
        Path("b.txt").write_text("not ours")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) in (0, 130)
    finally:
        process.kill()
        process.wait()


def forward(stream: IO[str], lines: queue.Queue[str]) -> None:
    for line in stream:
        lines.put(line)


def wait_for(lines: queue.Queue[str], part: str) -> None:
    while part not in lines.get(timeout=60):
        pass


def test_watch_without_its_package_says_what_to_install() -> None:
    code = "import sys; sys.modules['watchfiles'] = None; from torchlint.cli.main import main; sys.exit(main(['--watch', '.']))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=False)
    assert finished.returncode == 2
    assert finished.stderr == "torchlint: error: --watch needs the package watchfiles: pip install 'torchlint[watch]'\n"


# --- completion and help ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_knows_the_options(shell: str) -> None:
    result = torchlint_("generate-shell-completion", shell)
    assert (result.returncode, result.stderr) == (0, "")
    assert "--unsafe-fixes" in result.stdout or "unsafe-fixes" in result.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("--unsa", ["--unsafe-fixes"]),
        ("ru", ["rule"]),
        ("check --show-f", ["--show-fixes", "--show-files"]),
        ("--output-format g", ["grouped", "github", "gitlab"]),
        ("--fix --select TPL40", ["TPL401", "TPL402", "TPL403", "TPL404"]),
        ("rule TPL10", ["TPL101", "TPL102", "TPL103", "TPL104", "TPL105", "TPL106", "TPL107"]),
        ("prove --device c", ["cpu", "cuda"]),
        ("--fix check tra", ["train.py"]),
        ("--baseline tra", ["train.py"]),
    ],
)
def test_bash_completes(words: str, completed: list[str]) -> None:
    Path("train.py").touch()
    script = torchlint_("generate-shell-completion", "bash").stdout
    ask = f"\nCOMP_WORDS=(torchlint {words}); COMP_CWORD={len(words.split())}; _shtab_torchlint; echo ${{COMPREPLY[@]}}\n"
    answer = subprocess.run(["bash", "-c", script + ask], capture_output=True, text=True, check=True).stdout
    assert answer.split() == completed


def test_an_unknown_shell() -> None:
    assert torchlint_("generate-shell-completion", "sh").returncode == 2


def test_the_help_has_examples_and_every_option() -> None:
    text = torchlint_("--help").stdout
    assert "examples:\n  torchlint src/" in text
    for option in ("--config", "--isolated", "--baseline", "--add-noqa", "--watch", "--statistics", "--target-torch", "--diff"):
        assert option in text


@pytest.mark.parametrize(
    ("given", "meant"), [("--selct", "--select"), ("--unsafe", "--unsafe-fixes"), ("--target_torch=1.13", "--target-torch")]
)
def test_an_unknown_option_is_refused_with_the_nearest(given: str, meant: str) -> None:
    result = torchlint_(given, ".")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.splitlines()[-1] == (
        f"torchlint: error: unrecognized argument: {given.partition('=')[0]}; did you mean `{meant}`?"
    )


# --- rules -----------------------------------------------------------------------------------------------------------


def test_a_rule_for_programs() -> None:
    described = json.loads(torchlint_("rule", "TPL005", "--output-format", "json").stdout)
    assert (described["code"], described["name"], described["default"], described["fix"]) == (
        "TPL005",
        "requires-grad-typo",
        True,
        ["safe"],
    )
    assert "## Proof" in described["explanation"] and "```diff" in described["explanation"]
    assert [proof["verdict"] for proof in described["proofs"]] == ["proven"]


def test_a_rule_by_its_name() -> None:
    assert torchlint_("rule", "requires-grad-typo").stdout == torchlint_("rule", "TPL005").stdout


def test_all_rules_for_programs() -> None:
    described = json.loads(torchlint_("rule", "--all", "--output-format", "json").stdout)
    assert [each["code"] for each in described] == [rule.code for rule in all_rules()]
    assert all(each["summary"].startswith("Finds ") for each in described)
