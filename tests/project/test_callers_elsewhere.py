"""What rules find by what callers in other files hand to a function, however they import and call it."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from torchlint.api import lint
from torchlint.project.importers import UNREAD, imported_words

ENGINE = """
    import torch

    def epoch(model, criterion, loader, o):
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            o.step()
"""
MAIN = """
    import torch
    {imported}

    def main(model, loader):
        o = torch.optim.SGD(model.parameters(), lr=0.1)
        {called}
"""


def codes(folder: Path, files: dict[str, str], file: str, *select: str) -> list[str]:
    """The codes of what is found in one of some files; nothing of it may be found in the file alone."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    text, name = dedent(files[file]), str(folder / file)
    assert lint(text, filename=name, select=select) == []
    return [each.code for each in lint(text, filename=name, select=select, project_root=str(folder))]


@pytest.mark.parametrize(
    ("imported", "called", "expected"),
    [
        ("from engine import epoch", "epoch(model, None, loader, o)", ["TPL015"]),
        ("from engine import epoch as train", "train(model, None, loader, o=o)", ["TPL015"]),
        ("import engine", "engine.epoch(model, None, loader, o)", ["TPL015"]),
        ("import engine as e", "e.epoch(model, None, loader, o)", ["TPL015"]),
        ("from engine import *", "epoch(model, None, loader, o)", ["TPL015"]),
        ("from tools import epoch", "epoch(model, None, loader, o)", ["TPL015"]),
        ("from other import epoch", "epoch(model, None, loader, o)", []),
        ("from engine import epoch", "epoch(model, None, loader, args.o)", []),
        ("from engine import epoch", "epoch(*[model, None, loader, o])", []),
        ("from engine import epoch", "o = wrap(o); epoch(model, None, loader, o)", []),
        ("from engine import epoch", "epoch(model, None, loader, o); epoch(model, None, o, model)", ["TPL015"]),
        ("from engine import epoch", "epoch(model, None, loader, o); epoch(o, o, o, torch.nn.Linear(2, 2))", []),
    ],
)
def test_a_parameter_is_what_callers_hand_to_it(tmp_path: Path, imported: str, called: str, expected: list[str]) -> None:
    main = MAIN.format(imported=imported, called=called)
    files = {"engine.py": ENGINE, "main.py": main, "tools/__init__.py": "from engine import epoch\n"}
    assert codes(tmp_path, files, "engine.py", "TPL015") == expected


def test_what_is_handed_on_is_followed_through_functions_methods_and_attributes(tmp_path: Path) -> None:
    trainer = """
        from package.engine import epoch

        class Trainer:
            def __init__(self, model, optimizer, loader):
                self.model, self.loader = model, loader
                self.o = optimizer

            def fit(self, epochs):
                for _ in range(epochs):
                    epoch(self.model, None, self.loader, self.o)
    """
    main = """
        import torch
        from package.trainer import Trainer
        from package.setup import build

        if __name__ == "__main__":
            model, o = build()
            Trainer(model, o, []).fit(3)
    """
    setup = """
        import torch
        def build():
            model = torch.nn.Linear(3, 3)
            return model, torch.optim.SGD(model.parameters(), lr=0.1)
    """
    files = {
        "package/__init__.py": "",
        "package/engine.py": ENGINE,
        "package/trainer.py": trainer,
        "package/setup.py": setup,
        "main.py": main,
    }
    assert codes(tmp_path, files, "package/engine.py", "TPL015") == ["TPL015"]


def test_what_a_constructor_is_given_is_known_in_the_methods(tmp_path: Path) -> None:
    trainer = """
        class Trainer:
            def __init__(self, model, o):
                self.model = model
                self.o = o

            def fit(self, loader):
                for x, y in loader:
                    loss = self.model(x).sum()
                    loss.backward()
                    self.o.step()
    """
    main = """
        import torch
        from trainer import Trainer
        model = torch.nn.Linear(3, 3)
        Trainer(model, o=torch.optim.Adam(model.parameters())).fit([])
    """
    assert codes(tmp_path, {"trainer.py": trainer, "main.py": main}, "trainer.py", "TPL015") == ["TPL015"]


