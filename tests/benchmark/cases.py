"""What is compared with what, and what it must show."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import generated
from compared import PROCESSES, Bench
from environments import Corpus, evenly_spaced
from measurement import Command, Run, Series, measured

_FASTER_THAN_TORCHFIX = 30
_SLOWER_THAN_UNCACHED_RUFF = 2
_SLOWER_THAN_IMPORTING_LIBCST = 1.5
_SLOWER_THAN_FLAKE8 = 1.1
_GROWTH = 2.2
_DEARER_THAN_BEFORE = {"timm": 1.35, "transformers": 1.5}
"""What libcst may cost a cold run beside the commit before rules were visitors of its trees."""
_DEARER_WITH_NEWER_RULES = 1.15
_DEARER_WITH_PROJECT = 1.25
_PEAK = 120 * 1_000_000

_GROWN_LINES = 20_000
_QUICK_LINES = 1_000

_WITHOUT_CANDIDATES = """\
import sys
from torchlint.engine.words import passes_sieve
from torchlint.rules import all_rules
for file in sys.stdin.read().splitlines():
    with open(file, "rb") as opened:
        if not passes_sieve(opened.read(), all_rules()):
            print(file)
"""


_CODES = "from torchlint.rules import all_rules; print(*sorted(rule.code for rule in all_rules() if rule.default), sep=',')"


@dataclass(frozen=True, slots=True)
class Target:
    """What a case must show: ``measured`` may be no more (or, with ``at_least``, no less) than ``limit``."""

    text: str
    measured: float
    limit: float
    unit: str = "×"
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether it does."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a case's table. ``sampled`` is the share of the work that was measured, the times being scaled up from it."""

    series: Series
    seconds: float
    processor: float
    sampled: float | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What a case came to; all ratios are to the first row."""

    title: str
    about: str
    rows: Sequence[Row]
    targets: Sequence[Target]


# --- cases -----------------------------------------------------------------------------------------------------------


def cold(bench: Bench, name: str) -> Result:
    """A whole corpus, no cache."""
    corpus = bench.corpus(name)
    torch_files = corpus.torch_files
    fixed = corpus.files_that_mention_torch
    sample = evenly_spaced(fixed, bench.sample) if bench.sample is not None else []
    codes = _printed(bench, "before", _CODES).strip()
    commands = [
        bench.torchlint(corpus),
        bench.torchlint(corpus, label="torchlint, file by file", options=["--no-project"]),
        _shortened(
            bench.torchlint(
                corpus,
                label=f"torchlint, file by file, the rules of {bench.manifest.before}",
                options=["--no-project", "--select", codes],
            ),
            codes,
            "CODES",
        ),
        bench.before(corpus),
        bench.ruff(corpus),
        bench.bugbear(corpus),
        bench.libcst(corpus, torch_files, PROCESSES, once=True),
        bench.torchfix(corpus, *sample),
    ]
    own, by_file, alike, before, *others, torchfix = bench.series(commands)
    torchfix_row = _row(torchfix)
    if 0 < len(sample) < len(fixed):
        torchfix_row = _scaled(torchfix, corpus.size(sample) / corpus.size(fixed), _start_up(bench))
    return Result(
        f"Cold, {corpus.name}",
        f"{len(corpus.files):,} files, {corpus.lines:,} lines, {corpus.size() / 1e6:.1f} MB; {PROCESSES} processes, nothing "
        f"cached. TorchFix skips files without the word torch by itself; `libcst.parse_module` is given only the "
        f"{len(torch_files)} files that import torch.",
        [*map(_row, (own, by_file, alike, before, *others)), torchfix_row],
        [
            *(
                Target(
                    f"{corpus.name}, cold{what}: TorchFix takes at least {_FASTER_THAN_TORCHFIX} times the processor time",
                    torchfix_row.processor / one.processor,
                    _FASTER_THAN_TORCHFIX,
                    at_least=True,
                )
                for what, one in ((", the same rules file by file", alike), ("", own))
            ),
            _beside_before(f"{corpus.name}, cold, the same rules file by file", alike, before, _DEARER_THAN_BEFORE[name]),
            _beside(f"{corpus.name}, cold, the rules since then", by_file, alike, _DEARER_WITH_NEWER_RULES),
            _beside(f"{corpus.name}, cold, the whole project", own, by_file, _DEARER_WITH_PROJECT),
            _beside_before(f"{corpus.name}, cold, all of it", own, before, _DEARER_THAN_BEFORE[name]),
            Target(f"{corpus.name}, cold: peak memory per process under 120 MB", own.peak / 1e6, _PEAK / 1e6, "MB"),
        ],
    )


def warm(bench: Bench, name: str) -> Result:
    """A whole corpus that has not changed since the run before."""
    corpus = bench.corpus(name)
    caches = bench.folder / "caches"
    own = ["torchlint", "-j", str(PROCESSES), "--cache-dir", str(caches / f"torchlint-{name}"), "."]
    before = ["torchlint", "-j", str(PROCESSES), "--cache-dir", str(caches / f"before-{name}"), "."]
    ruff = ["ruff", "check", "--isolated", "--no-respect-gitignore", "--cache-dir", str(caches / f"ruff-{name}"), "."]
    limit = {"RAYON_NUM_THREADS": str(PROCESSES)}
    commands = [
        bench.command("torchlint, cached", "torchlint", own, corpus.folder, shown="torchlint -j 2 ."),
        bench.command(f"{bench.label_of_before}, cached", "before", before, corpus.folder, shown="torchlint -j 2 ."),
        bench.ruff(corpus),
        bench.command(
            "ruff, cached", "ruff", ruff, corpus.folder, variables=limit, shown="RAYON_NUM_THREADS=2 ruff check --isolated ."
        ),
    ]
    series = bench.series(commands)
    return Result(
        f"Warm, {corpus.name}",
        "The second run over an unchanged tree.",
        [_row(one) for one in series],
        [
            Target(
                f"{corpus.name}, warm: faster than ruff's uncached run, or within twice its time",
                series[0].seconds / series[2].seconds,
                _SLOWER_THAN_UNCACHED_RUFF,
            ),
            _beside_before(f"{corpus.name}, warm", series[0], series[1], 1),
        ],
    )


def one_file(bench: Bench) -> Result:
    """One long file, as an editor would have it checked on every save."""
    corpus = bench.whole("timm")
    file = bench.manifest.one_file
    commands = [
        bench.torchlint(corpus, file),
        bench.ruff(corpus, file),
        bench.bugbear(corpus, file),
        bench.libcst(corpus, [file], 1),
        bench.torchfix(corpus, file),
    ]
    lines = corpus.read(file).count(b"\n")
    return Result(
        "One file", f"`{file}` of {corpus.name}, {lines:,} lines; nothing cached.", list(map(_row, bench.series(commands))), []
    )


def five_files(bench: Bench) -> Result:
    """Five files, as a commit has them."""
    corpus = bench.whole("timm")
    files = bench.manifest.five_files
    commands = [
        bench.torchlint(corpus, *files),
        bench.libcst(corpus, files, 1),
        bench.ruff(corpus, *files),
        bench.bugbear(corpus, *files),
        bench.torchfix(corpus, *files, once=False),
    ]
    commands = [_with_short_names(command, files) for command in commands]
    series = bench.series(commands)
    lines = " / ".join(str(corpus.read(file).count(b"\n")) for file in files)
    return Result(
        "Five files",
        f"Files of {corpus.name} with {lines} lines, as pre-commit would pass them; nothing cached. "
        "`libcst.parse_module` is one process that imports libcst and parses the five.",
        [_row(one) for one in series],
        [
            Target(
                "five files, cold: at most 1.5 times the processor time of importing libcst and parsing the five",
                series[0].processor / series[1].processor,
                _SLOWER_THAN_IMPORTING_LIBCST,
            )
        ],
    )


def in_flake8(bench: Bench) -> Result:
    """What the plugin adds to flake8 where there is nothing to find."""
    corpus = bench.whole("timm")
    files = _without_candidates(bench, corpus)
    commands = [
        bench.flake8("flake8 with torchlint, TPL", "torchlint", "TPL", corpus, *files),
        bench.flake8("flake8 with torchlint, E9", "torchlint", "E9", corpus, *files),
        bench.flake8("flake8 alone, E9", "flake8", "E9", corpus, *files),
        bench.flake8(f"flake8 with {bench.label_of_before}, TPL", "before", "TPL", corpus, *files),
    ]
    series = bench.series(commands)
    return Result(
        "In flake8, files without candidates",
        f"The {len(files)} of the {len(corpus.files)} files of {corpus.name} that hold words of no rule, "
        f"{corpus.size(files) / 1e3:.0f} kB; all rules, as `--select TPL` has it.",
        [_row(one) for one in series],
        [
            *(
                Target(
                    f"{corpus.name}, files without candidates: `flake8 --select TPL` at most 10 % above "
                    f"`flake8 --select E9` {suffix}, processor time",
                    series[0].processor / other.processor,
                    _SLOWER_THAN_FLAKE8,
                )
                for suffix, other in (("with the plugin installed", series[1]), ("without it", series[2]))
            ),
            _beside_before(f"{corpus.name}, files without candidates in flake8", series[0], series[3], 1),
        ],
    )


def in_flake8_everything(bench: Bench) -> Result:
    """What the plugins add to flake8 over a whole corpus."""
    corpus = bench.corpus("timm")
    commands = [
        bench.flake8("flake8 with torchlint, TPL", "torchlint", "TPL", corpus),
        bench.flake8("flake8 alone, E9", "flake8", "E9", corpus),
        bench.flake8("flake8 with TorchFix, TOR", "torchfix", "TOR", corpus, once=True),
    ]
    return Result(f"In flake8, all of {corpus.name}", "", list(map(_row, bench.series(commands))), [])


def more_files(bench: Bench) -> Result:
    """Twice the files."""
    corpus = bench.corpus("timm")
    sizes = [bench.copy(corpus, f"growth, {times} times", corpus.files, times) for times in (1, 2)]
    commands = [bench.torchlint(size, label=f"{len(size.files)} files") for size in sizes]
    return _growth(bench, f"Twice the files: {corpus.name} and two copies of it", "twice the files", commands)


def more_lines(bench: Bench, shape: str, write: Callable[[int], str]) -> Result:
    """Twice the lines in one file."""
    folder = bench.folder / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    base = _QUICK_LINES if bench.quick else _GROWN_LINES
    commands = []
    for lines in (base, 2 * base):
        name = f"{shape.replace(' ', '_')}_{lines}.py"
        (folder / name).write_text(write(lines), encoding="utf-8")
        commands.append(bench.torchlint(Corpus.below(name, folder), name, label=f"{lines:,} lines, {shape}"))
    return _growth(bench, f"Twice the lines: one generated file, {shape}", f"twice the lines, {shape}", commands)


def _growth(bench: Bench, title: str, what: str, commands: Sequence[Command]) -> Result:
    series = bench.series(commands)
    target = Target(f"{what}: at most 2.2 times the processor time", series[1].processor / series[0].processor, _GROWTH)
    return Result(title, "", [_row(one) for one in series], [target])


CASES: Mapping[str, Callable[[Bench], Result]] = {
    "one-file": one_file,
    "five-files": five_files,
    "flake8": in_flake8,
    "files": more_files,
    "lines": lambda bench: more_lines(bench, "many definitions", generated.many_definitions),
    "lines-in-one-function": lambda bench: more_lines(bench, "one function", generated.one_function),
    "warm-timm": lambda bench: warm(bench, "timm"),
    "warm-transformers": lambda bench: warm(bench, "transformers"),
    "cold-timm": lambda bench: cold(bench, "timm"),
    "flake8-timm": in_flake8_everything,
    "cold-transformers": lambda bench: cold(bench, "transformers"),
}
"""By name, the quick ones first."""


# --- measured to shown -----------------------------------------------------------------------------------------------


def _row(series: Series) -> Row:
    return Row(series, series.seconds, series.processor)


def _beside_before(what: str, own: Series, before: Series, limit: float) -> Target:
    """The target beside the commit that the manifest names, in processor time, which other programs disturb least."""
    return _beside(what, own, before, limit)


def _beside(what: str, own: Series, other: Series, limit: float) -> Target:
    times = "no more than" if limit == 1 else f"at most {limit:g} times"
    return Target(f"{what}: {times} the processor time of {other.command.label}", own.processor / other.processor, limit)


def _scaled(series: Series, share: float, start_up: Run) -> Row:
    seconds = start_up.seconds + (series.seconds - start_up.seconds) / share
    return Row(series, seconds, start_up.processor + (series.processor - start_up.processor) / share, share)


def _start_up(bench: Bench) -> Run:
    """What TorchFix takes to do nothing, which does not grow with the work."""
    command = bench.command("TorchFix, start-up", "torchfix", ["torchfix", "--version"], bench.folder)
    return min((measured(command) for _ in range(3)), key=lambda run: run.processor)


def _with_short_names(command: Command, files: Sequence[str]) -> Command:
    return _shortened(command, " ".join(files), "FILES")


def _shortened(command: Command, text: str, stand_in: str) -> Command:
    shown = command.shown.replace(text, stand_in)
    return Command(command.label, command.arguments, command.folder, command.variables, shown, command.once)


def _without_candidates(bench: Bench, corpus: Corpus) -> list[str]:
    """The files that the sieve of words keeps from being parsed, whichever rules are selected."""
    return _printed(bench, "torchlint", _WITHOUT_CANDIDATES, "\n".join(corpus.files), corpus.folder).splitlines()


def _printed(bench: Bench, environment: str, program: str, given: str = "", folder: Path | None = None) -> str:
    command = [bench.environments.python(environment), "-c", program]
    return subprocess.run(command, input=given, cwd=folder, check=True, capture_output=True, text=True).stdout
