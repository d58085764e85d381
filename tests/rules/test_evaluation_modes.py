"""The rules about evaluation and modes, TPL304, TPL305, TPL306 and TPL504: how they edit, and what depends on the settings."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest

import torchlint
from command import torchlint_
from torchlint.diagnostic import Applicability
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules.selection import select_rules
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def fixed(text: str, code: str) -> str:
    return fix(Source(dedent(text)), select_rules(select=[code]), Applicability.UNSAFE).text


def applicabilities(text: str, code: str) -> list[Applicability | None]:
    return [found.fix.applicability if found.fix else None for found in lint(Source(dedent(text)), select_rules(select=[code]))]


EVALUATION = """
def evaluate(model, loader):
    model.eval()
    for x, y in loader:
        print(model(x).argmax(1) == y)
"""


def test_a_decorator_stands_next_to_the_function_and_imports_torch_where_nothing_does() -> None:
    text = """
        from torch import nn


        class Trainer:
            @staticmethod
            @logged  # with its time
            def evaluate(model, loader):
                model.eval()
                for x in loader:
                    print(model(x).argmax(1))
    """
    expected = """
        import torch
        from torch import nn


        class Trainer:
            @staticmethod
            @logged  # with its time
            @torch.no_grad()
            def evaluate(model, loader):
                model.eval()
                for x in loader:
                    print(model(x).argmax(1))
    """
    assert fixed(text, "TPL304") == dedent(expected)


def test_torch_is_spelt_as_in_the_file() -> None:
    assert fixed("import torch as t\n" + EVALUATION, "TPL304") == "import torch as t\n" + EVALUATION.replace(
        "def", "@t.no_grad()\ndef"
    )


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", Applicability.UNSAFE),  # a model from another file, of which nobody here knows
        ("def penalty(model, x):\n    return torch.autograd.grad(model(x).sum(), x)[0]\n", Applicability.UNSAFE),
        ("forces = model.forces\n", Applicability.UNSAFE),
        ("for p in model.parameters():\n    p.requires_grad = False\n", Applicability.UNSAFE),
    ],
)
def test_models_of_files_that_work_with_gradients_may_need_them(more: str, expected: Applicability) -> None:
    assert applicabilities("import torch\n" + EVALUATION + more, "TPL304") == [expected]


def test_a_torch_without_no_grad_is_not_told_to_use_it() -> None:
    source = Source("import torch\n" + EVALUATION)
    rules = select_rules(select=["TPL304"])
    assert len(lint(source, rules, Options(target=TorchVersion(0, 4)))) == 1
    assert lint(source, rules, Options(target=TorchVersion(0, 3))) == []


@pytest.mark.parametrize(
    "around",
    [
        "with torch.no_grad():\n        {}",
        "with torch.inference_mode():\n        {}",
        "with torch.set_grad_enabled(flag):\n        {}",
        "with context.no_gradients():\n        {}",
        "torch.set_grad_enabled(False)\n    {}",
    ],
)
def test_contexts_that_may_turn_autograd_off(around: str) -> None:
    text = "import torch\ndef evaluate(model, loader):\n    model.eval()\n    " + around.format(
        "[model(x).argmax() for x in loader]"
    )
    assert applicabilities(text, "TPL304") == []


TRAINING = """
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, 2), nn.{layer})

    def forward(self, x):
        return self.layers(x)

def run(loader, test_loader):
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(9):
        {top}
        for x, y in loader:
            F.cross_entropy(net(x), y).backward()
            optimizer.step()
        {before}
        with torch.no_grad():
            correct = sum((net(x).argmax(1) == y).sum() for x, y in test_loader)
