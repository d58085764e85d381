"""What the command does at a terminal: progress, watching, completion, and the pages of rules for programs."""

from __future__ import annotations

import io
import json
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import IO
from unicodedata import east_asian_width

import pytest

from command import environment, torchlint_
from terminal import ESCAPE, on_terminal
from torchlint.cli.progress import Progress
from torchlint.rules import all_rules

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
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
        assert threading.active_count() == 1  # beside another thread no process may be forked
    shown = terminal.getvalue()
    assert "Linting" in shown and "1/3" in shown
    assert shown.endswith("\x1b[2K")  # the line is empty again
    assert shown.rindex(SHOW_CURSOR) > shown.rindex(HIDE_CURSOR)


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


# --- reports ---------------------------------------------------------------------------------------------------------

LONG = """\
import torch


def train(head, loader):
    説明, a_name_that_is_long, another_one_that_is_longer = log("some text", head.weight.data.clamp_(-1, 1), 1, 2, 3)
"""
FLAGGED = "head.weight.data.clamp_(-1, 1)"


def cells(text: str) -> list[str]:
    """A character for each column of a line on a terminal; the second one of a wide character is empty."""
    return [cell for character in text for cell in ([character, ""] if east_asian_width(character) == "W" else [character])]


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_full_format_fits_the_terminal_and_underlines_what_is_meant(columns: int) -> None:
    Path("a.py").write_text(LONG)
    lines = ESCAPE.sub("", on_terminal("--select", "TPL001", "a.py", columns=columns)).splitlines()
    assert [line for line in lines if len(cells(line)) > columns] == []
    code, underlined = "", ""
    for above, line in pairwise(lines):
        if re.match(r" *5? *\| .*[^ ^]", line):
            code += line.partition("| ")[2]
        if "^" in line:
            assert set(line.partition("|")[2]) <= {" ", "^"}
            underlined += "".join(cells(above)[line.index("^") : line.rindex("^") + 1])
    assert underlined == FLAGGED
    assert code.replace(" ", "") == LONG.splitlines()[4].replace(" ", "")


def test_messages_are_folded_between_words() -> None:
    Path("a.py").write_text(TYPO)
    first, second, *_ = ESCAPE.sub("", on_terminal("a.py", columns=60)).splitlines()
    piped = torchlint_("--no-cache", "a.py").stdout.splitlines()[0]
    assert f"{first.rstrip()} {second}".startswith(piped[:100]) and len(piped) > 60


def test_codes_lead_to_the_pages_of_their_rules() -> None:
    Path("a.py").write_text(TYPO)
    for arguments in (("a.py",), ("--output-format", "concise", "a.py"), ("--statistics", "a.py")):
        shown = on_terminal(*arguments)
        url = "https://github.com/torchlint/torchlint/blob/main/docs/rules/TPL005.md"
        assert re.search(rf"\x1b\]8;[^;]*;{re.escape(url)}\x1b\\\x1b\[1;31mTPL005\x1b\[0m\x1b\]8;;\x1b\\", shown)


def test_a_finding_of_the_concise_formats_is_one_line_however_narrow_the_terminal_is() -> None:
    Path("a.py").write_text(TYPO)
    for name in ("concise", "grouped"):
        shown = ESCAPE.sub("", on_terminal("--output-format", name, "a.py", columns=40))
        assert shown.splitlines()[:2] == torchlint_("--no-cache", "--output-format", name, "a.py").stdout.splitlines()[:2]


def test_no_colours_by_request() -> None:
    Path("a.py").write_text(TYPO)
    Path("b.py").write_text("x = (\n")
    for more in ((), ("--diff",), ("--statistics",)):
        assert "\x1b" not in on_terminal(*more, "a.py", "b.py", NO_COLOR="1")
        assert "\x1b" not in on_terminal("--color", "never", *more, "a.py", "b.py", FORCE_COLOR="1")
    assert "\x1b[1;31mTPL005" in on_terminal("--color", "always", "a.py", NO_COLOR="1")


def test_a_terminal_that_can_only_write_gets_what_a_pipe_gets() -> None:
    Path("a.py").write_text(LONG)
    assert on_terminal("--select", "TPL001", "a.py", TERM="dumb") == torchlint_("--select", "TPL001", "a.py").stdout


def test_colours_that_are_asked_for_in_a_pipe_are_markup_only() -> None:
    Path("a.py").write_text(LONG)
    for name in ("full", "concise", "grouped"):
        arguments = ("--no-cache", "--select", "TPL001", "--output-format", name, "a.py")
        plain = torchlint_(*arguments).stdout
        for coloured in (torchlint_(*arguments, FORCE_COLOR="1"), torchlint_(*arguments, "--color", "always", NO_COLOR="1")):
            assert "\x1b[1;31mTPL001\x1b[0m" in coloured.stdout
            assert re.sub(r"\x1b\[[0-9;]*m", "", coloured.stdout) == plain
        assert torchlint_(*arguments, "--color", "never", FORCE_COLOR="1").stdout == plain


def test_formats_for_programs_are_the_same_on_a_terminal() -> None:
    Path("a.py").write_text(TYPO)
    for name in ("json", "json-lines", "github", "gitlab", "junit"):
        assert on_terminal("--output-format", name, "a.py") == torchlint_("--output-format", name, "a.py").stdout


