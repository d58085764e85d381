"""Sums and lists that do not grow: those that are reset with each update of the weights, and those that become an array."""

from __future__ import annotations

import ast

import pytest

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.accumulation import Accumulations


def leaks(text: str) -> int:
    """How many statements of a program leak."""
    return len(Semantics(ast.parse("import torch\nimport numpy as np\n" + text)).of(Accumulations).leaks)


def loop(reset: str) -> str:
    """A training whose losses are summed, and which does something about the sum."""
    start = "def train(model, loader, opt, accelerator, n):\n    total = 0\n    for i, (x, y) in enumerate(loader):\n"
    body = "        loss = criterion(model(x), y)\n        total += loss / n\n        loss.backward()\n"
    return f"{start}{body}        {reset}\n"


UPDATE = "if (i + 1) % n == 0:\n            opt.step()\n            opt.zero_grad()"


@pytest.mark.parametrize(
    ("reset", "count"),
    [
        (
            UPDATE + "\n            print(total)\n            total = 0",
            0,
        ),
        ("if accelerator.sync_gradients:\n            print(total)\n            total = 0", 0),
        ("if i % 100 == 0:\n            print(total)\n            total = 0", 1),
        (UPDATE + "\n            print(total)", 1),
        ("opt.step()\n        opt.zero_grad()\n        if i % 100 == 0:\n            print(total)\n            total = 0", 1),
        ("if i % 100 == 0:\n            schedule.step()\n            print(total)\n            total = 0", 1),
    ],
)
def test_sums_of_the_rounds_between_two_updates(reset: str, count: int) -> None:
    assert leaks(loop(reset)) == count


def gathered(behind: str) -> str:
    """A list of what a model gives, and what is done with it."""
    start = "def gather(model: torch.nn.Module, graphs, y):\n    out = []\n    for g in graphs:\n        h = model([g])\n"
    return f"{start}        out.append(h)\n        torch.nn.functional.mse_loss(h, y).backward()\n    {behind}\n"


@pytest.mark.parametrize(
    ("behind", "count"),
    [
        ("return np.concatenate(out, axis=0)", 0),
        ("return np.stack(out)", 0),
        ("return torch.cat(out)", 1),
        ("print(len(out))", 1),
        ("return np.concatenate([x.detach() for x in out])", 1),
    ],
)
def test_lists_that_numpy_makes_one_array_of(behind: str, count: int) -> None:
    assert leaks(gathered(behind)) == count


@pytest.mark.parametrize(
    ("first", "start", "last", "count"),
    [
        ("", "total = weighted = 0", "weighted.backward()", 0),
        ("", "total, weighted = 0, 0", "weighted.backward()", 0),
        ("total = 0", "weighted = 0", "weighted.backward()", 1),
        ("", "total = weighted = 0", "other.backward()", 2),
    ],
)
def test_a_sum_beside_one_that_is_back_propagated(first: str, start: str, last: str, count: int) -> None:
    text = f"""
def train(model: torch.nn.Module, tasks, opt):
    {first}
    for epoch in range(9):
        {start}
        for w, x, y in tasks:
            loss = torch.nn.functional.mse_loss(model(x), y)
            other = loss * 2
            total += loss
            weighted += w * loss
        {last}
        print(total)
"""
    assert leaks(text) == count


ONE_TASK = """\
def outer(model, tasks, criterion, config):
    total = 0
    for x, y in tasks:
        weights = list(model.parameters())
        loss = criterion(model(x, weights), y)
        grads = torch.autograd.grad(loss, weights, create_graph=%s)
        weights = [w - 0.1 * g for w, g in zip(weights, grads)]
        loss = criterion(model(x, weights), y)
        total += loss
    return total
"""


@pytest.mark.parametrize("graph", ["True", "config.second_order"])
def test_losses_of_tasks_of_which_the_sum_is_handed_out(graph: str) -> None:
    assert not leaks(ONE_TASK % graph)


ADAPTING = """\
class Learner:
    def __init__(self, model, embedding, criterion):
        self.model, self.embedding_model, self.criterion = model, torch.nn.Linear(2, 2), criterion
    def update(self, loss, weights):
        grads = torch.autograd.grad(loss, weights, {graph})
        return [w - 0.1 * g for w, g in zip(weights, grads)]
    def adapt(self, xs, ys):
        kept, given = [], []
        for x, y in zip(xs, ys):
            seen = self.embedding_model(x)
            weights = self.update(self.criterion(self.model(x, seen), y), self.model.weights)
            kept.append(seen)
        return {returned}
"""


@pytest.mark.parametrize(
    ("graph", "returned", "count"),
    [
        ("create_graph=not self.first", "kept", 0),
        ("create_graph=True", "weights, kept", 0),
        ("retain_graph=True", "kept", 1),
    ],
)
def test_what_was_computed_for_each_task_is_handed_out(graph: str, returned: str, count: int) -> None:
    text = ADAPTING.format(graph=graph, returned=returned)
    assert leaks("import torch\n" + text) == count


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("loss.item() if isinstance(loss, torch.Tensor) else loss", 0),
        ("loss if isinstance(loss, float) else loss.item()", 0),
        ("float(loss) if torch.is_tensor(loss) else loss", 0),
        ("loss if i else 0.0", 1),
        ("other.item() if i else loss", 1),
    ],
)
def test_the_number_of_a_loss_or_the_number_that_it_is(value: str, count: int) -> None:
    start = "def train(model, loader, opt, other):\n    total = 0\n    for i, (x, y) in enumerate(loader):\n"
    body = "        loss = torch.nn.functional.mse_loss(model(x), y)\n        loss.backward()\n"
    assert leaks(f"{start}{body}        total += {value}\n    print(total)\n") == count


