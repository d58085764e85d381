"""The recorded proofs: what `torchlint prove --json` wrote, inside the installed package or beside it in a checkout."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def records() -> Iterator[Mapping[str, Any]]:
    """What was recorded, a run of all hazard programs at a time."""
    for path in sorted(_folder().glob("*.json")):
        yield json.loads(path.read_text(encoding="utf-8"))


def _folder() -> Path:
    packaged = Path(__file__).parents[1] / "_evidence"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "docs" / "evidence"
