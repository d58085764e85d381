"""Saved states of wrapped modules: each marked call gives one, or there is none."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.wrapped_states import WrappedState, WrappedStates

HEAD = "import copy, torch\nfrom torch import nn\nfrom torch.nn.parallel import DistributedDataParallel as DDP\n"


def states(snippet: str) -> list[WrappedState[ast.expr]]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(WrappedStates).found
    assert list(found) == nodes
    return list(found.values())


UNDER = "{gpus}\nm = n\nif {test}:\n    m = nn.DataParallel(m)\ntorch.save(«m.state_dict()», p)"


@pytest.mark.parametrize(
    ("gpus", "test", "is_out"),
    [
        ("gpus = 1", "gpus > 1", True),
        ("gpus = 1", "device.type == 'cuda' and gpus > 1", True),
        ("MANY = False", "MANY", True),
        ("MANY = False", "not MANY", False),
        ("gpus = 2", "gpus > 1", False),
        ("gpus = 1", "device.type == 'cuda' or gpus > 1", False),
        ("gpus = 1\ngpus = count()", "gpus > 1", False),
        ("gpus = 1\nif many:\n    gpus = 2", "gpus > 1", False),
        ("gpus = 1\ngpus += args.more", "gpus > 1", False),
        ("gpus = 1\ndef choose():\n    global gpus\n    gpus = 2", "gpus > 1", False),
        ("gpus = torch.cuda.device_count()", "gpus > 1", False),
        ("gpus, many = 1, 2", "many > 1", False),
        ("for gpus in (1, 2): pass", "gpus > 1", False),
        ("class A:\n    gpus = 1", "A.gpus > 1", False),
    ],
)
def test_a_constant_may_rule_a_wrapper_out(gpus: str, test: str, is_out: bool) -> None:
    (found,) = states(UNDER.format(gpus=gpus, test=test))
    assert found.is_ruled_out is is_out


def test_the_wrapper_that_may_be_made_is_told_of() -> None:
    (found,) = states(
        "gpus = 1\nm = n\nif gpus > 1:\n    m = nn.DataParallel(m)\nelif many:\n    m = DDP(m)\ntorch.save(«m.state_dict()», p)"
    )
    assert not found.is_ruled_out and ast.unparse(found.wrapper) == "DDP(m)"


@pytest.mark.parametrize(
    ("snippet", "within", "always"),
    [
        ("m = nn.DataParallel(n)\ntorch.save(«m.state_dict()», p)", "module", True),
        ("m = DDP(n, device_ids=[0]).train()\ntorch.save({'m': «m.state_dict()»}, p)", "module", True),
        ("m = torch.compile(n)\ns = dict(m=«m.state_dict()»)\ntorch.save(s, p)", "_orig_mod", True),
        ("m = n\nif many:\n    m = nn.DataParallel(m)\nsave_checkpoint({'m': «m.state_dict()»})", "module", False),
        ("m = DDP(n) if many else n\ns = {}\ns['m'] = «m.state_dict()»\ntorch.save(s, p)", "module", False),
        ("def f(m):\n    torch.save(«m.state_dict()», p)\nf(DDP(n))", "module", True),
        (
            "def f(m):\n    n.load_state_dict(m.module.state_dict())\nm = n\nif many:\n    m = nn.DataParallel(m)\n"
            "torch.save(«m.state_dict()», p)",
            "module",
            False,
        ),
        (
            "class T:\n  def __init__(self, m):\n    self.m = DDP(m)\n  def f(self):\n    torch.save(«self.m.state_dict()», p)",
            "module",
            True,
        ),
        ("def f():\n    return DDP(n), 1\nm, o = f()\ntorch.save(«m.state_dict()», p)", "module", True),
        ("def f(many):\n    return DDP(n) if many else n\nm = f(count())\ntorch.save(«m.state_dict()», p)", "module", False),
        ("m = nn.DataParallel(n)\ntorch.save(«m.cpu().state_dict()», p)", "module", True),
        ("m = nn.DataParallel(n)\nbest = copy.deepcopy(«m.state_dict()»)\ntorch.save(best, p)", "module", True),
        (
            "class T:\n  def __init__(self, m):\n    self.m = DDP(m)\n  def s(self):\n    return {'m': «self.m.state_dict()»}\n"
            "  def f(self):\n    torch.save(self.s(), p)",
            "module",
            True,
        ),
        ("m = DDP(n)\nmean_loader(m)\ndownload_all(m)\ntorch.save(«m.state_dict()», p)", "module", True),
    ],
)
def test_what_has_the_keys_of_a_wrapper(snippet: str, within: str, always: bool) -> None:
    (found,) = states(snippet)
    assert (found.within, found.always, found.is_loaded_alike) == (within, always, False)


@pytest.mark.parametrize(
    "snippet",
    [
        "m = nn.DataParallel(n)\ntorch.save(m.module.state_dict(), p)",
        "m = nn.DataParallel(n)\ntorch.save(n.state_dict(), p)",
        "m = nn.DataParallel(n)\nbest = m.state_dict()",
        "m = n\nif c['parallel']:\n    m = nn.DataParallel(m)\nif c['parallel']:\n    inner = m.module\nelse:\n    inner = m\n"
        "torch.save({'m': inner.state_dict()}, p)",
        "m = nn.DataParallel(n)\nother.load_state_dict(m.state_dict())",
        "m = nn.DataParallel(n)\nif hasattr(m, 'module'):\n    m = m.module\ntorch.save(m.state_dict(), p)",
        "m = nn.DataParallel(n)\ntorch.save({k[7:]: v for k, v in m.state_dict().items()}, p)",
        "m = nn.DataParallel(n)\ntorch.save(m.state_dict(), p)\ns = {k.replace('module.', ''): v for k, v in s.items()}",
        "m = nn.DataParallel(n)\ntorch.save(m.state_dict(), p)\nnew[k[7:]] = v",
        "m = nn.DataParallel(n)\ntorch.save((m.module if many else m).state_dict(), p)",
        "m = mine.DataParallel(n)\ntorch.save(m.state_dict(), p)",
        "f = torch.compile(g)\ntorch.save(m.state_dict(), p)",
        "m = n\nif many:\n    m = DDP(m)\nif not many:\n    torch.save(m.state_dict(), p)",
        "def f(many=False):\n    return DDP(n) if many else n\nm = f()\ntorch.save(m.state_dict(), p)",
        "def f(many):\n    if not many:\n        return n\n    return DDP(n)\nm = f(False)\ntorch.save(m.state_dict(), p)",
        "def f(m):\n    return m.module if many else m\nm = f(DDP(n))\ntorch.save(m.state_dict(), p)",
        "m = DDP(n)\ndef f():\n    return m.state_dict()\nother.load_state_dict(f())",
    ],
)
def test_what_has_its_own_keys(snippet: str) -> None:
    assert not states(snippet)


@pytest.mark.parametrize("load", ["m.load_state_dict(torch.load(p))", "restart_from(p, model=m)", "resume(m, p)"])
def test_what_is_loaded_into_a_wrapped_module_again(load: str) -> None:
    (found,) = states(f"m = nn.DataParallel(n)\n{load}\ntorch.save(«m.state_dict()», p)")
    assert found.is_loaded_alike


def test_what_is_put_back_from_memory() -> None:
    (found,) = states("m = DDP(n)\nbest = copy.deepcopy(«m.state_dict()»)\nm.load_state_dict(best)\ntorch.save(best, p)")
    assert found.is_put_back and not found.is_loaded_alike


TRAINER = """class Trainer:
    def __init__(self, m, many):
        self.m = m
        {before}
        if many:
            self.m = nn.DataParallel(self.m)
        {behind}
    def save(self, p):
        torch.save(«self.m.state_dict()», p)
"""


@pytest.mark.parametrize("place", ["before", "behind"])
def test_what_is_loaded_before_it_is_wrapped(place: str) -> None:
    load = "self.m.load_state_dict(torch.load('m.pt'))"
    (found,) = states(TRAINER.format(**{"before": "pass", "behind": "pass", place: load}))
    assert found.is_loaded_alike is (place == "behind")