"""


@pytest.mark.parametrize(
    ("layer", "top", "before", "code"),
    [
        ("Dropout()", "pass", "pass", "TPL305"),
        ("Dropout()", "net.train()", "pass", "TPL305"),
        ("Dropout()", "net.train()", "net.eval()", None),
        ("Dropout()", "pass", "net.eval()", "TPL306"),
        ("Dropout()", "pass", "evaluating(net)", None),
        ("Dropout()", "net.eval()", "pass", None),
        ("Dropout()", "net.train(epoch > 0)", "pass", None),
        ("LayerNorm(2)", "pass", "pass", None),
        ("LayerNorm(2)", "pass", "net.eval()", None),
    ],
)
def test_the_mode_of_evaluation_and_training(layer: str, top: str, before: str, code: str | None) -> None:
    source = Source(TRAINING.format(layer=layer, top=top, before=before))
    found = [diagnostic.code for diagnostic in lint(source, select_rules(select=["TPL304", "TPL305", "TPL306", "TPL504"]))]
    assert found == ([code] if code else [])


def test_training_is_gone_back_to_only_where_it_goes_on() -> None:
    text = TRAINING.format(layer="Dropout()", top="net.train()", before="pass")
    assert "net.train()" not in fixed(text, "TPL305").partition("net.eval()")[2]
    text = TRAINING.format(layer="Dropout()", top="pass", before="pass")
    assert fixed(text, "TPL305").endswith("in test_loader)\n        net.train()\n")


def test_together_the_fixes_leave_nothing() -> None:
    text = TRAINING.format(layer="Dropout()", top="pass", before="pass").replace("with torch.no_grad():", "if True:")
    rules = select_rules(select=["TPL304", "TPL305", "TPL306"])
    result = fix(Source(text.replace("pass", "net.eval()")), rules, Applicability.UNSAFE)
    assert result.remaining == ()


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ("", 1),
        ("model.eval()", 0),
        ("model.train()", 0),
        ("prepare_for_test(model)", 0),
        ("model.half()", 1),
        ("print(model)", 1),
    ],
)
def test_loading(between: str, count: int) -> None:
    text = f"""
        import torch
        from torch import nn

        model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        model.load_state_dict(torch.load("model.pt"))
        {between}
        print(model(x))
    """
    assert len(applicabilities(text, "TPL504")) == count


@pytest.mark.parametrize(
    ("behind", "is_strict"),
    [("# model.eval()", True), ("#model.eval()  # worse", True), ("# other.eval()", False), ("# it has a model", False)],
)
def test_who_has_commented_out_the_mode_knows_of_it(behind: str, is_strict: bool) -> None:
    text = f"""
        import torch
        from torch import nn

        model = nn.Sequential(nn.Linear(2, 2), nn.Dropout())
        model.load_state_dict(torch.load("model.pt"))
        {behind}
        print(model(x))
    """
    [found] = lint(Source(dedent(text)), select_rules(select=["TPL504"]))
    assert found.is_strict is is_strict


PARTS = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList()
        self.drop = nn.Dropout()


model = Net()
optimizer = torch.optim.SGD(model.parameters(), 1)
{test}

def train():
    model.train()
    model(x).sum().backward()
    optimizer.step()


for epoch in range(3):
    train()
    {tested}
"""
IN_FUNCTION = "\n@torch.no_grad()\ndef test():\n    model.down()\n"
IN_LOOP = """model.train()
    model(x).sum().backward()
    optimizer.step()
    with torch.no_grad():
        for x in test_loader:
            accuracy = model.down(x)
"""


@pytest.mark.parametrize(("test", "tested"), [(IN_FUNCTION, "test()"), ("", IN_LOOP)], ids=["in a function", "in a loop"])
def test_a_part_that_is_run_alone_is_set_once(test: str, tested: str) -> None:
    result = torchlint.fix(PARTS.format(test=test, tested=tested), unsafe=True, select=["TPL305"])
    assert [found.code for found in result.fixed] == ["TPL305"]
    assert (result.broken, result.remaining) == ((), ())
    assert result.text.count("model.down.eval()") == 1


def test_the_command_ends_where_a_part_is_switched_in_turn_with_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(PARTS.format(test=IN_FUNCTION, tested="test()"))
    command = ("--isolated", "--no-cache", "--select", "TPL305", "--fix", "--unsafe-fixes", "a.py")
    first = torchlint_(*command)
    assert (first.returncode, first.stderr) == (0, "") and "1 fixed" in first.stdout
    assert torchlint_(*command).stdout == "No findings.\n"
    assert Path("a.py").read_text().count("model.down.eval()") == 1


@pytest.mark.parametrize(("word", "found"), [("load_state_dict", 1), ("load", 0)])
def test_a_file_that_loads_states_is_about_torch(word: str, found: int) -> None:
    text = f"def restored(model, state):\n    model.{word}(state)\n    model.train()\n\n{EVALUATION}"
    assert len(lint(Source(text), select_rules(select=["TPL304"]))) == found


