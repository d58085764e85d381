"""Evaluations that autograd records for nothing: of each snippet, what starts with the marked run of a model."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from marked import marked
from torchlint.semantics.modes.evaluations import Evaluations, RecordedEvaluation


def recorded(snippet: str) -> RecordedEvaluation[ast.expr, ast.stmt] | None:
    """The evaluation that starts with the marked call."""
    semantics, (call,) = marked("import torch\n" + dedent(snippet))
    assert isinstance(call, ast.Call)
    found = semantics.of(Evaluations).recorded.get(call, [None])
    assert len(found) == 1
    return found[0]


def function(body: str, name: str = "run") -> str:
    return f"def {name}(model, loader, flag, results):\n    model.eval()\n    {body}\n"


@pytest.mark.parametrize(
    "snippet",
    [
        function("for x in loader:\n        print(«model(x)».argmax())"),
        function("print([«model(x)».argmax() for x in loader])", "evaluate"),
        function("return «model(1)».argmax()", "predict"),
        function("while flag:\n        flag = «model(1)» > 0"),
        "class Runner:\n    def test(self):\n        self.net.eval()\n        for x in data:\n            print(«self.net(x)»)",
    ],
)
def test_a_function_that_does_nothing_else(snippet: str) -> None:
    found = recorded(snippet)
    assert found is not None
    assert isinstance(found.function, ast.FunctionDef)
    assert (found.statements, found.mendable) == ((), True)


@pytest.mark.parametrize(
    ("run", "is_one"),
    [
        ("_ = «model(1)»", False),
        ("_ = «model(1)» if flag else None", False),
        ("«model(1)»", False),
        ("for _ in loader: «model(1)»", True),
        ("y = «model(1)»", True),
    ],
)
def test_a_run_that_only_warms_up_is_none(run: str, is_one: bool) -> None:
    found = recorded(f"def evaluate(model, loader, flag):\n    model.eval()\n    {run}\n    print(y)\n")
    assert (found is not None) is is_one


@pytest.mark.parametrize(
    ("loop", "shown", "printed"),
    [
        ("for i in range(10):\n    y = «model(x[i])»\n    print(y.argmax())", True, True),
        ("for i in range(500):\n    y = «model(x[i])»\n    print(y.argmax())", False, True),
        ("for i in range(n):\n    «model(x[i])».argmax()", False, False),
        ("for i in range(10):\n    total += «model(x[i])».argmax().item()", False, False),
        ("for i in range(10):\n    for x in loader:\n        print(«model(x)».argmax())", False, False),
        ("for x in loader:\n    y = «model(x)».argmax()\n    break", True, False),
        ("for x in loader:\n    total += «model(x)».argmax().item()\n    break", True, False),
        ("for x in loader:\n    total += «model(x)».argmax().item()\n    if total > 3:\n        break", False, False),
        ("for x in loader:\n    y = «model(x)».argmax()\n    if y > 3:\n        break", False, False),
        ("for x in loader:\n    hits += «model(x)».argmax() == 1\n    print(hits)", False, False),
        ("for x in loader:\n    y = «model(x)».argmax()\n    print(y)", False, True),
    ],
)
def test_what_is_looked_at_one_by_one(loop: str, shown: bool, printed: bool) -> None:
    found = recorded("model.eval()\n" + loop)
    assert found is not None
    assert (found.is_shown, found.is_printed) == (shown, printed)


TRAINS = "for x in data:\n    model(x).sum().backward()\n    optimizer.step()\n"


@pytest.mark.parametrize(
    ("snippet", "count"),
    [
        (TRAINS + "model.eval()\nfor x in test:\n    print(«model(x)».argmax())", 1),
        (TRAINS + "    model.eval()\n    y = «model(x)»\n    print(y.argmax())", 1),
        (TRAINS + "    model.eval()\n    y = «model(x)»\n    n = 1\n    z = model(y)", 3),
        (TRAINS + "    model.eval()\n    y = «model(x)»\n    y.grad\n    z = model(y)", 1),
    ],
)
def test_statements_where_training_stands_beside_them(snippet: str, count: int) -> None:
    found = recorded(snippet)
    assert found is not None
    assert found.function is None
    assert len(found.statements) == count


@pytest.mark.parametrize(
    "snippet",
    [
        function("print(«model(1)»)"),  # a single call, and not called like an evaluation
        function("for x in loader:\n        «model(x)».sum().backward()"),
        function("with torch.no_grad():\n        for x in loader:\n            print(«model(x)»)"),
        function("with torch.set_grad_enabled(flag):\n        for x in loader:\n            print(«model(x)»)"),
        function("model.train()\n    for x in loader:\n        print(«model(x)»)"),
        function("for x in loader:\n        print(«model(x)», perturb(x))"),
        function("return [«model(x)» for x in loader]"),  # a caller may want the graphs
        function("for x in loader:\n        results.append(«model(x)»)"),
        function("for x in loader:\n        assert «model(x)» is not None", "test_it"),  # a test of the code
        "class Net(torch.nn.Module):\n    def f(self):\n        self.eval()\n        for x in xs:\n            go(«self(x)»)",
    ],
)
def test_what_needs_the_graph_or_may(snippet: str) -> None:
    assert recorded(snippet) is None


@pytest.mark.parametrize(
    ("snippet", "mendable"),
    [
        (function("for x in loader:\n        yield «model(x)».argmax()"), False),
        ("async " + function("for x in loader:\n        print(«model(x)»)"), False),
        (function("for x in loader:\n        results.append(«model(x)»)", "predict"), True),
    ],
)
def test_whether_autograd_can_be_turned_off(snippet: str, mendable: bool) -> None:
    found = recorded(snippet)
    assert found is not None
    assert found.mendable is mendable


def test_a_file_that_does_not_speak_of_torch() -> None:
    semantics, (call,) = marked(function("for x in loader:\n        print(«model(x)».argmax())"))
    assert call not in semantics.of(Evaluations).recorded


HELPER = """
def {helper}(model, loader):
    model.eval()
    outputs = []
    for x in loader:
        outputs.append(«model(x)»)
    return {result}(outputs)

