"""The how-to pages: every command that they show, run on the files that they show, in the order of the page."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("team", "notebooks", "false-alarms", "at-scale")
HOOKS = (DOCS.parent / "README.md", DOCS / "team.md")
PART = re.compile(
    r"^<!-- (?P<file>[\w/.-]+) -->\n```\w+\n(?P<text>.*?)^```$|"
    r"^```console\n\$ torchlint (?P<arguments>[^\n]*)\n(?P<output>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_what_the_commands_print(name: str, tmp_path: Path) -> None:
    ran = 0
    for part in PART.finditer((DOCS / f"{name}.md").read_text(encoding="utf-8")):
        if part["file"]:
            path = tmp_path / part["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(part["text"], encoding="utf-8")
        else:
            assert printed(shlex.split(part["arguments"]), tmp_path) == part["output"], part["arguments"]
            ran += 1
    assert ran >= 2


def test_hook_is_of_the_version_that_the_readme_names() -> None:
    in_readme, in_page = (re.findall(r"^ +rev: (\S+)", text.read_text(encoding="utf-8"), re.MULTILINE) for text in HOOKS)
    assert in_page == in_readme != []


def printed(arguments: list[str], folder: Path) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "torchlint", *arguments],
        cwd=folder,
        env=os.environ | {"COLUMNS": "120", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return run.stdout
