"""What TPL001 says of a change through ``.data``: that gradients may be wrong only where a backward pass may come."""

from __future__ import annotations

from textwrap import indent

import pytest

from torchlint.api import lint

HEADER = "import torch\nimport torch.nn as nn\n"
WRONG = ", which autograd does not notice: gradients may silently be wrong"
OFF = "; `.data` is not needed where autograd is off"
COPIED = "for p, q in zip(target.parameters(), net.parameters()):\n    p.data.copy_(0.9 * p.data + 0.1 * q.data)\n"
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
        (in_function("update", COPIED), WRONG),
        (in_function("update", "with torch.no_grad():\n" + indent(COPIED, "    ")), OFF),
        (in_function("update", "torch.set_grad_enabled(False)\n" + COPIED), OFF),
        (in_function("update", "torch.set_grad_enabled(True)\n" + COPIED), WRONG),
        (in_function("step", "w = net.weight\nw.data.copy_(w.data.index_select(1, order))\nreturn w"), WRONG),
        (in_function("step", "h = nn.Linear(3, 3)(q)\nh.data.copy_(h.data.index_select(1, order))\nreturn h"), WRONG),
        (in_function("attend", MASKED), ", which autograd does not notice: give it the masked values"),
        (in_function("attend", MASKED_ARGUMENTS), ", which autograd does not notice: give it the masked values"),
    ],
)
def test_what_is_said_of_the_gradients(code: str, end: str) -> None:
    [message] = messages(code)
    assert message.endswith(end)


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
