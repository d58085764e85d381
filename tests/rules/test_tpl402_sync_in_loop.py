"""TPL402: where a value that is read in each step can be read after the loop instead."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.rules.catalogue import Entry
from torchlint.rules.performance.tpl402_sync_in_loop import SyncInLoop
from torchlint.text.source import Source

SCRIPT = """
import torch
from torch import nn, optim

model = nn.Linear(4, 1).cuda()
optimizer = optim.SGD(model.parameters(), lr=0.1)
total, losses = 0.0, []
def train(loader):
    total = 0.0
    losses = []
    for x in loader:
        loss = model(x.cuda()).mean()
        loss.backward()
        optimizer.step()
        LINE
    return total, losses
"""


def script(line: str) -> str:
    return textwrap.dedent(SCRIPT).replace("LINE", line)


@pytest.mark.parametrize(
    ("line", "inside", "behind"),
    [
        ("total += loss.item()", "total += loss.detach()", "total = float(total)"),
        ("total += float(loss)", "total += loss.detach()", "total = float(total)"),
        ("total += 2 * loss.item()", "total += 2 * loss.detach()", "total = float(total)"),
        ("total += loss.detach().cpu().item()", "total += loss.detach()", "total = float(total)"),
        (
            "losses.append(loss.item())",
            "losses.append(loss.detach())",
            "losses = torch.stack(losses).tolist() if losses else []",
        ),
        ("total += loss.item()  # the mean", "total += loss.detach()  # the mean", "total = float(total)"),
    ],
)
def test_what_is_only_added_up_is_read_after_the_loop(line: str, inside: str, behind: str) -> None:
    text = fix(Source(script(line)), [Entry.of(SyncInLoop)], Applicability.UNSAFE).text
    assert f"        {inside}\n    {behind}\n    return total, losses\n" in text
    assert lint(Source(text), [Entry.of(SyncInLoop)]) == []


@pytest.mark.parametrize(
    "line",
    [
        "total += loss.item(); print(total)",
        "total -= loss.item()",
        "total = total + loss.item()",
        "total += loss.item() ** 2",
        "losses.append((loss.item(), 1))",
        "losses.insert(0, loss.item())",
        "total += (model(x.cuda()) > 0).sum().item()",
    ],
)
def test_what_is_used_otherwise_is_reported_without_a_fix(line: str) -> None:
    found = lint(Source(script(line)), [Entry.of(SyncInLoop)])
    assert found
    assert all(diagnostic.fix is None for diagnostic in found)


def test_a_list_that_outlives_the_loop_is_left_alone() -> None:
    text = script("losses.append(loss.item())").replace("    losses = []\n", "    global losses\n")
    (found,) = lint(Source(text), [Entry.of(SyncInLoop)])
    assert found.fix is None


@pytest.mark.parametrize(
    "wait",
    [
        "print(loss)",
        "history.append(loss.item())",
        "if loss > 10: break",
        "while loss > 10: loss = loss / 2",
        "assert loss < 10",
        "torch.cuda.synchronize()",
    ],
)
def test_there_is_no_fix_where_another_wait_stays(wait: str) -> None:
    found = lint(Source(script(f"total += loss.item()\n        {wait}")), [Entry.of(SyncInLoop)])
    assert found and all(each.fix is None for each in found)
    assert "add up" not in found[0].message


@pytest.mark.parametrize(
    "wait", ["if step % 10 == 0: print(loss)", "if step % 10 == 0: torch.cuda.synchronize()", "count += 1"]
)
def test_what_is_not_awaited_in_each_step_does_not_matter(wait: str) -> None:
    [found] = lint(Source(script(f"total += loss.item()\n        {wait}")), [Entry.of(SyncInLoop)])
    assert found.fix is not None
