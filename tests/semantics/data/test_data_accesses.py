"""What is done with the ``.data`` of tensors: one role for each, and none for what is no tensor's."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.data.accesses import DataAccesses
from torchlint.semantics.data.roles import Access, Means, Role

HEADER = "import torch\nfrom torch import nn\nfrom torch.autograd import Variable\n"


def access(snippet: str) -> Access[ast.expr] | None:
    """The access that the marked ``x.data`` of a snippet is."""
    semantics, (node,) = marked(HEADER + snippet)
    assert isinstance(node, ast.Attribute)
    return semantics.of(DataAccesses).all.get(node)


@pytest.mark.parametrize(
    ("use", "role"),
    [
        ("print(«w.data»)", Role.READ),
        ("y = «w.data» + 1", Role.READ),
        ("y = «w.data».cpu()", Role.READ),
        ("«w.data» = torch.zeros(3)", Role.REBIND),
        ("«w.data» @= torch.zeros(3)", Role.REBIND),
        ("«w.data» += 1", Role.MUTATION),
        ("«w.data»[0] = 1", Role.MUTATION),
        ("y = Variable(«w.data»)", Role.WRAPPED),
        ("y = «w.data».numpy()", Role.HOST),
        ("y = «w.data».float().cpu().tolist()", Role.HOST),
        ("y = «w.data».sum().tolist()", Role.READ),
        ("y = «w.sum().data»[0]", Role.SCALAR),
        ("y = «w.sum().data».cpu()[0]", Role.SCALAR),
        ("y = «w.data»[0]", Role.READ),
    ],
)
def test_roles(use: str, role: Role) -> None:
    found = access(f"def f(w: nn.Parameter):\n    {use}")
    assert found is not None and found.role is role


@pytest.mark.parametrize(("library", "is_known"), [("torchio", False), ("torchvision", True)])
def test_an_image_of_torchio_has_a_data(library: str, is_known: bool) -> None:
    use = f"import {library}\ndef f(x: torch.Tensor, subject):\n    y = {{}}.squeeze().numpy()"
    assert (access(use.format("«x.data»")) is not None) is is_known
    assert (access(use.format("«subject['mask'].data»")) is not None) is is_known
    assert access(use.format("«nn.Linear(3, 3)(torch.ones(3)).data»")) is not None


def test_what_is_given_the_data_of_a_tensor_is_one() -> None:
    given = "class Solver:\n    def solve(self, x: torch.Tensor, y):\n        {}"
    found = access(given.format("«self.w.data» = x.t().data"))
    assert found is not None and found.role is Role.REBIND
    found = access(given.format("«self.w.data» += x.t().data"))
    assert found is not None and found.role is Role.MUTATION
    assert access(given.format("«self.w.data» = y.data")) is None
    assert access(given.format("self.w.epochs = 3\n        «self.w.data» = x.data")) is None


@pytest.mark.parametrize(
    "use",
    [
        "y = net(x)\n    z = «y.data» + y.batch_sizes",
        "y = net(x)\n    z = nn.utils.rnn.PackedSequence(«y.data» + 1, lengths)",
    ],
)
def test_a_packed_sequence_whatever_gives_it(use: str) -> None:
    assert access(f"net = nn.Linear(3, 3)\ndef f(x):\n    {use}") is None
    assert access(f"net = nn.Linear(3, 3)\ndef f(x):\n    {use.replace('batch_sizes', 'T').replace('PackedSequence', 'f')}")


@pytest.mark.parametrize(
    ("use", "means"),
    [
        ("«w.data».zero_()", Means.METHOD),
        ("«w.data»[0].mul_(2)", Means.METHOD),
        ("«w.data».resize_(3).zero_()", Means.RESHAPED),
        ("«w.data»[0] = 1", Means.STORE),
        ("«w.data»[0] += 1", Means.STORE),
        ("«w.data».t()[0] = 1", Means.STORE),
        ("«w.data» += 1", Means.AUGMENTED),
        ("nn.init.normal_(«w.data»)", Means.INITIALISER),
        ("torch.add(1, 2, out=«w.data»)", Means.ARGUMENT),
        ("wipe(«w.data»)", Means.ARGUMENT),
        ("c = «w.data»\n    c.zero_()", Means.ALIAS),
        ("c = «w.data».view(-1)\n    c += 1", Means.ALIAS),
        ("c = «w.data» if w else None\n    d = c\n    d[0] = 1", Means.ALIAS),
    ],
)
def test_how_it_is_changed(use: str, means: Means) -> None:
    found = access(f"def wipe(x):\n    x.zero_()\n\ndef f(w: nn.Parameter):\n    {use}")
    assert found is not None and found.role is Role.MUTATION
    assert [change.means for change in found.changes] == [means]


@pytest.mark.parametrize(
    ("use", "changed"),
    [
        ("«w.data».mul_(2).add_(1)", ["w.data.mul_(2).add_(1)"]),
        ("c = «w.data»\n    c.zero_()\n    c[0] = 1", ["c.zero_()", "c[0]"]),
        ("nn.init.normal_(«w.data».view(-1))", ["nn.init.normal_(w.data.view(-1))"]),
    ],
)
def test_what_makes_the_change(use: str, changed: list[str]) -> None:
    found = access(f"def f(w: nn.Parameter):\n    {use}")
    assert found is not None
    assert [ast.unparse(change.node) for change in found.changes] == changed


def test_the_name_that_a_change_is_made_through() -> None:
    found = access("def f(w: nn.Parameter):\n    c = «w.data»\n    nn.init.normal_(c)\n    torch.add(w, 1, out=c)")
    assert found is not None
    assert [change.name and ast.unparse(change.name) for change in found.changes] == ["c", "c"]


@pytest.mark.parametrize(
    "snippet",
    [
        "def f(x: nn.Module):\n    print(«x.data»)",
        "import torch.utils.data\nprint(«torch.utils.data»)",
        "def f(x: torch.Tensor):\n    del «x.data»",
        "def f(graph):\n    graph.backward()\n    return «graph.data»['features']",
        "def f(x):\n    print(«x.data»)",
        "class A:\n    def f(self):\n        self.data = 1\n        return «self.data»",
    ],
)
def test_what_is_no_tensors(snippet: str) -> None:
    assert access(snippet) is None


def test_accesses_in_statements_and_what_they_hold() -> None:
    semantics, (one, two, _) = marked(
        HEADER + "def f(w: nn.Parameter):\n    for i in [1]:\n        print(«w.data», «w.data»)\n    print(«w.data»)"
    )
    [loop] = semantics.tree.of_type(ast.For)
    assert [found.node for found in semantics.of(DataAccesses).within([loop])] == [one, two]


def test_what_is_called_is_no_attribute_of_a_tensor() -> None:
    assert access("def read(handler):\n    data = handler.get()\n    return «data.data»().reshape(data.dim())") is None
    assert access("def read(handler):\n    data = handler.get()\n    return «data.data».detach().reshape(3)") is not None
