"""Evaluations of which it is known that autograd records them, and those of which that is only assumed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from torchlint.api import lint as api_lint
from torchlint.engine.linter import lint
from torchlint.project.topics.forwards import FORWARDS
from torchlint.rules import all_rules
from torchlint.semantics.summaries.bodies import class_body
from torchlint.text.source import Source

RULE = [rule for rule in all_rules() if rule.code == "TPL304"]
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 2)

    def forward(self, x):
        return self.body(x).relu()
"""
IMPORTS = "import contextlib, torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"
EVALUATION = """
def evaluate(model, loader):
    model.eval()
    hits = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
    return hits
"""
SITE = "print(evaluate(Net(), loader))\n"
TRAINING = """
def train(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
"""


def strict(*parts: str) -> list[bool]:
    return [found.is_strict for found in lint(Source("".join((IMPORTS, *parts))), RULE)]


@pytest.mark.parametrize(
    "parts",
    [
        (NET, EVALUATION, SITE),
        (TRAINING, EVALUATION),
        (EVALUATION, "optimizer = optim.SGD(model.parameters(), lr=0.1)\n"),
        (NET, EVALUATION.replace("for x, y", "for x, y").replace("    for", "    with torch.cuda.device(0):\n     for"), SITE),
        (NET, EVALUATION, "model = nn.DataParallel(Net())\nevaluate(model, loader)\n"),
        (NET, EVALUATION, SITE, "for p in other.parameters():\n    p.requires_grad = False\n"),
        (TRAINING, EVALUATION, "for p in model.encoder.parameters():\n    p.requires_grad = False\n"),
        (TRAINING, EVALUATION, "for p in model.parameters():\n    p.requires_grad = True\n"),
        (
            NET.replace("relu()", "relu()\n\n    @torch.no_grad()\n    def embed(self, x):\n        return self(x)"),
            EVALUATION,
            SITE,
        ),
    ],
)
def test_it_is_known(parts: tuple[str, ...]) -> None:
    assert strict(*parts) == [False]


