"""Loads of objects of classes: each marked load is used as one, or there is none."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics.saving.refused_loads import RefusedLoads

HEAD = "import torch\nimport torch as th\nfrom torch import load as read\n"
SAVED = "def f(n, a):\n    a.lr\n    torch.save({'m': n.state_dict(), 'e': 1, 'a': a}, p)\n"

REBOUND = "def read(new, is_state={default}):\n    m = {load}\n    if is_state:\n        m = new()\n    return m\n"
"""A function that gives back what it has loaded, or another object."""


def used(snippet: str) -> list[str]:
    semantics, nodes = marked(HEAD + snippet)
    found = semantics.of(RefusedLoads).found
    assert sorted(found, key=lambda load: load.lineno) == nodes
    return [ast.unparse(each.use) for each in found.values()]


@pytest.mark.parametrize(
    ("snippet", "use"),
    [
        ("m = «torch.load(p)»\nm.eval()", "m.eval"),
        ("m = «th.load(p, 'cpu')»\nm(x)", "m(x)"),
        ("«read(p)».parameters()", "read(p).parameters"),
        ("c = «torch.load(p)»\nprint(c['args'].lr)", "c['args'].lr"),
        ("c = «torch.load(p)»\nargs = c['args']\nargs.lr", "args.lr"),
        ("c = «torch.load(p)»\nm = c\nm.state_dict()", "m.state_dict"),
        ("a = «torch.load(p)»\na.astype('f')", "a.astype"),
        ("if old:\n    m = «torch.load(p)»\nelse:\n    m = Net()\nm.train()", "m.train"),
        ("m, o = «torch.load(p)»\nm.eval()", "m.eval"),
        ("try:\n    m = «torch.load(p)»\nexcept (FileNotFoundError, KeyError):\n    raise\nm.eval()", "m.eval"),
        (SAVED + "c = «torch.load(p)»\nn.load_state_dict(c['m'])\nprint(c['e'])", "a"),
        ("«torch.load(p)».module(x)", "torch.load(p).module"),
        ("def read():\n    return «torch.load(p)»\nread()(x)", "read()(x)"),
        (
            "class T:\n  def f(self):\n    self.m = «torch.load(p)»\n    if one:\n"
            "      self.m = torch.nn.Sequential(self.m, head)\n    self.m.eval()",
            "torch.nn.Sequential",
        ),
        (
            "class T:\n  def f(self):\n    self.m = «torch.load(p)»\n    self.n = torch.nn.DataParallel(self.m)",
            "torch.nn.DataParallel",
        ),
        (REBOUND.format(load="«torch.load(p)»", default=False) + "read(Net)(x)", "read(Net)(x)"),
        (REBOUND.format(load="«torch.load(p)»", default=True) + "read(Net, False)(x)", "read(Net, False)(x)"),
        (REBOUND.format(load="«torch.load(p)»", default=True) + "read(Net, flag)(x)", "read(Net, flag)(x)"),
        ("class T:\n  def f(self):\n    self.m = «torch.load(p)»\n  def g(self):\n    self.m.eval()", "self.m.eval"),
        (
            "class T:\n  def __init__(self):\n    self.m = None\n  def f(self):\n    self.m = «torch.load(p)»\n"
            "  def g(self):\n    self.m.eval()",
            "self.m.eval",
        ),
        ("a = vars(«torch.load(p)»)", "vars(torch.load(p))"),
        ("c = «torch.load(p)»\na.__dict__.update(c['args'].__dict__)", "c['args'].__dict__"),
    ],
)
def test_what_is_an_object(snippet: str, use: str) -> None:
    assert used(snippet) == [use]


def test_an_attribute_that_is_loaded_on_each_way() -> None:
    text = (
        "class T:\n  def __init__(self):\n    if gpu:\n      self.m = «torch.load(p)».cuda()\n"
        "    else:\n      self.m = «torch.load(p)»\n    self.m.eval()"
    )
    assert used(text) == ["self.m.eval", "self.m.eval"]


@pytest.mark.parametrize(
    "snippet",
    [
        "class T:\n  def f(self):\n    self.m = torch.load(p)\n    self.m = build()\n  def g(self):\n    self.m.eval()",
        "class T:\n  m: object = build()\n  def f(self):\n    self.m = torch.load(p)\n    self.m = m.cuda()\n    self.m.eval()",
        "def vars(x): return x\na = vars(torch.load(p))",
        "c = torch.load(p)\nc['x'].cuda().mean()",
        "c = torch.load(p)\nfor k, v in c.items():\n    v.grad",
        "c = torch.load(p)\nm.load_state_dict(c['m'])",
        "m = torch.load(p, weights_only=False)\nm.eval()",
        "m = torch.load(p, **options)\nm.eval()",
        "m = torch.load(p, 'cpu', pickle)\nm.eval()",
        "m = torch.jit.load(p)\nm.eval()",
        "m = other.load(p)\nm.eval()",
        "try:\n    m = torch.load(p)\nexcept Exception:\n    raise\nm.eval()",
        "try:\n    pass\nexcept Exception:\n    m = torch.load(p)\n    m.keys()",
        "m = torch.load(p)\nif hasattr(m, 'eval'):\n    m.eval()",
        "m = torch.load(p)\nm = Net()\nm.eval()",
        "def f(m=None):\n    if m is None:\n        m = torch.load(p)\n    return m",
        "torch.serialization.add_safe_globals([Net])\nm = torch.load(p)\nm.eval()",
        SAVED + "c = torch.load(p)\nn.load_state_dict(c['m'])",
        SAVED + "c = torch.load(p)\nn.load_state_dict(c['m'])\nprint(c['other'])",
        SAVED + "c = torch.load(p, weights_only=False)\nn.load_state_dict(c['m'])\nprint(c['e'])",
        SAVED
        + "try:\n    c = torch.load(p)\nexcept (OSError, Exception):\n    raise\nn.load_state_dict(c['m'])\nprint(c['e'])",
        "torch.load = mine\nm = torch.load(p)\nm.eval()",
        "c = torch.load(p)\nc['hits'].most_common(3)",
        "c = torch.load(p)\nc[key].eval()",
        REBOUND.format(load="torch.load(p)", default=True) + "read(Net)(x)",
        REBOUND.format(load="torch.load(p)", default=False) + "read(Net, True)(x)",
        "class T:\n  def f(self):\n    self.m = torch.load(p)\n    self.m = Net(self.m)\n    self.m.eval()",
    ],
)
def test_what_is_plain_or_meant(snippet: str) -> None:
    assert not used(snippet)


NET = """
class Net(torch.nn.Module):
    def __init__(self, state=None):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
