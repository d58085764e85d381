"""Lints a Parquet file of sources on Ray: for each row of sources a row of results, whatever becomes of it.

    python pipeline.py sources.parquet results/

The sources have a `name` and a `text`. Each of their row groups becomes one file of results, which is there as a whole or not
at all; whoever runs this again, after whatever ended it, gets those that are not there yet.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray

import torchlint

MADE_OF = "_made_of.json"
"""What stands in the folder of results for what they are results of; Parquet's readers pass over such names."""
TRIES = 2
"""So many times a process may end at the same row before that is given up."""

RESULTS = pa.schema(
    [
        ("name", pa.string()),
        ("failure", pa.string()),  # what kind of failure, if the row could not be linted
        ("message", pa.string()),  # and what was said about it
        (
            "findings",
            pa.list_(
                pa.struct(
                    [("code", pa.string()), ("row", pa.int32()), ("column", pa.int32()), ("message", pa.string())],
                )
            ),
        ),
        ("fixed", pa.large_string()),  # the text with its safe fixes, if there are any
    ]
)


# --- in the workers --------------------------------------------------------------------------------------------------


def lint_row(name: str, text: str, timeout: float) -> dict[str, Any]:
    """The row of results for one of sources; a failure is one, too."""
    try:
        found = torchlint.lint(text, filename=name, timeout=timeout)
        is_fixable = any(each.fix and each.fix.applicability is torchlint.Applicability.SAFE for each in found)
        fixed = torchlint.fix(text, filename=name, timeout=timeout).text if is_fixable else None
    except torchlint.SourceError as error:
        return failure(name, error.error.code, error.error.message)
    except Exception as error:
        return failure(name, "internal-error", f"{type(error).__name__}: {error}")
    findings = [
        {"code": each.code, "row": each.location.row, "column": each.location.column, "message": each.message} for each in found
    ]
    return {"name": name, "failure": None, "message": None, "findings": findings, "fixed": fixed}


def failure(name: str, kind: str, message: str) -> dict[str, Any]:
    """The row of results for a source that could not be linted."""
    return {"name": name, "failure": kind, "message": message, "findings": [], "fixed": None}


def lint_group(work: dict[str, Any]) -> dict[str, Any]:
    """Lints a row group, and puts its file of results in its place in one step.

    Where the process ends in the middle, Ray runs this again from the start. In a journal stands which row each try was at, so
    that one row on which processes end costs no more than itself.
    """
    start = time.process_time()
    gc.collect()
    gc.freeze()  # modules stay: the garbage collector need not look through them behind every file
    results = Path(work["results"])
    journal = results.with_name(f".{results.stem}.journal")
    given_up = {row for row, count in Counter(last_rows(journal)).items() if count >= TRIES}
    unfinished = results.with_name(f".{results.stem}.{os.getpid()}-{os.urandom(4).hex()}.unfinished")
    row = 0
    group = pq.ParquetFile(work["sources"]).iter_batches(100, row_groups=[work["group"]], columns=["name", "text"])
    with pq.ParquetWriter(unfinished, RESULTS) as file, open(journal, "ab", buffering=0) as tries:
        tries.write(b"try %d\n" % os.getpid())
        for batch in group:
            rows = []
            for source in batch.to_pylist():
                if row in given_up:
                    rows.append(failure(source["name"], "crash", f"the process ended on it {TRIES} times"))
                else:
                    tries.write(b"%d\n" % row)
                    rows.append(lint_row(source["name"], source["text"], work["timeout"]))
                row += 1
            file.write_table(pa.Table.from_pylist(rows, RESULTS))
    os.replace(unfinished, results)
    journal.unlink(missing_ok=True)
    return {"rows": row, "seconds": time.process_time() - start}


def last_rows(journal: Path) -> Iterator[int]:
    """The row at which each try that a journal tells of has ended."""
    tries = journal.read_text().split("try ") if journal.exists() else []
    return (int(rows[-1]) for each in tries if (rows := each.split()[1:]))


# --- in the program --------------------------------------------------------------------------------------------------


def work_left(sources: Path, results: Path, timeout: float) -> list[dict[str, Any]]:
    """The row groups that have no results yet; raises `SystemExit` where the folder has results of something else."""
    state = sources.stat()
    made_of = {"torchlint": torchlint.__version__, "timeout": timeout, "size": state.st_size, "time": state.st_mtime_ns}
    results.mkdir(parents=True, exist_ok=True)
    if not (results / MADE_OF).exists():
        replace(results / MADE_OF, json.dumps(made_of))
    elif json.loads((results / MADE_OF).read_text()) != made_of:
        raise SystemExit(f"{results} has results of something else: {(results / MADE_OF).read_text()}")
    for unfinished in results.glob(".*.unfinished"):
        unfinished.unlink(missing_ok=True)
    groups = range(pq.ParquetFile(sources).num_row_groups)
    work = [
        {"sources": str(sources.resolve()), "group": group, "results": str(results.resolve() / f"{group:06}.parquet")}
        for group in groups
    ]
    return [each | {"timeout": timeout} for each in work if not Path(str(each["results"])).exists()]


def replace(path: Path, text: str) -> None:
    """Puts a text into a file in one step."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    unfinished.write_text(text)
    os.replace(unfinished, path)


def by_rule(results: Path) -> Counter[str]:
    """How many findings there are of each rule, and how many failures of each kind."""
    counted: Counter[str] = Counter()
    for file in sorted(results.glob("[0-9]*.parquet")):
        table = pq.read_table(file, columns=["failure", "findings"])
        codes = pc.struct_field(pc.list_flatten(table["findings"]), "code")
        for column in (codes, table["failure"].drop_null()):
            counted.update(column.to_pylist())
    return counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--workers", type=int, help="how many, on this machine; without it, all of the cluster's cores")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds of processor time for one source")
    options = parser.parse_args()

    work = work_left(options.sources, options.results, options.timeout)
    print(f"{len(work)} row groups to lint", flush=True)
    if work:
        ray.init(num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
        start = time.perf_counter()
        pipeline = ray.data.from_items(work, override_num_blocks=len(work)).map(lint_group, num_cpus=1)
        done = list(pipeline.iter_rows())
        rows, seconds = (sum(each[column] for each in done) for column in ("rows", "seconds"))
        print(f"{rows} sources in {time.perf_counter() - start:.1f} s, {rows / seconds:.1f} in each second of a core")
    for code, count in sorted(by_rule(options.results).items()):
        print(f"{count:7}  {code}")


if __name__ == "__main__":
    main()
