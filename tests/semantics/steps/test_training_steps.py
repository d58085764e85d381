"""Which calls make a training step, of which optimizer, and what may interfere where the file does not show it."""

from __future__ import annotations

import ast
import textwrap

import pytest

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import LOOPS
from torchlint.semantics.steps.acts import Deed
from torchlint.semantics.steps.rounds import Rounds
from torchlint.semantics.steps.training_steps import TrainingSteps
from torchlint.semantics.steps.unseen_code import UnseenCode
from torchlint.semantics.training.optimizers import Optimizers


def semantics(text: str) -> Semantics:
    return Semantics(ast.parse(textwrap.dedent(text)))


def found(nodes: list[ast.expr]) -> list[str]:
    return [ast.unparse(node) for node in nodes]


def call(meaning: Semantics, text: str) -> ast.Call:
    """The first call that is spelled like this."""
    return next(node for node in meaning.tree.nodes if isinstance(node, ast.Call) and ast.unparse(node) == text)


def loop(meaning: Semantics) -> ast.For | ast.AsyncFor | ast.While:
    return next(node for node in meaning.tree.nodes if isinstance(node, LOOPS))


# --- the acts --------------------------------------------------------------------------------------------------------


def test_a_backward_is_of_a_tensor_an_engine_or_the_function() -> None:
    meaning = semantics(
        """
        import torch
        from apex import amp
        def train(accelerator, scaler, optimizer, loss, other, third, fourth):
            loss.backward()
            accelerator.backward(other)
            scaler.scale(third).backward()
            torch.autograd.backward(fourth)
            with amp.scale_loss(loss, optimizer) as scaled:
                scaled.backward()
        """
    )
    assert found([act.loss for act in meaning.of(TrainingSteps).backwards]) == ["loss", "other", "third", "fourth", "scaled"]


MADE = """
    import torch
    from torch import optim
    optimizer = optim.SGD(model.parameters(), lr=0.1)
"""


@pytest.mark.parametrize(
    ("statement", "stepped"),
    [
        ("optimizer.step()", ["optimizer"]),
        ("scaler.step(optimizer)", ["optimizer"]),
        ("xm.optimizer_step(optimizer)", ["optimizer"]),
        ("optimizer.step(closure)", []),
        ("scheduler.step()", []),
        ("env.step(action)", []),
    ],
)
def test_a_step_is_of_an_optimizer_that_the_file_makes(statement: str, stepped: list[str]) -> None:
    meaning = semantics(textwrap.dedent(MADE) + statement)
    assert found([act.optimizer for act in meaning.of(TrainingSteps).steps]) == stepped


def test_zero_grads_are_of_optimizers_and_modules() -> None:
    meaning = semantics("optimizer.zero_grad()\nself.model.zero_grad(set_to_none=True)\nzero_grad()")
    assert found([act.of for act in meaning.of(TrainingSteps).zero_grads]) == ["optimizer", "self.model"]


def test_what_has_step_and_zero_grad_acts_as_an_optimizer() -> None:
    meaning = semantics("a.step()\na.zero_grad()\nb.step()\nc.zero_grad()")
    acting = {name: call(meaning, text).func.value for name, text in (("a", "a.step()"), ("b", "b.step()"))}  # type: ignore[attr-defined]
    assert meaning.of(Optimizers).acts_as_optimizer(acting["a"])
    assert not meaning.of(Optimizers).acts_as_optimizer(acting["b"])


def test_a_grad_scaler_is_known() -> None:
    meaning = semantics("import torch\nscaler = torch.cuda.amp.GradScaler()\nscaler.update()")
    kind = meaning.kind(call(meaning, "scaler.update()").func.value)  # type: ignore[attr-defined]
    assert (kind.type, kind.name) == (Type.INSTANCE, "torch.cuda.amp.GradScaler")


# --- which optimizer -------------------------------------------------------------------------------------------------