def test_callers_that_hand_on_to_one_another_in_circles_come_to_an_end(tmp_path: Path) -> None:
    one = "from two import g\n\ndef f(o):\n    g(o)\n    o.step()\n"
    two = "from one import f\n\ndef g(o):\n    f(o)\n"
    assert codes(tmp_path, {"one.py": one, "two.py": two}, "one.py", "TPL015") == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("from a.b import c, d as e", {"a", "b", "c", "d", "e"}),
        ("from . import (\n  c,\n  d,\n)", {"c", "d"}),
        ("if x:\n    import a.b, c as d", {"a", "b", "c", "d"}),
        ("from a import \\\n    b\nc = 3", {"a", "b"}),
        ("from torch import nn\nimport os", set()),
        ("important = 3\nfrom_ = 4", set()),
    ],
)
def test_words_of_imports(tmp_path: Path, text: str, words: set[str]) -> None:
    (tmp_path / "file.py").write_text(text)
    assert imported_words(str(tmp_path / "file.py")) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text = 'what to import'\nimport a\n# import b\nimported(3)\nimport c\r\n", {"a", "c"}),
        ("from a import (b,\n    # what else to import\n    c)\nimport d", {"a", "b", "what", "else", "to", "c", "d"}),
    ],
)
def test_words_of_imports_among_other_lines_that_speak_of_them(tmp_path: Path, text: str, words: set[str]) -> None:
    (tmp_path / "file.py").write_text(text)
    assert set(filter(str.isidentifier, imported_words(str(tmp_path / "file.py")))) == words


STEPS = """
    import torch.nn.functional as F

    def bare(model, x, y, optimizer):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    def zeroing(model, x, y, optimizer):
        optimizer.zero_grad()
        return bare(model, x, y, optimizer)

    def of_model(model, x, y, optimizer):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        model.zero_grad()

    def rarely(model, x, y, optimizer, often=False):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        if often:
            optimizer.step()

    def of_loss(loss, optimizer):
        loss.backward()
        optimizer.step()

    def nothing(model, x, y, optimizer):
        optimizer.step()

    def registered(model, x, y, optimizer):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        model.clear_gradients()
"""
LOOP = """
    import torch
    from steps import bare, zeroing, of_model, rarely, of_loss, nothing, registered

    def main(model, loader):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(3):
            {around}
            for x, y in loader:
                {body}
"""


@pytest.mark.parametrize(
    ("body", "around", "expected"),
    [
        ("bare(model, x, y, optimizer)", "", ["TPL015"]),
        ("print(bare(model, x, optimizer=optimizer, y=y))", "", ["TPL015"]),
        ("of_loss(model(x).sum(), optimizer)", "", ["TPL015"]),
        ("zeroing(model, x, y, optimizer)", "", []),
        ("of_model(model, x, y, optimizer)", "", []),
        ("registered(model, x, y, optimizer)", "", []),
        ("rarely(model, x, y, optimizer)", "", []),
        ("nothing(model, x, y, optimizer)", "", []),
        ("bare(model, x, y, optimizer)", "optimizer.zero_grad()", []),
        ("optimizer.zero_grad(); bare(model, x, y, optimizer)", "", []),
        ("bare(model, x, y, optimizer); model.zero_grad()", "", []),
        ("bare(model, x, y, torch.optim.SGD(model.parameters(), lr=0.1))", "", []),
        ("optimizer = torch.optim.SGD(model.parameters(), lr=0.1); bare(model, x, y, optimizer)", "", []),
        ("other.zeroes(model); bare(model, x, y, optimizer)", "", []),
        ("other.shows(x); bare(model, x, y, optimizer)", "", ["TPL015"]),
        ("reset(model); bare(model, x, y, optimizer)", "", []),
    ],
)
def test_a_step_that_another_file_makes_for_a_loop(tmp_path: Path, body: str, around: str, expected: list[str]) -> None:
    files = {"steps.py": STEPS, "main.py": LOOP.format(body=body, around=around)}
    assert codes(tmp_path, files, "main.py", "TPL015") == expected


