"""How time and memory grow with hostile input: ``growth.py [--size N] [--fix] [CASE…]``.

Each case is a program that repeats one thing, in two sizes, N and 4 N; each is linted in a process of its own, with all the
rules. Printed are the seconds and megabytes beyond those of an empty file, and how many times as much the larger one takes: 4
where the growth is linear, 16 where it is quadratic.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from torchlint.diagnostic import Applicability
from torchlint.engine.runner import Action, Task, examine
from torchlint.rules import all_rules

START = """import torch
x = torch.ones(3, requires_grad=True)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD([x], 1)
loss = x.sum()
"""

TRAINED = """
class Net{0}(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.linear.weight.data.normal_(0, 0.02)

    def forward(self, x):
        return torch.relu(self.linear(x))

def train{0}(model, loader, optimizer):
    criterion = torch.nn.CrossEntropyLoss()
    total = 0
    losses = []
    for inputs, targets in loader:
        inputs = torch.autograd.Variable(inputs)
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
        losses.append(loss.data[0])
        for parameter in model.parameters():
            parameter.data.clamp_(-1, 1)
    return total, losses
"""
"""What files of training code are full of: a class, a loop that trains, and mistakes of many rules."""

TRAINING = "    loss = model(x).sum()\n    loss.backward()\n"

CASES: dict[str, Callable[[int], str]] = {
    "training code": lambda n: "".join(map(TRAINED.format, range(n))),
    "findings": lambda n: "x.requres_grad = 1\n" * n,
    "findings on one line": lambda n: "x.requres_grad = 1; " * n + "\n",
    "data": lambda n: "x = x.data\n" * n,
    "comments": lambda n: "# x.requres_grad, x.data, loss.backward()\n" * n,
    "noqa comments": lambda n: "y = x.data  # noqa: TPL001\n" * n,
    "a long text": lambda n: "s = '''" + "x.data\n" * n + "'''\n",
    "a long list": lambda n: "y = [" + "x.data, " * n + "]\n",
    "functions": lambda n: "".join(f"def f{i}(a):\n    return f{max(i - 1, 0)}(a).data\n" for i in range(n)),
    "classes": lambda n: "".join(
        f"class C{i}(torch.nn.Module):\n    def forward(self, x):\n        return self.y.data\n" for i in range(n)
    ),
    "attributes": lambda n: "class C(torch.nn.Module):\n    def __init__(self):\n" + "        self.a = torch.ones(1)\n" * n,
    "branches": lambda n: "if x:\n    x = x.data\n" * n,
    "loops": lambda n: "for i in y:\n    z = x.data\n" * n,
    "tries": lambda n: "try:\n    y = x.data\nexcept E:\n    y = 1\n" * n,
    "steps": lambda n: "loss = x.sum()\nloss.backward()\noptimizer.step()\n" * n,
    "modes": lambda n: "model.eval()\nmodel.train()\ny = model(x)\n" * n,
    "modes in a loop": lambda n: "for b in x:\n" + "    model.eval()\n    y = model(b)\n    model.train()\n" * n,
    "modes unless none": lambda n: "if model is not None:\n" + "    model.eval()\n    y = model(x)\n" * n,
    "evaluations": lambda n: (
        "def f(model, x):\n" + f"    model.train()\n{TRAINING}    with torch.no_grad():\n        acc = model(x)\n" * n
    ),
    "models": lambda n: "".join(f"m{i} = torch.nn.Linear(1, 1)\nm{i}.eval()\nfor b in x:\n    y = m{i}(b)\n" for i in range(n)),
    "mode functions": lambda n: "".join(
        f"def f{i}(x):\n    model.eval()\n    for b in x:\n        y = model(b)\n    f{max(i - 1, 0)}(x)\n" for i in range(n)
    ),
    "loads": lambda n: "model.load_state_dict(torch.load('a'))\ntorch.save(model, 'a')\n" * n,
    "in place": lambda n: "y = x.exp()\ny += 1\ny.sum().backward()\n" * n,
    "optimizers": lambda n: (
        "".join(f"o{i} = torch.optim.SGD([x], 1)\n" for i in range(n))
        + "for b in x:\n"
        + "".join(f"    o{i}.zero_grad()\n{TRAINING}    o{i}.step()\n" for i in range(n))
    ),
    "training loops": lambda n: f"for b in x:\n{TRAINING}    optimizer.step()\n" * n,
    "steps in a loop": lambda n: "for b in x:\n" + f"    optimizer.step()\n{TRAINING}" * n,
    "zero_grads": lambda n: (
        "for b in x:\n" + "    optimizer.zero_grad()\n" * n + "    loss.backward()\n" + "    optimizer.step()\n" * n
    ),
    "sums in loops": lambda n: f"total = 0\n{f'for b in x:{chr(10)}{TRAINING}    total += loss{chr(10)}' * n}",
    "losses kept in a loop": lambda n: "kept = []\nfor b in x:\n" + f"{TRAINING}    kept.append(loss)\n" * n,
    "a loss kept again and again": lambda n: "kept = []\nfor b in x:\n" + "    loss.backward()\n    kept.append(loss)\n" * n,
    "closures": lambda n: "def f(x):\n" + "    y = x.data\n    def g():\n        y.add_(1)\n" * n,
    "a global": lambda n: "y = x.data\n" * n + "".join(f"def f{i}():\n    return y.add_(1)\n" for i in range(n)),
    "arrays": lambda n: "y = x.detach().numpy()\ny += 1\nz = torch.from_numpy(y)\nz.add_(1)\n" * n,
    "discarded": lambda n: "x.cuda()\nx.to('cuda')\n" * n,
    "detached": lambda n: "y = x.detach()\ny += 1\n" * n,
    "volatile": lambda n: "y = torch.autograd.Variable(x, volatile=True)\n" * n,
    "probes": lambda n: "if hasattr(x, 'data'):\n    y = a.data\n" * n,
    "parameters": lambda n: "for p in model.parameters():\n" + "    p.data.mul_(2)\n" * n,
    "aliases": lambda n: "a0 = x\n" + "".join(f"a{i + 1} = a{i}.data\n" for i in range(n)) + f"a{n}.add_(1)\n",
    "kept snapshots": lambda n: (
        "best = {}\nfor b in x:\n"
        + "".join(f"    best['a{i}'] = model.state_dict()\n    best{i} = model.state_dict()\n" for i in range(n))
        + f"{TRAINING}    optimizer.step()\n"
    ),
    "snapshots kept one after the other": lambda n: (
        f"for b in x:\n{TRAINING}    optimizer.step()\n    best = model.state_dict()\nmodel.load_state_dict(best)\n" * n
    ),
    "while loops": lambda n: "while x:\n    if y:\n        break\n    z = x.data\n    if z:\n        continue\n    y = 1\n" * n,
    "nested in while": lambda n: "while x:\n" + "    if y:\n        break\n    z = x.data\n    if z:\n        continue\n" * n,
    "methods that add to an attribute": lambda n: (
        "class C(torch.nn.Module):\n    def __init__(self):\n        self.total = 0\n"
        + "".join(f"    def f{i}(self, x):\n        self.total += self.loss(x).sum()\n" for i in range(n))
    ),
    "methods that add losses to an attribute": lambda n: (
        "class C:\n    def __init__(self):\n        self.total = 0\n"
        + "".join(
            f"    def f{i}(self, x):\n        for b in x:\n            loss = model(x).sum()\n            loss.backward()\n"
            "            self.total += loss\n"
            for i in range(n)
        )
    ),
    "a long noqa list": lambda n: "y = x.data  # noqa: " + ", ".join(f"X{i:03}" for i in range(n)) + "\n",
    "long noqa lists": lambda n: "".join(f"y = x.data  # noqa: {'TPL001, ' * (n // 8)}TPL005\n" for _ in range(8)),
    "chains of classes": lambda n: (
        "class C0(torch.nn.Module):\n    pass\n"
        + "".join(f"class C{i + 1}(C{i}):\n    def forward(self, x):\n        return self.y.data\n" for i in range(n))
    ),
    "a chain of classes, called": lambda n: (
        "class C0(torch.nn.Module):\n    def f(self, x):\n        return x.data\n"
        + "".join(f"class C{i + 1}(C{i}):\n    def g{i}(self, x):\n        return self.f(x).data\n" for i in range(n))
        + f"m = C{n}()\nm.eval()\ny = m(x).data\n"
    ),
    "tries of several": lambda n: (
        "try:\n    y = x.data\nexcept E:\n    y = 1\nexcept F:\n    y = 2\nelse:\n    z = y.data\nfinally:\n    y += 1\n" * n
    ),
    "a long identifier": lambda n: f"{'requires_gra' * n} = x.data\nx.{'requres_grad' * n} = 1\n",
    "accesses on one line": lambda n: "y = x.data; " * n + "\n",
    "accesses alone on one line": lambda n: "x.data; " * n + "\n",
    "accesses given to one call": lambda n: "f(" + "x.data, " * n + ")\n",
    "accesses given to one operation": lambda n: "torch.hstack(" + "x.data, " * n + ")\n",
    "one sum": lambda n: "y = " + " + ".join(["x.data"] * n) + "\n",
    "one sum without gradients": lambda n: "with torch.no_grad():\n    y = " + " + ".join(["x.data"] * n) + "\n",
    "one sum of calls": lambda n: "y = " + " + ".join(["f(x.data)"] * n) + "\n",
    "one sum of variables": lambda n: "from torch.autograd import Variable\ny = " + " + ".join(["Variable(x.data)"] * n) + "\n",
    "one comparison": lambda n: "y = " + " < ".join(["x.data"] * n) + "\n",
    "calls within calls": lambda n: "y = " + "f(x.data, a=" * (n // 3) + "x.data" + ")" * (n // 3) + "\n",
    "methods of methods": lambda n: "y = x" + ".add(x.data)" * n + "\n",
    "one conditional expression": lambda n: "y = " + "x.data if x else " * n + "x\n",
    "elifs": lambda n: "if x:\n    y = 1\n" + "elif y:\n    y = x.data\n" * n,
    "swaps": lambda n: "a, b = b, a\n" * n + "c = a.data\n",
    "renames": lambda n: "x0 = x\n" + "".join(f"x{i + 1} = x{i}\n" for i in range(n)) + f"y = x{n}.data\n",
    "determinants": lambda n: "x.cuda()\nout[0][0] = " + " + ".join(["m[0][1]"] * n) + "\n",
    "targets": lambda n: ", ".join(f"a{i}" for i in range(n)) + " = x.data\n",
}


def measure(case: str, size: int, action: Action) -> tuple[float, float]:
    """Processor seconds and megabytes at most, in this process."""
    data = (START + CASES[case](size)).encode()
    began = time.process_time()
    examine(data, "a.py", Task(all_rules(), action, Applicability.UNSAFE, max_file_size=1_000_000_000))
    return time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured_apart(case: str, size: int, fix: bool) -> tuple[float, float]:
    """What `measure` gives in a process of its own."""
    command = [sys.executable, __file__, "--one", "--size", str(size), *(["--fix"] if fix else []), case]
    seconds, megabytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(seconds), float(megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", type=int, default=500)
    parser.add_argument("--fix", action="store_true", help="fix as well")
    parser.add_argument("--one", action="store_true", help="measure one case in this process")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    options = parser.parse_args()
    if options.one:
        print(*measure(options.cases[0], options.size, Action.FIX if options.fix else Action.LINT))
        return
    idle = measured_apart("data", 0, options.fix)
    print(f"{'':24}{'s':>8}{'s':>8}{'times':>7}{'MB':>8}{'MB':>8}{'times':>7}")
    for case in options.cases or CASES:
        small, large = (measured_apart(case, size, options.fix) for size in (options.size, 4 * options.size))
        (seconds, more_seconds), (megabytes, more_megabytes) = (
            (max(one - none, 0.001), max(other - none, 0.001)) for one, other, none in zip(small, large, idle)
        )
        print(
            f"{case:24}{seconds:8.2f}{more_seconds:8.2f}{more_seconds / seconds:7.1f}"
            f"{megabytes:8.1f}{more_megabytes:8.1f}{more_megabytes / megabytes:7.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
