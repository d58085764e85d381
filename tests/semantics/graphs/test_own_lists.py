"""Lists of a test of the code, which are gone with it. In the snippets, the list that keeps something is marked."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.graphs.own_lists import OwnLists


def is_of_test(snippet: str) -> bool:
    semantics, (node,) = marked(f"import unittest\nimport torch\n{snippet}")
    assert isinstance(node, ast.expr)
    return semantics.of(OwnLists).is_of_test(node)


LOOP = "    for x in batches:\n        {}\n    assert torch.allclose(out[0], out[1])\n"
KEEPS = LOOP.format("«out».append(net(x))")


@pytest.mark.parametrize(
    "snippet",
    [
        f"def test_run():\n    out = []\n{KEEPS}",
        f"def test_run(net):\n    out = list()\n{KEEPS}",
        "def test_run():\n    out = {}\n" + LOOP.format("«out[x]» = net(x)"),
        "class Runs(unittest.TestCase):\n    def test_run(self):\n        out = []\n        for x in self.data:\n"
        "            «out».append(self.net(x))\n        self.assertEqual(len(out), 3)\n",
    ],
)
def test_it_is_gone_with_the_test(snippet: str) -> None:
    assert is_of_test(snippet)


@pytest.mark.parametrize(
    "snippet",
    [
        f"def run():\n    out = []\n{KEEPS}",
        f"def test_run():\n    global out\n    out = []\n{KEEPS}",
        f"def test_run(out):\n{KEEPS}",
        f"out = []\ndef test_run():\n{KEEPS}",
        f"def test_run():\n    out = kept.out\n{KEEPS}",
        f"def test_run():\n    out = []\n{KEEPS}    return out\n",
        f"def test_run():\n    out = []\n{KEEPS}    kept.out = out\n",
        f"def test_run():\n    out = []\n{KEEPS}    kept['out'] = out\n",
        "def test(net, loader):\n    out = []\n    for x in loader:\n        «out».append(net(x))\n    print(len(out))\n",
        "def test_run():\n    for x in batches:\n        «kept.out».append(net(x))\n    assert kept.out\n",
        "def test_epoch(net, loader):\n    out = []\n    for x in loader:\n        «out».append(net(x))\n    print(len(out))\n"
        "test_epoch(net, loader)\n",
    ],
)
def test_others_have_it(snippet: str) -> None:
    assert not is_of_test(snippet)