def notebook(*cells: str) -> str:
    """A notebook of code cells, each behind one of text."""
    code = [{"cell_type": "code", "source": dedent(cell).splitlines(keepends=True), "outputs": []} for cell in cells]
    text = {"cell_type": "markdown", "source": ["from engine import nothing"]}
    return json.dumps({"cells": [text, *code], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


IMPORTING = "%matplotlib inline\nimport sys\nsys.path.append('..')\nfrom engine import (\n    epoch,\n)\n!nvidia-smi\n"
MAKING = "import torch\nmodel = torch.nn.Linear(3, 3)\no = torch.optim.SGD(model.parameters(), lr=0.1)\n"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([IMPORTING, MAKING, "%%time\nepoch(model, None, [], o)"], ["TPL015"]),
        ([IMPORTING, MAKING, "epoch(model, None, o=o, loader=[])"], ["TPL015"]),
        ([IMPORTING, MAKING, "%%bash\nepoch(model, None, [], o)"], []),
        ([IMPORTING, MAKING, "epoch(model, None, [], model)"], []),
        ([IMPORTING, MAKING, "epoch(model, None, [], o)", "this is no Python"], ["TPL015"]),
        ([MAKING, "epoch(model, None, [], o)"], []),
    ],
)
@pytest.mark.parametrize("place", ["run.ipynb", "notebooks/run.ipynb"])
def test_a_cell_of_a_notebook_is_a_caller(tmp_path: Path, place: str, cells: list[str], expected: list[str]) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).write_text(notebook(*cells))
    assert codes(tmp_path, {"engine.py": ENGINE}, "engine.py", "TPL015") == expected


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"cells": 3}', "import engine\nfrom engine import epoch", "[" * 100_000])
def test_what_is_called_a_notebook_and_is_none_calls_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.ipynb").write_text(text)
    main = MAIN.format(imported="from engine import epoch", called="epoch(model, None, loader, o)")
    assert codes(tmp_path, {"engine.py": ENGINE, "main.py": main}, "engine.py", "TPL015") == ["TPL015"]
    assert imported_words(str(tmp_path / "run.ipynb")) <= {UNREAD}  # no name


def test_a_notebook_and_a_script_that_disagree_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "run.ipynb").write_text(notebook(IMPORTING, MAKING, "epoch(o, None, [], model)"))
    main = MAIN.format(imported="from engine import epoch", called="epoch(model, None, loader, o)")
    assert codes(tmp_path, {"engine.py": ENGINE, "main.py": main}, "engine.py", "TPL015") == []


def test_a_notebook_imports_from_the_project(tmp_path: Path) -> None:
    setup = "import torch\n\ndef build(model):\n    return torch.optim.SGD(model.parameters(), lr=0.1)\n"
    loop = "for x in rows:\n    model(x).sum().backward()\n    o.step()\n"
    text = notebook("from setup_tools import build", "import torch\nmodel = torch.nn.Linear(3, 3)\no = build(model)", loop)
    (tmp_path / "setup_tools.py").write_text(setup)
    (tmp_path / "run.ipynb").write_text(text)
    path = str(tmp_path / "run.ipynb")
    assert [each.code for each in lint(text, filename=path, select=["TPL015"], project_root=str(tmp_path))] == ["TPL015"]
    assert lint(text, filename=path, select=["TPL015"]) == []


EVALUATION = """
    import torch

    def evaluate(model, loader):
        model.eval()
        hits = 0
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
        return hits

    class Trainer:
        def __init__(self, model):
            self.model = model

        def predict(self, loader):
            self.model.eval()
            hits = 0
            for x, y in loader:
                hits += (self.model(x).argmax(1) == y).sum().item()
            return hits
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def main(model, loader):\n    t = Trainer(model)\n    with torch.no_grad():\n        return {call}", 0),
        ("@torch.inference_mode()\ndef main(model, loader):\n    t = Trainer(model)\n    return {call}", 0),
        ("def main(model, loader):\n    t = Trainer(model)\n    with torch.set_grad_enabled(False):\n        return {call}", 0),
        ("def main(model, loader):\n    torch.set_grad_enabled(False)\n    t = Trainer(model)\n    return {call}", 0),
        ("def main(model, loader):\n    torch.set_grad_enabled(True)\n    t = Trainer(model)\n    return {call}", 1),
        (
            "def main(model, loader):\n    torch.set_grad_enabled(False)\n    t = Trainer(model)\n"
            "    torch.set_grad_enabled(True)\n    return {call}",
            1,
        ),
        ("def main(model, loader):\n    t = Trainer(model)\n    {call}\n    torch.set_grad_enabled(False)", 1),
        ("def main(model, loader):\n    t = Trainer(model)\n    return {call}", 1),
        ("def main(model, loader):\n    t = Trainer(model)\n    with torch.no_grad():\n        {call}\n    return {call}", 1),
        ("def main(model, loader):\n    t = Trainer(model)\n    with torch.set_grad_enabled(True):\n        return {call}", 1),
        ("def main(model, loader):\n    t = Trainer(model)\n    with torch.no_grad():\n        pass\n    return {call}", 1),
    ],
)
@pytest.mark.parametrize("call", ["evaluate(model, loader)", "t.predict(loader)"])
def test_an_evaluation_that_others_call_without_autograd_keeps_no_graph(
    tmp_path: Path, text: str, call: str, expected: int
) -> None:
    (tmp_path / "main.py").write_text("import torch\nfrom scores import evaluate, Trainer\n" + text.format(call=call))
    name, code = str(tmp_path / "scores.py"), dedent(EVALUATION)
    (tmp_path / "scores.py").write_text(code)
    found = lint(code, filename=name, select=["TPL304"], project_root=str(tmp_path))
    assert len(found) == 1 + expected, "the other one is called by nobody"


SCHEDULED = """
    class Trainer:
        def __init__(self, model, optimizer, scheduler, loader):
            self.model, self.optimizer, self.loader = model, optimizer, loader
            self.scheduler = scheduler

        def fit(self, epochs):
            for epoch in range(epochs):
                self.scheduler.step()
                for x in self.loader:
                    self.optimizer.zero_grad()
                    self.model(x).sum().backward()
                    self.optimizer.step()
