"""Many files: what comes of them in this process and in workers, what goes wrong, and what the cache spares."""

from __future__ import annotations

import builtins
import errno
import gc
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import libcst as cst
import pytest

from command import ROOT
from torchlint.diagnostic import Applicability, Diagnostic
from torchlint.engine import cache as cache_module
from torchlint.engine.cache import Cache, settings_key
from torchlint.engine.runner import Action, Outcome, Task, examine, run
from torchlint.rules.catalogue import Entry
from torchlint.rules.rule import Rule
from torchlint.rules.selection import select_rules
from torchlint.rules.triggers import Syntax
from torchlint.text.replacement import FileChangedError, replace_file

TYPO = "import torch\np = torch.ones(1)\np.requres_grad = False\n"
RIGHT = "import torch\np = torch.ones(1)\np.requires_grad = False\n"
UNSAFE = "import torch\nw = torch.nn.Linear(2, 2).weight\nw.data = torch.ones(2, 2)\n"
LONG = TYPO + "x = 1\n" * 10_000  # enough of them for workers to start


class Accident(Rule):
    """Has on command the accidents that a rule may have."""

    code = "TPL999"
    name = "accident"
    triggers = (Syntax("SimpleString"),)
    needs = (("accident",),)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        match node.evaluated_value:
            case "raise accident":
                raise ZeroDivisionError("two\nlines")
            case "kill accident":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit accident":
                os._exit(3)
            case "recurse accident":
                self.visit_SimpleString(node)
            case "memory accident":
                raise MemoryError
            case "report accident":
                self.report(node, "an accident")


LINT = Task((*select_rules(["TPL005"]), Entry.of(Accident)))


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make(**texts: str) -> list[str]:
    """Writes a file for each keyword; gives their names."""
    for name, text in texts.items():
        Path(f"{name}.py").write_text(text)
    return [f"{name}.py" for name in texts]


def said(outcomes: list[Outcome]) -> list[str]:
    """What was reported, a line each."""
    return [
        line
        for outcome in outcomes
        for line in (
            *(f"{found.filename}:{found.location.row}: {found.code}" for found in outcome.diagnostics),
            *map(str, outcome.errors),
        )
    ]


# --- findings, wherever the work is done -----------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("filler", ["", LONG.removeprefix(TYPO)], ids=["small", "large"])
def test_findings_come_in_the_order_of_the_files(jobs: int, filler: str) -> None:
    names = make(**{f"f{number:02}": (TYPO if number % 3 else "x = 1\n") + filler for number in range(20)})
    expected = [f"f{number:02}.py:3: TPL005" for number in range(20) if number % 3]
    assert said(run(names, LINT, jobs=jobs)) == expected


def test_few_bytes_stay_in_this_process_and_many_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_trace(source: object, rules: object, options: object, **more: object) -> list[Diagnostic]:
        Path(str(os.getpid())).touch()
        return []

    monkeypatch.setattr("torchlint.engine.examination.lint", leave_trace)
    monkeypatch.setattr("torchlint.engine.workers.may_fork", lambda: True)  # a spawned process would not know of this
    run(make(a=TYPO, b=TYPO), LINT, jobs=2)
    assert [path.name for path in Path.cwd().iterdir() if path.name.isdigit()] == [str(os.getpid())]
    Path(str(os.getpid())).unlink()
    run(make(c=LONG, d=LONG, e=LONG), LINT, jobs=2)
    linters = [int(path.name) for path in Path.cwd().iterdir() if path.name.isdigit()]
    assert len(linters) == 2
    assert os.getpid() not in linters


def test_a_file_that_no_screen_lets_through_is_not_parsed() -> None:
    assert said(run(make(a="this is (not Python\n"), LINT)) == []


def test_files_that_cannot_be_linted_are_errors_and_the_others_are_linted() -> None:
    names = [*make(a="p.requres_grad = (\n", c=TYPO), "gone.py", "."]
    Path("b.py").write_bytes(b"# requres_grad \xff\n")
    outcomes = said(run([*names, "b.py"], LINT))
    assert outcomes[0].startswith("a.py:1:18: error: cannot parse as Python 3.")
    assert outcomes[1:] == [
        "c.py:3: TPL005",
        "gone.py: error: cannot read the file: No such file or directory",
        ".: error: cannot read the file: Is a directory",
        "b.py:1:16: error: not utf-8 text: byte 0xff (invalid start byte)",
    ]


