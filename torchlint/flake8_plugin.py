"""torchlint within flake8: the same findings, from the tree and the lines that flake8 has read already.

What flake8 does by itself is left to it: noqa comments, per-file ignores, and dropping what is not selected.

flake8 imports every plugin that is installed, whatever it is to look for. So this one imports only what names its rules and
takes files without candidates out; the rest follows with the first file that holds words of a rule.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, get_args

from flake8.exceptions import ExecutionError

from torchlint import __version__
from torchlint.engine.words import passes_sieve
from torchlint.options import DEFAULTS, Accumulation, Options, accumulation
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.plugins import PluginError
from torchlint.target import NEWEST, TorchVersion

if TYPE_CHECKING:
    from flake8.options.manager import OptionManager

    from torchlint.project.files import Files
    from torchlint.project.reading import Reading

_F_STRING = r"""(?i)\b(?:f|rf|fr)["']"""


class Plugin:
    """The flake8 plugin for the TPL codes; made once for each file."""

    name = "torchlint"
    version = __version__

    rules: ClassVar[tuple[Entry, ...] | None] = None
    """The rules that run: those that flake8's options may let through, which are not known before they have been read."""

    options: ClassVar[Options] = DEFAULTS

    project_root: ClassVar[str | None] = ""
    """The root of the project; empty where it is looked for, `None` where each file is linted alone."""

    files: ClassVar[Files | None] = None
    """The project's files, as far as they were read."""

    def __init__(self, tree: ast.Module, filename: str, lines: Sequence[str]) -> None:
        self._tree = tree
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: OptionManager) -> None:
        """Adds torchlint's own options to flake8's, which may stand in flake8's configuration, too."""
        manager.add_option(
            "--target-torch",
            metavar="VERSION",
            default=str(NEWEST),
            parse_from_config=True,
            help="the oldest torch that the code has to run on, as in 1.13 (default: the newest)",
        )
        manager.add_option(
            "--accumulate-with",
            choices=get_args(Accumulation),
            default=None,
            parse_from_config=True,
            help="what takes a loss out of its graph where either is right (default: item, or detach where TPL402 is selected)",
        )
        manager.add_option(
            "--torchlint-plugins",
            metavar="MODULES",
            default="",
            comma_separated_list=True,
            parse_from_config=True,
            help="installed packages whose rules run besides, as torchlint's configuration names them",
        )
        manager.add_option(
            "--torchlint-no-project",
            action="store_true",
            default=False,
            parse_from_config=True,
            help="lint each file alone, and follow no import into other files of the project",
        )

    @classmethod
    def parse_options(cls, options: argparse.Namespace) -> None:
        """Takes from flake8's options which rules run; one that is off by default runs if its code or a prefix is selected.

        The codes of plugins' rules are among those that flake8 selects by itself, as torchlint's own are.
        """
        plugins = tuple(options.torchlint_plugins)
        try:
            target = TorchVersion.parse(options.target_torch)
            known = all_rules(plugins)
        except ValueError as error:
            raise ExecutionError(f"--target-torch: {error}") from None
        except PluginError as error:
            raise ExecutionError(f"torchlint: {error}") from None
        cls.project_root = None if options.torchlint_no_project else ""
        selected = (*(options.select or ()), *(options.extend_select or ()))
        cls.rules = tuple(rule for rule in known if rule.code.startswith(selected) or (rule.default and not options.select))
        with_ = accumulation(options.accumulate_with, (rule.code for rule in cls.rules))
        lenient = frozenset(rule.code for rule in cls.rules if not rule.code.startswith(selected))
        cls.options = Options(target, with_, plugins=plugins, lenient=lenient)
        more = sorted(rule.code for rule in known if rule.plugin)
        options.extended_default_select = [*options.extended_default_select, *more]

    def run(self) -> Iterator[tuple[int, int, str, type[Plugin]]]:
        """Row from 1, column from 0, text and source of each finding; none where torchlint cannot read the code."""
        text = "".join(self._lines)
        rules = [rule for rule in all_rules() if rule.default] if self.rules is None else self.rules
        if not passes_sieve(text.encode("utf-8", "surrogatepass"), rules):
            return
        from torchlint.engine.linter import lint
        from torchlint.text.source import Source, SourceError

        source = Source(text, self._filename, tree=self._tree if _may_share(text) else None)
        try:
            found = lint(source, rules, self.options, suppress=False, reading=self._reading())
        except SourceError:
            return
        for diagnostic in found:
            from torchlint.diagnostic import printable

            location = diagnostic.location
            yield location.row, location.column - 1, f"{diagnostic.code} {printable(diagnostic.message)}", type(self)

    def _reading(self) -> Reading | None:
        """What the file sees of its project; standard input is in none."""
        if self.project_root is None or self._filename in ("-", "stdin"):
            return None
        from torchlint.project.files import Files

        cls = type(self)
        cls.files = cls.files or Files()
        cls.files.look_again()
        return cls.files.reading(self._filename, self.project_root)


def _may_share(text: str) -> bool:
    """Whether linting leaves flake8's tree as the other plugins expect it.

    Before Python 3.12 it corrects the places of what is in f-strings, which would move other plugins' findings.
    """
    return sys.version_info >= (3, 12) or not re.search(_F_STRING, text)
