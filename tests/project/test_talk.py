"""What a file is told of the words of its project's other files, which import nothing of it nor it of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchlint.api import lint
from torchlint.project.files import Files, still_hold
from torchlint.project.talk import Talk

SAVING = """
import torch
def save(model, path, gpus):
    if gpus > 1:
        model = torch.nn.DataParallel(model)
    torch.save(model.state_dict(), path)
"""
LOADING = """
import torch
def load(model, path):
    model.load_state_dict(torch.load(path, weights_only=True))
"""


def codes(folder: Path, text: str, other: str, *, alone: bool = False) -> list[str]:
    """The default findings in a file of a project that has another one, in a folder of its own."""
    (folder / "tools").mkdir()
    (folder / "tools" / "other.py").write_text(other)
    found = lint(text, filename=str(folder / "main.py"), project_root=None if alone else str(folder))
    return [each.code for each in found]


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("state = {k[7:]: v for k, v in state.items()}", []),
        ("state = {k.replace('module.', ''): v for k, v in state.items()}", []),
        ("if k.startswith('_orig_mod.'): pass", []),
        ("if k.startswith('module.encoder_q'): pass", []),
        ("import module.part\nx = 'a module. Or two'", ["TPL506"]),
        ("", ["TPL506"]),
    ],
)
def test_keys_of_a_wrapper_are_no_matter_where_the_project_cuts_them(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, SAVING, other) == expected


def test_a_file_alone_hears_nothing(tmp_path: Path) -> None:
    assert codes(tmp_path, SAVING, "state = {k[7:]: v for k, v in state.items()}", alone=True) == ["TPL506"]


RESUMING = """
import torch
class Trainer:
    def __init__(self, model, gpus):
        self.model = model
        if gpus > 1:
            self.model = torch.nn.DataParallel(model)
    def save(self, path):
        torch.save({"state_dict": self.model.state_dict()}, path)
    def resume(self, path):
        self.model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True)["state_dict"])
"""


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("inference.py", LOADING, ["TPL506"]),
        ("test_model.py", LOADING, ["TPL506"]),
        ("test_model.py", LOADING.replace("    model.load", "    model = torch.nn.DataParallel(model)\n    model.load"), []),
        ("test_model.py", "import torch", []),
        ("backbone.py", LOADING, []),
    ],
)
def test_scripts_that_load_into_what_is_not_wrapped(tmp_path: Path, name: str, other: str, expected: list[str]) -> None:
    (tmp_path / name).write_text(other)
    found = lint(RESUMING, filename=str(tmp_path / "trainer.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


FLAGGED = """
import torch
from options import args
def save(model, path):
    if {test}:
        model = torch.nn.DataParallel(model)
    torch.save(model.state_dict(), path)
"""
WRAPPED = """
import torch
from options import args
def load(model, path):
    if {test}:
        # as it was trained
        model = torch.nn.DataParallel(model)
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
"""


@pytest.mark.parametrize(
    ("test", "other", "expected"),
    [
        ("args.parallel", "args.parallel", []),
        ("args.parallel", "args.several", ["TPL506"]),
        ("args.gpus > 1", "args.gpus > 1", ["TPL506"]),
        ("torch.cuda.device_count() > 1", "torch.cuda.device_count() > 1", ["TPL506"]),
    ],
)
def test_scripts_that_load_into_what_the_same_flag_wraps(tmp_path: Path, test: str, other: str, expected: list[str]) -> None:
    (tmp_path / "demo.py").write_text(WRAPPED.format(test=other))
    found = lint(FLAGGED.format(test=test), filename=str(tmp_path / "trainer.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


SEVERAL = (
    RESUMING.replace('{"state_dict": self.model', '{"critic": self.model')
    .replace('["state_dict"]', '["critic"]')
    .replace("state_dict()}", 'state_dict(), "actor": self.actor.state_dict()}')
)


@pytest.mark.parametrize(("key", "expected"), [("critic", ["TPL506"]), ("actor", []), ("", ["TPL506"])])
def test_scripts_that_load_what_is_saved_beside(tmp_path: Path, key: str, expected: list[str]) -> None:
    given = f"weights_only=True)['{key}']" if key else "weights_only=True)"
    (tmp_path / "demo.py").write_text(LOADING.replace("weights_only=True)", given))
    found = lint(SEVERAL, filename=str(tmp_path / "trainer.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


ALWAYS = """
import torch
from models import Net
net = Net()
net = torch.nn.DataParallel(net)
def save(path):
    torch.save({"net": net.state_dict()}, path)
