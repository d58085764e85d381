"""TPL014 in notebooks, which show the result of a cell's last statement."""

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
