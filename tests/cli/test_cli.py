"""The command as a user runs it: arguments, output, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import torchlint
from command import environment, torchlint_

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
RIGHT = "import torch\np = torch.ones(1)\np.requires_grad = False\n"
UNSAFE = "import torch\nw = torch.nn.Linear(2, 2).weight\nw.data = torch.ones(2, 2)\n"
CLEAN = "import torch\nx = torch.ones(1)\n"
BROKEN = "p.requres_grad = (\n"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(**texts: str) -> None:
    for name, text in texts.items():
        Path(f"{name}.py").write_text(text)


# --- linting ---------------------------------------------------------------------------------------------------------


def test_findings_are_shown_with_their_line() -> None:
    make(a=TYPO)
    result = torchlint_("a.py")
    lines = result.stdout.splitlines()
    assert lines[0].startswith("a.py:3:1: TPL005 [*] `requres_grad`")
    assert lines[1:4] == ["  |", "3 | p.requres_grad = False", "  | ^^^^^^^^^^^^^^"]
    assert lines[5].startswith("help: ")
    assert lines[-2:] == ["Found 1 error.", "[*] 1 fixable with the `--fix` option."]
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.parametrize("arguments", [(), (".",), ("check",), ("check", "."), ("src",), ("--no-cache", "src/a.py", "-j", "2")])
def test_the_paths_may_be_left_out_and_check_too(arguments: tuple[str, ...]) -> None:
    Path("src").mkdir()
    Path("src/a.py").write_text(TYPO)
    assert torchlint_(*arguments, "--output-format=concise").stdout.startswith("src/a.py:3:1: TPL005")


def test_options_may_stand_between_paths() -> None:
    make(a=TYPO, b=TYPO, c=TYPO)
    result = torchlint_("a.py", "--select", "TPL005", "b.py", "--output-format", "concise", "c.py")
    assert [line[:4] for line in result.stdout.splitlines()[:3]] == ["a.py", "b.py", "c.py"]


def test_what_follows_two_dashes_is_a_path() -> None:
    make(**{"-a": TYPO, "--fix": TYPO, "b": TYPO})
    result = torchlint_("b.py", "--output-format=concise", "--", "-a.py", "--fix.py")
    assert [line.split(":")[0] for line in result.stdout.splitlines()[:3]] == ["--fix.py", "-a.py", "b.py"]


def test_nothing_found() -> None:
    make(a=CLEAN)
    result = torchlint_("a.py")
    assert (result.stdout, result.stderr, result.returncode) == ("No findings.\n", "", 0)


def test_no_files() -> None:
    result = torchlint_(".")
    assert result.stderr == "warning: no Python files found under the given paths\n"
    assert result.returncode == 0


def test_exit_zero() -> None:
    make(a=TYPO)
    assert torchlint_("--exit-zero", "a.py").returncode == 0
    make(a=BROKEN)
    assert torchlint_("--exit-zero", "a.py").returncode == 2


def test_what_cannot_be_linted_is_one_line_each_and_the_rest_is_linted() -> None:
    make(a=TYPO, python2="import torch\nprint p.requres_grad\n", syntax=BROKEN, empty="", typo=TYPO)
    Path("bytes.py").write_bytes(b"# requres_grad \xff\n")
    Path("null.py").write_bytes(b"# requres_grad \0\n")
    os.mkfifo("pipe.py")
    result = torchlint_(".", "gone.py", "--output-format", "concise")
    assert result.returncode == 2
    assert [line.split(":")[0] for line in result.stdout.splitlines()[:2]] == ["a.py", "typo.py"]
    errors = result.stderr.splitlines()
    assert [line.partition(": error: ")[0] for line in errors] == [
        "gone.py",
        "pipe.py",
        "bytes.py:1:16",
        "null.py",
        "python2.py:2:1",
        "syntax.py:1:18",
    ]
    assert errors[0] == "gone.py: error: No such file or directory"
    assert errors[4].endswith("(Python 2 code)")


def test_a_file_name_that_is_no_text() -> None:
    Path(os.fsdecode(b"\xff.py")).write_text(TYPO)
    for name in ("concise", "full", "json"):
        result = torchlint_(".", "--output-format", name)
        assert (result.returncode, result.stderr) == (1, "")
        assert r"\udcff.py" in result.stdout


def test_a_terminal_without_unicode() -> None:
    make(a=TYPO.replace("False", "False  # é 日本"))
    result = torchlint_("a.py", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stderr) == (1, "")
    assert r"# \xe9 \u65e5\u672c" in result.stdout


def test_colour_is_for_terminals() -> None:
    make(a=TYPO)
    assert "\x1b[" not in torchlint_("a.py").stdout
    assert "\x1b[" in torchlint_("a.py", FORCE_COLOR="1").stdout
    assert "\x1b[" not in torchlint_("a.py", FORCE_COLOR="1", NO_COLOR="1").stdout


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_on_a_terminal(variables: dict[str, str], coloured: bool) -> None:
    make(a=TYPO)
    near, far = os.openpty()
    command = [sys.executable, "-m", "torchlint", "a.py"]
    subprocess.run(command, stdout=far, env=environment(**{"TERM": "xterm", **variables}), check=False)
    os.close(far)
    assert (b"\x1b[" in os.read(near, 100_000)) is coloured


def test_json() -> None:
    make(a=TYPO, b=BROKEN)
    result = torchlint_("--output-format", "json", ".")
    finding, error = json.loads(result.stdout)
    assert finding["code"] == "TPL005"
    assert finding["filename"] == os.path.abspath("a.py")
    assert finding["location"] == {"row": 3, "column": 1}
    assert finding["end_location"] == {"row": 3, "column": 15}
    assert finding["fix"]["applicability"] == "safe"
    assert finding["fix"]["edits"] == [
        {"content": "requires_grad", "location": {"row": 3, "column": 3}, "end_location": {"row": 3, "column": 15}}
    ]
    assert (error["code"], error["filename"]) == ("invalid-syntax", os.path.abspath("b.py"))
    assert result.returncode == 2


def test_columns_count_characters() -> None:
    make(a="import torch\nq = torch.ones(1)\n'é🔥'; q.requres_grad = 0\n")
    assert torchlint_("--output-format", "concise", "a.py").stdout.startswith("a.py:3:7: TPL005")


# --- fixing ----------------------------------------------------------------------------------------------------------


def test_fix() -> None:
    make(a=TYPO, b=UNSAFE, c=CLEAN)
    result = torchlint_("--fix", ".", "--output-format", "concise")
    assert Path("a.py").read_text() == RIGHT
    assert Path("b.py").read_text() == UNSAFE
    assert result.stdout.splitlines()[1:] == [
        "Found 2 errors (1 fixed, 1 remaining).",
        "No fixes available (1 hidden fix can be enabled with the `--unsafe-fixes` option).",
    ]
    assert result.returncode == 1


def test_everything_fixed() -> None:
    make(a=TYPO, b=UNSAFE)
    result = torchlint_("--fix", "--unsafe-fixes", ".")
    assert (result.stdout, result.stderr, result.returncode) == ("Found 2 errors (2 fixed, 0 remaining).\n", "", 0)
    assert torchlint_(".").stdout == "No findings.\n"


def test_unsafe_fixes_without_fix_are_announced_only() -> None:
    make(b=UNSAFE)
    result = torchlint_("--unsafe-fixes", "b.py", "--output-format", "concise")
    assert "TPL003 [*]" in result.stdout
    assert Path("b.py").read_text() == UNSAFE


WHY = "the value may have another shape, dtype or device, and is no longer shared"
"""Why the fix in `UNSAFE` is."""


def test_diff() -> None:
    make(a=TYPO, b=UNSAFE)
    result = torchlint_("--diff", ".")
    assert result.stdout == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n import torch\n p = torch.ones(1)\n"
        "-p.requres_grad = False\n+p.requires_grad = False\n"
    )
    assert result.stderr == (
        f"b.py:3:1: TPL003 Copy the value, under `torch.no_grad()` (unsafe, left out: {WHY})\n"
        "Would fix 1 error (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n"
    )
    assert result.returncode == 1
    assert Path("a.py").read_text() == TYPO


def test_diff_can_be_applied_by_patch() -> None:
    make(a=TYPO, b=UNSAFE)
    diff = torchlint_("--diff", "--unsafe-fixes", ".").stdout
    subprocess.run(["git", "apply", "-p0"], input=diff, text=True, check=True)
    fixed = Path("a.py").read_text(), Path("b.py").read_text()
    make(a=TYPO, b=UNSAFE)
    torchlint_("--fix", "--unsafe-fixes", ".")
    assert (Path("a.py").read_text(), Path("b.py").read_text()) == fixed
    assert fixed[0] == RIGHT


def test_diff_without_changes() -> None:
    make(b=UNSAFE)
    result = torchlint_("--diff", ".")
    assert (result.stdout, result.returncode) == ("", 0)
    assert result.stderr == (
        f"b.py:3:1: TPL003 Copy the value, under `torch.no_grad()` (unsafe, left out: {WHY})\n"
        "No errors would be fixed (1 hidden fix can be enabled with the `--unsafe-fixes` option).\n"
    )


def test_diff_says_why_a_fix_is_unsafe() -> None:
    make(b=UNSAFE)
    result = torchlint_("--diff", "--unsafe-fixes", ".")
    assert result.stderr == (f"b.py:3:1: TPL003 Copy the value, under `torch.no_grad()` (unsafe: {WHY})\nWould fix 1 error.\n")
    assert torchlint_("--diff", "--unsafe-fixes", "--quiet", ".").stderr == ""


def test_fix_and_diff_together_change_nothing() -> None:
    make(a=TYPO)
    assert torchlint_("--fix", "--diff", ".").returncode == 1
    assert Path("a.py").read_text() == TYPO


# --- standard input --------------------------------------------------------------------------------------------------


def test_standard_input() -> None:
    result = torchlint_("-", "--output-format", "concise", given=TYPO)
    assert result.stdout.startswith("<stdin>:3:1: TPL005")
    assert result.returncode == 1
    assert torchlint_("-", given=CLEAN).stdout == "No findings.\n"


def test_standard_input_has_a_name_if_given_one() -> None:
    result = torchlint_("-", "--stdin-filename", "src/m.py", "--output-format", "concise", given=TYPO)
    assert result.stdout.startswith("src/m.py:3:1: TPL005")
    [finding] = json.loads(torchlint_("-", "--stdin-filename", "src/m.py", "--output-format", "json", given=TYPO).stdout)
    assert finding["filename"] == os.path.abspath("src/m.py")


def test_fixing_standard_input_writes_the_text_to_standard_output_and_the_report_to_standard_error() -> None:
    result = torchlint_("--fix", "-", given=TYPO.replace("\n", "\r\n"))
    assert result.stdout == RIGHT.replace("\n", "\r\n")
    assert result.stderr == "Found 1 error (1 fixed, 0 remaining).\n"
    assert result.returncode == 0


@pytest.mark.parametrize("text", [CLEAN, UNSAFE, "", "# coding: latin-1\n# requres_grad \udce9\n"])
def test_fixing_standard_input_without_fixes_gives_it_back(text: str) -> None:
    assert torchlint_("--fix", "-", given=text.encode("utf-8", "surrogateescape")).stdout == text


def test_fixing_standard_input_that_is_no_python_gives_it_back() -> None:
    result = torchlint_("--fix", "-", given=BROKEN)
    assert (result.stdout, result.returncode) == (BROKEN, 2)
    assert result.stderr.startswith("<stdin>:1:18: error: cannot parse")


def test_a_diff_of_standard_input() -> None:
    result = torchlint_("--diff", "-", "--stdin-filename", "m.py", given=TYPO)
    assert result.stdout.startswith("--- m.py\n+++ m.py\n@@ -1,3 +1,3 @@\n")
    assert result.returncode == 1


def test_standard_input_goes_with_nothing_else() -> None:
    result = torchlint_("-", "a.py", given=TYPO)
    assert result.stderr == "torchlint: error: standard input (`-`) cannot be linted together with other paths\n"
    assert result.returncode == 2


# --- rules -----------------------------------------------------------------------------------------------------------


def reported(*arguments: str) -> list[str]:
    entries = json.loads(torchlint_(".", "--output-format", "json", "--no-cache", *arguments).stdout)
    return [entry["code"] for entry in entries]


def test_select_ignore_and_extend_select() -> None:
    make(a=TYPO, b=UNSAFE)
    assert reported() == ["TPL005", "TPL003"]
    assert reported("--select", "TPL003") == ["TPL003"]
    assert reported("--select", "TPL001,TPL005") == ["TPL005"]
    assert reported("--select", "TPL001", "--select", "TPL005") == ["TPL005"]
    assert reported("--select=TPL001", "--extend-select=TPL005") == ["TPL005"]
    assert reported("--ignore", "TPL005") == ["TPL003"]
    assert reported("--ignore", "ALL", "--extend-select", "TPL005") == ["TPL005"]


def test_quiet_leaves_the_findings_alone() -> None:
    Path("a.py").write_text(TYPO)
    loud = torchlint_("a.py", "--output-format", "concise")
    quiet = torchlint_("a.py", "--output-format", "concise", "--quiet")
    assert (quiet.returncode, quiet.stdout) == (1, loud.stdout.splitlines(keepends=True)[0])
    for option in ("--diff", "--write-baseline=known.json", "--add-noqa", "--fix"):
        assert torchlint_("a.py", "-q", option).stderr == ""
    finished = torchlint_("a.py", "-q")
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


@pytest.mark.parametrize("option", ["--select", "--ignore", "--extend-select"])
def test_an_unknown_code_is_refused_with_the_nearest(option: str) -> None:
    result = torchlint_(option, "TPL001,TPL1O1")
    assert result.stderr == "torchlint: error: unknown rule code `TPL1O1`; did you mean `TPL101`?\n"
    assert (result.stdout, result.returncode) == ("", 2)


def test_noqa() -> None:
    make(a=TYPO.replace("False", "False  # noqa: TPL005"), b=TYPO.replace("False", "False  # noqa: TPL001"))
    assert reported() == ["TPL005"]


def test_the_page_of_a_rule() -> None:
    result = torchlint_("rule", "TPL005")
    assert result.stdout.startswith(
        "# requires-grad-typo (TPL005)\n\nThis rule is on by default. What it finds is an error. "
        "Its fix is safe or, applied with `--unsafe-fixes` only, unsafe, depending on the code.\n\n"
        "## What it does\n"
    )
    for heading in ("## Why is this bad", "## Example", "## Use instead", "## Fix safety", "## References"):
        assert f"\n{heading}\n" in result.stdout
    assert result.returncode == 0


def test_the_page_of_an_unknown_rule() -> None:
    result = torchlint_("rule", "TPL05")
    assert result.stderr.startswith("torchlint: error: unknown rule code `TPL05`; did you mean `TPL")
    assert result.returncode == 2


def test_a_prefix_is_no_page() -> None:
    result = torchlint_("rule", "TPL0")
    assert result.stderr.startswith(
        "torchlint: error: `TPL0` stands for several rules, of which one is to be named: TPL001, TPL002, "
    )
    assert result.stderr.endswith(" more\n") and result.stderr.count("\n") == 1
    assert (result.stdout, result.returncode) == ("", 2)


def test_the_table_of_rules() -> None:
    lines = [line.split() for line in torchlint_("rule", "--all").stdout.splitlines()]
    assert lines[0] == ["code", "name", "severity", "default", "fix"]
    assert ["TPL001", "data-mutation", "error", "on", "safe", "or", "unsafe"] in lines
    assert ["TPL002", "data-access", "warning", "on", "safe", "or", "unsafe"] in lines
    assert ["TPL005", "requires-grad-typo", "error", "on", "safe", "or", "unsafe"] in lines


def test_prove_is_handed_on() -> None:
    assert "--device" in torchlint_("prove", "--help").stdout
    assert torchlint_("prove", "TPL1O1").returncode == 2


# --- the command itself ----------------------------------------------------------------------------------------------


def test_version() -> None:
    assert torchlint_("--version").stdout == f"torchlint {torchlint.__version__}\n"


def test_help_shows_the_commands_and_examples() -> None:
    text = torchlint_("--help").stdout
    for part in ("torchlint rule CODE", "torchlint prove", "torchlint --fix src/", "exit codes:", "--stdin-filename", "# noqa"):
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--nope",), "unrecognized argument: --nope"),
        (("--output-format", "xml"), "invalid choice: 'xml'"),
        (("-j", "0"), "not a number of processes: '0'"),
        (("-j", "-1"), "argument -j/--jobs"),
        (("--sel", "TPL001"), "unrecognized argument: --sel; did you mean `--select`?"),
        (("rule",), "one of the arguments CODE --all is required"),
    ],
)
def test_wrong_use(arguments: tuple[str, ...], message: str) -> None:
    result = torchlint_(*arguments)
    assert message in result.stderr
    assert result.returncode == 2


def imported(*arguments: str) -> set[str]:
    log = torchlint_(*arguments, python=("-X", "importtime")).stderr
    return {line.split("|")[-1].strip() for line in log.splitlines()}


def test_the_version_needs_next_to_nothing() -> None:
    modules = imported("--version")
    assert "torchlint.cli.main" in modules
    assert not modules & {"ast", "dataclasses", "json", "multiprocessing", "torch", "torchlint.rules", "tokenize", "subprocess"}


def test_a_run_that_parses_nothing_starts_nothing_and_loads_no_more_than_the_sieve_of_words() -> None:
    make(**{f"f{number}": "x = 1\n" * 20_000 for number in range(4)})
    modules = imported(".", "-j", "4")
    assert "torchlint.engine.runner" in modules
    assert not modules & {
        "multiprocessing",
        "difflib",
        "tempfile",
        "torch",
        "torchlint.engine.fixer",
        "torchlint.engine.findings",
        "torchlint.engine.workers",
        "torchlint.semantics",
        "torchlint.text.noqa",
        "torchlint.text.notebook",
        "libcst",
    }


@pytest.mark.skipif(sys.platform != "linux", reason="workers are no forks elsewhere")
def test_workers_load_nothing_that_the_process_they_are_forks_of_can_load_for_all() -> None:
    make(**{f"f{number}": "x = 1\n" * 8_000 + TYPO for number in range(6)})
    log = torchlint_("--no-cache", "-j", "2", ".", python=("-X", "importtime")).stderr
    modules = Counter(line.split("|")[-1].strip() for line in log.splitlines())
    assert modules["torchlint.engine.workers"] == 1
    assert {name: modules[name] for name in ("libcst", "torchlint.semantics", "torchlint.model")} == {
        "libcst": 1,
        "torchlint.semantics": 1,
        "torchlint.model": 1,
    }


def test_a_run_without_a_cache_loads_nothing_of_it() -> None:
    make(a="# w.requires_gard = True\n")
    modules = imported("--no-cache", "a.py")
    assert "torchlint.engine.findings" in modules
    assert not modules & {"hashlib", "json", "libcst", "torchlint.text.replacement"}  # libcst imports json


def test_the_cache_is_where_it_should_be() -> None:
    make(a=TYPO)
    torchlint_("--no-cache", ".")
    torchlint_("--no-cache", "--fix", "--diff", ".")
    torchlint_("-", given=TYPO)
    assert os.listdir() == ["a.py"]
    first = torchlint_(".")
    assert sorted(os.listdir()) == [".torchlint_cache", "a.py"]
    second = torchlint_(".")
    assert (second.stdout, second.returncode) == (first.stdout, 1)
    torchlint_("--cache-dir", "elsewhere/cache", ".")
    assert (Path("elsewhere/cache/CACHEDIR.TAG")).exists()


def test_a_closed_pipe_is_no_error() -> None:
    make(a=TYPO + "p.requres_grad = 1\n" * 2_000)
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "torchlint", "a.py"]
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False)
    os.close(writer)
    assert (result.returncode, result.stderr) == (1, b"")


def test_output_that_cannot_be_written_is_one_line() -> None:
    make(a=TYPO)
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "torchlint", "a.py"]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    assert (result.returncode, result.stderr) == (2, b"torchlint: error: No space left on device\n")


def test_a_working_directory_that_is_gone_is_one_line(tmp_path: Path) -> None:
    Path("gone").mkdir()
    script = 'cd gone && rmdir ../gone && exec "$0" -m torchlint .'
    result = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, env=environment(), check=False)
    assert (result.returncode, result.stderr) == (2, b"torchlint: error: No such file or directory\n")


SLEEPY = """
import signal, sys, time
from pathlib import Path
from torchlint.rules import Rule, Syntax, plugins
from torchlint.rules.catalogue import Entry

signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs the tests may have been told to ignore it

class Sleepy(Rule):
    code, name, triggers = "TPL998", "sleepy", (Syntax("SimpleString"),)

    def visit_SimpleString(self, node) -> None:
        Path(self.model.source.filename).with_suffix(".began").touch()
        time.sleep(60)

plugins.installed = lambda: (Entry.of(Sleepy),)
from torchlint.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_control_c_ends_the_command_and_its_workers_without_a_word(jobs: str) -> None:
    make(**{f"f{number}": "'sleep'\n" + "#" * 100_000 for number in range(3)})
    command = [sys.executable, "-c", SLEEPY, "--select", "TPL998", "-j", jobs, "."]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True
    )
    deadline = time.monotonic() + 30
    while len(list(Path().glob("*.began"))) < int(jobs) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)  # only when all that hold the pipes are gone
    assert (process.returncode, out, err) == (130, b"", b"")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_workers_do_not_outlive_a_killed_command() -> None:
    make(**{f"f{number}": "'sleep'\n" + "#" * 100_000 for number in range(3)})
    script = SLEEPY.replace("sleep(60)", "sleep(1)")
    process = subprocess.Popen(
        [sys.executable, "-c", script, "--select", "TPL998", "-j", "3", "."],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while len(list(Path().glob("*.began"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    out, err = process.communicate(timeout=30)
    assert (out, err) == (b"", b"")
