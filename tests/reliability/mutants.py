"""Spoils real files at random, lints and fixes them: ``mutants.py [--count N] [--seed S] [--notebooks] PATH…``.

A mutant is a Python file below the paths in which one to eight things were changed: characters, tokens, lines, expressions,
names. Most expressions stay expressions, so that many mutants are Python still, and hold what no one would write. Of a notebook
it is the code of cells that is changed so, or its JSON. Each mutant is linted and fixed with all rules, in memory, under a time
limit. Wrong are an internal error, more time than the limit, and a fixed text that is no Python, has more to fix or, in a
notebook, differs elsewhere than in code.
"""

from __future__ import annotations

import argparse
import ast
import copy
import faulthandler
import gc
import json
import platform
import random
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from caches import VALUES
from piles import check_fixed, files_below

from torchlint.diagnostic import Applicability
from torchlint.engine.runner import Action, Task, examine
from torchlint.rules import all_rules

LIMIT = 20.0
"""Seconds of processor time that a mutant may take."""
LARGEST = 20_000
"""Bytes of the largest file that is taken, so that there is time for many; of a notebook, ten times as many."""
_TOKEN = re.compile(r"\w+|[^\w\s]|[^\S\n]+|\n")
_WRAPPINGS = (
    *("({})", "[{}]", "{}.data", "{}.detach()", "Variable({})", "({} + {})", "{}.item()", "{}[0]", "{}.cpu().data.numpy()"),
    *(
        "(lambda: {})()",
        "({} if {} else None)",
        "[{} for _ in y]",
        "(y := {})",
        "f'{{{}}}'",
        "{}.add_({})",
        "{}\\\n",
        "(\n{}\n)",
    ),
)
_HEADS = (
    "if x:",
    "for x in y:",
    "while x:",
    "with torch.no_grad():",
    "try:",
    "def f(x):",
    "class C(torch.nn.Module):",
    "match x:",
)
_ODD = (
    "\t",
    "\f",
    "\0",
    "\r",
    "\r\n",
    "\\",
    "'''",
    '"',
    "#",
    ";",
    "\ufeff",
    "\u202e",
    "\xa0",
    "é",
    "ｘ",
    "𝐱",
    "\ud800",
    "# noqa: TPL001",
)
_MAGICS = ("%matplotlib inline\n", "!ls\n", "?x\n", "%%time\n", "x = !ls\n", "    ", "await f()\n", "%%html\n<p>\n")


def mutant(text: str, chance: random.Random) -> str:
    """``text`` with one to eight things changed; three of four mutants of Python are Python, if some way is found."""
    is_python = bool(chance.randrange(4)) and _is_python(text)
    for _ in range(chance.choice((1, 2, 3, 4, 8))):
        for _attempt in range(4):
            changed = chance.choice(_WAYS)(text, chance) if text.strip() else text
            if not is_python or _is_python(changed):
                text = changed
                break
    return text


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def notebook_mutant(content: Any, chance: random.Random) -> Any:
    """A notebook's JSON with code changed in it, in two of three, or else with values exchanged."""
    content = copy.deepcopy(content)
    if chance.randrange(3):
        cells = [cell for cell in content["cells"] if cell["cell_type"] == "code" and cell["source"]]
        for cell in chance.sample(cells, min(len(cells), chance.choice((1, 1, 2, 4)))):
            text = mutant("".join(cell["source"]), chance)
            if not chance.randrange(3):
                lines = text.splitlines(keepends=True)
                lines.insert(chance.randrange(len(lines) + 1), chance.choice(_MAGICS))
                text = "".join(lines)
            cell["source"] = text if not chance.randrange(4) else text.splitlines(keepends=True)
        return content
    for _ in range(chance.choice((1, 2, 4))):
        if places := list(_places(content)):
            holder, key = chance.choice(places)
            match chance.randrange(5):
                case 0:
                    del holder[key]
                case 1 if isinstance(holder, list):
                    holder.insert(key, copy.deepcopy(holder[key]))
                case 2:
                    holder[key] = copy.deepcopy(chance.choice([other[at] for other, at in places]))
                case _:
                    holder[key] = copy.deepcopy(chance.choice(VALUES))
    return content


def _places(value: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Each list or table of the upper levels with each of its indices or keys: the outputs' own make up most of the others."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        if depth < 4 and key != "outputs":
            yield from _places(value[key], depth + 1)


# --- ways to change a text -------------------------------------------------------------------------------------------


def _odd_character(text: str, chance: random.Random) -> str:
    place = chance.randrange(len(text))
    return text[:place] + chance.choice(_ODD) + text[place + chance.randrange(2) :]


def _token(text: str, chance: random.Random) -> str:
    tokens = _TOKEN.findall(text)
    place = chance.randrange(len(tokens))
    tokens[place] = chance.choice(("", tokens[place] * 2, chance.choice(tokens), chance.choice(tokens)))
    return "".join(tokens)


def _lines(text: str, chance: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    indented = " " * (len(lines[at]) - len(lines[at].lstrip()))
    match chance.randrange(8):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at] * chance.choice((1, 1, 50)))
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = "    " + lines[at]
        case 4:
            lines[at] = lines[at].removeprefix("    ")
        case 5:
            lines[at] = lines[at].rstrip("\n") + "; "
        case 6:
            lines.insert(at, indented + lines[other].lstrip())
        case _:
            lines[at] = f"{indented}{chance.choice(_HEADS)}\n    {lines[at]}"
    return "".join(lines)


