"""What `load_state_dict` gives, where it is taken for the module or optimizer."""

from __future__ import annotations

import ast

import pytest

from torchlint.engine.fixer import apply
from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.semantics import Semantics, Type
from torchlint.semantics.modules.loaded.results import Failure, LoadResult, LoadResults, Mend
from torchlint.semantics.torch_api import MODULE_ATTRIBUTES
from torchlint.text.source import Source

HEAD = """
import logging
import torch
import torchvision
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from elsewhere import build, Other

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
    def forward(self, x):
        return self.body(x)

net = Net()
opt = optim.SGD(net.parameters(), lr=0.1)
sched = StepLR(opt, 3)
"""


def found(code: str, head: str = HEAD) -> list[LoadResult[ast.AST]]:
    return list(Semantics(ast.parse(head + code)).of(LoadResults).found.values())


@pytest.mark.parametrize(
    ("code", "use"),
    [
        ("m = net.load_state_dict(sd).to('cpu')", "net.load_state_dict(sd).to"),
        ("net.load_state_dict(sd).eval()", "net.load_state_dict(sd).eval"),
        ("Net().load_state_dict(sd).cuda().eval()", "Net().load_state_dict(sd).cuda"),
        ("y = net.load_state_dict(sd)(x)", "net.load_state_dict(sd)(x)"),
        ("f(net.load_state_dict(sd).parameters())", "net.load_state_dict(sd).parameters"),
        ("torchvision.models.resnet18().load_state_dict(sd).eval()", "torchvision.models.resnet18().load_state_dict(sd).eval"),
        ("net = net.load_state_dict(sd)\nnet.eval()", "net.eval"),
        ("net = net.load_state_dict(sd)\ny = net(x)", "net(x)"),
        ("net = net.load_state_dict(sd)\nprint(net)\ntrain(net)", "train(net)"),
        ("if path:\n    net = net.load_state_dict(sd)\nnet.eval()", "net.eval"),
        ("m = Net().load_state_dict(sd)\nm.eval()", "m.eval"),
        ("model = Net().load_state_dict(sd)\nrun(model)", "run(model)"),
        ("def load():\n    model = Net().load_state_dict(sd)\n    return model", "return model"),
        ("def load(model: nn.Module):\n    model = model.load_state_dict(sd)\n    return model", "return model"),
        ("def load(n: nn.Module):\n    n = n.load_state_dict(sd)\n    return n, 3", "(n, 3)"),
        ("m: nn.Module = net.load_state_dict(sd)\nm(x)", "m(x)"),
        ("def load():\n    return net.load_state_dict(sd)\nload().eval()", "load().eval"),
        ("def load():\n    return net.load_state_dict(sd)\nm = load()\nm(x)", "m(x)"),
        ("def load():\n    return net.load_state_dict(sd)\ndef both():\n    return load()\nboth().eval()", "both().eval"),
        ("net = net.load_state_dict(sd)\ndef evaluate(x):\n    return net(x)", "net(x)"),
    ],
)
def test_taken_for_the_module(code: str, use: str) -> None:
    [result] = found(code)
    assert (result.role, ast.unparse(result.use)) == (Type.MODULE, use)
    assert (result.failure is Failure.USED) == (not use.startswith(("return", "train", "run", "(")))


@pytest.mark.parametrize(
    ("code", "use", "role"),
    [
        ("opt = opt.load_state_dict(sd)\nopt.step()", "opt.step", Type.OPTIMIZER),
        ("o = opt.load_state_dict(sd)\no.zero_grad()", "o.zero_grad", Type.OPTIMIZER),
        ("opt.load_state_dict(sd).step()", "opt.load_state_dict(sd).step", Type.OPTIMIZER),
        ("sched = sched.load_state_dict(sd)\nsched.step()", "sched.step", Type.SCHEDULER),
        ("opt = opt.load_state_dict(sd)\ntrain(net, opt)", "train(net, opt)", Type.OPTIMIZER),
        ("def f(o: optim.Optimizer):\n    o = o.load_state_dict(sd)\n    return o", "return o", Type.OPTIMIZER),
        (
            "class Trainer:\n    def __init__(self, opt: optim.Adam):\n        self.opt = opt.load_state_dict(sd)\n"
            "    def fit(self):\n        self.opt.step()",
            "self.opt.step",
            Type.OPTIMIZER,
        ),
        (
            "class Trainer:\n    def __init__(self, opt, sd):\n        if sd:\n            self.opt = opt.load_state_dict(sd)\n"
            "        else:\n            self.opt = opt\n"
            "    def fit(self):\n        self.opt.zero_grad()\n        self.opt.step()",
            "self.opt.zero_grad",
            Type.OPTIMIZER,
        ),
        ("def f(o):\n    o = o.load_state_dict(sd)\n    o.zero_grad()\n    o.step()", "o.zero_grad", Type.OPTIMIZER),
    ],
)
def test_taken_for_the_optimizer(code: str, use: str, role: Type) -> None:
    [result] = found(code)
    assert (result.role, ast.unparse(result.use)) == (role, use)