net = net.cuda()
"""
INTO_WRAPPED = """
import torch
from models import Net
net = Net()
net = torch.nn.DataParallel(net)
checkpoint = torch.load("net.pt", map_location="cpu", weights_only=True)
net.load_state_dict(checkpoint["net"])
"""


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ({"test.py": INTO_WRAPPED}, []),
        ({}, ["TPL506"]),
        ({"test.py": INTO_WRAPPED.replace("net = torch.nn.DataParallel(net)", "")}, ["TPL506"]),
        ({"test.py": INTO_WRAPPED.replace("net = torch", "if many:\n    net = torch")}, ["TPL506"]),
        ({"models.py": INTO_WRAPPED}, ["TPL506"]),
    ],
)
def test_what_is_wrapped_in_any_case_is_loaded_so(tmp_path: Path, others: dict[str, str], expected: list[str]) -> None:
    for name, text in others.items():
        (tmp_path / name).write_text(text)
    found = lint(ALWAYS, filename=str(tmp_path / "trainer.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


def test_a_state_that_a_wrapped_module_resumes_from_keeps_its_keys(tmp_path: Path) -> None:
    (tmp_path / "demo.py").write_text(LOADING)
    [found] = lint(RESUMING, filename=str(tmp_path / "trainer.py"), project_root=str(tmp_path))
    assert found.fix is None
    [found] = lint(SAVING, filename=str(tmp_path / "trainer.py"), project_root=str(tmp_path))
    assert found.fix is not None


PLACELESS = """
import torch
class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x + torch.zeros(2)
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("torch.set_default_device(device)", []),
        ("torch.set_default_tensor_type('torch.cuda.FloatTensor')", []),
        ("torch.set_default_tensor_type(torch.DoubleTensor)", ["TPL405"]),
        ("# torch.set_default_device(device)", ["TPL405"]),
        ("", ["TPL405"]),
    ],
)
def test_where_the_project_makes_tensors(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, PLACELESS, f"{other}\nnet.cuda()") == expected


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        (LOADING, "import torch\ntorch.save(model.state_dict(), path)", []),
        (LOADING, "from torch import save\nsave(model.state_dict(), path)", []),
        (LOADING, "import torch\ntorch.save(model.cuda().state_dict(), path)", []),  # the GPU is all that the project knows
        (LOADING, "import torch\ntorch.save(model.to(device).state_dict(), path)", ["TPL501"]),
        (LOADING, "trainer = pytorch_lightning.Trainer()\nimport torch\ntorch.save(model.state_dict(), path)", ["TPL501"]),
        (LOADING, "import torch", ["TPL501"]),
        (LOADING + "    model.cuda()", "import torch\ntorch.save(model.state_dict(), path)", []),  # but to the one GPU
        (LOADING + "    model.to(device)", "import torch\ntorch.save(model.state_dict(), path)", ["TPL501"]),
        (LOADING + "    if gpu: model.cuda()", "import torch\ntorch.save(model.state_dict(), path)", ["TPL501"]),
    ],
)
def test_a_project_that_saves_and_knows_no_device_loads_as_it_likes(
    tmp_path: Path, text: str, other: str, expected: list[str]
) -> None:
    assert codes(tmp_path, text, other) == expected


