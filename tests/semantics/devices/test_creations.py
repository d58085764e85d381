"""Which tensors are made twice, and what their factory could be asked for instead."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.devices.creations import Creation, Creations

HEADER = "import torch\nfrom torch import nn\ndevice = torch.device('cuda')\n"


def creation(snippet: str) -> Creation[ast.Call, ast.expr] | None:
    """What is found at the marked call of a snippet."""
    semantics, (call,) = marked(HEADER + snippet)
    assert isinstance(call, ast.Call)
    return semantics.of(Creations).copied.get(call)


def asked(snippet: str) -> str:
    """What the factory could be asked for: ``device=d, dtype=float32``; empty if nothing is found."""
    found = creation(snippet)
    if found is None:
        return ""
    parts = {"device": found.device, "dtype": found.dtype or found.known_dtype}
    texts = {name: ast.unparse(part) if isinstance(part, ast.AST) else part for name, part in parts.items()}
    return ", ".join(f"{name}={text}" for name, text in texts.items() if text)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("«torch.zeros(3).cuda()»", 'device="cuda"'),
        ("«torch.zeros(3).cuda(0)»", 'device="cuda:0"'),
        ("«torch.zeros(3).to(device)»", "device=device"),
        ("def f(self):\n    return «torch.zeros(3).to(self.gpu_id)»", "device=self.gpu_id"),
        ("«torch.zeros(3).float().to(device)»", "device=device, dtype=float32"),
        ("«torch.zeros(3).double().to(device)»", "device=device, dtype=float64"),
        ("«torch.arange(3).float()»", "dtype=float32"),
        ("«torch.arange(3).to(torch.float16)»", "dtype=torch.float16"),
        ("«torch.eye(3)[None, :].cuda()»", 'device="cuda"'),
        ("«torch.eye(3)[None, ...].to(device)»", "device=device"),
        ("«torch.zeros(3).unsqueeze(0).cuda()»", 'device="cuda"'),
        ("x = torch.ones(3)\n«torch.zeros(3).type_as(x)»", "device=x.device, dtype=x.dtype"),
        ("«torch.ones(3).to(x.device).cuda()»", 'device="cuda"'),
        ("«torch.tensor([1, 2]).float()»", "dtype=float32"),
        ("«x.new_zeros(3).long()»", "dtype=int64"),
        ("from torch.autograd import Variable\n«Variable(torch.zeros(3)).cuda()»", 'device="cuda"'),
        ("from torch.autograd import Variable as V\n«V(torch.zeros(3).unsqueeze(0)).to(device)»", "device=device"),
    ],
)
def test_what_the_factory_could_be_asked_for(expression: str, expected: str) -> None:
    assert asked(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "«torch.zeros(3).float()»",
        "«torch.arange(3).long()»",
        "«torch.zeros(3).to('cpu')»",
        "«torch.zeros(3).to(torch.device('cpu'))»",
        "«torch.tensor(rows).to(device)»",
        "«torch.tensor([0.5]).float()»",
        "«torch.zeros_like(x).to(device)»",
        "x = torch.ones(3)\n«torch.zeros_like(x).to(x)»",
        "x = torch.ones(3)\n«torch.zeros_like(x).type_as(x)»",
        "«torch.rand(3).long()»",
        "«torch.linspace(0, 9, 4).long()»",
        "«torch.ones(3, 3).triu().cuda()»",
        "«torch.randn(3, generator=g).to(device)»",
        "«torch.zeros(3, out=x).to(device)»",
        "«torch.zeros(3, device='cpu').to(device)»",
        "import numpy as np\n«np.zeros(3).astype(np.float32)»",
        "from torch.autograd import Variable\n«Variable(torch.zeros(3), requires_grad=True).cuda()»",
        "from tensorflow import Variable\n«Variable(torch.zeros(3)).cuda()»",
        "«wrap(torch.zeros(3)).cuda()»",
        "«nn.Parameter(torch.zeros(3)).cuda()»",
    ],
)
def test_no_second_tensor_that_the_factory_could_make(expression: str) -> None:
    assert creation(expression) is None


@pytest.mark.parametrize(
    "expression",
    [
        "«torch.zeros(3).to(target)»",
        "«torch.zeros(3).to(*options)»",
        "«torch.zeros(3, **options).cuda()»",
        "«zeros(3).cuda()»",
        "«jnp.zeros(3).cuda()»",
    ],
)
def test_what_is_not_known_is_not_found(expression: str) -> None:
    assert creation(expression) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("torch.manual_seed(0)", False),
        ("state = torch.get_rng_state()", False),
        ("numpy.random.seed(0)", True),
    ],
)
def test_a_seeded_stream_of_random_numbers_is_that_of_the_cpu(body: str, expected: bool) -> None:
    assert (creation(f"def f():\n    {body}\n    return «torch.rand(3).cuda()»") is not None) is expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("«torch.zeros(3).cuda()»", True),
        ("«torch.zeros(3).double()»", True),
        ("«torch.arange(3).float()»", True),
        ("«torch.full((3,), 2).float()»", True),
        ("«torch.tensor([0, 1]).float()»", True),
        ("«torch.rand(3).cuda()»", False),
        ("«torch.empty(3).uniform_(0, 1).cuda()»", False),
        ("«torch.linspace(0, 1, 3).cuda()»", False),
        ("«torch.arange(0, 1, 0.1).cuda()»", False),
        ("«torch.full((3,), 0.1).half()»", False),
        ("«torch.tensor([0.1]).double()»", False),
        ("«torch.zeros(3, requires_grad=True).cuda()»", False),
        ("«torch.zeros(3).expand(2, 3).cuda()»", False),
        ("def f(gpu):\n    return «torch.zeros(3).cuda(gpu)»", False),
    ],
)
def test_whether_the_factory_makes_the_very_values(expression: str, expected: bool) -> None:
    found = creation(expression)
    assert found is not None
    assert found.same.is_certain is expected


def test_the_steps_of_a_chain() -> None:
    found = creation("«torch.zeros(3).unsqueeze(0).to(device).long()»")
    assert found is not None
    assert [ast.unparse(step) for step in found.steps] == [
        "torch.zeros(3).unsqueeze(0).to(device)",
        "torch.zeros(3).unsqueeze(0).to(device).long()",
    ]
    assert ast.unparse(found.factory) == "torch.zeros(3)"


def test_a_parameter_of_a_forward_that_is_called_device_is_no_tensor() -> None:
    text = "class Net(nn.Module):\n    def forward(self, x, device): return «torch.zeros(3).to(device)»"
    assert asked(text) == "device=device"
    assert asked(text.replace("device", "x")) == "device=x.device, dtype=x.dtype"


@pytest.mark.parametrize(
    ("before", "body", "found"),
    [
        ('my_device = "cpu"', "«torch.ones(n).to(my_device)»", False),
        ('my_device = torch.device("cpu")', "«torch.ones(n).to(my_device)»", False),
        ('my_device = pick()\nmy_device = "cpu"', "«torch.ones(n).to(my_device)»", False),
        ("", "my_device = 'cpu'\n    «torch.ones(n).to(my_device)»", False),
        ('my_device = "cpu"', "«torch.ones(n).to(my_device).double()»", True),
        ('my_device = "cpu"\nmy_device = pick()', "«torch.ones(n).to(my_device)»", True),
        ('my_device = "cpu"\nif torch.cuda.is_available():\n    my_device = "cuda"', "«torch.ones(n).to(my_device)»", True),
        ('my_device = "cuda" if torch.cuda.is_available() else "cpu"', "«torch.ones(n).to(my_device)»", True),
        ('my_device = "cpu"\ndef use(it):\n    global my_device\n    my_device = it', "«torch.ones(n).to(my_device)»", True),
        ("", "my_device = 'cpu' if n > 9 else 'cuda'\n    «torch.ones(n).to(my_device)»", True),
    ],
)
def test_what_goes_to_a_name_for_the_cpu_is_there(before: str, body: str, found: bool) -> None:
    assert (creation(f"{before}\ndef f(n):\n    {body}\n") is not None) is found


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ('self.device = torch.device("cpu")', False),
        ('self.device = "cpu"', False),
        ("self.device = pick()", True),
        ('self.device = "cpu"\n        if torch.cuda.is_available():\n            self.device = "cuda"', True),
        ('self.device, self.size = "cpu", 3', True),
        ("self.other = 'cpu'", True),
    ],
)
def test_what_goes_to_an_attribute_that_is_the_cpu_is_there(kept: str, found: bool) -> None:
    code = f"class Data:\n    def read(self, n):\n        {kept}\n        return «torch.ones(n).to(self.device)»\n"
    assert (creation(code) is not None) is found


def test_a_default_of_a_parameter_is_no_name_for_the_cpu() -> None:
    assert creation("def f(n, my_device='cpu'):\n    «torch.ones(n).to(my_device)»\n") is not None


DATA = """
import torch
from torch.utils.data import Dataset

