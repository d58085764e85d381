"""What any tool on libcst has to spend: `libcst.parse_module` over the files whose names FILE holds, and nothing else.

Run as ``python parse_with_libcst.py FILE [PROCESSES]``. The garbage collector is off, which is libcst's best case.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
from pathlib import Path

import libcst


def parse(file: str) -> None:
    """Parses one file and forgets it."""
    libcst.parse_module(Path(file).read_bytes())


def main(listing: str, processes: int = 1) -> None:
    """Parses all files that are named in ``listing``, one a line."""
    gc.disable()
    files = Path(listing).read_text(encoding="utf-8").splitlines()
    if processes == 1:
        for file in files:
            parse(file)
        return
    with multiprocessing.Pool(processes) as pool:
        for _ in pool.imap_unordered(parse, files):
            pass
        pool.close()
        pool.join()


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
