"""Where settings are found: `[tool.torchlint]` in pyproject.toml, or torchlint.toml.

A file is linted with the settings of the nearest configuration file up its tree. Configuration is data: nothing in it is
executed, and a key or value that means nothing is an error that names the file, the key and what may have been meant.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torchlint.config.keys import KEYS, SELECTING, nearest, shown_value
from torchlint.config.settings import Selection, Settings
from torchlint.diagnostic import FileError, Location
from torchlint.rules import all_rules
from torchlint.text.cache_folder import may_be_cache

PYPROJECT = "pyproject.toml"
OWN_FILE = "torchlint.toml"


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
    if not isinstance(table, dict):
        raise ConfigError(path, f"`tool.torchlint`: expected a table, found {shown_value(table)}")
    root = os.path.dirname(os.path.abspath(path))
    values = _values(table, path)
    selection = Selection(**{key.replace("-", "_"): values.pop(key) for key in SELECTING if key in values})
    if "cache-dir" in values:
        values["cache-dir"] = _cache_dir(values["cache-dir"], root, path)
    return Settings(root, path, selections=(selection,), **{key.replace("-", "_"): value for key, value in values.items()})


def _cache_dir(value: str, root: str, path: str) -> str:
    """The folder that the file at ``path`` calls ``value``, which lies below ``root``, the folder of that file."""
    wrong = "expected a folder below that of this file"
    prefix = "" if _is_own(path) else "tool.torchlint."
    try:
        folder, real = os.path.join(root, value), os.path.realpath(os.path.join(root, value))
        if os.path.isabs(value) or not real.startswith(os.path.join(os.path.realpath(root), "")):
            raise ValueError("it leads elsewhere; `--cache-dir` may name any folder")
        if not may_be_cache(folder):
            raise ValueError("there are other things in it")
    except ValueError as error:
        raise ConfigError(
            path, f"`{prefix}cache-dir`: {wrong}, torchlint's own or new, found {shown_value(value)}: {error}"
        ) from None
    return folder


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
    rules = all_rules(values.get("plugins", ()))
    for name, value in values.items():
        try:
            known[name].check(value, rules)
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
