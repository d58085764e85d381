"""Modules and parameters in plain collections: of each snippet, by the marked attribute."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.registration.unregistered import Unregistered, UnregisteredModules

HEAD = "import torch\nfrom torch import nn\nclass Net(nn.Module):\n  def __init__(self, unknown):\n    super().__init__()\n    "
LAYERS = "«self.a» = [nn.Linear(2, 2) for _ in range(3)]"
BY_NAME = "«self.a» = {'x': nn.Linear(2, 2)}"


def kept(snippet: str) -> Unregistered[ast.expr] | None:
    semantics, (node,) = marked(snippet)
    return semantics.of(UnregisteredModules).kept.get(node)


def in_constructor(body: str, forward: str = "pass") -> Unregistered[ast.expr] | None:
    """What the marked attribute keeps that a module's constructor gives it, with another method of the module."""
    return kept(f"{HEAD}{body}\n  def forward(self, x):\n    {forward}\n")


@pytest.mark.parametrize(
    ("body", "given"),
    [
        (LAYERS, "[nn.Linear(2, 2) for _ in range(3)]"),
        ("«self.a» = [nn.Linear(2, 2)] * 3", "[nn.Linear(2, 2)] * 3"),
        ("«self.a» = [nn.BatchNorm1d(3), nn.ReLU()]", "[nn.BatchNorm1d(3), nn.ReLU()]"),
        ("«self.a» = []\n    self.a.append(nn.Linear(2, 2))", "[]"),
        ("a = []\n    a.append(nn.Linear(2, 2))\n    «self.a» = a", "a"),
    ],
)
def test_modules_in_a_list(body: str, given: str) -> None:
    found = in_constructor(body)
    assert found is not None
    assert (ast.unparse(found.given.node), found.given.is_dict, found.given.is_tuple) == (given, False, False)
    assert (found.parameters, found.untrained) == (False, True)
    assert (found.replaceable, found.replaceable_in_old_torch) == (True, True)


def test_modules_in_a_tuple_and_in_a_dict() -> None:
    a_tuple, a_dict = in_constructor("«self.a» = (nn.Linear(2, 2), nn.Linear(2, 2))"), in_constructor(BY_NAME)
    assert a_tuple is not None
    assert (a_tuple.given.is_dict, a_tuple.given.is_tuple) == (False, True)
    assert a_dict is not None
    assert (a_dict.given.is_dict, a_dict.replaceable) == (True, True)


def test_parameters() -> None:
    found = in_constructor("«self.a» = {'a': nn.Parameter(torch.zeros(3))}")
    assert found is not None
    assert (found.parameters, found.untrained, found.replaceable) == (True, True, True)


def test_modules_that_have_but_modes() -> None:
    found = in_constructor("«self.a» = [nn.Dropout(), nn.Dropout()]", "return self.a[0](x)")
    assert found is not None
    assert (found.parameters, found.untrained) == (False, False)


@pytest.mark.parametrize(
    ("definition", "untrained"),
    [
        ("class Part(nn.Dropout2d):\n  def __init__(self, p):\n    super().__init__(p)\n    self.rate = p\n", False),
        ("class Part(nn.Module):\n  def forward(self, x):\n    return x if self.training else x / 2\n", False),
        ("class Part(nn.Dropout2d):\n  def __init__(self, p):\n    super().__init__(p)\n    self.a = nn.Linear(2, 2)\n", True),
        ("class Part(nn.BatchNorm2d):\n  pass\n", True),
        ("class Part(nn.Sequential):\n  pass\n", True),
    ],
)
def test_instances_of_an_own_class(definition: str, untrained: bool) -> None:
    text = HEAD.replace("class", definition + "class", 1)
    found = kept(f"{text}«self.a» = [Part(0.5) for _ in range(3)]\n  def forward(self, x):\n    pass\n")
    assert found is not None
    assert found.untrained is untrained


@pytest.mark.parametrize("base", ["nn.ReLU", "nn.Module"])
def test_an_own_class_without_state_and_modes(base: str) -> None:
    text = HEAD.replace("class", f"class Part({base}):\n  pass\nclass", 1)
    assert kept(f"{text}«self.a» = [Part() for _ in range(3)]\n  def forward(self, x):\n    pass\n") is None


