"""Saving and loading: what depends on the torch that the code has to run on, and what the rest of the file says."""

from __future__ import annotations

import textwrap

import pytest

from torchlint.diagnostic import Applicability, Diagnostic
from torchlint.engine.fixer import fix
from torchlint.engine.linter import lint
from torchlint.options import Options
from torchlint.rules.catalogue import Entry
from torchlint.rules.serialization.tpl501_load_without_map_location import LoadWithoutMapLocation
from torchlint.rules.serialization.tpl502_unsafe_load import UnsafeLoad
from torchlint.rules.serialization.tpl503_whole_module_save import WholeModuleSave
from torchlint.rules.serialization.tpl505_refused_load import RefusedLoad
from torchlint.target import TorchVersion
from torchlint.text.source import Source


def findings(text: str, rule: Entry, target: tuple[int, int] = (2, 13)) -> list[Diagnostic]:
    return lint(Source(textwrap.dedent(text)), [rule], options=Options(target=TorchVersion(*target)))


LOADS = """
    import torch

    state = torch.load("state.pt")
    other = torch.load("other.pt", weights_only=None)
    last = torch.load("last.pt", weights_only=True)
"""


@pytest.mark.parametrize(("target", "rows"), [((2, 13), []), ((2, 6), []), ((2, 5), [4, 5]), ((1, 13), [4, 5]), ((1, 12), [])])
def test_a_load_without_weights_only_is_unsafe_on_an_older_torch(target: tuple[int, int], rows: list[int]) -> None:
    assert [found.location.row for found in findings(LOADS, Entry.of(UnsafeLoad), target)] == rows


def test_weights_only_is_added_for_an_older_torch() -> None:
    fixed = fix(
        Source(textwrap.dedent(LOADS)), [Entry.of(UnsafeLoad)], Applicability.UNSAFE, options=Options(target=TorchVersion(2, 0))
    ).text
    assert 'torch.load("state.pt", weights_only=True)' in fixed
    assert 'torch.load("other.pt", weights_only=True)' in fixed


@pytest.mark.parametrize(
    "importing",
    [
        "import torch as t\nload = t.load",
        "from torch import load",
        "from torch import (\n    load,\n)",
        "from torch.serialization import load",
    ],
)
def test_loads_are_found_under_other_names(importing: str) -> None:
    text = f'{importing}\n\ndef restore(net):\n    net.load_state_dict(load("net.pt"))\n'
    assert len(findings(text, Entry.of(LoadWithoutMapLocation))) == 1


WHOLE = """
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def run(path, x):
        model = torch.load(path, weights_only=False)
        {moved}
        return model(x.to(device))
"""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (WHOLE.format(moved="model.eval()"), "device"),
        (WHOLE.format(moved="model.eval()").replace("x.to(device)", "x"), '"cpu"'),
        (WHOLE.format(moved="model.to(device).eval()"), '"cpu"'),
        (WHOLE.format(moved="model.eval(); model = torch.nn.DataParallel(model).cuda()"), '"cpu"'),
        (WHOLE.format(moved="model.load_state_dict(torch.load('b.pt', map_location='cpu'))"), "device"),
        # no name for it that is known there
        (WHOLE.format(moved="model.eval()").replace("x.to(device)", "x.cuda()"), None),
        (WHOLE.format(moved="device = x.device"), None),
    ],
)
def test_a_whole_module_is_loaded_to_where_it_is_used(text: str, place: str | None) -> None:
    [found] = findings(text, Entry.of(LoadWithoutMapLocation))
    assert (found.fix is not None) is (place is not None)
    fixed = fix(Source(textwrap.dedent(text)), [Entry.of(LoadWithoutMapLocation)], Applicability.UNSAFE).text
    assert f"torch.load(path, weights_only=False{f', map_location={place}' if place else ''})" in fixed


def test_what_is_moved_as_it_is_loaded_says_nothing_of_another_way() -> None:
    text = """
        import torch

        class Runner:
            def __init__(self, path, gpu):
                if gpu:
                    self.net = torch.load(path, weights_only=False).cuda()
                else:
                    self.net = torch.load(path, weights_only=False)
                self.net.eval()
    """
    found = findings(text, Entry.of(LoadWithoutMapLocation))
    assert [each.location.row for each in found] == [7, 9]
    assert all('map_location="cpu"' in each.message for each in found)