OPTIMIZERS = """
from fancy import wrap
from torch.optim import SGD, Adam, Optimizer

class Own(SGD):
    def step(self, closure=None):
        self.zero_grad()

def make(model):
    return Adam(model.parameters())

class Trainer:
    def __init__(self, model, other):
        self.one = SGD(model.parameters(), lr=0.1)
        self.two = make(model)
        optimizer = Adam(model.parameters())
        self.three = optimizer
        self.four = wrap(optimizer)
        self.five = other

    def run(self, given: Optimizer, unknown, flag, passed):
        either = SGD([w]) if flag else Adam([w])
        prepared, wrapped = accelerator.prepare(either, unknown)
        use(prepared, wrapped, self.one, self.two, self.three, self.four, self.five, given, unknown, either, passed, Own([w]))

    def start(self):
        self.run(None, wrap(1), True, self.one)
"""


def test_optimizers_are_traced_to_where_they_are_made() -> None:
    meaning = semantics(OPTIMIZERS)
    arguments = next(node for node in meaning.tree.nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "use").args
    traced = {ast.unparse(argument): meaning.of(Optimizers).makings(argument) for argument in arguments}
    made = {name: sorted(ast.unparse(making) for making in makings) for name, makings in traced.items() if makings}
    assert made == {
        "prepared": ["Adam([w])", "SGD([w])"],
        "self.one": ["SGD(model.parameters(), lr=0.1)"],
        "self.two": ["Adam(model.parameters())"],
        "self.three": ["Adam(model.parameters())"],
        "given": ["given: Optimizer"],
        "either": ["Adam([w])", "SGD([w])"],
        "passed": ["SGD(model.parameters(), lr=0.1)"],
    }


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("SGD(g.parameters(), 1)", "SGD(d.parameters(), 1)", True),
        ("SGD(m.g.parameters(), 1)", "SGD(m.d.parameters(), 1)", True),
        ("SGD(m.parameters(), 1)", "SGD(m.d.parameters(), 1)", False),
        ("SGD([*g.parameters(), *d.parameters()], 1)", "SGD(d.parameters(), 1)", False),
        ("SGD(m.weight_parameters(), 1)", "SGD([space.alpha], 1)", True),
        ("SGD(m.weight_parameters(), 1)", "SGD([m.alpha], 1)", False),
        ("SGD([scale, shift], 1)", "SGD([shift], 1)", False),
        ("SGD(params, 1)", "SGD(d.parameters(), 1)", False),
        ("wrap(g)", "SGD(d.parameters(), 1)", False),
    ],
)
def test_optimizers_are_apart_where_their_parameters_surely_are(one: str, other: str, apart: bool) -> None:
    meaning = semantics(f"from torch.optim import SGD\none = {one}\nother = {other}\nuse(one, other)")
    assert meaning.of(Optimizers).apart(*call(meaning, "use(one, other)").args) is apart


def test_the_same_spelling_is_the_same_object_where_it_is_bound_alike() -> None:
    meaning = semantics(
        """
        def f(a):
            use(a, a)
            b = a
            a = other()
            use(b, a)
        class C:
            def f(self): use(self.a)
            def g(self): use(self.a)
        """
    )
    uses = [node for node in meaning.tree.nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "use"]
    same = meaning.of(Optimizers).same
    assert same(*uses[0].args)
    assert not same(*uses[1].args)
    assert not same(uses[0].args[0], uses[1].args[1])
    assert same(uses[2].args[0], uses[3].args[0])


# --- what a round runs -----------------------------------------------------------------------------------------------


def test_a_round_runs_the_functions_that_it_calls() -> None:
    meaning = semantics(
        """
        class Trainer:
            def work(self, x):
                loss = self.model(x).sum()
                loss.backward()
            def other(self, loss):
                loss.backward()
            def fit(self, loader):
                for x in loader:
                    self.work(x)
        """
    )
    acts = meaning.of(Rounds).of_loop(loop(meaning)).of(Deed.BACKWARD)
    places = [(ast.unparse(each.act.call), ast.unparse(each.place)) for each in acts]
    assert places == [("loss.backward()", "self.work(x)")]


