"""What losses are given that expect something else: of each snippet, by the marked input."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from marked import marked
from torchlint.semantics.scores.loss_inputs import LossInputs, WrongInput
from torchlint.semantics.scores.outputs import Output

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
model = nn.Linear(2, 2)
cross = nn.CrossEntropyLoss()
nll = nn.NLLLoss()
bce = nn.BCEWithLogitsLoss()
def f(x: torch.Tensor, y: torch.Tensor, unknown):
    """


def wrong(body: str) -> WrongInput[ast.expr] | None:
    semantics, (node,) = marked(HEAD + body)
    return semantics.of(LossInputs).wrong.get(node)


@pytest.mark.parametrize(
    ("body", "expects", "output", "made"),
    [
        ("F.cross_entropy(«F.softmax(x, 1)», y)", "log-softmax", Output.SOFTMAX, "F.softmax(x, 1)"),
        ("F.cross_entropy(«x.softmax(1)», y)", "log-softmax", Output.SOFTMAX, "x.softmax(1)"),
        ("F.cross_entropy(input=«x.softmax(1)», target=y)", "log-softmax", Output.SOFTMAX, "x.softmax(1)"),
        ("F.cross_entropy(«F.log_softmax(x, 1)», y)", "log-softmax", Output.LOG_SOFTMAX, "F.log_softmax(x, 1)"),
        ("F.cross_entropy(«torch.sigmoid(x)», y)", "log-softmax", Output.SIGMOID, "torch.sigmoid(x)"),
        ("cross(«x.softmax(1)», y)", "log-softmax", Output.SOFTMAX, "x.softmax(1)"),
        ("nn.CrossEntropyLoss()(«x.softmax(1)», y)", "log-softmax", Output.SOFTMAX, "x.softmax(1)"),
        ("F.binary_cross_entropy_with_logits(«x.sigmoid()», y)", "sigmoid", Output.SIGMOID, "x.sigmoid()"),
        ("bce(«x.sigmoid()», y)", "sigmoid", Output.SIGMOID, "x.sigmoid()"),
        ("F.nll_loss(«x.softmax(1)», y)", "nothing", Output.SOFTMAX, "x.softmax(1)"),
        ("nll(«model(x)», y)", "nothing", Output.LOGITS, "model(x)"),
        ("p = x.softmax(1)\n    F.cross_entropy(«p», y)", "log-softmax", Output.SOFTMAX, "x.softmax(1)"),
        ("F.cross_entropy(«x.softmax(1).view(-1)», y)", "log-softmax", Output.SOFTMAX, "x.softmax(1)"),
    ],
)
def test_what_a_loss_does_not_expect(body: str, expects: str, output: Output, made: str) -> None:
    found = wrong(body)
    assert found is not None
    assert (found.expects, found.output, ast.unparse(found.made)) == (expects, output, made)
    assert found.operand is not None
    assert ast.unparse(found.operand) == "x"
    assert (found.elsewhere, found.needed, found.removable) == (False, False, True)


@pytest.mark.parametrize(
    "body",
    [
        "F.cross_entropy(«model(x)», y)",
        "F.nll_loss(«F.log_softmax(x, 1)», y)",
        "F.nll_loss(«torch.log(x.softmax(1))», y)",
        "F.binary_cross_entropy(«x.sigmoid()», y)",
        "F.mse_loss(«x.sigmoid()», y)",
        "F.cross_entropy(y, «x.softmax(1)»)",
    ],
)
def test_what_it_does_or_what_nothing_is_expected_of(body: str) -> None:
    assert wrong(body) is None


@pytest.mark.parametrize(
    "body",
    [
        "F.cross_entropy(«x», y)",
        "F.cross_entropy(«x.softmax(1) * 2», y)",
        "F.cross_entropy(*«x.softmax(1)»)",
        "p = x.softmax(1)\n    if unknown:\n        p = x\n    F.cross_entropy(«p», y)",
        "unknown(«x.softmax(1)», y)",
    ],
)
def test_what_is_not_known(body: str) -> None:
    assert wrong(body) is None


def test_a_layer_has_no_operand() -> None:
    found = wrong("m = nn.Sequential(nn.Linear(2, 2), nn.Softmax(1))\n    F.cross_entropy(«m(x)», y)")
    assert found is not None
    assert (ast.unparse(found.made), found.operand) == ("nn.Softmax(1)", None)


@pytest.mark.parametrize(
    "use",
    [
        "p.argmax(1)",
        "p.shape",
        "len(p)",
        "torch.argmax(p, 1)",
        "p.detach().argmax()",
        "p.max(1)[1]",
        "p.max(1).indices",
        "torch.max(p, 1)[1]",
        "p.topk(3)[1]",
        "p.sort(1).indices",
        "F.cross_entropy(p, y)",
    ],
)
def test_uses_that_logits_would_do_for(use: str) -> None:
    found = wrong(f"p = x.softmax(1)\n    F.cross_entropy(«p», y)\n    print({use})")
    assert found is not None
    assert (found.needed, found.removable) == (False, True)


@pytest.mark.parametrize(
    "use",
    [
        "p",
        "p > 0.5",
        "p.max()",
        "p.max(1)",
        "p.max(1)[0]",
        "p.topk(3)",
        "p.topk(3).values",
        "p.sort(1)[0]",
        "torch.topk(p, 3)[0]",
        "torch.sort(p)",
        "p[0]",
        "f'{p}'",
        "F.mse_loss(p, y)",
        "F.cross_entropy(x, p)",
    ],
)
def test_uses_that_need_the_probabilities(use: str) -> None:
    found = wrong(f"p = x.softmax(1)\n    F.cross_entropy(«p», y)\n    print({use})")
    assert found is not None
    assert (found.needed, found.removable) == (True, False)


