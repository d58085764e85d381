"""The server as a process: it outlives neither its client nor its files' tricks, and always has time for an answer."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from editor import Editor, brief, insertion
from lsprotocol import types as lsp
from test_findings import TRAINING

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")

CLIENT = """\
import asyncio, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from editor import Editor

async def run():
    async with Editor(Path({folder!r})) as editor:
        await editor.findings(editor.open(Path({folder!r}) / "train.py", "import torch\\nx = torch.ones(2).data\\n"))
        editor.open(Path({folder!r}) / "long.py", "import torch\\n" + "x = torch.ones(2).data\\n" * 300_000)
        await asyncio.sleep(2)  # the worker is at it, for minutes
        print(editor.process.pid, flush=True)
        await asyncio.sleep(600)

asyncio.run(run())
"""


def children(process: int) -> list[int]:
    """The child processes of a process."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(each) for each in found]


def runs(process: int) -> bool:
    """Whether a process is there, and not merely not buried."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(processes: list[int], seconds: float = 60) -> bool:
    """Whether processes end within some time."""
    end = time.monotonic() + seconds
    while any(map(runs, processes)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(runs, processes))


@needs_proc
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_client_is_killed(how: signal.Signals, tmp_path: Path) -> None:
    program = CLIENT.format(tests=str(Path(__file__).parent), folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        server = int(client.stdout.readline())
        workers = children(server)
        assert workers
        assert all(map(runs, workers))
        client.send_signal(how)
        client.wait()
        assert gone([server, *workers])


@needs_proc
def test_the_client_is_watched_where_its_pipe_stays_open(tmp_path: Path) -> None:
    """Another process, a terminal say, may have inherited the client's end of the pipe: its number tells."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as client:

        async def run() -> None:
            editor = Editor(tmp_path)
            await editor.start_io(sys.executable, "-m", "torchlint", "server")
            capabilities = lsp.ClientCapabilities()
            await editor.initialize_async(lsp.InitializeParams(capabilities, process_id=client.pid))
            editor.initialized(lsp.InitializedParams())
            workers = children(editor.process.pid)
            client.kill()
            client.wait()
            assert await asyncio.wait_for(editor.process.wait(), 60) == 1
            assert gone(workers)

        asyncio.run(run())


@needs_proc
def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            for worker in children(editor.process.pid):
                os.kill(worker, signal.SIGKILL)
            editor.change(uri, insertion(0, 0, "# first\n"))
            await editor.until(lambda: editor.published[uri].version == 2)
            editor.change(uri, insertion(0, 0, "# second\n"))
            assert await editor.shown(uri) == ["10 TPL004"]

    asyncio.run(run())


LONG = "import torch\n" + "x = torch.ones(2).data\n" * 30_000
"""A text that takes seconds."""


def test_a_file_that_takes_too_long_is_given_up_and_answers_come_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text("timeout-per-file = 1.0\n")

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            small = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(small) == ["8 TPL004"]
            long = editor.open(tmp_path / "long.py", LONG)
            with pytest.raises(Exception, match="not defined"):  # an answer, if to no question that it knows
                await editor.workspace_execute_command_async(lsp.ExecuteCommandParams("nonsense"))
            assert long not in editor.published
            (wrong,) = await editor.findings(long)
            assert (wrong.code, wrong.message) == (
                "timeout",
                "cannot lint: it takes longer than 1 s (see timeout-per-file)",
            )
            editor.change(long, whole=TRAINING)
            assert await editor.shown(long) == ["8 TPL004"]

    asyncio.run(run())


def test_what_is_stale_is_given_up_half_way(tmp_path: Path) -> None:
    (tmp_path / "torchlint.toml").write_text("timeout-per-file = 0\n")

    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uri = editor.open(tmp_path / "long.py", LONG * 10)  # minutes
            await asyncio.sleep(1)
            editor.change(uri, whole=TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            assert editor.count == 1

    asyncio.run(run())


def test_neither_torch_nor_anything_that_is_edited_is_imported(tmp_path: Path) -> None:
    """A module called torch that is first on the path, and one like a module of Python's beside the file, leave no trace."""
    imported = tmp_path / "imported"
    folder = tmp_path / "first"
    (folder / "torch").mkdir(parents=True)
    for path in (folder / "torch" / "__init__.py", tmp_path / "argparse.py", tmp_path / "difflib.py"):
        path.write_text(f"open({str(imported)!r}, 'w')\n")
    inherited = os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{inherited}" if inherited else str(folder)}

    async def run() -> None:
        async with Editor(tmp_path, environment=environment) as editor:
            uri = editor.open(tmp_path / "train.py", TRAINING)
            assert await editor.shown(uri) == ["8 TPL004"]
            assert "joined the graph" in await editor.hover(uri, 6, 5)

    asyncio.run(run())
    assert not imported.exists()


def test_the_command_and_the_library_know_no_pygls(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    program = textwrap.dedent("""
        import sys, torchlint
        from torchlint.cli.main import main
        torchlint.lint(open("train.py").read())
        main(["--no-cache", "train.py"])
        print(sorted({each.partition(".")[0] for each in sys.modules} & {"pygls", "lsprotocol", "cattrs", "asyncio"}))
    """)
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_without_pygls_the_command_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['pygls'] = None; from torchlint.cli.main import main; sys.exit(main(['server', '--stdio']))"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "torchlint server: error: the language server needs pygls, which is not installed here: "
        "pip install 'torchlint[server]'\n"
    )


def test_several_texts_are_open_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with Editor(tmp_path) as editor:
            uris = [editor.open(tmp_path / f"train{number}.py", "\n" * number + TRAINING) for number in range(12)]
            assert [await editor.shown(uri) for uri in uris] == [[f"{8 + number} TPL004"] for number in range(12)]
            assert brief(editor.published[uris[3]].diagnostics) == ["11 TPL004"]

    asyncio.run(run())
