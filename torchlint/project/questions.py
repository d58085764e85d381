"""What a file may ask of its project, written down: the start of each question, and what stands for answers."""

from __future__ import annotations

STUB = ".pyi"
"""How files are called that only tell types: what is there for Python comes first."""
ROOT = "/"
"""What stands for the root among what was asked for: no path below it is called so."""
CALLERS = "//"
"""What a question starts with that is about who calls."""
BOUND = "///"
"""What a question starts with that is about names which a file may bind."""
OUTPUTS = "//="
"""What a question starts with that is about what modules give."""
GIVEN = "//!"  # about what a function, a method or an attribute gives
BODY = "//:"  # about what the code of a class says
TALK = "//?"  # a topic that the project's files may speak of
NAMING = "//+"  # the files that have a name in them
MENTIONS = "//@"  # what other files do with a name of a file
PACKAGED = "//$"  # whether a file is installed for others to import


def is_about(asked: str) -> str | None:
    """The path below the root that a question is about, empty for all of the project; `None` where more than that is asked."""
    if asked == ROOT or asked.startswith((NAMING, MENTIONS)):
        return ""
    if asked.startswith(PACKAGED):
        return None
    if asked.startswith(TALK):
        return asked.partition("\n")[2]
    for about in (OUTPUTS, GIVEN, BODY, BOUND, CALLERS):  # the longer ones first
        if asked.startswith(about):
            return asked.removeprefix(about).partition("\n")[0]
    return asked


def shown(file: str, folder: str) -> str:
    """What stands for what a folder has under a name."""
    return ("" if not file else "s" if file.endswith(STUB) else "f") + ("d" if folder else "")