def {caller}(model, loader):
    {before}
    return {helper}(model, loader).argmax(1)
"""


@pytest.mark.parametrize(
    ("caller", "before", "expected"),
    [
        ("test", "pass", True),
        ("compute", "pass", False),
        ("test", "model(1).sum().backward()", False),
    ],
)
def test_a_helper_may_hand_out_graphs_to_an_evaluation(caller: str, before: str, expected: bool) -> None:
    text = HELPER.format(helper="pass_data", caller=caller, result="torch.cat", before=before)
    assert (recorded(text) is not None) is expected


@pytest.mark.parametrize(
    ("data", "more", "expected"),
    [
        ("test_loader", "", True),
        ("self.valid_data", "", True),
        ("loader", "", False),
        ("train_loader", "", False),
        ("test_loader", "torch.autograd.grad(out[-1].sum(), x)", False),
    ],
)
def test_what_goes_through_data_of_an_evaluation_may_hand_out_graphs(data: str, more: str, expected: bool) -> None:
    snippet = f"""
    class Runner:
        def __init__(self, net, test_loader):
            self.net = net

        def collect(self, loader, test_loader, train_loader):
            self.net.eval()
            out = []
            for x in {data}:
                out.append(«self.net(x)»)
                {more}
            return out
    """
    assert (recorded(snippet) is not None) is expected


def test_arrays_have_no_graph_to_hand_out() -> None:
    text = HELPER.format(helper="latent", caller="compute", result="np.concatenate", before="pass")
    assert recorded("import numpy as np\n" + text) is not None


def test_another_loop_may_have_a_variable_of_that_name() -> None:
    loops = "for model in names:\n    print(model)\n"
    body = (
        "model = torch.nn.Linear(2, 2)\ndef test(loader):\n    model.eval()\n    for x in loader:\n        print(«model(x)»)\n"
    )
    assert recorded(loops + body) is not None
    assert recorded(loops.replace("names", "(model, head)") + body.replace("model.eval()", "head.eval()")) is None


IN_A_DICT = """
class Trainer:
    def __init__(self, models):
        self.models = models

    def step(self, x):
        print(self.models["critic"](x).argmax())

    def run(self, data):
        for {target} in self.models{how}:
            {model}.eval()
        for x in data:
            «self.step(x)»
