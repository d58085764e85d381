"""Divisions by the wrong count: each marked length is one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.numerics.denominators import Denominators

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader
"""
LOOP = "total = 0\nfor x, y in {loader}:\n    total += {value}\n"


def loop(value: str, loader: str = "loader") -> str:
    return HEAD + LOOP.format(loader=loader, value=value)


def wrong(snippet: str) -> list[tuple[str, bool]]:
    """What was gone through, and whether hits were counted, for the marked lengths."""
    semantics, nodes = marked(snippet)
    found = semantics.of(Denominators).found
    assert list(found) == nodes
    return [(ast.unparse(each.loader), each.of_samples) for each in found.values()]


@pytest.mark.parametrize("value", ["(p(x) == y).sum()", "p(x).eq(y).sum().item()", "torch.sum(p(x) == y).float().item()"])
@pytest.mark.parametrize(
    "division", ["total / «len(loader)»", "100. * total / «len(loader)»", "float(total) / «len(loader)» * 100"]
)
def test_hits_by_batches(value: str, division: str) -> None:
    assert wrong(loop(value) + division) == [("loader", True)]


@pytest.mark.parametrize(
    "value",
    ["loss(p(x), y).item() * y.size(0)", "len(x) * loss(p(x), y).item()", "float(loss(p(x), y)) * x.shape[0]", "mean(x) * n"],
)
def test_batches_times_their_size_by_batches(value: str) -> None:
    text = loop(value).replace("    total", "    n = x.size(0)\n    total")
    assert wrong(text + "z = total / «len(loader)»") == [("loader", True)]


@pytest.mark.parametrize(
    "value", ["F.mse_loss(p(x), y)", "nn.L1Loss()(p(x), y).item()", "F.nll_loss(p(x), y, reduction='mean')"]
)
@pytest.mark.parametrize("division", ["total /= «len(loader.dataset)»", "z = total / «len(loader.dataset)»"])
def test_means_by_samples(value: str, division: str) -> None:
    assert wrong(loop(value) + division) == [("loader", False)]


@pytest.mark.parametrize(
    "value",
    [
        "F.mse_loss(p(x), y) + F.l1_loss(p(x), y)",
        "0.5 * F.mse_loss(p(x), y) + alpha * (1 - alpha) * F.l1_loss(p(x), y)",
        "F.mse_loss(p(x), y) + penalty(x)",
        "nn.CrossEntropyLoss(w)(p(x), y)",
        "F.triplet_margin_loss(p(x), y, z)",
        "nn.CTCLoss()(p(x), y, n, m)",
        "F.kl_div(p(x), y, reduction='batchmean')",
    ],
)
def test_terms_of_a_mean(value: str) -> None:
    assert wrong(loop(value) + "z = total / «len(loader.dataset)»") == [("loader", False)]


@pytest.mark.parametrize(
    "division",
    [
        "n = len(loader.dataset)\ntotal /= «n»",
        "total /= «len(loader) * batch_size»",
        "total /= «opt.val_batch_size * len(loader)»",
    ],
)
def test_other_counts_of_samples(division: str) -> None:
    assert wrong(loop("F.mse_loss(p(x), y)") + division) == [("loader", False)]


def test_the_number_of_the_last_batch() -> None:
    text = loop("F.mse_loss(p(x), y)", "enumerate(loader)").replace("x, y in", "i, (x, y) in")
    assert wrong(text + "total / («(i + 1) * bs»)") == [("loader", False)]
    assert wrong(text + "i = 3\ntotal / ((i + 1) * bs)") == []
    assert wrong(text.replace("r)", "r, 1)") + "total / ((i + 1) * bs)") == []


@pytest.mark.parametrize("size", ["x.size(0)", "y.shape[0]", "len(y)"])
def test_samples_that_the_loop_counts(size: str) -> None:
    counted = loop("F.mse_loss(p(x), y)").replace("total = 0", "total, n = 0, 0") + f"    n += {size}\n"
    assert wrong(counted + "z = total / «n»") == [("loader", False)]
    assert wrong(counted + "    z = total / «n»") == [("loader", False)]
    assert wrong(counted.replace(size, "1") + "z = total / n") == []
    assert wrong(counted.replace(size, "x.size(1)") + "z = total / n") == []
    assert wrong(counted.replace("    n +=", "for x, y in other:\n    n +=") + "z = total / n") == []
    assert wrong(counted.replace("F.mse_loss(p(x), y)", f"F.mse_loss(p(x), y) * {size}") + "z = total / n") == []


