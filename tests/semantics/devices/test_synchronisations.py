"""What training waits for in every step."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics.devices.synchronisations import Reading, Synchronisations, Total

LOOP = """\
import torch
from torch import nn, optim

def train(loader, net: nn.Module, other, flag):
    net.cuda()
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    total = 0.0
    count = 0
    losses = []
    for x, y in loader:
        loss = net(x.cuda()).mean()
        loss.backward()
        optimizer.step()
{}
    return total, losses
"""


def reading(line: str, program: str = LOOP) -> Reading[ast.expr, ast.For | ast.AsyncFor | ast.While] | None:
    """What is found at the marked call of a line in a training loop."""
    semantics, (call,) = marked(program.format(indent(line, " " * 8)))
    assert isinstance(call, ast.Call)
    return semantics.of(Synchronisations).readings.get(call)


@pytest.mark.parametrize(
    ("line", "tensor"),
    [
        ("total += «loss.item()»", "loss"),
        ("total += «float(loss)»", "loss"),
        ("total += «loss.detach().cpu().item()»", "loss.detach()"),
        ("out = «net(x).tolist()»", "net(x)"),
        ("«print(flag, loss)»", "loss"),
        ('«print(f"{loss:.3f}")»', "loss"),
        ('«print("{}".format(loss))»', "loss"),
        ('«other.add_scalar("loss", loss, 1)»', "loss"),
        ('«other.add_scalar("loss", scalar_value=loss.detach())»', "loss.detach()"),
        ("«other.set_postfix(rate=1, loss=loss)»", "loss"),
        ("«other.set_postfix({'rate': 1, 'loss': loss})»", "loss"),
        ("«other.set_postfix(dict(loss=loss), refresh=False)»", "loss"),
        ("«other.set_postfix(ordered_dict={'loss': loss})»", "loss"),
        ("«print(loss if flag else -loss)»", "loss if flag else -loss"),
        ("n = «loss.cpu()»\nprint(n)", "loss"),
        ("n = loss.cpu().cuda()\n«print(n)»", "n"),
        ("n = loss.cpu() if flag else loss\n«print(n)»", "n"),
        ("y = flag or «loss.item()»", "loss"),
        ('«other.set_description(f"{flag} {loss:.3f}")»', "loss"),
        ("with open(flag):\n    other.append(«loss.item()»)", "loss"),
        ("for part in range(3):\n    other.append(«loss.item()»)", "loss"),
        ("hits = «(net(x).argmax(1) == y).sum().item()»", "(net(x).argmax(1) == y).sum()"),
    ],
)
def test_what_is_read_back(line: str, tensor: str) -> None:
    found = reading(line)
    assert found is not None
    assert ast.unparse(found.tensor) == tensor
    assert found.loop is not None


@pytest.mark.parametrize(
    "line",
    [
        "if flag:\n    print(«loss.item()»)",
        "total += «y.sum().item()»",
        "other.append(lambda: «loss.item()»)",
        "shown = «loss.item()» if flag else None",
        "torch.cuda.synchronize()\ntotal += «loss.item()»",
        # now and then
        "«other.add_scalar('loss', loss if count % 10 == 0 else 0, 1)»",
        "«print(loss if flag else 0)»",
        "count % 10 or «print(loss)»",
        "count % 10 == 0 and «print(loss)»",
        "flag and «print(loss)»",
        "if count % 10 == 0 and «loss.item()» > 3: break",
        # read before
        "n = loss.cpu()\n«other.add_scalar('loss', n, 1)»",
        "n = loss.cpu()\n«print(n)»",
        "n = loss.detach().to('cpu')\nm = n.mean()\n«print(m)»",
        "n = loss.cpu()\ntotal += «n.item()»",
        "«other.set_postfix({'n': loss.numel()})»",
        "total += «loss.detach()»",
        "total += «other.item()»",
        "try:\n    pass\nexcept Exception:\n    print(«loss.item()»)",
    ],
)
def test_what_is_not_read_in_every_step(line: str) -> None:
    assert reading(line) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [("optimizer.step()", "optimizer.zero_grad()"), ("net.cuda()", "net.cpu()"), ("loss.backward()", "pass")],
)
def test_loops_that_do_not_train_on_a_gpu(before: str, after: str) -> None:
    program = LOOP.replace("x.cuda()", "x") if before == "net.cuda()" else LOOP
    assert reading("total += «loss.item()»", program.replace(before, after)) is None


def test_a_training_step_is_one_of_a_loop_elsewhere() -> None:
    program = """\
import pytorch_lightning as pl
import torch.nn.functional as F
class Net(pl.LightningModule):
    def training_step(self, x):
        loss = F.mse_loss(self(x), x)
{}
        return loss
"""
    found = reading("self.seen.append(«loss.item()»)", program)
    assert found is not None
    assert found.loop is None


@pytest.mark.parametrize(
    ("line", "total", "name"),
    [
        ("total += «loss.item()»", Total.FLOAT, "total"),
        ("total += 2 * «loss.item()»", Total.FLOAT, "total"),
        ("count += «int(loss)»", Total.INTEGER, "count"),
        ("losses.append(«float(loss)»)", Total.LIST, "losses"),
        ("total -= «loss.item()»", None, ""),
        ("total += «loss.item()»; print(total)", None, ""),
        ("losses.append((«loss.item()», 1))", None, ""),
        ("other.append(«loss.item()»)", None, ""),
        ("other += «loss.item()»", None, ""),
        ("total += «(net(x) > 0).sum().item()»", None, ""),
        ("total += «loss.item()»\nif flag:\n    return", None, ""),
    ],
)
def test_what_becomes_of_the_number(line: str, total: Total | None, name: str) -> None:
    found = reading(line)
    assert found is not None
    assert (found.total, found.name if found.total is not None else "") == (total, name)


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("if loss > 10: break", ["loss > 10"]),
        ("if flag and not loss < 3: break", ["loss < 3"]),
        ("if count % 100 == 0 and torch.isnan(loss): break", []),
        ("if torch.isnan(loss) and count % 100 == 0: break", ["torch.isnan(loss)"]),
        ("if flag or not (count % 100 or loss < 3): break", []),
        ("if '%s' % flag == 'a' and loss < 3: break", ["loss < 3"]),
        ("n = loss.cpu()\nif n > 3: break", []),
        ("assert loss", ["loss"]),
        ("while loss > 1: pass", ["loss > 1"]),
        ("if loss is None: break", []),
        ("if flag: break", []),
        ("if loss.item() > 10: break", []),
        ("if flag:\n    if loss > 10: break", []),
    ],
)
def test_conditions_that_ask_for_a_value(line: str, parts: list[str]) -> None:
    semantics, _ = marked(LOOP.format(indent(line, " " * 8)))
    found = semantics.of(Synchronisations).conditions.values()
    assert [ast.unparse(part) for asking in found for part in asking] == parts
