"""Checkpoints with objects in them: of the dicts that a file saves, the marked value is what torch refuses to load."""

from __future__ import annotations

import pytest

from marked import marked
from torchlint.semantics.saving.saved_objects import SavedObjects

HEAD = "import argparse\nimport numpy as np\nimport torch\nfrom torch import optim\n"
KEYS = {"m", "x"}


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(m, args):\n    args.lr\n    torch.save({'m': m.state_dict(), 'x': «args»}, p)",
        "args = argparse.ArgumentParser().parse_args()\ntorch.save({'m': m.state_dict(), 'x': «args»}, p)",
        "def f(m, a):\n    utils.save_on_master({'m': m.state_dict(), 'x': «a»}, p)\ndef g(m, a):\n    f(m, a)\n    a.lr",
        "s = optim.lr_scheduler.StepLR(o, 1)\ntorch.save(dict(m=m.state_dict(), x=«s»), p)",
        "state = {'m': m.state_dict()}\nstate['x'] = «np.mean(losses)»\ntorch.save(state, p)",
        "best = np.max(scores)\nstate = {'m': m.state_dict(), 'x': «best»}\nsave_checkpoint(state, is_best)",
        "class T:\n  def __init__(self, v):\n    self.v = v\n  def f(self, m):\n    self.v.stoi\n"
        "    torch.save({'m': m.state_dict(), 'x': «self.v»}, p)",
        "def f(net):\n    net.parameters()\n    torch.save({'m': o.state_dict(), 'x': «net»}, p)",
        "class V: pass\nv = V()\ntorch.save({'m': m.state_dict(), 'x': «v»}, p)",
        "class V(dict): pass\ntorch.save({'m': m.state_dict(), 'x': «V()»}, p)",
        "class V: pass\nclass T:\n  def __init__(self):\n    self.v = V()\n"
        "  def f(self, m):\n    torch.save({'m': m.state_dict(), 'x': «self.v»}, p)",
        "class V: pass\ndef f(m, v):\n    torch.save({'m': m.state_dict(), 'x': «v»}, p)\nf(m, V())",
        "class V: pass\ndef f(m): return {'m': m.state_dict(), 'x': «V()»}\ntorch.save(f(m), p)",
        "class V: pass\ndef f(m):\n    c = dict()\n    c['m'] = m.state_dict()\n    c['x'] = «V()»\n    return c\n"
        "c = f(m)\ntorch.save(c, p)",
        "class T:\n  def __init__(self, v):\n    self.v = v\n  def all(self):\n"
        "    return dict(m=self.m.state_dict(), x=«self.v»)\n  def f(self):\n    self.v.stoi\n    torch.save(self.all(), p)",
    ],
)
def test_what_torch_refuses(snippet: str) -> None:
    semantics, nodes = marked(HEAD + snippet)
    assert [semantics.of(SavedObjects).among(KEYS)] == nodes


