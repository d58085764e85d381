"""The pictures of the documentation show what was recorded, in both themes, and say it in words, too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"
PICTURES = sorted(FOLDER.glob("*.svg"))


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FOLDER / "draw.py"), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)


def test_pictures_are_of_the_evidence_as_it_stands() -> None:
    checked = run("--check")
    assert (checked.stdout, checked.returncode) == ("", 0), "python docs/pictures/draw.py brings them up to date"


def texts(name: str) -> set[str]:
    return {"".join(text.itertext()) for text in ElementTree.parse(FOLDER / name).iter(f"{SVG}text")}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_curve_shows_each_recorded_number(theme: str) -> None:
    (proof,) = (
        proof for proof in json.loads((ROOT / "docs/evidence/cpu.json").read_text())["proofs"] if proof["code"] == "TPL004"
    )
    assert {str(nodes) for nodes in proof["before"]["nodes"]} <= texts(f"TPL004-{theme}.svg")
    assert {"before the fix", "after the fix", "1.33 MB", "75.3 kB"} <= texts(f"TPL004-{theme}.svg")


def test_speed_shows_the_peers_beside_torchlint() -> None:
    assert {"torchlint", "ruff", "TorchFix"} <= texts("speed-light.svg")


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_picture_is_small_says_what_it_shows_and_fetches_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    described = root.find(f"{SVG}desc")
    assert described is not None and described.text and len(described.text) > 20
    assert root.find(f"{SVG}title") is not None
    assert "url(http" not in text and "href" not in text
    assert len(text) < 40_000
    other = path.with_name(
        path.name.replace("-light", "-dark") if "-light" in path.name else path.name.replace("-dark", "-light")
    )
    assert other in PICTURES and other != path


def test_rules_whose_evidence_has_numbers_that_change_have_a_picture() -> None:
    drawn = {path.stem.removesuffix("-light") for path in PICTURES if path.stem.endswith("-light")}
    assert {"TPL004", "TPL009", "TPL012", "TPL013", "TPL304", "TPL306", "TPL308", "TPL318", "TPL401", "TPL601"} <= drawn
    assert "TPL005" not in drawn  # whose evidence is truth values
