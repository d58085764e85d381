"""Sums in an attribute, in a dictionary or in a list, and what they are divided by: each marked count is wrong."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.numerics.denominators import Denominators

HEAD = """\
import math
import numpy as np
import torch
import torch.nn.functional as F
from collections import defaultdict
from torch import nn
from torch.utils.data import DataLoader
"""
MEAN = "F.cross_entropy(model(x), y).item()"
HITS = "(model(x).argmax(1) == y).sum().item()"


def wrong(snippet: str) -> list[bool]:
    """Whether hits were counted, for the marked counts."""
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(Denominators).found
    assert list(found) == nodes
    return [each.of_samples for each in found.values()]


def kept(value: str, *, rest: str, start: str = "kept = []", add: str = "kept.append({})") -> str:
    lines = [start, "for x, y in loader:", f"    {add.format(value)}", *rest.splitlines()]
    return "def test(model, loader, tell):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    "total", ["sum(kept)", "np.sum(kept)", "math.fsum(kept)", "100. * sum(kept)", "1.0 * sum(kept)", "float(sum(kept))"]
)
def test_a_list_that_is_summed(total: str) -> None:
    assert wrong(kept(MEAN, rest=f"return {total} / «len(loader.dataset)»")) == [False]
    assert wrong(kept(HITS, rest=f"return {total} / «len(loader)»")) == [True]
    assert wrong(kept(MEAN, rest=f"return {total} / len(loader)")) == []
    assert wrong(kept(HITS, rest=f"return {total} / len(loader.dataset)")) == []


@pytest.mark.parametrize(
    "text",
    [
        kept(MEAN + " * len(x)", rest="return sum(kept) / len(loader.dataset)"),
        kept(MEAN, rest="return sum(kept) / len(kept)"),
        kept(MEAN, rest="tell(kept)\nreturn sum(kept) / len(loader.dataset)"),
        kept(MEAN, rest="kept.append(tell())\nreturn sum(kept) / len(loader.dataset)"),
        kept(MEAN, rest="kept = [32 * each for each in kept]\nreturn sum(kept) / len(loader.dataset)"),
        kept(MEAN, rest="return sum(kept, 1) / len(loader.dataset)"),
        kept(MEAN, start="kept = tell()", rest="return sum(kept) / len(loader.dataset)"),
        kept(MEAN, start="kept = [1]", rest="return sum(kept) / len(loader.dataset)"),
        kept("tell(x).tolist()", add="kept.extend({})", rest="return sum(kept) / len(loader.dataset)"),
        kept("(y)", add="if tell(x): kept.append({})", rest="return sum(kept) / len(loader.dataset)"),
    ],
)
def test_a_list_of_something_else(text: str) -> None:
    assert wrong(text) == []


def test_a_list_that_is_kept_for_all_epochs() -> None:
    text = kept(MEAN, rest="return sum(kept) / len(loader.dataset)").splitlines()
    text[2:] = ["    for epoch in range(3):", *(f"    {line}" for line in text[2:])]
    assert wrong("\n".join(text)) == []


@pytest.mark.parametrize("start", ["kept = {'loss': 0.0}", "kept = dict(loss=0)", "kept = defaultdict(float)"])
def test_an_entry(start: str) -> None:
    def entry(rest: str) -> str:
        return kept(MEAN, start=start, add="kept['loss'] += {}", rest=rest)

    assert wrong(entry("return kept['loss'] / «len(loader.dataset)»")) == [False]
    assert wrong(entry("kept['loss'] /= «len(loader.dataset)»\nreturn kept")) == [False]
    assert wrong(entry("return kept['loss'] / len(loader)")) == []
    assert wrong(entry("tell(kept)\nreturn kept['loss'] / len(loader.dataset)")) == []
    assert wrong(entry("kept[tell()] = 3\nreturn kept['loss'] / len(loader.dataset)")) == []
    assert wrong(entry("kept['loss'] *= 32\nreturn kept['loss'] / len(loader.dataset)")) == []
    assert wrong(entry("return kept['all'] / len(loader.dataset)")) == []


CLASS = """\
class Test:
    def __init__(self, model, data):
        self.data = data; self.total = 0
        self.model = model
        self.loader = DataLoader(data, {size})
    def run(self):
        {start}
        for x, y in self.loader:
            self.total += F.cross_entropy(self.model(x), y).item()
        return {figure}
    def finish(self):
        {other}