def test_garbage_collection_is_as_it_was_afterwards() -> None:
    run(make(a=TYPO), LINT)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


# --- accidents -------------------------------------------------------------------------------------------------------


def test_an_unexpected_exception_is_one_line_that_asks_for_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(run(make(a="x = 'raise accident'\n", b=TYPO), LINT)) == [
        "a.py: error: internal error: ZeroDivisionError: two lines; please report this at"
        " https://github.com/torchlint/torchlint/issues (TORCHLINT_DEBUG=1 shows where it happened)",
        "b.py:3: TPL005",
    ]
    assert capsys.readouterr().err == ""


def test_its_traceback_is_there_for_who_wants_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TORCHLINT_DEBUG", "1")
    run(make(a="x = 'raise accident'\n"), LINT)
    assert "in visit_SimpleString" in capsys.readouterr().err


def test_endless_recursion_and_lack_of_memory_cost_one_file() -> None:
    assert said(run(make(a="x = 'recurse accident'\n", b="x = 'memory accident'\n", c=TYPO), LINT)) == [
        "a.py: error: cannot lint: the code is nested too deeply",
        "b.py: error: cannot lint: out of memory",
        "c.py:3: TPL005",
    ]


@pytest.mark.parametrize(("accident", "death"), [("kill", "killed by SIGKILL"), ("exit", "exit code 3")])
def test_a_worker_that_dies_costs_one_file(accident: str, death: str) -> None:
    texts = {f"f{number:02}": LONG for number in range(10)}
    texts["f04"] = texts["f07"] = f"x = '{accident} accident'\n"
    reported = said(run(make(**texts), LINT, jobs=2))
    assert reported[:4] == [f"f{number:02}.py:3: TPL005" for number in range(4)]
    assert reported[4].startswith(f"f04.py: error: internal error: the process that linted it died ({death}); please report")
    assert reported[7].startswith(f"f07.py: error: internal error: the process that linted it died ({death}); please report")
    assert [line for line in reported if "TPL005" in line] == [f"f{n:02}.py:3: TPL005" for n in range(10) if n not in (4, 7)]


def test_where_no_process_can_be_started_this_one_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("torchlint.engine.workers._Worker", refuse)
    names = make(a=LONG, b=LONG, c=LONG)
    assert said(run(names, LINT, jobs=4)) == ["a.py:3: TPL005", "b.py:3: TPL005", "c.py:3: TPL005"]


@pytest.mark.parametrize("is_cached", [False, True])
def test_spawned_workers_take_nothing_from_the_working_directory(is_cached: bool) -> None:
    make(multiprocessing="open('executed', 'w')\n", pickle="open('executed', 'w')\n")
    names, stop = make(a=LONG, b=LONG, c=LONG), threading.Event()
    environment, path, folder = dict(os.environ), list(sys.path), os.getcwd()
    waiting = threading.Thread(target=stop.wait)
    waiting.start()  # beside which nothing may be forked
    try:
        reported = said(run(names, LINT, jobs=2, cache=Cache("kept", "key") if is_cached else None))
    finally:
        stop.set()
        waiting.join()
    assert reported == ["a.py:3: TPL005", "b.py:3: TPL005", "c.py:3: TPL005"]
    assert not Path("executed").exists()
    assert (dict(os.environ), sys.path, os.getcwd()) == (environment, path, folder)


def test_no_worker_is_spawned_that_would_look_into_the_working_directory() -> None:
    make(multiprocessing="open('executed', 'w')\n", pickle="open('executed', 'w')\n", a=LONG, b=LONG, c=LONG)
    script = Path("elsewhere/script.py")
    script.parent.mkdir()
    script.write_text(
        f"import sys, threading, time\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from torchlint.cli.main import main\n"
        "if __name__ == '__main__':\n"
        "    threading.Thread(target=time.sleep, args=[600], daemon=True).start()\n"
        "    main(['--output-format', 'concise', '--jobs', '2', '--no-cache', 'a.py', 'b.py', 'c.py'])\n"
    )
    finished = subprocess.run([sys.executable, "-E", script], capture_output=True, text=True, check=True, timeout=60)
    assert re.findall(r"^(\w\.py):3:1: TPL005", finished.stdout, re.MULTILINE) == ["a.py", "b.py", "c.py"]
    assert not Path("executed").exists()


# --- fixing ----------------------------------------------------------------------------------------------------------


def codes_of(found: Iterable[Diagnostic]) -> list[str]:
    return [each.code for each in found]


def fixing(*codes: str, action: Action = Action.FIX, applicability: Applicability = Applicability.SAFE) -> Task:
    return Task(select_rules(codes), action, applicability)


@pytest.mark.parametrize("jobs", [1, 3])
def test_fixed_files_are_written(jobs: int) -> None:
    names = make(a=TYPO, b=LONG, c=LONG, d="x = 1\n")
    outcomes = run(names, fixing("TPL005"), jobs=jobs)
    assert [(outcome.diagnostics, codes_of(outcome.fixed)) for outcome in outcomes] == [((), ["TPL005"])] * 3
    assert Path("a.py").read_text() == RIGHT
    assert Path("c.py").read_text() == LONG.replace("requres", "requires")
    assert Path("d.py").read_text() == "x = 1\n"
    assert sorted(os.listdir()) == names


def test_unsafe_fixes_wait_for_permission() -> None:
    [name] = make(a=UNSAFE)
    [outcome] = run([name], fixing("TPL003"))
    assert (codes_of(outcome.diagnostics), outcome.fixed) == (["TPL003"], ())
    assert Path(name).read_text() == UNSAFE
    [outcome] = run([name], fixing("TPL003", applicability=Applicability.UNSAFE))
    assert (outcome.diagnostics, codes_of(outcome.fixed)) == ((), ["TPL003"])


def test_encoding_byte_order_mark_and_newlines_stay() -> None:
    latin = b"# coding: latin-1\r\n# \xe9\r\nimport torch\rp = torch.ones(1)\np.requres_grad = False"
    Path("latin.py").write_bytes(latin)
    Path("marked.py").write_bytes(b"\xef\xbb\xbf" + TYPO.encode())
    run(["latin.py", "marked.py"], fixing("TPL005"))
    assert Path("latin.py").read_bytes() == latin.replace(b"requres", b"requires")
    assert Path("marked.py").read_bytes() == b"\xef\xbb\xbf" + RIGHT.encode()


def test_a_file_that_cannot_be_written_keeps_its_text_and_its_findings() -> None:
    [name] = make(a=TYPO)
    Path(name).chmod(0o444)
    assert said(run([name], fixing("TPL005"))) == [
        "a.py:3: TPL005",
        "a.py: error: cannot write the file: the file is read-only",
    ]
    assert Path(name).read_text() == TYPO


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    [name] = make(a=TYPO)
    monkeypatch.setattr(os, "fsync", full)
    assert said(run([name], fixing("TPL005"))) == [
        "a.py:3: TPL005",
        "a.py: error: cannot write the file: No space left on device",
    ]
    assert Path(name).read_text() == TYPO
    assert os.listdir() == [name]


def test_a_file_that_changes_meanwhile_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    [name] = make(a=TYPO)
    flush = os.fsync

    def change(descriptor: int) -> None:
        flush(descriptor)
        Path(name).write_text("edited\n")

    monkeypatch.setattr(os, "fsync", change)
    assert said(run([name], fixing("TPL005"))) == [
        "a.py:3: TPL005",
        "a.py: error: not fixed: the file changed while it was being linted",
    ]
    assert Path(name).read_text() == "edited\n"
    assert os.listdir() == [name]