def test_hits_that_have_a_name() -> None:
    text = loop("hits").replace("    total", "    hits = (p(x) == y).sum()\n    total")
    assert wrong(text + "total / «len(loader)»") == [("loader", True)]


def test_a_bar_around_the_loader() -> None:
    text = loop("F.mse_loss(p(x), y)", "bar").replace("total = 0", "bar = tqdm(loader, desc='x')\ntotal = 0")
    assert wrong(text + "z = total / «len(loader.dataset)»") == [("loader", False)]
    text = loop("F.mse_loss(p(x), y)", "bar").replace("total = 0", "bar = other(loader)\ntotal = 0")
    assert wrong(text + "z = total / len(loader.dataset)") == []


def test_a_table_of_loaders() -> None:
    text = loop("F.mse_loss(p(x), y)", "loaders[k]")
    assert wrong(text + "z = total / «dataset_sizes[k]»") == [("loaders[k]", False)]
    assert wrong(text + "z = total / «len(datasets[k])»") == [("loaders[k]", False)]
    assert wrong(text + "z = total / dataset_sizes[m]") == []
    assert wrong(text + "z = total / steps[k]") == []
    single = text.replace("total = 0", "loaders = {k: DataLoader(d, batch_size=1) for k in d}\ntotal = 0")
    assert wrong(single + "z = total / dataset_sizes[k]") == []


def test_the_data_that_a_loader_was_made_of() -> None:
    text = loop("F.mse_loss(p(x), y)").replace("total = 0", "loader = DataLoader(data, 8)\ntotal = 0")
    assert wrong(text + "total /= «len(data)»") == [("loader", False)]
    assert wrong(text.replace("data, 8", "data") + "total /= len(data)") == []
    assert wrong(text.replace("data, 8", "data, batch_sampler=s") + "total /= len(data)") == []


def rounds(body: str, start: str = "") -> str:
    """A loop that counts its rounds, its samples and its hits, and says how far it has come."""
    sums = "    total += F.mse_loss(p(x), y).item()\n    seen += len(y)\n    hits += (p(x) == y).sum()\n"
    return HEAD + f"total = seen = hits = 0\nfor i, (x, y) in enumerate(loader{start}):\n" + sums + f"    print({body})\n"


@pytest.mark.parametrize(
    ("figure", "of_samples"),
    [
        ("total / «seen»", False),
        ("total / «((i + 1) * batch_size)»", False),
        ("«total / opt.batch_size / (i + 1)»", False),
        ("«total / (i + 1) / float(batch_size)»", False),
        ("hits / «(i + 1)»", True),
    ],
)
def test_figures_of_the_rounds_so_far(figure: str, of_samples: bool) -> None:
    text = rounds(figure.replace("«(", "(«").replace(")»", "»)") if "«(" in figure else figure)
    semantics, nodes = marked(text)
    found = semantics.of(Denominators).found
    assert list(found) == nodes
    assert [(each.of_samples, each.running) for each in found.values()] == [(of_samples, True)]


def test_rounds_that_are_counted_from_zero() -> None:
    assert wrong(rounds("«total / opt.batch_size / (i + 1)»", ", 0")) == [("loader", False)]
    assert wrong(rounds("total / opt.batch_size / (i + 1)", ", 1")) == []


def test_means_over_both() -> None:
    assert wrong(loop("F.mse_loss(p(x), y)") + "z = «total / batch_size / len(loader)»") == [("loader", False)]


@pytest.mark.parametrize(
    "figure",
    [
        "total / (i + 1)",
        "hits / seen",
        "hits / batch_size / (i + 1)",
        "total / 10 / (i + 1)",
        "total / len(loader.dataset)",
        "total / (len(loader) * batch_size)",
        "total / batch_size / len(loader)",
        "hits / len(loader)",
        "total / world_size / (i + 1)",
    ],
)
def test_right_figures_of_the_rounds_so_far(figure: str) -> None:
    assert wrong(rounds(figure)) == []


