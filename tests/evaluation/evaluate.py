"""Runs torchlint over pinned public code and holds what it finds against labels. See the README in this folder."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
REPOSITORY = FOLDER.parents[1]
sys.path[:0] = [str(FOLDER), str(FOLDER / "first_contact"), str(REPOSITORY)]

from accuracy_page import Evaluation, Extent, page, summary  # noqa: E402
from code_bases import Checkout, DownloadError, Manifest, Store, standard_library  # noqa: E402
from judgement import Finding, Tally, judge  # noqa: E402
from labels import CodeBase, read_labels, read_occurrences  # noqa: E402

from torchlint.engine.linter import lint  # noqa: E402
from torchlint.rules.selection import select_rules  # noqa: E402
from torchlint.text.source import Source, SourceError  # noqa: E402


def main(arguments: Sequence[str]) -> int:
    """Evaluates and reports; the exit code is 1 where findings have no label, 2 where code cannot be had."""
    options = _parser().parse_args(arguments)
    manifest = Manifest.read(FOLDER / "manifest.json")
    store = Store(options.cache.resolve(), manifest.downloader, options.git_address)
    try:
        checkouts = _checkouts(manifest, store, with_git=options.with_git)
    except DownloadError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    evaluation = evaluate(checkouts, options.jobs)
    print(summary(evaluation))
    if options.json:
        options.json.write_text(json.dumps(as_json(evaluation), indent=2) + "\n", encoding="utf-8")
    if options.write:
        options.write.write_text(page(evaluation), encoding="utf-8")
    return 1 if any(judgement.unlabelled for judgement in evaluation.groups.values()) else 0


def evaluate(checkouts: Sequence[Checkout], jobs: int) -> Evaluation:
    """Runs all rules on all files of ``checkouts`` in ``jobs`` processes and judges what they report."""
    work = [(checkout.code_base, checkout.folder, file) for checkout in checkouts for file in checkout.files]
    with ProcessPoolExecutor(jobs) as executor:
        read = list(executor.map(_lint_file, work, chunksize=32))
    extents = _extents(checkouts, read)
    labels = read_labels(FOLDER / "labels.tsv")
    occurrences = read_occurrences(FOLDER / "occurrences.tsv")
    unreadable = frozenset((file.code_base, file.name) for file in read if file.error is not None)
    groups = {}
    for group in dict.fromkeys(checkout.group for checkout in checkouts):
        unjudged = {checkout.code_base: checkout.unjudged for checkout in checkouts if checkout.group == group}
        groups[group] = judge(
            [finding for file in read for finding in file.findings if _is_judged(unjudged, file.code_base, [finding.code])],
            [label for label in labels if label.code_base in unjudged],
            [each for each in occurrences if _is_judged(unjudged, each.code_base, each.codes)],
            unreadable,
        )
    errors = [f"{file.code_base} {file.error}" for file in read if file.error is not None and _is_pinned(file.code_base)]
    return Evaluation(groups, extents, sorted(errors))


def _is_judged(unjudged: Mapping[CodeBase, tuple[str, ...]], code_base: CodeBase, codes: Iterable[str]) -> bool:
    """Whether one of ``codes`` is judged in the code base; ``unjudged`` has the rules that are not, for each that counts."""
    return code_base in unjudged and any(code not in unjudged[code_base] for code in codes)


@dataclass(frozen=True, slots=True)
class _File:
    """What came of one file; ``error`` says why it could not be read as Python."""

    code_base: CodeBase
    name: str
    lines: int
    findings: list[Finding]
    error: str | None = None


def _lint_file(work: tuple[CodeBase, Path, str]) -> _File:
    """Lints one file; noqa comments are not heeded, for what they hide would be neither right nor wrong."""
    code_base, folder, name = work
    data = (folder / name).read_bytes()
    lines = data.count(b"\n")
    try:
        source = Source.decode(data, name)
        _ = source.tree  # a file that no rule would have parsed is to be counted as well if it is not Python
        found = lint(source, select_rules(["ALL"]), suppress=False)
    except SourceError as error:
        return _File(code_base, name, lines, [], str(error.error))
    places = [Finding(code_base, name, each.location.row, each.location.column, each.code) for each in found]
    return _File(code_base, name, lines, places)


def _extents(checkouts: Sequence[Checkout], read: Sequence[_File]) -> list[Extent]:
    files = Counter(file.code_base for file in read)
    unreadable = Counter(file.code_base for file in read if file.error is not None)
    lines: Counter[CodeBase] = Counter()
    for file in read:
        lines[file.code_base] += file.lines
    known = [(checkout.code_base, checkout.group) for checkout in checkouts]
    return [Extent(each, group, files[each], lines[each], unreadable[each]) for each, group in known]


def _is_pinned(code_base: CodeBase) -> bool:
    """Whether the code base is the same for everybody; the library of Python holds broken files on purpose."""
    return code_base != standard_library().code_base


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """The figures and the places behind them, for programs."""
    return {
        group: {
            "rules": {code: _tally(tally) for code, tally in sorted(judgement.rules.items())},
            "total": _tally(judgement.total),
            "false": [{"place": str(finding), "why": why} for finding, why in judgement.false],
            "missed": [str(occurrence) for occurrence in judgement.missed],
            "unlabelled": [str(finding) for finding in judgement.unlabelled],
        }
        for group, judgement in evaluation.groups.items()
    }


def _checkouts(manifest: Manifest, store: Store, *, with_git: bool) -> list[Checkout]:
    packages = [store.package(package) for package in manifest.packages]
    repositories = [store.repository(repository) for repository in manifest.repositories] if with_git else []
    return [*packages, standard_library(), *repositories]


def _tally(tally: Tally) -> dict[str, Any]:
    figures = {name: getattr(tally, name) for name in Tally.__slots__}
    return {**figures, "precision": tally.precision, "recall": tally.recall, "recall_of_all": tally.recall_of_all}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, default=_cache_folder(), help="where downloads are kept (default: %(default)s)")
    parser.add_argument("--with-git", action="store_true", help="fetch and judge the repositories as well")
    parser.add_argument(
        "--git-address",
        default="https://github.com/{owner}/{name}.git",
        help="a mirror to fetch repositories from, or git folders (default: %(default)s)",
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the page to this file: docs/accuracy.md")
    return parser


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or (Path.home() / ".cache" if sys.platform != "win32" else tempfile.gettempdir())
    return Path(base) / "torchlint-evaluation"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
