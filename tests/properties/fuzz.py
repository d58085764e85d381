"""A coverage-guided fuzz run: ``python tests/properties/fuzz.py --seconds 300``.

The corpus is the fixtures. Inputs are mutated as programs (lines and names from the corpus put in, taken out, moved, laid out
in other ways) and as bytes, and those that reach new code of torchlint are kept and mutated further. Each input is linted and
fixed, and the invariants of `invariants.py` are checked. A failure is written to the folder ``--crashes``, once for each place
and message, and the run goes on.

Needs atheris, which has wheels for Linux: ``pip install atheris``. Without it the same mutations are made with no guidance.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    import atheris  # type: ignore[import-untyped, import-not-found, unused-ignore]
except ImportError:
    atheris = None

if atheris is not None:
    with atheris.instrument_imports(include=["torchlint"]):
        from torchlint.rules import all_rules

        all_rules()

import invariants
import layout
from grammar import Choice

from torchlint.diagnostic import Applicability
from torchlint.text.source import SourceError

FIXTURES = Path(__file__).parents[2] / "fixtures"
LARGEST = 4000
"""Longer inputs are cut: they take long and say little."""

LAYOUTS: tuple[Callable[[str, Choice], str], ...] = (
    *(layout.spaced, layout.broken, layout.continued),
    *(layout.commented, layout.joined, layout.parted),
)

_NAME = re.compile(r"[A-Za-z_]\w*")


@dataclass(slots=True)
class Tally:
    """What a run has done."""

    tried: int = 0
    programs: int = 0
    with_findings: int = 0
    fixed: int = 0
    codes: Counter[str] = field(default_factory=Counter)
    crashes: dict[str, int] = field(default_factory=dict)


class Fuzzer:
    """Tries inputs until its time is over."""

    def __init__(self, seconds: float, crashes: Path, seed: int) -> None:
        self._end = time.monotonic() + seconds
        self._seconds = seconds
        self._crashes = crashes
        self._choice = Choice(random.Random(seed).randrange)
        self.corpus = [path.read_bytes() for path in sorted(FIXTURES.glob("*/*.py"))]
        self._lines = [line for data in self.corpus for line in data.decode().split("\n") if line.strip()]
        self._names = sorted({name for line in self._lines for name in _NAME.findall(line)})
        self.tally = Tally()

    def try_input(self, data: bytes) -> None:
        """Lints and fixes one input; ends the process when the time is over."""
        if time.monotonic() > self._end:
            self.report()
            os._exit(1 if self.tally.crashes else 0)
        self.tally.tried += 1
        try:
            self._check(data)
        except SourceError:
            pass
        except Exception as error:
            self._keep(data, error)

    def _check(self, data: bytes) -> None:
        source = invariants.read(data)
        source.tree  # noqa: B018 (raises where the input is not Python)
        self.tally.programs += 1
        try:
            found = invariants.check_findings(source)
        except SourceError as error:
            raise AssertionError(f"cannot lint what Python can parse: {error}") from error
        self.tally.with_findings += bool(found)
        self.tally.codes.update({each.code for each in found})
        if found:
            for applicability in Applicability:
                self.tally.fixed += bool(invariants.check_fix(source, applicability).fixed)

    def _keep(self, data: bytes, error: Exception) -> None:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "torchlint" in frame.filename]
        message = re.sub(r"\W?\b[A-Z]\w+\(.*|['\"`].*|\d+", "", str(error), flags=re.DOTALL)[:60]
        codes = ",".join(sorted(set(re.findall(r"code='(TPL\d+)'", str(error)))))
        key = f"{type(error).__name__} {message} {codes} at {frames[-1].name if frames else '-'}"
        self.tally.crashes[key] = self.tally.crashes.get(key, 0) + 1
        if self.tally.crashes[key] == 1:
            self._crashes.mkdir(parents=True, exist_ok=True)
            name = hashlib.sha1(key.encode()).hexdigest()[:12]
            (self._crashes / f"{name}.py").write_bytes(data)
            (self._crashes / f"{name}.txt").write_text(f"{key}\n\n{error}\n", encoding="utf-8")
            print(f"failure {name}: {key}", flush=True)

    def mutate(self, data: bytes, most: int, seed: int) -> bytes:
        """One mutation of an input."""
        choice = Choice(random.Random(seed).randrange)
        if choice.one_in(8) and atheris is not None:
            return bytes(atheris.Mutate(data, most))
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
        for _ in range(choice.between(1, 4)):
            text = self._mutated(text, choice)
        if choice.one_in(6):
            text = layout.with_newlines(text, choice.of(("\r\n", "\r", "mixed")), choice)
        return text.encode("utf-8", "replace")[: min(most, LARGEST)]

    def _mutated(self, text: str, choice: Choice) -> str:
        lines = text.split("\n")
        row = choice.below(len(lines))
        match choice.below(9):
            case 0 | 1:
                indent = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
                lines.insert(row, indent + choice.of(self._lines).strip())
            case 2:
                del lines[row : row + choice.between(1, 4)]
            case 3:
                lines[row:row] = lines[choice.below(len(lines)) :][: choice.between(1, 8)]
            case 4:
                names = list(_NAME.finditer(lines[row]))
                if names:
                    name = choice.of(names)
                    lines[row] = lines[row][: name.start()] + choice.of(self._names) + lines[row][name.end() :]
            case 5:
                lines += choice.of(self.corpus).decode().split("\n")[: choice.between(5, 60)]
            case 6:
                part = choice.of(_NAME.findall(text) or ["x"])
                return re.sub(rf"\b{part}\b", choice.of(_NAME.findall(text) or ["x"]), text)
            case 7:
                lines[row] = "    " + lines[row]
            case _:
                change = choice.of(LAYOUTS)
                try:
                    return change(text, choice)
                except Exception:  # the tokenizer's, of what is not Python
                    return text
        return "\n".join(lines)

    def run_unguided(self) -> None:
        """Mutates the corpus at random, as often as there is time for."""
        seed = 0
        while True:
            seed += 1
            data = self._choice.of(self.corpus)
            for step in range(self._choice.between(1, 4)):
                data = self.mutate(data, LARGEST, seed * 7 + step)
            self.try_input(data)

    def report(self) -> None:
        """Prints what was done."""
        tally = self.tally
        print(
            f"\n{self._seconds:.0f} s: {tally.tried} inputs, {tally.programs} programs, {tally.with_findings} with findings "
            f"(of {len(tally.codes)} rules), {tally.fixed} fixed; {len(tally.crashes)} kinds of failures",
            flush=True,
        )
        for key, count in tally.crashes.items():
            print(f"  {count} x {key}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--crashes", type=Path, default=Path(tempfile.gettempdir(), "torchlint-crashes"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    fuzzer = Fuzzer(options.seconds, options.crashes, options.seed)
    if atheris is None:
        print("atheris is not installed: mutating without guidance")
        fuzzer.run_unguided()
    with tempfile.TemporaryDirectory() as folder:
        for number, data in enumerate(fuzzer.corpus):
            for start in range(0, len(data), LARGEST // 2):
                Path(folder, f"{number}-{start}.py").write_bytes(_whole_lines(data[start : start + LARGEST // 2]))
        guided: Any = atheris
        arguments = [
            sys.argv[0],
            f"-seed={options.seed}",
            f"-max_len={LARGEST}",
            "-timeout=60",
            "-rss_limit_mb=4096",
            "-verbosity=0",
        ]
        guided.Setup([*arguments, folder], fuzzer.try_input, custom_mutator=fuzzer.mutate)
        guided.Fuzz()


def _whole_lines(data: bytes) -> bytes:
    """The part of a text that is made of whole statements at the top level."""
    text = data.decode("utf-8", "ignore")
    starts = [match.start() for match in re.finditer(r"(?m)^(?=[A-Za-z@])", text)]
    return text[starts[0] : starts[-1]].encode() if len(starts) > 1 else data


if __name__ == "__main__":
    main()
