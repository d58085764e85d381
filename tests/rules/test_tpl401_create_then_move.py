"""TPL401 beyond its fixtures: its screen, and what depends on the rest of the file."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules.catalogue import Entry
from torchlint.rules.performance.tpl401_create_then_move import CreateThenMove
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def fixed(line: str) -> str:
    return (
        fix(Source(f"import torch\n{line}\n"), [Entry.of(CreateThenMove)], Applicability.UNSAFE)
        .text.removeprefix("import torch\n")
        .strip()
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = torch.zeros((n)).cuda()", 'x = torch.zeros((n), device="cuda")'),
        ("x = torch.zeros(n,).cuda()", 'x = torch.zeros(n, device="cuda",)'),
        ("x = torch.zeros(*size).cuda()", 'x = torch.zeros(*size, device="cuda")'),
        ("x = (torch.zeros(n)).cuda()", 'x = (torch.zeros(n, device="cuda"))'),
        ("x = torch.eye(n)[None, :].cuda()", 'x = torch.eye(n, device="cuda")[None, :]'),
        ("x = torch.zeros(n).to(d, torch.long)", "x = torch.zeros(n).to(d, torch.long)"),
        ("x = torch.zeros(n).to(device).long()", "x = torch.zeros(n, dtype=torch.int64, device=device)"),
        ("x = torch.ones(n).to(y.device).cuda()", 'x = torch.ones(n, device="cuda")'),
        ("x = torch.zeros(len(')')).cuda()", "x = torch.zeros(len(')'), device=\"cuda\")"),
        ("x = torch.ones(n).to(device=pick(\n    n)).long()", "x = torch.ones(n, dtype=torch.int64, device=pick(n))"),
        (
            "x = torch.zeros([n, 2]).cuda(gpu,\n                             non_blocking=True)",
            "x = torch.zeros([n, 2], device=gpu)",
        ),
        (
            "x = f(torch.zeros(n).to(device,\n                        non_blocking=True),\n      y)",
            "x = f(torch.zeros(n, device=device),\n      y)",
        ),
        ("x = torch.arange(n).float().long()", "x = torch.arange(n, dtype=torch.float32).long()"),
    ],
)
def test_the_factory_gets_the_arguments(line: str, expected: str) -> None:
    assert fixed(line) == expected


def test_a_comment_in_a_call_that_would_go_forbids_the_fix() -> None:
    text = "import torch\nx = (\n    torch.zeros(3)\n    # to the GPU\n    .to(\n        device{}\n    )\n)\n"
    forbidden, allowed = (text.format(end) for end in (",  # where the model is", ""))
    assert fix(Source(forbidden), [Entry.of(CreateThenMove)], Applicability.UNSAFE).text == forbidden
    repaired = fix(Source(allowed), [Entry.of(CreateThenMove)], Applicability.UNSAFE).text
    assert repaired == "import torch\nx = (\n    torch.zeros(3, device=device)\n    # to the GPU\n)\n"


def test_the_screen_is_quick_about_long_comments() -> None:
    text = "import torch\nx = torch.zeros(3)  # " + ") " * 5000 + "\n" + "# )\n" * 5000
    assert lint(Source(text), [Entry.of(CreateThenMove)]) == []


def test_factories_have_no_device_before_0_4() -> None:
    source = Source("import torch\nx = torch.zeros(3).cuda()\n")
    assert lint(source, [Entry.of(CreateThenMove)], options=Options(target=TorchVersion(0, 3))) == []
    assert len(lint(source, [Entry.of(CreateThenMove)], options=Options(target=TorchVersion(0, 4)))) == 1


FACTORIES = """zeros(3, 4)|ones((2, 3))|empty(0)|eye(3)|arange(5)|arange(1, 9, 2)|arange(0, 1, 0.25)|full((2,), 3)
full((2,), 0.1)|full((2,), True)|linspace(0, 9, 4)|logspace(0, 1, 3)|tensor([1, 2])|tensor([0.1, 2])|tensor([True, False])
tensor(3)|zeros_like(floats)|ones_like(integers)|full_like(floats, 2)|tril_indices(3, 3)|zeros(3, dtype=torch.int32)
hann_window(4)
arange(5, dtype=torch.int16)|scalar_tensor(2)|arange(6)[None, :]|ones(2, 3).t()""".replace("\n", "|").split("|")
CASTS = """float()|double()|half()|bfloat16()|int()|long()|short()|byte()|char()|bool()|to(torch.float64)|to(dtype)
to(device, torch.int64)|to(device).float()|to(device).bool()|type_as(integers)|to(floats)|type(torch.LongTensor)""".replace(
    "\n", "|"
).split("|")


@pytest.mark.parametrize("factory", FACTORIES)
def test_a_safe_fix_makes_the_very_same_tensor(factory: str) -> None:
    torch = pytest.importorskip("torch")
    names = {
        "torch": torch,
        "floats": torch.ones(2, 2),
        "integers": torch.ones(3, dtype=torch.int64),
        "dtype": torch.float64,
        "device": torch.device("cpu"),
    }
    for cast in CASTS:
        text = f"import torch\nx = torch.{factory}.{cast}\n"
        repaired = fix(Source(text), [Entry.of(CreateThenMove)], Applicability.SAFE).text
        if repaired != text:
            before, after = dict(names), dict(names)
            exec(text, before)
            exec(repaired, after)
            assert before["x"].dtype == after["x"].dtype, repaired
            assert torch.equal(before["x"], after["x"]), repaired


TRAINS = """
class Net(nn.Module):
    def forward(self, x):
        return self.rnn(x, torch.zeros(2, x.size(0), 8).to(x.device))

net = Net()
for x, y in loader:
    F.mse_loss(net(x), y).backward()
"""


@pytest.mark.parametrize(
    ("more", "strict"),
    [
        ("", True),
        ("net.cuda()", False),
        ("device = pick()\nnet.to(device)", False),
        ("net = accelerator.prepare(net)", False),
        ("net.to(options['device'])", False),
        ("def run(device):\n    net.to(device)", False),
    ],
)
def test_a_script_that_knows_the_cpu_alone_copies_nothing_to_where_a_tensor_is(more: str, strict: bool) -> None:
    source = Source(f"import torch\nfrom torch import nn\nimport torch.nn.functional as F\n{TRAINS}\n{more}\n")
    lenient = Options(lenient=frozenset({"TPL401"}))
    assert len(lint(source, [Entry.of(CreateThenMove)])) == 1
    assert (lint(source, [Entry.of(CreateThenMove)], lenient) == []) is strict


def test_a_file_that_trains_nothing_is_for_others_who_may_have_a_gpu() -> None:
    source = Source(f"import torch\nfrom torch import nn\n{TRAINS.partition('net = ')[0]}")
    assert len(lint(source, [Entry.of(CreateThenMove)], Options(lenient=frozenset({"TPL401"})))) == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = torch.tensor(0).float().to(y.device)", 0),
        ("n = 3\nx = torch.tensor(n).float().cuda()", 0),
        ("x = torch.tensor([0, 1]).float().cuda()", 1),
        ("x = torch.full((3,), 0).float().cuda()", 1),
    ],
)
def test_one_number_comes_from_the_host_in_any_case(line: str, expected: int) -> None:
    lenient = Options(lenient=frozenset({"TPL401"}))
    assert len(lint(Source(f"import torch\n{line}\n"), [Entry.of(CreateThenMove)], lenient)) == expected
