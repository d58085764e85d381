"""What can be set: the settings that one configuration file, or none, comes to, and the command line's on top of them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torchlint.config.keys import KEYS, SELECTING
from torchlint.config.patterns import Patterns
from torchlint.diagnostic import Severity, printable
from torchlint.options import DEFAULT_TIMEOUT, Accumulation, Options, accumulation
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import is_known, select_rules, unnamed
from torchlint.target import NEWEST, TorchVersion
from torchlint.text.reading import DEFAULT_LIMIT

EXCLUDED = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d"),
    *(".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".torchlint_cache", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
)
"""What is excluded unless the configuration says otherwise: ruff's list, and the caches."""
INCLUDED = ("*.py", "*.pyi", "*.ipynb")


@dataclass(frozen=True, slots=True)
class Selection:
    """One layer of choices among the rules: those of a file, or those of the command line."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What one configuration file, or none, says; ``path`` is that file, ``root`` the directory that its paths start from.

    ``files`` are all that were read for it, those that it extends among them.
    """

    root: str
    path: str | None = None
    files: tuple[str, ...] = ()
    required_version: str | None = None
    extend: str | None = None
    plugins: tuple[str, ...] = ()
    selections: tuple[Selection, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    exclude: tuple[str, ...] = EXCLUDED
    extend_exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = INCLUDED
    respect_gitignore: bool = True
    max_file_size: int = DEFAULT_LIMIT
    timeout_per_file: float = DEFAULT_TIMEOUT
    project_root: str | bool | None = None
    target_torch: TorchVersion = NEWEST
    accumulate_with: Accumulation | None = None
    output_format: str = "full"
    exit_nonzero_on: Severity = "warning"
    cache_dir: str | None = None

    @property
    def project(self) -> str | None:
        """The root of the project that files are in; empty where it is looked for, `None` for none: each file alone."""
        return "" if self.project_root is None else str(self.project_root) if self.project_root else None

    @cached_property
    def known(self) -> tuple[Entry, ...]:
        """The rules that there are: torchlint's own and those of plugins."""
        return all_rules(self.plugins)

    @cached_property
    def rules(self) -> tuple[Entry, ...]:
        """The rules that run, less what is ignored in some files."""
        chosen: tuple[Entry, ...] | None = None
        for layer in self.selections or (Selection(),):
            chosen = select_rules(layer.select, layer.ignore, layer.extend_select, among=self.known, by_default=chosen)
        assert chosen is not None
        return chosen

    @cached_property
    def options(self) -> Options:
        """What rules and fixes depend on."""
        fixable = {rule.code for rule in select_rules(self.fixable, self.unfixable, among=self.known)}
        unfixable = frozenset(rule.code for rule in self.known if rule.code not in fixable)
        with_ = accumulation(self.accumulate_with, (rule.code for rule in self.rules))
        named = {entry for layer in self.selections for entry in (*(layer.select or ()), *layer.extend_select)}
        return Options(self.target_torch, with_, unfixable, self.plugins, unnamed(self.rules, named))

    @cached_property
    def excluded(self) -> Patterns:
        """The files and directories that are left out."""
        return Patterns((*self.exclude, *self.extend_exclude), self.root)

    @cached_property
    def included(self) -> Patterns:
        """The files that are taken below a directory."""
        return Patterns(self.include, self.root)

    @cached_property
    def _ignored_in_files(self) -> tuple[tuple[Patterns, frozenset[Entry], bool], ...]:
        found = []
        for pattern, codes in self.per_file_ignores:
            negated = pattern.startswith("!")
            rules = frozenset(select_rules(codes, among=self.known))
            found.append((Patterns((pattern.removeprefix("!"),), self.root), rules, negated))
        return tuple(found)

    def rules_for(self, path: str) -> tuple[Entry, ...]:
        """The rules that run on the file at ``path``."""
        if not self.per_file_ignores:
            return self.rules
        absolute = os.path.abspath(path)
        ignored = {
            rule
            for patterns, rules, negated in self._ignored_in_files
            if patterns.match_inside(absolute) is not negated
            for rule in rules
        }
        return tuple(rule for rule in self.rules if rule not in ignored)


# --- showing ---------------------------------------------------------------------------------------------------------


def shown(settings: Settings) -> str:
    """All settings with their values, a line each, as TOML."""
    lines = [f"# from {printable(settings.path)}" if settings.path else "# no configuration file"]
    lines.append(
        f"rules = {shown_as_toml([rule.code for rule in settings.rules])}  # select, ignore and extend-select together"
    )
    for key in KEYS:
        if key.name not in SELECTING:
            value = getattr(settings, key.field)
            value = dict(value) if key.name == "per-file-ignores" else value
            lines.append(f"{key.name} = {shown_as_toml(value)}" if value is not None else f"# {key.name} is not set")
    return "\n".join(lines) + "\n"


def shown_as_toml(value: object) -> str:
    """The value of a setting as TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return f"{value:g}" if isinstance(value, float) else str(value)
    if isinstance(value, (str, TorchVersion)):
        escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(each if each.isprintable() else _escape(each) for each in escaped) + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{shown_as_toml(pattern)} = {shown_as_toml(codes)}" for pattern, codes in value.items()) + "}"
    assert isinstance(value, (list, tuple))
    return "[" + ", ".join(shown_as_toml(item) for item in value) + "]"


def _escape(character: str) -> str:
    """A character as TOML spells it where it is not to be seen."""
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else f"\\U{ord(character):08x}"


@dataclass(slots=True)
class Overrides:
    """What a command line says on top of configurations: a further layer of selection, and ``values`` unless they are None.

    A code counts where the rules of a configuration's plugins have it; one that none of them has is wrong. What ``first`` says
    comes between the configuration and this.
    """

    selection: Selection
    values: Mapping[str, Any]
    first: Overrides | None = None
    seen: dict[str, Entry] = field(default_factory=dict)
    """The rules of all configurations that this was put on top of, by their codes."""

    def __call__(self, settings: Settings) -> Settings:
        """``settings`` with all that said on top of them."""
        if self.first is not None:
            settings = self.first(settings)
        if "plugins" in self.values:
            settings = replace(settings, plugins=self.values["plugins"])
        known = settings.known
        self.seen.update((rule.code, rule) for rule in known)
        given = {name: value for name, value in self.values.items() if value is not None}
        given |= {name: _of_known(given[name], known) for name in _FIXING if name in given}
        chosen = self.selection
        layer = Selection(
            None if chosen.select is None else _of_known(chosen.select, known),
            _of_known(chosen.ignore, known),
            _of_known(chosen.extend_select, known),
        )
        return replace(settings, selections=(*settings.selections, layer), **given)

    def require_known(self) -> None:
        """Raises `SelectionError` for a code that no rule has, in any of the configurations that this was put on top of."""
        if self.first is not None:
            self.first.require_known()
        chosen = self.selection
        fixing = [code for name in _FIXING for code in self.values.get(name) or ()]
        known = tuple(self.seen.values()) or all_rules()
        select_rules((*(chosen.select or ()), *chosen.ignore, *chosen.extend_select, *fixing), among=known)


_FIXING = ("fixable", "unfixable")


def _of_known(codes: Sequence[str], known: Sequence[Entry]) -> tuple[str, ...]:
    return tuple(code for code in codes if is_known(code, known))