"""


@pytest.mark.parametrize(
    ("target", "how", "model", "expected"),
    [
        ("key", "", "self.models[key]", True),
        ("key", ".keys()", "self.models[key]", True),
        ("model", ".values()", "model", True),
        ("_, model", ".items()", "model", True),
        ("key", ".keys()", "self.others[key]", False),
        ("key, _", ".items()", "key", False),
    ],
)
def test_models_may_be_in_a_dict(target: str, how: str, model: str, expected: bool) -> None:
    assert (recorded(IN_A_DICT.format(target=target, how=how, model=model)) is not None) is expected


def test_an_alias_may_be_made_in_branches() -> None:
    body = "if flag:\n        net = {}\n    else:\n        net = model\n    for x in loader:\n        print(«net(x)».argmax())"
    assert recorded(function(body.format("model.module"))) is not None
    assert recorded(function(body.format("other"))) is None


ROUND = """
def run(model, x, y, target):
    model(x).sum().backward()
    optimizer.step()
    model.eval()
    y = {}
    print(y)

{}
"""


@pytest.mark.parametrize(
    ("run", "calls", "expected"),
    [
        ("«model(x)».argmax(1)", "for x, y in data: run(net, x, y, 0)", True),
        ("«model(x)».max(1)[0].detach()", "for x, y in data: run(net, x, y, 0)", False),  # its graph is gone at once
        ("«model(x)».argmax(1)", "run(net, x, y, 0)", False),  # a single call
    ],
)
def test_a_round_of_a_training_may_be_a_function(run: str, calls: str, expected: bool) -> None:
    assert (recorded(ROUND.format(run, calls)) is not None) is expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("model.eval()\n        n += («model(x)».argmax(1) == 1).sum().item()", True),
        ("model.eval()\n        n += 1\n        print(«model(x)»)", False),
    ],
)
def test_each_round_may_set_the_mode(body: str, expected: bool) -> None:
    assert (recorded(f"def run(model, loader, n):\n    for x in loader:\n        {body}\n    return n") is not None) is expected


EACH_ROUND = """
def run(model, loader, optimizer, {given}):
    for x, y in loader:
        {flag}
        if training:
            model.train()
        else:
            model.eval()
        loss = loss_of(«model(x)», y)
        if training:
            loss.backward()
            optimizer.step()
        print(loss.item())

run(net, loader, optimizer, True)
run(net, loader, optimizer, False)
"""


@pytest.mark.parametrize(
    ("given", "flag", "expected"),
    [
        ("training", "pass", True),
        ("part", "training = part == x", False),  # not all rounds are one or the other
    ],
)
def test_each_round_may_set_the_mode_by_what_is_given(given: str, flag: str, expected: bool) -> None:
    assert (recorded(EACH_ROUND.format(given=given, flag=flag)) is not None) is expected


def test_a_prediction_that_is_cut_at_once_is_left_alone() -> None:
    assert recorded(function("return «model(1)».detach()", "predict")) is None
    assert recorded(function("return [«model(x)».detach() for x in loader]", "predict")) is not None


OBJECT = """
import torch
from nets import Net

class Bot{bases}:
    def __init__(self, path):
        self.net = Net()
        {made}

    def {name}(self, x):
        {body}