def test_a_fix_that_the_encoding_has_no_bytes_for_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "# coding: ascii\n" + TYPO
    Path("a.py").write_text(text)

    def fix(source: Any, rules: object, applicability: object, options: object, **more: object) -> Any:
        from torchlint.engine.fixer import FixResult

        return FixResult(source.text + "é", (), ())

    monkeypatch.setattr("torchlint.engine.fixer.fix", fix)
    assert said(run(["a.py"], fixing("TPL005"))) == [
        "a.py:4: TPL005",
        "a.py: error: cannot fix: 'é' cannot be written in ascii",
    ]
    assert Path("a.py").read_text() == text


def test_a_fix_that_would_break_the_file_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fix(source: Any, rules: object, applicability: object, options: object, **more: object) -> Any:
        from torchlint.engine.fixer import FixResult

        [found] = examine(TYPO.encode(), "a.py", LINT).diagnostics
        return FixResult(source.text, (), (found,), (found,))

    monkeypatch.setattr("torchlint.engine.fixer.fix", fix)
    assert said(run(make(a=TYPO), fixing("TPL005"))) == [
        "a.py:3: TPL005",
        "a.py:3:1: error: internal error: the fix of TPL005 went wrong and was dropped; please report this at"
        " https://github.com/torchlint/torchlint/issues (TORCHLINT_DEBUG=1 shows where it happened)",
    ]


def test_a_diff_changes_nothing() -> None:
    text = "é = 1\n" + TYPO.rstrip("\n")
    [name] = make(a=text)
    [outcome] = run([name], fixing("TPL005", action=Action.DIFF))
    assert outcome.diff == (
        "--- a.py\n+++ a.py\n@@ -1,4 +1,4 @@\n é = 1\n import torch\n p = torch.ones(1)\n"
        "-p.requres_grad = False\n\\ No newline at end of file\n"
        "+p.requires_grad = False\n\\ No newline at end of file\n"
    )
    assert Path(name).read_text() == text


def test_a_diff_keeps_carriage_returns() -> None:
    Path("a.py").write_bytes(TYPO.replace("\n", "\r\n").encode())
    [outcome] = run(["a.py"], fixing("TPL005", action=Action.DIFF))
    assert outcome.diff.endswith("-p.requres_grad = False\r\n+p.requires_grad = False\r\n")


# --- replacing a file ------------------------------------------------------------------------------------------------


def test_replacing_keeps_the_mode() -> None:
    Path("a.py").write_bytes(b"old")
    Path("a.py").chmod(0o755)
    replace_file("a.py", b"old", b"new")
    assert Path("a.py").read_bytes() == b"new"
    assert stat.S_IMODE(os.stat("a.py").st_mode) == 0o755


def test_replacing_through_a_link_replaces_the_target() -> None:
    Path("there").mkdir()
    Path("there/a.py").write_bytes(b"old")
    os.symlink("there/a.py", "link.py")
    replace_file("link.py", b"old", b"new")
    assert os.readlink("link.py") == "there/a.py"
    assert Path("there/a.py").read_bytes() == b"new"
    assert os.listdir("there") == ["a.py"]


def test_replacing_leaves_other_hard_links_alone() -> None:
    Path("a.py").write_bytes(b"old")
    os.link("a.py", "b.py")
    replace_file("a.py", b"old", b"new")
    assert (Path("a.py").read_bytes(), Path("b.py").read_bytes()) == (b"new", b"old")


def test_nothing_is_left_behind_when_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    Path("a.py").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_file("a.py", b"old", b"new")
    assert os.listdir() == ["a.py"]
    assert Path("a.py").read_bytes() == b"old"


def test_a_file_with_other_content_is_not_replaced() -> None:
    Path("a.py").write_bytes(b"other")
    with pytest.raises(FileChangedError):
        replace_file("a.py", b"old", b"new")
    assert Path("a.py").read_bytes() == b"other"


# --- the cache -------------------------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The Python files that are opened from now on."""
    opened: list[str] = []
    original = builtins.open

    def spy(file: Any, *arguments: Any, **options: Any) -> Any:
        if str(file).endswith(".py"):
            opened.append(os.path.basename(file))
        return original(file, *arguments, **options)

    monkeypatch.setattr(builtins, "open", spy)
    return opened


