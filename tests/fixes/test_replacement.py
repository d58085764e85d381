"""Writing fixed files so that nothing can be lost, by the command as users run it where that is possible."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command import environment
from torchlint.text import replacement
from torchlint.text.replacement import FileChangedError, replace_file

OLD = b"import torch\np = torch.ones(1)\np.requres_grad = False\n"
NEW = OLD.replace(b"requres", b"requires")
FINDING = "a.py:3:1: TPL005"
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
LEFTOVER = ".torchlint-abcdef12.tmp"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    replacement._remove_leftovers.cache_clear()


def fix(
    *paths: str, before: tuple[str, ...] = (), prepare: Callable[[], None] | None = None, options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs ``torchlint --fix`` on ``paths``, behind the command ``before``."""
    command = [sys.executable, "-m", "torchlint", "--isolated", "--select", "TPL005", "--fix", *options, *paths]
    return subprocess.run(
        [*before, *command],
        capture_output=True,
        text=True,
        env=environment(),
        preexec_fn=prepare,
        timeout=60,
        check=False,
    )


def files() -> list[str]:
    """What is in the working directory, but for the cache."""
    return sorted(name for name in os.listdir() if name != ".torchlint_cache")


def make(name: str = "a.py", content: bytes = OLD) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# --- what stays ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755, 0o4755, 0o200 | 0o444])
def test_the_mode_stays(mode: int) -> None:
    path = make()
    path.chmod(mode)
    assert fix("a.py").returncode == 0
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert files() == ["a.py"]