ON_GPU = """
import torch
def test(model, batch, out):
    model.cuda()
    model.load_state_dict(torch.load(out + "/best.pt", weights_only=True))
    return model(batch.cuda())
"""
WRITER = "import os\nimport torch\nmodel.cuda()\nx = x.cuda()\ntorch.save(model.state_dict(), os.path.join(out, 'best.pt'))"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ON_GPU, []),
        (ON_GPU.replace('out + "/best.pt"', "out"), []),
        (ON_GPU.replace("batch.cuda()", "batch.to(args.device)"), []),  # the model goes there whatever is chosen
        (ON_GPU.replace("batch.cuda()", "batch.to(args.device)").replace(".cuda()", ".to(args.device)"), ["TPL501"]),
        (ON_GPU.replace("batch.cuda()", "batch.to(model.device)"), []),
        (ON_GPU.replace("model.cuda()", "if torch.cuda.is_available(): model.cuda()"), []),  # the batch goes there anyway
        (ON_GPU.replace('out + "/best.pt"', '"pretrained/best.pt"'), []),
    ],
)
@pytest.mark.parametrize("other", [WRITER, WRITER.replace("cuda()", "to(device)"), "import torch\nx = torch.ones(2).cuda()"])
def test_a_script_that_knows_one_gpu_loads_to_it_whoever_saves(
    tmp_path: Path, text: str, other: str, expected: list[str]
) -> None:
    assert codes(tmp_path, text, other) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("    print('GPU:', torch.cuda.is_available())", []),  # it is shown, and nothing is chosen
        ("use = torch.cuda.is_available()", ["TPL501"]),
        ("    print('GPU')\nuse = torch.cuda.is_available()", ["TPL501"]),
    ],
)
def test_who_shows_whether_there_is_a_gpu_chooses_none(tmp_path: Path, line: str, expected: list[str]) -> None:
    other = f"import torch\nx = torch.ones(2).cuda()\nif x.sum() > 1:\n    x = x + 1\n{line}\ntorch.save(x, 'a')"
    assert codes(tmp_path, LOADING, other) == expected


TRAINING = """
import torch
from parts import Net
def train(batches):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        loss = model(batch)
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        self.zero_grad()\n", []),
        ("import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        self.part.zero_grad()\n", ["TPL015"]),
        ("", ["TPL015"]),
    ],
)
def test_models_of_other_files_may_zero_their_own_gradients(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, TRAINING, other) == expected


PRECISION = """
import torch
def precision(output, target, topk=(1,)):
    _, pred = output.topk(max(topk), 1, True, True)
    pred = pred.t()
    correct = pred.eq(target.view(1, -1).expand_as(pred))
    res = []
    for k in topk:
        res.append(correct[:k].view(-1).float().sum(0))
    return res
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("acc = precision(out, y, topk=(1,))", []),
        ("acc = precision(out, y)", []),
        ("acc = precision(out, y, topk=(1, 5))", ["TPL204"]),
        ("acc = train_accuracy(out, y, (1, 5))", ["TPL204"]),
        ("ks = [1, 3]", ["TPL204"]),
    ],
)
def test_one_best_answer_is_one_row(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, PRECISION, other) == expected


BUILDING = "import torch\n\ndef build(net, path):\n    net.load_state_dict(torch.load(path))\n    return net\n"


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("net = net.cuda()", []),
        ("images = images.to('cuda:0')  # or 'cpu'", []),
        ("device = torch.device('cuda')", []),
        ("net.cuda(); y = net(x).to('cpu').numpy()", []),  # what comes out
        # the number of the one GPU that the process sees
        ("os.environ['CUDA_VISIBLE_DEVICES'] = parse('--gpu'); net = net.cuda()", []),
        ("net = net.cuda(); parse('--gpu')", []),  # nothing asks for it, or it is told to the process
        ("net = DataParallel(net.cuda(), device_ids=parse('--gpu_ids'))", []),
        ("net = net.cuda(parse('--gpu'))", ["TPL501"]),
        ("gpu = parse('--gpu')\nif gpu: net.cuda()", ["TPL501"]),
        ("gpu = parse('--gpu')\nnet = net.cuda() if gpu >= 0 else net", ["TPL501"]),
        ("gpu_ids = parse('--gpu_ids')\nnet.cuda(gpu_ids[0])", ["TPL501"]),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = parse('--gpu'); net = net.to('cuda' if fast else 'cpu')", ["TPL501"]),
        ("net.cuda(); net.to('cpu')", ["TPL501"]),
        # nothing says where the model goes, or it goes where somebody chooses
        ("net = net.eval()", ["TPL501"]),
        ("net = net.cuda() if torch.cuda.is_available() else net", ["TPL501"]),
        ("net = net.to('cuda' if fast else 'cpu')", ["TPL501"]),
        ("net = net.cuda(); where = config['device']", ["TPL501"]),
        ("net = net.cuda(); x = x.to(args.device)", ["TPL501"]),
        ("net = net.cuda(); torch.cuda.set_device(rank)", ["TPL501"]),
        ("net = net.to('cuda:1')", ["TPL501"]),
    ],
)
def test_a_project_that_knows_the_gpu_alone_loads_to_it(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, BUILDING, other) == expected


PICKING = """
import torch.nn as nn
import torch.nn.functional as F
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.{name} = nn.Softmax()
    def forward(self, x): return {used}
"""


@pytest.mark.parametrize(
    ("name", "used", "other", "expected"),
    [
        ("pick", "x", "", []),
        ("softmax", "F.softmax(x, dim=1)", "y = F.softmax(x, dim=1)\nnet.softmax = None", []),
        ("pick", "self.pick(x)", "", ["TPL106"]),
        ("pick", "getattr(self, 'pick')(x)", "", ["TPL106"]),
        ("pick", "[m(x) for m in self.children()][0]", "", ["TPL106"]),
        ("softmax", "x", "y = net.softmax(x)", ["TPL106"]),
        ("softmax", "x", "y = self.net.softmax(x)", ["TPL106"]),
        ("pick", "x", "class Own(Net):\n    def forward(self, x): return self.pick(x)", ["TPL106"]),
        ("pick", "x", "y = getattr(net, 'pick')(x)", ["TPL106"]),
    ],
)
def test_a_softmax_that_nobody_calls_warns_of_nothing(
    tmp_path: Path, name: str, used: str, other: str, expected: list[str]
) -> None:
    found = codes(tmp_path, PICKING.format(name=name, used=used), other)
    assert [each for each in found if each == "TPL106"] == expected


@pytest.mark.parametrize(
    ("calling", "expected"),
    [
        ("import nets.net\nm.pick(x)", ["TPL106"]),
        ("from nets import net\nm.pick(x)", ["TPL106"]),
        ("import others\nm.pick(x)", []),
        ("import nets.net\nm(x)", []),
    ],
)
def test_a_softmax_may_be_called_by_who_imports_from_its_folder(tmp_path: Path, calling: str, expected: list[str]) -> None:
    (tmp_path / "nets").mkdir()
    (tmp_path / "main.py").write_text(calling)
    text, name = PICKING.format(name="pick", used="x"), str(tmp_path / "nets" / "net.py")
    found = lint(text, filename=name, project_root=str(tmp_path))
    assert [each.code for each in found if each.code == "TPL106"] == expected