"""
SCHEDULING = """
    import torch
    from trainer import Trainer

    def main(model, loader, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.{}
        Trainer(model, optimizer, schedule, loader).fit(10)
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("StepLR(optimizer, 10)", ["TPL321"]),
        ("StepLR(optimizer, 10) if steps else torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)", ["TPL321"]),
        ("ReduceLROnPlateau(optimizer)", []),
    ],
)
def test_the_scheduler_of_a_trainer(tmp_path: Path, made: str, expected: list[str]) -> None:
    files = {"trainer.py": "    import torch\n" + SCHEDULED, "main.py": SCHEDULING.format(made)}
    assert codes(tmp_path, files, "trainer.py", "TPL321") == expected


CHAIN = """
    import torch

    def evaluate(model, loader):
        model.eval()
        hits = 0
        for x, y in loader:
            hits += (model(x).argmax(1) == y).sum().item()
        return hits

    def share(model, loader):
        return evaluate(model, loader) / len(loader)

    def tell(model, loaders):
        return [share(model, each) for each in loaders]
"""


@pytest.mark.parametrize(
    ("own", "main", "expected"),
    [
        ("", "with torch.no_grad():\n    tell(net, loaders)", 0),
        ("", "tell(net, loaders)", 1),
        ("", "with torch.no_grad():\n    tell(net, loaders)\ntell(net, loaders)", 1),
        ("", "with torch.no_grad():\n    tell(net, loaders)\nevaluate(net, loader)", 1),
        ("", "", 1),  # nobody calls any of them
        ("def again(model, loaders):\n    tell(model, loaders)\n", "with torch.no_grad():\n    tell(net, loaders)", 1),
        ("def again(model, n):\n    return again(model, n - 1) + share(model, [])\n", "", 1),
        ("with torch.no_grad():\n    tell(net, loaders)\n", "", 0),
        ("if __name__ == '__main__':\n    tell(net, loaders)\n", "with torch.no_grad():\n    tell(net, loaders)", 1),
    ],
)
def test_callers_of_callers_turn_autograd_off(tmp_path: Path, own: str, main: str, expected: int) -> None:
    code = dedent(CHAIN) + own
    files = {"scores.py": code, "main.py": f"import torch\nfrom scores import evaluate, tell\n{main}\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = lint(code, filename=str(tmp_path / "scores.py"), select=["TPL304"], project_root=str(tmp_path))
    assert len(found) == expected


KEPT = """
    import torch
    from torch import nn
    from torch.optim import lr_scheduler

    class Solver{base}:
        def __init__(self, model, other, loader):
            self.model, self.other, self.loader = model, other, loader
            self.optimizer = torch.optim.Adam(model.parameters(), 0.1)
            self.second = torch.optim.Adam(other.parameters(), 0.1)
            self.{attribute} = {made}

        def fit(self):
            for x in self.loader:
                self.optimizer.zero_grad()
                self.model(x).sum().backward()
                self.optimizer.step()
                {more}
"""
STEP_LR = "lr_scheduler.StepLR(self.optimizer, 10)"


def kept(base: str = "", attribute: str = "schedule", made: str = STEP_LR, more: str = "pass") -> str:
    return KEPT.format(base=base, attribute=attribute, made=made, more=more)


@pytest.mark.parametrize(
    "solver",
    [
        kept(),
        kept("(object)"),
        kept("(nn.Module)"),
        kept(attribute="lr_scheduler"),
        kept(made="lr_scheduler.ReduceLROnPlateau(self.optimizer, 'min')"),
        kept(made="torch.optim.lr_scheduler.CosineAnnealingLR(optimizer=self.optimizer, T_max=9)"),
        kept(made="[lr_scheduler.StepLR(o, 10) for o in [self.optimizer]]"),
        kept(made="[lr_scheduler.StepLR(self.optimizer, 10)]"),
        kept(more="torch.save({'s': self.schedule.state_dict()}, 'c.pt')"),
        kept(more="print(self.schedule.get_last_lr())"),
    ],
)
def test_a_scheduler_that_is_kept_and_never_moved_on(tmp_path: Path, solver: str) -> None:
    files = {"solver.py": solver, "main.py": "from solver import Solver\nSolver(1, 2, []).fit()\n"}
    assert codes(tmp_path, files, "solver.py", "TPL321") == ["TPL321"]


@pytest.mark.parametrize(
    ("solver", "main"),
    [
        (kept(), "s.schedule.step()"),
        (kept(), "class Own(Solver):\n    def after(self):\n        self.schedule.step()"),
        (kept(), "getattr(s, 'schedule').step()"),
        (kept("(Base)").replace("class", "from base import Base\n\n    class"), ""),
        (kept(more="self.schedule.step()"), ""),
        (kept(more="self.move(self.schedule)"), ""),
        (kept(more="[s.step() for s in vars(self).values()]; getattr(self, 'x')"), ""),
        (kept(more="for g in self.optimizer.param_groups: g['lr'] = 0.1"), ""),
        (kept(made="lr_scheduler.StepLR(self.second, 10)"), ""),
        (kept(made="[lr_scheduler.StepLR(o, 10) for o in self.all()]", more="for s in self.schedule: s.step()"), ""),
        (kept(made="other.StepLR(self.optimizer, 10)"), ""),
    ],
)
def test_a_scheduler_that_is_kept_for_others(tmp_path: Path, solver: str, main: str) -> None:
    files = {"solver.py": solver, "main.py": f"from solver import Solver\ns = Solver(1, 2, [])\ns.fit()\n{main}\n"}
    assert codes(tmp_path, files, "solver.py", "TPL321") == []


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("def end(m):\n    m.lr_scheduler.step()", []),
        ("def end(self):\n    self.trainer.lr_scheduler.step()", []),
        ("def end(m):\n    s = m.lr_scheduler\n    s.step()", []),
        ("def end(m):\n    for s in m.lr_scheduler: s.step()", []),
        ("class Other:\n    def end(self):\n        self.lr_scheduler.step()", ["TPL321"]),
        ("import torch\ns = torch.optim.lr_scheduler.StepLR(o, 3)\ns.step()", ["TPL321"]),
        ("def end(m):\n    m.lr_scheduler.state_dict()", ["TPL321"]),
        ("def end(m):\n    m.lr_scheduler = None", ["TPL321"]),
        ("if args.lr_scheduler == 'cosine': pass", ["TPL321"]),
    ],
)
@pytest.mark.parametrize("program", ["", "\n\n    if __name__ == '__main__':\n        Solver(1, 2, []).fit()\n"])
def test_a_scheduler_that_is_moved_on_by_who_imports_nothing(
    tmp_path: Path, program: str, other: str, expected: list[str]
) -> None:
    files = {"solver.py": kept(attribute="lr_scheduler") + program, "main.py": "import solver\n", "ends.py": other}
    for name, text in files.items():
        (tmp_path / name).write_text(dedent(text))
    text, name = dedent(files["solver.py"]), str(tmp_path / "solver.py")
    found = lint(text, filename=name, select=["TPL321"], project_root=str(tmp_path))
    assert [each.code for each in found] == expected


