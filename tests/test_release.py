"""What has to say the same thing when a version is released: the package, the changelog, the README."""

from __future__ import annotations

import re
from pathlib import Path

import torchlint

ROOT = Path(__file__).parents[1]


def test_the_changelog_begins_with_this_version() -> None:
    changelog = (ROOT / "docs" / "changelog.md").read_text(encoding="utf-8")
    first, *_ = re.findall(r"^## (\S+)", changelog, re.MULTILINE)
    assert first == torchlint.__version__


def test_the_readme_names_this_version_to_pre_commit() -> None:
    (revision,) = re.findall(r"^ +rev: v(\S+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert revision == torchlint.__version__