@pytest.mark.parametrize(
    "snippet",
    [
        pytest.param("torch.save({'m': m.state_dict(), 'x': x}, p)", id="nothing is known of it"),
        pytest.param(
            "class V:\n  def __new__(cls): return 1\ntorch.save({'m': m.state_dict(), 'x': V()}, p)",
            id="a class that makes what?",
        ),
        pytest.param("class V(metaclass=M): pass\ntorch.save({'m': m.state_dict(), 'x': V()}, p)", id="another's instances"),
        pytest.param("class V: pass\nv = V() if a else 1\ntorch.save({'m': m.state_dict(), 'x': v}, p)", id="or a number"),
        pytest.param("class V: pass\ntorch.save({'m': m.state_dict(), 'x': V().state_dict()}, p)", id="what it gives"),
        pytest.param(
            "class V: pass\ndef f(m):\n  if a:\n    return {}\n  return {'m': m.state_dict(), 'x': V()}\ntorch.save(f(m), p)",
            id="or another dict",
        ),
        pytest.param(
            "class V: pass\ndef f(m): return {'m': m.state_dict(), 'x': V()}\nf(m)\ntorch.save(m.state_dict(), p)",
            id="not saved",
        ),
        pytest.param("def v(): return 1\ntorch.save({'m': m.state_dict(), 'x': v()}, p)", id="of a function"),
        pytest.param(
            "class V: pass\nif a:\n  v = V()\nelse:\n  v = 1\ntorch.save({'m': m.state_dict(), 'x': v}, p)", id="one of two"
        ),
        pytest.param("def f(m, a):\n    a.lr\n    torch.save({'m': m.state_dict(), 'x': vars(a)}, p)", id="a dict of it"),
        pytest.param("def f(m, a):\n    a.shape\n    torch.save({'m': m.state_dict(), 'x': a}, p)", id="a tensor's attribute"),
        pytest.param("def f(m, a):\n    a.get(1)\n    torch.save({'m': m.state_dict(), 'x': a}, p)", id="a dict's method"),
        pytest.param("def f(m, a):\n    a.lr\n    torch.save({'m': m, 'x': a}, p)", id="the state of nothing"),
        pytest.param("def f(m, a):\n    a.lr\n    torch.save({'m': m.state_dict(), 'y': a}, p)", id="another key"),
        pytest.param("def f(m, a):\n    a.lr\n    torch.save({'m': m.state_dict(), k: 1, 'x': a}, p)", id="keys unknown"),
        pytest.param("def f(m, a):\n    a.lr\n    show({'m': m.state_dict(), 'x': a}, p)", id="not saved"),
        pytest.param("def f(m, a):\n    a.lr\n    io.savemat({'m': m.state_dict(), 'x': a}, p)", id="another format"),
        pytest.param(
            "def f(m, a):\n    a.lr\n    torch.save({'m': m.state_dict(), 'x': a}, p)\n"
            "    torch.save({'m': m.state_dict(), 'x': 1}, q)",
            id="another checkpoint has plain data there",
        ),
        pytest.param("def f(m, a):\n    a.lr\n    a = a.lr\n    torch.save({'m': m.state_dict(), 'x': a}, p)", id="rebound"),
        pytest.param("x = float(np.mean(l))\ntorch.save({'m': m.state_dict(), 'x': x}, p)", id="a plain number"),
        pytest.param("import cfg\ncfg.lr\ntorch.save({'m': m.state_dict(), 'x': cfg}, p)", id="a module cannot be saved"),
        pytest.param("x = torch.device('cuda')\nx.type\ntorch.save({'m': m.state_dict(), 'x': x}, p)", id="a device"),
    ],
)
def test_what_torch_reads_or_may(snippet: str) -> None:
    semantics, _ = marked(HEAD + snippet)
    assert semantics.of(SavedObjects).among(KEYS) is None


SAVED = "torch.save({'m': m.state_dict(), 'x': «x»}, p)\n"
BEST = "best = 0.0\nfor e in range(9):\n    score = np.mean(run())\n"


@pytest.mark.parametrize(
    "snippet",
    [
        "x = np.mean(losses) * 100\n" + SAVED,
        "x = round(np.mean(losses), 3)\n" + SAVED,
        "x = np.array(losses).mean()\n" + SAVED,
        BEST + "    if score > best:\n        best = score\n        " + SAVED.replace("x»", "best»"),
        BEST + "    best = max(best, score)\n    " + SAVED.replace("x»", "best»"),
        "def run(l):\n    return np.mean(l), 1\nx, n = run(l)\n" + SAVED,
        "def run(l):\n    return np.mean(l)\nx = run(l) / 2\n" + SAVED,
        "class T:\n  def __init__(self):\n    self.x = -float('inf')\n  def f(self, l, m):\n    self.x = np.mean(l)\n    "
        + SAVED.replace("x»", "self.x»"),
    ],
)
def test_numbers_of_numpy(snippet: str) -> None:
    semantics, nodes = marked(HEAD + snippet)
    assert [semantics.of(SavedObjects).among(KEYS)] == nodes


@pytest.mark.parametrize(
    "snippet",
    [
        "x = np.mean(losses).item()\n",
        "x = round(np.mean(losses))\n",
        "x = np.mean(losses) if many else run()\n",
        "x = np.mean(losses) * torch.ones(1)\n",
        "x = losses.mean()\n",
        "def run(l):\n    return (np.mean(l), 1) if l else (0.5, 1)\nx, n = run(l)\n",
        "def run(l):\n    return np.mean(l), 1\nn, x = run(l)\n",
        "def f(x):\n    return x\nx = f(np.mean(l))\n",
        "x = sum(l) / len(l)\n",
    ],
)
def test_other_numbers(snippet: str) -> None:
    semantics, _ = marked(HEAD + snippet + SAVED.replace("«", "").replace("»", ""))
    assert semantics.of(SavedObjects).among(KEYS) is None
