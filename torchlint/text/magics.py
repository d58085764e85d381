"""What of a cell is IPython's: magics, shell lines and questions, where a statement would start or a value stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
CELL_MAGIC = re.compile(r"[^\S\n]*%%(\w+)")
PYTHON_CELL_MAGICS = frozenset({"capture", "debug", "prun", "pypy", "python", "python3", "time", "timeit"})
"""Cell magics whose body is Python, run in the notebook's own names (`%%python` aside, whose body is linted all the same)."""

_WORDS = frozenset(
    {
        *("alias", "alias_magic", "autoawait", "autocall", "automagic", "autoreload", "autosave", "bookmark", "cat", "cd"),
        *("clear", "code_wrap", "colors", "conda", "config", "connect_info", "cp", "debug", "dhist", "dirs"),
        *("doctest_mode", "ed", "edit", "env", "gui", "hist", "history", "killbgscripts", "ldir", "less", "lf", "lk"),
        *("ll", "load", "load_ext", "loadpy", "logoff", "logon", "logstart", "logstate", "logstop", "ls", "lsmagic", "lx"),
        *("macro", "magic", "mamba", "man", "matplotlib", "micromamba", "mkdir", "more", "mv", "notebook", "page"),
        *("pastebin", "pdb", "pdef", "pdoc", "pfile", "pinfo", "pinfo2", "pip", "popd", "pprint", "precision", "prun"),
        *("psearch", "psource", "pushd", "pwd", "pycat", "pylab", "qtconsole", "quickref", "recall", "rehashx"),
        *("reload_ext", "rep", "rerun", "reset", "reset_selective", "rm", "rmdir", "run", "save", "sc", "set_env"),
        *("store", "subshell", "sx", "system", "tb", "time", "timeit", "unalias", "unload_ext", "uv", "who", "who_ls"),
        *("whos", "xdel", "xmode"),
    }
)
"""Magics of lines, as IPython documents them: https://ipython.readthedocs.io/en/stable/interactive/magics.html."""
_COMMAND = re.compile(r"%{1,2}[A-Za-z]|!|\?{1,2}[\w.*%]|[,;/](?=[^\s\d])|%{0,2}(?!\d)[\w.*\[\]]+\?{1,2}[ \t]*$")
_VALUE = re.compile(r"(?P<target>[\w.,\[\]\"' \t]+=[ \t]*)(?P<magic>(?:%[A-Za-z]|!).*)$")
_CODE = re.compile(r"""[^'"#()\[\]{}]+""")
_QUOTE = re.compile(r"'''|\"\"\"|'|\"")
_REST = {
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL),
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''", re.DOTALL),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""', re.DOTALL),
}


class Line(NamedTuple):
    """A line of a cell: ``kept`` is Python, and what follows it IPython's; ``is_value`` says that it stands for a value."""

    text: str
    kept: str
    is_magic: bool = False
    is_value: bool = False


def is_automagic(code: str) -> bool:
    """Whether a cell that is no Python is a single magic without its sign: ``cd data``, ``pip install timm``.

    IPython reads such a line so where it is all that the cell has.
    """
    return len(code.strip().splitlines()) == 1 and code.split(maxsplit=1)[0] in _WORDS


def read(code: str) -> Iterator[Line]:
    """The lines of a cell; of a magic that goes on behind a backslash, all of its lines."""
    state = _State()
    indentation: str | None = None
    for text in LINE.findall(code):
        if indentation is not None:
            yield Line(text, indentation if text.startswith(indentation) else "", is_magic=True)
        elif state.starts_statement and (found := _magic(text)) is not None:
            yield found
            indentation = _indentation(text)
        else:
            yield Line(text, text)
            state.take(text)
        if not text.rstrip("\r\n").endswith("\\"):
            indentation = None


def _magic(line: str) -> Line | None:
    """A line that is IPython's, or holds a value that is."""
    text = line.rstrip("\r\n")
    indentation = _indentation(line)
    if _COMMAND.match(text, len(indentation)):
        return Line(line, indentation, is_magic=True)
    if match := _VALUE.match(text):
        return Line(line, match["target"], is_magic=True, is_value=True)
    return None


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


class _State:
    """Where the lines of Python end: whether in brackets, in a string, or behind a backslash."""

    def __init__(self) -> None:
        self._depth = 0
        self._quote = ""
        self._continued = False

    @property
    def starts_statement(self) -> bool:
        """Whether a statement may start on the line that comes next."""
        return not (self._depth or self._quote or self._continued)

    def take(self, line: str) -> None:
        """Reads a line."""
        self._continued = line.rstrip("\r\n").endswith("\\")
        position = 0
        while position < len(line):
            position = self._in_string(line, position) if self._quote else self._in_code(line, position)

    def _in_string(self, line: str, position: int) -> int:
        match = _REST[self._quote].match(line, position)
        if match is None and (len(self._quote) == 3 or self._continued):
            return len(line)  # it goes on
        self._quote = ""
        return len(line) if match is None else match.end()

    def _in_code(self, line: str, position: int) -> int:
        if match := _CODE.match(line, position):
            return match.end()
        if match := _QUOTE.match(line, position):
            self._quote = match[0]
            return match.end()
        if line[position] == "#":
            self._continued = False
            return len(line)
        self._depth = max(self._depth + (1 if line[position] in "([{" else -1), 0)
        return position + 1
