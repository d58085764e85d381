"""Objects of classes of other files that are put into checkpoints, which torch refuses to load (TPL505)."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint

CLASSES = """
class Vocabulary:
    pass

def words(path):
    return {}
"""
TRAIN = """
import torch
from classes import Vocabulary, words

def save(net, path):
    vocabulary = {made}
    torch.save({{"net": net.state_dict(), "vocabulary": vocabulary}}, path)

def load(net, path):
    state = torch.load(path, map_location="cpu")
    net.load_state_dict(state["net"])
    return state["vocabulary"]
"""


@pytest.mark.parametrize(("made", "expected"), [("Vocabulary()", ["TPL505"]), ("words(path)", []), ("Vocabulary", [])])
def test_a_checkpoint_with_an_object(tmp_path: Path, made: str, expected: list[str]) -> None:
    (tmp_path / "classes.py").write_text(CLASSES)
    text, name = TRAIN.format(made=made), str(tmp_path / "train.py")
    assert lint(text, filename=name, select=("TPL505",)) == []
    assert [each.code for each in lint(text, filename=name, select=("TPL505",), project_root=str(tmp_path))] == expected
