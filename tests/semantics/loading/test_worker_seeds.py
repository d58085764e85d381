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
NONE = 0
OTHER = 1
OTHER = 2
args.stored_seed = 4

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
    "random.seed(torch.initial_seed())\nnp.random.seed(SEED)",
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
    "«random.seed(args.seed + worker)»",
    "«np.random.seed((config.seed + worker) % 2**32)»",
    "«random.seed(SEED)»\nnp.random.seed(self.number)",
    "random.seed(args.number)",
    "random.seed(args.stored_seed)",
    "random.seed(args.epoch_seed)",
    "random.seed(loader.seed)",
    "random.seed(self.seed + worker)",
    "random.seed(None)",
    "random.seed(True)",
    "random.seed('a')",
    "random.seed(SEED if worker else 0)",
    "random.seed(SEED)\nrandom.seed(time.time())",
    "if worker:\n    random.seed(SEED)",
    "for _ in range(2):\n    random.seed(SEED)",
    "try:\n    random.seed(SEED)\nfinally:\n    pass",
    "if worker:\n    return\nrandom.seed(SEED)",
    "state = random.getstate()\nrandom.seed(SEED)\nrandom.setstate(state)",
    "generator = np.random.default_rng()\nrandom.seed(SEED)",
    "yield random.seed(SEED)",
    "worker = time.time()\nrandom.seed(worker)",
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
    ("shuffle=True, num_workers=NONE", False),
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


def test_loaders_of_development_data_too() -> None:
    code = snippet("random.seed(worker)", "sampler=sampler, num_workers=4")
    assert marked(code)[0].of(WorkerSeeds).found
    assert not marked(code.replace("train_set", "dev_set"))[0].of(WorkerSeeds).found


GIVE = "    return DataLoader(data, shuffle=True, num_workers=2, worker_init_fn={})\n"
LEFT_ALONE = [
    f"def load(data, number):\n{GIVE.format('lambda worker: random.seed(number + worker)')}",
    f"def load(data, epoch):\n{GIVE.format('lambda worker, base=epoch: random.seed(base + worker)')}",
    f"def seed(worker, base):\n    random.seed(base)\n\ndef load(data, turn):\n{GIVE.format('partial(seed, base=turn)')}",
    f"def seed(base, worker):\n    random.seed(base)\n\ndef load(data, turn):\n{GIVE.format('partial(seed, turn)')}",
    f"def seed(worker):\n    random.seed(SEED)\n\ndef load(data):\n{GIVE.format('seed')}\n"
    "def train():\n    global SEED\n    SEED += 1\n",
    f"class Config:\n    seed = 4\n\ndef load(data):\n{GIVE.format('lambda _: random.seed(Config.seed)')}",
    f"def load(data, args):\n{GIVE.format('lambda _: random.seed(args.seed)')}\ndef next_one(args):\n    args.seed += 1\n",
    f"from settings import NUMBER\n\ndef load(data):\n{GIVE.format('lambda _: random.seed(NUMBER)')}",
    f"def load(data):\n    number = random.randrange(9)\n{GIVE.format('lambda _: random.seed(number)')}",
]


@pytest.mark.parametrize("code", LEFT_ALONE)
def test_seeds_that_may_be_other_ones(code: str) -> None:
    assert not marked(f"{HEAD}from functools import partial\n\n{code}")[0].of(WorkerSeeds).found


BOUND = f"def seed(worker, base):\n    «random.seed(base + worker)»\n\ndef load(data, args):\n{GIVE}"


@pytest.mark.parametrize("base", ["3", "SEED", "args.seed"])
def test_parameters_that_are_bound(base: str) -> None:
    semantics, nodes = marked(f"{HEAD}from functools import partial\n\n{BOUND.format(f'partial(seed, base={base})')}")
    assert list(semantics.of(WorkerSeeds).found) == nodes


@pytest.mark.parametrize(
    ("seed", "after", "is_fixed"),
    [
        ("random.seed(worker)\ntorch.manual_seed(worker)", "", True),
        ("torch.manual_seed(worker)\nnp.random.seed(worker)", "", True),
        ("random.seed(worker)\ntorch.manual_seed(seed=worker)", "", False),
        ("random.seed(worker)\ntorch.manual_seed(SEEDS[0])", "", False),
        ("random.seed(worker)\nseed_all(worker)", "", False),
        ("random.seed(worker)\ntorch.cuda.manual_seed(worker)", "", False),
        ("random.seed(worker)", "seed(4)\n", False),
        ("random.seed(worker)", "other = seed\n", False),
    ],
)
def test_a_fix_leaves_no_seed_behind(seed: str, after: str, is_fixed: bool) -> None:
    found = [each for each in lint(snippet(seed) + "\n" + after, select=["TPL332"]) if each.code == "TPL332"]
    assert [each.fix is not None for each in found] == [is_fixed]


DRAWN = [
    ("class A:\n    def __getitem__(self, i):\n        return {}\n", True),
    ("class A:\n    def __call__(self, x):\n        return {}\n", True),
    ("class A:\n    def __getitem__(self, i):\n        return self.x(i)\n\n    def x(self, i):\n        return {}\n", True),
    ("class A:\n    def __init__(self):\n        self.x = {}\n\n    def __getitem__(self, i):\n        return self.x\n", False),
    ("class A(torch.nn.Module):\n    def __call__(self, x):\n        return {}\n", False),
    ("class A:\n    def __iter__(self):\n        return {}\n", False),
    ("class A:\n    def sample(self):\n        return {}\n", False),
    ("class A:\n    def __getitem__(self, i):\n        torch.manual_seed(i)\n        return {}\n", False),
    ("x = {}\n", False),
]


@pytest.mark.parametrize("draw", ["torch.randn(4)", "torch.rand(4, generator=self.generator)", "torch.zeros(4)"])
@pytest.mark.parametrize(("code", "is_drawn"), DRAWN)
def test_classes_that_draw(code: str, is_drawn: bool, draw: str) -> None:
    head = HEAD[: HEAD.index("class Drawn")]
    seeded = "def seed(worker):\n    torch.manual_seed(worker)\n"
    semantics, _ = marked(f"{head}{code.format(draw)}\n{seeded}{LOADER.format('shuffle=True, num_workers=4')}")
    [found] = semantics.of(WorkerSeeds).found.values()
    assert found.is_drawn is (is_drawn and draw == "torch.randn(4)")


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
        (f"import pytest\n\n{CLASS.format('random.random()')}", set()),
        (f"{CLASS.format('random.random()')}\ndef test_images():\n    pass\n", set()),
        (CLASS.format("torch.rand(4, generator=self.generator)"), set()),
        (f"{CLASS.format('index')}\n    def __init__(self):\n        self.x = torch.rand(4)\n", set()),
        (f"{CLASS.format('random.random()')}\n    def start(self):\n        random.seed(4)\n", set()),
        ("class Flip:\n    def __call__(self, x):\n        return torch.rand(4)\n", set()),
        ("class Flip:\n    def __call__(self, x):\n        return x if random.random() < 1 else x\n", {"random"}),
    ],
)
def test_what_code_draws(code: str, drawn: set[str]) -> None:
    assert {topic for topic, draws in DRAWING.items() if draws(code.encode())} == {f"draws of {each}" for each in drawn}