@pytest.mark.parametrize(
    "parts",
    [
        (EVALUATION,),  # of any model
        (EVALUATION, "evaluate(torch.jit.load('a.pt'), loader)\n"),
        (EVALUATION, "evaluate(torch.hub.load('a', 'b'), loader)\n"),
        (EVALUATION, "from other import Net\n", SITE),
        (EVALUATION, NET.replace("(nn.Module)", "(Others)"), "from other import Others\n", SITE.replace("Net()", "Net().part")),
        (NET.replace("    def forward", "    @torch.no_grad()\n    def forward"), EVALUATION, SITE),
        (NET.replace("    def forward", "    @quietly\n    def forward"), EVALUATION, SITE),
        (NET.replace("        return", "        with torch.no_grad():\n            return"), EVALUATION, SITE),
        (
            NET.replace("        return", "        with torch.set_grad_enabled(self.training):\n            return"),
            EVALUATION,
            SITE,
        ),
        (NET.replace("        return", "        torch.set_grad_enabled(self.training)\n        return"), EVALUATION, SITE),
        (
            NET.replace("self.body = nn", "for p in self.parts(): p.requires_grad = False\n        self.body = nn"),
            EVALUATION,
            SITE,
        ),
        (
            NET.replace("self.body(x)", "self.inner(x)")
            + "\n    @torch.no_grad()\n    def inner(self, x):\n        return x\n",
            EVALUATION,
            SITE,
        ),
        (TRAINING, EVALUATION, "for name, p in model.named_parameters():\n    p.requires_grad = False\n"),
        (TRAINING, EVALUATION, "for p in chain(model.parameters(), other.parameters()):\n    p.requires_grad = False\n"),
        (TRAINING, EVALUATION, "[p.requires_grad_(False) for p in model.parameters()]\n"),
        (TRAINING, EVALUATION, "from other import freeze\nfreeze(model)\n"),
        (TRAINING, EVALUATION, "set_requires_grad(model, False)\n"),
        (
            TRAINING,
            EVALUATION,
            "def still(net):\n    for p in net.parameters():\n        p.requires_grad = False\nstill(model)\n",
        ),
        (TRAINING, EVALUATION.replace("    for", "    with quietly(model):\n     for")),
        (TRAINING, EVALUATION.replace("    for", "    with contextlib.ExitStack() as stack:\n     for")),
        (TRAINING, EVALUATION.replace("model(x)", "model.generate(x)").replace("def evaluate", "def test")),
        (TRAINING, EVALUATION.replace("hits += (model(x).argmax(1) == y).sum().item()", "yield model(x)")),
    ],
)
def test_it_is_assumed(parts: tuple[str, ...]) -> None:
    assert False not in strict(*parts)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return self.body(x)", False),
        ("with torch.no_grad():\n            return self.body(x)", True),
        ("self.body.requires_grad_(False)\n        return self.body(x)", True),
        ("self.body.requires_grad_()\n        return self.body(x)", False),
        ("return self.embed(x)", True),
        ("self.body.weight.requires_grad = True\n        return x", False),
    ],
)
def test_what_a_class_does(body: str, expected: bool) -> None:
    text = f"{IMPORTS}class N(nn.Module):\n    def forward(self, x):\n        {body}\n"
    text += "    def embed(self, x):\n        with torch.inference_mode():\n            return x\n"
    owner = ast.parse(text).body[-1]
    assert isinstance(owner, ast.ClassDef)
    assert class_body(owner).quietens is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for p in model.parameters():\n    p.requires_grad = False\n", True),
        ("for p in model.parameters():\n    p.requires_grad = flag\n", True),
        ("for p in model.parameters():\n    p.requires_grad = True\n", False),
        ("model.embedding.weight.requires_grad = False\n", False),
        ("# p.requires_grad = False\n", False),
        ("if p.requires_grad == False:\n    pass\n", False),
        ("w = torch.ones(3, requires_grad=False)\n", False),
        ("model.requires_grad_(False)\n", True),
        ("model.requires_grad_()\n", False),
        ("freeze_layers(model)\n", True),
        ("unfreeze(model)\n", False),
        ("class N:\n    def forward(self, x):\n        with torch.no_grad():\n            return x\n", True),
        ("class N:\n    @torch.no_grad()\n    def forward(self, x):\n        return x\n", True),
        (
            "class N:\n    def forward(self, x):\n        return x\n    def g(self):\n        with torch.no_grad(): f()\n",
            False,
        ),
        ("@torch.no_grad()\ndef evaluate(model):\n    pass\n", False),
    ],
)
def test_what_a_project_speaks_of(text: str, expected: bool) -> None:
    assert FORWARDS["weights without gradients"](text.encode()) is expected


NETS = IMPORTS + NET
FROM_NETS = "from nets import Net\n" + EVALUATION + SITE
TRAINS = "def fit(net, x):\n    net(x).sum().backward()\n"


@pytest.mark.parametrize(
    ("files", "text", "expected"),
    [
        ({"nets.py": NETS}, FROM_NETS, [False]),
        (
            {"nets.py": NETS.replace("    def forward", "    @torch.no_grad()\n    def forward")},
            FROM_NETS,
            [True],
        ),
        ({"nets.py": NETS, "fit.py": TRAINS}, EVALUATION, [False]),
        ({"nets.py": NETS, "fit.py": TRAINS}, EVALUATION + "evaluate(torch.jit.load('a.pt'), loader)\n", [False]),
        (
            {
                "nets.py": NETS,
                "fit.py": TRAINS,
                "more.py": "def g(net):\n    for p in net.parameters():\n        p.requires_grad = False\n",
            },
            EVALUATION,
            [True],
        ),
        ({"nets.py": NETS}, EVALUATION, [True]),  # which trains nothing
        (
            {
                "fit.py": TRAINS,
                "run.py": "from main import evaluate\nimport torch\nwith torch.no_grad():\n    print(evaluate(m, d))\n",
            },
            EVALUATION,
            [],
        ),
    ],
)
def test_what_the_project_shows(files: dict[str, str], text: str, expected: list[bool], tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for name, code in files.items():
        (tmp_path / name).write_text(code)
    main = tmp_path / "main.py"
    main.write_text(IMPORTS + text)
    found = api_lint(main.read_text(), filename=str(main), select=["TPL304"], project_root=str(tmp_path))
    assert [each.is_strict for each in found] == expected