@pytest.mark.parametrize("method", ["max(1)", "topk(3)", "sort(1)"])
def test_values_beside_their_places(method: str) -> None:
    snippet = "p = x.softmax(1)\n    v, i = p.{}\n    print({})\n    F.cross_entropy(«p», y)"
    indices, values = wrong(snippet.format(method, "i")), wrong(snippet.format(method, "v"))
    assert indices is not None
    assert values is not None
    assert (indices.needed, values.needed) == (False, True)


def test_where_the_loss_is_made() -> None:
    found = wrong("nll(«model(x)», y)")
    assert found is not None
    assert found.construction is not None
    assert ast.unparse(found.construction) == "nn.NLLLoss()"
    mixed = wrong("nll(«model(x)», y)\n    nll(F.log_softmax(x, 1), y)")
    assert mixed is not None
    assert mixed.construction is None


CHOSEN = """\
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.kind = kind
        self.loss = None
        if kind == "discrete":
            self.loss = nn.CrossEntropyLoss()
        else:
            self.loss = nn.MSELoss()
    def forward(self, x, y, other):
        x = x.softmax(1)
"""


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("if self.kind == 'discrete':\n return self.loss(«x», y)", "torch.nn.CrossEntropyLoss"),
        ("if self.kind == 'discrete':\n  if other:\n   return self.loss(«x», y)", "torch.nn.CrossEntropyLoss"),
        ("if other:\n  pass\nelif self.kind == 'discrete':\n  return self.loss(«x», y)", "torch.nn.CrossEntropyLoss"),
        ("if self.kind == 'discrete':\n  pass\nelse:\n  return self.loss(«x», y)", None),
        ("if other:\n  return self.loss(«x», y)", None),
        ("if isinstance(other, nn.CrossEntropyLoss):\n  return other(«x», y)", "torch.nn.CrossEntropyLoss"),
        ("if isinstance(other, nn.CrossEntropyLoss):\n  pass\nelse:\n  return other(«x», y)", None),
        ("if isinstance(other, nn.CrossEntropyLoss):\n  return self.loss(«x», y)", None),
        ("return self.loss(«x», y)", None),
    ],
)
def test_a_loss_that_is_chosen_under_the_same_condition(body: str, name: str | None) -> None:
    semantics, (node,) = marked(CHOSEN + indent(body, " " * 8))
    found = semantics.of(LossInputs).wrong.get(node)
    assert (found.name if found is not None else None) == name


@pytest.mark.parametrize(
    ("body", "harmless"),
    [
        ("F.cross_entropy(«F.log_softmax(x, 1)», y)", True),
        ("F.cross_entropy(«x.log_softmax(-1)», y)", True),
        ("F.cross_entropy(«torch.randn(8, 3).log_softmax(0)», y)", False),
        ("F.cross_entropy(«x.softmax(1)», y)", False),
        ("F.nll_loss(«torch.randn(8, 3).log_softmax(0)», y)", False),
    ],
)
def test_a_second_log_softmax_is_harmless(body: str, harmless: bool) -> None:
    found = wrong(body)
    assert found is not None
    assert found.harmless is harmless


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("return «F.binary_cross_entropy(model(x), y)»", "model(x)"),
        ("out = model(x)\n    return «F.binary_cross_entropy(out.squeeze(1), y)»", "model(x)"),
        ("return «nn.BCELoss()(model(x), y)»", "model(x)"),
        ("loss = nn.BCELoss()\n    return «loss(model(x), y)»", "model(x)"),
    ],
)
def test_losses_of_probabilities_that_are_given_logits(body: str, made: str) -> None:
    semantics, nodes = marked(HEAD + body)
    found = semantics.of(LossInputs).raw
    assert list(found) == nodes
    assert [ast.unparse(each.made) for each in found.values()] == [made]


@pytest.mark.parametrize(
    "body",
    [
        "return F.binary_cross_entropy(torch.sigmoid(model(x)), y)",
        "return F.binary_cross_entropy(model(x).sigmoid(), y)",
        "return F.binary_cross_entropy(model(x).clamp(0, 1), y)",
        "return F.binary_cross_entropy(x, y)",
        "return F.binary_cross_entropy(unknown(x), y)",
        "return F.binary_cross_entropy_with_logits(model(x), y)",
        "out = model(x)\n    if unknown:\n        out = out.sigmoid()\n    return F.binary_cross_entropy(out, y)",
        "return nn.Sequential(model, nn.Sigmoid())(x)",
    ],
)
def test_losses_of_probabilities_that_are_given_these(body: str) -> None:
    semantics, _ = marked(HEAD + body)
    assert not semantics.of(LossInputs).raw


TRIED = """\
import torch
import torch.nn.functional as F
def compared(scores, y):
    return F.cross_entropy(«scores», y)
{guard}:
    loss = compared(torch.rand(3, 4).softmax(1), y)
    {more}
"""


@pytest.mark.parametrize(
    ("guard", "more", "tried"),
    [
        ("if __name__ == '__main__'", "print(loss)", True),
        ("if __name__ == '__main__'", "loss.backward()", True),
        ("if __name__ == '__main__'", "loss.backward(); optimizer.step()", False),
        ("def run(y)", "print(loss)", False),
    ],
)
def test_a_file_may_try_out_its_own_loss(guard: str, more: str, tried: bool) -> None:
    semantics, (node,) = marked(TRIED.format(guard=guard, more=more))
    assert semantics.of(LossInputs).wrong[node].tried is tried
