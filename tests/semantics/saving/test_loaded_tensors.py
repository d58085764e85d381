"""Loads that put tensors somewhere: each marked load does as its use shows, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.loaded_tensors import LoadedTensors

HEAD = "import torch\nimport torch.nn as nn\n"


@pytest.mark.parametrize(
    "snippet",
    [
        "m.load_state_dict(«torch.load(p)»)",
        "m = «torch.load(p)»\nm.eval()",
        "m.load_state_dict(renamed(«torch.load(p)», key))",
        "x = «torch.load(p)»\nm.load_state_dict(decrypt(x['state_dict'], key))",
        "m = «torch.load(p)»\ntorch.optim.SGD(m.head.parameters(), 0.1)",
        "m = «torch.load(p)»\nm(x)",
        "m = «torch.load(p)».module\nm.cuda()",
        "c = «torch.load(p)»\nn = c['any']\nif gpu:\n    n.cuda()",
        "c = «torch.load(p)»\nprint(c['state_dict'])",
        "c = «torch.load(p)»\nprint(c['actor_state_dict'], c['epoch'])",
        "m, c, o = «torch.load(p)»\nm.train()",
        "m = models.load(«torch.load(p)»)",
        "load_matched_state_dict(m, «torch.load(p)»)",
        "m.backbone.load_hub(«torch.load(p)»)",
        "m.load_pretrained(«torch.load(p)»)",
        "optim_g.load_state_dict(«torch.load(p)»)",
        "w = «torch.load(p)»\nfor n in w:\n    m.state_dict()[n].copy_(w[n])",
        "s = «torch.load(p)»\nfor k, v in s.items():\n    d[k] = v.to(args.device)",
        "s = «torch.load(p)»\nfor k, v in s.items():\n    d[k].copy_(v)",
        "s = «torch.load(p)»\nfor k, v in s.items():\n    if k in d:\n        d[k].copy_(v.data)",
        "torch.save({'m': m.state_dict(), 'loss': z}, p)\nprint(«torch.load(p)»['loss'])",
        "torch.save({'m': m.state_dict(), 'loss': z}, p)\nc = «torch.load(p)»\nprint(c['loss'])",
        "z = «torch.load(p)».to('cuda')",
        "m = nn.Linear(2, 2)\nm.prior = «torch.load(p)»",
        "class T:\n  def __init__(self):\n    self.m = None\n  def f(self):\n    self.m = «torch.load(p)»\n    self.m.eval()",
        "class T:\n  def f(s):\n    if a: s.m = «torch.load(p)».cuda()\n    else: s.m = «torch.load(q)»\n    s.m.eval()",
        "def f():\n    return «torch.load(p)»\nf().eval()",
        "class T:\n  def f(self):\n    self.m = «torch.load(p)»\n  def g(self):\n    self.m.eval()",
    ],
)
def test_what_is_loaded_shows_to_be_tensors(snippet: str) -> None:
    semantics, nodes = marked(HEAD + snippet)
    assert sorted(semantics.of(LoadedTensors).found, key=lambda load: load.lineno) == nodes


@pytest.mark.parametrize(
    "snippet",
    [
        "x = torch.load(p)",
        "m.load_state_dict(decrypt(torch.load(p), key))",
        "x = torch.load(p)\ny = x\nw, t = crypto.decrypt_model(key, y)\nm.load_state_dict(w)",
        "s = torch.load(p)\nfor k, v in s.items():\n    d[k].copy_(torch.from_numpy(v))",
        "torch.save({'m': m.state_dict()}, p)\ntorch.save({'loss': z}, q)\nprint(torch.load(q)['loss'])",
        "torch.save({'m': m.state_dict(), 'loss': z}, p)\ntorch.save({'loss': z}, q)\nprint(torch.load(q)['loss'])",
        "torch.save({'m': m.state_dict(), 'loss': z}, p)\nprint(torch.load(q)['words'])",
        "x = torch.load(p)\nx.float().mean()",
        "x = torch.load(p)\nx = x.to(torch.float32)",
        "c = torch.load(p)\nc['words'][0]",
        "args = torch.load(p)\nprint(args.lr, args['model'])",
        "config = torch.load(p)['config']\nbuild(config['model'])",
        "scheduler.load_state_dict(torch.load(p))",
        "args = torch.load(p)\nload_model(args, path)",
        "args = torch.load(p)\nload_model(path, args)",
        "data = torch.load(p)\nload_examples(data)",
        "w.data.copy_(torch.load(p))",
        "w = torch.load(p)\nl.weight.data[:, :n].copy_(w[:, :n])",
        "for k, v in torch.load(p).items():\n    print(k, v)",
        "for k, v in torch.load(p).items():\n    v = torch.tensor(v)\n    v.cuda()",
        "class D(nn.Module):\n  def __init__(self):\n    self.words = torch.load(p)",
        "class T:\n  def f(self):\n    self.m = torch.load(p)\n    self.m = Net(self.m.sizes)\n    self.m.eval()",
        "m = other.load(p)\nm.eval()",
    ],
)
def test_what_may_as_well_be_data(snippet: str) -> None:
    semantics, _ = marked(HEAD + snippet)
    assert semantics.of(LoadedTensors).found == set()


@pytest.mark.parametrize(
    ("snippet", "are_data"),
    [
        ("x, y = «torch.load(p)»\nx.to(device)\ny.to(device)", True),
        ("x, y = «torch.load(p)»\nset = TensorDataset(x.cuda(), y)", True),
        ("x, y = «torch.load(p)»\nx.cuda(); net(x, y)", True),
        # statistics of it, by their names
        ("mean, std = «torch.load(p)»\nmean.to(device)", True),
        ("mean = «torch.load(p)»\nx = x - mean.to(device)", True),
        ("class C:\n    def f(self):\n        self.norm_var = «torch.load(p)»\n        g(self.norm_var.to(self.device))", True),
        ("mean = «torch.load(p)»\nmean.to(device).eval()", False),
        ("mean = «torch.load(p)»\nmean.cuda(); net.load_state_dict(mean)", False),
        ("std = «torch.load(p)»\nprint(std)", False),
        ("meaning = «torch.load(p)»\nmeaning.to(device)", False),
        # models and states of a training
        ("net, y = «torch.load(p)»\nnet.to(device)", False),
        ("state, y = «torch.load(p)»\nstate.to(device)", False),
        ("x, y = «torch.load(p)»\nx.to(device).eval()", False),
        ("x, y = «torch.load(p)»\nm.load_state_dict(x); y.cuda()", False),
        ("x = «torch.load(p)»\nx.to(device)", False),
        ("x, y = «torch.load(p)»\nprint(x.shape)", False),
    ],
)
def test_data_that_are_put_on_a_device(snippet: str, are_data: bool) -> None:
    semantics, (load,) = marked(HEAD + snippet)
    assert isinstance(load, ast.Call)
    assert semantics.of(LoadedTensors).are_data(load) is are_data
