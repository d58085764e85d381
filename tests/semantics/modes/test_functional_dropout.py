"""Dropout that does not follow the mode of its module: what is wrong with the marked call, in a forward or elsewhere."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.modes.functional_dropout import FunctionalDropouts, Wrong, WrongDropout

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
"""
MODULE = """\
class Net(nn.Module):
  def __init__(self, p, config):
    super().__init__()
    self.p = p
    self.rate = config.dropout
    self.zero = 0.0
    self.layer = nn.Dropout(p)
    self.off = nn.Dropout(0.0)
    self.current = p
    self.eval_p = p
  def set_training(self, p):
    self.current = p
  def forward(self, x, flag):
"""


def wrong(snippet: str) -> WrongDropout[ast.expr] | None:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(FunctionalDropouts).found
    assert list(found) == nodes
    return next(iter(found.values()), None)


def in_forward(body: str) -> str:
    return MODULE + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    ("body", "what", "given"),
    [
        ("return «F.dropout(x)»", Wrong.ALWAYS, None),
        ("return «F.dropout(x, 0.2)»", Wrong.ALWAYS, "0.2"),
        ("return «F.dropout3d(x, p=self.p)»", Wrong.ALWAYS, "self.p"),
        ("if flag:\n  x = «torch.nn.functional.dropout(x, inplace=True)»\nreturn x", Wrong.ALWAYS, None),
        ("return [«F.dropout(y, 0.1)» for y in x]", Wrong.ALWAYS, "0.1"),
        ("def inner(y):\n  return «F.dropout(y)»\nreturn inner(x)", Wrong.ALWAYS, None),
        ("return «F.alpha_dropout(x)»", Wrong.NEVER, None),
        ("return «F.dropout(x, self.training)»", Wrong.FLAG, "self.training"),
        ("if self.training:\n  x = x + 1\nreturn «F.dropout(x, 0.2)»", Wrong.ALWAYS, "0.2"),
        ("return «F.dropout(x, p=True)»", Wrong.FLAG, "True"),
        ("return «F.scaled_dot_product_attention(x, x, x, dropout_p=self.p)»", Wrong.ATTENTION, "self.p"),
        ("return «F.scaled_dot_product_attention(x, x, x, None, self.rate)»", Wrong.ATTENTION, "self.rate"),
        ("return «F.scaled_dot_product_attention(x, x, x, dropout_p=self.layer.p)»", Wrong.ATTENTION, "self.layer.p"),
        ("return «F.scaled_dot_product_attention(x, x, x, dropout_p=0.1)»", Wrong.ATTENTION, "0.1"),
    ],
)
def test_what_is_wrong_in_a_forward(body: str, what: Wrong, given: str | None) -> None:
    found = wrong(in_forward(body))
    assert found is not None
    assert found.wrong is what
    assert (ast.unparse(found.given) if found.given is not None else None) == given
    assert found.instance == ("" if what is Wrong.FLAG else "self")


@pytest.mark.parametrize(
    "body",
    [
        "return F.dropout(x, 0.2, True)",
        "return F.dropout(x, training=flag)",
        "return F.dropout(x, 0.0)",
        "return F.dropout(x, *flag)",
        "return F.dropout(x, **flag)",
        "if not self.training:\n  return x\nreturn F.dropout(x)",
        "if self.training:\n  x = F.dropout(x)\nreturn x",
        "p = 0.2 if self.training else 0.0\nreturn F.dropout(x, p)",
        "return F.dropout(x) if flag.train else x",
        "return F.scaled_dot_product_attention(x, x, x)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=0)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=flag)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.p * self.training)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.p if self.training else 0.0)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.zero)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.layer)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.layer.p if self.training else 0.0)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=flag.p)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.off.p)",
        "self.layer.p = 0.1 if flag else 0.0\nreturn F.scaled_dot_product_attention(x, x, x, dropout_p=self.layer.p)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.current)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.eval_p)",
        "return F.scaled_dot_product_attention(x, x, x, dropout_p=self.elsewhere)",
        "return torch.dropout(x, 0.5, True)",
    ],
)
def test_what_follows_the_mode_or_may(body: str) -> None:
    assert wrong(in_forward(body)) is None


