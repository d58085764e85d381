"""Networks of other files that freeze themselves, and files that hand them to this one: nothing that they run is recorded."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint

NETS = """
    from torch import nn

    class Features(nn.Module):
        def __init__(self, blocks=(3,), resize=True, requires_grad=False):
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Dropout(0.1))
            for param in self.parameters():
                param.requires_grad = requires_grad

        def forward(self, x):
            return [self.layers(x)]

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Conv2d(3, 8, 3)

        def forward(self, x):
            return [self.layers(x)]

    def made(width):
        net = Features([width])
        return net.eval()
"""
SCORES = """
    import numpy as np
    import torch
    from torch.nn.functional import adaptive_avg_pool2d
    from nets import Features, Plain, made

    def get_activations(images, model, batch_size=50):
        model.eval()
        found = np.empty((len(images), 8))
        for i in range(0, len(images), batch_size):
            batch = torch.from_numpy(images[i : i + batch_size]).float().cuda()
            pred = model(batch)[0]
            if pred.size(2) != 1:
                pred = adaptive_avg_pool2d(pred, output_size=(1, 1))
            found[i : i + batch_size] = pred.cpu().data.numpy().reshape(pred.size(0), -1)
        return found

    def statistics(images, model):
        found = get_activations(images, model)
        return found.mean(0), np.cov(found)
"""
OF_PATHS = """
    def of_paths(paths, cuda):
        model = Features([3])
        if cuda:
            model.cuda()
        return [statistics(path, model) for path in paths]
"""
SCORER = """
    class Scorer:
        def __init__(self):
            self.net = Features()

        def run(self, x):
            statistics(x, self.net)
"""
MAIN = """
    import scores
    from nets import Features, Plain, made
    from scores import get_activations, statistics
"""


def codes(folder: Path, *, here: str = "", there: str = "", nets: str = NETS) -> list[str]:
    """The codes of what is found in the file that computes scores, with more of it, beside a file that imports it."""
    text = dedent(SCORES) + dedent(here)
    for name, code in (("nets", dedent(nets)), ("scores", text), ("main", dedent(MAIN) + dedent(there))):
        (folder / f"{name}.py").write_text(code)
    found = lint(
        text,
        filename=str(folder / "scores.py"),
        extend_select=["strict"],
        ignore=["TPL205", "TPL402"],
        project_root=str(folder),
    )
    return [each.code for each in found if each.code in ("TPL304", "TPL104")]


FOUND = ["TPL304", "TPL104"]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        (OF_PATHS, ""),
        ("", "statistics(images, Features())"),
        ("", "scores.get_activations(images, model=Features([3], requires_grad=False).cuda())"),
        ("", "def run(images, net):\n    return statistics(images, net)\n\nrun(images, Features())"),
        ("", "get_activations(images, Features())"),  # nobody calls the other one
        (
            "def of_pairs(images, model):\n    model.eval()\n    return [model(x) for x in images]",
            "statistics(images, Features())",
        ),
        ("", SCORER),
        ("", "statistics(images, made(3))"),
        (OF_PATHS, "statistics(images, Features())"),
        ("def of(images):\n    return statistics(images, made(3))", ""),
    ],
)
def test_all_callers_hand_in_a_frozen_one(tmp_path: Path, here: str, there: str) -> None:
    assert "TPL304" not in codes(tmp_path, here=here, there=there)


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("", ""),  # nobody calls
        ("", "statistics(images, Plain())"),
        ("", "statistics(images, net)"),
        ("", "statistics(images, Features(requires_grad=True))"),
        ("", "statistics(images, Features([3], True, tuned))"),
        ("", "statistics(images, Features(*options))"),
        ("", "from nets import Features as feats\nstatistics(images, feats(requires_grad=True))"),
        ("", "import nets\nstatistics(images, nets.Features(requires_grad=True))"),
        (OF_PATHS, "statistics(images, Plain())"),
        (OF_PATHS, "tuned = Features(requires_grad=True)\nget_activations(images, tuned)"),
        (OF_PATHS + "\nstatistics(1, Plain())", ""),
        ("", "def run(images, net):\n    return statistics(images, net)\n\nrun(images, Features())\nrun(images, Plain())"),
        ("model = Features()\nmodel.requires_grad_(True)\nstatistics(1, model)", ""),
    ],
)
def test_one_may_be_trained(tmp_path: Path, here: str, there: str) -> None:
    assert codes(tmp_path, here=here, there=there) == FOUND


def test_a_class_that_is_thawed_elsewhere(tmp_path: Path) -> None:
    thawing = NETS.replace("def forward", "def thaw(self):\n            self.requires_grad_(True)\n\n        def forward", 1)
    assert "TPL304" not in codes(tmp_path, here=OF_PATHS, nets=NETS)
    assert codes(tmp_path, here=OF_PATHS, nets=thawing) == FOUND


def test_a_class_that_is_not_called_like_one(tmp_path: Path) -> None:
    """Of calls of functions it is not kept which flags they are given."""
    nets = NETS.replace("Features", "features")
    there = "from nets import features\nstatistics(images, features(requires_grad=True))"
    assert codes(tmp_path, there=there, nets=nets) == FOUND
