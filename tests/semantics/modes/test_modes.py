"""The modes of models: what sets them, what runs the models, and what is known of them across functions.

In the snippets, `«…»` marks the model that is asked about, within the scope that is asked about; settings and runs are told by
their line.
"""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics import Semantics
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.modes import Modes
from torchlint.semantics.modes.trained_models import TrainedModels
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.text.source import Source


class Snippet:
    """A piece of code with one marked model."""

    def __init__(self, text: str) -> None:
        self.semantics, (self.node,) = marked(text)
        self.modes = self.semantics.of(Modes)
        self.scope = self.semantics.control_flow.scope(self.node)
        model = self.modes.references.of(self.node)
        assert model is not None
        self.model: Reference = model

    def settings(self) -> dict[int, str]:
        """The modes that are set, by line; with a ``?`` where the line may leave the mode alone."""
        return {
            getattr(setting.node, "lineno"): " ".join(sorted(mode.value for mode in setting.modes)) + "?" * (not setting.always)
            for setting in self.modes.settings(self.scope, self.model)
        }

    def runs(self) -> dict[int, int]:
        """The lines that run the model in the mode that it has there, and the lines of the calls of the model itself."""
        return {run.node.lineno: run.call.lineno for run in self.modes.runs(self.scope, self.model)}

    def trained(self) -> list[int]:
        """The lines that train the model, in whatever mode."""
        return sorted({run.node.lineno for run in self.modes.all_runs(self.scope, self.model) if self.modes.trains(run)})


# --- what sets the mode ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model.eval()", "eval"),
        ("model.train()", "train"),
        ("model.train(True)", "train"),
        ("model.train(mode=False)", "eval"),
        ("model.train(flag)", "unknown"),
        ("model.train(not flag)", "unknown"),
        ("model.train(loader, epochs)", None),
        ("model.eval('a + b')", None),
        ("model.cuda().eval()", "eval"),
        ("model.module.eval()", "eval"),
        ("nn.DataParallel(model).eval()", "eval"),
        ("model.encoder.eval()", None),
        ("other.eval()", None),
        ("net = model; net.eval()", "eval"),
        ("net = DistributedDataParallel(model); net.eval()", "eval"),
        ("net, optimizer = accelerator.prepare(model, optimizer); net.eval()", "eval"),
        ("for m in (model, other): m.eval()", "eval"),
        ("for m in models: m.eval()", "unknown"),
        ("models = [model, other]\n    for m in models: m.train()", "train"),
        ("[m.eval() for m in models]", "unknown"),
        ("models[0].eval()", "unknown"),
        ("model.training = False", "unknown"),
        ("set_model_mode(model, 'train')", "unknown"),
        ("with evaluating(model): pass", "unknown"),
        ("trainer.fit(model=model)", "unknown"),
        ("run_all([model, other])", "unknown"),
        ("model.predict(x)", "unknown"),
        ("model(x)", None),
        ("model.to(device)", None),
        ("model.load_state_dict(state)", None),
        ("model.zero_grad()", None),
        ("print(model)", None),
        ("torch.save(model, path)", None),
        ("save_checkpoint(model, path)", None),
        ("count_parameters(model)", None),
        ("get_eval_model(model)", "unknown"),
        ("optimizer = torch.optim.SGD(model.parameters(), lr=0.1)", None),
        ("model = nn.Linear(2, 2)", "train"),
        ("model = Net().to(device)", "train"),
        ("model = build()", "unknown"),
        ("model = nn.DataParallel(model)", None),
        ("model = model.half()", None),
    ],
)
def test_what_a_statement_does_to_the_mode(code: str, expected: str | None) -> None:
    snippet = Snippet(f"""
class Net(nn.Module):
    pass

def run(model, other, models, optimizer):
    «model»(x)
    {code}
""")
    found = set(snippet.settings().values())
    assert found == ({expected} if expected else set())


def test_an_object_that_holds_the_model_may_set_its_mode() -> None:
    snippet = Snippet("""
        def run(model):
            evaluator = Evaluator(«model»)
            evaluator.run_epoch()
            evaluator.name
            other.run_epoch()
    """)
    assert snippet.settings() == {3: "unknown", 4: "unknown"}


