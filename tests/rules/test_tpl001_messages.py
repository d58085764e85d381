"""What TPL001 says of a change through ``.data``: that gradients may be wrong only where a backward pass may come."""

from __future__ import annotations

from textwrap import indent

import pytest

from torchlint.api import fix, lint

HEADER = "import torch\nimport torch.nn as nn\n"
WRONG = ", which autograd does not notice: a gradient that needs the values from before would be silently wrong"
OFF = "; `.data` is not needed where autograd is off"
COPIED = "for p, q in zip(target.parameters(), net.parameters()):\n    p.data.copy_(0.9 * p.data + 0.1 * q.data)\n"
STEPPED = "for p in net.parameters():\n    p.data.sub_(0.1 * p.grad)\n"
REORDERED = "state = self.decoder(x)\nstate.data.copy_(state.data.index_select(1, order))\nreturn state"
MASKED_ARGUMENTS = "scores = torch.bmm(q, k)\nscores.data.masked_fill_(mask, -1e9)\nreturn torch.softmax(scores, -1)"
MASKED = "scores = torch.bmm(nn.Linear(3, 3)(q), k)\nscores.data.masked_fill_(mask, -1e9)\nreturn torch.softmax(scores, -1)"


def messages(code: str) -> list[str]:
    """The messages of the rule with what is on by default: not of what is strict."""
    return [each.message for each in lint(HEADER + code) if each.code == "TPL001"]


def in_function(name: str, body: str) -> str:
    return f"def {name}(self, x, order, q: torch.Tensor, k: torch.Tensor, mask, net: nn.Module, target: nn.Module):\n" + indent(
        body, "    "
    )


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (in_function("update", STEPPED), WRONG),
        (in_function("update", "with torch.no_grad():\n" + indent(STEPPED, "    ")), OFF),
        (in_function("update", "torch.set_grad_enabled(False)\n" + STEPPED), OFF),
        (in_function("update", "torch.set_grad_enabled(True)\n" + STEPPED), WRONG),
        (in_function("step", "w = net.weight\nw.data.copy_(w.data.index_select(1, order))\nreturn w"), WRONG),
        (in_function("step", "h = nn.Linear(3, 3)(q)\nh.data.copy_(h.data.index_select(1, order))\nreturn h"), WRONG),
        (in_function("attend", MASKED), ", which autograd does not notice: give it the masked values"),
        (in_function("attend", MASKED_ARGUMENTS), ", which autograd does not notice: give it the masked values"),
    ],
)
def test_what_is_said_of_the_gradients(code: str, end: str) -> None:
    [message] = messages(code)
    assert message.endswith(end)


def found(code: str) -> list[tuple[str, bool]]:
    """What the rule says of code, and whether that is strict."""
    return [(each.message, each.is_strict) for each in lint(HEADER + code, select=["TPL001"])]


@pytest.mark.parametrize(
    ("loop", "follows"),
    [
        ("p, q in zip(target.parameters(), net.parameters())", True),
        ("q, p in zip(list(net.parameters()), list(target.parameters()))", True),
        ("(_, p), (_, q) in zip(target.named_parameters(), net.named_parameters())", True),
        ("p, q in zip(net.parameters(), net.parameters())", False),
        ("p, q in zip(net.parameters(), x)", False),
    ],
)
def test_weights_that_follow_those_of_another_network_are_strict(loop: str, follows: bool) -> None:
    code = in_function("update", f"for {loop}:\n    p.data.copy_(0.9 * p.data + 0.1 * q.data)\n")
    [(message, is_strict)] = found(code)
    assert (is_strict, "follows the weights of another network" in message) == (follows, follows)


def test_a_step_by_hand_follows_no_other_network() -> None:
    body = "for p, q in zip(net.parameters(), target.parameters()):\n    p.data.sub_(0.1 * p.grad + q.data)\n"
    [(message, is_strict)] = found(in_function("update", body))
    assert not is_strict and message.endswith(WRONG)


INITIAL = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n"


@pytest.mark.parametrize(
    ("code", "is_strict"),
    [
        (INITIAL.format("self.fc = nn.Linear(2, 2)\n        self.fc.weight.data.normal_(0, 0.02)"), True),
        (INITIAL.format("self.w = nn.Parameter(torch.zeros(2))\n        nn.init.normal_(self.w.data)"), True),
        (INITIAL.format("w = torch.zeros(2, requires_grad=True)\n        w.data.normal_()"), False),
        ("def init_weights(m: nn.Linear):\n    m.weight.data.zero_()\n", True),
        ("w = torch.zeros(3, requires_grad=True)\nw.data.normal_()\n", False),
    ],
)
def test_initialisers_of_layers_are_strict(code: str, is_strict: bool) -> None:
    [(_, strict)] = found(code)
    assert strict is is_strict