def test_a_round_may_run_a_function_in_several_places() -> None:
    meaning = semantics(
        """
        class Trainer:
            def work(self, x):
                loss = self.model(x).sum()
                loss.backward()
            def check(self, x):
                self.work(x)
            def fit(self, loader):
                for x in loader:
                    self.check(x)
                    self.work(x)
        """
    )
    round_ = meaning.of(Rounds).of_loop(loop(meaning))
    [backward] = {each.act.call for each in round_.of(Deed.BACKWARD)}
    assert sorted(map(ast.unparse, round_.places(backward))) == ["self.check(x)", "self.work(x)"]


def test_a_round_of_a_loop_leaves_out_what_stands_elsewhere_and_closures() -> None:
    meaning = semantics(
        """
        import torch
        def closure():
            loss = model(x).sum()
            loss.backward()
            return loss
        for x in loader:
            optimizer.step(closure)
        else:
            model(x).sum().backward()
        model(x).sum().backward()
        """
    )
    round_ = meaning.of(Rounds).of_loop(loop(meaning))
    assert round_.of(Deed.BACKWARD) == []


WIPING = [
    "optimizer.zero_grad()",
    "model.zero_grad()",
    "zero_gradients(x)",
    "model.reset_grads()",
    "p.grad = None",
    "p.grad.zero_()",
    "p.grad.data = g",
    "del p.grad",
    "callbacks.on_batch_begin()",
    "run_hooks()",
    "unknown_step(optimizer)",
    "train_one(model)",
    "engine.attach([optimizer])",
]
LEAVING = [
    "other.zero_grad()",
    "model(x)",
    "print(optimizer)",
    "adjust_learning_rate(optimizer, 1)",
    "torch.nn.utils.clip_grad_norm_(model.parameters(), 1)",
    "scaler.unscale_(optimizer)",
    "scheduler.step()",
    "logger.log(x)",
    "p.grad.clone()",
    "model.train()",
]


@pytest.mark.parametrize(("statement", "wipes"), [*((text, True) for text in WIPING), *((text, False) for text in LEAVING)])
def test_what_may_wipe_gradients(statement: str, wipes: bool) -> None:
    meaning = semantics(
        f"""
        import torch
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        other = torch.optim.SGD(another.parameters(), lr=0.1)
        for x in loader:
            {statement}
            optimizer.step()
        """
    )
    steps = meaning.of(TrainingSteps)
    assert meaning.of(UnseenCode).may_wipe(meaning.of(Rounds).of_loop(loop(meaning)), steps.steps[0].optimizer) is wipes


def test_a_method_of_an_unknown_base_class_may_wipe() -> None:
    text = """
        import torch
        from fancy import Base
        class Trainer(Base):
            def __init__(self, model):
                self.model = model
                self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            def fit(self, loader):
                for x in loader:
                    self.{method}(x)
                    self.optimizer.step()
        """
    for method, wipes in (("begin", True), ("model", False), ("log", False)):
        meaning = semantics(text.format(method=method))
        steps = meaning.of(TrainingSteps)
        assert meaning.of(UnseenCode).may_wipe(meaning.of(Rounds).of_loop(loop(meaning)), steps.steps[0].optimizer) is wipes


@pytest.mark.parametrize(
    ("statement", "may"),
    [
        ("loss.backward()", True),
        ("compute(x)", True),
        ("self.compute(x)", True),
        ("torch.autograd.backward(x)", True),
        ("torch.nn.utils.clip_grad_norm_(p, 1)", False),
        ("print(x)", False),
        ("optimizer.zero_grad()", False),
        ("scheduler.step()", False),
        ("writer.add_scalar('a', 1)", False),
        ("torch.ones(1).add_(1)", False),
    ],
)
def test_what_may_back_propagate(statement: str, may: bool) -> None:
    meaning = semantics(f"import torch\n{statement}")
    assert meaning.of(UnseenCode).may_back_propagate(call(meaning, statement)) is may
