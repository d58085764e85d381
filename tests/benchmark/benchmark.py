"""Measures torchlint beside its peers and writes docs/performance.md. See the README in this folder."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cases import CASES, Result
from compared import Bench
from environments import REPOSITORY
from page import IN_AN_EDITOR, page, results_table, targets_table

_PAGE = REPOSITORY / "docs" / "performance.md"
_SHOWN = {"pip", "setuptools", "wheel"}
"""What every environment has."""


def main(arguments: Sequence[str]) -> int:
    """Runs the cases; the exit code is 1 where a target is not met."""
    options = _parser().parse_args(arguments)
    chosen = options.only or list(CASES)
    to_page: Path | None = options.page or (None if options.only or options.quick else _PAGE)
    options.cache.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.cache.resolve(), 1 if options.quick else options.runs, options.quick, options.sample)
    results: dict[str, Result] = {}
    for name in chosen:
        print(f"{name}:", file=sys.stderr)
        results[name] = CASES[name](bench)
        print("\n".join(["", results[name].title, *results_table(results[name].rows), ""]), flush=True)
        if to_page is not None:  # after each case: what was measured is kept if a later one is interrupted
            _write(to_page, bench, results, options.only or ())
    targets = [target for result in results.values() for target in result.targets]
    print("\n".join(targets_table(targets)))
    return 0 if all(target.met for target in targets) else 1


def _write(path: Path, bench: Bench, results: dict[str, Result], only: Sequence[str]) -> None:
    versions = {
        name: {
            distribution: version
            for distribution, version in bench.environments.versions(name).items()
            if distribution not in _SHOWN
        }
        for name in bench.manifest.environments
    }
    missing = [name for name in CASES if name not in results]
    latency = path.read_text(encoding="utf-8").partition(IN_AN_EDITOR)[1:] if path.is_file() else ()
    text = page(list(results.values()), missing, versions, _command(bench, only), "".join(latency))
    path.write_text(text, encoding="utf-8")


def _command(bench: Bench, only: Sequence[str]) -> str:
    """What to type to measure the same; where things are kept makes no difference."""
    options = ["--quick"] if bench.quick else ["--runs", str(bench.rounds)]
    if bench.sample is not None:
        options += ["--sample", str(bench.sample)]
    for case in only:
        options += ["--only", case]
    return " ".join(["python tests/benchmark/benchmark.py", *options])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="one run over few files: whether the benchmark works, not how fast"
    )
    parser.add_argument("--only", action="append", choices=CASES, metavar="CASE", help=f"some cases: {', '.join(CASES)}")
    parser.add_argument("--runs", type=int, default=5, help="how often each program is run")
    parser.add_argument("--sample", type=int, help="files that TorchFix's command is run on in place of a whole corpus")
    parser.add_argument("--cache", type=Path, default=_cache_folder(), help="where environments and corpora are kept")
    parser.add_argument("--page", type=Path, help="the page to write, by default docs/performance.md after a full run")
    return parser


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache" if sys.platform != "win32" else tempfile.gettempdir())
    return Path(base) / "torchlint-benchmark"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
