"""TPL014 in notebooks, which show the result of a cell's last statement, and of several results in one statement."""

from __future__ import annotations

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.autograd.tpl014_discarded_result import DiscardedResult
from torchlint.rules.catalogue import Entry
from torchlint.text.source import Source

CELLS = """\
# torchlint: cell 1
import torch
x = torch.ones(2, 3)
# torchlint: cell 2
x.view(3, 2)
# torchlint: cell 3
x.add(1)
x.add(2)  # shown

# the end

# torchlint: cell 4
for _ in range(3):
    x.add(3)
# torchlint: cell 5
x.cuda()
print(x)
x.t()
"""


def rows(text: str) -> list[int]:
    return [found.location.row for found in lint(Source(text), [Entry.of(DiscardedResult)])]


@pytest.mark.parametrize("marker", ["# torchlint: cell ", "# In [", "# %% ", "#%% "])
def test_what_a_notebook_shows_is_not_thrown_away(marker: str) -> None:
    assert rows(CELLS.replace("# torchlint: cell ", marker)) == [7, 14, 16]


def test_a_script_shows_nothing() -> None:
    assert rows(CELLS.replace("# torchlint: cell", "# part")) == [5, 7, 8, 14, 16, 18]


ACCURACY = """\
import torch
net = torch.nn.Linear(2, 3)
def accuracy(loader, device):
    for x, y in loader:
        y = torch.as_tensor(y)
        y.to(device)
        guess = {guess}.argmax(dim=1)
        print({compared})
"""


@pytest.mark.parametrize(
    ("guess", "compared", "assigned"),
    [
        ("net(x).cpu().detach()", "guess.eq(y.view_as(guess)).sum()", False),
        ("net(x).to('cpu')", "(y == guess).sum()", False),
        ("net(x)", "guess.eq(y.view_as(guess)).sum()", True),
        ("net(x).cpu().to(device)", "(guess == y).sum()", True),
        ("net(x).cpu()", "(guess == y.cpu()).sum()", True),
    ],
)
def test_what_meets_a_tensor_that_was_moved_to_the_cpu_is_not_moved_from_it(guess: str, compared: str, assigned: bool) -> None:
    text = ACCURACY.format(guess=guess, compared=compared)
    assert rows(text) == [6]
    fixed = fix(Source(text), [Entry.of(DiscardedResult)], Applicability.UNSAFE).text
    assert ("y = y.to(device)" in fixed) is assigned


PAIR = "import torch\ndef f(x: torch.Tensor, y: torch.Tensor, net: torch.nn.Linear, z):\n    {}\n    return net(x), y, z\n"


@pytest.mark.parametrize(
    ("line", "fixed"),
    [
        ("x.cuda(), y.cuda()", "x, y = x.cuda(), y.cuda()"),
        ("(x.cuda(), y.add(1))", "x, y = (x.cuda(), y.add(1))"),
        ("[x.cuda(), y.cuda()]", "x, y = [x.cuda(), y.cuda()]"),
        ("x.cuda(), y.cuda(), z.cuda()", None),
        ("x.cuda(), net.cuda()", None),
        ("x.cuda(), x.float()", None),
        ("x.cuda(), y.sum()", None),
        ("x.cuda(),", None),
        ("*x.cuda(), y.cuda()", None),
    ],
)
def test_several_results_are_thrown_away_together(line: str, fixed: str | None) -> None:
    text = PAIR.format(line)
    assert rows(text) == [3]
    assert fix(Source(text), [Entry.of(DiscardedResult)], Applicability.UNSAFE).text == PAIR.format(fixed or line)


@pytest.mark.parametrize("line", ["net.cuda(), net.eval()", "print(x), print(y)", "x.add_(1), y.zero_()", "z.cuda(), z.add(1)"])
def test_several_calls_that_act(line: str) -> None:
    assert rows(PAIR.format(line)) == []


def test_several_results_that_a_notebook_shows() -> None:
    assert rows("# torchlint: cell 1\nimport torch\nx = torch.ones(2)\nx.add(1), x.add(2)\n") == []