def settle(*names: str) -> None:
    """Makes files old enough for their metadata to be trusted."""
    for name in names:
        os.utime(name, ns=(1_600_000_000_123_456_789, 1_600_000_000_123_456_789))


@pytest.fixture(autouse=True)
def _changes_show_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_TICK", -(10**12))
    monkeypatch.setattr(cache_module, "_COARSE_TICK", -(10**12))


def cached(names: list[str], *, key: str = "key") -> list[str]:
    return said(run(names, LINT, cache=Cache(".torchlint_cache", key)))


BROKEN = "p.requres_grad = (\n"


def test_a_second_run_reads_nothing_and_says_the_same(reads: list[str]) -> None:
    names = make(a=TYPO, b="x = 1\n", c=RIGHT + "# requres_grad\n", d=BROKEN)
    first = cached(names)
    assert first[0] == "a.py:3: TPL005"
    assert first[1].startswith("d.py:1:18: error: cannot parse")
    assert sorted(reads) == names
    reads.clear()
    assert cached(names) == first
    assert reads == []


def test_cached_findings_are_the_same_in_every_part() -> None:
    names = make(a=TYPO.replace("False", "False  # \U0001f525é"), b=UNSAFE, c=BROKEN)
    task = Task(select_rules(["ALL"]))
    plain = run(names, task)
    for _ in range(2):
        again = run(names, task, cache=Cache("cache", "key"))
        assert [(outcome.diagnostics, outcome.errors) for outcome in again] == [
            (outcome.diagnostics, outcome.errors) for outcome in plain
        ]
    assert len(plain) == 3


def test_a_changed_file_is_linted_again(reads: list[str]) -> None:
    names = make(a=TYPO, b=TYPO)
    cached(names)
    reads.clear()
    make(a="\n" + TYPO)
    assert cached(names) == ["a.py:4: TPL005", "b.py:3: TPL005"]
    assert reads == ["a.py"]


def test_a_change_that_keeps_size_and_modification_time_is_noticed() -> None:
    names = make(a=TYPO)
    settle(*names)
    assert cached(names) == ["a.py:3: TPL005"]
    time.sleep(0.02)  # a few ticks of the file system's clock
    make(a=TYPO.replace("requres_grad", "something_el"))
    settle(*names)
    assert cached(names) == []


