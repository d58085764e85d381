"""What rules find by what other files of the project say, and what they no longer do; and that no fix becomes safe by it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import fix, lint
from torchlint.diagnostic import Applicability
from torchlint.engine.linter import no_safer

MODELS = """
    import torch
    from torch import nn

    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

    class Dropping(Plain):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.1)

    class Wrapped(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Dropping()

    class Joined(nn.Module):
        def __init__(self, inner, width=3):
            super().__init__()
            self.inner = inner
            self.fc = nn.Linear(width, width)
        def forward(self, x):
            return self.fc(self.inner(x))

    class Overriding(Dropping):
        def train(self, mode=True):
            return super().train(False)

    class Loss(nn.Module):
        def forward(self, x, y):
            return (x - y).abs().sum()

    def build(name):
        if name == "a":
            return Plain()
        return Dropping().cuda()
"""
HELPERS = """
    def prepare(model):
        model.eval()

    def count(model):
        return sum(each.numel() for each in model.parameters())

    def adjust(optimizer, epoch):
        for group in optimizer.param_groups:
            group["lr"] = 0.1 ** epoch

    def begin(optimizer):
        optimizer.zero_grad()

    def start(optimizer):
        begin(optimizer)

    def keep(optimizer):
        everything.append(optimizer)
"""


def codes(folder: Path, text: str, *select: str, alone: bool = False) -> list[str]:
    """The codes of what is found in a file beside those two; ``alone``, without them."""
    for name, other in (("models", MODELS), ("helpers", HELPERS)):
        (folder / f"{name}.py").write_text(dedent(other))
    path = str(folder / "train.py")
    found = lint(dedent(text), filename=path, select=select, project_root=None if alone else str(folder))
    return [each.code for each in found]


TRAINED = """
    import torch
    from helpers import {helper}
    def train(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch, (x, y) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(model(x), y)
            loss.backward()
            {helper}({arguments})
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("helper", "arguments", "expected"),
    [
        ("adjust", "optimizer, epoch", ["TPL015"]),
        ("adjust", "epoch=epoch, optimizer=optimizer", ["TPL015"]),
        ("begin", "optimizer", []),
        ("start", "optimizer", []),
        ("keep", "optimizer", []),
        ("missing", "optimizer", []),
    ],
)
def test_gradients_pile_up_unless_a_helper_wipes_them(tmp_path: Path, helper: str, arguments: str, expected: list[str]) -> None:
    text = TRAINED.format(helper=helper, arguments=arguments)
    assert codes(tmp_path, text, "TPL015") == expected
    assert codes(tmp_path, text, "TPL015", alone=True) == []


LOADED = """
    import torch
    from models import Dropping, Joined, Plain, Wrapped, Overriding, build
    from helpers import prepare, count, keep
    def predict(x):
        model = {made}
        model.load_state_dict(torch.load("model.pt", weights_only=True))
        {between}
        with torch.no_grad():
            return model(x)
"""


@pytest.mark.parametrize(
    ("made", "between", "expected"),
    [
        ("Dropping()", "", ["TPL504"]),
        ("Wrapped()", "", ["TPL504"]),
        ("Wrapped().cuda()", "count(model)", ["TPL504"]),
        ("Joined(Dropping())", "", ["TPL504"]),
        ("Joined(Plain(), width=4).cuda()", "", []),
        ("Joined(build('b'))", "", []),
        ("Plain()", "", []),
        ("Dropping()", "prepare(model)", []),
        ("Dropping()", "keep(model)", []),
        ("Overriding()", "", []),
        ("Missing()", "", []),
    ],
)
def test_a_mode_matters_by_the_class_of_the_model(tmp_path: Path, made: str, between: str, expected: list[str]) -> None:
    text = LOADED.format(made=made, between=between)
    assert codes(tmp_path, text, "TPL504") == expected
    assert codes(tmp_path, text, "TPL504", alone=True) == []


EVALUATED = """
    import torch
    from models import Dropping, Plain
    def main(loader, tests):
        model = {made}()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in loader:
            model.train()
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        correct = 0
        with torch.no_grad():
            for x, y in tests:
                correct += (model(x).argmax(1) == y).sum().item()
"""


def test_a_model_without_modes_is_not_said_to_be_in_the_wrong_one(tmp_path: Path) -> None:
    assert codes(tmp_path, EVALUATED.format(made="Dropping"), "TPL305") == ["TPL305"]
    assert codes(tmp_path, EVALUATED.format(made="Plain"), "TPL305") == []
    assert codes(tmp_path, EVALUATED.format(made="Plain"), "TPL305", alone=True) == ["TPL305"]


def test_modules_of_other_files_are_registered_or_not(tmp_path: Path) -> None:
    text = """
        from torch import nn
        from models import Plain, Loss
        class Many(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [{made}() for _ in range(3)]
            def forward(self, x):
                for layer in self.layers:
                    x = x + layer.fc(x)
                return x
    """
    assert codes(tmp_path, text.format(made="Plain"), "TPL301") == ["TPL301"]
    assert codes(tmp_path, text.format(made="Loss"), "TPL301") == []
    assert codes(tmp_path, text.format(made="Plain"), "TPL301", alone=True) == []


DROPS = """
    from torch import nn

    class Drop(nn.Dropout2d):
        def forward(self, x):
            return super().forward(x) if self.training else x

    class Norm(nn.BatchNorm2d):
        pass
"""


def test_what_a_plain_list_does_to_modules_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "drops.py").write_text(dedent(DROPS))
    text = """
        from torch import nn
        from drops import {made}
        class Many(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [{made}() for _ in range(3)]
    """
    path = str(tmp_path / "net.py")
    found = [
        lint(dedent(text.format(made=made)), filename=path, select=["TPL301"], project_root=str(tmp_path))[0].message
        for made in ("Drop", "Norm")
    ]
    assert ["never trained" in message for message in found] == [False, True]
    assert "`train()` and `eval()` do not reach them" in found[0]