def test_what_was_told_holds_until_the_words_change(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    main, other = tmp_path / "main.py", tmp_path / "other.py"
    main.write_text(SAVING)
    other.write_text("x = 1")
    files = Files()
    reading = files.reading(str(main))
    assert reading.speaks_of("prefixes") is False
    other.write_text("x = 2")
    files.look_again()
    assert still_hold(files, str(main), reading.answers)
    other.write_text("x = 'module.'")
    files.look_again()
    assert not still_hold(files, str(main), reading.answers)


def test_what_an_editor_holds_is_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 1")
    texts = {str(tmp_path / "other.py"): b"x = 'module.'"}
    assert Talk(texts.get).speaks_of("prefixes", str(tmp_path)) is True


def test_nothing_is_said_of_a_project_that_is_too_large(tmp_path: Path) -> None:
    for number in range(401):
        (tmp_path / f"{number:03}.py").write_text("x = 1")
    assert Talk(lambda path: None).speaks_of("prefixes", str(tmp_path)) is None


def test_folders_of_others_are_passed_over(tmp_path: Path) -> None:
    for name in (".venv", "site-packages", "build"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 'module.'")
    assert Talk(lambda path: None).speaks_of("prefixes", str(tmp_path)) is False


SAMPLING = """
import torch
from torch.utils.data import DataLoader, DistributedSampler
def build(train_set, batch_size):
    sampler = {}
    return DataLoader(train_set, batch_size=batch_size, sampler=sampler)
"""
EPOCHS = "for epoch in range(9):\n    train(loader)\n"


@pytest.mark.parametrize(
    ("made", "other", "expected"),
    [
        ("DistributedSampler(train_set)", EPOCHS, ["TPL313"]),
        ("DistributedSampler(train_set, seed=3)", EPOCHS, ["TPL313"]),
        ("DistributedSampler(train_set, seed=batch_size)", EPOCHS, []),
        ("DistributedSampler(train_set, shuffle=False)", EPOCHS, []),
        ("DistributedSampler(dataset)", EPOCHS, []),
        ("DistributedSampler(train_eval_set)", EPOCHS, []),
        ("DistributedSampler(train_set)", EPOCHS + "    loader.sampler.set_epoch(epoch)", []),
        ("DistributedSampler(train_set)", EPOCHS + "import accelerate", []),
        ("DistributedSampler(train_set)", EPOCHS + "from transformers import Trainer", []),
        ("DistributedSampler(train_set)", "train(loader)", []),
    ],
)
def test_sampler_is_told_of_epochs_by_no_file(tmp_path: Path, made: str, other: str, expected: list[str]) -> None:
    text = SAMPLING.format(made)
    assert [each for each in codes(tmp_path, text, other) if each == "TPL313"] == expected


def test_sampler_that_others_may_tell_of_epochs_is_left_alone(tmp_path: Path) -> None:
    assert "TPL313" not in codes(tmp_path, SAMPLING.format("DistributedSampler(train_set)"), EPOCHS, alone=True)
    own = "class Sampling(DistributedSampler):\n    pass\nsampler = DistributedSampler(train_set)\nuse(sampler)\n"
    text = SAMPLING.format("None") + own
    (tmp_path / "other.py").write_text(EPOCHS)
    assert "TPL313" not in [each.code for each in lint(text, filename=str(tmp_path / "main.py"), project_root=str(tmp_path))]


TRAINER = """
import torch
from torch.utils.data import DataLoader, DistributedSampler
class Trainer:
    def __init__(self, model, train_set):
        self.model = model
        self.loader = DataLoader(train_set, sampler=DistributedSampler(train_set))
    def turn(self):
        for x in self.loader:
            self.model(x).sum().backward()
"""
OWN_LOOP = "    def fit(self):\n        for epoch in range(9):\n            self.turn()\n"
OTHER_LOOP = "for epoch in range(9):\n    trainer.turn()\n"
OVER_THE_LOADER = "for epoch in range(9):\n    for x in trainer.loader:\n        step(x)\n"


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        (TRAINER, OTHER_LOOP, ["TPL313"]),
        (TRAINER.partition("    def turn")[0], OVER_THE_LOADER, ["TPL313"]),
        (TRAINER + OWN_LOOP, "trainer.fit()", ["TPL313"]),
        (TRAINER, "trainer.turn()", []),
        (TRAINER + "Trainer(model, some).turn()\n", OTHER_LOOP, []),
        (TRAINER, OTHER_LOOP + "    trainer.loader.sampler.set_epoch(epoch)\n", []),
        (TRAINER + OWN_LOOP, "for epoch in range(9):\n    trainer.loader.sampler.set_epoch(epoch)\n    trainer.turn()", []),
    ],
)
def test_sampler_of_an_object_that_another_file_trains(tmp_path: Path, text: str, other: str, expected: list[str]) -> None:
    assert [each for each in codes(tmp_path, text, other) if each == "TPL313"] == expected


