"""What torch warns of when it is used: every public callable, called in the ways that are known here, with warnings recorded.

``python tests/torch_api/deprecations/observed.py`` prints what was seen, a line of JSON each. Every module has a process of its
own: some functions change settings, and some wait for what never comes.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import torch
from attempts import attempts, instances, names, variations
from conditions import DEPENDS, GIVEN, MISSING

_DEPRECATED = re.compile(
    r"deprecat|will be removed|has been renamed|no longer (?:necessary|supported|used)|upcoming release|future release"
    r"|future version|will raise an|should be passed explicitly",
    re.IGNORECASE,
)
_OTHER = re.compile(r"should not be instantiated|quantized tensor creation functions")
"""What is said of a use that nobody makes, or of something else that the call makes use of."""
_OTHER_METHOD = re.compile(r"please use `\w+\(\)`")
"""What is said of a method that is there for the library alone, and of the one that people mean."""
_OVERLOAD = re.compile("^This overload")
_SECONDS = 3
"""Nothing that is called here takes longer, unless it waits, or the machine does: what is late counts as not tried."""
_MODULE_SECONDS = 300
_FAILURES = (Exception, SystemExit)


@dataclass(frozen=True, slots=True)
class Seen:
    """A deprecation that running showed: of ``name`` as a whole, or of a ``parameter`` of it, ``when`` it is given or not."""

    name: str
    parameter: str
    when: str
    message: str
    is_quiet: bool
    """Whether Python shows it in the main program only."""


@dataclass(slots=True)
class Observation:
    """What came of a module: the callables there are, those that ran at least once, what was seen, and what came too late to
    say anything of it; the processor time that all took."""

    there: int
    ran: list[str]
    seen: list[Seen]
    late: list[str]
    seconds: float = 0.0


class _Late(Exception):
    """A call took too long."""


def _late(_number: int, _frame: object) -> None:
    raise _Late


_late_names: list[str] = []
"""What the calls were of that took too long."""


def said(name: str, parameter: str, call: Callable[[], object]) -> tuple[bool, dict[str, bool]]:
    """Whether a call went through, and the deprecations that it warned of, each with whether it is a quiet one: of ``name``, or
    of one of its parameters, and not of what torch uses inside."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        signal.alarm(_SECONDS)
        try:
            call()
            went = True
        except _Late:
            went = False
            _late_names.append(name)
        except _FAILURES:
            went = False
        finally:
            signal.alarm(0)
    own = re.compile("|".join(rf"\b{re.escape(each)}\b" for each in (name.rpartition(".")[2], parameter) if each))
    counted: dict[str, bool] = {}
    for each in found:
        text = str(each.message)
        is_meant = issubclass(each.category, (FutureWarning, DeprecationWarning)) or _DEPRECATED.search(text)
        is_own = each.filename == __file__ or own.search(text)
        if ((is_meant and is_own) or _OTHER_METHOD.search(text)) and not _OTHER.search(text):
            counted[text.partition(" (Triggered internally")[0].strip()] = issubclass(each.category, DeprecationWarning)
    return went, counted


def of_callable(name: str, function: Callable[..., Any]) -> tuple[bool, list[Seen]]:
    """Whether any call of a callable went through, and what its calls showed."""
    outcomes: list[tuple[Sequence[object], dict[str, object], dict[str, bool]]] = []
    for arguments, words in attempts(name, function):
        went, texts = said(name, "", partial(function, *arguments, **words))
        if went:
            outcomes.append((arguments, words, texts))
    if not outcomes:
        return False, []
    found: list[Seen] = []
    for message, is_quiet in {_stem(text): (text, texts[text]) for *_, texts in outcomes for text in texts}.values():
        always = not _OVERLOAD.match(message) and all(
            any(_stem(text) == _stem(message) for text in texts) for *_, texts in outcomes
        )
        found.append(Seen(name, "", "" if always else DEPENDS, message, is_quiet))
    seen = _of_parameters(name, function, outcomes)
    explained = {_stem(each.message) for each in seen}
    return True, [*(each for each in found if _stem(each.message) not in explained), *seen]


def _of_parameters(name: str, function: Callable[..., Any], outcomes: list[Any]) -> list[Seen]:
    """What is warned of only where a parameter is given, or only where it is not."""
    arguments, words, texts = min(outcomes, key=lambda each: len(each[2]))
    quiet = {_stem(text) for text in texts}
    loud = {_stem(text): (text, each[text]) for *_, each in outcomes for text in each}
    found: dict[tuple[str, str], Seen] = {}
    for parameter, values in variations(name, function, arguments, words):
        came: list[dict[str, tuple[str, bool]]] = []
        for value in values:
            went, new = said(
                name,
                parameter,
                partial(function, *_fresh(arguments), **{**words, parameter: value}),
            )
            if went or new:
                came.append({_stem(text): (text, new[text]) for text in new})
        for stem, (text, is_quiet) in came[0].items() if came else ():
            if stem not in quiet and stem not in loud and all(stem in each for each in came):
                found[parameter, stem] = Seen(name, parameter, GIVEN, text, is_quiet)
        for stem in quiet:
            if came and all(stem not in each for each in came):
                found[parameter, stem] = Seen(name, parameter, MISSING, *loud[stem])
    return list(found.values())


def _fresh(arguments: Sequence[object]) -> list[object]:
    return [
        each.detach().clone().requires_grad_(each.requires_grad) if type(each) is torch.Tensor else each for each in arguments
    ]


def _stem(text: str) -> str:
    return re.sub(r"\W+", " ", text)[:60]


def of_module(module_name: str) -> Observation:
    """What the functions, classes and methods of a module showed."""
    torch.set_warn_always(True)
    signal.signal(signal.SIGALRM, _late)
    ran: list[str] = []
    seen: list[Seen] = []
    there = 0
    _late_names.clear()
    for name, function in _callables(module_name):
        there += 1
        torch.default_generator.manual_seed(0)
        went, found = of_callable(name, function)
        ran += [name] if went else []
        seen += found
    return Observation(there, ran, seen, sorted(set(_late_names)), time.process_time())


def _callables(module_name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    yield from names(module_name)
    yield from instances(module_name)


def _child(module_name: str, path: str) -> None:
    os.chdir(tempfile.mkdtemp())
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    os.dup2(sys.stdout.fileno(), 1)
    os.dup2(sys.stdout.fileno(), 2)
    result = of_module(module_name)
    Path(path).write_text(json.dumps(asdict(result)), encoding="utf-8")
    os._exit(0)


def observe(modules: Sequence[str]) -> dict[str, Observation]:
    """What each module showed; nothing of one whose process died, or did not come to its end."""
    found: dict[str, Observation] = {}
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        for name in modules:
            path = Path(folder) / name
            process = context.Process(target=_child, args=(name, str(path)))
            process.start()
            process.join(_MODULE_SECONDS)
            if process.is_alive():
                process.kill()
            if path.exists():
                data = json.loads(path.read_text(encoding="utf-8"))
                found[name] = Observation(**{**data, "seen": [Seen(**each) for each in data["seen"]]})
    return found


def main() -> int:
    """Prints what was seen, a line of JSON of each; on the other channel how much ran of each module, and what was late."""
    from history import SHOWN

    for name, observation in observe(sys.argv[1:] or SHOWN["torch"]).items():
        counts = {"ran": len(observation.ran), "there": observation.there, "seconds": round(observation.seconds, 1)}
        print(json.dumps({"module": name, **counts, "late": observation.late}), file=sys.stderr)
        for each in observation.seen:
            print(json.dumps(asdict(each)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