ITEMS = """
    import torch

    class Net:
        def load(self, path, x, device, net):
            {before}
            saved = torch.load(path)
            net.load_state_dict(saved["state_dict"])
            {after}
            return net(x), {{"x": x}}

        def run(self, x):
            return self.head(x)
"""


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("x = x.to(device)", "x = saved['x']", "device"),
        ("x = torch.ones(3).float().to(device)", "x = saved['x']", "device"),
        ("x = x.cuda()", "x = saved['x']", None),  # nothing has a name for it
        ("x = x.to('cpu')", "x = saved['x']", '"cpu"'),
        ("x = x.to(device)", "x = saved['x']; x = x.to(device)", "device"),
        ("x = x.to(device)", "y = saved['x']", '"cpu"'),
        ("x = x.float()", "x = saved['x']", '"cpu"'),
        ("x = x.to(device)", "x = saved['x'].to(device)", '"cpu"'),
        # a part of the object that loads, which calls it
        ("pass", "self.head = saved['head']", None),
        ("device = x.device; x = x.to(device)", "self.head = saved['head']", "device"),
        ("pass", "self.head = saved['head']; self.head.to(device)", '"cpu"'),
        ("pass", "self.head = saved['head']; self.to('cuda')", None),
        ("pass", "self.head = saved['head']; self.to(device)", "device"),
        ("pass", "self.step = saved['step']", '"cpu"'),
    ],
)
def test_an_item_is_loaded_to_where_it_is_used(before: str, after: str, place: str | None) -> None:
    text = ITEMS.format(before=before, after=after)
    [found] = findings(text, Entry.of(LoadWithoutMapLocation))
    assert (found.fix is not None) is (place is not None)
    fixed = fix(Source(textwrap.dedent(text)), [Entry.of(LoadWithoutMapLocation)], Applicability.UNSAFE).text
    assert f"torch.load(path{f', map_location={place}' if place else ''})" in fixed


@pytest.mark.parametrize(
    ("body", "has_fix"),
    [
        ("net = nn.Linear(2, 2)\ntorch.save(net, path)", True),
        ("net = None\nif x:\n    net = nn.Linear(2, 2)\ntorch.save({'net': net}, path)\nnet.eval()", False),
        ("net = None\nnet = nn.Linear(2, 2)\ntorch.save(net, path)", True),
        ("class A:\n    def __init__(self):\n        self.net = None\n"
         "    def make(self):\n        self.net = nn.Linear(2, 2)\n        torch.save({'net': self.net}, path)", False),
        ("class A:\n    def __init__(self):\n        self.net = nn.Linear(2, 2)\n"
         "    def make(self):\n        torch.save({'net': self.net}, path)", True),
    ],
)  # fmt: skip
def test_what_may_be_none_has_no_state_to_save(body: str, has_fix: bool) -> None:
    (found,) = findings("import torch\nfrom torch import nn\n" + body, Entry.of(WholeModuleSave))
    assert (found.fix is not None) is has_fix


def test_a_module_that_the_file_loads_again_has_no_fix() -> None:
    text = """
        import torch
        from torch import nn

        model = nn.Linear(2, 2)
        torch.save(model, "model.pt")
        model = torch.load("model.pt", weights_only=False)
    """
    (found,) = findings(text, Entry.of(WholeModuleSave))
    assert found.fix is None


def test_what_a_trainer_returns_is_no_module() -> None:
    text = """
        import torch
        from project import Trainer

        trainer = Trainer()
        best = trainer.train()
        torch.save(best, "best.pt")
    """
    assert findings(text, Entry.of(WholeModuleSave)) == []


WHOLE = """
    import torch
    from torch import nn

    def keep(path, epoch, best):
        net = nn.Linear(2, 2)
        torch.save({"net": net, "epoch": epoch}, path)
        torch.save(net.state_dict(), best)

    def resume(path):
        kept = torch.load(path)
        return kept["net"], kept["epoch"]
"""


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        ("", "", [11]),
        ('"net": net,', '"net": net.state_dict(),', []),
        ("torch.save(net.state_dict(), best)", "torch.save(best, path)", []),
        ("torch.save(net.state_dict(), best)", 'torch.save({"net": [], "epoch": 0}, path)', []),
        ('kept["net"], ', "", []),
    ],
)
def test_a_module_in_the_files_that_the_file_saves_is_refused(old: str, new: str, rows: list[int]) -> None:
    assert [found.location.row for found in findings(WHOLE.replace(old, new), Entry.of(RefusedLoad))] == rows