def test_a_touched_file_is_read_but_not_linted(reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    names = make(a=TYPO)
    cached(names)
    reads.clear()
    settle(*names)
    monkeypatch.setattr("torchlint.engine.examination.lint", lambda source, rules: pytest.fail("linted again"))
    assert cached(names) == ["a.py:3: TPL005"]
    assert cached(names) == ["a.py:3: TPL005"]
    assert reads == ["a.py"]


def test_a_file_that_was_just_written_is_compared_by_content(reads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_TICK", 10**12)
    names = make(a=TYPO)
    cached(names)
    reads.clear()
    assert cached(names) == ["a.py:3: TPL005"]
    assert reads == ["a.py"]


def test_other_settings_have_other_results() -> None:
    names = make(a=TYPO)
    assert cached(names, key="one") == ["a.py:3: TPL005"]
    assert said(run(names, Task(select_rules(["TPL001"])), cache=Cache(".torchlint_cache", "two"))) == []
    assert cached(names, key="one") == ["a.py:3: TPL005"]


def test_the_settings_key_differs_by_what_results_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {settings_key(["TPL001"]), settings_key(["TPL001", "TPL002"]), settings_key(["TPL001"], "target-torch=2.0")}
    monkeypatch.setattr(cache_module, "__version__", "9.9.9")
    keys.add(settings_key(["TPL001"]))
    assert len(keys) == 4
    assert settings_key(["TPL001"]) in keys


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\x00", b"[" * 100_000, None])
def test_a_damaged_cache_is_an_empty_one(damage: bytes | None) -> None:
    names = make(a=TYPO)
    cached(names)
    [shard] = Path(".torchlint_cache/key").iterdir()
    intact = shard.read_bytes()
    shard.write_bytes(intact.replace(b"TPL005", b"TPL006") if damage is None else damage)
    assert cached(names) == ["a.py:3: TPL005"]
    assert shard.read_bytes() == intact


def test_a_cache_that_cannot_be_written_is_done_without() -> None:
    Path("cache").write_text("a file, not a folder")
    assert said(run(make(a=TYPO), LINT, cache=Cache("cache", "key"))) == ["a.py:3: TPL005"]
    assert Path("cache").read_text() == "a file, not a folder"


def test_errors_that_another_run_may_not_have_are_not_kept() -> None:
    assert "internal error" in cached(make(a="x = 'raise accident'\n"))[0]
    assert "internal error" in cached(["a.py"])[0]
    assert cached(["gone.py"]) == ["gone.py: error: cannot read the file: No such file or directory"]
    make(gone=TYPO)
    assert cached(["gone.py"]) == ["gone.py:3: TPL005"]


def test_the_folder_says_that_it_is_a_cache() -> None:
    cached(make(a=TYPO))
    assert Path(".torchlint_cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55\n")
    assert Path(".torchlint_cache/.gitignore").read_text().endswith("\n*\n")
    assert sorted(os.listdir(".torchlint_cache")) == [".gitignore", "CACHEDIR.TAG", "key"]


def test_files_that_are_gone_are_forgotten() -> None:
    names = make(a=TYPO, b=TYPO)
    cached(names)
    Path("a.py").unlink()
    make(b="\n" + TYPO)
    cached(["b.py"])
    [shard] = Path(".torchlint_cache/key").iterdir()
    assert b'"b.py"' in shard.read_bytes()
    assert b'"a.py"' not in shard.read_bytes()


def test_a_run_over_some_files_keeps_what_is_known_of_others(reads: list[str]) -> None:
    names = make(a=TYPO, b=TYPO)
    cached(names)
    make(b="\n" + TYPO)
    cached(["b.py"])
    reads.clear()
    assert cached(names) == ["a.py:3: TPL005", "b.py:4: TPL005"]
    assert reads == []


# --- leaving, and starting beside others -----------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended there without a word")
@pytest.mark.parametrize("moment", ["atexit.register(leave)", "keep = AtTheEnd()", "threading._register_atexit(leave)"])
def test_a_worker_that_is_told_to_leave_while_python_is_leaving_says_nothing(moment: str) -> None:
    program = f"""
import atexit, os, signal, threading
from torchlint.engine.workers import _leave
signal.signal(signal.SIGTERM, _leave)
def leave(kill=os.kill, own=os.getpid(), number=signal.SIGTERM):
    kill(own, number)
class AtTheEnd:
    def __del__(self, leave=leave):
        leave()
{moment}
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert finished.stderr == ""
    assert finished.returncode in (128 + signal.SIGTERM, -signal.SIGTERM)  # the latter when Python knows no handlers any more


@pytest.mark.skipif(sys.platform != "linux", reason="workers are no forks elsewhere")
def test_beside_a_thread_that_python_does_not_know_of_nothing_is_forked() -> None:
    program = """
import _thread, threading, time
from torchlint.engine.workers import may_fork
assert may_fork()
_thread.start_new_thread(time.sleep, (60,))
assert threading.active_count() == 1
assert not may_fork()
"""
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="workers are no forks elsewhere")
def test_python_has_no_reason_to_warn_of_forks() -> None:
    """Python 3.12 and later warn of each fork beside other threads, and go on where warnings are errors."""
    make(a=LONG, b=LONG, c=LONG)
    program = """
import os
from torchlint.cli.main import main
forks = []
os.register_at_fork(before=lambda: forks.append(1))
status = main(["--isolated", "--no-cache", "--jobs", "2", "--output-format", "concise", "a.py", "b.py", "c.py"])
assert (status, len(forks)) == (1, 2), (status, forks)
"""
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run([sys.executable, "-W", "always", "-c", program], capture_output=True, text=True, env=path)
    assert (finished.returncode, finished.stderr) == (0, "")
    assert re.findall(r"^(\w\.py):3:1: TPL005", finished.stdout, re.MULTILINE) == ["a.py", "b.py", "c.py"]
