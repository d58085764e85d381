"""What a terminal or a log would act upon does not get there from a linted file, its name, or the configuration."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import torchlint_
from terminal import ESCAPE, on_terminal
from torchlint.reporters import FOR_PEOPLE, FORMATS

HOSTILE = (
    "\x1b[2J",  # an escape sequence
    "\x1b]8;;https:example\x1b\\here\x1b]8;;\x1b\\\x1b]0;title\x07",  # a link, the title
    "a\b\bb\x7f\x9b2J",  # backspace, delete, the control sequence introducer of eight bits
    "\u202eb\u2066c\u2069",  # a turn of the direction of writing, an isolate
    "\u200bb\ufeff\u2028c",  # without width, a line separator
)
each_hostile = pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
TEXT = "import torch\np = torch.ones(1)\np.requres_grad = False  # HOSTILE\n"


@pytest.fixture(autouse=True)
def _within(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def is_clean(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@each_hostile
def test_diffs_on_terminals(hostile: str) -> None:
    Path("a.py").write_text(TEXT.replace("HOSTILE", hostile))
    for terminal in ("xterm", "dumb"):
        seen = on_terminal("--quiet", "--diff", "a.py", TERM=terminal)
        assert "+p.requires_grad = False  # " in seen
        assert is_clean(ESCAPE.sub("", seen) if terminal == "xterm" else seen)
    assert is_clean(ESCAPE.sub("", torchlint_("--diff", "--color", "always", "a.py").stdout))


@each_hostile
def test_diffs_in_pipes_and_files_are_what_patch_needs(hostile: str) -> None:
    text = TEXT.replace("HOSTILE", hostile)
    for name in ("a.py", "b.py"):
        Path(name).write_bytes(text.replace("\n", "\r\n").encode() if name == "b.py" else text.encode())
    piped = torchlint_("--diff", ".").stdout
    torchlint_("--diff", "--output-file", "made.diff", ".")
    assert Path("made.diff").read_bytes() == piped.encode()
    subprocess.run(["git", "apply", "-p0", "made.diff"], check=True)
    assert Path("a.py").read_bytes() == text.replace("requres", "requires").encode()
    assert Path("b.py").read_bytes() == text.replace("requres", "requires").replace("\n", "\r\n").encode()


@each_hostile
def test_every_format_is_clean(hostile: str) -> None:
    name = f"n{hostile}.py"
    Path(name).write_text(TEXT.replace("HOSTILE", hostile) + f"q = p[r'{hostile}'].data\n")
    Path(f"e{hostile}.py").write_text("p.requres_grad = (\n")
    for chosen in FORMATS:
        result = torchlint_("--no-cache", "--output-format", chosen, ".")
        assert result.returncode == 2
        assert is_clean(result.stdout) and is_clean(result.stderr), chosen
    for chosen in FOR_PEOPLE:
        assert is_clean(ESCAPE.sub("", on_terminal("--quiet", "--output-format", chosen, "."))), chosen
    assert len(ElementTree.fromstring(torchlint_("--output-format", "junit", ".").stdout)) == 2
    assert json.loads(torchlint_("--output-format", "json", ".").stdout)[0]["filename"] == os.path.abspath(name)
    for arguments in (("--show-files",), ("--fix", "--show-fixes"), ("--add-noqa",), ("--statistics",)):
        result = torchlint_(*arguments, ".")
        assert result.stdout + result.stderr and is_clean(result.stdout + result.stderr), arguments


@each_hostile
def test_what_is_refused_is_clean(hostile: str) -> None:
    Path("a.py").write_text(TEXT)
    Path("torchlint.toml").write_text(f"cache-dir = {json.dumps(f'c{hostile}')}\nextend-exclude = [{json.dumps(hostile)}]\n")
    shown = torchlint_("--show-settings").stdout
    assert is_clean(shown) and tomllib.loads(shown)["extend-exclude"] == [hostile]
    for arguments in (
        ("--select", hostile),
        (f"--{hostile}",),
        ("--output-format", hostile),
        ("--config", hostile),
        ("--baseline", hostile),
        ("--cache-dir", "/dev/null", "--output-file", f"{hostile}/x"),
        ("rule", hostile),
        ("explain-kind", f"{hostile}:1:1"),
        (hostile,),
    ):
        result = torchlint_(*arguments)
        assert result.returncode == 2, arguments
        assert result.stderr and is_clean(result.stderr), arguments
    Path("torchlint.toml").write_text(f"{json.dumps(hostile)} = 1\n")
    result = torchlint_()
    assert (result.returncode, is_clean(result.stderr)) == (2, True)