@pytest.mark.parametrize(
    "snippet",
    [
        "class N(nn.Module):\n  def forward(self, x):\n    return self.a(x)\n  def a(self, x):\n    return «F.dropout(x)»",
        "class N(nn.Module):\n  def forward(self, x):\n    return self.a(x)\n  def a(self, x):\n    return self.b(x)\n"
        "  def b(self, x):\n    return «F.dropout(x)»",
        "class N(nn.Module):\n  def samples(self, x):\n    return F.dropout(x)",
        "class N(nn.Module):\n  def forward(self, x):\n    return self.a(x)\n"
        "  @staticmethod\n  def a(x):\n    return F.dropout(x)",
        "class N:\n  def forward(self, x):\n    return F.dropout(x)",
        "class N(torch.utils.data.Dataset):\n  def __getitem__(self, i):\n    return F.dropout(self.x[i])",
        "def f(x):\n  return F.dropout(x)",
        "def dropout(x, p): ...\nclass N(nn.Module):\n  def forward(self, x):\n    return dropout(x, True)",
    ],
)
def test_where_it_stands(snippet: str) -> None:
    found = wrong(snippet)
    assert found is None or found.wrong is Wrong.ALWAYS


@pytest.mark.parametrize(
    "snippet",
    [
        "«nn.LSTM(2, 2, dropout=0.5)»",
        "«nn.GRU(2, 2, 1, dropout=0.5)»",
        "«nn.RNN(2, 2, num_layers=1, dropout=0.5)»",
        "nn.LSTM(2, 2, 2, dropout=0.5)",
        "nn.LSTM(2, 2, n, dropout=0.5)",
        "nn.LSTM(2, 2, dropout=0)",
        "nn.LSTM(2, 2, dropout=p)",
        "nn.LSTM(2, 2, **options, dropout=0.5)",
        "nn.LSTMCell(2, 2)",
    ],
)
def test_a_recurrent_network_of_one_layer(snippet: str) -> None:
    found = wrong(snippet)
    assert found is None or found.wrong is Wrong.LAYERS


PROGRAM = """\
class Net(nn.Module):
  def __init__(self, n=1, p=0.5):
    super().__init__()
    self.n = n
    self.rnn = {}
"""


@pytest.mark.parametrize(
    ("layer", "calls"),
    [
        ("«nn.LSTM(8, 8, n, dropout=p)»", "print(Net())"),
        ("«nn.LSTM(8, 8, self.n, dropout=0.2)»", "print(Net(p=0.0))"),
        ("«nn.LSTM(8, 8, num_layers=n, dropout=p)»", "print(Net(1, 0.1), Net())"),
        ("«nn.LSTM(8, 8, n, dropout=p)»", "if __name__ == '__main__':\n  Net()"),
        ("«nn.LSTM(8, 8, n, dropout=p)»", "print(1)"),
        ("nn.LSTM(8, 8, n, dropout=p)", "print(Net(2))"),
        ("nn.LSTM(8, 8, n, dropout=p)", "print(Net(p=0))"),
        ("nn.LSTM(8, 8, n, dropout=p)", "print(Net(*given))"),
        ("nn.LSTM(8, 8, n, dropout=p)", "print(Net(**given))"),
        ("nn.LSTM(8, 8, n, dropout=p)", "print(Net)"),
        ("nn.LSTM(8, 8, n, dropout=p)", "net = Net()"),
        ("nn.LSTM(8, 8, n, dropout=p)", "if __name__ == '__main__':\n  pass"),
        ("nn.LSTM(8, 8, n, dropout=p)", "class Other(Net):\n  pass\nprint(Net())"),
        ("nn.LSTM(8, 8, self.n, dropout=p)", "net = Net()\nnet.n = 2\nprint(net)"),
    ],
)
def test_how_many_layers_there_are_is_told_by_all_calls(layer: str, calls: str) -> None:
    found = wrong(PROGRAM.format(layer) + calls)
    assert (found.wrong if found is not None else None) is (Wrong.LAYERS if "«" in layer else None)
