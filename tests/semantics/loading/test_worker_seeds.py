"""Workers that are seeded with the same numbers in every epoch: of each snippet the marked calls, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from marked import marked
from torchlint.api import lint
from torchlint.project.topics.drawing import DRAWING
from torchlint.semantics.loading.worker_seeds import WorkerSeeds

HEAD = """\
import random
import time
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

SEED = 3
OTHER = 1
OTHER = 2

class Drawn(Dataset):
    def __getitem__(self, index):
        return random.random() + np.random.normal()

"""
LOADER = "\ndef load(train_set, args, sampler):\n    return DataLoader(train_set, {}, worker_init_fn=seed)\n"


def snippet(seed: str, given: str = "shuffle=True, num_workers=4") -> str:
    return f"{HEAD}def seed(worker):\n" + "".join(f"    {line}\n" for line in seed.splitlines()) + LOADER.format(given)


SEEDS = [
    "«random.seed(worker)»",
    "«random.seed(0)»",
    "«np.random.seed(SEED + worker)»",
    "«np.random.seed(int(SEED) * 100 + worker)»",
    "number = SEED + worker\n«random.seed(number)»",
    "«random.seed(SEED)»\nnp.random.seed(SEED)",
    "random.seed(torch.initial_seed())\n«np.random.seed(SEED)»",
    "random.seed(torch.initial_seed() + worker)",
    "random.seed(torch.utils.data.get_worker_info().seed)",
    "random.seed(time.time())",
    "random.seed(int(time.time()) + worker)",
    "np.random.seed(np.random.get_state()[1][0] + worker)",
    "random.seed()",
    "number = int(time.time())\nrandom.seed(number + worker)",
    "random.seed(OTHER + worker)",
    "random.seed(epoch * 10 + worker)",
    "random.seed(counter.step + worker)",
    "random.seed(worker, 2)",
    "generator = random.Random(worker)",
]
GIVEN = [
    ("shuffle=True, num_workers=4", True),
    ("num_workers=args.workers", True),
    ("batch_sampler=sampler, num_workers=4", True),
    ("shuffle=True, num_workers=4, persistent_workers=False", True),
    ("shuffle=True, num_workers=4, persistent_workers=True", False),
    ("shuffle=True, num_workers=4, persistent_workers=args.persistent", False),
    ("shuffle=True, num_workers=0", False),
    ("shuffle=True", False),
    ("shuffle=True, **args", False),
]


@pytest.mark.parametrize("seed", SEEDS)
def test_seeds(seed: str) -> None:
    semantics, nodes = marked(snippet(seed))
    assert list(semantics.of(WorkerSeeds).found) == nodes


@pytest.mark.parametrize(("given", "is_found"), GIVEN)
def test_loaders(given: str, is_found: bool) -> None:
    semantics, (node,) = marked(snippet("«random.seed(worker)»", given))
    assert list(semantics.of(WorkerSeeds).found) == ([node] if is_found else [])


def test_loaders_of_an_evaluation_are_meant_to_be_the_same() -> None:
    code = snippet("random.seed(worker)").replace("train_set", "val_set")
    assert not marked(code)[0].of(WorkerSeeds).found


def test_another_seed_in_each_round_that_makes_a_loader() -> None:
    code = f"{HEAD}def load(data, number):\n    return DataLoader(data, shuffle=True, num_workers=2, worker_init_fn=SEED_)\n"
    code = code.replace("SEED_", "lambda worker: random.seed(number + worker)")
    assert marked(code)[0].of(WorkerSeeds).found
    looped = f"{code}\ndef train(data):\n    for number in range(3):\n        load(data, number)\n"
    assert not marked(looped)[0].of(WorkerSeeds).found


SCRIPT = """\
import random
from torch.utils.data import DataLoader
from data import Images

def seed(worker):
    random.seed(worker)

train_loader = DataLoader(Images(), shuffle=True, num_workers=4, worker_init_fn=seed)
"""
CLASS = "class Images:\n    def __getitem__(self, index):\n        return {}\n"


@pytest.mark.parametrize(
    ("drawn", "found"),
    [("random.randint(0, 9)", ["TPL332"]), ("np.random.randint(0, 9)", []), ("index", [])],
)
def test_the_project_tells_what_is_drawn(tmp_path: Path, drawn: str, found: list[str]) -> None:
    (tmp_path / "data.py").write_text(f"import random\nimport numpy as np\n\n{CLASS.format(drawn)}", encoding="utf-8")
    for select in (None, ["TPL332"]):
        diagnostics = lint(SCRIPT, filename=str(tmp_path / "train.py"), project_root=str(tmp_path), select=select)
        assert [each.code for each in diagnostics if each.code == "TPL332"] == found


def test_what_is_not_known_to_be_drawn_is_strict() -> None:
    [found] = lint(SCRIPT, select=["TPL332"])
    assert found.is_strict


@pytest.mark.parametrize(
    ("code", "drawn"),
    [
        (CLASS.format("random.random()"), {"random"}),
        (CLASS.format("np.random.choice(4)"), {"numpy"}),
        (CLASS.format("torch.randn(4)"), {"torch"}),
        (CLASS.format("np.random.seed(4)"), set()),
        (CLASS.format("self.random.random()"), set()),
        ("noise = np.random.normal()\n", set()),
        ("steps = transforms.Compose([transforms.RandomCrop(32)])\n", {"torch"}),
        ("class Flip:\n    def __call__(self, x):\n        return x if random.random() < 1 else x\n", {"random"}),
    ],
)
def test_what_code_draws(code: str, drawn: set[str]) -> None:
    assert {topic for topic, draws in DRAWING.items() if draws(code.encode())} == {f"draws of {each}" for each in drawn}
