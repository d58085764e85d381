"""Spoils a cache in every way, and reports from it: ``caches.py --mutants N --seed S``.

A third of the mutants are bytes: cut off, changed, doubled. They lack the right checksum, so that what is reported must be what
is reported without a cache. The others are JSON with the right checksum in which values are exchanged for others. They may say
what they like, as who can write the cache can; but a run over them must end, in every format, without an exception, and write
nothing that a terminal would act upon.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torchlint.engine.cache as cache_module
from torchlint.engine.cache import Cache, digest
from torchlint.engine.runner import Task, run
from torchlint.reporters import FOR_PEOPLE, FORMATS, render
from torchlint.reporters.report import Report
from torchlint.rules import all_rules
from torchlint.rules.selection import select_rules

FIXTURES = Path(__file__).parents[2] / "fixtures"
CHOSEN = ("tpl001_data_mutation", "tpl005_requires_grad_typo", "tpl101_variable_wrapper", "tpl302_direct_forward")
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 10**30, -(10**4000), 1.5, 1e300, float("nan"), float("inf")),
    *(
        "",
        "TPL001",
        "TPL999",
        "../../x",
        "\x1b]8;;http://x\x07y\x1b[2J",
        "\x9b2J",
        "\u202e\u2066",
        "\ud800",
        "\0",
        "\n\r\b",
        "safe",
    ),
    *([], {}, [[]], [1], ["a"], {"a": 1}, [[[[[[]]]]]], ["x"] * 1000, "y" * 100_000),
)


def try_out(folder: Path, mutants: int, seed: int) -> list[str]:
    """What went wrong with ``mutants`` of the cache of a project that is made in ``folder``: a line for each."""
    chance = random.Random(seed)
    with contextlib.chdir(folder), _trusting_metadata():
        names = sorted(_project())
        task = Task(select_rules(["ALL"]))
        expected = _report(names, task)
        whole = {path: path.read_bytes() for path in Path("cache/key").iterdir()}
        failures = []
        for number in range(mutants):
            for path, data in whole.items():
                path.write_bytes(data)
            path = chance.choice(sorted(whole))
            is_right: Callable[[dict[str, str]], bool]
            if number % 3:
                path.write_bytes(_sealed(_exchanged(json.loads(whole[path].partition(b"\n")[2]), chance)))
                is_right = _is_clean
            else:
                path.write_bytes(_damaged(whole[path], chance))
                is_right = partial(_is_same, expected)
            try:
                found = _report(names, task)
            except Exception as error:
                failures.append(f"mutant {number}: {type(error).__name__}: {error}")
            else:
                if not is_right(found):
                    failures.append(f"mutant {number}: {path.read_bytes()[:1000]!r}")
    return failures


@contextlib.contextmanager
def _trusting_metadata() -> Iterator[None]:
    """Has what was just written count as settled."""
    kept = cache_module._TICK, cache_module._COARSE_TICK
    cache_module._TICK = cache_module._COARSE_TICK = -(10**12)
    try:
        yield
    finally:
        cache_module._TICK, cache_module._COARSE_TICK = kept


def _project() -> list[str]:
    for name in CHOSEN:
        Path(name).mkdir()
        shutil.copy(FIXTURES / name / "bad.py", f"{name}/a.py")
    Path("broken.py").write_text("p.requres_grad = (\n")
    return ["broken.py", *(f"{name}/a.py" for name in CHOSEN)]


def _report(names: list[str], task: Task) -> dict[str, str]:
    """What a run with the cache reports, in each format."""
    outcomes = run(names, task, cache=Cache("cache", "key"))
    found = [each for outcome in outcomes for each in outcome.diagnostics]
    errors = [each for outcome in outcomes for each in outcome.errors]
    report = Report(found, errors, rules={rule.code: rule for rule in all_rules()})
    written = {name: "".join(render(name, report)) for name in FORMATS}
    return {**written, "errors": "".join(f"{error}\n" for error in errors)}


def _is_same(expected: dict[str, str], written: dict[str, str]) -> bool:
    return written == expected


def _is_clean(written: dict[str, str]) -> bool:
    texts = [written[name] for name in (*FOR_PEOPLE, "errors", "github")]
    return all(line.isprintable() for text in texts for line in text.split("\n"))


def _sealed(content: object) -> bytes:
    payload = json.dumps(content).encode()
    return digest(payload).encode() + b"\n" + payload


def _exchanged(content: Any, chance: random.Random) -> Any:
    """``content`` with one to three of its values exchanged, taken away or doubled."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(content))
        if not places:
            return content
        holder, key = chance.choice(places)
        match chance.randrange(6):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, list):
                holder.insert(key, holder[key])
            case _:
                holder[key] = copy.deepcopy(chance.choice(VALUES))
    return content


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each list or table within ``value`` with each of its indices or keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


def _damaged(data: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(data))
    ways: tuple[Callable[[], bytes], ...] = (
        lambda: data[:place],
        lambda: data[place:],
        lambda: data + data,
        lambda: data[:place] + bytes([data[place] ^ chance.randrange(1, 256)]) + data[place + 1 :],
        lambda: data[:place] + os.urandom(20) + data[place:],
        lambda: b"\n" + data,
    )
    return chance.choice(ways)()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failures = try_out(Path(folder), options.mutants, options.seed)
    print(*failures, f"{options.mutants} mutants, {len(failures)} failures", sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