def test_modules_made_in_a_dict_are_saved_without_a_fix() -> None:
    text = """
        import torch
        from torch import nn

        def keep(path, models):
            torch.save({"models": models}, path)

        actors = {name: nn.Linear(2, 2) for name in "ab"}
        keep("actors.pt", actors)
    """
    (found,) = findings(text, Entry.of(WholeModuleSave))
    assert "`nn.Linear(…)` among them" in found.message
    assert found.fix is None


@pytest.mark.parametrize(
    ("uses", "place"),
    [
        ("model = saved['model']\nmodel = model.to(device)\nmodel.eval()", "device"),
        (
            "model = saved['model']\noptimizer = saved['optimizer']\nfor p in model.parameters():\n    p.data = p.to(device)",
            "device",
        ),
        ("model = Net().to(device)\nmodel.load_state_dict(saved['model'])", '"cpu"'),
        ("model = saved['model']\nmodel.eval()", '"cpu"'),
    ],
)
def test_a_whole_model_in_a_checkpoint_is_loaded_to_the_device_that_has_a_name(uses: str, place: str) -> None:
    text = f"import torch\n\ndevice = torch.device(chosen)\nsaved = torch.load(path)\n{uses}\n"
    [found] = findings(text, Entry.of(LoadWithoutMapLocation))
    assert f"map_location={place}" in found.message


CHOSEN = """
    import torch

    def save(path, whole):
        net = torch.nn.Linear(2, 2)
        other = torch.nn.Linear(2, 2)
        if whole:
            torch.save(net, path)
        else:
            torch.save({}, path)
"""


@pytest.mark.parametrize(
    ("saved", "is_strict"), [("net.state_dict()", True), ("other.state_dict()", False), ("net.weight", False)]
)
def test_a_whole_module_that_an_option_asks_for_is_strict(saved: str, is_strict: bool) -> None:
    assert [each.is_strict for each in findings(CHOSEN.format(saved), Entry.of(WholeModuleSave))] == [is_strict]


def test_a_state_that_is_saved_besides_is_no_choice() -> None:
    text = CHOSEN.format("net.state_dict()").replace("        else:\n    ", "")
    assert [each.is_strict for each in findings(text, Entry.of(WholeModuleSave))] == [False]


RESUMED = """
    import torch

    def train(net, path, device, updates, rate, epochs):
        saved = torch.load(path)
        net.load_state_dict(saved["state_dict"])
        net.to(device)
        momentum = saved["momentum"]
        for key in updates:
            {}
"""


@pytest.mark.parametrize(
    ("line", "has_fix"),
    [
        ("updates[key] = updates[key] + momentum[key] * rate", False),
        ("updates[key] -= momentum[key]", False),
        ("print(momentum[key])", True),
        ("updates[key] = updates[key] + momentum[key].to(device)", True),
        ("updates[key] = momentum + 1", True),
    ],
)
def test_entries_that_are_reckoned_with_do_not_go_to_the_cpu(line: str, has_fix: bool) -> None:
    (found,) = findings(RESUMED.format(line), Entry.of(LoadWithoutMapLocation))
    assert (found.fix is not None) is has_fix


HANDED_ON = """
    import torch

    {head}
    def to_batch(x):
        return torch.tensor(x){move}

    def test(model, data):
        model.eval()
        return [model(to_batch(each)) for each in data]

    def main(path, data):
        model = torch.load(path)
        test(model, data)
"""


@pytest.mark.parametrize(
    ("head", "move", "given"),
    [
        ('device = torch.device("cuda")', ".to(device)", "map_location=device"),
        ("", ".cuda()", None),
        ("", "", 'map_location="cpu"'),
    ],
)
def test_a_whole_module_goes_where_its_batches_do(head: str, move: str, given: str | None) -> None:
    text = textwrap.dedent(HANDED_ON).format(head=head, move=move)
    fixed = fix(Source(text), [Entry.of(LoadWithoutMapLocation)], Applicability.UNSAFE).text
    assert fixed == (text if given is None else text.replace("torch.load(path)", f"torch.load(path, {given})"))


BRANCHES = """
    import torch

    def restore(net, path, is_distributed, rank, there):
        {before}
        if is_distributed:
            saved = torch.load(path, map_location={place})
        else:
            saved = torch.load(path)
        net.load_state_dict(saved["model"])
"""


