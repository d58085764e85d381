"""Models in the wrong mode: of each snippet, what is known of the marked call."""

from __future__ import annotations

import ast
import re
from textwrap import dedent, indent

import pytest

from marked import marked
from torchlint.semantics.modes.evaluation_mode_trainings import EvaluationModeTrainings, TrainedInEvaluation
from torchlint.semantics.modes.training_mode_evaluations import EvaluatedInTraining, TrainingModeEvaluations

TRAINING = """
import torch
import torch.nn.functional as F
from torch import nn

def run(loader, test_loader):
    net = nn.Sequential(nn.Linear(2, 2), nn.{layer})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
{round}
"""
TRAINS = "for x, y in loader:\n    F.cross_entropy(net(x), y).backward()\n    optimizer.step()\n"
EVALUATES = "with torch.no_grad():\n    correct = sum((«net(x)».argmax(1) == y).sum() for x, y in test_loader)\n"


def training(*parts: str, layer: str = "Dropout()") -> str:
    """A training of a model with one layer whose mode matters, unless another is given; the rounds are made of the parts."""
    return TRAINING.format(layer=layer, round=indent("\n".join(parts), " " * 8))


# --- evaluated in training mode --------------------------------------------------------------------------------------


def evaluated(snippet: str) -> EvaluatedInTraining[ast.expr, ast.stmt] | None:
    """What the marked call evaluates in training mode."""
    semantics, (call,) = marked(snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(TrainingModeEvaluations).found.get(call)


@pytest.mark.parametrize("before", ["", "net.train()", "net.eval()\nnet.train()", "net.encoder.eval()", "other.eval()"])
def test_what_is_evaluated_as_its_training_left_it(before: str) -> None:
    found = evaluated(training(before, TRAINS, EVALUATES))
    assert found is not None
    assert ast.unparse(found.model) == "net"
    assert isinstance(found.statement, ast.With)


@pytest.mark.parametrize(
    ("before", "between"),
    [
        ("", "net.eval()"),
        ("net.train()", "net.eval()"),
        ("net.eval()", ""),
        ("net.train(epoch > 0)", ""),
        ("", "evaluating(net)"),
    ],
)
def test_what_is_evaluated_in_another_mode_or_one_that_is_not_known(before: str, between: str) -> None:
    assert evaluated(training(before, TRAINS, between, EVALUATES)) is None


@pytest.mark.parametrize("layer", ["LayerNorm(2)", "LSTM(2, 2)"])
def test_where_the_mode_makes_no_difference(layer: str) -> None:
    assert evaluated(training("", TRAINS, EVALUATES, layer=layer)) is None


@pytest.mark.parametrize(("layer", "is_evaluated"), [("Dropout()", True), ("LayerNorm(2)", False)])
def test_a_model_may_go_to_another_device_and_back(layer: str, is_evaluated: bool) -> None:
    text = training("", TRAINS, "net = net.cpu()", EVALUATES, "net = net.to(device)", layer=layer)
    assert (evaluated(text) is not None) is is_evaluated


OWN_LAYER = """
class Transformer{name}(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.{layer}

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Transformer{name}() for _ in range(3)])
"""


@pytest.mark.parametrize(("layer", "is_evaluated"), [("Dropout()", True), ("LayerNorm(2)", False)])
@pytest.mark.parametrize("name", ["Block", "", "EncoderLayer"])
def test_a_layer_of_the_file_may_be_called_as_one_of_torch(name: str, layer: str, is_evaluated: bool) -> None:
    text = training("", TRAINS, EVALUATES).replace("nn.Sequential(nn.Linear(2, 2), nn.Dropout())", "Net()")
    text = text.replace("from torch import nn\n", "from torch import nn\n" + OWN_LAYER.format(name=name, layer=layer))
    assert (evaluated(text) is not None) is is_evaluated


WRAPS = "    net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[0])\n"


@pytest.mark.parametrize(("layer", "is_evaluated"), [("Dropout()", True), ("LayerNorm(2)", False)])
def test_a_wrapper_for_several_devices_knows_no_mode_itself(layer: str, is_evaluated: bool) -> None:
    first, second, rest = training("", TRAINS, EVALUATES, layer=layer).partition("    optimizer =")
    assert (evaluated(first + WRAPS + second + rest) is not None) is is_evaluated
    assert (evaluated(first + WRAPS + WRAPS + second + rest) is not None) is is_evaluated
    assert evaluated(first + "    for _ in loader:\n    " + WRAPS + second + rest) is not None  # perhaps another one


@pytest.mark.parametrize(
    "run",
    [
        "with torch.no_grad():\n    target = «net(x)»\n" + TRAINS,  # what the training works with
        TRAINS + "correct = sum((«net(x)».argmax(1) == y).sum() for x, y in test_loader)",  # with autograd on
        TRAINS + "rollouts.append(1)\n" + EVALUATES,
        TRAINS + "state, reward = env.step(action)\n" + EVALUATES,
    ],
)
def test_what_is_no_evaluation(run: str) -> None:
    assert evaluated(training(run)) is None


@pytest.mark.parametrize(
    ("before", "more", "goes_on"),
    [("", "", True), ("net.train()", "", False), ("", "break", False), ("", "net.train()", False)],
)
def test_whether_training_goes_on_in_the_mode_that_is_left(before: str, more: str, goes_on: bool) -> None:
    found = evaluated(training(before, TRAINS, EVALUATES, more))
    assert found is not None
    assert found.training_goes_on is goes_on


def test_an_evaluation_may_be_a_function() -> None:
    found = evaluated("""
        import torch
        from torch import nn

        net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

        @torch.no_grad()
        def evaluate():
            return sum((«net(x)».argmax(1) == y).sum() for x, y in test_loader)

        for epoch in range(9):
            for x, y in loader:
                criterion(net(x), y).backward()
                optimizer.step()
            evaluate()
    """)
    assert found is not None
    assert isinstance(found.function, ast.FunctionDef)
    assert found.statement is None


# --- evaluated in training mode and with autograd on -------------------------------------------------------------------


THROUGH = """
import torch
from torch import nn

def features(net, x):
    return net(x)

{decorator}
def evaluate(net, test_loader):
    return sum((«features(net, x)».argmax(1) == y).sum() for x, y in test_loader)

def train(net, loader, test_loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
        for x, y in loader:
            criterion(features(net, x), y).backward()
            optimizer.step()
        correct = evaluate(net, test_loader)

train(nn.Sequential(nn.Linear(2, 2), nn.Dropout()), *loaders)
"""


@pytest.mark.parametrize("decorator", ["", "@torch.no_grad()"])
def test_a_function_on_the_way_may_turn_autograd_off(decorator: str) -> None:
    semantics, _ = marked(THROUGH.format(decorator=decorator))
    evaluations = semantics.of(TrainingModeEvaluations)
    assert bool(evaluations.recorded) is not bool(decorator)
    assert bool(evaluations.found) is bool(decorator)


COUNTS = "for x, y in test_loader:\n    correct += («net(x)».argmax(1) == y).sum().item()\n"


PRETRAINED = """
import torch
from transformers import AutoModelForMaskedLM

def train(model: {kind}, loader, test_loader):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        {before}
        for batch in loader:
            model(**batch).loss.backward()
            optimizer.step()
        with torch.no_grad():
            correct = sum((«model(**batch)».logits.argmax(-1) == batch["labels"]).sum() for batch in test_loader)
"""


@pytest.mark.parametrize(
    ("kind", "before", "expected"),
    [
        ("AutoModelForMaskedLM", "pass", False),  # from_pretrained gives it in evaluation mode, and nothing changes that
        ("AutoModelForMaskedLM", "model.train()", True),
        ("torch.nn.Module", "pass", True),
    ],
)
def test_what_from_pretrained_gives_is_in_evaluation_mode(kind: str, before: str, expected: bool) -> None:
    assert (evaluated(PRETRAINED.format(kind=kind, before=before)) is not None) is expected


def recorded(snippet: str) -> EvaluatedInTraining[ast.expr, ast.stmt] | None:
    """What the marked call evaluates in training mode and with autograd on."""
    semantics, (call,) = marked(snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(TrainingModeEvaluations).recorded.get(call)


@pytest.mark.parametrize(
    ("before", "evaluates"),
    [
        ("", COUNTS),
        ("net.train()", COUNTS),
        ("net.encoder.eval()", COUNTS),
        ("", "for x, y in val_dl:\n    loss = F.cross_entropy(«net(x)», y)\n    print(loss.item())"),
        ("", "for x, y in batches:\n    test_loss += F.cross_entropy(«net(x)», y)"),
        ("", "for x, y in batches:\n    hits += («net(x)».argmax(1) == y).sum()"),
        ("", "for x, y in valloader:\n    out = «net(x)»\n    write(name, out.detach().cpu().numpy())"),
    ],
)
def test_what_is_evaluated_with_neither(before: str, evaluates: str) -> None:
    found = recorded(training(before, TRAINS, evaluates))
    assert found is not None
    assert ast.unparse(found.model) == "net"
    assert isinstance(found.statement, ast.For)


@pytest.mark.parametrize(
    ("before", "evaluates"),
    [
        ("", "net.eval()\n" + COUNTS),
        ("net.eval()", COUNTS),
        ("", "with torch.no_grad():\n    correct = sum(«net(x)» for x in test_loader)"),
        ("", "with quiet_grad():\n    correct = sum(«net(x)» for x in test_loader)"),
        ("", "prepare_eval(net)\n" + COUNTS),
        ("", COUNTS + "    x.grad\n"),
        ("", COUNTS + "    attack(net, x)\n"),
        ("", COUNTS + "    show(cam_extractors, x)\n"),
        ("", "for x, y in test_loader:\n    F.cross_entropy(«net(x)», y).backward()"),
        ("", "for x, y in more:\n    loss = F.cross_entropy(«net(x)», y)"),
        ("", "for x, y in more:\n    out = «net(x)»\n    write(name, out.detach().cpu().numpy())"),
        ("", "for x, y in test_loader:\n    mc_dropout = «net(x)»\n    correct += mc_dropout"),
        ("", "for x, y in test_loader:\n    correct += «net(x)».sum()\ncorrect.backward()"),
    ],
)
def test_what_sets_one_of_the_two_or_needs_the_graph(before: str, evaluates: str) -> None:
    assert recorded(training(before, TRAINS, evaluates)) is None


@pytest.mark.parametrize(("name", "expected"), [("netD", False), ("disc", False), ("critic_2", False), ("decoder", True)])
def test_what_judges_others_is_asked_as_it_teaches_them(name: str, expected: bool) -> None:
    text = re.sub(r"\bnet\b", name, training(TRAINS, COUNTS))
    assert (recorded(text) is not None) is expected
    assert (evaluated(re.sub(r"\bnet\b", name, training(TRAINS, EVALUATES))) is not None) is expected


@pytest.mark.parametrize("layer", ["LayerNorm(2)", "LSTM(2, 2)"])
def test_where_the_mode_makes_no_difference_with_neither(layer: str) -> None:
    assert recorded(training("", TRAINS, COUNTS, layer=layer)) is None


IN_A_FUNCTION = """
    import torch
    from torchvision.models import resnet18

    def main(loader):
        net = resnet18()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            criterion(net(x), y).backward()
            optimizer.step()
        {name}(net)

    def {name}(net):
        {body}
"""


@pytest.mark.parametrize(("name", "is_one"), [("evaluate", True), ("test", True), ("sample", False), ("predict", False)])
def test_a_function_is_one_by_its_name(name: str, is_one: bool) -> None:
    found = recorded(IN_A_FUNCTION.format(name=name, body="return «net(x)»"))
    assert (found is not None) is is_one
    assert found is None or isinstance(found.function, ast.FunctionDef)


@pytest.mark.parametrize("body", ["yield «net(x)»", "return (y := «net(x)»)"])
def test_a_function_that_hands_out_control_is_found_without_a_place(body: str) -> None:
    found = recorded(IN_A_FUNCTION.format(name="evaluate", body=body))
    assert found is not None
    assert (found.function, found.statement) == (None, None)


# --- trained in evaluation mode --------------------------------------------------------------------------------------


def trained(snippet: str) -> TrainedInEvaluation[ast.expr, ast.stmt] | None:
    """What trains a model in the evaluation mode that the marked call puts it into."""
    semantics, (call,) = marked(snippet)
    return semantics.of(EvaluationModeTrainings).found.get(call)


SHOWS = "print(net(x).argmax(1))\n"


@pytest.mark.parametrize("switch", ["«net.eval()»", "«net.train(False)»", "if net is not None:\n    «net.eval()»"])
def test_what_is_trained_as_its_evaluation_left_it(switch: str) -> None:
    found = trained(training(TRAINS, switch, SHOWS))
    assert found is not None
    assert found.name == "net"
    assert ast.unparse(found.training) == "net"
    assert isinstance(found.statement, ast.For)


IMPORTANCE = """
import torch
from torch import nn
from torch.autograd import grad

def importance(net, inputs):
    {first}
    loss = net(inputs).sum()
    return {asked}

def run(net, loader, test_loader):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
        net.train()
        for x, y in loader:
            net(x).sum().backward()
            optimizer.step()
        «net.eval()»
        with torch.no_grad():
            print(sum((net(x).argmax(1) == y).sum() for x, y in test_loader))
    importance(net, x)
"""


@pytest.mark.parametrize(
    ("first", "asked", "is_trained"),
    [
        ("pass", "grad(loss, inputs)[0]", False),
        ("inputs = inputs.requires_grad_()", "loss.backward()", False),
        ("pass", "grad(loss, list(net.parameters()))", True),
        ("pass", "loss.backward()", True),
    ],
)
def test_what_asks_for_the_gradients_of_what_it_is_given(first: str, asked: str, is_trained: bool) -> None:
    assert (trained(IMPORTANCE.format(first=first, asked=asked)) is not None) is is_trained


@pytest.mark.parametrize(
    "parts",
    [
        ("net.train()", TRAINS, "«net.eval()»", SHOWS),
        (TRAINS, "«net.eval()»", SHOWS, "net.train()"),
        (TRAINS, "«net.eval()»", SHOWS, "restore(net)"),
        ("«net.eval()»", TRAINS),  # it is meant to be frozen
        (TRAINS, "«net.eval()»", SHOWS, "break"),
        (TRAINS, "if flag:\n    net.train()\nelse:\n    «net.eval()»", SHOWS, "net.train()"),
        ("«net.eval()»", "head.train()", "with torch.no_grad():\n    h = net(x)", TRAINS),  # the author says which one learns
    ],
)
def test_what_is_trained_in_training_mode_or_is_meant(parts: tuple[str, ...]) -> None:
    assert trained(training(*parts)) is None


ENDS = """
import torch
from torch import nn

class Trainer:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, x, size, show):
        self.net.train()
        while size > 2:
            try:
                self.net(x[:size]).sum().backward()
                self.optimizer.step()
                «self.net.eval()»
                print(self.net(x).argmax())
                {end}
            except RuntimeError:
                size //= 2
"""


def test_a_function_ends_behind_what_sets_evaluation_mode() -> None:
    shown = "                print(self.net(x).argmax())\n"
    assert trained(ENDS.format(end="size -= 1")) is not None
    assert trained(ENDS.format(end="return size").replace(shown, "")) is None
    assert trained(ENDS.format(end="size = size // 2\n                return size").replace(shown, "")) is None


LAST = """
import torch
from torch import nn
from tqdm import tqdm

def run(loader, val_loader, bar):
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    batches = tqdm(loader) if bar else loader
    for epoch in range(9):
        {before}
        for {head}:
            net(x).sum().backward()
            optimizer.step()
            if {test}:
                «net.eval()»
                print([net(v) for v in val_loader])
"""


@pytest.mark.parametrize(
    ("head", "test"),
    [
        ("i, x in enumerate(batches)", "i == len(loader) - 1"),
        ("i, x in enumerate(loader)", "i + 1 == len(loader)"),
        ("i, x in enumerate(loader)", "len(loader) - 1 == i and bar"),
        ("i, x in enumerate(tqdm(loader), 1)", "i == len(loader)"),
        ("i, x in enumerate(loader)", "(i + 1) % len(loader) == 0"),
        ("i, x in enumerate(loader)", "i % len(loader) == len(loader) - 1"),
        ("x in range(bar)", "x == bar - 1"),
    ],
)
def test_what_is_evaluated_in_the_last_round(head: str, test: str) -> None:
    assert trained(LAST.format(before="net.train()", head=head, test=test)) is None
    assert trained(LAST.format(before="pass", head=head, test=test)) is not None


@pytest.mark.parametrize(
    ("head", "test"),
    [
        ("i, x in enumerate(loader)", "i == len(loader)"),  # which never is
        ("i, x in enumerate(loader)", "i != len(loader) - 1"),
        ("i, x in enumerate(loader)", "i == len(val_loader) - 1"),
        ("i, x in enumerate(loader)", "epoch == len(loader) - 1"),
        ("i, x in enumerate(loader)", "i == 99"),
        ("i, x in enumerate(loader)", "i % len(loader) == 0"),
        ("i, x in enumerate(loader)", "i == len(loader) // 2 - 1"),
        ("x in range(bar)", "x == bar - 2"),
    ],
)
def test_what_is_evaluated_in_another_round(head: str, test: str) -> None:
    assert trained(LAST.format(before="net.train()", head=head, test=test)) is not None


SAVES = "torch.save(net.state_dict(), path)\n"


@pytest.mark.parametrize(
    ("parts", "is_wrong"),
    [
        ((TRAINS, "if epoch % 2:\n    net.cpu()\n    «net.eval()»\n    " + SAVES), True),
        ((TRAINS, "if epoch % 2:\n    «net.eval()»\n    print(epoch)\n"), False),  # for what, the round does not show
        (("if epoch % 2:\n    «net.eval()»\n    " + SAVES, TRAINS), False),
        (("net.train()", TRAINS, "«net.eval()»", SAVES), False),
    ],
)
def test_what_is_put_into_evaluation_mode_to_be_saved(parts: tuple[str, ...], is_wrong: bool) -> None:
    assert (trained(training(*parts)) is not None) is is_wrong


@pytest.mark.parametrize(
    ("before", "is_wrong"),
    [("net.train()\n    ", True), ("", False), ("if flag:\n        ", False)],
)
def test_an_evaluation_before_the_training_may_leave_its_mode(before: str, is_wrong: bool) -> None:
    start = f"{before}«net.eval()»\n    with torch.no_grad():\n        {SHOWS}"
    found = trained(training(TRAINS).replace("    for epoch", f"    {start}    for epoch"))
    assert (found is not None) is is_wrong
    assert found is None or isinstance(found.statement, ast.For)


@pytest.mark.parametrize(
    ("step", "expected"),
    [("loss = criterion(net(x), y)", True), ("loss = head(net(x)).sum()", False), ("loss = self.head(net(x)).sum()", True)],
)
def test_the_only_model_of_a_function_is_trained_unless_it_may_be_a_part(step: str, expected: bool) -> None:
    snippet = f"""
        def train(net, head, criterion, optimizer, loader):
            for x, y in loader:
                {step}
                loss.backward()
                optimizer.step()
                «net.eval()»
                print(net(x).argmax(1))
    """
    assert (trained(dedent(snippet)) is not None) is expected


TWO_MODELS = """
import torch
import torch.nn.functional as F
from torch import nn

def fit(xs, loader):
    guide, learner = nn.Sequential(nn.Linear(2, 2), nn.Dropout()), nn.Sequential(nn.Linear(2, 2), nn.Dropout())
    guide_optimizer = torch.optim.SGD(guide.parameters(), lr=0.1)
    optimizer = torch.optim.SGD(learner.parameters(), lr=0.1)
    for epoch in range(9):
        for x in xs:
            teach(guide, learner, guide_optimizer, optimizer, x)
        «guide.eval()»
        with torch.no_grad():
            print(sum(guide(x).argmax(1).sum() for x in loader))

def teach(guide, learner, guide_optimizer, optimizer, x):
    {sets}
    F.mse_loss(learner(x), guide(x)).backward()
    optimizer.step()
    {more}
"""


@pytest.mark.parametrize(
    ("sets", "more", "expected"),
    [
        ("learner.train()", "pass", False),
        ("learner.train()", "scheduler.step()", False),
        ("learner.train()", "guide_optimizer.step()", True),  # the other is trained, too
        ("pass", "pass", True),
        ("learner.eval()", "pass", True),
    ],
)
def test_a_model_that_helps_to_train_another_stays_as_it_is(sets: str, more: str, expected: bool) -> None:
    assert (trained(TWO_MODELS.format(sets=sets, more=more)) is not None) is expected


def test_a_function_of_the_file_may_be_what_evaluates() -> None:
    found = trained("""
        import torch
        from torch import nn

        def evaluate(model):
            «model.eval()»
            return model(test_images).argmax(1)

        net = nn.Dropout()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for x, y in loader:
            criterion(net(x), y).backward()
            evaluate(net)
    """)
    assert found is not None
    assert found.name == "net"


SCORED = """
import torch
import torch.nn.functional as F
from torch import nn

def decoded(net, x):
    return {decoded}

def bleu_score(net, x, y):
    return ((decoded(net, x) == y).sum() / len(y)).item()

class Bot:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def step(self, x, y):
        loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def learn(self, loader):
        self.net.train()
        for x, y in loader:
            loss = self.step(x, y)
            {before}
            print(loss, {scored})
"""


@pytest.mark.parametrize(
    ("decoded", "before", "scored", "expected"),
    [
        ("net(x).argmax(1)", "pass", "«bleu_score(self.net, x, y)»", True),
        ("net(x).argmax(1)", "self.net.eval()", "«bleu_score(self.net, x, y)»", False),
        ("net(x).argmax(1)", "pass", "«decoded(self.net, x)»", False),  # nothing says what it is for
        ("x", "pass", "«bleu_score(self.net, x, y)»", False),
    ],
)
def test_a_score_is_computed_further_down(decoded: str, before: str, scored: str, expected: bool) -> None:
    found = recorded(SCORED.format(decoded=decoded, before=before, scored=scored))
    assert (found is not None) is expected
    assert found is None or (ast.unparse(found.model), found.function is not None) == ("self.net", True)


# --- objects that are no module ----------------------------------------------------------------------------------------

RUNNER = """
import torch
import torch.nn.functional as F
from torch import nn

class Runner:
    def __init__(self, loader, reader):
        self.loader, self.reader = loader, reader
        self.net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.reader.eval()
    def train(self, epochs):
        self.net.train()
        for x, y in self.loader:
            with torch.no_grad():
                x = self.reader(x)
            F.cross_entropy(self.net(x), y).backward()
            self.optimizer.step()
    def evaluate(self, x):
        {begin}
        with torch.no_grad():
            return {run}

def collect(runner, xs):
    for x in xs:
        out = runner.evaluate(x)

runner = Runner(loader, reader)
runner.train(epochs=3)
collect(runner, test_loader)
"""


@pytest.mark.parametrize(
    ("begin", "run", "is_evaluated"),
    [("pass", "«self.net(x)»", True), ("self.net.eval()", "self.net(«self.reader(x)»)", False)],
)
def test_what_is_evaluated_is_what_the_object_trains(begin: str, run: str, is_evaluated: bool) -> None:
    assert (evaluated(RUNNER.format(begin=begin, run=run)) is not None) is is_evaluated


HELD = """
import torch
import torch.nn.functional as F
from torch import nn

class System(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

net = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
{made}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

def train(loader):
    {starts}
    for x, y in loader:
        F.cross_entropy(net(x), y).backward()
        optimizer.step()

def evaluate(loader):
    {begins}
    with torch.no_grad():
        for x, y in loader:
            print(F.cross_entropy(«net(x)», y))

for epoch in range(3):
    train(train_loader)
    evaluate(test_loader)
"""


@pytest.mark.parametrize(
    ("made", "starts", "begins", "is_evaluated"),
    [
        ("system = System(net)", "system.train()", "system.eval()", False),
        ("system = System(net)", "net.train()", "system.eval()", False),
        ("system = System(net)", "net.train()", "set_mode = system.eval\n    set_mode()", False),
        ("system = nn.ModuleList([net])", "net.train()", "system.eval()", False),
        ("system = System(other)", "net.train()", "system.eval()", True),
        ("system = System(net)", "system.train()", "pass", True),
    ],
)
def test_what_holds_a_model_sets_its_mode(made: str, starts: str, begins: str, is_evaluated: bool) -> None:
    assert (evaluated(HELD.format(made=made, starts=starts, begins=begins)) is not None) is is_evaluated


OF_METHODS = """
import torch
import torch.nn.functional as F
from torch import nn

class Runner{base}:
    def __init__(self):
        super().__init__()
        self.net = nn.DataParallel(nn.Sequential(nn.Linear(2, 2), nn.Dropout()))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
    def evaluate_batch(self, x, y):
        return F.cross_entropy(«self.net(x)», y).item()
    def train_batch(self, x, y):
        F.cross_entropy(self.net(x), y).backward()
        self.optimizer.step()
    def train_epoch(self):
        self.net.train()
        for x, y in train_loader:
            self.train_batch(x, y)
    def evaluate_epoch(self):
        {begin}
        with torch.no_grad():
            for x, y in test_loader:
                print(self.evaluate_batch(x, y))
        self.net.train()
    def train(self):
        for epoch in range(3):
            self.train_epoch()
            self.evaluate_epoch()

runner = Runner()
runner.train()
"""


@pytest.mark.parametrize("base", ["", "(nn.Module)"])
@pytest.mark.parametrize(("begin", "is_evaluated"), [("pass", True), ("self.net.eval()", False)])
def test_a_method_sets_the_mode_of_the_part_that_another_one_runs(base: str, begin: str, is_evaluated: bool) -> None:
    assert (evaluated(OF_METHODS.format(base=base, begin=begin)) is not None) is is_evaluated


@pytest.mark.parametrize(("sets", "expected"), [("", True), ("self.inference.eval()", False), ("self.infer(x)", False)])
def test_a_model_may_be_called_as_what_sets_modes(sets: str, expected: bool) -> None:
    found = evaluated(f"""
        import torch
        from torch import nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.dropout = nn.Dropout()
            def forward(self, x):
                return self.dropout(x)

        class Trainer(Base):
            def __init__(self):
                self.inference = Net()
                self.optimizer = torch.optim.Adam(self.inference.parameters())

            def update(self, x):
                self.inference(x).mean().backward()
                self.optimizer.step()

            def evaluation(self, x):
                with torch.no_grad():
                    print(«self.inference(x)».mean())

            def run(self, loader):
                for x in loader:
                    self.update(x)
                    {sets or "pass"}
                    self.evaluation(x)
    """)
    assert (found is not None) is expected


TWICE = """
import torch
import torch.nn.functional as F
from torchvision.models import resnet18

def run(loader):
    net = resnet18()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
        with torch.no_grad():
            accuracy = («net({given})».argmax(1) == y).sum()
"""


@pytest.mark.parametrize(("given", "expected"), [("x", False), ("test_x", True)])
def test_how_well_a_batch_was_learnt_is_asked_in_training_mode(given: str, expected: bool) -> None:
    assert (evaluated(TWICE.format(given=given)) is not None) is expected


GIVEN = """
import torch
import torch.nn.functional as F
from elsewhere import Net

def run(loader, test_loader, correct):
    net = Net()
    {mode}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        F.cross_entropy(net(x), y).backward()
        optimizer.step()
    for x, y in test_loader:
        correct += («net(x)».argmax(1) == y).sum().item()

def show(net, x):
    {elsewhere}
    print(net(x))
"""


@pytest.mark.parametrize(
    ("mode", "elsewhere", "expected"),
    [("pass", "pass", False), ("net.train()", "pass", True), ("pass", "net.eval()", True), ("pass", "x.head.eval()", False)],
)
def test_the_mode_matters_where_the_file_sets_it(mode: str, elsewhere: str, expected: bool) -> None:
    found = recorded(GIVEN.format(mode=mode, elsewhere=elsewhere))
    assert found is not None
    assert found.matters is expected


PARTS = """
import torch
from torch import nn

class Training:
    def __init__(self, make):
        self.maker, self.judge = make(), make()
        self.optimizer = torch.optim.SGD([*self.maker.parameters(), *self.judge.parameters()], lr=0.1)

    def train(self, loader, test_loader):
        for epoch in range(9):
            for x, y in loader:
                self.maker.train()
                self.maker(x).sum().backward()
                self.optimizer.step()
                {sets}
                self.judge(self.maker(x)).sum().backward()
                self.optimizer.step()
            with torch.no_grad():
                for x, y in test_loader:
                    correct = (self.{model}(x).argmax(1) == y).sum()

training = Training(make)
training.train(loader, test_loader)
"""


@pytest.mark.parametrize(
    ("sets", "model", "expected"),
    [("self.maker.eval()", "maker", False), ("if y:\n                    self.maker.eval()", "maker", True)],
)
def test_a_part_is_in_the_mode_that_it_was_put_into_last(sets: str, model: str, expected: bool) -> None:
    semantics, _ = marked(PARTS.format(sets=sets, model=model))
    assert bool(semantics.of(TrainingModeEvaluations).found) is expected
