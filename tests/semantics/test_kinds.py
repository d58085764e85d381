"""What expressions evaluate to: the marked expression's kind, in the words of `marked.describe`."""

from __future__ import annotations

import pytest

from marked import kind, kinds

HEADER = (
    "import torch, numpy as np\nfrom torch import nn\nimport torch.nn.functional as F\nfrom torch.autograd import Variable\n"
)

MODEL = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
    def forward(self, x):
        return self.fc(x)
model = Net()
"""


def check(snippet: str, expected: str) -> None:
    assert kind(HEADER + snippet) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("torch.zeros(3)", "tensor nograd"),
        ("torch.randn(2, 3, requires_grad=True)", "tensor leaf"),
        ("torch.randn(2, 3, requires_grad=False)", "tensor nograd"),
        ("torch.randn(2, 3, requires_grad=flag)", "tensor"),
        ("torch.tensor(1.0)", "tensor nograd scalar"),
        ("torch.tensor([1.0])", "tensor nograd"),
        ("torch.from_numpy(a)", "tensor nograd"),
        ("torch.FloatTensor(3)", "tensor nograd"),
        ("torch.cuda.FloatTensor(3)", "tensor nograd"),
        ("torch.arange(3)", "tensor nograd"),
        ("torch.zeros_like(x)", "tensor nograd"),
        ("nn.Parameter(torch.zeros(3))", "tensor leaf"),
        ("nn.Parameter(torch.zeros(3), requires_grad=False)", "tensor nograd"),
        ("Variable(x)", "tensor nograd"),
        ("Variable(x, requires_grad=True)", "tensor leaf"),
        ("torch.zeros(3).requires_grad_()", "tensor leaf"),
        ("torch.zeros(3).new_ones(2)", "tensor nograd"),
        ("torch.device('cpu')", "unknown"),
        ("torch.load(p)", "unknown"),
        ("nn.Linear(3, 1)", "module"),
        ("nn.CrossEntropyLoss()", "module"),
        ("torch.optim.SGD(ps, lr=1)", "optimizer"),
        ("torch.optim.lr_scheduler.StepLR(o, 1)", "scheduler"),
        ("torch.utils.data.DataLoader(d)", "data loader"),
        ("np.zeros(3)", "array"),
        ("nn.utils.rnn.pack_padded_sequence(x, n)", "packed sequence"),
        ("nn.utils.rnn.pad_packed_sequence(x)", "(tensor, tensor nograd)"),
    ],
)
def test_what_torch_makes(expression: str, expected: str) -> None:
    check(f"«{expression}»", expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1", "number"),
        ("True", "number"),
        ("-1.5", "number"),
        ("1j", "number"),
        ("'a'", "string"),
        ("f'{a}'", "string"),
        ("'%d' % n", "string"),
        ("None", "None"),
        ("[1, 'a']", "(number, string)"),
        ("(1, None)", "(number, None)"),
        ("{1, 2}", "[number]"),
        ("[1, *x]", "[number]"),
        ("{'a': 1}", "{number}"),
        ("[i for i in range(3)]", "[number]"),
        ("{k: 1.0 for k in y}", "{number}"),
        ("lambda: 1", "function"),
        ("1 if c else 2", "number"),
        ("1 if c else 'a'", "unknown"),
        ("not x", "number"),
        ("1 < 2", "number"),
        ("x", "unknown"),
        ("f(x)", "unknown"),
        ("x.y", "unknown"),
        ("x[0]", "unknown"),
        ("len(x)", "number"),
        ("float(x)", "number"),
        ("x.item()", "number"),
        ("str(x)", "string"),
        ("range(3)", "[number]"),
        ("1 if (n := 2) else n", "number"),
        ("list((1, 'a'))", "(number, string)"),
        ("zip([1], ['a'])", "[(number, string)]"),
        ("enumerate(['a'])", "[(number, string)]"),
        ("[1] + [2]", "[number]"),
        ("[0] * 3", "[number]"),
        ("[1, 2][0]", "number"),
        ("[1, 'a'][-1]", "string"),
        ("[1, 'a'][1:]", "[unknown]"),
        ("{'a': 1}['a']", "number"),
        ("[[1, 2], [3]][0][1]", "number"),
        ("sum([1, 2])", "number"),
        ("max(1, 2)", "number"),
        ("math.sqrt(2)", "unknown"),
    ],
)
def test_plain_python(expression: str, expected: str) -> None:
    check(f"«{expression}»", expected)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("w.data", "tensor nograd"),
        ("w.grad", "tensor nograd"),
        ("w.detach()", "tensor nograd"),
        ("w.item()", "number"),
        ("w.numpy()", "array"),
        ("w.tolist()", "[number]"),
        ("w.cpu().numpy()", "array"),
        ("w.shape", "[number]"),
        ("w.size()", "[number]"),
        ("w.size(0)", "number"),
        ("w.requires_grad", "number"),
        ("w.T", "tensor graph"),
        ("w * 2", "tensor graph"),
        ("2 * w", "tensor graph"),
        ("w + n", "tensor graph"),
        ("n + n", "tensor nograd"),
        ("n + unknown", "tensor"),
        ("-w", "tensor graph"),
        ("-n", "tensor nograd"),
        ("w @ n", "tensor graph"),
        ("w > 0", "tensor nograd"),
        ("w == n", "tensor nograd"),
        ("w[0]", "tensor graph"),
        ("w[1:]", "tensor graph dims"),
        ("n[0]", "tensor nograd"),
        ("w.sum()", "tensor graph scalar"),
        ("w.mean()", "tensor graph scalar"),
        ("w.sum(1)", "tensor graph"),
        ("w.sum(dim=1)", "tensor graph"),
        ("w.mean(0, keepdim=True)", "tensor graph"),
        ("w.norm()", "tensor graph scalar"),
        ("w.max()", "tensor graph scalar"),
        ("w.max(1)", "(tensor graph, tensor nograd)"),
        ("w.max(dim=1)", "(tensor graph, tensor nograd)"),
        ("w.argmax(1)", "tensor nograd"),
        ("w.topk(2)", "(tensor graph, tensor nograd)"),
        ("w.sort()", "(tensor graph, tensor nograd)"),
        ("w.view(-1)", "tensor graph"),
        ("w.sum().view(1)", "tensor graph"),
        ("w.mul(2)", "tensor graph"),
        ("w.chunk(2)", "[tensor graph]"),
        ("w.unbind()", "[tensor graph]"),
        ("w.cuda()", "tensor graph"),
        ("n.cuda()", "tensor nograd"),
        ("n.to(device)", "tensor nograd"),
        ("n.float().log()", "tensor nograd"),
        ("w.type()", "string"),
        ("w.dim()", "number"),
        ("w.eq(n)", "tensor nograd"),
        ("torch.relu(w)", "tensor graph"),
        ("torch.relu(n)", "tensor nograd"),
        ("F.relu(w)", "tensor graph"),
        ("torch.sum(w)", "tensor graph scalar"),
        ("torch.sum(w, 1)", "tensor graph"),
        ("torch.sum(w, dim=1)", "tensor graph"),
        ("torch.mean(w)", "tensor graph scalar"),
        ("torch.max(w)", "tensor graph scalar"),
        ("torch.max(w, 1)", "(tensor graph, tensor nograd)"),
        ("torch.max(w, n)", "tensor graph"),
        ("torch.topk(w, 2)", "(tensor graph, tensor nograd)"),
        ("torch.argmax(w)", "tensor nograd scalar"),
        ("torch.where(w > 0)", "[tensor nograd]"),
        ("torch.cat([w, n])", "tensor graph"),
        ("torch.stack([n, n])", "tensor nograd"),
        ("torch.split(w, 2)", "[tensor graph]"),
        ("torch.is_tensor(w)", "number"),
        ("torch.where(w > 0, w, n)", "tensor graph"),
        ("F.softmax(w, dim=1)", "tensor graph"),
        ("F.mse_loss(w, n)", "tensor graph scalar"),
        ("F.mse_loss(w, n, reduction='sum')", "tensor graph scalar"),
        ("F.mse_loss(w, n, reduction='none')", "tensor graph dims"),
        ("F.mse_loss(w, n, reduce=False)", "tensor graph dims"),
        ("F.mse_loss(w, n, reduction=how)", "tensor graph"),
        ("F.mse_loss(n, n)", "tensor nograd scalar"),
        ("F.cross_entropy(unknown, n)", "tensor scalar"),
        ("nn.CrossEntropyLoss()(w, n)", "tensor graph scalar"),
        ("nn.CrossEntropyLoss(reduction='none')(w, n)", "tensor graph dims"),
        ("nn.MSELoss(reduce=False)(w, n)", "tensor graph dims"),
        ("nn.Linear(3, 1)(n)", "tensor graph"),
        ("nn.ReLU()(n)", "tensor nograd"),
        ("nn.LSTM(3, 1)(n)[0]", "tensor graph"),
        ("nn.Linear(3, 1).weight", "tensor leaf"),
        ("nn.Linear(3, 1).bias.data", "tensor nograd"),
        ("nn.BatchNorm1d(3).running_mean", "tensor nograd"),
        ("nn.Linear(3, 1).cuda().weight.grad", "tensor nograd"),
        ("n if c else w", "tensor"),
        ("w if c else None", "tensor leaf"),
        ("w or n", "tensor"),
        ("0 + n.sum()", "tensor nograd scalar"),
        ("[w, n]", "(tensor leaf, tensor nograd)"),
        ("[w, n][1]", "tensor nograd"),
        ("{'a': n}['a']", "tensor nograd"),
        ("sum([n.sum(), n.sum()])", "tensor nograd scalar"),
        ("dict(a=n)", "{unknown}"),
        ("copy.deepcopy(n)", "unknown"),
        ("abs(n)", "tensor nograd"),
        ("[p * 2 for p in [w]][0]", "tensor graph"),
    ],
)
def test_operations_on_tensors(expression: str, expected: str) -> None:
    """``w`` is a leaf that requires grad, ``n`` a tensor that does not."""
    check(f"w = torch.ones(3, requires_grad=True)\nn = torch.zeros(3)\ny = «{expression}»", expected)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("for p in model.parameters(): «p»", "tensor leaf"),
        ("for name, p in model.named_parameters(): «p»", "tensor leaf"),
        ("for name, p in model.named_parameters(): «name»", "string"),
        ("for i, p in enumerate(model.parameters()): «p»", "tensor leaf"),
        ("for p, q in zip(model.parameters(), other.parameters()): «q»", "tensor leaf"),
        ("for i, (p, q) in enumerate(zip(a.parameters(), b.parameters())): «p»", "tensor leaf"),
        ("for p in list(model.parameters())[1:]: «p»", "tensor leaf"),
        ("for p in filter(lambda p: p.requires_grad, model.parameters()): «p»", "tensor leaf"),
        ("ps = [p for p in model.parameters() if p.requires_grad]\nfor q in ps: «q»", "tensor leaf"),
        ("for g in opt.param_groups:\n    for p in g['params']: «p»", "tensor leaf"),
        ("for p in itertools.chain(a.parameters(), b.parameters()): «p»", "unknown"),
        ("import itertools\nfor p in itertools.chain(a.parameters(), b.parameters()): «p»", "tensor leaf"),
        ("for m in model.modules(): «m»", "module"),
        ("for m in model.modules():\n    if isinstance(m, nn.Conv2d): «m.weight»", "tensor leaf"),
        ("for b in model.buffers(): «b»", "tensor nograd"),
        ("next(model.parameters()).data\np = «next(model.parameters())»", "tensor leaf"),
        ("p = «model.fc.weight»", "tensor leaf"),
        ("p = «model.layers[0]»", "module"),
        ("for layer in model.layers: «layer»", "module"),
        ("y = «model(x)»", "tensor graph"),
        ("y = «model.cuda()»", "module"),
        ("model = nn.DataParallel(model)\ny = «model»", "module"),
        ("model = torch.compile(model)\ny = «model(x)»", "tensor graph"),
        ("y = «nn.DataParallel(model).module»", "module"),
        ("y = «model.state_dict()»", "{tensor nograd}"),
        ("for v in model.state_dict().values(): «v»", "tensor nograd"),
        ("for k, v in model.state_dict().items(): «v»", "tensor nograd"),
    ],
)
def test_parameters_and_modules(snippet: str, expected: str) -> None:
    check(MODEL + snippet, expected)


HOLDER = """
class Trainer:
    def __init__(self, net, schedule=None, size=3):
        self.net, self.size = net, size
        self.schedule = schedule

    def run(self):
        return {marked}

schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
"""


@pytest.mark.parametrize(
    ("marked", "made", "expected"),
    [
        ("«self.schedule»", "Trainer(nn.Linear(2, 2), schedule).run()", "scheduler"),
        ("«self.schedule»", "Trainer(nn.Linear(2, 2), schedule=schedule)\nTrainer(nn.Linear(2, 2))", "scheduler"),
        ("«self.schedule»", "Trainer(nn.Linear(2, 2))", "unknown"),
        ("«self.schedule»", "Trainer(net, optimizer)\nTrainer(net, schedule)", "scheduler"),
        ("«self.schedule»", "Trainer(net, torch.optim.SGD(ps))\nTrainer(net, schedule)", "unknown"),
        ("«self.schedule»", "class Longer(Trainer):\n    pass\nTrainer(net, schedule)", "unknown"),
        ("«self.schedule»", "Trainer(*given)", "unknown"),
        ("«self.net»", "Trainer(nn.Linear(2, 2))\nTrainer(nn.Linear(2, 2).state_dict())", "unknown"),
        ("«self.size»", "Trainer(net, schedule, torch.zeros(3))", "unknown"),
    ],
)
def test_what_the_file_gives_to_constructors(marked: str, made: str, expected: str) -> None:
    check(HOLDER.format(marked=marked) + made, expected)


LOADER = "loader = torch.utils.data.DataLoader(data)\n"


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("for batch in loader: «batch»", "tensor nograd loose"),
        ("for x, y in loader: «x»", "tensor nograd loose"),
        ("for i, (x, y) in enumerate(loader): «y»", "tensor nograd loose"),
        ("for i, (x, y) in enumerate(loader): «i»", "number"),
        ("for i, (x, y) in enumerate(loader, 1): «y»", "tensor nograd loose"),
        ("for batch in loader:\n    x = batch['image'].cuda()\n    «x»", "tensor nograd loose"),
        ("x, y = next(iter(loader))\n«x»", "tensor nograd loose"),
        ("items = iter(loader)\nx, y = items.next()\n«x»", "tensor nograd loose"),
        ("from tqdm import tqdm\nfor x, y in tqdm(loader): «x»", "tensor nograd loose"),
        ("for x, y in loader:\n    x = Variable(x)\n    «x»", "tensor nograd"),
    ],
)
def test_what_a_loader_gives(snippet: str, expected: str) -> None:
    check(LOADER + snippet, expected)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("class A:\n    def __init__(self): self.w = torch.zeros(3)\n    def f(self): return «self.w»", "tensor nograd"),
        ("class A:\n    w = torch.zeros(3)\n    def f(self): return «self.w»", "tensor nograd"),
        ("class A:\n    def __init__(self): self.data = []\n    def f(self): return «self.data»", "()"),
        ("class A:\n    def f(self): return «self.c»(x, y)\n    def g(self): self.c = nn.MSELoss()", "module"),
        ("class A:\n    def f(self): return «self.c(x, y)»\n    def g(self): self.c = nn.MSELoss()", "tensor scalar"),
        ("class A:\n    def __init__(self): self.n = 0\nclass B(A):\n    def f(self): return «self.n»", "number"),
        ("class A:\n    def f(self, x): return torch.zeros(2)\na = A()\ny = «a.f(1)»", "tensor nograd"),
        ("class A:\n    def f(self): return 1\n    def g(self): return «self.f()»", "number"),
        ("class A:\n    def f(self): return 1\nclass B(A):\n    def f(self): return «super().f()»", "number"),
        ("class A:\n    @property\n    def n(self): return 1\n    def g(self): return «self.n»", "number"),
        ("class A:\n    @classmethod\n    def f(cls): return «cls()»", "instance"),
        ("class A(nn.Module):\n    @classmethod\n    def f(cls): return «cls()»", "module"),
        ("class A(nn.Module): pass\nclass B(A): pass\nb = «B()»", "module"),
        ("class A(Base):\n    def forward(self, x): return x\na = «A()»", "module"),
        ("class A:\n    def forward(self, x): return x\na = «A()»", "instance"),
        ("class A(torch.optim.Optimizer): pass\na = «A(p)»", "optimizer"),
        (
            "class A(nn.Module):\n    def __init__(self): self.register_buffer('b', z)\n    def f(self): return «self.b»",
            "tensor nograd",
        ),
        (
            "class A(nn.Module):\n    def __init__(self):\n        if z: self.register_buffer('b', z)\n"
            "        else: self.register_parameter('b', None)\n    def f(self): return «self.b»",
            "tensor nograd",
        ),
        (
            "class A(nn.Module):\n    def __init__(self): self.p = nn.Parameter(z)\n    def f(self): return «self.p»",
            "tensor leaf",
        ),
        ("class A:\n    def __call__(self, x): return 1\na = A()\nb = «a(2)»", "number"),
        ("class A:\n    def __init__(self): self.a, self.b = 1, 'x'\n    def f(self): return «self.b»", "string"),
    ],
)
def test_attributes_and_methods(snippet: str, expected: str) -> None:
    check(snippet, expected)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        (
            "class N(nn.Module):\n    def forward(self, x): return self.f(x), self.g(x)\nm = N()\ny = «m(x)»",
            "(unknown, unknown)",
        ),
        ("class N(nn.Module):\n    def forward(self, x): return F.relu(x), 1\nm = N()\ny = «m(x)»", "(tensor graph, number)"),
        ("class N(nn.Module):\n    def forward(self, x): return x.detach()\nm = N()\ny = «m(x)»", "tensor nograd"),
        ("def f(x): return F.mse_loss(x, y)\nz = «f(1)»", "tensor scalar"),
        ("def f(x):\n    if x: return None\n    return torch.zeros(1)\nz = «f(1)»", "tensor nograd"),
        ("def f(): return g()\ndef g(): return 1\nz = «f()»", "number"),
        ("def f(): return f()\nz = «f()»", "unknown"),
        ("def f() -> torch.Tensor: return g()\nz = «f()»", "tensor"),
        ("def f(x): return «x»\nf(torch.zeros(2))", "tensor nograd"),
        ("def f(x): return «x»\nf(torch.zeros(2))\nf('a')", "unknown"),
        ("def f(a, x): return «x»\nf(1, x=torch.zeros(2))", "tensor nograd"),
        ("def f(x=1): return «x»", "unknown"),
        ("def f(x='a'): return «x»", "string"),
        ("def f(*args): return «args»", "[unknown]"),
        ("def f(**kw): return «kw»", "{unknown}"),
        ("g = lambda: torch.zeros(2)\nz = «g()»", "tensor nograd"),
        ("async def f(): return 1\nasync def g(): return «f»", "function"),
        ("class A:\n    def f(self, x): return «x»\n    def g(self): self.f(1)", "number"),
        ("class A:\n    @staticmethod\n    def f(x): return «x»\nA.f(1)", "number"),
    ],
)
def test_functions(snippet: str, expected: str) -> None:
    check(snippet, expected)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("x = 1\nx = torch.zeros(3)\n«x»", "tensor nograd"),
        ("x = None\nif c: x = torch.zeros(3)\n«x»", "tensor nograd"),
        ("x = 0\nfor i in y: x = x + torch.zeros(3)\n«x»", "tensor nograd"),
        ("x = 0\nx += torch.zeros(3)\n«x»", "tensor nograd"),
        ("x = 0\nx += 1.5\n«x»", "number"),
        ("a, b = 1, torch.zeros(3)\n«b»", "tensor nograd"),
        ("a, *b = 1, 'x', 'y'\n«b»", "[unknown]"),
        ("_, i = torch.max(w, 1)\n«i»", "tensor nograd"),
        ("(a, (b, c)) = 1, ('x', None)\n«c»", "None"),
        ("with torch.zeros(3) as x: «x»", "tensor nograd"),
        ("x = y = 1\n«x»", "number"),
        ("[«x» for x in [1, 2]]", "number"),
        ("xs = []\nfor i in y: xs.append(i)\n«xs»", "()"),
        ("x = [torch.zeros(1), 1, 'a']\n«x[i]»", "unknown"),
        ("x = torch.zeros(1) if c else 1.0\n«x»", "tensor nograd"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    return «x»", "number"),
        ("x = x\n«x»", "unknown"),
        (f"{MODEL}for i in y:\n    «model»\n    model = model.cpu()\n    model = model.cuda()", "module"),
        (f"{MODEL}for i in y:\n    model = model.cpu()\n    print(«model»(i))\n    model = model.to(device)", "module"),
        ("x = 1\nfor i in y:\n    x = x.to(i)\n    «x»", "unknown"),
        ("for i in y:\n    x = x.to(i)\n    «x»", "unknown"),
        ("x = 1\ndel x\n«x»", "unknown"),
        ("try:\n    x = 1\nexcept E as e: «e»", "unknown"),
        ("x = f()\nif c: x = torch.zeros(3)\n«x»", "tensor"),
        ("import random\nx = random.sample(range(9), 2)\n«x»", "[number]"),
        ("import random\nx = random.choice([torch.zeros(3)])\n«x»", "tensor nograd"),
        ("import random\nx = random.random()\n«x»", "number"),
    ],
)
def test_assignments(snippet: str, expected: str) -> None:
    check(snippet, expected)


@pytest.mark.parametrize(
    ("snippet", "expected"),
    [
        ("def f(x):\n    x.backward()\n    «x»", "tensor graph scalar"),
        ("x = g()\nscaler.scale(x).backward()\n«x»", "tensor graph scalar"),
        ("x = g()\naccelerator.backward(x)\n«x»", "tensor graph scalar"),
        ("x = g()\nx.grad_fn\n«x»", "tensor"),
        ("x = g()\nx.detach()\n«x»", "tensor"),
        ("def f(x):\n    x.requires_grad_()\n    «x»", "unknown"),
        ("def f(x):\n    F.relu(x)\n    «x»", "tensor"),
        ("def f(x):\n    x.parameters()\n    «x»", "module"),
        ("def f(x):\n    x.param_groups\n    «x»", "optimizer"),
        ("def f(x):\n    x.batch_sizes\n    «x»", "packed sequence"),
        ("def f(x):\n    if isinstance(x, torch.Tensor): pass\n    «x»", "tensor"),
        # what a test has found to be no tensor is none, but its items may be some
        (MODEL + "out = model(x)\nif isinstance(out, tuple): «out[-1]»", "tensor graph"),
        (MODEL + "out = model(x)\nif isinstance(out, tuple): «out»", "unknown"),
        (MODEL + "out = model(x)\nif not isinstance(out, tuple): «out»", "tensor graph"),
        ("def f(x):\n    x.data\n    «x»", "unknown"),
        ("def f(x):\n    x.grad\n    «x»", "unknown"),
        ("def f(x):\n    x.detach()\n    x.keys()\n    «x»", "unknown"),
        ("def f(x):\n    x.size(0)\n    x.columns\n    «x»", "unknown"),
        ("class A:\n    def f(self):\n        self.x.backward()\n        «self.x»", "tensor graph scalar"),
        ("class A:\n    def f(self):\n        self.x.detach()\n        «self.x»", "tensor"),
        ("out = model(**batch)\nout.loss.backward()\n«out.loss»", "tensor graph scalar"),
        ("out = model(**batch)\nout.loss.backward()\n«out»", "tensor graph loose"),
        ("class N(nn.Module):\n    def forward(self, x): return «x»", "tensor loose"),
        ("class N(nn.Module):\n    def forward(self, x):\n        x.keys()\n        return «x»", "unknown"),
    ],
)
def test_evidence_by_use(snippet: str, expected: str) -> None:
    check(snippet, expected)


@pytest.mark.parametrize(
    "snippet",
    [
        "import argparse\nargs = argparse.ArgumentParser().parse_args()\n«args.data»",
        "import xml.dom.minidom as dom\nnode = dom.parse(p)\n«node.data»",
        "import requests\nr = requests.get(u)\n«r.data»",
        "import tensorflow as tf\nv = «tf.Variable(1)»",
        "from torchvision.datasets import MNIST\nd = MNIST(p)\n«d.data»",
        "from torch_geometric.data import Data\nd = Data()\n«d.x»",
        "import pandas as pd\ndf = pd.read_csv(p)\n«df.data»",
        "from collections import UserDict\nclass D(UserDict):\n    def f(self): return «self.data»",
        "class D(torch.utils.data.Dataset):\n    def __init__(self, d): self.data = d\n    def f(self): return «self.data»",
        "import http.client\nr = http.client.HTTPConnection(h).getresponse()\n«r.data»",
    ],
)
def test_what_is_no_tensor(snippet: str) -> None:
    assert "tensor" not in kind(HEADER + snippet)


def test_the_kinds_of_a_training_loop() -> None:
    found = kinds(
        HEADER
        + MODEL
        + LOADER
        + """
criterion = nn.CrossEntropyLoss().cuda()
optimizer = torch.optim.Adam(model.parameters())
total = 0.0
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        x, y = «x.cuda()», y.cuda()
        out = «model(x)»
        loss = «criterion(out, y)»
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += «loss.item()»
        _, pred = torch.max(out, 1)
        correct = «(pred == y).sum()»
print(«total»)
"""
    )
    assert found == [
        "tensor nograd loose",
        "tensor graph",
        "tensor graph scalar",
        "number",
        "tensor nograd scalar",
        "number",
    ]


def test_what_an_evaluator_gives_is_no_module() -> None:
    snippet = (
        "def f(evaluator, scores):\n    «evaluator.eval(scores)['mae']»\n    «evaluator.eval(scores)»\n    «evaluator.eval()»"
    )
    assert kinds(snippet) == ["unknown", "unknown", "module"]


def test_a_function_gives_nothing_of_what_one_within_it_returns() -> None:
    within = "    def rate(step):\n        if step:\n            return 1\n        return 'a'\n"
    check(f"def make():\n{within}    return torch.zeros(2)\n" + "x = «make()»", "tensor nograd")
