"""Which views of transposed tensors raise. `test_layouts` compares the axes behind the answers with torch itself."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.shapes.torn_views import TornViews

HEADER = "import torch\nfrom torch import nn\n"


def is_torn(snippet: str) -> bool:
    """Whether the marked call of a snippet is found."""
    semantics, (call,) = marked(HEADER + snippet)
    return call in semantics.of(TornViews).calls


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    «x.transpose(1, 2).view(x.size(0), -1)»",
        # batches of one, of a network that is not known, are not merged with what is before them
        "net = nn.Conv1d(3, 20, 1)\ndef f(x):\n    out = net(x)\n    «out.transpose(0, 1).view(-1, 20)»",
        "net = nn.Conv1d(3, 20, 1)\ndef f(x):\n    out = net(x)\n    «out.transpose(1, 2).view(out.size(0), -1)»",
        "def f(x):\n    x = x.permute(0, 2, 1)\n    «x.view(-1)»",
        "def f(x: torch.Tensor):\n    «x.t().view(-1)»",
        "def f(x: torch.Tensor):\n    «x.mT.detach().view_as(torch.zeros(12))»",
        "def f(x):\n    «torch.transpose(x, 0, 1).view((-1, x.size(2)))»",
        "def f(x, swap):\n    if swap:\n        x = x.transpose(0, 1)\n    «x.view(-1)»",
        "def f(x):\n    b, c, h, w = x.shape\n    «x.permute(0, 2, 3, 1).view(b, h, w * c)»",
        "def f(x):\n    y = x.t().eq(1)\n    «y.view(-1)»",
        "def f(x):\n    y = x.t() > 1\n    «y[:3].view(-1)»",
        "def f(x, k):\n    y = x[1:].transpose(0, 1)\n    «y[:k].view(-1)»",
        "def f(x, y):\n    _, i = x.topk(5, 1)\n    i = i.t()\n    «i.eq(y.view(1, -1).expand_as(i))[:5].view(-1)»",
        "def f(x):\n    values, _ = torch.topk(x, 5)\n    «values.t().view(-1)»",
        "def f(x):\n    y = x.repeat(2, 3, 1, 1).permute(2, 0, 1, 3)\n    «(torch.randn_like(y) * y + y).view(-1, 4)»",
        "def g(y):\n    «y.view(-1)»\ndef f(x):\n    g(x.repeat(2, 3).t())\n    g(x)",
        "def g(y):\n    return y * 2 + y\ndef f(x):\n    «g(x.repeat(2, 3).t()).view(-1)»",
        "class A(nn.Module):\n  def f(self, x):\n    self.g(x.repeat(2, 3).t())\n  def g(self, y):\n    «y.exp().view(-1)»",
    ],
)
def test_axes_that_were_torn_apart_are_merged(snippet: str) -> None:
    assert is_torn(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x):\n    «x.view(x.size(0), -1)»",
        "def f(x):\n    «x.transpose(1, 2).reshape(x.size(0), -1)»",
        "def f(x):\n    «x.transpose(1, 2).contiguous().view(x.size(0), -1)»",
        "def f(x):\n    b, c, h, w = x.shape\n    «x.transpose(1, 2).view(b, h, c, w)»",
        "def f(x):\n    b, c, h, w = x.shape\n    «x.permute(0, 2, 3, 1).view(b, -1, c)»",
        "def f(x):\n    «x.permute(0, 2, 1).view(torch.int32)»",
        "import numpy as np\nx = np.zeros((2, 3))\n«x.transpose(1, 0).view(-1)»",
        "def f(x):\n    y = x.t().eq(1)\n    «y[:1].view(-1)»",
        "def f(x):\n    y = x.t().eq(1)\n    «y[2:3].view(-1)»",
        "def f(x):\n    «x[:3].view(-1)»",
        "def f(x, y):\n    «x.eq(y).view(-1)»",
        "def f(x):\n    values, _ = x.topk(1, 1)\n    «values.t().view(-1)»",
        "def f(x):\n    values, _ = torch.topk(x, k=1)\n    «values.t().view(-1)»",
        "def f(x: torch.Tensor):\n    «(x >= 0.5).float().t().view(-1)»",
        "def f(x: torch.Tensor):\n    «x.gt(0.5).t().view(-1)»",
        "def f(x):\n    values, _ = x.topk(5)\n    «values.view(-1)»",
        "def f(x):\n    «x.repeat(2, 3, 1).view(-1)»",
        "def f(x):\n    y = x.t()\n    return «y.view(-1)» if y.is_contiguous() else y.reshape(-1)",
        "def f(x):\n    y = x.t()\n    try:\n        return «y.view(-1)»\n    except RuntimeError:\n        pass",
        "def g(y):\n    if y.dim() > 2:\n        «y.view(-1)»\ndef f(x):\n    g(x.repeat(2, 3).t())",
        "def g(y):\n    if len(y.size()) > 2:\n        «y.view(-1)»\ndef f(x):\n    g(x.repeat(2, 3).t())",
        "def g(y):\n    if not y.is_contiguous():\n        y = y + 1\n    «y.view(-1)»\ndef f(x):\n    g(x.repeat(2, 3).t())",
        "def f(x, y):\n    «(x.repeat(2, 3).t() + y).view(-1)»",  # y may have more axes
        "def f(x):\n    «(x.repeat(2, 3).t() + x.repeat(3, 2)).view(-1)»",
        "def f(x):\n    y = x.repeat(2, 3).t()\n    «torch.zeros_like(y, memory_format=torch.contiguous_format).view(-1)»",
        "def g(y):\n    y = y.contiguous()\n    «y.view(-1)»\ndef f(x):\n    g(x.repeat(2, 3).t())",
        "def g(y):\n    «y.view(-1)»\ndef f(x):\n    g(x.repeat(2, 3))",
        "def g(y, deep):\n    if deep:\n        return y\n    return y * 1\ndef f(x):\n    «g(x.repeat(2, 3).t(), 1).view(-1)»",
        "def g(y):\n    return y\ndef f(x):\n    g(x)\n    «g(x.repeat(2, 3).t()).view(-1)»",
    ],
)
def test_nothing_torn_is_merged(snippet: str) -> None:
    assert not is_torn(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        "net = nn.Conv1d(3, 20, 1)\ndef f(x):\n    out = net(x)\n    «out.transpose(1, 2).view(-1, 20)»",
        "def f(x, shape):\n    «x.transpose(1, 2).view(shape)»",
        "def f(x, shape):\n    «x.transpose(1, 2).view(*shape)»",
        "def f(x, y):\n    «x.transpose(1, 2).view_as(y)»",
        "def f(x, axes):\n    «x.permute(axes).view(-1)»",
        "def f(x):\n    «pack(x).transpose(1, 2).masked_fill(m, 0).view(-1)»",
    ],
)
def test_what_is_not_known_is_not_found(snippet: str) -> None:
    assert not is_torn(snippet)


HITS = """def hits(output, target, topk=(1,)):
    _, pred = output.topk(max(topk), 1)
    correct = pred.t().eq(target)
    for k in topk:
        «correct[:k].view(-1)»
{calls}"""


@pytest.mark.parametrize(
    ("calls", "torn"),
    [
        ("print(hits(x, y, topk=(1, 5)))", True),
        ("print(hits(x, y, (1, 5)))", True),
        ("print(hits(x, y))\nprint(hits(x, y, topk=(1, 5)))", True),
        ("print(hits(x, y, **options))", True),
        ("", True),
        ("print(hits(x, y))", False),
        ("print(hits(x, y)[0], hits(x, target=y))", False),
    ],
)
def test_one_row_is_viewed_where_the_file_asks_for_no_more(calls: str, torn: bool) -> None:
    assert is_torn(HITS.format(calls=calls)) is torn