class Base({base}):
    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.images)

class Pairs(Base):
    def __getitem__(self, index):
        image, label = super().__getitem__(index)
        {before}
        return image, «torch.zeros(label.shape).to(image.device)»
"""


@pytest.mark.parametrize(
    ("base", "before", "stays"),
    [
        ("Dataset", "pass", True),
        ("torch.utils.data.Dataset", "other = torch.zeros(3, device=image.device)", False),
        ("object", "pass", False),
        ("Dataset", "image = image.cuda()", False),
        ("Dataset", "image = image.to(self.device)", False),
        ("Dataset", "image = image.to(device)", False),
        ("Dataset", "image = image.to('cuda')", False),
    ],
)
def test_what_a_data_set_makes_stays_on_the_cpu(base: str, before: str, stays: bool) -> None:
    found = creation(DATA.format(base=base, before=before))
    assert found is not None
    assert found.stays is stays


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("x = «torch.zeros(3)»\nx = x.cuda()", 'device="cuda"'),
        ("x = «torch.zeros(3)»\ny = 1\nx = x.unsqueeze(0).to(device)", "device=device"),
        ("x = «torch.zeros(3)»\nx = x.view(1, 3)\nx = x.to(device)", "device=device"),
        ("x = «torch.zeros(3)»\nx = x.float()", ""),
        ("x = «torch.zeros(3)»\ny = x.cuda()", ""),
        ("x = «torch.zeros(3)»\nprint(x)\nx = x.cuda()", ""),
        ("x = «torch.zeros(3)»\nx[0] = 1\nx = x.cuda()", ""),
        ("x = «torch.zeros(3)»\nif y:\n    x = x.cuda()", ""),
        ("for y in z:\n    x = «torch.zeros(3)»\nx = x.cuda()", ""),
        ("x = «torch.zeros(3)»\nplace = find()\nx = x.to(place)", ""),
        ("x = «torch.zeros(3)»\ny.device = find()\nx = x.to(y.device)", ""),
        ("x = «torch.zeros(3)»\nx = x.to(find())", ""),
        ("x = y = «torch.zeros(3)»\nx = x.cuda()", ""),
        ("x = «torch.zeros(3)»\nx = x.to('cpu')", ""),
    ],
)
def test_a_move_behind_a_name(body: str, expected: str) -> None:
    assert asked(body) == expected


@pytest.mark.parametrize(
    ("made", "stays"),
    [
        ("torch.ones(3)", True),
        ("torch.tensor(0.5).float()", True),
        ("torch.bernoulli(torch.tensor(rate).float())", True),
        ("torch.zeros(3, device=device)", False),
        ("torch.ones_like(other)", False),
        ("torch.tensor(torch.ones(3).cuda())", False),
        ("torch.bernoulli(other)", False),
        ("torch.ones(3).to(device)", False),
        ("torch.ones(3).cuda()", False),
        ("other", False),
        ("torch.ones(3)\nif device: y = other", False),
    ],
)
def test_a_tensor_that_follows_one_of_the_cpu(made: str, stays: bool) -> None:
    found = creation(f"y = {made}\n«torch.tensor(1).float().to(y.device)»")
    assert found is not None
    assert found.stays is stays


def test_a_tensor_is_not_moved_to_where_it_is() -> None:
    assert creation("y = torch.ones(3)\n«torch.zeros(3).to(y.device)»") is None
    assert creation("torch.set_default_device(device)\ny = torch.ones(3)\n«torch.zeros(3).to(y.device)»") is not None