FOLLOWING = """
import torch
def noised(mu: torch.Tensor, n):
    return mu + torch.randn(mu.size(0), n).to(mu.device)
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("loss.backward()", []),
        ("# model.cuda()\ny = x.to(mu.device)\nloss.backward()", []),
        ("", ["TPL401"]),  # nothing trains here: others run it where they like
        ("model.cuda()\nloss.backward()", ["TPL401"]),
        ("d = torch.device(args.where)\nloss.backward()", ["TPL401"]),
        ("p.add_argument('--device')\nloss.backward()", ["TPL401"]),
        ("from pytorch_lightning import Trainer\nloss.backward()", ["TPL401"]),
    ],
)
def test_what_goes_where_others_are_moves_in_no_project_of_the_cpu(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, FOLLOWING, other) == expected


@pytest.mark.parametrize(
    ("beside", "expected"),
    [
        ("x = x.cuda()\nloss.backward()", []),  # the folder trains on the one GPU
        ("x = x.cuda()", ["TPL501"]),
        ("x = x.to(args.device)\nloss.backward()", ["TPL501"]),
        ("loss.backward()\ntorch.save(state, 'a')", []),  # the folder trains on the CPU
        ("loss.backward()", ["TPL501"]),
        ("x = x.to(device)\nloss.backward()\ntorch.save(state, 'a')", ["TPL501"]),
    ],
)
def test_a_folder_that_trains_for_itself_is_a_program(tmp_path: Path, beside: str, expected: list[str]) -> None:
    for folder, text in (("one", beside), ("two", "device = 'cuda' if torch.cuda.is_available() else 'cpu'")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.py").write_text(f"import torch\n{text}\n")
    found = lint(LOADING, filename=str(tmp_path / "one" / "load.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"two/main.py": "from one.load import load"}, ["TPL501"]),
        ({"main.py": "import one.load as loading"}, ["TPL501"]),
        ({"main.py": "from options import one"}, []),
        ({"one/deep/step.py": "from ..utils import x"}, []),  # there is none
        ({"one/deep/step.py": "from utils.options import chosen", "utils/options.py": "x = 1"}, ["TPL501"]),
        ({"one/step.py": "import options", "options.py": "x = 1"}, ["TPL501"]),
        ({"one/step.py": "import options", "one/options.py": "x = 1", "options.py": "x = 1"}, []),
        ({"one/step.py": "import torch, numpy as np", "two/numpy.py": "x = 1"}, []),
    ],
)
def test_a_folder_that_is_a_part_of_a_program_is_none_by_itself(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    chosen = "device = 'cuda' if torch.cuda.is_available() else 'cpu'"
    for name, text in {"one/train.py": "x = x.cuda()\nloss.backward()", "two/devices.py": chosen, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    found = lint(LOADING, filename=str(tmp_path / "one" / "load.py"), project_root=str(tmp_path))
    assert [each.code for each in found] == expected


def test_what_a_folder_says_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "one" / "train.py"
    path.parent.mkdir()
    path.write_text("loss.backward()")
    (tmp_path / "two.py").write_text("y = x")
    load = str(tmp_path / "one" / "load.py")
    reading = Files().reading(load, str(tmp_path))
    assert reading.speaks_of("backward passes", near=True) is True
    assert still_hold(Files(), load, reading.answers, str(tmp_path))
    path.write_text("pass")
    (tmp_path / "two.py").write_text("loss.backward()")
    assert not still_hold(Files(), load, reading.answers, str(tmp_path))


SPOKEN_OF = {
    "accelerators": ["x = x.CUDA()", "import deepspeed", "m.to('xpu')", "hpu = 1"],
    "choices of devices": [
        *(
            'torch.device("cpu")',
            "torch.load(p, map_location=d)",
            "torch.device('cuda:1')",
            "r = args.local_rank",
            "f(world_size)",
        ),
        *(
            "torch.cuda.set_device(0)",
            "p.add_argument('--device')",
            "x.to(cfg.device)",
            "m.to(mps)",
            "from accelerate import A",
        ),
    ],
    "moves to the GPU": ["x.cuda()", "x.to('cuda')", "m.to(device=0)", "d = torch.device('cuda')"],
    "other devices": [
        "x.cuda()",
        "GPUS = 2",
        "import Horovod",
        "t = Trainer(m)",
        "d = device(x)",
        "f(hparams.device)",
        "xla = 1",
    ],
    "places of processes": [
        "torch.cuda.set_device(r)",
        "net = DDP(net, device_ids=[r])",
        "x.cuda(args.gpu)",
        "x.to('cuda:1')",
        "d = f'cuda:{r}'",
        "d = torch.device('cuda', local_rank)",
        "x.to(rank)",
        "with torch.cuda.device(2): f()",
        "import horovod.torch as hvd",
    ],
    "backward passes": ["loss.backward()"],
    "default devices": ["torch.set_default_device(d)", "torch.set_default_tensor_type(torch.cuda.FloatTensor)"],
}


@pytest.mark.parametrize(("topic", "line"), [(topic, line) for topic, lines in SPOKEN_OF.items() for line in lines])
@pytest.mark.parametrize("before", ["", "import torch\n\n# more\n    "])
def test_one_line_speaks_of_a_topic(tmp_path: Path, topic: str, line: str, before: str) -> None:
    for text, expected in ((f"{before}{line}\nmore = 1\n", True), (f"more = 1\n{before}# {line}", topic == "accelerators")):
        (tmp_path / "a.py").write_text(text)
        assert Talk(lambda _: None).speaks_of(topic, str(tmp_path)) is expected


PROCESSES = """
import torch
import torch.distributed as dist
class Trainer:
    def __init__(self, model, args):
        if args.world_size > 1:
            dist.init_process_group("nccl", rank=args.rank)
        model.load_state_dict(torch.load(args.path, weights_only=True))
        self.model = torch.nn.parallel.DistributedDataParallel(model.cuda())
        self.rank = args.local_rank
    def step(self, x):
        self.model(x.cuda()).sum().backward()
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("x = x.cuda(non_blocking=True)\ny = y.to('cuda:0').cuda(0)", []),  # each process has its first GPU
        ("torch.cuda.set_device(args.local_rank)", ["TPL501"]),
        ("x = x.to(rank)", ["TPL501"]),
        ("os.system('CUDA_VISIBLE_DEVICES=3 python main.py')", []),
    ],
)
def test_processes_of_which_none_is_told_its_gpu_have_the_first_one(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert codes(tmp_path, PROCESSES, other) == expected


def test_processes_of_a_file_alone_may_each_have_a_gpu(tmp_path: Path) -> None:
    assert codes(tmp_path, PROCESSES, "", alone=True) == ["TPL501"]


OLD_NAMES = """
import torch
from torch import nn
from torch.autograd import Variable
def make():
    w = torch.empty(2)
    nn.init.constant(w, 1)
    with torch.no_grad():
        return Variable(w * 2, volatile=True)
"""
LEAVES = """
import torch
from torch.autograd import Variable
def leaf(x):
    return Variable(torch.sin(x), requires_grad=True)
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("import warnings\nwarnings.simplefilter('error')", ["unsafe", "unsafe"]),
        ("import warnings\nwarnings.filterwarnings(action='error', category=UserWarning)", ["unsafe", "unsafe"]),
        ("import logging\nlogging.captureWarnings(True)", ["unsafe", "unsafe"]),
        ("import warnings\nwarnings.filterwarnings('ignore')", ["safe", "safe"]),
        ("# warnings.simplefilter('error')", ["safe", "safe"]),
    ],
)
def test_warnings_are_noticed_where_the_project_makes_errors_of_them(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert safeties(tmp_path, OLD_NAMES, other) == expected


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("from main import leaf\nprint(torch.func.vmap(leaf)(x))", ["unsafe"]),
        ("from functorch import jacrev", ["unsafe"]),
        ("import torch.nn.functional as F", ["safe"]),
    ],
)
def test_leaves_are_none_where_the_project_transforms_functions(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert safeties(tmp_path, LEAVES, other) == expected


ANNOTATED = """
from torch.autograd import Variable
def double(x: Variable):
    return x * 2
"""


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ("import typing\nfrom main import double\nprint(typing.get_type_hints(double))", ["unsafe"]),
        ("from main import double\nprint(double.__annotations__)", ["unsafe"]),
        ("from main import double\nprint(double(x))", ["safe"]),
    ],
)
def test_annotations_matter_where_the_project_reads_some(tmp_path: Path, other: str, expected: list[str]) -> None:
    assert safeties(tmp_path, ANNOTATED, other) == expected


def safeties(folder: Path, text: str, other: str) -> list[str]:
    """Whether the fixes in a file of a project that has another one are safe."""
    (folder / "other.py").write_text(other)
    found = lint(text, filename=str(folder / "main.py"), project_root=str(folder))
    return [each.fix.applicability.value for each in found if each.fix is not None]