def test_functions_of_the_file_are_looked_into() -> None:
    snippet = Snippet("""
        def evaluate(net, loader):
            net.eval()
            return [net(x) for x in loader]

        def evaluate_and_return(net):
            net.eval()
            net(1)
            net.train()

        def evaluate_sometimes(net, flag):
            if flag:
                net.eval()

        def restore(net):
            training = net.training
            net.eval()
            net.train(training)

        def show(net):
            print(net)

        def evaluate_all(nets):
            for net in nets:
                net.eval()

        @contextmanager
        def evaluating(net):
            net.eval()
            yield
            net.train()

        def run(model):
            evaluate(«model», loader)
            evaluate(net=model, loader=loader)
            evaluate_and_return(model)
            evaluate_sometimes(model, True)
            restore(model)
            show(model)
            with evaluating(model):
                pass
            evaluate(other, loader)
            evaluate_all([other, model])
    """)
    expected = {34: "eval", 35: "eval", 36: "train", 37: "eval?", 38: "unknown", 40: "unknown", 43: "unknown"}
    assert snippet.settings() == expected


def test_methods_are_looked_into() -> None:
    snippet = Snippet("""
        class Trainer(Base):
            def __init__(self, model):
                self.model = model

            def start(self):
                self.model.train()

            def stop(self):
                self.finish(self.model)

            def finish(self, net):
                net.eval()

            def run(self):
                self.start()
                «self.model»(x)
                self.stop()
                self.on_epoch_end()
                self.log(1)
                callback(self)
    """)
    assert snippet.settings() == {16: "train", 18: "eval", 19: "unknown", 21: "unknown"}


def test_globals_are_followed() -> None:
    snippet = Snippet("""
        model = Net()

        def train():
            model.train()

        def test():
            model.eval()

        for epoch in range(10):
            train()
            «model»(1)
            test()
    """)
    assert snippet.settings() == {2: "unknown", 11: "train", 13: "eval"}


def test_a_trainers_train_is_no_mode() -> None:
    snippet = Snippet("""
        class Trainer:
            def train(self):
                self.model.train()

        def run():
            trainer = Trainer()
            «trainer.model»
            trainer.train()
    """)
    assert snippet.settings() == {7: "unknown", 9: "train"}


# --- what runs the model ---------------------------------------------------------------------------------------------


def test_runs() -> None:
    snippet = Snippet("""
        def evaluate(net):
            net.eval()
            return net(1)

        def step(net):
            loss = criterion(net(1))
            return loss

        def run(model):
            «model»(x)
            model.module(x)
            model.forward(x)
            evaluate(model)
            step(model)
            model.parameters(x)
            other(x)
            model.forward_features(x)
            model()
    """)
    assert snippet.runs() == {11: 11, 12: 12, 13: 13, 15: 7, 18: 18, 19: 19}


BRANCHES = """
def step(net, x, learn=False, kind="a"):
    {begin}
    if learn:
        net(x)
    elif kind == "b":
        net(x)
    else:
        net(x)

def run(model, x, flag, given):
    «model»
    {call}
"""


@pytest.mark.parametrize(
    ("call", "lines"),
    [
        ("step(model, x)", {9}),
        ("step(model, x, True)", {5}),
        ("step(model, x, learn=True)", {5}),
        ("step(model, x, kind='b')", {7}),
        ("step(net=model, x=x, kind='b', learn=False)", {7}),
        ("learn = True; step(model, x, learn)", {5}),
        # what is given is not known
        ("step(model, x, flag)", {5, 9}),
        ("step(model, x, kind=flag)", {7, 9}),
        ("step(model, x, *given)", {5, 7, 9}),
        ("step(model, x, **given)", {5, 7, 9}),
    ],
)
def test_runs_of_the_branch_that_a_call_chooses(call: str, lines: set[int]) -> None:
    snippet = Snippet(BRANCHES.format(begin="pass", call=call))
    assert {run.call.lineno for run in snippet.modes.runs(snippet.scope, snippet.model)} == lines


@pytest.mark.parametrize("begin", ["learn = learn or x.training", "learn = not learn", "if x: learn = True"])
def test_what_a_call_gives_may_be_given_another_value(begin: str) -> None:
    snippet = Snippet(BRANCHES.format(begin=begin, call="step(model, x)"))
    assert 5 in {run.call.lineno for run in snippet.modes.runs(snippet.scope, snippet.model)}