FIXABLE = """
    import torch
    from models import Dropping, build, nn as network

    model = build("a")
    model.requires_grad = False
    other = Dropping()
    other.requires_grad = False
    layer = network.Linear(2, 2)
    layer.requires_grad = False
    y = layer.forward(torch.ones(2)).data
    flag = torch.ones(2)
    flag.requires_grad == True
    print(flag.item)
    model.eval
"""


def test_what_is_found_with_others_has_no_safe_fix(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(dedent(MODELS))
    text, name = dedent(FIXABLE), str(tmp_path / "train.py")
    alone = [each for each in lint(text, filename=name) if each.fix]
    together = [each for each in lint(text, filename=name, project_root=str(tmp_path)) if each.fix]
    more = {(each.code, each.location): each.fix for each in together}
    for each in alone:
        more.pop((each.code, each.location), None)
    assert {code for code, _ in more} >= {"TPL006", "TPL302"}
    assert {fix.applicability.value for fix in more.values() if fix} == {"unsafe"}
    assert fix(text, filename=name, project_root=str(tmp_path)).text == fix(text, filename=name).text


def test_a_fix_is_safe_only_if_it_is_by_the_file_alone() -> None:
    [typo] = lint("import torch\n\n\nx = torch.ones(3)\nx.requres_grad = True\n", select=["TPL005"])
    assert typo.fix is not None
    safe = replace(typo, fix=replace(typo.fix, applicability=Applicability.SAFE, reason=""))
    unsafe = replace(typo, fix=replace(typo.fix, applicability=Applicability.UNSAFE, reason="so"))
    other = replace(safe, fix=replace(typo.fix, applicability=Applicability.SAFE, edits=(), reason=""))
    assert no_safer(safe, [safe]) == safe
    assert no_safer(unsafe, [safe]) == unsafe
    for alone in ([], [unsafe], [other], [replace(safe, fix=None)], [replace(safe, code="TPL006")]):
        found = no_safer(safe, alone).fix
        assert found is not None
        assert found.applicability is Applicability.UNSAFE
        assert "another file" in found.reason


@pytest.mark.parametrize(
    ("bases", "more", "expected"),
    [
        ("", "", []),
        ("(object)", "", []),
        ("(nn.Module)", "", ["TPL302"]),
        ("(Elsewhere)", "from elsewhere import Elsewhere", ["TPL302"]),
    ],
)
def test_what_is_no_module_is_asked_for_its_forward(tmp_path: Path, bases: str, more: str, expected: list[str]) -> None:
    package = tmp_path / "metrics"
    package.mkdir()
    (package / "dist.py").write_text(f"from torch import nn\n{more}\nclass Dist{bases}:\n    def forward(self, x): return x\n")
    text = """
        import torch
        from metrics import dist
        class Loss(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = dist.Dist()
            def forward(self, x):
                return self.model.forward(x)
    """
    (package / "__init__.py").write_text(dedent(text))
    found = lint(dedent(text), filename=str(package / "__init__.py"), select=["TPL302"], project_root=str(tmp_path))
    assert [each.code for each in found] == expected


MODES = """
    import contextlib

    def set_eval(model):
        model.eval()

    def show(model):
        print(type(model), str(model))

    def through(net):
        set_eval(net)

    @contextlib.contextmanager
    def evaluating(net):
        was = net.training
        net.eval()
        try:
            yield net
        finally:
            net.train(was)
"""
LAYERS = """
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout()

        def forward(self, x):
            return self.drop(x)
"""
EVALUATING = """
    import torch
    from layers import Net
    from modes import evaluating, set_eval, show, through

    def main(rows, test):
        model = Net()
        o = torch.optim.SGD(model.parameters(), 0.1)
        for x, y in rows:
            o.zero_grad()
            (model(x) - y).sum().backward()
            o.step()
        correct = 0
        {before}
        with {around}torch.no_grad():
            for x, y in test:
                correct += (model(x).argmax(1) == y).sum().item()
        print(correct)
"""


@pytest.mark.parametrize(
    ("before", "around", "expected"),
    [
        ("pass", "", ["TPL305"]),
        ("show(model)", "", ["TPL305"]),
        ("model.eval()", "", []),
        ("set_eval(model)", "", []),
        ("through(model)", "", []),
        ("pass", "evaluating(model), ", []),
        ("pass", "evaluating(net=model), ", []),
    ],
)
def test_the_mode_that_a_helper_of_another_file_sets(tmp_path: Path, before: str, around: str, expected: list[str]) -> None:
    for name, text in (("modes.py", MODES), ("layers.py", LAYERS)):
        (tmp_path / name).write_text(dedent(text))
    text = dedent(EVALUATING).format(before=before, around=around)
    found = lint(text, filename=str(tmp_path / "main.py"), select=["TPL304", "TPL305", "TPL320"], project_root=str(tmp_path))
    assert [each.code for each in found] == expected


RUNNING = """
    import torch

    def predict(net, x):
        return net(x).argmax(1)

    def accuracy(net, loader):
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)

    @torch.no_grad()
    def quietly(net, loader):
        return sum((net(x).argmax(1) == y).sum().item() for x, y in loader)

    def learn(net, loader, optimizer):
        for x, y in loader:
            net(x).sum().backward()
            optimizer.step()

    def loss(net, x):
        return net(x).sum()
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("print(accuracy(net, loader))", ["TPL304"]),
        ("for x in loader:\n        print(predict(net, x=x))", ["TPL304"]),
        ("print(predict(net, loader))", []),  # once
        ("print(quietly(net, loader))", []),
        ("with torch.no_grad():\n        print(accuracy(net, loader))", []),
        ("net.train()\n    print(accuracy(net, loader))", []),
        ("learn(net, loader, optimizer)", []),
        ("for x in loader:\n        loss(net, x).backward()", []),
    ],
)
def test_functions_of_other_files_may_run_what_is_evaluated(tmp_path: Path, body: str, expected: list[str]) -> None:
    (tmp_path / "running.py").write_text(dedent(RUNNING))
    text = f"import torch\nfrom running import *\n\ndef report(net, loader, optimizer):\n    net.eval()\n    {body}\n"
    found = lint(text, filename=str(tmp_path / "main.py"), select=["TPL304"], project_root=str(tmp_path))
    assert [each.code for each in found] == expected


SHOWN = """
    import torch

    def drawn(net, x):
        out = net(x)
        keep(torch.exp(out.data))
        return out.data.cpu().numpy()
"""


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("with torch.no_grad():\n    drawn(net, x)", []),
        ("with torch.no_grad():\n    drawn(net, x)\ndrawn(net, y)", ["TPL002", "TPL104"]),
        ("drawn(net, x)", ["TPL002", "TPL104"]),
        ("print(drawn.__doc__)", ["TPL002", "TPL104"]),
    ],
)
def test_what_other_files_call_where_autograd_is_off(tmp_path: Path, calls: str, expected: list[str]) -> None:
    (tmp_path / "shown.py").write_text(dedent(SHOWN))
    (tmp_path / "main.py").write_text(f"import torch\nfrom shown import drawn\n{calls}\n")
    found = lint(dedent(SHOWN), filename=str(tmp_path / "shown.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected
