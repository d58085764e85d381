"""Random projects and random edits of them: what the cache knows is what a fresh run finds, in any order, by any processes.

    python tests/project/edits.py --steps 2000 --seed 1

An edit replaces, adds, removes, renames or touches a file, or changes a comment. Behind each, the project is linted anew
and with the cache of all steps before, which sees its files in another order; now and then by two processes, and one file
by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torchlint.diagnostic import Fix
from torchlint.engine import runner
from torchlint.engine.cache import Cache, settings_key
from torchlint.engine.examination import Task, examine
from torchlint.project import held
from torchlint.project.files import Files
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules

SELECTED = ("TPL006", "TPL015", "TPL101", "TPL301", "TPL302", "TPL305", "TPL401", "TPL504")
"""Rules that ask other files."""
PATHS = (
    "main.py",
    "common.py",
    "pkg/__init__.py",
    "pkg/a.py",
    "pkg/b.py",
    "pkg/sub/__init__.py",
    "pkg/sub/a.py",
    "pkg/sub/c.py",
    "pkg/a/__init__.py",  # which comes before the module of its name
    "other/d.py",  # in a namespace package, until there is the next
    "other/__init__.py",
    "src/lib/__init__.py",
    "src/lib/e.py",
    "scripts/main.py",
    "scripts/helpers.py",
    "pkg/b.pyi",  # a stub, which counts where there is no Python beside it
    "other/d.pyi",
    "notebooks/run.ipynb",
)
MODULES = ("pkg", "pkg.a", "pkg.b", "pkg.sub", "pkg.sub.a", "pkg.sub.c", "other", "other.d", "lib", "lib.e", "main", "common")
RELATIVE = (".", ".a", ".b", ".c", ".sub", ".sub.c", "..", "..a", "..b", "..sub", ".e", ".d", ".helpers", "...common")
SETTLED = 40_000_000
"""Nanoseconds behind which what is changed has other times."""
CLASSES, FUNCTIONS = ("A", "B", "C"), ("f", "g", "h")
IMPORTS = (
    "from {module} import {name}",
    "from {module} import {name}",
    "from {module} import {source} as {name}",
    "from {module} import *",
    "try:\n    from {module} import {name}\nexcept ImportError:\n    {name} = None",
    "try:\n    from {module} import {name}\nexcept ImportError:\n    from pkg.b import {name}",
)
PARTS = (
    "nn.Dropout(0.5)",
    "nn.Linear(2, 2)",
    "{class}()",
    "nn.Sequential({class}(), nn.Tanh())",
    "[{class}() for _ in range(2)]",
)
DEFINITIONS = (
    "class {class}({base}):\n    def __init__(self):\n        super().__init__()\n        self.part = {part}\n",
    "class {class}({base}):\n    def __init__(self):\n        super().__init__()\n        self.part = {part}\n",
    "class {class}({base}):\n    def forward(self, x):\n        return {function}(x)\n",
    "class {class}({base}):\n    def train(self, mode=True):\n        return super().train(False)\n",
    "def {function}(x, y=None):\n    x.zero_grad()\n",
    "def {function}(x, y=None):\n    x.eval()\n",
    "def {function}(x, y=None):\n    print(x)\n",
    "def {function}(x, y=None):\n    return {further}(x)\n",
    "def {function}(*args):\n    return {class}()\n",
    "{class} = {other}\n",
    "def {function}(device):\n    return torch.zeros(2).to(device)\n\n{function}('cpu')\n",  # safe while nobody else calls
    "def {function}(device):\n    return torch.zeros(2).to(device)\n\n{function}('cpu')\n",
    "class {class}(nn.Module):\n    def __init__(self, device):\n        super().__init__()\n        self.device = device\n\n"
    "    def forward(self, x):\n        return x + torch.ones(2).to(self.device)\n\nmade_{class} = {class}('cpu')\n",
    "from torch.autograd import Variable\n",
)
EXPORTS = "__all__ = ['{class}', '{function}']\n"
USES = (
    "def predict_{class}(x):\n    model = {class}()\n    model.load_state_dict(torch.load('a.pt', weights_only=True))\n"
    "    {function}(model)\n    with torch.no_grad():\n        return model(x)\n",
    "def predict_{class}(x):\n    model = {class}()\n    model.load_state_dict(torch.load('a.pt', weights_only=True))\n"
    "    with torch.no_grad():\n        return model(x)\n",
    "def train_{function}(model, loader):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "    for x, y in loader:\n        loss = torch.nn.functional.mse_loss(model(x), y)\n        loss.backward()\n"
    "        {function}(optimizer)\n        optimizer.step()\n",
    "model_{class} = {class}()\nmodel_{class}.requires_grad = False\n",
    "model_{class} = {class}()\ntrain_{function}(model_{class}, [])\n",  # a caller, where that is imported
    "model_{function} = {function}()\nmodel_{function}.requires_grad = False\n",
    "from {module} import Variable\n",
    "import {module} as m\nm.{function}({class})\n",
    "import {module} as m\nuse(m)\n",
)
RARE = ("import importlib\nimportlib.import_module(name)\n", "again = type({class}())(2)\n")
"""What keeps every caller of the project out of sight."""
Found = list[tuple[object, ...]]


def text_of(rng: random.Random, there: Mapping[str, str]) -> str:
    """A file that imports from others, defines things by what it imports, and uses them; the modules ``there`` hold texts."""

    def filled(template: str, **more: str) -> str:
        one, other = rng.sample(CLASSES, 2)
        function, further = rng.sample(FUNCTIONS, 2)
        base = rng.choice(("nn.Module", "nn.Module", other))
        parts = {"class": one, "other": other, "function": function, "further": further, "base": base, **more}
        parts.setdefault("module", rng.choice(MODULES))
        return template.replace("{part}", rng.choice(PARTS)).format_map(parts)

    def imported(name: str) -> str:
        module = rng.choice(MODULES if rng.random() < 0.5 else RELATIVE)
        having = [each for each, text in there.items() if f" {name}(" in text or f"import {name}\n" in text]
        if having and rng.random() < 0.8:
            module = rng.choice(having)
        names = {"name": name, "module": module, "source": rng.choice((name, name, rng.choice((*CLASSES, *FUNCTIONS))))}
        return filled(rng.choice(IMPORTS), **names)

    names = (*CLASSES, *FUNCTIONS, *(f"train_{each}" for each in FUNCTIONS))
    imports = [imported(name) for name in names if rng.random() < 0.6]
    definitions = [filled(rng.choice(DEFINITIONS)) for _ in range(rng.randrange(4))]
    exports = [filled(EXPORTS)] if rng.random() < 0.1 else []
    uses = [filled(rng.choice(USES)) for _ in range(rng.randrange(1, 5))]
    uses += [filled(rng.choice(RARE))] if rng.random() < 0.02 else []
    return "\n".join(["import torch", "from torch import nn", *imports, "", *definitions, *exports, *uses])


@dataclass
class Seen:
    """What happened in a number of steps."""

    steps: int = 0
    findings: int = 0
    by_others: int = 0
    """Steps in which the findings of a file changed that was not edited itself."""
    safer: int = 0
    """Fixes that became safe, or unsafe, in a file that was not edited itself."""


class Projects:
    """A project in a folder, and the cache of all that was seen of it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.seen = Seen()
        self.rules = select_rules(SELECTED, among=all_rules())
        self.task = Task(self.rules, project_root="")
        self._clock = 1_600_000_000
        (folder / "pyproject.toml").write_text("")
        for path in self.rng.sample(PATHS, 9):
            self._write(path, text_of(self.rng, self.there()))
        self._last: dict[str, Found] = {}

    def _write(self, path: str, text: str) -> None:
        """Writes a file; its times are of today or long past, but never again the same."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if file.suffix != ".ipynb" else json.dumps({"cells": [{"cell_type": "code", "source": text}]}))
        self._clock += 10
        if self.rng.random() < 0.7:
            os.utime(file, (self._clock, self._clock))

    def files(self) -> list[str]:
        return sorted(file for file in PATHS if (self.folder / file).is_file())

    def _text(self, file: str) -> str:
        """The Python in a file."""
        text = (self.folder / file).read_text()
        return text if not file.endswith(".ipynb") else json.loads(text)["cells"][0]["source"]

    def there(self) -> dict[str, str]:
        """The modules that there are, with their texts."""
        dotted = {file: os.path.splitext(file)[0].removesuffix("/__init__").removeprefix("src/") for file in self.files()}
        return {name.replace("/", "."): self._text(file) for file, name in dotted.items()}

    def edit(self) -> set[str]:
        """Changes something; gives the files that are not what they were."""
        rng, there = self.rng, self.files()
        missing = sorted(set(PATHS) - set(there))
        match rng.choices(("replace", "comment", "add", "remove", "rename", "touch"), (6, 2, 2, 1, 1, 2))[0]:
            case "comment" if there:
                path = rng.choice(there)
                self._write(path, f"{self._text(path)}\n# {rng.random()}\n")
                return {path}
            case "touch" if there:
                os.utime(self.folder / rng.choice(there))
                return set()
            case "add" if missing:
                path = rng.choice(missing)
            case "remove" if len(there) > 4:
                path = rng.choice(there)
                (self.folder / path).unlink()
                return {path}
            case "rename" if missing and there:
                path, to = rng.choice(there), rng.choice(missing)
                if ".ipynb" in path + to:
                    return set()
                (self.folder / to).parent.mkdir(parents=True, exist_ok=True)
                os.rename(self.folder / path, self.folder / to)
                return {path, to}
            case _:
                path = rng.choice(there)
        self._write(path, text_of(rng, self.there()))
        return {path}

    def step(self) -> None:
        """One edit, and all the ways in which what is found afterwards is asked for."""
        changed = self.edit()
        files = self.files()
        fresh = self.found(files)
        rng, shuffled = self.rng, self.rng.sample(files, len(files))
        what = f"step {self.seen.steps}, {sorted(changed)}"
        time.sleep(SETTLED / 1e9)  # so that the next change shows in the project's stamp
        assert self.found(shuffled, cached=True) == fresh, what
        if rng.random() < 0.2:
            assert self.found(rng.sample(files, len(files)), cached=True) == fresh, f"{what}, warm"
            assert self.found(rng.sample(files, len(files))) == fresh, f"{what}, in another order"
            file = rng.choice(files)
            assert self.found_alone(file) == fresh.get(file, []), f"{what}, {file} by itself"
        if rng.random() < 0.04:
            assert self.found(shuffled, jobs=2) == fresh, f"{what}, by two processes"
            shutil.rmtree(self.folder / "cache")
            assert self.found(shuffled, jobs=2, cached=True) == fresh, f"{what}, by two processes with a cold cache"
        self.seen.steps += 1
        self.seen.findings += sum(map(len, fresh.values()))
        before = {file: found for file, found in self._last.items() if file not in changed}
        self.seen.by_others += any(fresh.get(file, []) != before.get(file, []) for file in {*before, *fresh} - changed)
        for file in {*before, *fresh} - changed:
            was, now = (dict(_safe(found.get(file, []))) for found in (before, fresh))
            self.seen.safer += sum(was[each] != now[each] for each in was.keys() & now.keys())
        self._last = fresh

    def found(self, files: Sequence[str], *, cached: bool = False, jobs: int = 1) -> dict[str, Found]:
        """What is found by file."""
        cache = Cache(str(self.folder / "cache"), settings_key(SELECTED)) if cached else None
        paths = [str(self.folder / file) for file in files]
        outcomes = runner.run(paths, self.task, jobs=jobs, cache=cache)
        assert not any(error.code == "internal-error" for each in outcomes for error in each.errors)
        return {os.path.relpath(each.filename, self.folder): _shown(each) for each in outcomes if each.diagnostics}

    def found_alone(self, file: str) -> Found:
        path = self.folder / file
        return _shown(examine(path.read_bytes(), str(path), self.task, Files()))


def _shown(outcome: runner.Outcome) -> Found:
    return [(each.code, each.location, each.message, each.fix) for each in outcome.diagnostics]


def _safe(found: Found) -> list[tuple[object, object]]:
    """Of findings with fixes, what they are and whether the fix is safe."""
    return [((code, place, message), made.applicability) for code, place, message, made in found if isinstance(made, Fix)]


def walk(folder: Path, steps: int, seed: int) -> Seen:
    """So many steps, over a new project every hundred."""
    total = Seen()
    for start in range(0, steps, 100):
        inner = folder / str(start)
        inner.mkdir(parents=True)
        projects = Projects(inner, seed * 1_000_003 + start)
        for _ in range(min(100, steps - start)):
            projects.step()
        for name in ("steps", "findings", "by_others", "safer"):
            setattr(total, name, getattr(total, name) + getattr(projects.seen, name))
        shutil.rmtree(inner)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runner._SMALL_JOB = 0  # two processes, however small the project
    held.FEW, held.TICK = 0, SETTLED // 2
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        seen = walk(Path(folder), options.steps, options.seed)
    print(f"{seen}, {time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
