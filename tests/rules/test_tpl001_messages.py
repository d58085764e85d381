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
        (in_function("step", REORDERED), WRONG),
        (in_function("translate_batch", REORDERED), ", which autograd does not notice; `torch.no_grad()` is today's way"),
        (in_function("attend", MASKED), ", which autograd does not notice: give it the masked values"),
    ],
)
def test_what_is_said_of_the_gradients(code: str, end: str) -> None:
    [message] = messages(code)
    assert message.endswith(end)


RESIZED = (
    "def rollout(x: torch.Tensor, inputs):\n    torch.set_grad_enabled({})\n    x.data.resize_(inputs.shape).copy_(inputs)\n"
)


def test_a_buffer_that_is_resized_where_autograd_is_off_is_strict() -> None:
    assert messages(RESIZED.format("False")) == []
    assert len(messages(RESIZED.format("True"))) == 1