@pytest.mark.parametrize(
    "snippet",
    [
        loop("(p(x) == y).sum()") + "total / len(loader.dataset)",
        loop("(p(x) == y).sum()") + "total / len(loader) / n",
        loop("(p(x) == y).sum()") + "total / len(loader) * n",
        loop("(p(x) == y).sum()") + "total / len(other_loader)",
        loop("(p(x) == y).sum() / len(y)") + "total / len(loader)",
        loop("(p(x) == y).sum(dim=1)") + "total / len(loader)",
        loop("(p(x) == y).float().mean()") + "total / len(loader)",
        loop("(p(x) == y).sum()", "graphs") + "total / len(graphs)",
        loop("(p(x) == y).sum()") + "    total / len(loader)",
        loop("(p(x) == y).sum()") + "    if x: break\ntotal / len(loader)",
        loop("(p(x) == y).sum()") + "total *= 2\ntotal / len(loader)",
        loop("F.mse_loss(p(x), y)") + "total / len(loader)",
        loop("F.mse_loss(p(x), y) * len(y)") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y) * len(known)") + "total / len(loader)",
        loop("F.mse_loss(p(x), y) * x.size(1)") + "total / len(loader)",
        loop("F.mse_loss(p(x), y) * x.size(0) / n") + "total / len(loader)",
        loop("F.mse_loss(p(x), y, reduction='sum')") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y, **more)") + "total / len(loader.dataset)",
        loop("nn.MSELoss(False)(p(x), y)") + "total / len(loader.dataset)",
        loop("criterion(p(x), y)") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y) * batch_size") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y) + torch.sum(x)") + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y) + z").replace("    total", "    z = (x - y).sum()\n    total")
        + "total / len(loader.dataset)",
        loop("F.mse_loss(p(x), y) + F.l1_loss(p(x), y, reduction='sum')") + "total / len(loader.dataset)",
        "loader = start()\n" + loop("F.mse_loss(p(x), y)") + "loader = again(loader)\ntotal / len(loader.dataset)",
        loop("F.mse_loss(p(x), y)") + "n = len(other.dataset)\ntotal / n",
        loop("F.mse_loss(p(x), y)") + "total / (len(other) * batch_size)",
        loop("F.mse_loss(p(x), y)") + "total / (len(loader) * world_size)",
        loop("(p(x) == y).sum()") + "total / (len(loader) * batch_size)",
        loop("F.mse_loss(p(x), y)").replace("total = 0", "total = start()") + "total / len(loader.dataset)",
    ],
)
def test_what_is_right_or_not_known(snippet: str) -> None:
    assert wrong(snippet) == []


TEST = (
    "def test(net, loader):\n    total = 0\n    for x, y in loader:\n        total += F.mse_loss(net(x), y)\n"
    "    return total / {length}\n"
)


@pytest.mark.parametrize(
    ("makers", "is_wrong"),
    [
        (["DataLoader(data, 64)"], True),
        (["DataLoader(data, batch_size=1)"], False),
        (["DataLoader(data)"], False),
        (["DataLoader(data, batch_size=size)"], True),
        (["DataLoader(data, batch_size=1)", "DataLoader(data, batch_size=size)"], False),
        (["DataLoader(data, batch_size=1)", "DataLoader(data, batch_size=64)"], True),
        (["DataLoader(data, batch_sampler=batches)"], True),
        (["DataLoader(data, **options)"], True),
        (["found(data)"], True),
        ([], True),
    ],
)
def test_a_loader_of_callers(makers: list[str], is_wrong: bool) -> None:
    length = "«len(loader.dataset)»" if is_wrong else "len(loader.dataset)"
    calls = "".join(f"def run{n}(net, data, size):\n    dl = {each}\n    test(net, dl)\n" for n, each in enumerate(makers))
    assert bool(wrong(HEAD + TEST.format(length=length) + calls)) is is_wrong


def test_a_loader_that_is_made_in_the_call() -> None:
    call = "def run(net, data):\n    test(net, DataLoader(data, batch_size=1))\n"
    assert not wrong(HEAD + TEST.format(length="len(loader.dataset)") + call)