"""


def attribute(figure: str, *, size: str = "8", start: str = "self.total = 0.0", other: str = "pass") -> str:
    return CLASS.format(figure=figure, size=size, start=start, other=other)


def test_an_attribute() -> None:
    assert wrong(attribute("self.total / «len(self.loader.dataset)»")) == [False]
    assert wrong(attribute("self.total / len(self.loader)")) == []
    assert wrong(attribute("self.total / len(self.loader.dataset)", size="1")) == []
    assert wrong(attribute("self.total / len(self.loader.dataset)", start="pass")) == []
    assert wrong(attribute("self.total / len(self.loader.dataset)", other="self.total *= 32")) == []
    assert wrong(attribute("self.total / len(self.loader.dataset)", other="self.total += 32")) == []


def test_the_data_that_an_attribute_holds() -> None:
    text = attribute("self.total / {}").replace("self.data = data; self.total = 0", "self.data = data\n        self.total = 0")
    assert wrong(text.format("«len(self.data)»")) == [False]
    assert wrong(text.replace("self.data = data", "self.data = data[:9]").format("len(self.data)")) == []
    assert wrong(text.replace("pass", "self.data = None").format("len(self.data)")) == []


LOOP = """\
def test(model, loader, data):
{start}    total = n = 0
    for x, y in loader:
        total += {value}
        n += {one}
"""


@pytest.mark.parametrize("count", ["loader.dataset.__len__()", "max(len(loader.dataset), 1)", "float(len(loader.dataset))"])
def test_other_ways_to_count_samples(count: str) -> None:
    marked_count = count.replace("len(loader.dataset)", "«len(loader.dataset)»") if "__" not in count else f"«{count}»"
    assert wrong(LOOP.format(start="", value=MEAN, one=1) + f"    return total / {marked_count}") == [False]
    assert wrong(LOOP.format(start="", value=HITS, one=1) + f"    return total / {count}") == []


def test_the_length_of_the_data() -> None:
    start = "    loader = DataLoader(data, 8)\n"
    assert wrong(LOOP.format(start=start, value=MEAN, one=1) + "    return total / «data.__len__()»") == [False]
    assert wrong(LOOP.format(start="", value=MEAN, one=1) + "    return total / data.__len__()") == []
    assert wrong(LOOP.format(start="", value=HITS, one=1) + "    return total / «loader.__len__()»") == [True]


def test_rounds_that_are_counted() -> None:
    assert wrong(LOOP.format(start="", value=HITS, one=1) + "    return total / «n»") == [True]
    assert wrong(LOOP.format(start="", value=MEAN, one=1) + "    return total / n") == []
    assert wrong(LOOP.format(start="", value=HITS, one=2) + "    return total / n") == []
    assert wrong(LOOP.format(start="", value=HITS, one="y") + "    return total / n") == []
    samples = LOOP.replace("loader", "samples")
    assert wrong(samples.format(start="", value=HITS, one=1) + "    return total / n") == []
    single = LOOP.format(start="    loader = DataLoader(data)\n", value=HITS, one=1)
    assert wrong(single + "    return total / n") == []


@pytest.mark.parametrize(
    "value", ["(model(x).argmax(1) == y).float().mean().item()", "torch.mean((p == y).float())", "p.eq(y).double().mean()"]
)
def test_shares_of_hits(value: str) -> None:
    text = LOOP.format(start="", value=value, one=1)
    assert wrong(text + "    return total / «len(loader.dataset)»") == [False]
    assert wrong(text + "    return total / len(loader)") == []
    assert wrong(text.replace("mean()", "mean(1)").replace("mean((", "mean(1, (") + "    total / len(loader.dataset)") == []
    weighted = LOOP.format(start="", value=f"{value} * len(y)", one=1)
    assert wrong(weighted + "    return total / len(loader.dataset)") == []
