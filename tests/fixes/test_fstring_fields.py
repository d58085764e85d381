"""Fixes in f-strings: with the quotes that are left there, up to Python 3.11, or none."""

from __future__ import annotations

import pytest

import torchlint

SETUP = "import torch.nn.functional as F\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("f'{F.mse_loss(a, b, reduce=False)}'", "f'{F.mse_loss(a, b, reduction=\"none\")}'"),
        ('f"{F.mse_loss(a, b, reduce=False)}"', "f\"{F.mse_loss(a, b, reduction='none')}\""),
        ("f\"{f'{F.mse_loss(a, b, reduce=False)}'}\"", None),
        ("f'''{f\"{F.mse_loss(a, b, reduce=False)}\"}'''", None),
    ],
)
def test_a_string_in_a_field_has_other_quotes(old: str, new: str | None) -> None:
    [found] = torchlint.lint(f"{SETUP}print({old})\n", select=["TPL106"])
    assert (found.fix is None) == (new is None)
    assert torchlint.fix(f"{SETUP}print({old})\n", select=["TPL106"]).text == f"{SETUP}print({new or old})\n"
