"""Loads of a program's own data, which is more than weights."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.own_data import OwnData

HEAD = "import os, random, torch\nimport numpy as np\n"


def is_own_data(snippet: str) -> bool:
    semantics, (node,) = marked(HEAD + snippet)
    assert isinstance(node, ast.Call)
    return semantics.of(OwnData).is_read_by(node)


@pytest.mark.parametrize(
    "snippet",
    [
        "«torch.load('data/dataset.pt')»",
        "«torch.load('feature_store.pt')»",
        "p = os.path.join(folder, f'train_splits_{v}.pt')\n«torch.load(p)»",
        "a = 'corpus.pt'\np = folder / a\n«torch.load(f=p)»",
        "torch.save({'numpy': np.random.get_state(), 'model': m}, p)\n«torch.load(p)»",
        "torch.save({'python': random.getstate()}, p)\n«torch.load(q)»",
    ],
)
def test_what_holds_more_than_weights(snippet: str) -> None:
    assert is_own_data(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "«torch.load(p)»",
        "«torch.load('data/resnet.pt')»",
        "«torch.load('dataset/model.pt')»",
        "«torch.load(f'runs/{dataset}/checkpoint.pt')»",
        "«torch.load('best_dataset.pth')»",
        "«torch.load('restored.pt')»",
        "torch.save({'torch': torch.random.get_rng_state()}, p)\n«torch.load(p)»",
        "torch.save({'numpy': np.random.get_state()}, p)\n«torch.load(weight_path)»",
        "state = np.random.get_state()\n«torch.load(p)»",
        "def f(dataset):\n    return «torch.load(dataset)»",
    ],
)
def test_what_may_be_weights(snippet: str) -> None:
    assert not is_own_data(snippet)
