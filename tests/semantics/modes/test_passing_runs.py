"""Runs in evaluation mode whose graph goes at once: one forward whose values are read, or that ends with its function."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.modes.evaluations import Evaluations

_TEST = "def test():\n    model.eval()\n    {body}\n{more}"


def is_passing(text: str) -> bool:
    """Whether the evaluation that starts with the marked run is one of which nothing is kept."""
    semantics, [call] = marked(f"import torch\nimport torch.nn.functional as F\nimport numpy as np\n{text}\n")
    assert isinstance(call, ast.Call)
    [found] = semantics.of(Evaluations).recorded[call]
    return found.is_shown


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("out = «model(z)»\n    out = out.data.cpu().numpy()", True),
        ("out = «model(z)»\n    out = out.detach()\n    print(out)", True),
        ("out = «model(z)»", False),
        ("out = «model(z)»\n    print(out.sum())\n    out = out.detach()", False),
        ("out, more = «model(z)»\n    out = out.detach()", True),
        ("out, more = «model(z)»\n    out = out.detach()\n    print(more)", False),
        ("out, _ = «model(z)»\n    print(len(z), out.shape, out[0].permute(1, 0).cpu().detach())", True),
        ("out = «model(z)»\n    print(torch.max(out.data, 1), out)", False),
        ("kept.out = «model(z)»\n    print(kept.out.detach())", False),
        ("for x in z:\n        out = «model(x)»\n        out = out.detach()", False),
        ("for x in z:\n        out = «model(x)».detach()", False),
        ("for x in range(z):\n        out = «model(x)».detach()", True),
        ("steps = np.linspace(-3, 3, z)\n    for i, x in enumerate(steps):\n        out = «model(x)».data.cpu()", True),
        ("for x in range(z):\n        out = «model(x)»\n        print(out)", False),
        ("while z:\n        out = «model(x)».detach()", False),
        ("for x in test_loader:\n        out = «model(x)».detach()", False),
        ("for i, x in enumerate(tqdm(loader)):\n        out = «model(x)».data.cpu()", False),
        ("out = [«model(x)» for x in z]\n    out = torch.stack(out).detach()", False),
    ],
)
def test_a_round_of_training_reads_values(body: str, passes: bool) -> None:
    text = (
        f"for x, y in loader:\n    model(x).backward()\n    optimizer.step()\n    model.eval()\n    {body}\n    model.train()"
    )
    assert is_passing(text) is passes


_ROUNDS = """
for x, y in {data}:
    model = model.eval()
    out = {run}
    rows.append(out.data.max(1)[1].cpu().numpy())
"""


@pytest.mark.parametrize(
    ("data", "is_found"),
    [
        ("test_loader", True),
        ("tqdm(enumerate(testdataloader, 0))", True),
        ("self.loaders.validation", True),
        ("train_loader", False),
        ("pictures", False),
        ("range(tests)", False),
    ],
)
def test_rounds_through_what_is_evaluated_set_the_mode_each(data: str, is_found: bool) -> None:
    text = "import torch\nfor x, y in loader:\n    model(x).backward()\n    optimizer.step()\n"
    if is_found:
        assert not is_passing(text + _ROUNDS.format(data=data, run="«model(x)»"))
    else:
        semantics, _ = marked(text + _ROUNDS.format(data=data, run="model(x)"))
        assert not [found for each in semantics.of(Evaluations).recorded.values() for found in each if not found.is_shown]


@pytest.mark.parametrize(
    "body",
    [
        "loss = criterion(model(x), y)\n    loss.backward()",
        "with torch.no_grad():\n        out = model(x)",
        "x.requires_grad_()\n    out = model(x)\n    grads.append(torch.autograd.grad(out.sum(), x)[0])",
    ],
)
def test_rounds_through_what_is_evaluated_may_need_graphs(body: str) -> None:
    semantics, _ = marked(f"import torch\nfor x, y in test_loader:\n    model.eval()\n    {body}\n")
    assert not semantics.of(Evaluations).recorded


@pytest.mark.parametrize(
    ("body", "more", "passes"),
    [
        ("out = «model(x)»\n    print(out.argmax())", "test()", True),
        ("out = «model(x)»\n    print(out.argmax())", "def run():\n    test()\n\nrun()", True),
        ("out = «model(x)»\n    print(out.argmax())", "for epoch in range(9):\n    test()", False),
        ("out = «model(x)»\n    print(out.argmax())", "def run():\n    test()\n\nwhile True:\n    run()", False),
        ("out = «model(x)»\n    print(out.argmax())", "", False),  # other files may call it, in a loop
        ("out = «model(x)»\n    print(F.nll_loss(out, y), accuracy(out, y))", "test()", True),
        ("out = «model(x)»\n    print(words.search(out))", "test()", False),
        ("print(words.search(«model(x)»))", "test()", False),
        ("out = «model(x)»\n    return out.argmax()", "test()", False),
        ("global best\n    best = «model(x)».max()", "test()", False),
        ("log.best = «model(x)».max().item()", "test()", False),
        ("for x in loader:\n        print(«model(x)».argmax())", "test()", False),
        ("return print([«model(x)».argmax() for x in loader])", "test()", False),
    ],
)
def test_a_function_that_is_called_once(body: str, more: str, passes: bool) -> None:
    assert is_passing(_TEST.format(body=body, more=more)) is passes


@pytest.mark.parametrize(
    ("around", "is_found"),
    [
        ("for each in self.rounds(loader, False): print(each)", True),
        ("with torch.no_grad():\n            for each in self.rounds(loader, False): print(each)", False),
    ],
)
def test_callers_of_callers_may_turn_autograd_off(around: str, is_found: bool) -> None:
    text = f"""\
