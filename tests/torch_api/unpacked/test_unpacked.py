"""What torchvision and torchaudio replace, as it was recorded; and run again where their wheels are at hand."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from library_programs import NOT_RUN, ROWS, key, programs, reason
from prove import RECORD, proven, recorded

from torchlint.semantics.apis.deprecations import deprecations

WHEELS = os.environ.get("TORCHLINT_WHEELS", "")
"""A folder with the wheels that `prove.py` asks for."""
SAMPLE = (
    *("torchvision.models.resnet18 pretrained", "torchvision.models.quantization.resnet18 pretrained"),
    *("torchvision.models.segmentation.fcn_resnet50 pretrained_backbone", "torchvision.models.regnet_y_128gf pretrained"),
    *("torchvision.models.optical_flow.raft_small pretrained", "torchvision.transforms.Scale"),
    *("torchvision.datasets.MNIST.train_data", "torchaudio.transforms.MelSpectrogram onesided"),
)
"""Rows that are run again; ``python tests/torch_api/unpacked/prove.py WHEELS`` runs all."""


def test_every_row_agrees_or_has_its_reason() -> None:
    rows = recorded()
    assert rows.keys() == ROWS.keys()
    for name, row in rows.items():
        assert row["outcome"] == (f"not run: {reason(name)}" if reason(name) else "agree"), name
        assert int(row["programs"]) == (0 if reason(name) else len(programs(name)))
        assert (row["warned before"], row["warned after"]) == (("", "") if reason(name) else (row["programs"], "0")), name


def test_what_is_unproven_is_counted_by_its_reason() -> None:
    assert Counter(reason(name) for name in ROWS if reason(name)) == {
        "reads videos, by a reader that is compiled": 1,
        "other arguments tell which weights it meant": 2,
        NOT_RUN["torchaudio, removed"]: 14,
    }
    assert sum(not reason(name) for name in ROWS) == 294
    assert {key(row) for row in deprecations().values() if row.library != "torch" and row.replacement} <= ROWS.keys()


def test_the_record_says_when_and_on_what() -> None:
    head = RECORD.read_text(encoding="utf-8").splitlines()[0]
    assert head.startswith("# 20") and "torch 2.13" in head


@pytest.mark.skipif(not WHEELS, reason="TORCHLINT_WHEELS names no folder with the wheels of torchvision and torchaudio")
def test_a_sample_agrees_again() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("PIL")
    rows = recorded()
    assert proven(Path(WHEELS), SAMPLE) == [rows[name] for name in ROWS if name in SAMPLE]
