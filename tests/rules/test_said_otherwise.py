"""What a file or its project says besides, so that a finding would be wrong or not worth acting on: TPL204, 302, 401, 504."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import fix, lint


def codes(text: str, code: str, **options: str) -> list[str]:
    return [each.code for each in lint(text, **options) if each.code == code]  # type: ignore[arg-type]


VIEWS = """
import torch
from torch.utils.data import DataLoader
loader = DataLoader(data, batch_size=1, shuffle=True)
for image in loader:
    image = torch.as_tensor(image)
    out = image.permute(1, 0, 2, 3).contiguous().permute(1, 0, 2, 3)
    flat = out.view(2, -1)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (VIEWS, []),
        (VIEWS.replace("batch_size=1", "batch_size=4"), ["TPL204"]),
        (VIEWS.replace("batch_size=1", "batch_size=size"), ["TPL204"]),
        (VIEWS.replace("for image", "others = DataLoader(data, 8)\nfor image"), ["TPL204"]),
        (VIEWS.replace("permute(1, 0, 2, 3)\n", "permute(0, 1, 3, 2)\n"), ["TPL204"]),  # the batch stays where it is
    ],
)
def test_batches_of_one_can_be_viewed(text: str, expected: list[str]) -> None:
    assert codes(text, "TPL204") == expected


FORWARDS = """
def train(model, x, optimizer):
    model.train()
    loss = model.forward(x)
    loss.backward()
    optimizer.step()
"""
PLAIN = """
class Detector:
    def __init__(self, net):
        self.net = net
    def train(self):
        self.net.train()
    def forward(self, x):
        return self.net(x).sum()
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (PLAIN, []),
        (PLAIN.replace("Detector", "Detector(object)"), []),
        (PLAIN.replace("Detector", "Detector(nn.Module)"), ["TPL302"]),
        (PLAIN.replace("def forward", "def run"), ["TPL302"]),
        (PLAIN.replace("def train", "def show"), ["TPL302"]),
        (PLAIN.replace("def forward", "def __call__(self, x):\n        return x\n    def forward"), ["TPL302"]),
        (PLAIN.replace("    def forward", "class Other(nn.Module):\n    def forward"), ["TPL302"]),
    ],
)
def test_an_unknown_receiver_may_be_what_the_project_defines(tmp_path: Path, other: str, expected: list[str]) -> None:
    (tmp_path / "other.py").write_text(other)
    text = f"import torch\n{FORWARDS}"
    assert codes(text, "TPL302", filename=str(tmp_path / "main.py"), project_root=str(tmp_path)) == expected


@pytest.mark.parametrize("other", [PLAIN])
def test_a_known_one_is_none_of_these(tmp_path: Path, other: str) -> None:
    (tmp_path / "other.py").write_text(other)
    text = "import torch\nnet = torch.nn.Linear(2, 2)\nprint(net.forward(torch.ones(2)))"
    assert codes(text, "TPL302", filename=str(tmp_path / "main.py"), project_root=str(tmp_path)) == ["TPL302"]


TRIED = """
import torch
class Loss(torch.nn.Module):
    def forward(self, x):
        return x.mean()
if __name__ == "__main__":
    x = torch.randn(4, 2).cuda()
    Loss()(x).backward()
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TRIED, []),
        (TRIED + "    optimizer.step()", ["TPL401"]),
        (
            TRIED.replace("class Loss(torch.nn.Module):\n    def forward", "def forward").replace("return", "return 1 +"),
            ["TPL401"],
        ),
        ("import torch\ndef state(b, d):\n    return torch.zeros(b, 0, d).cuda()", []),
        ("import torch\ndef state(b, d):\n    return torch.zeros((b, 0, d)).cuda()", []),
        ("import torch\ndef state(b, d):\n    return torch.zeros(b, 1, d).cuda()", ["TPL401"]),
        ("import torch\ndef count_flops(net, size):\n    net(torch.randn(size).cuda())", []),
        ("import torch\ndef forward_all(net, size):\n    net(torch.randn(size).cuda())", ["TPL401"]),
    ],
)
def test_inputs_that_try_something_out_and_tensors_without_numbers_are_strict(text: str, expected: list[str]) -> None:
    assert codes(text, "TPL401") == expected


LOADED = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
        self.decoder = nn.Dropout()
    def forward(self, x):
        return self.decoder(self.encoder(x))
def speak(model, x):
    # said
    return model(x)
def main(path, x):
    net = Net()
    net.load_state_dict(torch.load(path, map_location="cpu"))
    return speak(net, x)
"""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("pass", ["TPL504"]),
        ("model.encoder.eval()", []),
        ("other.encoder.eval()", ["TPL504"]),
        ("model.encoder.train()", ["TPL504"]),
    ],
)
def test_who_sets_the_modes_of_parts_has_decided(said: str, expected: list[str]) -> None:
    assert codes(LOADED.replace("# said", said), "TPL504") == expected


def test_a_copy_before_a_statement_that_saves_and_changes_the_same_mends_nothing() -> None:
    code = (
        "import torch\nimport torch.nn as nn\n\nclass Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.bn = nn.BatchNorm1d(4)\n        self.fc = nn.Linear(4, 4)\n\n    def forward(self, x):\n"
        "        out = self.fc(x)\n        out[0] = self.bn(out)\n        return out\n"
    )
    result = fix(code, select=["TPL011"], unsafe=True)
    assert result.text == code and not result.errors
    assert [each.code for each in result.remaining] == ["TPL011"]
