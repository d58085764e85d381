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
        "class Graphs(Base):\n    def f(self):\n        self.data, self.slices = «torch.load(self.processed_paths[0])»",
        "with torch.serialization.safe_globals([Own]):\n    found = «torch.load(p)»",
        "from torch_geometric.data import Data\ngraph = «torch.load(p)»\ngraph.y = 1",
        "graph = «torch.load(graph_file)»",
        "rows = «torch.load(self.cache_file)»",
        "rows = «torch.load(args.samples)»\nprint(rows['x'])",
        "a = «torch.load(p)»\nif torch.is_tensor(a):\n    a = a.numpy()\na = np.asarray(a, dtype=float)",
        "a = np.array(«torch.load(p)»)",
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
        "def f(dataset):\n    model.load_state_dict(«torch.load(dataset)»)",
        "from torch_geometric.data import Data\nmodel.load_state_dict(«torch.load(p)»)",
        "from torch_geometric.data import Data\nfound = «torch.load(p)»\nmodel.load_state_dict(found['x'])",
        "from torch_geometric.data import Data\nfound = «torch.load(p)»\nepoch = found['model_state']",
        "from torch_geometric.data import Data\nfound = «torch.load(args.checkpoint)»",
        "found = «torch.load(self.cache_file)»\nmodel.load_state_dict(found.get('model'))",
        "«torch.load(cached_model)»",
        "«torch.load(paragraphs)»",
        "a = «torch.load(p)»\nprint(np.asarray(a['mean']))",
        "a = «torch.load(p)»\na = net(a)\nnp.asarray(a)",
    ],
)
def test_what_may_be_weights(snippet: str) -> None:
    assert not is_own_data(snippet)