class Trainer:
    def step(self, x, training):
        if training:
            self.parts.train()
        else:
            self.parts.eval()
        for each in x:
            loss = «self.parts(each)»
            if training:
                loss.backward()
        return loss.item()

    def rounds(self, loader, training):
        for x in loader:
            yield self.step(x, training=training)

    def learn(self, loader):
        for each in self.rounds(loader, True): print(each)

    def evaluate(self, loader):
        {around}
"""
    semantics, [call] = marked(f"import torch\n{text}")
    assert isinstance(call, ast.Call)
    assert (call in semantics.of(Evaluations).recorded) is is_found


@pytest.mark.parametrize(
    ("trains", "whole"),
    [("learner.fit_policy(net)", ast.For), ("train_step(net, x)", ast.For), ("learner.look(net)", ast.While)],
)
def test_a_loop_may_train_by_what_it_calls(trains: str, whole: type[ast.stmt]) -> None:
    text = f"net.eval()\nwhile steps < most:\n    for x in parts:\n        print(«net(x)».argmax())\n    {trains}"
    semantics, [call] = marked(f"import torch\n{text}")
    assert isinstance(call, ast.Call)
    [found] = semantics.of(Evaluations).recorded[call]
    assert isinstance(found.statements[0], whole)


_EPOCHS = """
judge.eval()
for epoch in range(9):
    for x in loader:
        out = net(x)
        out.backward()
        optimizer.step()
    {body}
"""


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        (_EPOCHS.format(body="kind = «judge(samples)»\n    print(kind.round().sum())"), True),
        (_EPOCHS.format(body="for x in others:\n        print(«judge(x)».argmax())"), True),
        (_EPOCHS.format(body="kind = «judge(samples)».detach()"), False),
        (_EPOCHS.format(body="kind = «judge(samples)»\n    kind = kind.data.cpu()"), False),
        (_EPOCHS.format(body="if epoch > 3:\n        «judge(samples)».sum().backward()"), False),
        (_EPOCHS.replace("out = net(x)", "out = net(x) - «judge(x)»").format(body="pass"), False),
        (_EPOCHS.replace("out = net(x)", "out = net(x)\n        wish = «judge(x)».argmax()").format(body="pass"), False),
        (_EPOCHS.replace("out = net(x)", "out = net(x)\n        for y in x: print(«judge(y)»)").format(body="pass"), True),
        (
            _EPOCHS.format(body="judge.train()\n    kind = «judge(samples)»").replace(
                "judge.eval()", "judge.eval()\nenv.reset()"
            ),
            False,
        ),
    ],
)
def test_epochs_may_ask_a_model_that_is_not_trained(text: str, is_found: bool) -> None:
    semantics, [call] = marked(f"import torch\n{text}")
    assert isinstance(call, ast.Call)
    assert (call in semantics.of(Evaluations).recorded) is is_found
