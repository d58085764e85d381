"""``torchlint explain-kind``: what the semantics know of the expression at a place, and why."""

from __future__ import annotations

import argparse
import os

from torchlint.cli.exits import CLEAN, refuse
from torchlint.diagnostic import Location, printable
from torchlint.engine.explanation import explain
from torchlint.project.files import Files
from torchlint.text.source import Source, SourceError


def show(options: argparse.Namespace) -> int:
    """``torchlint explain-kind`` with these options: writes the lines and returns the exit code."""
    path, row, column = [*options.place.rsplit(":", 2), "", ""][:3]
    if not (row.isdecimal() and column.isdecimal()):
        return refuse(f"not of the form FILE:ROW:COLUMN: {options.place}")
    try:
        with open(path, "rb") as file:
            source = Source.decode(file.read(), path)
        root = os.path.abspath(options.project_root) if options.project_root else ""
        reading = None if options.no_project else Files().reading(path, root)
        found = explain(source, Location(int(row), int(column)), reading)
    except OSError as error:
        return refuse(f"{path}: {error.strerror or error}")
    except (SourceError, LookupError) as error:
        return refuse(str(error.args[0]))
    print(*map(printable, "\n".join(found.lines).split("\n")), sep="\n")
    return CLEAN