def test_training() -> None:
    snippet = Snippet("""
        def step(net):
            net.train()
            loss = criterion(net(1))
            loss.backward()

        def loss_of(net):
            return criterion(net(1))

        def run(model):
            step(«model»)
            loss = loss_of(model)
            (loss + 1).backward()
            output = model(x)
            print(output.mean())
            with torch.no_grad():
                target = model(x)
            detached = model(x).detach()
            criterion(other(x), target, detached).backward()
            model(x).sum().backward()
    """)
    assert snippet.trained() == [11, 12, 20]
    assert sorted(snippet.runs()) == [12, 14, 17, 18, 20]


def test_models_that_the_file_trains_are_known_in_every_scope_that_has_them() -> None:
    source = Source(
        dedent("""
        model = Net()
        optimizer = SGD(model.parameters())

        def test():
            model(1)

        class Trainer:
            def __init__(self):
                self.net.train()

            def fit(this):
                this.net(1)

            @staticmethod
            def other(net):
                net(1)
    """)
    )
    found = {
        (getattr(scope, "name", ""), ".".join(model.path)) for scope, model in Semantics(source.tree).of(TrainedModels).all
    }
    assert found >= {("", "model"), ("test", "model"), ("__init__", "self.net"), ("fit", "this.net")}
    assert ("other", "net") not in found


# --- whether the mode matters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("model = nn.Dropout()", True),
        ("model = nn.Linear(2, 2)", False),
        ("model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))", True),
        ("model = nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)).cuda()", False),
        ("model = nn.Sequential(*layers)", None),
        ("model = nn.Sequential(first, nn.Linear(2, 2))", None),
        ("model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2, momentum=1))", False),
        ("model = nn.LSTM(2, 2)", False),
        ("model = nn.LSTM(2, 2, 3, dropout=0.5)", True),
        ("model = nn.LSTM(2, 2, dropout=0.5)", False),
        ("model = nn.GRU(2, 2, num_layers=2, dropout=0.5)", True),
        ("model = nn.TransformerEncoderLayer(4, 4)", True),
        ("model = nn.DataParallel(net)", None),
        ("model = torchvision.models.resnet18()", True),
        ("model = build()", None),
        ("model = Imported()", None),
        ("model = MyResNet(18)", True),
        ("model = Plain()", False),
        ("model = Wrapper()", False),
        ("model = Noisy()", True),
        ("model = Functional()", True),
        ("model = OwnMode()", True),
        ("model = WithImported()", None),
        ("model = OfUnknownBase()", None),
        ("model = OfAnotherLibrary()", False),
    ],
)
def test_whether_the_mode_matters(code: str, expected: bool | None) -> None:
    semantics, (node,) = marked(f"""
import torchvision
import exercise.nn
from elsewhere import build, Base, Block, Imported, MyResNet

class Plain(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

    def forward(self, x):
        return F.relu(self.layers[0](x))

class Wrapper(nn.Module):
    def __init__(self):
        self.inner = Plain()

class Noisy(nn.Module):
    def __init__(self):
        self.inner = Plain()
        self.drop = nn.Dropout2d(0.1)

class Functional(nn.Module):
    def forward(self, x):
        return F.dropout(x, training=self.training)

class OwnMode(nn.Module):
    def forward(self, x):
        return x if self.training else 2 * x

class WithImported(nn.Module):
    def __init__(self):
        self.block = Block(2)

class OfUnknownBase(Base):
    def forward(self, x):
        return x

class OfAnotherLibrary(exercise.nn.Module):
    def __init__(self):
        self.drop = exercise.nn.Dropout(0.1)

{code}
«model»(x)
""")
    assert isinstance(node, ast.expr)
    assert ModeDependence(semantics).of(node) is expected


def test_functions_that_know_nothing_of_a_model_are_left_out() -> None:
    text = """
        «net» = build()
        def runs():
            net(x)
        def calls():
            runs()
        def other(net):
            net.eval()
        def another():
            total = compute()
        def sets_all():
            for part in parts():
                part.eval()
        """
    snippet = Snippet(dedent(text))
    scopes = [scope for scope, _ in snippet.semantics.of(TrainedModels).scopes_of(snippet.model, snippet.scope)]
    assert [scope.name for scope in scopes if isinstance(scope, ast.FunctionDef)] == ["runs", "calls", "sets_all"]
    assert list(snippet.settings()) == [2]
