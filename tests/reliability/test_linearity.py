"""The work on a file grows as the file does, and depth is no harm: counted in calls of functions, not in seconds."""

from __future__ import annotations

import cProfile
from collections.abc import Callable

import pytest

from torchlint.engine.linter import lint
from torchlint.rules import all_rules
from torchlint.text.source import Source, SourceError


def many_functions(n: int) -> str:
    function = "def f{0}(model, x):\n    loss = model(x).sum()\n    loss.backward()\n    return f{1}(model, loss.data)\n"
    return "import torch\n" + "".join(function.format(i, max(i - 1, 0)) for i in range(n))


def many_methods(n: int) -> str:
    module = (
        "class A{0}(torch.nn.Module):\n    def __init__(self):\n        self.register_buffer('b{0}', torch.zeros(1))\n"
        "        self.fc = torch.nn.Linear(1, 1)\n    def step(self, x):\n        return x.data\n"
        "    def forward(self, x):\n        return self.step(self.fc(x)) + self.b{0}.data\n"
    )
    return "import torch\n" + "".join(module.format(i) for i in range(n))


def branches(n: int) -> str:
    return "import torch\ndef f(w, c):\n" + "".join(
        f"    x{i} = w * {i}\n    if c[{i}]:\n        x{i} = x{i // 2}.data\n        w = w + x{i}\n" for i in range(n)
    )


def elifs(n: int) -> str:
    return "import torch\ndef f(w, c):\n    x = w\n    if c: pass\n" + "".join(
        f"    elif c == {i}:\n        x{i} = w.data\n        x = x{i}\n" for i in range(n)
    )


def breaks(n: int) -> str:
    return "import torch\ndef f(w, c):\n    while True:\n" + "".join(
        f"        x{i} = w.data\n        if c[{i}]: break\n        if not c: continue\n" for i in range(n)
    )


def loops(n: int) -> str:
    return "import torch\ntotal = 0\n" + "".join(
        f"for x, y in loader:\n    loss = criterion(model(x), y)\n    loss.backward()\n    total += loss\n    z{i} = y.data\n"
        for i in range(n)
    )


def tries(n: int) -> str:
    return (
        "import torch\ndef f(w):\n    try:\n"
        + "".join(f"        x = w[{i}].data\n        y{i} = x\n" for i in range(n))
        + "    except E: pass\n"
    )


def straight(n: int) -> str:
    return "import torch\nx = torch.zeros(1, requires_grad=True)\n" + "x = x + 1\n" * n + "y = x.data\n"


def layers(n: int) -> str:
    return (
        "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n"
        + "".join(f"        x = self.l{i}(torch.relu(x))\n" for i in range(n))
        + "        return x.data\n"
    )


def augmented(n: int) -> str:
    return (
        "import torch\nloss = 0\n"
        + "".join(f"a{i} = m(x).sum()\nloss += a{i}\n" for i in range(n))
        + "loss.backward()\nloss.data\n"
    )


def tuples(n: int) -> str:
    return "import torch\nx = torch.zeros(1)\n" + "x = (x, 1)\n" * n + "y = x[0].data\n"


def long_list(n: int) -> str:
    return "import torch\nw = torch.zeros(1)\nx = [" + "w.data, " * n + "]\n"


def inner_functions(n: int) -> str:
    return "import torch\ndef f(w):\n    x = w\n" + "".join(
        f"    def g{i}():\n        nonlocal x\n        x = w.data\n    g{i}()\n    y = x.data\n" for i in range(n)
    )


HEAD = "import time\nimport numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def training_loops(n: int) -> str:
    loop = (
        "    for x, y in loader:\n        optimizer.zero_grad()\n        loss{0} = F.mse_loss(model(x), y)\n"
        "        loss{0}.backward()\n        optimizer.step()\n        total += loss{0}\n"
    )
    return HEAD + "def f(model, optimizer, loader, total):\n" + "".join(loop.format(i) for i in range(n))


def training_steps(n: int) -> str:
    step = "        loss{0} = F.mse_loss(model(x), y)\n        loss{0}.backward()\n        optimizer.step()\n"
    return HEAD + "def f(model, optimizer, loader):\n    for x, y in loader:\n" + "".join(step.format(i) for i in range(n))


def sums_in_loop(n: int) -> str:
    head = (
        "def f(model, loader, optimizer):\n    for x, y in loader:\n        loss = F.mse_loss(model(x.cuda()), y.cuda())\n"
        "        loss.backward()\n        optimizer.step()\n"
    )
    return HEAD + head + "".join(f"        t{i} += loss.item()\n        print(loss)\n" for i in range(n))


