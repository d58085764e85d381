"""The page that lists the table is in step with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from torchlint.semantics.apis.deprecations import deprecations

FOLDER = Path(__file__).parent / "deprecations"
PAGE = Path(__file__).parents[2] / "docs" / "deprecations.md"


def test_page_is_what_the_generator_writes() -> None:
    run = subprocess.run([sys.executable, str(FOLDER / "table_page.py"), "--check"], capture_output=True, encoding="utf-8")
    assert run.returncode == 0, f"run `python tests/torch_api/deprecations/table_page.py`\n{run.stderr[-2000:]}"


def test_counts_are_those_of_the_table() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"{len(deprecations())} rows" in text
    removed = [row for row in deprecations().values() if row.removed and not row.when]
    numbers = [sum(row.library == library for row in removed) for library in ("torch", "torchvision", "torchaudio")]
    assert f"| whole symbols, removed | {' | '.join(map(str, numbers))} | {len(removed)} |" in text


def test_every_deprecated_symbol_of_torch_is_listed() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"`{row.symbol}`" in text for row in deprecations().values() if row.library == "torch")
