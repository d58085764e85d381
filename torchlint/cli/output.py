"""What a run says, and where: findings, errors, diffs and notes."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from torchlint.cli.terminal import console, is_terminal
from torchlint.diagnostic import FileError, printable
from torchlint.reporters import FOR_PEOPLE, marked, render
from torchlint.reporters.columns import diff_lines
from torchlint.reporters.report import Marked, Report


class OutputError(Exception):
    """A report that cannot be written where it should go; the message is one line and names the file."""


@dataclass(frozen=True, slots=True)
class Output:
    """Writes as the options say."""

    options: argparse.Namespace

    def report(self, report: Report, chosen: str, stream: TextIO) -> None:
        """The report in the chosen format; ``stream`` is where it goes unless that is to be a file."""
        with self._target(stream) as target:
            drawing = console(target, self.options.color) if chosen in FOR_PEOPLE else None
            if drawing is not None:
                from torchlint.reporters.terminal import draw

                draw(self._for_people(report, chosen, None if drawing.soft_wrap else drawing.width), drawing)
            elif chosen in FOR_PEOPLE:
                target.writelines(map(str, self._for_people(report, chosen, None)))
            else:
                target.writelines(self._for_programs(report, chosen))

    def _for_people(self, report: Report, chosen: str, width: int | None) -> Iterator[Marked]:
        if self.options.show_fixes:
            from torchlint.reporters.summary import fixes

            yield from fixes(report)
        if self.options.statistics:
            from torchlint.reporters import statistics

            yield from statistics.marked(report)
        else:
            yield from marked(chosen, report, width)

    def _for_programs(self, report: Report, chosen: str) -> Iterator[str]:
        if not self.options.statistics:
            return render(chosen, report)
        from torchlint.reporters import statistics

        return statistics.render_json(report) if chosen == "json" else map(str, statistics.marked(report))

    def diffs(self, diffs: Iterable[str]) -> None:
        """The diffs, which can be given to `patch` byte for byte wherever they are not to be looked at."""
        with self._target(sys.stdout) as target:
            drawing = console(target, self.options.color) if is_terminal(target) or self.options.color == "always" else None
            if drawing is not None:
                from torchlint.reporters.terminal import diff, draw

                draw((line for each in diffs for line in diff(each)), drawing)
            elif target.isatty():
                target.writelines(f"{line}\n" for each in diffs for line in diff_lines(each))
            else:
                target.writelines(diffs)
        sys.stdout.flush()

    def errors(self, errors: Iterable[FileError]) -> None:
        """Files that could not be linted, on the standard error."""
        found = list(errors)
        if not found:
            return
        drawing = console(sys.stderr, self.options.color) if is_terminal(sys.stderr) else None
        if drawing is None:
            sys.stderr.writelines(f"{error}\n" for error in found)
        else:
            from torchlint.reporters.terminal import draw, error

            draw(map(error, found), drawing)

    def note(self, text: str) -> None:
        """Something that is no finding and no error, on the standard error."""
        if not self.options.quiet:
            sys.stderr.write("\n".join(map(printable, text.split("\n"))))

    def names(self, names: Iterable[str]) -> None:
        """Names of files, each on a line."""
        sys.stdout.writelines(f"{printable(name)}\n" for name in names)

    @contextmanager
    def _target(self, stream: TextIO) -> Iterator[TextIO]:
        """Where the report goes; a file is written when all of the report is there."""
        path = self.options.output_file
        if not path:
            yield stream
            return
        text = io.StringIO()
        yield text
        from torchlint.text.replacement import FileChangedError, write_file

        try:
            write_file(path, text.getvalue().encode("utf-8", "backslashreplace"))
        except FileChangedError:
            raise OutputError(f"{path}: error: cannot write the report: the file was changed meanwhile") from None
        except OSError as error:
            raise OutputError(f"{path}: error: cannot write the report: {error.strerror or error}") from None