def figures_of_rounds(n: int) -> str:
    method = (
        "class T{0}:\n    def run(self, model, loader):\n        self.total = 0.0\n        for x, y in loader:\n"
        "            self.total += F.mse_loss(model(x), y).item()\n        return self.total / len(loader.dataset)\n"
    )
    entry = "        sums['k{0}'] += F.mse_loss(model(x), y).item()\n        kept{0}.append(F.mse_loss(model(x), y).item())\n"
    shown = (
        "    print(sums['k{0}'] / len(loader.dataset), sum(kept{0}) / len(loader.dataset), sum(kept0) / len(loader.dataset))\n"
    )
    sums = "def f(model, loader):\n    sums = {" + "".join(f"'k{i}': 0.0, " for i in range(n)) + "}\n"
    lists = "".join(f"    kept{i} = []\n" for i in range(n))
    loop = "    for x, y in loader:\n" + "".join(entry.format(i) for i in range(n))
    return HEAD + "".join(method.format(i) for i in range(n)) + sums + lists + loop + "".join(shown.format(i) for i in range(n))


def transposes(n: int) -> str:
    views = "".join(f"    y = y.transpose(1, 2)\n    z{i} = y.view(3, -1)\n" for i in range(n))
    return HEAD + "def f(x):\n    y = x\n" + views


def reshapes(n: int) -> str:
    views = "".join(f"    y{i} = x.view(b, h, w, c)\n    x = y{i}.permute(0, 2, 1, 3)\n" for i in range(n))
    return HEAD + "def f(x):\n    b, c, h, w = x.shape\n" + views


def changes_of_one_alias(n: int) -> str:
    changes = "".join(f"    a[{i}] = 1\n    a.mul_(2)\n    print(y, a)\n" for i in range(n))
    return HEAD + "def f(model, x):\n    y = model(x)\n    a = y.detach()\n" + changes + "    y.sum().backward()\n"


def changes_of_saved_tensors(n: int) -> str:
    changes = "".join(f"    y{i} = torch.exp(w * x)\n    y{i} *= 2\n    x = y{i} * x\n" for i in range(n))
    return HEAD + "def f(w, x):\n" + changes + "    x.sum().backward()\n"


def writes_to_expanded(n: int) -> str:
    writes = "    a{0} = x.expand(3, 4)\n    a{0}[0] = 1\n    b{0} = torch.zeros(3).expand(2, 3)\n    b{0}.add_(1)\n"
    return HEAD + "def f(x):\n" + "".join(writes.format(i) for i in range(n))


def modules_in_lists(n: int) -> str:
    lists = "        self.layers.append(nn.Linear(1, 1))\n        self.m{0} = [nn.Linear(1, 1)]\n"
    head = "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = []\n"
    return HEAD + head + "".join(lists.format(i) for i in range(n))


def softmax_into_losses(n: int) -> str:
    losses = "".join(f"    p{i} = F.softmax(model(x), dim=1)\n    l{i} = c(p{i}, y)\n" for i in range(n))
    return HEAD + "def f(model, x, y):\n    c = nn.CrossEntropyLoss()\n" + losses


def kept_intermediates(n: int) -> str:
    kept = "".join(f"        h{i} = model(x)\n        kept.append(h{i})\n" for i in range(n))
    return HEAD + "def f(model, loader, kept):\n    for x in loader:\n" + kept


def frozen_parts(n: int) -> str:
    frozen = "    for p in model.l{0}.parameters():\n        p.requires_grad = False\n"
    head, tail = "def f(model):\n", "    return torch.optim.SGD(model.parameters(), lr=0.1)\n"
    return HEAD + head + "".join(frozen.format(i) for i in range(n)) + tail


GROWING = [
    training_steps,
    sums_in_loop,
    figures_of_rounds,
    transposes,
    reshapes,
    changes_of_one_alias,
    changes_of_saved_tensors,
    writes_to_expanded,
    modules_in_lists,
    softmax_into_losses,
    kept_intermediates,
    frozen_parts,
    many_functions,
    many_methods,
    branches,
    elifs,
    breaks,
    loops,
    tries,
    straight,
    layers,
    augmented,
    tuples,
    long_list,
    inner_functions,
]


def snapshots(n: int) -> str:
    taken = "    before{0} = model.state_dict()\n    w{0} = model.weight.detach()\n    optimizer.step()\n"
    compared = "".join(f"    print(before{i}, w{i})\n" for i in range(n))
    return HEAD + "def f(model, optimizer):\n" + "".join(taken.format(i) for i in range(n)) + compared


def detached_aliases(n: int) -> str:
    aliases = "    a{0} = y.detach()\n    a{0}[0] = 1\n    b{0} = y.detach().numpy()\n    b{0} += 1\n"
    head, tail = "def f(model, x):\n    y = model(x)\n", "    y.sum().backward()\n"
    return HEAD + head + "".join(aliases.format(i) for i in range(n)) + tail


def shared_arrays(n: int) -> str:
    arrays = "    a{0} = np.zeros(3)\n    t{0} = torch.from_numpy(a{0})\n    t{0} += 1\n    print(a{0})\n"
    return HEAD + "def f():\n" + "".join(arrays.format(i) for i in range(n))


def timings(n: int) -> str:
    timing = "    t{0} = time.time()\n    y{0} = model(x.cuda())\n    print(time.time() - t{0})\n"
    return HEAD + "def f(x):\n    model = nn.Linear(1, 1).cuda()\n" + "".join(timing.format(i) for i in range(n))


