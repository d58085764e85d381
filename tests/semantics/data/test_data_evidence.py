"""What shows that ``x`` is a tensor where nothing but the use of its ``x.data`` is known."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.data.accesses import DataAccesses

HEADER = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n"


def is_tensors(snippet: str) -> bool:
    """Whether the marked ``x.data`` of a snippet is taken to be of a tensor."""
    semantics, (node,) = marked(HEADER + snippet)
    assert isinstance(node, ast.Attribute)
    return node in semantics.of(DataAccesses).all


@pytest.mark.parametrize(
    "use",
    [
        "return «x.data».cpu()",
        "return «x.data».unsqueeze(0)",
        "return «x.data».is_cuda",
        "«x.data».zero_()",
        "nn.init.normal_(«x.data»)",
        "return torch.max(«x.data», 1)",
        "y.copy_(«x.data»)",
        "return Variable(«x.data»)",
        "return «x.data» + torch.zeros(3)",
        "«x.data»[0] = torch.zeros(3)",
        "«x.data» = torch.zeros(3)",
        "y = torch.zeros(3)\n    y.data = «x.data»",
        "loss = x\n    print(«loss.data»)",
        "print(«self.loss.data»)",
        "for p in x.params:\n        print(«p.data»)",
        "for old, p in zip(y, params):\n        print(«p.data»)",
        "x.backward()\n    return «x.data»",
        "return «batch.data».cpu()",
        "return «x(y).cpu().data»",
        "import torchvision.utils as utils\n    utils.save_image(«x.data», y)",
        "return «x.data»[0].numpy()",
        "return «x.data»[0][1].cpu()",
        "y.step(«x.data»[0])",
        "y.step(«x(y).data»[0, 0], x.data[1])",
        "z = torch.zeros(3)\n    return z.data, «x.data»[0, :]",
        "print(y.data[0], loss.data, «x.data»[0])",
        "return «x.data».topk(3)",
        "x = «x.data»\n    return x.unsqueeze(0)",
        "x, z = y(params)\n    boxes, scores = «x.data», z.data\n    return z.data.view(-1)",
        "x, z = y(params)\n    boxes = «x.data»\n    scores = z.data\n    return scores.view(-1), boxes",
    ],
)
def test_a_tensor(use: str) -> None:
    assert is_tensors(f"def f(self, x, y, batch, params):\n    {use}")


@pytest.mark.parametrize(
    "use",
    [
        "return «x.data»",
        "return «x.data».shape",
        "return «x.data».cpu",
        "return «x.data»[y]",
        "def g(key): «x.data»[key] = torch.zeros(3)",
        "return «x.data»[0], x.header",
        "x = «x.data»\n    return x.shape",
        "z = «x.data»\n    return z.unsqueeze(0)",
        "x, z = y(params)\n    return «x.data», z.data",
        "x, z = y(params)\n    return «x.data», x.header, z.data.view(-1)",
        "x, z = y(params), params\n    return «x.data», z.data.view(-1)",
        "return «x.data»[0], y.data",
        "return «x.data»[0], batch.data[0]",
        "return torch.FloatTensor(«x.data»)",
        "return torch.LongTensor(«x.data»)",
        "return torch.save(«x.data», y)",
        "return torch.utils.data.DataLoader(«x.data»)",
        "return «batch.data».unsqueeze(0)",
        "return «packed.data».cpu()",
        "print(«x.losses[0].data»)",
        "if hasattr(x, 'data'):\n        return «x.data».cpu()",
        "if isinstance(«x.data», dict):\n        return 1",
        "rows, columns = x.nonzero()\n    return «x.data» + torch.zeros(3)",
        "x.epochs\n    return «x.data» + torch.zeros(3)",
        "for p in x.others:\n        print(«p.data»)",
        "for p, old in zip(y, params):\n        print(«p.data»)",
        "«x.data» = numpy.zeros(3)",
    ],
)
def test_unknown(use: str) -> None:
    assert not is_tensors(f"def f(self, x, y, batch, packed, params):\n    {use}")


@pytest.mark.parametrize("use", ["y.step(«x.data»[0])", "y.step(«x.data»[0, 0])"])
def test_what_has_items_is_a_tensor_only_beside_variables(use: str) -> None:
    text = f"def f(x, y):\n    {use}"
    semantics, (node,) = marked("import torch\n" + text)
    assert node not in semantics.of(DataAccesses).all
    assert is_tensors(text)


GIVEN = (
    "def shown(net, x):\n    out = net.scores(x)\n    return out{item}\n\n"
    "def f(net, x):\n    out = net.{method}(x)\n    return «out.data».topk(3)"
)


@pytest.mark.parametrize(
    ("method", "item", "expected"),
    [
        ("scores", "['logits'].numpy()", False),
        ("scores", "[0].numpy()", True),
        ("logits", "['logits'].numpy()", True),
    ],
)
def test_what_a_method_gives_that_has_entries_is_no_tensor(method: str, item: str, expected: bool) -> None:
    assert is_tensors(GIVEN.format(method=method, item=item)) is expected


@pytest.mark.parametrize(
    ("before", "behind", "expected"),
    [
        ("x, _ = self.rnn(x)", "x, lengths = nn.utils.rnn.pad_packed_sequence(x)", False),
        ("x = self.norm(x)\n    x, _ = self.rnn(x)", "return self.rest(x, x.batch_sizes)", False),
        (
            "x = nn.utils.rnn.pack_padded_sequence(x, lengths)\n    x, _ = self.rnn(x)",
            "return self.rest(x, x.batch_sizes)",
            True,
        ),
        ("x, _ = self.rnn(x)", "return self.rest(x)", True),
        ("y, _ = self.rnn(lengths)", "return nn.utils.rnn.pad_packed_sequence(y)", True),
    ],
)
def test_what_layers_give_packed_they_were_given_packed(before: str, behind: str, expected: bool) -> None:
    text = f"def forward(self, x, lengths):\n    res = «x.data».cpu()\n    {before}\n    {behind}"
    assert is_tensors(text) is expected
