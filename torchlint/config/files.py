"""Where settings are found: `[tool.torchlint]` in pyproject.toml, or torchlint.toml.

A file is linted with the settings of the nearest configuration file up its tree. Configuration is data: nothing in it is
executed, and a key or value that means nothing is an error that names the file, the key and what may have been meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torchlint.config.keys import KEYS, SELECTING, nearest, shown_value
from torchlint.config.settings import Overrides, Selection, Settings
from torchlint.diagnostic import FileError, Location
from torchlint.rules import all_rules
from torchlint.text.cache_folder import may_be_cache
from torchlint.text.reading import DEFAULT_LIMIT, read_file

PYPROJECT = "pyproject.toml"
OWN_FILE = "torchlint.toml"
INLINE = "--config"
"""What settings of the command line are said to stand in."""


class ConfigError(Exception):
    """A configuration that cannot be used; ``error`` names the file and what is wrong, in one line."""

    def __init__(self, path: str, message: str, location: Location | None = None) -> None:
        self.error = FileError(path, message, location, "invalid-configuration")
        super().__init__(str(self.error))


def read_settings(path: str) -> Settings | None:
    """The settings in the file at ``path``; None where it is a pyproject.toml without a table for torchlint.

    Raises `ConfigError` where it cannot be read or says something that means nothing, and `PluginError` where a plugin cannot
    be used that it does not name.
    """
    table = _table(path)
    if table is None:
        return None
    root = os.path.dirname(os.path.abspath(path))
    selections, values, files = _chain(table, path, (os.path.realpath(path),))
    if "cache-dir" in values:
        values["cache-dir"] = _cache_dir(values["cache-dir"], root, path)
    if values.get("project-root"):
        values["project-root"] = _project_root(values["project-root"], root, path)
    return Settings(root, path, files=files, selections=tuple(selections), **_by_field(values))


def inline(texts: Sequence[str]) -> Overrides | None:
    """What the `KEY = VALUE` pairs of the command line say; None without any. Raises `ConfigError`."""
    values: dict[str, Any] = {}
    for text in texts:
        content = _parsed(text.encode("utf-8", "surrogateescape"), INLINE)
        if "extend" in content:
            raise ConfigError(INLINE, "`extend`: stands in a file, which `--config FILE` names")
        values |= _values(content, INLINE, checked=False)
    if not texts:
        return None
    if "cache-dir" in values:
        values["cache-dir"] = _cache_dir(values["cache-dir"], os.getcwd(), INLINE)
    if values.get("project-root"):
        values["project-root"] = _project_root(values["project-root"], os.getcwd(), INLINE)
    return Overrides(_selection(values), _by_field(values))


def _chain(table: object, path: str, files: tuple[str, ...]) -> tuple[list[Selection], dict[str, Any], tuple[str, ...]]:
    """What a file says on top of what it extends: selections, one above the other, and values; and all files read."""
    if not isinstance(table, dict):
        raise ConfigError(path, f"`tool.torchlint`: expected a table, found {shown_value(table)}")
    values = _values(table, path)
    selection = _selection(values)
    if "extend" not in values:
        return [selection], values, files
    base = os.path.join(os.path.dirname(path), os.path.expanduser(values["extend"]))
    try:
        _check_path(base)
        if os.path.realpath(base) in files:
            raise ValueError("it leads back to a file that extends it")
    except ValueError as error:
        raise ConfigError(path, f"`{_prefix(path)}extend`: {shown_value(values['extend'])}: {error}") from None
    base = os.path.normpath(base)
    below = _table(base, extended_by=path)
    selections, inherited, files = _chain({} if below is None else below, base, (*files, os.path.realpath(base)))
    more = (*inherited.get("extend-exclude", ()), *values.get("extend-exclude", ()))
    return [*selections, selection], {**inherited, **values, **({"extend-exclude": more} if more else {})}, files


def _selection(values: dict[str, Any]) -> Selection:
    """Takes from ``values`` those that choose the rules."""
    return Selection(**{key.replace("-", "_"): values.pop(key) for key in SELECTING if key in values})


def _by_field(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("-", "_"): value for key, value in values.items()}


def _prefix(path: str) -> str:
    """What comes before the keys in a file."""
    return "" if _is_own(path) else "tool.torchlint."


def _cache_dir(value: str, root: str, path: str) -> str:
    """The folder that the file at ``path`` calls ``value``, which lies below ``root``, the folder of that file."""
    wrong = "expected a folder below that of this file"
    try:
        _check_path(value)
        folder = os.path.join(root, os.path.expanduser(value))
        real = os.path.realpath(folder)
        if os.path.isabs(os.path.expanduser(value)) or not real.startswith(os.path.join(os.path.realpath(root), "")):
            raise ValueError("it leads elsewhere; `--cache-dir` may name any folder")
        if not may_be_cache(folder):
            raise ValueError("there are other things in it")
    except ValueError as error:
        raise ConfigError(
            path, f"`{_prefix(path)}cache-dir`: {wrong}, torchlint's own or new, found {shown_value(value)}: {error}"
        ) from None
    return folder


def _project_root(value: str, root: str, path: str) -> str:
    """The folder that the file at ``path`` calls ``value``: ``root``, the folder of that file, or one below it."""
    wrong = f"`{_prefix(path)}project-root`: expected the folder of this file, or one below it, found {shown_value(value)}"
    try:
        _check_path(value)
        real, above = (os.path.realpath(each) for each in (os.path.join(root, value), root))
        if os.path.isabs(value) or not os.path.join(real, "").startswith(os.path.join(above, "")):
            raise ValueError("it leads elsewhere; `--project-root` may name any folder")
    except ValueError as error:
        raise ConfigError(path, f"{wrong}: {error}") from None
    return os.path.normpath(os.path.join(root, value))


def _check_path(value: str) -> None:
    """Raises `ValueError` for what is no path on any system, which each Python says in its own words."""
    if "\0" in value:
        raise ValueError("there is a null character in it")


def _values(table: Mapping[str, Any], path: str, *, checked: bool = True) -> dict[str, Any]:
    """The values of the keys in a table. A file for another version of torchlint is told so, whatever else it holds."""
    known = {key.name: key for key in KEYS}
    prefix = _prefix(path)
    values = {}
    for name, value in sorted(table.items(), key=lambda item: item[0] != "required-version"):
        key = known.get(name)
        if key is None:
            if name == "tool" and _is_own(path) and path != INLINE:
                raise ConfigError(
                    path, "`tool`: no such key; a file of torchlint's own has its keys without `[tool.torchlint]`"
                )
            raise ConfigError(path, f"`{prefix}{name}`: no such key{nearest(name, known)}")
        try:
            values[name] = key.read(value)
        except ValueError as error:
            raise ConfigError(path, f"`{prefix}{name}`: {error}") from None
    rules = all_rules(values.get("plugins", ()))
    for name, value in values.items() if checked else ():
        try:
            known[name].check(value, rules)
        except ValueError as error:
            raise ConfigError(path, f"`{prefix}{name}`: {error}") from None
    return values


def _is_own(path: str) -> bool:
    """Whether a file is all torchlint's: any but a pyproject.toml."""
    return os.path.basename(path) != PYPROJECT