def deep_inheritance(n: int) -> str:
    derived = (
        "class A{1}(A{0}):\n    def __init__(self):\n        super().__init__()\n        self.l{0} = [nn.Linear(1, 1)]\n"
        "    def forward(self, x):\n        return self.l{0}[0](x).data\n"
    )
    base = "class A0(nn.Module):\n    def forward(self, x):\n        return x.data\n"
    return HEAD + base + "".join(derived.format(i, i + 1) for i in range(n))


def modes(n: int) -> str:
    model = (
        "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.d = nn.Dropout()\n"
        "    def forward(self, x):\n        return self.d(x)\n"
    )
    switches = "    model.eval()\n    y{0} = model(x)\n    model.train()\n    model(x).sum().backward()\n"
    return HEAD + model + "def f(x):\n    model = N()\n" + "".join(switches.format(i) for i in range(n))


def frozen_for_each(n: int) -> str:
    frozen = (
        "    for p in model.l{0}.parameters():\n        p.requires_grad = False\n"
        "    o{0} = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    )
    return HEAD + "def f(model):\n" + "".join(frozen.format(i) for i in range(n))


EACH_AGAINST_EACH = [
    training_loops,
    snapshots,
    detached_aliases,
    shared_arrays,
    timings,
    deep_inheritance,
    modes,
    frozen_for_each,
]
"""Code in which each of some things may concern each other one: that many questions there are to ask, but no more."""


def total_of(n: int) -> str:
    return "import torch\nw = torch.zeros(1)\nx = " + " + ".join(["w"] * n) + "\ny = x.data\n"


def chain_of(n: int) -> str:
    return "import torch\nw = torch.zeros(1)\nx = w" + ".add(1)" * n + "\ny = x.data\n"


def lambdas_of(n: int) -> str:
    return "import torch\nx = w" + ".a(lambda v: v)" * n + "\ny = x.data\n"


def calls(text: str) -> int:
    """How many functions are called, and generators resumed, to lint a text."""
    source = Source(text)
    assert source.tree
    rules = all_rules()
    profile = cProfile.Profile()
    with profile:
        lint(source, rules)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("generate", GROWING, ids=lambda generate: generate.__name__)
def test_twice_the_lines_are_twice_the_work(generate: Callable[[int], str]) -> None:
    small, large = calls(generate(150)), calls(generate(300))
    assert large <= 2.2 * small


@pytest.mark.parametrize("generate", EACH_AGAINST_EACH, ids=lambda generate: generate.__name__)
def test_what_may_concern_each_other_is_asked_about_once(generate: Callable[[int], str]) -> None:
    small, large = calls(generate(40)), calls(generate(80))
    assert large <= 4.2 * small


@pytest.mark.parametrize("generate", [total_of, chain_of, lambdas_of], ids=lambda generate: generate.__name__)
def test_twice_the_length_of_an_expression_is_twice_the_work(generate: Callable[[int], str]) -> None:
    small, large = calls(generate(400)), calls(generate(800))
    assert large <= 2.2 * small


@pytest.mark.parametrize(
    "text",
    [straight(2000), layers(1000), augmented(1000), tuples(500), elifs(400), total_of(2000), chain_of(1000), lambdas_of(500)],
    ids=["straight", "layers", "augmented", "tuples", "elifs", "total", "chain", "lambdas"],
)
def test_long_code_is_linted(text: str) -> None:
    assert lint(Source(text), all_rules(), suppress=False) is not None


def nested_ifs(n: int) -> str:
    return "".join("    " * i + "if x.data:\n" for i in range(n)) + "    " * n + "pass\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 3000 + "w.data" + ")" * 3000,
        "x = w.data" + ".T" * 3000,
        "x = w.data" + "[0]" * 3000,
        "x = w.data" + "()" * 3000,
        "x = " + "w.data + " * 3000 + "1",
        "x = " + "w.data ** " * 3000 + "1",
        "x = " + "w.data and " * 3000 + "1",
        "x = " + "not " * 3000 + "w.data",
        "x = " + "-" * 3000 + "w.data",
        "x = " + "w.data if a else " * 3000 + "1",
        "x = " + "lambda: " * 3000 + "w.data",
        "x = " + "[" * 3000 + "w.data" + "]" * 3000,
        "x = " + "f(" * 3000 + "w.data" + ")" * 3000,
        "x = " + "w.data < " * 3000 + "1",
        nested_ifs(3000),
        nested_ifs(90),
        "if a: pass\n" + "elif w.data: pass\n" * 3000,
        "".join(f"def f{i}(x): return f{i + 1}(x.data)\n" for i in range(3000)),
        "".join(f"class A{i + 1}(A{i}):\n    def f(self, x): return self.x.data\n" for i in range(300)),
        "x = 1\n" + "".join(f"def f{i}(x=x): return x.data\nx = f{i}()\n" for i in range(2000)),
    ],
    ids=lambda text: text[:30].replace("\n", " "),
)
def test_depth_is_told_in_one_line_if_at_all(text: str) -> None:
    told: list[str] = []
    try:
        lint(Source("import torch\n" + text), all_rules())
    except SourceError as error:
        told.append(error.error.message)
    assert all("nested" in message or "cannot parse" in message for message in told)
