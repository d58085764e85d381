"""Weights of layers that were just put in place of others, and of copies that nothing runs: no gradient can go wrong."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics.pending.new_parts import NewParts

HEADER = "import copy\nimport torch\nfrom torch import nn\n"
METHOD = "class Net(nn.Module):\n    def grow(self, n, x, old):\n"


def parts(text: str) -> tuple[NewParts, ast.expr, ast.expr]:
    """The analysis of a snippet, the weight that is marked, and what changes it."""
    semantics, (change,) = marked(HEADER + text)
    data = next(part for part in ast.walk(change) if isinstance(part, ast.Attribute) and part.attr == "data")
    return semantics.of(NewParts), data.value, change


def is_of_replaced(body: str) -> bool:
    new, tensor, change = parts(METHOD + indent(body, "        "))
    return new.is_of_replaced(tensor, change)


@pytest.mark.parametrize(
    "body",
    [
        "self.words = nn.Embedding(n, 8)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\nself.words.to(x)\nself.init_weights(self.words)\n«self.words.weight.data[:3]» = old",
        "words = self.words\nself.words = nn.Embedding(n, 8)\n«self.words.weight.data[:3]» = words.weight.data[:3]",
        "self.net.head = nn.Linear(n, 8)\nself.names = len(x)\n«self.net.head.weight.data.mul_(2)»",
        "self.head = self.tail = nn.Linear(n, 8)\nprint(self.head)\n«self.tail.weight.data.mul_(2)»",
    ],
)
def test_a_layer_that_was_just_put_in_place(body: str) -> None:
    assert is_of_replaced(body)


@pytest.mark.parametrize(
    "body",
    [
        "«self.words.weight.data[:3]» = old",
        "self.words = old\n«self.words.weight.data[:3]» = x",
        "self.words = nn.Embedding(n, 8)\ny = self.words(x)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\ny = self(x)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\ny = self.forward(x)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\ny = run(self.words, x)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\ny = run(model=self)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\nwords = self.words\ny = words(x)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\nif x:\n    y = self.words(x)\n«self.words.weight.data[:3]» = old",
        "self.words = nn.Embedding(n, 8)\nself.words = old\n«self.words.weight.data[:3]» = x",
        "self.words = nn.Embedding(n, 8)\nself = old\n«self.words.weight.data[:3]» = x",
        "self.words = nn.Embedding(n, 8)\nfor w in x:\n    «self.words.weight.data[:3]» = w\n    self.words(w)",
        "self.tables = nn.Embedding(n, 8)\n«self.words.weight.data[:3]» = old",
    ],
)
def test_a_layer_that_may_have_run(body: str) -> None:
    assert not is_of_replaced(body)


def is_of_copy(body: str) -> bool:
    new, tensor, change = parts("def f(model, kept, x):\n" + indent(body, "    "))
    return new.is_of_copy(tensor, change)


COPIED = "small = copy.deepcopy(model)\n"


@pytest.mark.parametrize(
    "body",
    [
        COPIED + "«small.fc.weight.data.mul_(kept)»\nreturn small",
        COPIED + "for k in kept:\n    norm = small.layers[k][1]\n    «norm.weight.data.mul_(k)»\n    norm.bias.data.mul_(k)",
        COPIED + "small.eval()\nsmall.fc.bias = None\n«small.fc.weight.data.mul_(kept)»\nreturn small",
        COPIED + "first = small.first\ntop = first.weight.data.sum()\n«small.fc.weight.data.mul_(top)»",
    ],
)
def test_a_copy_that_is_only_changed(body: str) -> None:
    assert is_of_copy(body)


@pytest.mark.parametrize(
    "body",
    [
        "small = copy.copy(model)\n«small.fc.weight.data.mul_(kept)»",
        "small = model\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "y = small(x)\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "«small.fc.weight.data.mul_(kept)»\nreturn small(x)",
        COPIED + "y = small.fc(x)\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "fc = small.fc\ny = fc(x)\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "y = small.features(x)\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "train(small)\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "y = small.fc.weight * x\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "model.twin = small\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "for each in small.layers: each(x)\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "if kept:\n    small = model\n«small.fc.weight.data.mul_(kept)»",
        COPIED + "def prune():\n    «small.fc.weight.data.mul_(kept)»\nreturn prune",
        COPIED + "q = small.fc.weight\n«q.data.mul_(kept)»",
    ],
)
def test_a_copy_that_may_run(body: str) -> None:
    assert not is_of_copy(body)