def test_collections_in_a_collection() -> None:
    found = in_constructor("«self.a» = [[nn.Linear(2, 2)], [nn.Linear(2, 2)]]")
    assert found is not None
    assert [ast.unparse(each.node) for each in found.nested] == ["[nn.Linear(2, 2)]", "[nn.Linear(2, 2)]"]
    assert found.replaceable


@pytest.mark.parametrize(
    "body",
    [
        "«self.a» = [nn.ReLU(), nn.ReLU()]",
        "«self.a» = [unknown, unknown]",
        "«self.a» = [torch.zeros(3), torch.zeros(3)]",
        "other = unknown\n    «other.a» = [nn.Linear(2, 2), nn.Linear(2, 2)]",
        "«self.a» = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])",
    ],
)
def test_nothing_that_has_to_be_registered_or_nothing_known(body: str) -> None:
    assert in_constructor(body) is None


@pytest.mark.parametrize(
    "behind",
    [
        "self.b = nn.Sequential(*self.a)",
        "self.b = nn.ModuleList(self.a)",
        "for i, m in enumerate(self.a):\n      self.add_module(str(i), m)",
        "for i, m in enumerate(self.a):\n      setattr(self, str(i), m)",
        "for i, m in enumerate(self.a):\n      for n, p in zip('ab', m):\n        self.add_module(n, p)",
        "for m in self.a:\n      for p in m:\n        self.add_module('p', p)",
    ],
)
def test_registered_elsewhere(behind: str) -> None:
    assert in_constructor(f"{LAYERS}\n    {behind}") is None


@pytest.mark.parametrize(
    ("chooser", "is_chosen"),
    [
        ("return self.a[name]", True),
        ("net = self.a[name]\n    return net", True),
        ("print(self.a[name])", False),
        ("net = self.a[name]\n    print(net)", False),
    ],
)
def test_one_of_them_is_chosen_to_be_an_attribute(chooser: str, is_chosen: bool) -> None:
    found = kept(f"{HEAD}{BY_NAME}\n    self.b = self.choose(unknown)\n  def choose(self, name):\n    {chooser}\n")
    assert (found is None) is is_chosen


FROZEN = "«self.a» = []\n    for _ in range(3):\n      m = nn.Linear(2, 2)\n      {}\n      self.a.append(m)"


@pytest.mark.parametrize(
    ("before", "is_frozen"),
    [
        ("for p in m.parameters():\n        p.requires_grad = False", True),
        ("for p in m.parameters():\n        p.requires_grad = True", False),
        ("for p in m.parameters():\n        print(p)", False),
        ("for p in other.parameters():\n        p.requires_grad = False", False),
    ],
)
def test_what_is_frozen_by_hand_is_not_to_be_trained(before: str, is_frozen: bool) -> None:
    assert (in_constructor(FROZEN.format(before)) is None) is is_frozen


def test_modules_that_are_attributes_of_their_own() -> None:
    assert in_constructor("self.l = nn.Linear(2, 2)\n    self.k = nn.Linear(2, 2)\n    «self.a» = [self.l, self.k]") is None


def test_a_class_that_is_no_module_or_finds_its_parameters_itself() -> None:
    assert kept(f"from torch import nn\nclass A:\n  def __init__(self):\n    {LAYERS}\n") is None
    assert kept(f"{HEAD}{LAYERS}\n  def parameters(self):\n    return self.a[0].parameters()\n") is None


@pytest.mark.parametrize(
    "use", ["for m in self.a:\n      x = m(x)", "len(self.a)", "self.a[1:]", "self.a[0](x)", "if self.a: pass"]
)
def test_what_any_module_list_can_do(use: str) -> None:
    found = in_constructor(LAYERS, use)
    assert found is not None
    assert (found.replaceable, found.replaceable_in_old_torch) == (True, True)


@pytest.mark.parametrize("use", ["self.a + x", "self.a.pop()"])
def test_what_module_lists_can_do_since_torch_2(use: str) -> None:
    found = in_constructor(LAYERS, use)
    assert found is not None
    assert (found.replaceable, found.replaceable_in_old_torch) == (True, False)