BEAMS = "for state in states:\n    beams = state.view(-1, 3)[:, 0]\n    beams.data.copy_(beams.data.index_select(0, order))\n"


@pytest.mark.parametrize("body", [REORDERED, "states = x\n" + BEAMS, "v = x\nv.data.copy_(v.data.index_select(1, order))"])
@pytest.mark.parametrize("name", ["step", "translate_batch"])
def test_what_a_function_has_for_one_step_is_strict(name: str, body: str) -> None:
    assert messages(in_function(name, body)) == []


def test_what_a_forward_computes_has_a_graph() -> None:
    code = "class Net(nn.Module):\n    def forward(self, x: torch.Tensor):\n        y = x.sigmoid()\n        y.data.mul_(2)\n"
    assert len(messages(code)) == 1


RESIZED = (
    "def rollout(x: torch.Tensor, inputs):\n    torch.set_grad_enabled({})\n    x.data.resize_(inputs.shape).copy_(inputs)\n"
)


def test_a_buffer_that_is_resized_where_autograd_is_off_is_strict() -> None:
    assert messages(RESIZED.format("False")) == []
    assert len(messages(RESIZED.format("True"))) == 1


CLOSURE = """
def transfer(net, x, device):
    x = x.to(device)
    optimizer = optimizer_of(x)
    def closure():
        optimizer.zero_grad()
        loss = net(x).sum()
        {}
        return loss
    optimizer.step(closure)
    x.data.clamp_(0, 1)
    return x
"""


def test_what_the_closure_of_a_step_back_propagates_to() -> None:
    assert len(messages(CLOSURE.format("loss.backward()"))) == 1
    assert messages(CLOSURE.format("print(loss)")) == []


def test_a_name_that_may_be_a_leaf_is_changed_where_autograd_is_off() -> None:
    code = "def leaf(x):\n    return x.requires_grad_()\ndef f(net):\n    x = torch.rand(3)\n    y = leaf(x)\n    {}\n"
    changed = HEADER + code.format("x.data.clamp_(0, 1)")
    under = HEADER + code.format("with torch.no_grad():\n        x.clamp_(0, 1)")
    assert fix(changed, unsafe=True, select=["TPL001"]).text == under
    assert "no_grad" not in fix(changed.replace("requires_grad_", "detach"), unsafe=True, select=["TPL001"]).text


@pytest.mark.parametrize("change", ["p.data.copy_({})", "p.data[:] = {}", "p.data[:, 0] = {}"])
@pytest.mark.parametrize(
    ("value", "more", "count"),
    [
        ("torch.from_numpy(v)", "", 0),
        ("torch.from_numpy(v).data", "", 0),
        ("v", "", 1),
        ("torch.from_numpy(v)", "def train(loss):\n    loss.backward()\n", 1),
    ],
)
def test_weights_that_are_given_the_values_of_arrays(change: str, value: str, more: str, count: int) -> None:
    code = f"def assign(params, values):\n    for p, v in zip(params, values):\n        {change.format(value)}\n{more}"
    assert len(messages(code)) == count


REFILLED = """
def train(net, loader):
    noise, weight = torch.zeros(8, 3), nn.Linear(3, 3).weight
    for x in loader:
        net(noise).sum().backward()
        {}
"""
RESHAPED = "keeps its shape: only its `.data`, another tensor over the same memory, is given a new one"


@pytest.mark.parametrize(
    ("change", "message", "mended"),
    [
        ("noise.data.resize_(4, 3).normal_()", f"`noise` {RESHAPED}; reshape `noise` itself", "noise.resize_(4, 3).normal_()"),
        ("weight.data.resize_(4, 3).normal_()", f"`weight` {RESHAPED}", "weight.data.resize_(4, 3).normal_()"),
        (
            "noise.data.normal_()",
            "`noise` is changed through `.data`, hidden from autograd's checks; without a graph, it can be changed itself",
            "noise.normal_()",
        ),
    ],
)
def test_what_is_given_another_shape_or_filled_anew(change: str, message: str, mended: str) -> None:
    code = HEADER + REFILLED.format(change)
    assert messages(REFILLED.format(change)) == [message]
    assert mended in fix(code, select=["TPL001"], unsafe=True).text
