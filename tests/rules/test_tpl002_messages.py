"""What TPL002 says of a tensor: its code, and where that is long, the start of it, once."""

from __future__ import annotations

import torchlint


def said(tensor: str) -> str:
    [found] = torchlint.lint(
        f"import torch\n\ndef f(model: torch.nn.Module, x):\n    return {tensor}.data\n", select=["TPL002"]
    )
    return found.message


def test_a_name_is_shown_with_what_is_read_of_it() -> None:
    assert said("torch.exp(x)").startswith("`torch.exp(x).data` shares memory with `torch.exp(x)`, but hides changes")


def test_a_long_expression_is_shown_once_and_not_to_its_end() -> None:
    long = "torch.exp(x)" + ".sum(dim=0, keepdim=True)" * 6
    message = said(long)
    assert message.startswith("`.data` of `torch.exp(x).sum(dim=0") and "...` shares memory with it, but hides" in message
    assert len(message) < 180