class T:
    def __init__(self, path):
{init}
    def g(self, x):
{method}
        return self.m(x)
"""


@pytest.mark.parametrize(
    ("init", "method"),
    [
        ("if path is None:\n  self.m = Net().to(d)\nelse:\n  self.m = «torch.load(path)».to(d)", "pass"),
        ("self.m = Net()\nif path:\n  self.m = «torch.load(path)».cuda()", "pass"),
        ("self.m = Net()", "if self.path:\n  self.m = «torch.load(self.path)».cuda()"),
    ],
)
def test_an_attribute_that_is_loaded_or_made(init: str, method: str) -> None:
    (use,) = used(NET.format(init=indent(init, " " * 8), method=indent(method, " " * 8)))
    assert use == "self.m(x)"


@pytest.mark.parametrize(
    ("init", "method"),
    [
        ("self.m = torch.load(path)\nself.m = Net(self.m)", "pass"),
        ("self.m = torch.load(path).cuda()\nself.m = Net(self.m)", "pass"),
        ("self.m = Net()\nif path:\n  self.m = torch.load(path)", "pass"),
        ("self.m = torch.load(path).cuda()\nself.s = self.m\nself.m = Net()", "pass"),
        ("if path is None:\n  self.m = build()\nelse:\n  self.m = torch.load(path).cuda()", "pass"),
        ("self.m = torch.load(path).cuda()", "self.m = Net()"),
    ],
)
def test_an_attribute_that_is_made_of_what_is_loaded(init: str, method: str) -> None:
    assert not used(NET.format(init=indent(init, " " * 8), method=indent(method, " " * 8)))


def test_an_attribute_that_is_asked_before_it_is_loaded() -> None:
    assert not used(
        "class T:\n  def f(self):\n    self.m = torch.nn.Linear(2, 2)\n    self.m(x)\n"
        "    self.m = torch.load(p).cuda()\n    show(self.m)"
    )


@pytest.mark.parametrize(
    "text",
    [
        "  def f(self, p):\n    self.m = «torch.load(p)»\n    self.m.eval()",
        "  def f(self, p, made):\n    if p:\n      self.m = «torch.load(p)»\n    else:\n      self.m = made\n    self.m.eval()",
        "  def f(self, p, s):\n    self.m = Net()\n    if s:\n      self.m = «torch.load(p)»\n    self.m.eval()",
    ],
)
def test_an_attribute_that_is_used_where_it_is_loaded(text: str) -> None:
    assert used(f"class T:\n  def __init__(self):\n    self.m = Net()\n{text}\n") == ["self.m.eval"]


@pytest.mark.parametrize(
    "text",
    [
        "  def f(self, p):\n    self.m = torch.load(p)\n    self.m = Net(self.m)\n    self.m.eval()",
        "  def f(self, p):\n    self.m.eval()\n    self.m = torch.load(p)\n    return self.m['a']",
        "  def f(self, p):\n    self.m = torch.load(p)\n  def g(self):\n    self.m.eval()",
        "  def f(self, p):\n    self.m = torch.load(p)\n    self.make()\n    self.m.eval()\n"
        "  def make(self):\n    self.m = Net(self.m)",
        "  def f(self, p):\n    if p:\n      self.m = torch.load(p)\n      self.m = Net(self.m)\n    self.m.eval()",
        "  def f(self, p, net):\n    self.m = torch.load(p)['net']\n    if net:\n      net.load_state_dict(self.m)\n"
        "      self.m = net\n    self.m.eval()",
        "  def f(self, p):\n    if p:\n      self.m = torch.load(p)\n    else:\n      self.m = Net()\n      self.m.eval()",
    ],
)
def test_an_attribute_that_is_another_where_it_is_used(text: str) -> None:
    assert not used(f"class T:\n  def __init__(self):\n    self.m = Net()\n{text}\n")


OPENED = """
net = torch.nn.Linear(2, 2)
with open({to}, 'wb') as file:
    torch.save(net, file)
