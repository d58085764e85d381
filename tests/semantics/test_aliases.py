"""Which values share their memory, what changes them, and what is read afterwards."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.memory.changes import Changes
from torchlint.semantics.memory.links import Links, Sharing
from torchlint.semantics.memory.places import Places

TENSOR = "import numpy as np\nimport torch\nx = torch.zeros(3, 4)\na = np.zeros(3)\n"


@pytest.mark.parametrize(
    ("expression", "names", "sharing"),
    [
        ("x.detach()", ["detach"], Sharing.ALWAYS),
        ("x.data.view(-1)", ["view", "data"], Sharing.ALWAYS),
        ("x[0, 1:]", ["[...]"], Sharing.ALWAYS),
        ("x[..., None].T", ["T", "[...]"], Sharing.ALWAYS),
        ("x.detach().cpu()", ["cpu", "detach"], Sharing.ON_CPU),
        ("x.to('cpu')", ["to"], Sharing.ON_CPU),
        ("x.numpy()", ["numpy"], Sharing.ALWAYS),
        ("x.numpy(force=True)", ["numpy"], Sharing.ON_CPU),
        ("x.numpy()[0].transpose()", ["transpose", "[...]", "numpy"], Sharing.ALWAYS),
        ("x.float()", ["float"], Sharing.PERHAPS),
        ("x.to(device)", ["to"], Sharing.PERHAPS),
        ("x.contiguous()", ["contiguous"], Sharing.PERHAPS),
        ("x.add_(1)", ["add_"], Sharing.ALWAYS),
        ("torch.from_numpy(a)", ["from_numpy"], Sharing.ALWAYS),
        ("torch.as_tensor(a)", ["as_tensor"], Sharing.ALWAYS),
        ("torch.as_tensor(a, dtype=torch.float32)", ["as_tensor"], Sharing.PERHAPS),
        ("torch.as_tensor(a, device=device)", ["as_tensor"], Sharing.ON_CPU),
        ("torch.FloatTensor(a)", ["FloatTensor"], Sharing.PERHAPS),
        ("torch.transpose(x, 0, 1)", ["transpose"], Sharing.ALWAYS),
        ("np.asarray(x)", ["asarray"], Sharing.ALWAYS),
        ("torch.autograd.Variable(x)", ["Variable"], Sharing.ALWAYS),
        ("x.clone()", [], None),
        ("x + 1", [], None),
        ("x[x > 0]", [], None),
        ("x[index]", [], None),
        ("torch.tensor(a)", [], None),
        ("torch.as_tensor([1, 2])", [], None),
        ("np.array(x)", [], None),
        ("unknown.view(-1)", [], None),
        ("unknown[0]", [], None),
    ],
)
def test_what_an_expression_shares(expression: str, names: list[str], sharing: Sharing | None) -> None:
    semantics, (node,) = marked(f"{TENSOR}y = «{expression}»")
    links = semantics.of(Links).chain(node)
    assert [link.name for link in links] == names
    assert (links[0].sharing if links else None) is sharing


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("x.zero_()", "x.zero_()"),
        ("x.view(-1)[0].add_(1).mul_(2)", "x.view(-1)[0].add_(1)"),
        ("x[0] = 1", "x[0]"),
        ("x.t()[:, 0] += 1", "x.t()[:, 0]"),
        ("x += 1", "x"),
        ("x.squeeze_().fill_(0)", "x.squeeze_().fill_(0)"),
        ("torch.add(y, 1, out=x)", "torch.add(y, 1, out=x)"),
        ("torch.nn.init.normal_(x)", "torch.nn.init.normal_(x)"),
        ("np.copyto(x.numpy(), a)", "np.copyto(x.numpy(), a)"),
        ("x.numpy().sort()", "x.numpy().sort()"),
        ("x.detach().cpu()[0] = 1", "x.detach().cpu()[0]"),
        ("x.float()[0] = 1", None),
        ("x.clone().zero_()", None),
        ("x.sort()", None),
        ("x.t_()", None),
        ("x['key'] = 1", None),
        ("y[x] = 1", None),
        ("y.copy_(x)", None),
        ("x = x + 1", None),
    ],
)
def test_what_changes_a_value(statement: str, changed: str | None) -> None:
    semantics, _ = marked(f"{TENSOR}y = torch.zeros(3)\n{statement}")
    target = semantics.tree.module.body[2].targets[0]  # type: ignore[attr-defined]
    binding = semantics.bindings.of(target)
    assert binding is not None
    assert [ast.unparse(change.node) for change in semantics.of(Changes).changes(binding)] == ([changed] if changed else [])


def test_changes_through_other_names() -> None:
    semantics, _ = marked(f"{TENSOR}row = x[0]\nfirst = row[:1]\nfirst.zero_()\ncopy = x.clone()\ncopy.zero_()\nrow[0] = 1")
    binding = semantics.bindings.of(semantics.tree.module.body[2].targets[0])  # type: ignore[attr-defined]
    assert binding is not None
    assert [ast.unparse(change.node) for change in semantics.of(Changes).changes_of(binding)] == ["row[0]", "first.zero_()"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("«x».zero_()\nprint(x)", True),
        ("«x».zero_()\nprint(x.shape, len(x), x is None)", False),
        ("«x».zero_()\nx = 1\nprint(x)", False),
        ("«x».zero_()\nx.data = y\nprint(x)", False),
        ("for i in y:\n    print(x)\n    «x».zero_()", True),
        ("for i in y:\n    x = f(i)\n    print(x)\n    «x».zero_()", False),
        ("if y:\n    «x».zero_()\nelse:\n    print(x)", False),
    ],
)
def test_what_is_read_after(code: str, expected: bool) -> None:
    semantics, (node,) = marked(f"{TENSOR}{code}")
    place = semantics.of(Places).place(node)
    assert place is not None
    assert semantics.of(Places).is_read_after(place, semantics.tree.statement(node)) is expected


def test_places() -> None:
    snippet = """
    class A:
        def f(self, model):
            «self.model.fc»
            «model.fc»
            model = 1
            «model.fc»

        def g(self):
            «self.model.fc»
    """
    semantics, (own, given, other, elsewhere) = marked(snippet)
    places = [semantics.of(Places).place(node) for node in (own, given, other, elsewhere)]
    first, second, third, fourth = (place for place in places if place is not None)
    assert first.spelling == "self.model.fc"
    assert semantics.of(Places).same(first, fourth)
    assert not semantics.of(Places).same(first, second)
    assert not semantics.of(Places).same(second, third)
    assert list(semantics.of(Places).occurrences(first)) == [own, elsewhere]
    assert [ast.unparse(node) for node in semantics.of(Places).rebound(second)] == ["model"]


def test_the_result_of_a_call_is_no_place() -> None:
    semantics, (node,) = marked("«f().x»")
    assert semantics.of(Places).place(node) is None