def test_diffs_are_coloured_on_a_terminal_and_for_patch_in_a_pipe() -> None:
    Path("a.py").write_text(TYPO + "\tx = '\x1b[2J'\n".lstrip())
    shown = on_terminal("--diff", "a.py")
    assert "\x1b[31m-p.requres_grad = False\x1b[0m\n\x1b[32m+p.requires_grad = False\x1b[0m\n" in shown
    assert " x = '␛[2J'\n" in shown
    piped = torchlint_("--no-cache", "--diff", "a.py", FORCE_COLOR="1").stdout
    assert "\n-p.requres_grad = False\n+p.requires_grad = False\n x = '\x1b[2J'\n" in piped


def test_errors_stand_out_on_a_terminal() -> None:
    Path("a.py").write_text("p.requres_grad = (\n")
    shown = on_terminal("a.py")
    assert shown.startswith("\x1b[1ma.py:1:18\x1b[0m: \x1b[1;31merror\x1b[0m: cannot parse as Python ")
    piped = torchlint_("--no-cache", "a.py")
    assert ESCAPE.sub("", shown).replace(" \n", " ") == piped.stderr + piped.stdout


def test_the_page_of_a_rule_is_drawn_on_a_terminal_and_is_markdown_in_a_pipe() -> None:
    shown = ESCAPE.sub("", on_terminal("rule", "TPL005"))
    piped = torchlint_("rule", "TPL005").stdout
    assert "## Why is this bad" in piped and "```python" in piped
    assert "Why is this bad" in shown and "#" not in shown.partition("More examples")[0] and "```" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "\x1b" not in on_terminal("rule", "TPL005", NO_COLOR="1")
    assert on_terminal("rule", "TPL005", TERM="dumb") == piped


def test_rich_is_loaded_for_terminals_alone() -> None:
    Path("a.py").write_text(TYPO)
    given = ("import sys; from torchlint.cli.main import main; main(sys.argv[1:]); "
             "print('rich' in sys.modules, file=open('loaded', 'w'))")  # fmt: skip
    for arguments in (("a.py",), ("--diff", "a.py"), ("rule", "TPL005"), ("b.py",), ("--output-format", "json", "a.py")):
        subprocess.run([sys.executable, "-c", given, *arguments], capture_output=True, env=environment(), check=True)
        assert Path("loaded").read_text() == "False\n", arguments
    assert "rich" not in on_terminal("--version", PYTHONPROFILEIMPORTTIME="1")
    assert "rich.console" in on_terminal("a.py", PYTHONPROFILEIMPORTTIME="1")
    plugin = "import sys, torchlint.flake8_plugin; print('rich' in sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", plugin], capture_output=True, text=True, env=environment(), check=True)
    assert loaded.stdout == "False\n"


# --- watching --------------------------------------------------------------------------------------------------------


INTERRUPTIBLE = """
import signal, sys
from torchlint.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs the tests may have been told to ignore it
sys.exit(main())
"""


def test_watch_reports_again_when_a_file_changes() -> None:
    pytest.importorskip("watchfiles")
    Path("a.py").write_text(TYPO)
    command = [sys.executable, "-u", "-c", INTERRUPTIBLE, "--watch", "--output-format", "concise", "."]
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
        wait_for(lines, "No findings.")
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


def test_watch_follows_the_configuration() -> None:
    pytest.importorskip("watchfiles")
    Path("src").mkdir()
    Path("src/a.py").write_text(TYPO)
    Path("torchlint.toml").write_text('extend = "base.txt"\n')  # above what is linted, and called like nothing that is watched
    Path("base.txt").write_text('ignore = ["TPL005"]\n')
    command = [sys.executable, "-u", "-m", "torchlint", "--watch", "--output-format", "concise", "src"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(PYTHONUNBUFFERED="1")
    )
    assert process.stdout is not None and process.stderr is not None
    lines: queue.Queue[str] = queue.Queue()
    for stream in (process.stdout, process.stderr):
        threading.Thread(target=forward, args=(stream, lines), daemon=True).start()
    try:
        wait_for(lines, "Watching for changes")
        Path("base.txt").write_text("")
        wait_for(lines, "src/a.py:3:1: TPL005")
        Path("torchlint.toml").write_text("select = [")
        wait_for(lines, "torchlint.toml:1:11: error: not TOML")
        Path("torchlint.toml").write_text('select = ["TPL001"]\n')
        wait_for(lines, "No findings.")
        Path("torchlint.toml").unlink()
        wait_for(lines, "src/a.py:3:1: TPL005")
        Path("src/pyproject.toml").write_text('[tool.torchlint]\nignore = ["TPL005"]\n')
        wait_for(lines, "No findings.")
    finally:
        process.kill()
        process.wait()


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
        ("--fix --select TPL40", ["TPL401", "TPL402", "TPL403", "TPL404", "TPL405", "TPL406"]),
        ("rule TPL10", ["TPL101", "TPL102", "TPL103", "TPL104", "TPL105", "TPL106", "TPL107", "TPL108", "TPL109"]),
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
        ["safe", "unsafe"],
    )
    assert "## Proof" in described["explanation"] and "```diff" in described["explanation"]
    assert [proof["verdict"] for proof in described["proofs"]] == ["proven"]


def test_a_rule_by_its_name() -> None:
    assert torchlint_("rule", "requires-grad-typo").stdout == torchlint_("rule", "TPL005").stdout


def test_all_rules_for_programs() -> None:
    described = json.loads(torchlint_("rule", "--all", "--output-format", "json").stdout)
    assert [each["code"] for each in described] == [rule.code for rule in all_rules()]
    assert all(each["summary"].startswith("Finds ") for each in described)