def _expression(text: str, chance: random.Random) -> str:
    """An expression is exchanged for another, or wrapped."""
    spans = _expressions(text)
    if not spans:
        return _token(text, chance)
    (begin, end), (other, other_end) = chance.choice(spans), chance.choice(spans)
    value = text[other:other_end] if chance.randrange(2) else text[begin:end]
    if value == text[begin:end] or not chance.randrange(3):
        value = chance.choice(_WRAPPINGS).replace("{}", value).replace("{{", "{").replace("}}", "}")
    return text[:begin] + value + text[end:]


def _expressions(text: str) -> list[tuple[int, int]]:
    """Where the expressions of a text begin and end, if it is Python."""
    if not _is_python(text):
        return []
    tree = ast.parse(text)
    lines = text.encode("utf-8").splitlines(keepends=True)
    if not text.isascii() or len(lines) != text.count("\n") + (not text.endswith("\n")):
        return []
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line))
    return [
        (begins[node.lineno - 1] + node.col_offset, begins[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0))
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
    ]


def _name(text: str, chance: random.Random) -> str:
    """A name becomes another, here or throughout."""
    names = sorted(set(re.findall(r"\b[A-Za-z_]\w*", text)))
    if not names:
        return text
    old, new = chance.choice(names), chance.choice(names)
    return re.sub(rf"\b{old}\b", new, text, count=chance.choice((0, 1)))


def _endings(text: str, chance: random.Random) -> str:
    return text.replace("\n", chance.choice(("\r\n", "\r\n", "\r", "\n\n", " \n", "  # x\n", "\n\f")))


_WAYS: tuple[Callable[[str, random.Random], str], ...] = (
    *(_expression, _expression, _expression, _expression, _lines, _lines, _lines),
    *(_name, _name, _token, _odd_character, _endings),
)


# --- mutants, tried --------------------------------------------------------------------------------------------------


def try_out(paths: list[str], count: int, seed: int, *, notebooks: bool = False, until: float = float("inf")) -> Counter[str]:
    """Tries ``count`` mutants of the files below ``paths``, or fewer where the time is ``until``; says what went wrong."""
    task = Task(all_rules(), Action.FIX, Applicability.UNSAFE, timeout=LIMIT)
    tally: Counter[str] = Counter()
    for number, (path, data) in enumerate(islice(_mutants(paths, seed, notebooks), count)):
        if time.time() > until:
            break
        tally["mutants"] += 1
        for line in _wrong(path, data, task, tally):
            tally["wrong"] += 1
            print(f"mutant {number}: {line}", flush=True)
        if number % 50 == 0:
            gc.collect()
    return tally


def _mutants(paths: list[str], seed: int, notebooks: bool) -> Iterator[tuple[str, bytes]]:
    chance = random.Random(seed)
    originals = list(_originals(paths, notebooks))
    while originals:
        path, data = chance.choice(originals)
        if notebooks:
            yield path, json.dumps(notebook_mutant(json.loads(data), chance), indent=chance.choice((None, 1))).encode()
        else:
            yield path, mutant(data.decode(), chance).encode("utf-8", "surrogatepass")


def _originals(paths: list[str], notebooks: bool) -> Iterator[tuple[str, bytes]]:
    task = Task(all_rules())
    for path in files_below(paths):
        data = Path(path).read_bytes()
        if path.endswith(".ipynb") != notebooks or len(data) > LARGEST * (10 if notebooks else 1):
            continue
        outcome = examine(data, path, task)
        if outcome.diagnostics and not outcome.errors:
            yield path, data


def _wrong(path: str, data: bytes, task: Task, tally: Counter[str]) -> list[str]:
    """What should not have come of a mutant."""
    faulthandler.dump_traceback_later(30 * LIMIT, exit=True, file=sys.__stderr__ or 2)  # where code in C never ends
    outcome = examine(data, path, task)
    tally["refused"] += bool(outcome.errors)
    tally["with findings"] += bool(outcome.diagnostics or outcome.fixed)
    wrong = [str(error) for error in outcome.errors if error.code in ("internal-error", "timeout")]
    if outcome.replacement is not None:
        refused = {error.message for error in outcome.errors}
        found = check_fixed(path, data, outcome, task, tally)
        wrong += [each for each in found if not any(each.endswith(message) for message in refused)]
        if path.endswith(".ipynb") and _without_code(data) != _without_code(outcome.replacement):
            wrong.append(f"{path}: more than code has changed")
    faulthandler.cancel_dump_traceback_later()
    return wrong


def _without_code(data: bytes) -> str:
    content = json.loads(data)
    for cell in content.get("cells", ()):
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            cell.pop("source", None)
    return repr(content)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--notebooks", action="store_true", help="mutants of notebooks")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long")
    parser.add_argument("paths", nargs="+", metavar="PATH")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.set_int_max_str_digits(0)
    began = time.time()
    tally = try_out(options.paths, options.count, options.seed, notebooks=options.notebooks, until=began + options.seconds)
    print(f"Python {platform.python_version()}; seed {options.seed}; {time.time() - began:.0f} seconds")
    print("; ".join(f"{name}: {count}" for name, count in tally.items()))
    return 1 if tally["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