@pytest.mark.parametrize(
    "use",
    [
        "self.a * 2",
        "[x] + self.a",
        "self.a == x",
        "x in self.a",
        "self.a.index(x)",
        "self.a.sort()",
        "isinstance(self.a, list)",
    ],
)
def test_what_no_module_list_can_do(use: str) -> None:
    found = in_constructor(LAYERS, use)
    assert found is not None
    assert (found.replaceable, found.replaceable_in_old_torch) == (False, False)


@pytest.mark.parametrize(
    ("use", "replaceable"),
    [("self.a['x'](x)", True), ("self.a.items()", True), ("for k in self.a: pass", True), ("self.a.get('x')", False)],
)
def test_what_a_module_dict_can_do(use: str, replaceable: bool) -> None:
    found = in_constructor(BY_NAME, use)
    assert found is not None
    assert found.replaceable is replaceable


@pytest.mark.parametrize(
    ("key", "replaceable"),
    [("'x'", True), ("unknown", True), ("1", False), ("'x.y'", False), ("'keys'", False)],
)
def test_keys_that_may_name_a_module(key: str, replaceable: bool) -> None:
    found = in_constructor(f"«self.a» = {{{key}: nn.Linear(2, 2)}}")
    assert found is not None
    assert found.replaceable is replaceable


@pytest.mark.parametrize(
    ("other", "replaceable"),
    [
        ("None", True),
        ("unknown", True),
        ("1", False),
        ("lambda x: x", False),
        ("nn.Parameter(torch.zeros(3))", False),
    ],
)
def test_what_else_is_in_it(other: str, replaceable: bool) -> None:
    found = in_constructor(f"«self.a» = [nn.Linear(2, 2), {other}]")
    assert found is not None
    assert found.replaceable is replaceable


def test_a_list_that_grows_under_another_name_or_comes_too_early() -> None:
    grows = in_constructor("a = [nn.Linear(2, 2)]\n    «self.a» = a\n    a.append(nn.Linear(2, 2))")
    early = kept(f"from torch import nn\nclass A(nn.Module):\n  def __init__(self):\n    {LAYERS}\n    super().__init__()\n")
    assert grows is not None
    assert early is not None
    assert (grows.replaceable, early.replaceable) == (False, False)


def test_a_module_of_a_base_from_elsewhere() -> None:
    found = kept(
        "from torch import nn\nclass Reader(ProjectModule):\n"
        "  def __init__(self):\n    super().__init__()\n    self.e = nn.LSTM(2, 2)\n"
        "    «self.a» = []\n    self.a.append(nn.Linear(2, 2))\n  def forward(self, x):\n    return self.a[0](x)\n"
    )
    assert found is not None
    assert found.replaceable


# --- what helpers make and fill --------------------------------------------------------------------------------------

HELPERS = """\
import torch
from torch import nn
def make(n): return [nn.Linear(2, 2) for _ in range(n)]
def numbers(n): return [2 for _ in range(n)]
def lazily(n):
    for _ in range(n): yield nn.Linear(2, 2)
def fill(layers): layers.append(nn.Linear(2, 2))
def fill_again(layers): fill(layers)
def register(owner, layers):
    for layer in layers: owner.add_module("a", layer)
class Net(nn.Module):
  def __init__(self, n, deep):
    super().__init__()
    {}
  def built(self, n):
    layers = []
    for _ in range(n): layers.append(nn.Linear(2, 2))
    return layers
  def added(self, layer): self.a.append(layer)
  def registered(self, layer):
    self.a.append(layer)
    self.add_module("a", layer)
  def forward(self, x):
    return self.a[0](x)
"""


@pytest.mark.parametrize(
    "body",
    [
        "«self.a» = make(n)",
        "«self.a» = self.built(n)",
        "«self.a» = make(n) if deep else []",
        "«self.a» = []\n    fill(self.a)",
        "«self.a» = []\n    fill_again(self.a)",
        "a = []\n    fill(a)\n    «self.a» = a",
        "«self.a» = []\n    self.added(nn.Linear(2, 2))",
        "«self.a» = []\n    if deep: self.a.append(nn.Linear(2, 2))",
        "if deep: «self.a» = make(n)\n    else: self.a = None",
    ],
)
def test_helpers_make_lists_and_fill_them(body: str) -> None:
    found = kept(HELPERS.format(body))
    assert found is not None and found.untrained
    assert not found.alike.is_certain