with open({of}, 'rb') as file:
    found = {load}
test(found)
"""


@pytest.mark.parametrize("path", ["'net.pth'", "config['data']['best']", "args.save"])
def test_what_the_file_saves_whole_to_the_file_that_is_opened(path: str) -> None:
    assert used(OPENED.format(to=path, of=path, load="«torch.load(file)»")) == ["net"]


@pytest.mark.parametrize(
    ("to", "of"),
    [("'net.pth'", "'old.pth'"), ("args.save", "args.load"), ("config['a']", "config['b']"), ("self.path", "self.path")],
)
def test_what_the_file_opens_elsewhere(to: str, of: str) -> None:
    assert not used(OPENED.format(to=to, of=of, load="torch.load(file)"))


BOTH = "class A:\n  def __init__(self):\n    self.n = torch.nn.Linear(2, 2)\n  def s(self, d):\n    torch.save({saved}, {to})\n"
BOTH += "  def l(self, d):\n    n = {load}\n    self.n = n\n"


@pytest.mark.parametrize(
    ("saved", "to", "load"),
    [
        ("self.n", "d + 'net.pth'", "«torch.load(d + 'net.pth')»"),
        ("self.n", "f'{d}/net.pth'", "«torch.load(os.path.join(d, 'net.pth'), map_location='cpu')»"),
        ("self.n", "d + '.net'", "«torch.load(d + '.net')»"),
        ("self.n", "model_config['files']['best']", "«torch.load(model_config['files']['best'])»"),
        ("self.n", "args.save", "«torch.load(args.save)»"),
    ],
)
def test_what_the_file_saves_whole_by_the_same_path(saved: str, to: str, load: str) -> None:
    assert used(BOTH.format(saved=saved, to=to, load=load)) == ["self.n"]


@pytest.mark.parametrize(
    ("saved", "to", "load"),
    [
        ("self.n.state_dict()", "d + 'net.pth'", "torch.load(d + 'net.pth')"),
        ("self.n", "d + 'net.pth'", "torch.load(d + 'other.pth')"),
        ("self.n", "d", "torch.load(d)"),  # of which nothing says that it is the same file
        ("self.n", "d + 'net.pth'", "torch.load(d + 'net.pth', weights_only=False)"),
        ("self.n", "'net.pth'); torch.save({}, 'net.pth'", "torch.load('net.pth')"),
        ("torch.jit.script(self.n)", "d + 'net.pth'", "torch.load(d + 'net.pth')"),
    ],
)
def test_what_need_not_be_a_module_of_the_same_path(saved: str, to: str, load: str) -> None:
    assert used(BOTH.format(saved=saved, to=to, load=load)) == []


LOG = (
    "from collections import OrderedDict, defaultdict\nlog = None\nif old:\n    log = {load}\n"
    "if log is None:\n    log = {made}\nrun(log)\n"
)


@pytest.mark.parametrize(
    ("made", "saved", "use"),
    [
        ("defaultdict(list)", "log", "defaultdict(list)"),
        ("defaultdict(list)", "dict(log)", ""),
        ("defaultdict(list)", "other", ""),
        ("OrderedDict()", "log", ""),
        ("{}", "log", ""),
        ("begin()", "log", ""),
    ],
)
def test_what_is_made_where_nothing_is_loaded(made: str, saved: str, use: str) -> None:
    load = "«torch.load(p)»" if use else "torch.load(p)"
    assert used(LOG.format(load=load, made=made) + f"def keep(log, q):\n    torch.save({saved}, q)") == [use][: bool(use)]


def test_a_third_value_tells_nothing() -> None:
    third = LOG.format(load="torch.load(p)", made="defaultdict(list)").replace(
        "run(log)", "if new:\n    log = plain()\nrun(log)"
    )
    other = third.replace("log is None", "empty").replace("log = None\n", "log = plain()\n")
    assert used(other + "torch.save(log, q)") == []