@pytest.mark.parametrize(("cells", "is_strict"), [("# %%\n", True), ("", False)])
def test_what_a_notebook_prints_one_by_one_is_looked_at(cells: str, is_strict: bool) -> None:
    made = "import torch\n\nmodel = torch.nn.Linear(3, 2)\nmodel.eval()\n"
    text = f"{cells}{made}{cells}for x in loader:\n    y = model(x).argmax()\n    print(y)\n"
    assert [each.is_strict for each in lint(Source(text), select_rules(select=["TPL304"]))] == [is_strict]


DECODED = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.decoder = nn.Sequential(nn.Linear(2, 2), nn.Dropout())

    def {name}(self, z):
        return self.decoder(z)


model = Net()
optimizer = torch.optim.SGD(model.parameters(), 1)
for epoch in range(3):
    model.train()
    model.decoder(x).sum().backward()
    optimizer.step()
with torch.no_grad():
    for z in test_loader:
        accuracy = model.{name}(z)
{more}
"""


@pytest.mark.parametrize(
    ("name", "more", "is_set"),
    [("decode", "", True), ("decode", "y = model.decode(x)", False), ("evaluate", "y = model.evaluate(x)", True)],
)
def test_a_function_that_training_may_call_too_is_not_put_into_evaluation_mode(name: str, more: str, is_set: bool) -> None:
    text = DECODED.format(name=name, more=more)
    assert [found.code for found in lint(Source(text), select_rules(["TPL305"]))] == ["TPL305"]
    assert ("self.decoder.eval()" in fixed(text, "TPL305")) is is_set


SWITCHING = """
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


{decorator}
def test(model, loader, training=False):
    correct = 0
{body}
    print(correct)


train(net, loader)
test(net, loader, True)
"""
LOOP = "for x, y in loader:\n    {before}\n    correct += (model(x).argmax(1) == y).sum().item()"


def switching(decorator: str, body: str) -> str:
    return SWITCHING.format(decorator=decorator, body=indent(body, "    "))


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@measured"])
@pytest.mark.parametrize(
    "choice",
    [
        "if training:\n    model.train()\nelse:\n    model.eval()\n",
        "if training == True:\n    model.train()\nif training == False:\n    model.eval()\n",
        "model.eval()\nif training:\n    model.train()\n",
        "model.train() if training else model.eval()\n",
    ],
)
def test_who_tells_a_function_the_mode_means_it(decorator: str, choice: str) -> None:
    text = switching(decorator, choice + LOOP.format(before="pass"))
    assert lint(Source(text), select_rules(["TPL305", "TPL320"])) == []


def test_who_sets_the_mode_by_the_epoch_may_have_it_wrong() -> None:
    text = TRAINING.format(
        layer="Dropout()", top="net.train()\n        if epoch > 3: net.train()", before="if epoch == 9: net.eval()"
    )
    assert [found.code for found in lint(Source(text), select_rules(["TPL305"]))] == ["TPL305"]


@pytest.mark.parametrize(
    "body",
    [
        "model.train()\n" + LOOP.format(before="pass"),
        LOOP.format(before="model.train()"),
        "with torch.no_grad():\n    model.train()\n" + indent(LOOP.format(before="pass"), "    "),
    ],
)
def test_what_an_evaluation_sets_wrongly_is_set_right_in_place(body: str) -> None:
    text = switching("@torch.no_grad()", body)
    result = torchlint.fix(text, unsafe=True, select=["TPL305"])
    assert [found.code for found in result.fixed] == ["TPL305"]
    assert result.text == text.replace("model.train()", "model.eval()").replace(
        "    print(correct)\n", "    print(correct)\n    model.train()\n"
    )


def test_the_training_of_a_function_that_evaluates_as_well_keeps_its_mode() -> None:
    text = TRAINING.format(layer="Dropout()", top="net.train()", before="pass").replace("def run(", "def train_and_evaluate(")
    assert fixed(text, "TPL305").count("net.eval()") == 1
    assert "net.train()\n        for x, y in loader:" in fixed(text, "TPL305")


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@measured"])
def test_nothing_is_set_in_front_of_what_may_undo_it(decorator: str) -> None:
    text = switching(decorator, LOOP.format(before="if training: model.train()"))
    result = torchlint.fix(text, unsafe=True, select=["TPL305", "TPL320"])
    assert result.text == text
    assert [found.code for found in result.remaining] == ["TPL305" if "no_grad" in decorator else "TPL320"]