@pytest.mark.parametrize(
    "body",
    [
        "«self.a» = numbers(n)",
        "«self.a» = lazily(n)",
        "«self.a» = unknown(n)",
        "«self.a» = make(n)\n    self.b = nn.ModuleList(self.a)",
        "«self.a» = make(n)\n    register(self, self.a)",
        "«self.a» = nn.ModuleList(make(n))",
        "«self.a» = []\n    self.registered(nn.Linear(2, 2))",
        "«self.a» = []\n    self.added(n)",
        "«self.a» = nn.ModuleList(make(n)) if deep else []",
    ],
)
def test_helpers_register_what_they_make_or_make_other_things(body: str) -> None:
    assert kept(HELPERS.format(body)) is None


@pytest.mark.parametrize(
    ("method", "filling", "is_kept"),
    [
        ("finish", "copy.deepcopy(self.head)", False),  # what a training has made of a part, to be kept as it is
        ("finish", "copy.deepcopy(self.head).eval()", True),
        ("finish", "copy.deepcopy(head)", True),
        ("finish", "copy.copy(self.head)", True),
        ("finish", "nn.Linear(2, 2)", True),
        ("__init__", "copy.deepcopy(self.head)", True),  # one more of the kind
    ],
)
def test_copies_of_a_part_that_is_trained(method: str, filling: str, is_kept: bool) -> None:
    begins = "" if method == "__init__" else f"  def {method}(self, head: nn.Linear):\n"
    text = f"{HEAD}self.head = nn.Linear(2, 2)\n    «self.a» = []\n{begins}    self.a.append({filling})\n"
    text += "  def forward(self, x):\n    return self.a[0](self.head(x))\n"
    assert (kept(f"import copy\n{text}") is not None) is is_kept


@pytest.mark.parametrize(
    ("more", "is_kept"),
    [
        ("    for layer in self.a: layer.requires_grad_(False)\n", False),  # frozen by hand
        ("    self._modules.update({str(i): layer for i, layer in enumerate(self.a)})\n", False),
        ("  def __setattr__(self, name, value):\n    super().__setattr__(name, registered(value))\n", False),
        ("def train(net):\n  return torch.optim.SGD([p for layer in net.a for p in layer.parameters()])\n", False),
        ("    for layer in self.a: layer.extra = 0\n", True),
        ("    self._count = len(self.a)\n", True),
        ("  def __getattr__(self, name):\n    return super().__getattr__(name)\n", True),
        ("def show(net):\n  return [layer.weight for layer in net.a]\n", True),
        ("def train(net):\n  return torch.optim.SGD([p for layer in net.b for p in layer.parameters()])\n", True),
    ],
)
def test_a_class_or_its_trainer_may_look_after_them(more: str, is_kept: bool) -> None:
    own = more if more.startswith("    ") else ""
    others = "" if own else more
    within = others if others.startswith("  ") else ""
    text = f"{HEAD}{LAYERS}\n{own}{within}  def forward(self, x):\n    return self.a[0](x)\n{'' if within else others}"
    assert (kept(text) is not None) is is_kept


@pytest.mark.parametrize(
    ("name", "body", "replaceable"),
    [
        ("a", "a = None", False),
        ("a", "a: list = []", False),
        ("a", "a: list", True),
        ("a", "def a(self): return 1", False),
        ("a", "b = None", True),
        ("modules", "b = None", False),
        ("children", "b = None", False),
    ],
)
def test_names_that_the_class_has(name: str, body: str, replaceable: bool) -> None:
    made = LAYERS.replace("self.a", f"self.{name}")
    found = kept(f"{HEAD}{made}\n  {body}\n  def forward(self, x):\n    return self.{name}[0](x)\n")
    assert found is not None
    assert found.replaceable is replaceable


def test_names_that_another_class_of_the_line_has() -> None:
    derived = "class Deep(Net):\n  a = None\n"
    found = kept(f"{HEAD}{LAYERS}\n  def forward(self, x):\n    return self.a[0](x)\n{derived}")
    assert found is not None
    assert not found.replaceable
