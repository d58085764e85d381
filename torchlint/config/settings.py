"""The settings of a project: `[tool.torchlint]` in pyproject.toml, or torchlint.toml.

A file is linted with the settings of the nearest configuration file up its tree. Configuration is data: nothing in it is
executed, and a key or value that means nothing is an error that names the file, the key and what may have been meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from torchlint.config.keys import KEYS, SELECTING, nearest, shown_value
from torchlint.config.patterns import Patterns
from torchlint.diagnostic import FileError, Location
from torchlint.options import Accumulation, Options
from torchlint.rules import all_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.selection import select_rules
from torchlint.target import NEWEST, TorchVersion
from torchlint.text.reading import DEFAULT_LIMIT

PYPROJECT = "pyproject.toml"
OWN_FILE = "torchlint.toml"

EXCLUDED = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d"),
    *(".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".torchlint_cache", ".tox", ".venv", ".vscode"),
    *("__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv"),
)
"""What is excluded unless the configuration says otherwise: ruff's list, and the caches."""
INCLUDED = ("*.py", "*.pyi", "*.ipynb")


class ConfigError(Exception):
    """A configuration that cannot be used; ``error`` names the file and what is wrong, in one line."""

    def __init__(self, path: str, message: str, location: Location | None = None) -> None:
        self.error = FileError(path, message, location, "invalid-configuration")
        super().__init__(str(self.error))


@dataclass(frozen=True, slots=True)
class Selection:
    """One layer of choices among the rules: those of a file, or those of the command line."""

    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What one configuration file, or none, says; ``path`` is that file, ``root`` the directory that its paths start from."""

    root: str
    path: str | None = None
    selections: tuple[Selection, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    fixable: tuple[str, ...] = ("ALL",)
    unfixable: tuple[str, ...] = ()
    exclude: tuple[str, ...] = EXCLUDED
    extend_exclude: tuple[str, ...] = ()
    include: tuple[str, ...] = INCLUDED
    respect_gitignore: bool = True
    max_file_size: int = DEFAULT_LIMIT
    target_torch: TorchVersion = NEWEST
    accumulate_with: Accumulation = "item"
    output_format: str = "full"
    cache_dir: str | None = None

    @cached_property
    def rules(self) -> tuple[Entry, ...]:
        """The rules that run, less what is ignored in some files."""
        chosen: tuple[Entry, ...] | None = None
        for layer in self.selections or (Selection(),):
            chosen = select_rules(layer.select, layer.ignore, layer.extend_select, by_default=chosen)
        assert chosen is not None
        return chosen

    @cached_property
    def options(self) -> Options:
        """What rules and fixes depend on."""
        fixable = {rule.code for rule in select_rules(self.fixable, self.unfixable)}
        unfixable = frozenset(rule.code for rule in all_rules() if rule.code not in fixable)
        return Options(self.target_torch, self.accumulate_with, unfixable)

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
            found.append((Patterns((pattern.removeprefix("!"),), self.root), frozenset(select_rules(codes)), negated))
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


# --- reading ---------------------------------------------------------------------------------------------------------


def read_settings(path: str) -> Settings | None:
    """The settings in the file at ``path``; None where it is a pyproject.toml without a table for torchlint.

    Raises `ConfigError` where it cannot be read or says something that means nothing.
    """
    table = _table(path)
    if table is None:
        return None
    if not isinstance(table, dict):
        raise ConfigError(path, f"`tool.torchlint`: expected a table, found {shown_value(table)}")
    root = os.path.dirname(os.path.abspath(path))
    values = _values(table, path)
    selection = Selection(**{key.replace("-", "_"): values.pop(key) for key in SELECTING if key in values})
    if "cache-dir" in values:
        values["cache-dir"] = os.path.join(root, values["cache-dir"])
    return Settings(root, path, (selection,), **{key.replace("-", "_"): value for key, value in values.items()})


def _values(table: Mapping[str, Any], path: str) -> dict[str, Any]:
    known = {key.name: key for key in KEYS}
    prefix = "" if _is_own(path) else "tool.torchlint."
    values = {}
    for name, value in table.items():
        key = known.get(name)
        if key is None:
            raise ConfigError(path, f"`{prefix}{name}`: no such key{nearest(name, known)}")
        try:
            values[name] = key.read(value)
        except ValueError as error:
            raise ConfigError(path, f"`{prefix}{name}`: {error}") from None
    return values


def _is_own(path: str) -> bool:
    """Whether a file is all torchlint's: any but a pyproject.toml."""
    return os.path.basename(path) != PYPROJECT