@pytest.mark.skipif(not ROOT, reason="only the superuser can give files away")
def test_owner_and_group_stay_where_that_is_allowed() -> None:
    path = make()
    os.chown(path, 12345, 23456)
    path.chmod(0o6755)
    fix("a.py")
    status = path.stat()
    assert (path.read_bytes(), status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (NEW, 12345, 23456, 0o6755)


@pytest.mark.skipif(not ROOT or not shutil.which("setpriv"), reason="only the superuser can give files away")
def test_an_owner_that_cannot_be_kept_costs_the_set_id_bits_only() -> None:
    path = make()
    os.chown(path, 12345, 23456)
    path.chmod(0o6755)
    fix("a.py", before=("setpriv", "--bounding-set", "-chown"))
    status = path.stat()
    assert (path.read_bytes(), status.st_uid, stat.S_IMODE(status.st_mode)) == (NEW, os.geteuid(), 0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
def test_extended_attributes_stay() -> None:
    path = make()
    try:
        os.setxattr(path, "user.origin", b"here")
    except OSError:
        pytest.skip("no extended attributes on this file system")
    fix("a.py")
    assert path.read_bytes() == NEW
    assert os.getxattr(path, "user.origin") == b"here"


def test_links_stay_and_their_target_is_fixed() -> None:
    target = make("there/deep/a.py")
    os.symlink("deep/a.py", "there/first.py")
    os.symlink("there/first.py", "second.py")
    assert fix("second.py").returncode == 0
    assert (os.readlink("second.py"), os.readlink("there/first.py")) == ("there/first.py", "deep/a.py")
    assert (target.read_bytes(), target.is_symlink()) == (NEW, False)
    assert [*os.listdir("there/deep"), *sorted(os.listdir("there"))] == ["a.py", "deep", "first.py"]


def test_a_file_and_a_link_to_it_are_fixed_once() -> None:
    make()
    os.symlink("a.py", "link.py")
    assert "1 fixed" in fix(".", "link.py", "a.py").stdout
    assert Path("a.py").read_bytes() == NEW


def test_other_hard_links_keep_the_old_text() -> None:
    path = make()
    os.link(path, "other.txt")
    fix("a.py")
    assert (path.read_bytes(), Path("other.txt").read_bytes()) == (NEW, OLD)


def test_the_file_is_flushed_then_renamed_then_the_folder_is_flushed(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    flush, rename = os.fsync, os.replace

    def note_flush(descriptor: int) -> None:
        status = os.fstat(descriptor)
        happened.append("flush the folder" if stat.S_ISDIR(status.st_mode) else f"flush {status.st_size} bytes")
        flush(descriptor)

    def note_rename(source: str, target: str) -> None:
        assert os.path.dirname(source) == os.path.dirname(target)
        happened.append("rename")
        rename(source, target)

    make()
    monkeypatch.setattr(os, "fsync", note_flush)
    monkeypatch.setattr(os, "replace", note_rename)
    replace_file("a.py", OLD, NEW)
    assert happened == [f"flush {len(NEW)} bytes", "rename", "flush the folder"]


def test_a_folder_that_cannot_be_flushed_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    flush = os.fsync

    def refuse_folders(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        flush(descriptor)

    make()
    monkeypatch.setattr(os, "fsync", refuse_folders)
    replace_file("a.py", OLD, NEW)
    assert Path("a.py").read_bytes() == NEW


# --- what cannot be written ------------------------------------------------------------------------------------------


def assert_left_alone(finished: subprocess.CompletedProcess[str], reason: str) -> None:
    """Says what is wrong in one line, reports the finding, and leaves the old text and nothing else."""
    assert finished.stderr.splitlines() == [f"a.py: error: cannot write the file: {reason}"]
    assert FINDING in finished.stdout
    assert finished.returncode == 2
    assert Path("a.py").read_bytes() == OLD
    assert [name for name in files() if name.startswith(".torchlint-")] == []


def test_a_read_only_file() -> None:
    make().chmod(0o444)
    assert_left_alone(fix("a.py"), "the file is read-only")


def test_a_folder_that_cannot_be_written() -> None:
    make()
    ordinary = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search") if ROOT else ()
    if ROOT and not shutil.which("setpriv"):
        pytest.skip("the superuser may write everywhere")
    os.chmod(".", 0o555)
    try:
        finished = fix("a.py", before=ordinary)
    finally:
        os.chmod(".", 0o755)
    assert_left_alone(finished, "Permission denied")


def test_a_file_larger_than_the_process_may_write() -> None:
    import resource

    make(content=OLD + b"# and more\n" * 1000)
    finished = fix("a.py", prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
    assert finished.stderr.splitlines() == ["a.py: error: cannot write the file: File too large"]
    assert Path("a.py").read_bytes().startswith(OLD)
    assert files() == ["a.py"]


@pytest.mark.skipif(not ROOT or not shutil.which("unshare"), reason="only the superuser can mount a small disk")
def test_a_disk_that_is_full() -> None:
    full = """
        mkdir disk && mount -t tmpfs -o size=16k tmpfs disk && cp a.py disk && cd disk || exit 77
        head -c 1000000 /dev/zero > filler 2>&1
        "$@"; code=$?
        cmp a.py ../a.py && ls -A
        exit $code
    """
    make()
    mount = ("unshare", "--mount", "sh", "-c", full, "sh")
    finished = fix("a.py", before=mount, options=("--no-cache",))
    if finished.returncode == 77:
        pytest.skip("mounting is not allowed here")
    assert "a.py: error: cannot write the file: No space left on device" in finished.stderr.splitlines()
    assert finished.stdout.splitlines()[-2:] == ["a.py", "filler"]
    assert finished.returncode == 2


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_one_file_that_cannot_be_written_costs_no_other(jobs: str) -> None:
    filler = b"x = 1\n" * 10_000  # so much that workers are started
    for number in range(8):
        make(f"f{number}.py", OLD + filler)
    Path("f3.py").chmod(0o400)
    finished = fix(".", options=("--jobs", jobs))
    assert finished.stderr.splitlines() == ["f3.py: error: cannot write the file: the file is read-only"]
    assert [Path(name).read_bytes() == NEW + filler for name in files()] == [name != "f3.py" for name in files()]


# --- files that change meanwhile -------------------------------------------------------------------------------------


def removed() -> None:
    Path("a.py").unlink()


def edited() -> None:
    Path("a.py").write_bytes(OLD + b"# by hand\n")


def shortened() -> None:
    Path("a.py").write_bytes(OLD[:-1])


def replaced_by_a_copy() -> None:
    make("copy", OLD)
    os.rename("copy", "a.py")


def replaced_by_a_pipe() -> None:
    Path("a.py").unlink()
    os.mkfifo("a.py")


def replaced_by_a_folder() -> None:
    Path("a.py").unlink()
    Path("a.py").mkdir()


def protected() -> None:
    Path("a.py").chmod(0o400)


@pytest.mark.parametrize(
    "change",
    [removed, edited, shortened, replaced_by_a_copy, replaced_by_a_pipe, replaced_by_a_folder, protected],
    ids=lambda change: change.__name__,
)
def test_what_changed_meanwhile_is_left_alone(change: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    flush = os.fsync

    def flush_and_change(descriptor: int) -> None:
        flush(descriptor)
        change()

    make()
    monkeypatch.setattr(os, "fsync", flush_and_change)
    monkeypatch.setattr(os, "replace", lambda *arguments: pytest.fail("replaced it"))
    with pytest.raises((FileChangedError, OSError)):
        replace_file("a.py", OLD, NEW)
    assert [name for name in files() if name != "a.py"] == []
    if os.path.isfile("a.py"):
        assert Path("a.py").read_bytes() != NEW


def test_a_link_that_leads_elsewhere_meanwhile_is_followed_to_other_content() -> None:
    make("one.py")
    make("two.py", b"two\n")
    os.symlink("two.py", "link.py")
    with pytest.raises(FileChangedError):
        replace_file("link.py", OLD, NEW)
    assert (Path("one.py").read_bytes(), Path("two.py").read_bytes()) == (OLD, b"two\n")


# --- stopped at any moment -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "moment", ["os.access", "tempfile.mkstemp", "os.open", "os.fdopen", "os.chmod", "os.fsync", "os.fstat", "os.replace"]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_interrupted_at_any_moment_the_file_is_old_or_new(moment: str, when: str) -> None:
    module, _, name = moment.partition(".")
    original = getattr(sys.modules[module], name)

    def interrupt(*arguments: Any, **options: Any) -> None:
        patched.undo()
        if when == "after":
            original(*arguments, **options)
        raise KeyboardInterrupt

    make().chmod(0o640)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(moment, interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace_file("a.py", OLD, NEW)
    assert Path("a.py").read_bytes() == (NEW if (moment, when) == ("os.replace", "after") else OLD)
    assert all(replacement._TEMPORARY.fullmatch(name) for name in files() if name != "a.py")


def killed_at(moment: str) -> int:
    """Has a ``--fix`` kill itself when it comes to a function; gives the exit code."""
    program = f"import os, sys\nfrom torchlint.cli.main import main\n{moment} = lambda *a, **k: os.kill(os.getpid(), 9)\n"
    program += "sys.exit(main(['--isolated', '--no-cache', '--select', 'TPL005', '--fix', 'a.py']))"
    return subprocess.run([sys.executable, "-c", program], env=environment(), timeout=60, check=False).returncode


@pytest.mark.parametrize("moment", ["os.fsync", "os.replace"])
def test_what_a_killed_run_leaves_behind_goes_with_the_next(moment: str) -> None:
    path = make()
    assert killed_at(moment) == -signal.SIGKILL
    assert path.read_bytes() == OLD
    [leftover] = set(files()) - {"a.py"}
    assert replacement._TEMPORARY.fullmatch(leftover)
    assert fix("a.py").returncode == 0
    assert path.read_bytes() == NEW
    assert files() == ["a.py"]


def test_what_another_run_is_writing_stays() -> None:
    import fcntl

    make()
    make(LEFTOVER, b"being written")
    with open(LEFTOVER, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert fix("a.py").returncode == 0
    assert files() == [LEFTOVER, "a.py"]


def test_what_is_merely_called_alike_stays() -> None:
    make()
    kept = [".torchlint-notes.tmp", ".torchlint-abcdef12.tmp.txt", "torchlint-abcdef12.tmp"]
    for name in kept:
        make(name, b"mine")
    os.symlink("torchlint-abcdef12.tmp", LEFTOVER)
    Path(".torchlint-abcdef13.tmp").mkdir()
    assert fix("a.py").returncode == 0
    assert files() == sorted([*kept, LEFTOVER, ".torchlint-abcdef13.tmp", "a.py"])


def test_a_temporary_file_that_is_taken_for_abandoned_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    lock = fcntl.flock
    removed: list[str] = []

    def remove_first(descriptor: int, how: int) -> None:
        if not removed:
            removed.extend(name for name in files() if name != "a.py")
            os.unlink(removed[0])
        lock(descriptor, how)

    make()
    monkeypatch.setattr(fcntl, "flock", remove_first)
    replace_file("a.py", OLD, NEW)
    assert (Path("a.py").read_bytes(), files(), len(removed)) == (NEW, ["a.py"], 1)


def test_where_there_are_no_locks_files_are_replaced_and_nothing_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def refuse(descriptor: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    make()
    make(LEFTOVER)
    monkeypatch.setattr(fcntl, "flock", refuse)
    replace_file("a.py", OLD, NEW)
    assert (Path("a.py").read_bytes(), files()) == (NEW, [LEFTOVER, "a.py"])


# --- the baseline, which is a file of the user's, too ----------------------------------------------------------------


def test_a_baseline_that_cannot_be_written_is_the_old_one() -> None:
    import resource

    make(content=OLD + b"p.requires_gard = True\n" * 300)
    known = make("known.json", b'{"version": 1, "findings": {}}\n')
    command = [sys.executable, "-m", "torchlint", "--isolated", "--no-cache", "--write-baseline", "known.json", "."]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))  # noqa: E731
    finished = subprocess.run(command, capture_output=True, text=True, env=environment(), preexec_fn=limit, check=False)
    assert finished.stderr.splitlines()[-1] == "known.json: error: cannot write the baseline: File too large"
    assert known.read_bytes() == b'{"version": 1, "findings": {}}\n'
    assert subprocess.run(command, capture_output=True, env=environment(), check=False).returncode == 0
    assert b"TPL005" in known.read_bytes()
    assert files() == ["a.py", "known.json"]


# --- the report, where it goes to a file -----------------------------------------------------------------------------


def report(
    path: str, *, prepare: Callable[[], None] | None = None, output: Any = subprocess.PIPE, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs ``torchlint --output-file path`` on the working directory."""
    command = [
        sys.executable,
        "-m",
        "torchlint",
        "--isolated",
        "--no-cache",
        "--select",
        "TPL005",
        "--output-format",
        "concise",
    ]
    return subprocess.run(
        [*command, "--output-file", path, "."],
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        preexec_fn=prepare,
        timeout=60,
        check=False,
        **options,
    )


@pytest.mark.parametrize("name", ["old.txt", "new.txt"])
def test_a_report_that_cannot_be_written_whole_is_the_old_one_or_none(name: str) -> None:
    import resource

    make()
    make("old.txt", b"old\n")
    finished = report(name, prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
    assert finished.stderr == f"{name}: error: cannot write the report: File too large\n"
    assert (finished.returncode, files(), Path("old.txt").read_bytes()) == (2, ["a.py", "old.txt"], b"old\n")


def test_a_report_takes_the_place_of_the_old_one_and_keeps_its_mode_and_link() -> None:
    make()
    make("old.txt", b"old\n" * 1000).chmod(0o640)
    os.symlink("old.txt", "link.txt")
    assert report("link.txt").returncode == 1
    assert Path("old.txt").read_text().startswith(FINDING)
    assert (stat.S_IMODE(os.stat("old.txt").st_mode), os.readlink("link.txt")) == (0o640, "old.txt")


def test_a_report_into_a_pipe() -> None:
    make()
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        assert report("pipe").returncode == 1
        assert reader.communicate(timeout=60)[0].startswith(FINDING)
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a system with /dev/fd")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "log.txt"])
def test_a_report_into_the_standard_output_goes_behind_what_is_there(name: str) -> None:
    make()
    make("log.txt", b"what there was\n")
    with open("log.txt", "ab") as log:
        assert report(name, output=log).returncode == 1
    before, first = Path("log.txt").read_text().splitlines()[:2]
    assert (before, first[: len(FINDING)]) == ("what there was", FINDING)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a system with /dev/fd")
def test_a_report_into_an_open_descriptor_goes_behind_what_is_there() -> None:
    make()
    make("log.txt", b"what there was\n")
    with open("log.txt", "ab") as log:
        assert report(f"/dev/fd/{log.fileno()}", pass_fds=[log.fileno()]).returncode == 1
    assert Path("log.txt").read_text().startswith(f"what there was\n{FINDING}")


@pytest.mark.parametrize("option", ["--output-file", "--write-baseline"])
@pytest.mark.parametrize("name", ["a.py", "./a.py", "link.txt", "same.txt"])
def test_what_is_linted_is_not_overwritten(option: str, name: str) -> None:
    make()
    os.symlink("a.py", "link.txt")
    os.link("a.py", "same.txt")
    command = [sys.executable, "-m", "torchlint", "--isolated", "--no-cache", option, name, "."]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment(), check=False)
    assert finished.stderr == f"{name}: error: this is one of the files to lint, and would be overwritten\n"
    assert (finished.returncode, Path("a.py").read_bytes()) == (2, OLD)