@pytest.mark.parametrize(
    "code",
    [
        "model = build()\nmodel = model.load_state_dict(sd)\nmodel.eval()",
        "model = Other()\nmodel = model.load_state_dict(sd)\nmodel(x)",
        "def f(model):\n    model = model.load_state_dict(sd)\n    return model.to('cpu')",
        "def f(model):\n    model = model.load_state_dict(sd).to('cpu')",
        "def f(args):\n    args.model.load_state_dict(sd).eval()",
    ],
)
def test_unknown_values_that_are_spelled_alike(code: str) -> None:
    assert len(found(code)) == 1


@pytest.mark.parametrize(
    "code",
    [
        "net.load_state_dict(sd)",
        "_ = net.load_state_dict(sd)",
        "net.load_state_dict(sd).missing_keys",
        "print(net.load_state_dict(sd)._asdict())",
        "msg = net.load_state_dict(sd)\nprint(msg)\nlogging.info(msg.missing_keys)",
        "missing, unexpected = net.load_state_dict(sd)",
        "r = net.load_state_dict(sd)\nmissing, unexpected = r",
        "r = net.load_state_dict(sd)\nf(r)\nreturned = r[0]",
        "print(net.load_state_dict(sd))",
        "assert not net.load_state_dict(sd)[0]",
        "result = Net().load_state_dict(sd)\ncheck(result)",
        "msg = opt.load_state_dict(sd)\nprint(msg)",
        "opt = opt.load_state_dict(sd)",
        "opt = opt.load_state_dict(sd)\nif opt is not None:\n    opt.step()",
        "opt = opt.load_state_dict(sd)\nif opt:\n    opt.step()",
        "net = net.load_state_dict(sd)\nif isinstance(net, nn.Module):\n    net.eval()",
        "net = net.load_state_dict(sd)\nif hasattr(net, 'eval'):\n    net.eval()",
        "net = net.load_state_dict(sd)\nnet = Net()\nnet.eval()",
        "net = net.load_state_dict(sd)\nprint(net.missing_keys)",
        "m = net\nif sd:\n    m = net.load_state_dict(sd)\nif not sd:\n    m.eval()",
        "for missing in net.load_state_dict(sd): print(missing)",
        "try:\n    net.load_state_dict(sd).eval()\nexcept AttributeError:\n    pass",
        "net = net.load_state_dict(sd)\nwith pytest.raises(AttributeError):\n    net.eval()",
        "build().load_state_dict(sd).eval()",
        "def f(agent):\n    agent.load_state_dict(sd).act()",
        "def f(agent):\n    agent = agent.load_state_dict(sd)\n    return agent",
        "class T:\n    def __init__(self, agent):\n        self.agent = agent.load_state_dict(sd)\n"
        "    def run(self):\n        self.agent.act()",
        "class T:\n    def __init__(self, model):\n        self.report = model.load_state_dict(sd)\n"
        "    def run(self):\n        self.report.type()",
        "Other().load_state_dict(sd).eval()",
        "m = build().load_state_dict(sd)\nm.eval()",
        "model = build()\nm = model.load_state_dict(sd)\nm.eval()",
        "loader = loader.load_state_dict(sd)\nloader.next()",
        "def load():\n    return net.load_state_dict(sd)\nprint(load())",
        "@fluent\ndef load():\n    return net.load_state_dict(sd)\nload().eval()",
        "def load():\n    if sd:\n        return net.load_state_dict(sd)\n    return net\nload().eval()",
        "class Other(nn.Module):\n    def load_state_dict(self, sd):\n        return super().load_state_dict(sd).missing_keys",
        "Net.load_state_dict = fluent(Net.load_state_dict)\nnet.load_state_dict(sd).eval()",
        "setattr(nn.Module, 'load_state_dict', fluent)\nnet.load_state_dict(sd).eval()",
        "with mock.patch('torch.nn.Module.load_state_dict'):\n    net.load_state_dict(sd).eval()",
        "state = {}\nstate = state.load_state_dict(sd)\nstate.type()",
        "nn.Module.load_state_dict(net, sd).eval()",
    ],
)
def test_what_is_no_mistake_or_may_be_none(code: str) -> None:
    assert found(code) == []