def _table(path: str) -> object:
    """The part of a file that is torchlint's; None where it has none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ConfigError(path, f"cannot read the configuration: {error.strerror or error}") from None
    own = _is_own(path)
    if not own and b"torchlint" not in data:
        return None
    content = _parsed(data, path)
    if own:
        return content
    tools = content.get("tool", {})
    return tools.get("torchlint") if isinstance(tools, dict) else None


def _parsed(data: bytes, path: str) -> dict[str, Any]:
    import tomllib

    try:
        content: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigError(path, "not TOML: not utf-8 text") from None
    except RecursionError:
        raise ConfigError(path, "not TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        message, place = re.sub(r" \((at .*)\)$", "", str(error)), re.search(r"line (\d+), column (\d+)", str(error))
        location = Location(int(place[1]), int(place[2])) if place else None
        raise ConfigError(path, f"not TOML: {' '.join(message.split())}", location) from None
    return content


@dataclass
class Resolver:
    """Finds the settings for a directory: those of the nearest configuration file up the tree, or the default ones.

    ``fixed`` are settings that hold for all files, whatever lies beside them; ``overrides`` what the command line says.
    """

    fixed: Settings | None = None
    overrides: Callable[[Settings], Settings] = field(default=lambda settings: settings)
    _known: dict[str, Settings | None] = field(default_factory=dict)
    _default: Settings | None = None

    def of_directory(self, directory: str) -> Settings:
        """The settings for what is in the absolute path ``directory``; raises `ConfigError`."""
        if self.fixed is not None:
            return self.fixed
        found = self._nearest(directory)
        if found is not None:
            return found
        if self._default is None:
            self._default = self.overrides(Settings(os.getcwd()))
        return self._default

    def _nearest(self, directory: str) -> Settings | None:
        passed = []
        found: Settings | None = None
        while True:
            if directory in self._known:
                found = self._known[directory]
                break
            passed.append(directory)
            own = _settings_in(directory)
            if own is not None:
                found = self.overrides(own)
                break
            parent = os.path.dirname(directory)
            if parent == directory:
                break
            directory = parent
        self._known.update(dict.fromkeys(passed, found))
        return found


def _settings_in(directory: str) -> Settings | None:
    """The settings of the configuration file in a directory, its own before pyproject.toml."""
    for name in (OWN_FILE, PYPROJECT):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            settings = read_settings(_shortened(path))
            if settings is not None:
                return settings
    return None


def _shortened(path: str) -> str:
    """A path as reports name it: relative to the working directory where it is below it."""
    return path.removeprefix(os.path.join(os.getcwd(), ""))


# --- showing ---------------------------------------------------------------------------------------------------------


def shown(settings: Settings) -> str:
    """All settings with their values, a line each, as TOML."""
    lines = [f"# from {settings.path}" if settings.path else "# no configuration file"]
    lines.append(f"rules = {_toml([rule.code for rule in settings.rules])}  # select, ignore and extend-select together")
    for key in KEYS:
        if key.name not in SELECTING:
            value = getattr(settings, key.field)
            value = dict(value) if key.name == "per-file-ignores" else value
            lines.append(f"{key.name} = {_toml(value)}" if value is not None else f"# {key.name} is not set")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (str, TorchVersion)):
        return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(pattern)} = {_toml(codes)}" for pattern, codes in value.items()) + "}"
    assert isinstance(value, (list, tuple))
    return "[" + ", ".join(_toml(item) for item in value) + "]"


def overridden(settings: Settings, selection: Selection, values: Mapping[str, Any]) -> Settings:
    """``settings`` with a further layer of selection, and with those of ``values`` that are not None."""
    given = {name: value for name, value in values.items() if value is not None}
    return replace(settings, selections=(*settings.selections, selection), **given)