def test_a_step_that_is_commented_out_anywhere(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("from solver import Solver\nSolver(1, 2, []).fit()\n")
    text, name = dedent(kept(more="# self.schedule.step()")), str(tmp_path / "solver.py")
    (tmp_path / "solver.py").write_text(text)
    assert [each.code for each in lint(text, filename=name, project_root=str(tmp_path)) if each.code == "TPL321"] == []


def test_a_scheduler_that_a_library_keeps() -> None:
    assert [each.code for each in lint(dedent(kept()), select=["TPL321"])] == [], "nobody knows who calls it"


SAVING = """
    import torch

    def keep(epoch, model, path):
        torch.save({"epoch": epoch, "model": model}, path)
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("model = Net()", ["TPL503"]),
        ("model = Net() if path is None else torch.load(path)", ["TPL503"]),
        ("model = Net()\n        if path: model = torch.load(path)", ["TPL503"]),
        (
            "saved = torch.load(path)\n        model = saved['model'] if saved else Net()\n        model = model.cuda()",
            ["TPL503"],
        ),
        ("saved = torch.load(path)\n        model = Net()\n        if saved: model = saved['model']", ["TPL503"]),
        ("saved = read(path)\n        model = Net()\n        if saved: model = saved['model']", []),
        ("saved = torch.load(path)\n        model = saved['model']", []),
        ("saved = torch.load(path)\n        model = Net().state_dict()\n        if saved: model = saved['model']", []),
    ],
)
def test_what_is_made_or_loaded_is_what_is_made(tmp_path: Path, made: str, expected: list[str]) -> None:
    main = f"""
    import torch
    from saving import keep

    class Net(torch.nn.Module):
        pass

    def main(path):
        {made}
        keep(1, model, path)
    """
    assert codes(tmp_path, {"saving.py": SAVING, "main.py": main}, "saving.py", "TPL503") == expected


@pytest.mark.parametrize(
    ("adapts", "expected"),
    [
        ("return torch.autograd.grad(features.sum(), weight)[0]", []),
        ("with torch.enable_grad():\n        return torch.autograd.grad(weight.sum(), weight)[0]", ["TPL304"]),
        ("return features.mean(0)", ["TPL304"]),
    ],
)
def test_an_evaluation_may_adapt_a_head_in_another_file(tmp_path: Path, adapts: str, expected: list[str]) -> None:
    adapt = f"import torch\n\ndef adapt(features, weight):\n    {adapts}\n"
    evaluate = """\
        import torch
        from adapting import adapt

        def evaluate(encoder, loader, weight):
            encoder.eval()
            hits = 0
            for x, y in loader:
                fitted = fit_head(encoder(x), weight)
                hits += (fitted > 0).sum().item()
            return hits

        def fit_head(features, weight):
            return adapt(features.detach(), weight)
        """
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "adapting.py").write_text(adapt)
    (tmp_path / "evaluate.py").write_text(dedent(evaluate))
    found = lint(dedent(evaluate), filename=str(tmp_path / "evaluate.py"), select=("TPL304",), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("class Template(nn.Module):\n    pass\n", ["TPL302"]),
        ("class Template(nn.Module):\n    def __call__(self, x):\n        return self.forward(x)\n", []),
        ("from framework import Template\n", []),
    ],
)
def test_a_part_that_is_a_layer_or_a_module_of_another_file(tmp_path: Path, base: str, expected: list[str]) -> None:
    user = """\
        import torch.nn as nn
        from templates import Cosine, Template

        class Baseline(Template):
            def __init__(self, size, cosine):
                super().__init__()
                if cosine:
                    self.classifier = Cosine(size)
                else:
                    self.classifier = nn.Linear(size, 2)

            def forward(self, x):
                return self.classifier.forward(x)
        """
    cosine = "class Cosine(nn.Module):\n    def forward(self, x):\n        return x\n"
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "templates.py").write_text(f"import torch.nn as nn\n{base}\n{cosine}")
    found = lint(dedent(user), filename=str(tmp_path / "user.py"), select=("TPL302",), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


@pytest.mark.parametrize(("made", "expected"), [("StepLR(o, 3)", ["TPL321"]), ("schedule", [])])
def test_a_file_may_train_with_what_it_is_given_and_import_no_torch(tmp_path: Path, made: str, expected: list[str]) -> None:
    trainer = """
        class Trainer:
            def __init__(self, model, optimizer, scheduler):
                self.model, self.optimizer = model, optimizer
                self.scheduler = scheduler

            def fit(self, loader, epochs):
                for epoch in range(epochs):
                    self.scheduler.step()
                    for x in loader:
                        self.optimizer.zero_grad()
                        self.model(x).sum().backward()
                        self.optimizer.step()
    """
    main = f"""
        import torch
        from torch.optim.lr_scheduler import StepLR
        from trainer import Trainer

        def run(model, loader, schedule):
            o = torch.optim.SGD(model.parameters(), lr=0.1)
            Trainer(model, o, {made}).fit(loader, 3)
    """
    assert codes(tmp_path, {"trainer.py": trainer, "main.py": main}, "trainer.py", "TPL321") == expected
