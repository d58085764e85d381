"""The differential bench: programs that are run on torch before and after their fixes, and have to print the same.

``python tests/meaning/bench.py [--rule TPL004] [--unsafe] [PROGRAM…]`` says for each rule how its programs fare, and shows
those that differ. The folder's README says what a program is.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "notation"), str(TESTS.parent)]  # where the command finds what pytest finds by itself

from fixing import Fixed, changes, difference, fixed, found_at_first  # noqa: E402
from forked import MAIN, run  # noqa: E402

from outcomes import Outcome  # noqa: E402
from torchlint.diagnostic import Applicability  # noqa: E402

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
KNOWN = HERE / "known.txt"

_HEADER = re.compile(r"# (attacks|promise|shows|stays safe): *(\S.*)")
_CODE = re.compile(r"TPL\d{3}")


@dataclass(frozen=True, slots=True)
class Program:
    """A program of the bench: its files, and what its first lines say of it."""

    name: str
    files: dict[str, str]
    attacks: tuple[str, ...]
    promise: str
    shows: str
    stays_safe: bool

    @classmethod
    def read(cls, path: Path) -> Program:
        """The program in a file, or in a folder with a ``main.py``."""
        paths = sorted(path.glob("*.py")) if path.is_dir() else [path]
        files = {each.name if path.is_dir() else MAIN: each.read_text(encoding="ascii") for each in paths}
        said: dict[str, str] = {}
        for line in files[MAIN].splitlines():
            if not line.startswith("#"):
                break
            if match := _HEADER.match(line):
                said[match[1]] = match[2].strip()
        return cls(
            path.resolve().relative_to(PROGRAMS).as_posix(),
            files,
            tuple(_CODE.findall(said.get("attacks", ""))),
            said.get("promise", ""),
            said.get("shows", ""),
            said.get("stays safe") == "yes",
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A program, what its fixes made of it, the two runs, and what is wrong with it in a word or two each."""

    program: Program
    fixed: Fixed
    before: Outcome
    after: Outcome
    wrong: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether the two runs came to something else."""
        return not self.before.same(self.after)


def paths(folder: Path = PROGRAMS) -> list[Path]:
    """Where the programs are: the files and folders that stand in the folder of a rule."""
    return sorted(path for path in folder.glob("tpl[0-9]*/*") if path.suffix == ".py" or (path / MAIN).exists())


def judge(program: Program, applicability: Applicability = Applicability.SAFE) -> Verdict:
    """Fixes a program, runs it before and after if that changes it, and says what is wrong."""
    after_fix = fixed(program.files, applicability=applicability)
    if after_fix.files == program.files:  # it comes to the same, whatever that is
        before = after = Outcome("", None)
    else:
        before, after = run(program.files), run(after_fix.files)
    return Verdict(program, after_fix, before, after, tuple(_wrong(program, after_fix, before, after)))


def _wrong(program: Program, after_fix: Fixed, before: Outcome, after: Outcome) -> Iterator[str]:
    if not program.attacks or not program.promise:
        yield "has no header"
    missing = set(program.attacks) - after_fix.found
    if missing and missing - found_at_first(program.files):
        yield "is not found"
    if program.stays_safe and not any(after_fix.applied[code] for code in program.attacks):
        yield "is not safe"
    same = before.same(after)
    if not same and not program.shows:
        yield "differs" if before.same(run(program.files)) else "is not deterministic"
    if same and program.shows:
        yield "shows nothing"


def known() -> dict[str, str]:
    """The programs that are known to fail, each with what is wrong with it."""
    lines = KNOWN.read_text(encoding="utf-8").splitlines() if KNOWN.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


# --- the command -----------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns 1 where a program fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=Path, metavar="PROGRAM", help="default: all")
    parser.add_argument("--rule", action="append", default=[], help="only programs that attack this rule; may be repeated")
    parser.add_argument("--unsafe", action="store_true", help="apply unsafe fixes as well, and show what they change")
    parser.add_argument("--quiet", "-q", action="store_true", help="name the programs that fail, and show no diffs")
    parser.add_argument("--write-known", action="store_true", help="write to known.txt which of these programs fail")
    parser.add_argument("-j", dest="processes", type=int, default=2)
    options = parser.parse_args(arguments)
    programs = [Program.read(path) for path in options.programs or paths()]
    programs = [each for each in programs if not options.rule or set(options.rule) & set(each.attacks)]
    applicability = Applicability.UNSAFE if options.unsafe else Applicability.SAFE
    with multiprocessing.get_context("fork").Pool(options.processes) as pool:
        verdicts = pool.starmap(judge, [(program, applicability) for program in programs], chunksize=4)
    for verdict in verdicts:
        if verdict.wrong:
            print(verdict_text(verdict, options.quiet))
    print(table(verdicts))
    if options.write_known:
        KNOWN.write_text(_known_text(verdicts), encoding="utf-8")
    return int(any(verdict.wrong for verdict in verdicts))


def verdict_text(verdict: Verdict, brief: bool = False) -> str:
    """What is wrong with a program, the fix, and what it does to the output."""
    program = verdict.program
    head = f"{program.name}: {', '.join(verdict.wrong)} ({program.promise or program.shows})"
    if brief:
        return head
    outputs = difference(verdict.before.text, verdict.after.text, "printed")
    return f"{head}\n{changes(program.files, verdict.fixed.files)}{outputs}"


def table(verdicts: Sequence[Verdict]) -> str:
    """The figures of each rule that is attacked, and of all programs."""
    codes = sorted({code for verdict in verdicts for code in verdict.program.attacks})
    groups = {code: [verdict for verdict in verdicts if code in verdict.program.attacks] for code in codes}
    rows: list[tuple[str, ...]] = [("rule", "programs", "safe fixes", "changed", "shown", "fail")]
    for code, group in [*groups.items(), ("all", list(verdicts))]:
        applied = sum(sum(each.fixed.applied.values()) if code == "all" else each.fixed.applied[code] for each in group)
        changed = sum(each.fixed.files != each.program.files for each in group)
        shown = sum(bool(each.program.shows) for each in group)
        rows.append((code, *map(str, (len(group), applied, changed, shown, sum(bool(each.wrong) for each in group)))))
    return "\n".join(f"{row[0]:8}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows)


def _known_text(verdicts: Sequence[Verdict]) -> str:
    lines = ["# Programs that fail today, each with what is wrong; test_meaning.py holds this list to exactly what is so."]
    judged = {verdict.program.name: ", ".join(verdict.wrong) for verdict in verdicts}
    lines += sorted(f"{name}: {wrong}" for name, wrong in {**known(), **judged}.items() if wrong and (PROGRAMS / name).exists())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