"""
LOOPED = (
    "token = x\n        while token.item() != 2:\n            token = «self.net(token)».argmax(-1)\n        return token.item()"
)


@pytest.mark.parametrize(
    ("bases", "made", "name", "body", "expected"),
    [
        ("", "self.net.eval()", "answer", LOOPED, True),
        ("", "self.net = self.net.cuda().eval()", "answer", LOOPED, True),
        ("", "self.load(path)\n\n    def load(self, path):\n        self.net.eval()", "answer", LOOPED, True),
        ("", "self.net.eval()", "answer", "return «self.net(x)».argmax().item()", False),  # once
        ("", "self.net.eval()", "answer", "with torch.no_grad():\n            " + LOOPED.replace("\n", "\n    "), False),
        (
            "",
            "self.net.eval()",
            "loss",
            "t = 0\n        for y in x:\n            t += «self.net(y)»\n        return t",
            False,
        ),
        ("", "pass", "answer", LOOPED, False),
        ("", "self.net.train()\n        self.net.eval()", "answer", LOOPED, False),  # somebody trains it
        ("", "self.net.eval()\n\n    def fit(self, x):\n        self.net(x).sum().backward()", "answer", LOOPED, False),
        ("(torch.nn.Module)", "self.net.eval()", "answer", LOOPED, False),  # whose callers rule autograd
        ("(Handler)", "self.net.eval()", "answer", LOOPED, False),
    ],
)
def test_an_object_may_leave_its_model_in_evaluation_mode(bases: str, made: str, name: str, body: str, expected: bool) -> None:
    found = recorded(OBJECT.format(bases=bases, made=made, name=name, body=body))
    assert (found is not None) is expected
    assert found is None or isinstance(found.function, ast.FunctionDef)


PROGRAM = """
import torch
from nets import Net
model = Net()
model.eval()

def answer(images):
    return [«model(image)».argmax().item() for image in images]
    {body}

{more}
"""


@pytest.mark.parametrize(
    ("body", "more", "expected"),
    [
        ("pass", "", True),
        ("pass", "model.train()", False),
        ("model.train()", "", False),
        ("pass", "def learn(x):\n    model(x).sum().backward()", True),
    ],
)
def test_a_program_may_leave_its_model_in_evaluation_mode(body: str, more: str, expected: bool) -> None:
    assert (recorded(PROGRAM.format(body=body, more=more)) is not None) is expected


@pytest.mark.parametrize(
    ("more", "expected"), [("", True), ("loss.backward()", False), ("env.step(action)", False), ("while path:\n    pass", True)]
)
def test_a_loop_of_a_program_that_trains_nothing_may_set_the_mode(more: str, expected: bool) -> None:
    round_of = "net = net.eval()\n        out = «net(read(path))»\n        save(path, out)"
    text = f"def segment(net, state, paths):\n    {{}}\n    for path in paths:\n        {round_of}\n{more}\n"
    assert (recorded(text.format("net.load_state_dict(state)")) is not None) is expected
    assert recorded(text.format("pass")) is None


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("told(out)", True),
        ("grad_cam.cal(out[0], 1)", False),
        ("attack(out)", False),
        ("attack(x)", True),
    ],
)
def test_what_comes_out_may_be_differentiated_later(more: str, expected: bool) -> None:
    text = "def run(net, loader):\n    for x, y in loader:\n        net.eval()\n        out = «net(x)»\n        " + more
    text += "\n        net.train()\n        net(x).sum().backward()\n"
    assert (recorded(text) is not None) is expected


@pytest.mark.parametrize(
    ("body", "is_shown"),
    [
        ("ax.imshow(out)\n    plt.show()", True),
        ("hits += out == y\n    plt.show()", False),
        ("plt.savefig(y)", False),
        ("axes[y].imshow(out)", True),
        ("axes[y].imshow(out)\n    hits += out == y", False),
    ],
)
def test_what_is_shown_is_looked_at(body: str, is_shown: bool) -> None:
    found = recorded(f"net = torch.load(path)\nnet.eval()\nfor x, y in data:\n    out = «net(x)»\n    {body}\n")
    assert found is not None
    assert found.is_shown is is_shown


@pytest.mark.parametrize(
    ("more", "is_shown"), [("cv2.waitKey(1)", True), ("cv2.waitKey(1)\n        n += y", False), ("n = y", False)]
)
def test_a_function_may_do_nothing_but_show(more: str, is_shown: bool) -> None:
    found = recorded(function(f"while flag:\n        y = «model(flag)».argmax().item()\n        {more}", "predict"))
    assert found is not None
    assert isinstance(found.function, ast.FunctionDef)
    assert found.is_shown is is_shown


@pytest.mark.parametrize(
    ("more", "is_shown"),
    [
        ("save_image(y.detach(), flag)", True),
        ("y = y.data.cpu()\n    utils.save_image(utils.make_grid(y), flag)", True),
        ("for each in y.detach():\n        save_image(each, flag)", True),  # whose graph has gone
        ("for each in y:\n        save_image(each, flag)", False),
        ("print(y.argmax())", False),
    ],
)
def test_one_picture_of_a_function_without_loops(more: str, is_shown: bool) -> None:
    found = recorded(function(f"y = «model(flag)»\n    {more}", "evaluate"))
    assert found is not None
    assert found.is_shown is is_shown


FLAGGED = """
class Trainer:
    def answer(self, x, train):
        if train:
            out = «self.net(x)»
        else:
            {quiet}
                out = self.net(x)
        return out

    def learn(self, loader, train):
        for x, y in loader:
            loss = (self.answer(x, train) - y).sum()
            self.update(loss, train)
            self.total += loss.item()

    def update(self, loss, train):
        if train:
            loss.backward()

    def validate(self, loader):
        self.net.eval()
        self.learn(loader, {flag})
