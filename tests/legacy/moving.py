"""What the page *Moving to torch 2.x* shows, made anew: ``python tests/legacy/moving.py`` writes it."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "moving-to-torch-2.md"
RULES = ("--select", "TPL108,TPL109")


def block(text: str, kind: str) -> str:
    """The text of the page's one block of a kind."""
    (found,) = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return str(found)


def command(*arguments: str, program: str) -> str:
    """What ``torchlint check`` prints about a program that is called ``train.py``."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program, encoding="utf-8")
        words = [sys.executable, "-m", "torchlint", "check", "--isolated", "--no-cache", *arguments, *RULES, "train.py"]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "", "NO_COLOR": "1"}
        run = subprocess.run(words, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
        return run.stdout if "--fix" not in arguments else (Path(folder) / "train.py").read_text(encoding="utf-8")


def page(text: str) -> str:
    """The page, with what the commands give today in its blocks."""
    program = block(text, "python")
    mended = command("--fix", "--unsafe-fixes", program=program)
    concise = ("--output-format", "concise")
    shown = {
        "report": command("--target-torch", "2.13", *concise, program=program),
        "diff": command("--diff", "--unsafe-fixes", program=program),
        "left": command(*concise, program=mended),
        "older": command("--target-torch", "1.9", *concise, program=program),
    }
    for kind, said in shown.items():
        lines = "".join(f"{line.rstrip()}\n" for line in said.splitlines())
        start = text.index(f"\n```{kind}\n") + len(f"\n```{kind}\n")
        text = text[:start] + lines + text[text.index("```\n", start) :]
    return text


def finished(text: str) -> str:
    """The program after all fixes, and after what the page tells people to write."""
    mended = command("--fix", "--unsafe-fixes", program=block(text, "python"))
    lines = block(text, "by-hand").splitlines()
    for old, new in zip(lines[::2], lines[1::2], strict=True):
        assert mended.count(old) == 1, old
        mended = mended.replace(old, new)
    return mended


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
