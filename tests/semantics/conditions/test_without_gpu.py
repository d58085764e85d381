"""Conditions that say there is no GPU: of each test, whether what it guards runs only where none is used."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.conditions.without_gpu import WithoutGpu

TEXT = """
import torch
def run(device, use_cuda, config, model):
    if {test}:
        «there()»
    else:
        «elsewhere()»
"""


def covered(test: str) -> tuple[bool, bool]:
    semantics, (there, elsewhere) = marked(TEXT.format(test=test))
    without = semantics.of(WithoutGpu)
    return without.covers(there), without.covers(elsewhere)


@pytest.mark.parametrize(
    "test",
    [
        "device.type == 'cuda'",
        "device == torch.device('cuda')",
        "device != 'cpu'",
        "'cuda' in str(device)",
        "device.type.startswith('cuda')",
        "torch.cuda.is_available()",
        "use_cuda",
        "config.cuda",
        "use_cuda or config.gpu",
    ],
)
def test_what_is_of_the_gpu_alone(test: str) -> None:
    assert covered(test) == (False, True)
    assert covered(f"not ({test})") == (True, False)


@pytest.mark.parametrize(
    "test",
    [
        "model",
        "device.type == 'mps'",
        "device == 'cuda:0'",
        "config.cuda_graphs",
        "'cuda' in config.message",
        "use_cuda and model.half",
        "device",
    ],
)
def test_what_may_still_be(test: str) -> None:
    assert covered(test) == (False, False)
    assert covered(f"not ({test})") == (False, False)
