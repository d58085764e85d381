"""A file has so much time, and the run goes on without it."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from command import torchlint_
from torchlint.engine.deadline import TimeIsUpError, deadline
from torchlint.engine.examination import Task, examine
from torchlint.rules import all_rules

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such clock")

TYPO = "import torch\np = torch.nn.Linear(1, 1).weight\np.requres_grad = False\n"
LONG = "import torch\n" + "".join(f"def f{i}(x):\n    y = x.data\n    y.add_(1)\n    return y.data\n" for i in range(20_000))


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_takes_too_long_is_one_error(jobs: str) -> None:
    for name in ("a.py", "c.py"):
        Path(name).write_text(TYPO)
    Path("b.py").write_text(LONG)
    finished = torchlint_("--timeout-per-file", "2", "--output-format", "concise", "-j", jobs, ".")
    assert finished.stderr == "b.py: error: cannot lint: it takes longer than 2 s (see timeout-per-file)\n"
    lines = finished.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["a.py", "c.py"]
    assert (lines[-1], finished.returncode) == ("1 file could not be linted in full: b.py.", 2)


def test_standard_input_and_fixes() -> None:
    finished = torchlint_("--timeout-per-file", "0.3", "--fix", "-", given=LONG)
    assert finished.stdout == LONG
    assert finished.stderr.startswith("<stdin>: error: cannot lint: it takes longer than 0.3 s")


def test_the_limit_can_be_configured() -> None:
    Path("b.py").write_text(LONG)
    Path("torchlint.toml").write_text("timeout-per-file = 0.25\n")
    assert "longer than 0.25 s" in torchlint_("b.py").stderr
    assert "timeout-per-file = 0.25\n" in torchlint_("--show-settings").stdout
    Path("torchlint.toml").write_text('timeout-per-file = "1 s"\n')
    assert 'expected a number of seconds, found "1 s"' in torchlint_("b.py").stderr
    assert "not a number of seconds: 'x'" in torchlint_("--timeout-per-file", "x", "b.py").stderr


@pytest.mark.parametrize("seconds", [0, 60])
def test_within_the_limit_nothing_changes(seconds: float) -> None:
    assert len(examine(TYPO.encode(), "a.py", Task(all_rules(), timeout=seconds)).diagnostics) == 1


def test_what_handles_errors_does_not_handle_the_end_of_time() -> None:
    def work() -> None:
        while True:
            try:
                sum(range(100))
            except Exception:  # not even this
                return

    with pytest.raises(TimeIsUpError), deadline(0.05):
        work()


def test_an_end_of_time_that_is_lost_is_told_in_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    class RungAtTheEnd:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGVTALRM)

    def lost() -> None:
        with contextlib.suppress(TimeIsUpError):
            signal.raise_signal(signal.SIGVTALRM)

    def lost_in_a_finalizer() -> None:
        held = RungAtTheEnd()
        del held

    def made_another_error() -> None:
        lost()
        raise SystemError("AST constructor recursion depth mismatch")  # as Python 3.11's parser does

    for work in (lost, lost_in_a_finalizer, made_another_error):
        with pytest.raises(TimeIsUpError), deadline(60):
            work()
    assert capsys.readouterr().err == ""
    with pytest.raises(SystemError), deadline(60):
        raise SystemError("another one")


def test_beside_the_main_thread_there_is_no_limit() -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(examine(TYPO.encode(), "a.py", Task(all_rules(), timeout=0.001))))
    thread.start()
    thread.join()
    assert [each.code for each in found[0].diagnostics] == ["TPL005"]


def test_the_clock_is_stopped_and_the_handler_given_back() -> None:
    program = """
import signal, time
from torchlint.engine.deadline import deadline
with deadline(0.2):
    pass
assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL
end = time.process_time() + 0.4
while time.process_time() < end:
    pass
"""
    subprocess.run([sys.executable, "-c", program], check=True)
