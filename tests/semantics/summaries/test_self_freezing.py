"""Which constructors freeze all parameters of what they make, and by which of their arguments."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics.summaries.members import members_of
from torchlint.semantics.summaries.shown.freezing import flags_of, freezing_of, is_frozen_by, may_undo
from torchlint.semantics.summaries.summary import SelfFreezing

_EACH = "for p in self.parameters():\n    p.requires_grad = {value}"


def freezing(constructor: str, more: str = "", given: str = "self, grad=False, *, slow=True") -> SelfFreezing | None:
    """What a class says whose constructor makes a layer and then goes on."""
    body = "\n".join(f"        {line}" for line in constructor.splitlines())
    others = "\n".join(f"    {line}" for line in more.splitlines())
    start = f"class N(nn.Module):\n    def __init__({given}):\n        super().__init__()\n        self.fc = nn.Linear(3, 3)\n"
    [node] = ast.parse(f"{start}{body}\n{others}\n").body
    assert isinstance(node, ast.ClassDef)
    return freezing_of(members_of(node))


@pytest.mark.parametrize(
    "constructor",
    [
        _EACH.format(value="False"),
        "for p in self.parameters():\n    p.requires_grad_(False)",
        "for name, p in self.named_parameters():\n    p.requires_grad = False",
        "self.requires_grad_(False)",
        "self.requires_grad_(requires_grad=False)\nself.eval()\nself.width = 3",
        "self.requires_grad_(False)\nself.register_buffer('mean', torch.zeros(3))",
        "self.requires_grad_(True)\nself.requires_grad_(False)",
        "self.freeze()",
        "self.requires_grad_(False)\nload_weights(self.fc)",
    ],
)
def test_some_freeze_for_good(constructor: str) -> None:
    helper = (
        '@property\ndef width(self):\n    return 3\n\ndef freeze(self):\n    """For good."""\n    self.requires_grad_(False)'
        "\n\ndef forward(self, x):\n    self.seen = Seen(x)"
    )
    assert freezing(constructor, helper) == SelfFreezing()


def test_what_it_has_asked_for_itself_is_frozen() -> None:
    assert (
        freezing("self.build()\nself.requires_grad_(False)", "def build(self):\n    self.fc = nn.Linear(3, 3)")
        == SelfFreezing()
    )


@pytest.mark.parametrize(
    ("constructor", "frozen"),
    [
        (_EACH.format(value="grad"), SelfFreezing("grad", "0", holds=False, default=False)),
        (_EACH.format(value="not grad"), SelfFreezing("grad", "0", holds=True, default=False)),
        ("self.requires_grad_(slow)", SelfFreezing("slow", "", holds=False, default=True)),
        ("if slow:\n    self.requires_grad_(False)", SelfFreezing("slow", "", holds=True, default=True)),
        (
            "if not grad:\n    for p in self.parameters():\n        p.requires_grad = False",
            SelfFreezing("grad", "0", False, False),
        ),
        ("if grad is False:\n    self.requires_grad_(False)", SelfFreezing("grad", "0", False, False)),
    ],
)
def test_some_do_as_they_are_told(constructor: str, frozen: SelfFreezing) -> None:
    assert freezing(constructor) == frozen


@pytest.mark.parametrize(
    ("constructor", "more"),
    [
        ("pass", ""),
        (_EACH.format(value="True"), ""),
        (_EACH.format(value="grad or slow"), ""),
        (_EACH.format(value="width"), ""),  # of the file
        ("grad = bool(grad)\nself.requires_grad_(grad)", ""),
        ("for p in self.fc.parameters():\n    p.requires_grad = False", ""),
        ("for p in self.parameters():\n    if p.dim() > 1:\n        p.requires_grad = False", ""),
        ("for name, p in self.named_parameters():\n    name.requires_grad = False", ""),
        ("for p in self.parameters():\n    q.requires_grad = False", ""),
        ("if slow and grad:\n    self.requires_grad_(False)", ""),
        ("if slow:\n    self.requires_grad_(False)\nelse:\n    self.requires_grad_(True)", ""),
        ("self.requires_grad_(False)\nself.head = nn.Linear(3, 2)", ""),
        ("self.requires_grad_(False)\nself.head = head", ""),
        ("self.requires_grad_(False)\nself.add_module('head', nn.Linear(3, 2))", ""),
        ("self.requires_grad_(False)\nself.layers.append(nn.Linear(3, 2))", ""),
        ("self.requires_grad_(False)\nself.make_head()", "def make_head(self):\n    self.head = nn.Linear(3, 2)"),
        ("self.requires_grad_(False)\nadd_head(self)", ""),
        ("self.requires_grad_(False)\nself.fc.requires_grad_(True)", ""),
        ("self.requires_grad_(False)\nself.fc.bias.requires_grad = True", ""),
        ("self.requires_grad_(False)", "def thaw(self):\n    self.requires_grad_()"),
        ("self.requires_grad_(False)", "def thaw(self):\n    for p in self.parameters():\n        p.requires_grad = True"),
        ("self.requires_grad_(False)", "def add(self):\n    self.w = torch.zeros(3, requires_grad=True)"),
        ("if grad:\n    return\nself.requires_grad_(False)", ""),
        ("self.freeze()", "def freeze(self):\n    if self.small:\n        self.requires_grad_(False)"),
        ("self.freeze()", "@maybe\ndef freeze(self):\n    self.requires_grad_(False)"),
        ("self.freeze()", ""),
        ("self.requires_grad_(False)\nself.trunk.fc = nn.Linear(3, 2)", ""),
        ("self.requires_grad_(False)\nself.layers[0] = nn.Linear(3, 2)", ""),
        ("self.requires_grad_(False)\ninject(adapters, self.trunk)", ""),
        ("self.requires_grad_(False)", "def reset(self, n):\n    self.fc = nn.Linear(3, n).cuda()"),
        ("self.requires_grad_(False)", "def parameters(self):\n    return self.fc.parameters()"),
        (
            "self.requires_grad_(False)",
            "def thaw(self):\n    for p in self.parameters():\n        setattr(p, 'requires_grad', True)",
        ),
    ],
)
def test_others_may_not(constructor: str, more: str) -> None:
    assert freezing(constructor, more) is None


@pytest.mark.parametrize(
    ("call", "is_frozen"),
    [
        ("N()", True),
        ("N([3])", True),
        ("N([3], True)", False),
        ("N([3], False)", True),
        ("N([3], grad=True)", False),
        ("N([3], grad=False)", True),
        ("N([3], grad=train)", False),
        ("N([3], train)", False),
        ("N(*given)", False),
        ("N([3], **options)", False),
        ("N(width, depth=depth)", True),
    ],
)
def test_what_a_call_gives_decides(call: str, is_frozen: bool) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert is_frozen_by(SelfFreezing("grad", "1", holds=False, default=False), flags_of(node)) is is_frozen
    assert is_frozen_by(SelfFreezing(), flags_of(node))
    assert not is_frozen_by(SelfFreezing("slow", "4", holds=False), flags_of(node))  # it has to be given


@pytest.mark.parametrize(
    ("more", "helper", "undoes"),
    [
        ("def forward(self, x):\n    return self.fc(x)", "", False),
        ("def freeze(self):\n    pass", "", False),
        ("def freeze(self):\n    pass", "freeze", True),
        ("def thaw(self):\n    self.requires_grad_()", "", True),
        ("def add(self):\n    self.head = nn.Sequential(nn.Linear(3, 2))", "", True),
    ],
)
def test_what_derives_may_undo_it(more: str, helper: str, undoes: bool) -> None:
    lines = "\n".join(f"    {line}" for line in more.splitlines())
    [node] = ast.parse(f"class M(N):\n{lines}\n").body
    assert isinstance(node, ast.ClassDef)
    assert may_undo(members_of(node), helper=helper) is undoes
