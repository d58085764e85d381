"""Which legacy constructors are but dated."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.aliasing.dated_constructions import DatedConstructions


def found(text: str) -> set[str]:
    """The calls that are found in a program, as they are written."""
    analysis = DatedConstructions(Semantics(ast.parse(f"import numpy as np\nimport torch\n{text}")))
    return {ast.unparse(call) for call in analysis.found}


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("torch.Tensor(3, 4)", {"torch.Tensor(3, 4)"}),
        ("torch.LongTensor([0, 1])", {"torch.LongTensor([0, 1])"}),
        ("def f(state):\n    return torch.FloatTensor(state)", {"torch.FloatTensor(state)"}),
        ("x = torch.ones(3)\ny = x.new(3)", {"x.new(3)"}),
        ("def f(x):\n    return isinstance(x, torch.cuda.FloatTensor)", {"isinstance(x, torch.cuda.FloatTensor)"}),
        ("torch.Tensor(torch.arange(3))", set()),
        ("torch.Tensor(torch.ones(3))", {"torch.Tensor(torch.ones(3))"}),
        ("torch.FloatTensor(torch.zeros(3, 4))", {"torch.FloatTensor(torch.zeros(3, 4))"}),
        ("torch.LongTensor(torch.zeros(3))", set()),
        ("torch.FloatTensor(torch.zeros(3, dtype=torch.long))", set()),
        ("torch.cuda.FloatTensor(torch.zeros(3))", set()),
        ("a = torch.LongTensor(b)\nc = torch.LongTensor(a[0])", {"torch.LongTensor(b)", "torch.LongTensor(a[0])"}),
        ("a = torch.LongTensor(b)\nc = torch.FloatTensor(a[0])", {"torch.LongTensor(b)"}),
        ("a = torch.from_numpy(np.zeros(3, dtype=np.float32))\nc = torch.FloatTensor(a)", {"torch.FloatTensor(a)"}),
        ("a = torch.from_numpy(np.zeros(3))\nc = torch.FloatTensor(a)", set()),
        # what is handed through gets the dtype of the class right behind it
        ("torch.Tensor(torch.arange(3)).float()", {"torch.Tensor(torch.arange(3))"}),
        ("torch.Tensor(torch.arange(3)).cuda().float().unsqueeze(1)", {"torch.Tensor(torch.arange(3))"}),
        ("torch.LongTensor(torch.zeros(3)).view(-1).long()", {"torch.LongTensor(torch.zeros(3))"}),
        ("torch.Tensor(torch.arange(3)).sum().float()", set()),
        ("torch.Tensor(torch.arange(3)).cuda()", set()),
        ("torch.Tensor(torch.arange(3)).double()", set()),
        ("def f(path):\n    return torch.Tensor(path).long()", {"torch.Tensor(path)"}),
        ("torch.cuda.FloatTensor(torch.arange(3)).float()", set()),
        ("def f(n):\n    return torch.Tensor([n]).long()", {"torch.Tensor([n])"}),
        # integers that floats hold as they are: a few written out, lengths, places, pictures, what fits into two bytes
        ("def f(n, m):\n    return torch.Tensor([n, m]).long()", {"torch.Tensor([n, m])"}),
        ("def f(a, b):\n    x = [a, b]\n    return torch.Tensor(x).long()", {"torch.Tensor(x)"}),
        ("def f(rows):\n    return torch.Tensor([len(r) for r in rows]).long()", {"torch.Tensor([len(r) for r in rows])"}),
        ("def f(rows):\n    return torch.Tensor(list(map(len, rows))).int()", {"torch.Tensor(list(map(len, rows)))"}),
        ("def f(a):\n    return torch.Tensor(a['bbox']).int()", {"torch.Tensor(a['bbox'])"}),
        ("def f(ids):\n    return torch.Tensor(ids).byte()", {"torch.Tensor(ids)"}),
        ("import cv2\nx = cv2.imread('a')\ny = torch.Tensor(x).long()", {"torch.Tensor(x)"}),
        ("def f(a):\n    return torch.Tensor(a.astype(np.uint8)).long()", {"torch.Tensor(a.astype(np.uint8))"}),
        ("def f(ids):\n    return torch.Tensor(ids).long()", {"torch.Tensor(ids)"}),
        ("def f(ids):\n    return torch.Tensor([*ids, 3]).long()", {"torch.Tensor([*ids, 3])"}),
        ("def f(words):\n    return torch.Tensor([ids[w] for w in words]).long()", {"torch.Tensor([ids[w] for w in words])"}),
        (
            "def f(words):\n    x = []\n    for w in words: x.append(ids[w])\n    return torch.Tensor(x).long()",
            {"torch.Tensor(x)"},
        ),
        ("def f(n, pad):\n    return torch.Tensor([pad] * n).long()", {"torch.Tensor([pad] * n)"}),
        # floats of 32 bits hold integers up to 2**24; those of 16 bits far fewer
        ("def f(ids):\n    return torch.FloatTensor(ids).to(torch.int64)", {"torch.FloatTensor(ids)"}),
        ("def f(ids):\n    return torch.HalfTensor(ids).long()", set()),
        ("def f(ids):\n    return torch.BFloat16Tensor(ids).long()", set()),
        ("def f(ws):\n    return torch.Tensor([hash(w) for w in ws]).long()", set()),
        (
            "def f(ws):\n    return torch.Tensor([hash(w) % 5000 for w in ws]).long()",
            {"torch.Tensor([hash(w) % 5000 for w in ws])"},
        ),
        ("def f(ws):\n    return torch.Tensor([hash(w) % 2**31 for w in ws]).long()", set()),
        ("def f(ws):\n    x = []\n    for w in ws: x.append(hash(w))\n    return torch.Tensor(x).long()", set()),
        ("import time\ndef f(n):\n    return torch.Tensor([time.time_ns(), n]).long()", set()),
        ("torch.Tensor(np.arange(20_000_000)).long()", set()),
        ("torch.Tensor(np.arange(2**24)).long()", {"torch.Tensor(np.arange(2 ** 24))"}),
        ("def f(n):\n    x = np.random.randint(0, 2**31 - 1, n)\n    return torch.Tensor(x).long()", set()),
        ("def f(n):\n    x = np.random.randint(0, 2**31, n)\n    return torch.Tensor(x).long()", set()),
        (
            "def f(n, ids):\n    x = np.random.randint(0, 2**31, n)\n    x = ids\n    return torch.Tensor(x).long()",
            {"torch.Tensor(x)"},
        ),
        ("def f(a, ids):\n    x = ids\n    if a: x = [i + 10**9 for i in ids]\n    return torch.Tensor(x).long()", set()),
        ("import sys\ndef f(n):\n    x = [sys.maxsize] * n\n    return torch.Tensor(x).long()", set()),
        ("def f(n):\n    x = [np.iinfo(np.int64).max, n]\n    return torch.Tensor(x).long()", set()),
        # either a size or data, as far as anything tells
        ("def f(x):\n    return torch.Tensor(x.shape)", {"torch.Tensor(x.shape)"}),
        ("a = torch.from_numpy(b).type(torch.float32)\nc = torch.FloatTensor(a)", {"torch.FloatTensor(a)"}),
        ("torch.LongTensor([0.5, 1.5])", set()),
        ('a = np.load("f")\nx = torch.Tensor(a)\na[0] = 2\nprint(x)', set()),
        ("torch.tensor([1.0])", set()),
    ],
)
def test_what_is_but_dated(text: str, calls: set[str]) -> None:
    assert found(text) == calls


VOLUMES = """class Volumes:
    def __init__(self, path):
        self.volume = np.load(path)
        self.volume = self.padded(self.volume)
    def padded(self, volume):
        found = np.zeros(volume.shape, dtype=np.float32)
        found[1:] = volume
        return found
    def __getitem__(self, index):
        data = torch.from_numpy(self.volume[index])
        return torch.FloatTensor(data)
"""


def test_what_the_constructor_leaves_has_the_dtype() -> None:
    assert found(VOLUMES) == {"torch.FloatTensor(data)"}
    assert found(VOLUMES.replace("        self.volume = self.p", "        if path: self.volume = self.p")) == set()
    assert found(VOLUMES.replace("np.float32", "np.float64")) == set()