BESIDE = """\
def train(model, loader, criterion):
    kept = {{}}
    for x, y in loader:
        loss, {other} = criterion(model(x), y)
        loss.backward()
        for k in {other}.keys():
            kept[k] += {other}[k]
"""


@pytest.mark.parametrize(("other", "count"), [("loss_dict", 0), ("loss_log", 0), ("losses", 1)])
def test_what_comes_beside_a_loss(other: str, count: int) -> None:
    assert leaks(BESIDE.format(other=other)) == count


EACH = """
def update(xs, agents):
    losses = {{}}
    for agent in agents:
        mean = actors[agent](xs[agent])
        loss = criterion(mean, xs[agent])
        loss.backward()
        optims[agent].step()
        losses[{key}] = loss
    return losses

def train(n):
    kept = []
    for i in range(n):
        {caller}
"""


@pytest.mark.parametrize(
    ("key", "caller", "count"),
    [
        ("agent", "losses = update(xs, agents)\n        show(losses)", 0),
        ("agent", "losses, kept = update(xs, agents), kept", 1),
        ("agent", "kept.append(update(xs, agents))", 1),
        ("agent", "losses = update(xs, agents)\n        kept.append(losses)", 1),
        ("agent", "kept[i] = update(xs, agents)", 1),
        ("agent, step", "losses = update(xs, agents)", 1),
    ],
)
def test_a_dictionary_with_the_loss_of_each_model_is_made_anew(key: str, caller: str, count: int) -> None:
    assert leaks(EACH.format(key=key, caller=caller)) == count


def test_a_dictionary_with_the_loss_of_each_step_grows() -> None:
    assert (
        leaks(
            EACH.format(key="agent", caller="update(xs, agents)")
            .replace("actors[agent]", "net")
            .replace("optims[agent]", "opt")
        )
        == 1
    )


EPOCHS = """\
model = torch.nn.Linear(2, 2)
{before}
outputs = []
for epoch in {epochs}:
    for x, y in loader:
        answer = model(x)
        loss = torch.nn.functional.mse_loss(answer, y)
        loss.backward({how})
        {each}
    {behind}
show(outputs)
"""


@pytest.mark.parametrize(
    ("parts", "count"),
    [
        ({"epochs": "range(10)"}, 0),
        ({"epochs": "range(1, 11)"}, 0),
        ({"epochs": "range(epochs)", "before": "epochs = 10"}, 0),
        ({"epochs": "range(1000)"}, 1),
        ({"epochs": "range(epochs)", "before": "epochs = 500"}, 1),
        ({"epochs": "range(args.epochs)"}, 1),
        ({"epochs": "range(10)", "how": "retain_graph=True"}, 1),
        # one for each batch
        ({"epochs": "range(10)", "each": "outputs.append((x, answer))", "behind": "pass"}, 1),
    ],
)
def test_one_for_each_of_a_few_epochs_is_no_growth(parts: dict[str, str], count: int) -> None:
    given = {"before": "pass", "how": "", "each": "pass", "behind": "outputs.append((epoch, x, answer))"} | parts
    assert leaks(EPOCHS.format(**given)) == count


def of_parameters(before: str, within: str, walked: str) -> str:
    """A training that keeps what it computes of each parameter."""
    start = f"def train(model, batches, opt):\n    kept = {before}\n    for x in batches:\n        kept = {within}\n"
    body = (
        f"        for p in {walked}:\n            norm = p.norm()\n            norm.backward()\n            kept.append(norm)\n"
    )
    return f"{start}{body}        print(torch.stack(kept))\n"


@pytest.mark.parametrize(
    ("within", "walked", "count"),
    [
        ("[]", "model.parameters()", 0),
        ("[]", "list(model.parameters())", 0),
        ("kept", "model.parameters()", 1),
        ("[]", "iter(batches)", 1),
        ("[]", "torch.nn.Linear(2, 2).parameters", 1),
    ],
)
def test_a_list_that_each_round_makes_for_the_parameters_of_a_model(within: str, walked: str, count: int) -> None:
    assert leaks(of_parameters("[]", within, walked)) == count


WALK = "for name, p in model.named_parameters():"
CHANGE = "total += (p - old[name]).norm() ** 2"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"def f(model, old):\n    total = 0\n    {WALK}\n        {CHANGE}\n    print(total.item())\n", 0),
        (f"def f(model, old):\n    total = other = 0\n    {WALK}\n        {CHANGE}\n    print(total.item())\n", 0),
        (f"def f(model, old, total):\n    {WALK}\n        {CHANGE}\n    print(total.item())\n", 1),
        (f"total = 0\ndef f(model, old):\n    global total\n    {WALK}\n        {CHANGE}\n    print(total.item())\n", 1),
        (
            "def f(model, old, loader):\n    total = 0\n    for x in loader:\n        model(x).sum().backward()\n"
            f"        {WALK}\n            {CHANGE}\n    print(total.item())\n",
            1,
        ),
    ],
)
def test_the_parameters_of_one_call(text: str, count: int) -> None:
    assert leaks(f"def fit(model, x):\n    model(x).sum().backward()\n{text}") == count