def _table(path: str, *, extended_by: str = "") -> object:
    """The part of a file that is torchlint's; None where it has none. What another file names must be a regular one."""
    try:
        if extended_by:
            data = read_file(path, DEFAULT_LIMIT)
        else:
            with open(path, "rb") as file:
                data = file.read()
    except OSError as error:
        which = f" that {extended_by} extends" if extended_by else ""
        raise ConfigError(path, f"cannot read the configuration{which}: {error.strerror or error}") from None
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
        message, place = re.sub(r" \((at [^()]*)\)$", "", str(error)), re.search(r"line (\d+), column (\d+)", str(error))
        location = Location(int(place[1]), int(place[2])) if place else _end(data.decode("utf-8"))
        said = " ".join(message.split())
        if not place:
            said = f"the text ends where a value should stand, or before a bracket is closed ({said[:1].lower()}{said[1:]})"
        raise ConfigError(path, f"not TOML: {said}", location) from None
    return content


def _end(text: str) -> Location:
    """The place behind the last character that is to be seen."""
    lines = text.rstrip().split("\n")
    return Location(len(lines), len(lines[-1]) + 1)


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

    @property
    def files(self) -> set[str]:
        """The configuration files that settings have been read from so far."""
        used = {self.fixed, self._default, *self._known.values()}
        return {file for settings in used if settings is not None for file in settings.files}

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


def possible_files(paths: Iterable[str]) -> set[str]:
    """Where the configuration of what is at ``paths`` may stand: in each directory from there up."""
    found = set()
    for path in map(os.path.abspath, paths):
        while True:
            found |= {os.path.join(path, OWN_FILE), os.path.join(path, PYPROJECT)}
            parent = os.path.dirname(path)
            if parent == path:
                break
            path = parent
    return found


def settings_here() -> Settings:
    """What holds in the working directory; raises `ConfigError`."""
    return Resolver().of_directory(os.getcwd())


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