OWN = """
from torch import nn, optim
class Own(nn.Module):
    def load_state_dict(self, state, strict=True):
        super().load_state_dict(state, strict)
        return self
class Derived(Own):
    pass
class Holder(nn.Module):
    load_state_dict = fluent
class Plain:
    def load_state_dict(self, state):
        return self
class Fluent(Unknown):
    def forward(self, x):
        return x
class Adam(optim.Adam):
    def load_state_dict(self, state):
        return self
"""


@pytest.mark.parametrize("owner", ["Own", "Derived", "Holder", "Plain", "Adam", "Fluent"])
def test_classes_of_the_file_that_load_in_another_way(owner: str) -> None:
    assert found(f"{owner}().load_state_dict(sd).eval()", OWN) == []
    assert found(f"x = {owner}()\nx = x.load_state_dict(sd)\nx.eval()\nx.step()", OWN) == []
    assert found(f"def f(x: {owner}):\n    x = x.load_state_dict(sd)\n    return x.eval()", OWN) == []


def test_unknown_values_beside_a_class_that_loads_in_another_way() -> None:
    assert found("def f(model):\n    model = model.load_state_dict(sd)\n    model.eval()", OWN) == []


def test_a_class_whose_subclass_loads_in_another_way() -> None:
    base = "from torch import nn\nclass Base(nn.Module):\n    def get(self):\n        return self.load_state_dict(sd).eval()\n"
    more = "class Own(Base):\n    def load_state_dict(self, state):\n        return self\n"
    assert len(found("", base)) == 1
    assert found("", base + more) == []


def test_attributes_of_an_object() -> None:
    text = (
        "class Trainer:\n    def __init__(self, path):\n        self.model = Net()\n        self.model.train()\n"
        "        if path:\n            self.model = self.model.load_state_dict(torch.load(path))\n"
        "    def predict(self, x):\n        return {}\n"
    )
    [result] = found(text.format("self.model(x)"))
    assert ast.unparse(result.use) == "self.model(x)"
    assert found(text.format("self.other(x)")) == []
    assert found(text.format("self.model.missing_keys")) == []


