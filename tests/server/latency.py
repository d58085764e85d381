"""How long an editor waits for findings after a keystroke, through the protocol, beside `ruff server` on the same edits.

`python tests/server/latency.py` prints a table; with ``--write`` it becomes the last section of docs/performance.md. What is
measured goes from the message that says what was typed to the message with the findings of that very text.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "performance.md"
LIMIT = 150
"""The milliseconds within which there should be an answer, at the median, for 1,000 lines."""
CAPABILITIES = {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}
TYPED = "note"
"""What is typed, letter by letter, behind comments that it makes: nothing that changes what there is to find."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The milliseconds of each answer, the processor's milliseconds for one, and the findings of the last."""

    waits: Sequence[float]
    processor: float
    findings: int


def processor(process: int) -> float:
    """The seconds of processor time that a process and its children have taken."""
    processes = [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]
    fields = [Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in processes]
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


class Wire:
    """The least of a client: pygls' own cannot read what ruff says that it can do."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._count = 0

    def say(self, method: str, params: object, number: int | None = None) -> None:
        """Sends a notification or, with a number, a request."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self._write(message if number is None else {**message, "id": number})

    def _write(self, message: object) -> None:
        assert self.process.stdin is not None
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    async def hear(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted; what the server asks for meanwhile it does not get."""
        assert self.process.stdout is not None
        while True:
            head = await self.process.stdout.readuntil(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-length"))
            message: dict[str, Any] = json.loads(await self.process.stdout.readexactly(length))
            if "method" in message and "id" in message:
                self._write({"jsonrpc": "2.0", "id": message["id"], "result": None})
            if wanted(message):
                return message

    async def findings(self, version: int) -> list[Any]:
        """The findings of a version of the only text."""
        published = "textDocument/publishDiagnostics"
        said = await self.hear(lambda each: each.get("method") == published and each["params"].get("version") == version)
        found: list[Any] = said["params"]["diagnostics"]
        return found


async def measure(text: str, command: Sequence[str], keystrokes: int, pause: float) -> Measured:
    """Types in a text and waits for each answer."""
    chosen = random.Random(0)
    lines = text.split("\n")
    places = [index for index, line in enumerate(lines) if line.strip() and "\\" not in line and '"' not in line]
    with tempfile.TemporaryDirectory() as folder:
        uri = (Path(folder) / "train.py").as_uri()
        started = asyncio.create_subprocess_exec(*command, cwd=folder, limit=2**24, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        wire = Wire(await started)
        wire.say("initialize", {"processId": os.getpid(), "rootUri": Path(folder).as_uri(), "capabilities": CAPABILITIES}, 1)
        await wire.hear(lambda each: each.get("id") == 1)
        wire.say("initialized", {})
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        wire.say("textDocument/didOpen", {"textDocument": item})
        found = await wire.findings(1)
        waits: list[float] = []
        before = processor(wire.process.pid)
        while len(waits) < keystrokes:
            line = chosen.choice(places)
            for letter in f"  # {TYPED}":
                place = {"line": line, "character": len(lines[line].encode("utf-16-le")) // 2}
                lines[line] += letter
                change = {"range": {"start": place, "end": place}, "text": letter}
                document = {"uri": uri, "version": len(waits) + 2}
                start = time.perf_counter()
                wire.say("textDocument/didChange", {"textDocument": document, "contentChanges": [change]})
                found = await wire.findings(len(waits) + 2)
                waits.append(1000 * (time.perf_counter() - start))
                await asyncio.sleep(pause)
        spent = 1000 * (processor(wire.process.pid) - before) / len(waits)
        wire.say("shutdown", None, 2)
        await wire.hear(lambda each: each.get("id") == 2)
        wire.say("exit", None)
        await wire.process.wait()
        return Measured(waits, spent, len(found))


def rows(files: Sequence[Path], keystrokes: int, pause: float) -> Iterator[tuple[str, str, Measured]]:
    """The text, the server and what was measured, for each of both."""
    servers: dict[str, Sequence[str]] = {"torchlint server": (sys.executable, "-m", "torchlint", "server")}
    ruff = shutil.which("ruff")
    if ruff is not None:
        servers["ruff server"] = (ruff, "server")
    sys.path.append(str(ROOT / "tests" / "benchmark"))
    from generated import many_definitions

    texts = {f"{path.name}, {lines_of(path)} lines": path.read_text(encoding="utf-8") for path in files}
    texts["generated, 1,000 lines full of findings"] = many_definitions(1000)
    for name, text in texts.items():
        for server, command in servers.items():
            yield name, server, asyncio.run(measure(text, command, keystrokes, pause))


def lines_of(path: Path) -> str:
    return f"{path.read_text(encoding='utf-8').count(chr(10)):,}"


def section(measured: Sequence[tuple[str, str, Measured]], keystrokes: int) -> str:
    """The section of the page."""
    load = os.getloadavg()[0]
    ahead = f", which went before what else ran (nice {os.nice(0)})" if os.nice(0) < 0 else ""
    lines = [
        "## In an editor\n",
        f"Written by `python tests/server/latency.py --write`: {keystrokes} keystrokes in each text, each answered before the",
        "next; milliseconds from the message that says what was typed to the one with the findings of that text. A text",
        "at rest is looked at at once, and fixes are made when they are asked for. ruff reports what it reports by default.",
        "`processor` is what the processes of the server took for one keystroke, wherever else the machine is busy.",
        f"At most {LIMIT} ms are wanted at the median, for 1,000 lines on a machine that does nothing else.\n",
        f"- Date: {datetime.now(UTC).date()}",
        f"- Machine: {os.cpu_count()} processor cores, {platform.system()}, Python {platform.python_version()}; load average "
        f"{load:.1f} while this was measured{ahead}\n",
        "| text | server | median | 9 of 10 within | fastest | processor | findings |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for text, server, found in measured:
        ninth = statistics.quantiles(found.waits, n=10)[-1]
        figures = (statistics.median(found.waits), ninth, min(found.waits), found.processor)
        lines.append(f"| {text} | {server} | {' | '.join(f'{each:.0f}' for each in figures)} | {found.findings} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures; 1 where a text of some 1,000 lines takes longer than it should."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="texts beside the generated one")
    parser.add_argument("--keystrokes", type=int, default=100)
    parser.add_argument("--pause", type=float, default=0.1, help="the seconds between an answer and the next keystroke")
    parser.add_argument("--write", action="store_true", help="write the section of docs/performance.md")
    options = parser.parse_args(arguments)
    measured = list(rows(options.files, options.keystrokes, options.pause))
    text = section(measured, options.keystrokes)
    print(text)
    if options.write:
        page = PAGE.read_text(encoding="utf-8").partition(text.partition("\n")[0])[0].rstrip()
        PAGE.write_text(f"{page}\n\n{text}", encoding="utf-8")
    ours = [found for _, server, found in measured if server.startswith("torchlint")]
    return 1 if any(statistics.median(found.waits) > LIMIT for found in ours) else 0


if __name__ == "__main__":
    sys.exit(main())
