"""Generated programs, run before and after their safe fixes: ``python tests/meaning/run_generated.py --count 20000 --seed 1``.

Says how many of them run, how many safe fixes of each rule were applied, and how many differ with no explanation. Of those, a
few for each rule are shrunk and shown; ``--keep DIR`` writes them all.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(folder) for folder in (TESTS.parent, TESTS / "notation", TESTS / "properties")]

from explained import explanation  # noqa: E402
from fixing import RULES, Fixed, changes, difference, fixed  # noqa: E402
from forked import run, run_in_turn  # noqa: E402
from generator import program  # noqa: E402
from shrinking import shrunk  # noqa: E402

from outcomes import Outcome  # noqa: E402
from torchlint.rules.catalogue import Entry  # noqa: E402

KNOWN = Path(__file__).with_name("known_seeds.txt")
AT_ONCE = 15
"""How many programs one process runs."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A program that prints something else when it is fixed: its files, and each rule whose fixes alone do it."""

    seed: int
    files: dict[str, str]
    codes: tuple[str, ...]


@dataclass(slots=True)
class Tally:
    """What became of some programs."""

    programs: int = 0
    ran: int = 0
    changed: int = 0
    applied: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    differences: list[Difference] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Counts what another tally has counted."""
        self.programs += other.programs
        self.ran += other.ran
        self.changed += other.changed
        self.applied += other.applied
        self.explained += other.explained
        self.differences += other.differences

    @property
    def blamed(self) -> Counter[str]:
        """How many programs differ by the fixes of each rule alone."""
        return Counter(code for each in self.differences for code in each.codes)


def tally(seeds: Sequence[int]) -> Tally:
    """Makes the programs of these numbers, fixes them, and runs them before and after."""
    programs = [program(seed) for seed in seeds]
    mended = [fixed(files) for files in programs]
    changed = [number for number, files in enumerate(programs) if mended[number].files != files]
    outcomes = run_in_turn([*programs, *(mended[number].files for number in changed)])
    result = Tally(len(seeds), sum(outcome.error is None for outcome in outcomes[: len(seeds)]), len(changed))
    for number, after in zip(changed, outcomes[len(seeds) :]):
        result.applied += mended[number].applied
        if not outcomes[number].same(after):
            _judge(seeds[number], programs[number], mended[number], result)
    return result


def _judge(seed: int, files: dict[str, str], mended: Fixed, result: Tally) -> None:
    """Looks at a difference once more, in processes of its own, and counts it as explained or not."""
    before, after = run(files), run(mended.files)
    if before.same(after):
        return
    if codes := explanation(files, mended, before, after):
        result.explained[codes] += 1
        return
    result.differences.append(Difference(seed, files, tuple(_guilty(files, mended)) or ("together",)))


def _guilty(files: dict[str, str], mended: Fixed) -> Iterator[str]:
    """The rules whose fixes alone make a difference that nothing explains."""
    alone = {code: fixed(files, _rules(code)) for code in sorted(mended.applied)}
    before, *outcomes = run_in_turn([files, *(each.files for each in alone.values())])
    for (code, each), after in zip(alone.items(), outcomes):
        if not before.same(after) and not explanation(files, each, before, after):
            yield code


def _rules(code: str) -> list[Entry]:
    """One rule, or all ``together``."""
    return [rule for rule in RULES if code in (rule.code, "together")]


def fails(files: dict[str, str], code: str, ends: tuple[str, str] | None = None) -> bool:
    """Whether the safe fixes of one rule alone, or of all ``together``, make a difference that nothing explains.

    With ``ends``, only programs count that end like this before and after, by the words of the exception.
    """
    try:
        mended = fixed(files, _rules(code))
    except Exception:  # a smaller program that is no Python
        return False
    if mended.files == files:
        return False
    before, after = run_in_turn([files, mended.files], limit=2)
    if before.same(after) or (ends is not None and (_kind(before), _kind(after)) != ends):
        return False
    return not explanation(files, mended, before, after)


def _kind(outcome: Outcome) -> str:
    return " ".join(re.findall("[A-Za-z]{2,}", outcome.error or "")[:8])


def smallest(difference: Difference) -> tuple[dict[str, str], str]:
    """The program with what makes no difference left out, and the rule."""
    code = difference.codes[0]
    before, after = run(difference.files), run(fixed(difference.files, _rules(code)).files)
    ends = (_kind(before), _kind(after))
    return shrunk(difference.files, lambda files: fails(files, code, ends)), code


def shown(files: dict[str, str], code: str) -> str:
    """A program, its fix, and what that does to the output."""
    mended = fixed(files, _rules(code))
    text = "\n".join(f"# {name}\n{text.strip()}" for name, text in files.items())
    return f"{text}\n{changes(files, mended.files)}{difference(run(files).text, run(mended.files).text, 'printed')}"


def known() -> dict[int, tuple[str, ...]]:
    """The numbers of the programs that are known to differ, each with the rules."""
    lines = [line.partition(": ") for line in KNOWN.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {int(seed): tuple(codes.split()) for seed, _, codes in lines}


# --- the command -----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns 1 where a program differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first program")
    parser.add_argument("--shrink", type=int, default=5, help="how many differences of each rule are shrunk (default: 5)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the programs that differ to this folder")
    parser.add_argument("--known", action="store_true", help="only the programs that known_seeds.txt lists")
    parser.add_argument("--write-known", action="store_true", help="write the numbers of those that differ to known_seeds.txt")
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args(arguments)
    start = time.monotonic()
    seeds = list(known()) if options.known else range(options.seed, options.seed + options.count)
    groups = [seeds[at : at + AT_ONCE] for at in range(0, len(seeds), AT_ONCE)]
    total = Tally()
    gc.freeze()
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        for each in pool.imap_unordered(tally, groups):
            total.add(each)
        total.differences.sort(key=lambda each: each.seed)
        print(report(total, time.monotonic() - start), flush=True)
        _write(total.differences, options.keep, options.write_known)
        for files, code in pool.imap(smallest, _few(total.differences, options.shrink)):
            print(f"--- {code}\n{shown(files, code)}", flush=True)
    return int(bool(total.differences))


def _few(differences: Iterable[Difference], most: int) -> list[Difference]:
    """So many differences of each rule, those of one rule side by side."""
    chosen: dict[str, list[Difference]] = {}
    for each in differences:
        chosen.setdefault(each.codes[0], []).append(each)
    return [each for code in sorted(chosen) for each in chosen[code][:most]]


def report(total: Tally, took: float) -> str:
    """The figures."""
    lines = [
        f"{total.programs} programs, {total.ran} ran, {total.changed} changed by {sum(total.applied.values())} safe fixes, "
        f"{sum(total.explained.values())} explained, {len(total.differences)} differ; {took:.0f} s",
        f"{'rule':8}{'safe fixes':>12}{'explained':>12}{'differ':>12}",
    ]
    for code in sorted({*total.applied, *total.blamed}):
        explained = sum(number for codes, number in total.explained.items() if code in codes)
        lines.append(f"{code:8}{total.applied[code]:12}{explained:12}{total.blamed[code]:12}")
    return "\n".join(lines)


def _write(differences: Sequence[Difference], folder: Path | None, to_known: bool) -> None:
    """Writes the programs that differ to a folder, and their numbers to the list of those that are known to."""
    for each in differences if folder else []:
        place = Path(folder or "", f"{'-'.join(each.codes)}-{each.seed}")
        place.mkdir(parents=True, exist_ok=True)
        for name, text in each.files.items():
            (place / name).write_text(text, encoding="utf-8")
    if to_known:
        lines = ["# Programs that differ today, each with the rules; test_generated.py holds this list to exactly what is so."]
        lines += [f"{each.seed}: {' '.join(each.codes)}" for each in differences]
        KNOWN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