"""


@pytest.mark.parametrize("flag", ["False", "True"])
def test_flags_are_handed_on(flag: str) -> None:
    semantics, _ = marked("import torch\n" + FLAGGED.format(quiet="with torch.no_grad():", flag=flag))
    assert not semantics.of(Evaluations).recorded
    semantics, _ = marked("import torch\n" + FLAGGED.format(quiet="if x:", flag=flag))
    assert bool(semantics.of(Evaluations).recorded) is (flag == "False")


CONDITIONAL = """
net = build()
if exists(path):
    net.load_state_dict(read(path))
    net.eval()
{between}
for x in asked():
    print(«net(x)».argmax())
{more}
"""


@pytest.mark.parametrize(
    ("between", "more", "expected"),
    [
        ("", "", True),
        ("print(path)", "net.train()", True),
        ("net.train()", "", False),
        ("", "def learn(x):\n    net(x).sum().backward()", False),
        ("", "optimizer.step()", False),
    ],
)
def test_a_program_that_trains_nothing_may_set_the_mode_under_a_condition(between: str, more: str, expected: bool) -> None:
    found = recorded(CONDITIONAL.format(between=between, more=more))
    assert (found is not None) is expected
    if found is not None:
        (statement,) = found.statements
        assert isinstance(statement, ast.For)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("print(meter.val())", False),
        ("meter.val()", False),
        ("val(net)", True),
        ("print(val(net))", True),
    ],
)
def test_methods_of_that_name_are_no_calls_of_a_function(more: str, expected: bool) -> None:
    text = (
        "def val(model):\n    model.eval()\n    for x in loader:\n        print(«model(x)»)\n\n\n"
        f"with torch.no_grad():\n    val(net)\n{more}"
    )
    assert (recorded(text) is not None) is expected


def test_a_method_may_be_called_on_anything() -> None:
    text = (
        "class Tester:\n    def val(self, model):\n"
        "        model.eval()\n        for x in loader:\n            print(«model(x)»)\n"
        "\n    def run(self, other):\n        with torch.no_grad():\n            self.val(net)\n        other.val(net)\n"
    )
    assert recorded(text) is not None


@pytest.mark.parametrize("call", ["getattr(model, name)()", 'getattr(model, "eval" if flag else "train")()'])
def test_a_mode_may_be_called_by_a_name_that_the_program_has(call: str) -> None:
    body = f"    {call}\n    for x in loader:\n        print(model(x))\n"
    semantics, _ = marked(f"import torch\ndef run(model, loader, flag, name):\n{body}")
    assert not semantics.of(Evaluations).recorded


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("encoder", 1),
        ("policy_network", 1),
        ("target_network", 1),
        ("update_network", 0),
        ("save_network", 0),
        ("load_network", 0),
        ("get_encoder", 0),
        ("reset_decoder", 0),
        ("freeze_backbone", 0),
    ],
)
def test_what_is_done_with_a_part_runs_no_model(name: str, expected: int) -> None:
    snippet = (
        "import torch\nfrom models import make\ndef f(loader):\n    model = make()\n    model.zero_grad()\n    model.eval()\n"
        f"    total = 0\n    for x in loader:\n        total += «model.{name}(x)».sum().item()\n    return total\n"
    )
    semantics, (node,) = marked(snippet)
    assert isinstance(node, ast.Call)
    assert len(semantics.of(Evaluations).recorded.get(node, [])) == expected
