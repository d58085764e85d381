"""The measurements as the page docs/performance.md."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from cases import Result, Row, Target

_HEAD = """\
# Performance

Written by `python tests/benchmark/benchmark.py`; not to be edited by hand.
"""

_METHOD = """\
## How it was measured

Whole processes, from their start to their end, their output written to a file; each program in its own virtual environment,
installed as users install it. The programs of one table take turns, so that what else the machine does meets all of them; a
time is the median, beside it the fastest and the slowest run. Programs too slow to be run several times have one run. Memory is
the largest resident size of any one process; the benchmark's own, some 30 MB, is the least that can be told. Ratios are to the
first line of the table. The code is that of the wheels on PyPI, pinned by hash; commands run in the folder that the wheel was
unpacked to.

Targets are told by processor time, that of all processes of a program together, except beside ruff: it is what a program takes
wherever else the machine is busy, and it was. Seconds say as much about what else ran as about the programs.
"""


IN_AN_EDITOR = "## In an editor\n"
"""Where the last section of the page starts, which `tests/server/latency.py` writes."""


def page(
    results: Sequence[Result],
    missing: Iterable[str],
    versions: Mapping[str, Mapping[str, str]],
    command: str,
    latency: str = "",
) -> str:
    """The whole page; ``missing`` names cases without a result, ``command`` is what was run, ``latency`` the last section."""
    return (
        "\n".join(
            [
                _HEAD,
                *_circumstances(versions, command),
                "## What it must show\n",
                *targets_table([target for result in results for target in result.targets]),
                *(f"\nNot measured: {name}." for name in missing),
                "",
                _METHOD,
                *(line for result in results for line in _section(result)),
                latency,
            ]
        ).rstrip()
        + "\n"
    )


def targets_table(targets: Sequence[Target]) -> Iterator[str]:
    """Each target with what was measured."""
    yield "| target | limit | measured | |"
    yield "|---|---:|---:|---|"
    for target in targets:
        bound = "≥" if target.at_least else "≤"
        verdict = "met" if target.met else "**not met**"
        yield f"| {target.text} | {bound} {target.limit:g} {target.unit} | {_figure(target)} {target.unit} | {verdict} |"


def results_table(rows: Sequence[Row]) -> Iterator[str]:
    """Each program of a case with its time, its memory, and the ratio to the first."""
    yield "| program | seconds | fastest – slowest | runs | ratio | processor seconds | peak memory | command |"
    yield "|---|---:|---:|---:|---:|---:|---:|---|"
    for row in rows:
        runs = [run.seconds for run in row.series.runs]
        spread = f"{min(runs):.3f} – {max(runs):.3f}" if len(runs) > 1 else ""
        if row.sampled is not None:
            spread = f"estimate: {runs[0]:.1f} s for {row.sampled:.1%} of the bytes"
        ratio = row.seconds / rows[0].seconds
        peak = f"{row.series.peak / 1e6:.0f} MB"
        yield (
            f"| {row.series.command.label} | {row.seconds:.3f} | {spread} | {len(runs)} | {ratio:.2f} "
            f"| {row.processor:.2f} | {peak} | `{row.series.command.shown}` |"
        )


def _section(result: Result) -> Iterator[str]:
    yield f"## {result.title}\n"
    if result.about:
        yield f"{result.about}\n"
    yield from results_table(result.rows)
    if any(row.sampled is not None for row in result.rows):
        yield (
            "\nAn estimate is the time over a fixed, evenly spaced sample of the files that the program would parse, less its "
            "start-up, scaled to the bytes of all of them."
        )
    yield ""


def _circumstances(versions: Mapping[str, Mapping[str, str]], command: str) -> Iterator[str]:
    yield f"- Date: {datetime.now(UTC):%Y-%m-%d}"
    yield f"- Machine: {_processors()} processor cores, {_memory()}; {platform.system()}, Python {platform.python_version()}"
    for environment, distributions in versions.items():
        yield f"- Environment {environment}: {', '.join(f'{name} {version}' for name, version in distributions.items())}"
    yield f"- Command: `{command}`"
    yield ""


def _figure(target: Target) -> str:
    return f"{target.measured:.0f}" if target.measured >= 100 else f"{target.measured:.2f}"


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _memory() -> str:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    return f"{pages * size / 2**30:.0f} GiB of memory"