@pytest.mark.parametrize(
    ("before", "place", "expected"),
    [
        ("", "{'cuda:0': f'cuda:{rank}'}", 1),  # from one GPU to another
        ("", "{'cuda:%d' % 0: 'cuda:%d' % rank}", 1),
        ("place = {'cuda:0': f'cuda:{rank}'}", "place", 1),
        ("", "f'cuda:{rank}'", 1),
        ("", "{'cuda:0': 'cpu'}", 0),
        ("", "{'cuda:0': there}", 0),
        ("", "{'cuda:0': f'cuda:{rank}', 'cuda:1': 'cpu'}", 0),
        ("", "{}", 0),
        ("place = {'cuda:0': 'cpu'}", "place", 0),
        ("", "'cpu'", 0),
        ("", "there", 0),
    ],
)
def test_the_other_branch_may_load_to_another_gpu_alone(before: str, place: str, expected: int) -> None:
    assert len(findings(BRANCHES.format(before=before or "pass", place=place), Entry.of(LoadWithoutMapLocation))) == expected


TRAINED = """
    import torch
    from training import {name}, pick

    def run(net, data, device, options):
        net.to(device)
        {before}
        net.load_state_dict(torch.load(best))
"""


@pytest.mark.parametrize(
    ("name", "before", "expected"),
    [
        ("train", "best, losses = train(net, data)", True),
        ("train_model", "losses, best = train_model(net, data)", True),
        ("train", "best = options.best", False),
        ("train", "best, other = pick(net, data)", False),
        ("train", "best, other = train(options)", False),
        ("train_paths", "best, other = train_paths(options)", False),
        ("load_train_files", "best, other = load_train_files(net, data)", False),
    ],
)
def test_a_training_gives_back_where_it_has_saved(name: str, before: str, expected: bool) -> None:
    [found] = findings(TRAINED.format(name=name, before=before), Entry.of(LoadWithoutMapLocation))
    assert found.is_strict == expected


TOLD = """
    import torch
    from training import Trainer

    def run(net, data, options):
        net.load_state_dict(torch.load(options.path))
        {}
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Trainer(net, data, device='cuda').train()", True),
        ("device = 'cuda'\n        Trainer(net, data, device=device).train()", True),
        ("noise = torch.randn(3, 4, device='cuda')", True),
        ("Trainer(net, data, device=options.device).train()", False),
        ("Trainer(net, data, device='cuda:1' if options.two else 'cuda').train()", False),
        ("Trainer(net, data, device='cpu').train()", False),
        ("Trainer(net, data, device='cuda' if torch.cuda.is_available() else 'cpu').train()", False),
        ("if options.cuda:\n            Trainer(net, data, device='cuda').train()", False),
        ("Trainer(net, data, device='cuda', rank=options.local_rank).train()", False),
        ("Trainer(net, data).train()", False),
    ],
)
def test_code_that_is_told_the_one_gpu_needs_it(line: str, expected: bool) -> None:
    found = findings(TOLD.format(line), Entry.of(LoadWithoutMapLocation))
    assert [each.is_strict for each in found] == [expected]


ASKED = """
    import torch
    from elsewhere import make, Net

    def run(cfg, loader, path, {parameters}):
        {made}
        {asked}
        for x in loader:
            model.train()
            step(model, x)
        torch.save(model, path)
"""


@pytest.mark.parametrize(
    ("made", "asked", "expected"),
    [
        ("model = Net(cfg)", "model.to(cfg.device); optimizer = torch.optim.Adam(model.parameters())", 1),
        ("model = make(cfg)", "model.zero_grad(); optimizer = torch.optim.SGD(model.parameters(), lr=1)", 1),
        ("model = make(cfg)", "count = sum(map(len, model.named_parameters())); model.eval()", 1),
        ("model = Net(cfg)", "pass", 0),  # a trainer, too, has a `train`
        ("model = Net(cfg)", "count = sum(map(len, model.parameters()))", 1),
        ("model = Net(cfg)", "model.to(cfg.device)", 0),
        ("model = Net(cfg)", "other = make(cfg); other.to(1); torch.optim.Adam(other.parameters())", 0),
        ("model = make(cfg)\n        model.to(1); torch.optim.Adam(model.parameters())\n        model = Net(cfg)", "pass", 0),
    ],
)
def test_what_trains_is_a_module_where_it_is_asked_for_parameters(made: str, asked: str, expected: int) -> None:
    text = ASKED.format(parameters="step", made=made, asked=asked)
    assert len(findings(text, Entry.of(WholeModuleSave))) == expected
