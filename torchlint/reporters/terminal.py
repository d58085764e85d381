"""A terminal's side of reports: colours, links to the rules' pages, lines folded between words. Imports rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from rich.cells import cell_len
from rich.console import COLOR_SYSTEMS, Console
from rich.style import Style
from rich.text import Text

from torchlint.diagnostic import FileError, printable
from torchlint.reporters.columns import diff_lines
from torchlint.reporters.report import Marked, Part, Role

_STYLES: dict[Role, Style] = {
    "": Style.null(),
    "name": Style(bold=True),
    "warning": Style(bold=True, color="yellow"),
    "mark": Style(color="cyan"),
    "gutter": Style(bold=True, color="blue"),
    "error": Style(bold=True, color="red"),
    "added": Style(color="green"),
    "removed": Style(color="red"),
}


def draw(texts: Iterable[Marked], console: Console) -> None:
    """Writes ``texts`` to a terminal, or to what is to be coloured as if it were one: there nothing is folded or linked."""
    width = inf if console.soft_wrap else console.width
    colours = COLOR_SYSTEMS.get(console.color_system or "")
    for text in texts:
        parts = [(part.text, _style(part, console)) for part in text.parts]
        folds = text.folds and any(cell_len(line) > width for line in str(text).splitlines())
        if folds or console.legacy_windows:
            console.print(Text.assemble(*parts), end="", soft_wrap=not folds)
        else:  # the same without looking for where to fold, which would take a good part of a large report's time
            console.file.write("".join(style.render(part, color_system=colours) for part, style in parts))


def _style(part: Part, console: Console) -> Style:
    style = _STYLES[part.role]
    return style.update_link(part.url) if part.url and not console.soft_wrap else style


def error(found: FileError) -> Marked:
    """A line on a file that could not be linted."""
    message = Part(f": {printable(found.message)}\n")
    return Marked((Part(found.place, "name"), Part(": "), Part("error", "error"), message), folds=True)


def diff(text: str) -> Iterator[Marked]:
    """The lines of unified diffs, to be seen: what a terminal would act upon is shown by stand-ins."""
    for line in diff_lines(text):
        role: Role = ""
        if line.startswith(("---", "+++")):
            role = "name"
        elif line.startswith("@@"):
            role = "mark"
        elif line.startswith(("+", "-")):
            role = "added" if line.startswith("+") else "removed"
        yield Marked((Part(line, role), Part("\n")))
