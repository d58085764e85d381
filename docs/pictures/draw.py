"""Draws the pictures of the documentation from what was recorded.

``python docs/pictures/draw.py`` writes those that are out of date; with ``--check``, it says which are.

A rule has a picture where its hazard program's evidence holds numbers that the fix changes. torchlint's own figures are taken
from the pages that the benchmark and the evaluation write, and the terminal is a run of the command on the README's program.
Nothing but the figures decides what is in a file, so that the same figures give the same bytes; of the terminal, whose drawing
is rich's, what it says.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from charts import THEMES, Panel, svg
from figures import panels, precision, proofs, speed

FOLDER = Path(__file__).parent
_README = FOLDER.parents[1] / "README.md"
_COLUMNS = 100
_TERMINAL = "terminal"


def pictures() -> Iterator[tuple[str, str, list[Panel]]]:
    """Each picture's name, heading and panels."""
    for proof in proofs():
        drawn = panels(proof)
        if drawn:
            yield proof["code"], f"{proof['code']} {proof['name']}", drawn
    yield "speed", "Speed beside other programs", [speed()]
    yield "precision", "Precision by rule", [precision()]


def files() -> dict[str, str]:
    """What each file of a picture should hold, by its name."""
    made = {}
    for name, heading, drawn in pictures():
        data = [[panel.title, panel.series, panel.places, panel.shown] for panel in drawn]
        digest = hashlib.sha256(json.dumps(data, ensure_ascii=False).encode()).hexdigest()
        for theme in THEMES:
            made[f"{name}-{theme}.svg"] = svg(heading, drawn, theme, digest)
    return made


# --- the terminal ----------------------------------------------------------------------------------------------------


def report() -> str:
    """What the command writes to a terminal about the program in the README, with its colours."""
    text = _README.read_text(encoding="utf-8")
    program = re.search(r"<!-- train\.py -->\n```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program[1], encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-m", "torchlint", "--color", "always", "--no-cache", "train.py"],
            cwd=folder,
            env=os.environ | {"COLUMNS": str(_COLUMNS)},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
    return run.stdout


def terminal(said: str, theme: str) -> str:
    """A picture of a terminal that shows a report."""
    from io import StringIO

    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME, MONOKAI
    from rich.text import Text

    drawing = Console(record=True, width=_COLUMNS, file=StringIO(), force_terminal=True)
    drawing.print(Text("$ torchlint train.py", style="bold"))
    drawing.print(Text.from_ansi(said))
    colours = DEFAULT_TERMINAL_THEME if theme == "light" else MONOKAI
    drawn = drawing.export_svg(title="torchlint", theme=colours, unique_id=f"torchlint-{theme}")
    drawn = re.sub(r"@font-face \{.*?\}\n?", "", drawn, flags=re.DOTALL)  # fonts that a page would have to fetch
    if theme == "light":
        drawn = drawn.replace("rgba(255,255,255,0.35)", "rgba(0,0,0,0.35)")
    words = "The report of torchlint train.py in a terminal: three findings, each with the line and what the fix does."
    about = f"<title>torchlint in a terminal</title>\n<desc>{words}</desc>\n<metadata>sha256:{digest_of(said)}</metadata>"
    drawn = re.sub(r"(<svg [^>]*>)", lambda start: f"{start[1]}\n{about}", drawn, count=1)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def digest_of(said: str) -> str:
    """The digest of a report: of what it says, without links, whose names differ from run to run."""
    plain = re.sub(r"\x1b\]8;[^\x1b]*\x1b\\", "", said)
    return hashlib.sha256(plain.encode()).hexdigest()


# --- the command -----------------------------------------------------------------------------------------------------


def outdated() -> Iterator[tuple[Path, str | None]]:
    """The files that are not what they should be, each with what it should hold; None for one that should go."""
    expected = files()
    for name, text in expected.items():
        path = FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield path, text
    said = report()
    for theme in THEMES:
        path = FOLDER / f"{_TERMINAL}-{theme}.svg"
        if not path.is_file() or f"sha256:{digest_of(said)}<" not in path.read_text(encoding="utf-8"):
            yield path, terminal(said, theme)
    for path in sorted(FOLDER.glob("*.svg")):
        if path.name not in expected and not path.name.startswith(f"{_TERMINAL}-"):
            yield path, None


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python docs/pictures/draw.py", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if something is out of date")
    options = parser.parse_args(arguments)
    wrong = list(outdated())
    for path, text in wrong:
        print(f"{'out of date' if options.check else 'written' if text is not None else 'removed'}: {path.name}")
        if not options.check:
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    return 1 if wrong and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