def test_the_results_on_torch() -> None:
    torch = pytest.importorskip("torch")
    net = torch.nn.Linear(2, 2)
    result = net.load_state_dict(net.state_dict())
    assert {name for name in dir(result) if not name.startswith("_")} == {"count", "index", "missing_keys", "unexpected_keys"}
    assert not callable(result) and not any(hasattr(result, name) for name in MODULE_ATTRIBUTES)
    optimizer = torch.optim.Adam(net.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    assert optimizer.load_state_dict(optimizer.state_dict()) is None
    assert scheduler.load_state_dict(scheduler.state_dict()) is None


@pytest.mark.parametrize(
    ("code", "is_strict"),
    [
        ("net = net.load_state_dict(sd)\nnet.eval()", False),
        ("def f(model):\n    model = model.load_state_dict(sd)\n    model.eval()", True),
        ("model = build()\nmodel = model.load_state_dict(sd)\nmodel.eval()", True),
        ("def load():\n    m = Net()\n    m = m.load_state_dict(sd)\n    return m", True),
        ("def load():\n    m = Net()\n    m = m.load_state_dict(sd)\n    return m\nload().eval()", False),
        ("def load():\n    m = Net()\n    m = m.load_state_dict(sd)\n    return m\nx = load()\nx.eval()", False),
        ("model = torch.hub.load('a/b', 'c')\nmodel = model.load_state_dict(sd)\nmodel.eval()", False),
    ],
)
def test_what_is_only_likely(code: str, is_strict: bool) -> None:
    assert [each.is_strict for each in found(code)] == [is_strict]


HOLDER = """
class Holder:
    def __init__(self):
        self.net = Net()
    def load(self, sd):
{}
    def run(self):
        return self.net.eval()
"""


@pytest.mark.parametrize(
    "code",
    [
        "import utils\nutils.load_state_dict(nn.Linear(2, 2), sd).eval()",
        "from utils import checkpoint\nmodel = checkpoint.load_state_dict(net, sd).to('cpu')",
        "import lib.io\nlib.io.load_state_dict(net).eval()",
        "import importlib\nck = importlib.import_module('ckpt')\nck.load_state_dict(sd).eval()",
        "Other.load_state_dict(net, sd).eval()",
        "def f(loader):\n    return loader.load_state_dict(net, sd).eval()",
        "def f(hub):\n    return hub.load_state_dict('resnet').type(torch.float)",
        "from unittest import mock\nm = mock.MagicMock()\nm = m.load_state_dict(sd)\nm.eval()",
        "def f(m):\n    m.load_state_dict.return_value = m\n    m.load_state_dict(sd).eval()",
        "from tensordict import TensorDict\ntd = TensorDict({}, [3])\ntd = td.load_state_dict(sd)\ntd.to('cpu')",
        "class Wrap:\n    def __getattr__(self, name):\n        return fluent\nw = Wrap()\nw = w.load_state_dict(sd)\nw.eval()",
        "net.__dict__['load_state_dict'] = fluent\nnet.load_state_dict(sd).eval()",
        "Own = type('Own', (nn.Linear,), {'load_state_dict': fluent})\nnet.load_state_dict(sd).eval()",
        "Own = type('Own', (nn.Linear,), dict(load_state_dict=fluent))\nnet.load_state_dict(sd).eval()",
        "def load(m: nn.Module):\n    m = m.load_state_dict(sd)\n    return m\nprint(load(net).missing_keys)",
        "def load(m: nn.Module):\n    m = m.load_state_dict(sd)\n    return m\nkeys = load(net)\nprint(keys[0])",
        "def show(keys):\n    print(keys.missing_keys)\nnet = net.load_state_dict(sd)\nshow(net)",
        "def f():\n    m = Net()\n    m = m.load_state_dict(sd)\n    m.eval()\nwith pytest.raises(AttributeError):\n    f()",
        "class A:\n    def load(self):\n        return net.load_state_dict(sd)\n"
        "    def run(self):\n        self.load().eval()\n"
        "class B(A):\n    def load(self):\n        return net\n",
        HOLDER.format("        old = self.net\n        self.net = self.net.load_state_dict(sd)\n        self.net = old"),
        HOLDER.format(
            "        self.net = self.net.load_state_dict(self.net.state_dict())\n    def renew(self):\n        self.net = Net()"
        ),
        HOLDER.format("        self.net = self.net.load_state_dict(sd)\n    def __setattr__(self, name, value):\n        pass"),
        HOLDER.format("        self.net = self.net.load_state_dict(sd)\n    @property\n    def net(self):\n        return net"),
        HOLDER.format("        self.net = self.net.load_state_dict(self.net.state_dict())").replace("self.net.eval()", "1"),
    ],
)
def test_what_may_load_in_another_way_or_is_another_value(code: str) -> None:
    assert found(code) == []


def test_attributes_that_are_read_before_anything_else_is_stored() -> None:
    text = "        self.net = self.net.load_state_dict(self.net.state_dict())\n        self.net.{}()\n        self.net = Net()"
    [result] = found(HOLDER.format(text.format("train")))
    assert ast.unparse(result.use) == "self.net.train"


def test_a_part_of_a_module_that_is_given_a_result() -> None:
    head = "class Whole(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.part = nn.Linear(2, 2)\n"
    [result] = found(head + "        self.part = self.part.load_state_dict(sd)\n")
    assert result.failure is Failure.ASSIGNED
    torch = pytest.importorskip("torch")
    whole = torch.nn.Sequential(torch.nn.Linear(2, 2))
    whole.part = torch.nn.Linear(2, 2)
    with pytest.raises(TypeError, match="cannot assign"):
        whole.part = whole.part.load_state_dict(whole.part.state_dict())


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("def f(s):\n    s = s.load_state_dict(sd)\n    s.step()", "optimizer or scheduler"),
        ("def f(s):\n    s = s.load_state_dict(sd)\n    s.zero_grad()\n    s.step()", "optimizer"),
        ("def f(s):\n    s = s.load_state_dict(sd)\n    s.get_last_lr()", "scheduler"),
    ],
)
def test_what_it_is_called(code: str, what: str) -> None:
    assert [each.what for each in found(code)] == [what]


@pytest.mark.parametrize(
    ("code", "mend"),
    [
        ("        self.net = nn.Linear(2, 2).load_state_dict(self.net.state_dict())\n        self.net.train()", Mend.BY_HAND),
        ("        self.net = nn.Linear(2, 2).load_state_dict(self.state())\n        self.net.train()", Mend.BY_HAND),
        ("        self.net = nn.Linear(2, 2).load_state_dict(self.sd)\n        self.net.train()", Mend.BEHIND),
    ],
)
def test_nothing_is_assigned_before_it_is_read(code: str, mend: Mend) -> None:
    assert [each.mend for each in found(HOLDER.format(code))] == [mend]


def test_an_annotation_is_kept() -> None:
    text = "import torch\nfrom torch import nn\nmodel: nn.Module = nn.Linear(2, 2).load_state_dict(sd)\nmodel.eval()\n"
    [rule] = (each for each in all_rules() if each.code == "TPL330")
    fixed = apply(Source(text), lint(Source(text), [rule]))
    assert fixed.splitlines()[2:4] == [
        "model: nn.Module = nn.Linear(2, 2)",
        "model.load_state_dict(sd)",
    ]
