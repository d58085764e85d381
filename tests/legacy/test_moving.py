"""The page *Moving to torch 2.x* shows what torchlint prints, and its script runs in the end."""

from __future__ import annotations

import warnings

import moving
import pytest


def test_the_page_shows_what_is_printed() -> None:
    text = moving.PAGE.read_text(encoding="utf-8")
    assert moving.page(text) == text, "python tests/legacy/moving.py writes the page anew"


def test_the_script_stops_before_and_runs_without_a_warning_after() -> None:
    pytest.importorskip("torch")
    text = moving.PAGE.read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(AttributeError, match="set_deterministic"):
            exec(moving.block(text, "python"), {})
    names: dict[str, object] = {}
    import torch

    chosen = torch.are_deterministic_algorithms_enabled()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(moving.finished(text), names)
    finally:
        torch.use_deterministic_algorithms(chosen)
    assert names["norms"] and names["steps"].tolist() == [1.0, 2.0, 3.0]  # type: ignore[attr-defined]
