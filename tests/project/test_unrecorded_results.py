"""What other files' functions and methods give that turn autograd off themselves, and who calls what only shows."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from torchlint import lint

INFERRING = """
    import functools
    import torch
    from torch import nn

    class Predictor:
        def __init__(self, net):
            self.net = net

        @torch.no_grad()
        def infer(self, x):
            return self.net(x)

        @torch.no_grad()
        def shown(self, x):
            print(x)
            return x

        def run(self, x):
            return self.net(x)

    class Quiet(Predictor):
        pass

    class Loud(Predictor):
        def infer(self, x):
            return self.net(x)

    class Frozen(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        @torch.inference_mode()
        def forward(self, x):
            return self.fc(x)

    @torch.no_grad()
    def infer(net, x):
        return net(x)

    @torch.inference_mode
    def pair(net, x):
        return net(x), 3

    @torch.no_grad()
    def shown(x):
        print(x)
        return x

    @torch.enable_grad()
    def recorded(net, x):
        return net(x)

    def plain(net, x):
        return net(x)
"""


def codes(tmp_path: Path, body: str, *, start: str = "") -> list[str]:
    (tmp_path / "inferring.py").write_text(dedent(INFERRING))
    text = f"import torch\nfrom torch import nn\nfrom inferring import *\n{start}\n\ndef f(net, x, p):\n    {body}\n"
    return [each.code for each in lint(text, filename=str(tmp_path / "main.py"), project_root=str(tmp_path))]


@pytest.mark.parametrize(
    ("body", "start"),
    [
        ("out = infer(net, x)\n    return torch.max(out.data, 1)", ""),
        ("return torch.max(infer(net, x).data, 1)", ""),
        ("return infer(net, x).data.cpu().numpy()", ""),
        ("out, n = pair(net, x)\n    return torch.exp(out.data)", ""),
        ("out = Predictor(net).infer(x)\n    return torch.exp(out.data)", ""),
        ("out = Quiet(net).infer(x)\n    return torch.exp(out.data)", ""),
        ("out = Frozen()(x)\n    return torch.exp(out.data)", ""),
        ("out = infer(net, x)\n    out = torch.softmax(out, dim=1)\n    return torch.exp(out.data)", ""),
        ("out = nn.Softmax(dim=1)(infer(net, x))\n    return torch.exp(out.data)", ""),
        ("out = p.infer(x)\n    return torch.exp(out.data)\n\nf(1, 2, Predictor(3))\nf(1, 2, Quiet(3))", ""),
        ("from torchvision.utils import make_grid\n    out = make_grid(net(x))\n    return out.data.cpu().numpy()", ""),
    ],
)
def test_what_is_decorated_in_another_file_gives_no_graph(tmp_path: Path, body: str, start: str) -> None:
    assert codes(tmp_path, body, start=start) == []


@pytest.mark.parametrize(
    "body",
    [
        "out = plain(net, x)\n    return torch.exp(out.data)",
        "out = recorded(net, x)\n    return torch.exp(out.data)",
        "x = net(x)\n    out = shown(x)\n    return torch.exp(out.data)",  # as it was given
        "x = net(x)\n    out = Predictor(net).shown(x)\n    return torch.exp(out.data)",
        "out = Predictor(net).run(x)\n    return torch.exp(out.data)",
        "out = Loud(net).infer(x)\n    return torch.exp(out.data)",  # overridden
        "out = nn.Linear(3, 3)(infer(net, x))\n    return torch.exp(out.data)",  # with parameters
        "out = infer(net, x)\n    if p:\n        out = net(x)\n    return torch.exp(out.data)",  # one of both branches
        "out = p.infer(x)\n    return torch.exp(out.data)\n\nf(1, 2, Predictor(3))\nf(1, 2, Loud(3))",
        "infer = net.infer\n    out = infer(net, x)\n    return torch.exp(out.data)",  # rebound
    ],
)
def test_what_may_have_a_graph_is_told_of(tmp_path: Path, body: str) -> None:
    assert codes(tmp_path, body) == ["TPL002"]


SHOWN = """
    import torch

    def drawn(x):
        fake = model(x)
        return fake.data.cpu().numpy()

    def compared(a, b):
        return drawn(a), drawn(b)
"""


@pytest.mark.parametrize(
    ("calls", "more", "expected"),
    [
        ("with torch.no_grad():\n    compared(net(x), y)", "", []),
        ("compared(net(x), y)", "", ["TPL104"]),
        ("with torch.no_grad():\n    compared(net(x), y)\ncompared(net(y), y)", "", ["TPL104"]),
        ("with torch.no_grad():\n    compared(net(x), y)\ndrawn(net(y))", "", ["TPL104"]),
        ("with torch.no_grad():\n    compared(net(x), y)", "handed_on = [drawn]\n", ["TPL104"]),
        ("with torch.no_grad():\n    compared(net(x), y)", "def more(x):\n    return drawn(x)\n", ["TPL104"]),
        ("print(compared)", "def rounds(x):\n    drawn(x)\n    return rounds(x)\n", ["TPL104"]),
    ],
)
def test_callers_of_callers_turn_autograd_off(tmp_path: Path, calls: str, more: str, expected: list[str]) -> None:
    text = dedent(SHOWN) + "\n" + more
    (tmp_path / "shown.py").write_text(text)
    (tmp_path / "main.py").write_text(f"import torch\nfrom shown import compared, drawn\n{calls}\n")
    found = lint(text, filename=str(tmp_path / "shown.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


@pytest.mark.parametrize(
    ("main", "run", "expected"),
    [
        ("def check(net, x):\n    compared(net(x), x)", "with torch.no_grad():\n    check(net, x)", []),
        ("def check(net, x):\n    compared(net(x), x)", "@torch.no_grad()\ndef run(net, x):\n    check(net, x)", []),
        ("def check(net, x):\n    compared(net(x), x)", "check(net, x)", ["TPL104"]),
        ("def check(net, x):\n    compared(net(x), x)", "with torch.no_grad():\n    check(net, x)\ncheck(net, y)", ["TPL104"]),
        ("def check(net, x):\n    compared(net(x), x)", "", ["TPL104"]),  # nobody tells
        ("def check(net, x):\n    compared(net(x), x)\n    check(net, x)", "", ["TPL104"]),
        ("def check(net, x):\n    for a in x:\n        compared(net(a), a)\n\nmatched = check", "", ["TPL104"]),
        ("def main(net, x):\n    compared(net(x), x)", "from main import main\nwith torch.no_grad():\n    main(x)", ["TPL104"]),
        (
            "class Judge:\n    def check(self, x):\n        compared(x, x)",
            "with torch.no_grad():\n    judge = Judge()\n    judge.check(net(x))",
            [],
        ),
        (
            "class Judge:\n    def check(self, x):\n        compared(x, x)",
            "judge = Judge()\njudge.check(net(x))",
            ["TPL104"],
        ),
        (
            "def check(net, x):\n    compared(net(x), x)\n\ndef each(net, xs):\n    for x in xs:\n        check(net, x)",
            "with torch.no_grad():\n    each(net, x)",
            [],
        ),
    ],
)
def test_callers_in_other_files_have_callers(tmp_path: Path, main: str, run: str, expected: list[str]) -> None:
    text = dedent(SHOWN)
    (tmp_path / "shown.py").write_text(text)
    (tmp_path / "main.py").write_text(f"import torch\nfrom shown import compared, drawn\n\n{main}\n")
    names = "Judge" if "Judge" in main else "check"
    (tmp_path / "run.py").write_text(
        f"import torch\nfrom main import {names}\n{'from main import each' * ('each' in run)}\n\n{run}\n"
    )
    found = lint(text, filename=str(tmp_path / "shown.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected
