"""Rules of other packages: found through their entry point ``torchlint.rules``, or named by the configuration.

To name a plugin is the one thing that runs somebody's code, so that it has to be of an installed package: a module of the same
name that lies among the linted files is not imported.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlint.rules.catalogue import Entry

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUP = "torchlint.rules"
_CODE = re.compile(r"[A-Z]{2,8}[0-9]{3,4}")
_OURS = "TPL"


class PluginError(Exception):
    """A plugin that cannot be used; the message is one line and names it."""


_named: dict[str, tuple[Entry, ...]] = {}
"""The rules of the plugins that a configuration of this process has named."""


def named(name: str) -> tuple[Entry, ...]:
    """The rules of the plugin that a configuration calls ``name``: the name of an installed package, as it is imported.

    Raises `PluginError` where there is no such package, where it cannot be imported, or where its rules cannot be used.
    """
    if name not in _named:
        if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name):
            raise PluginError(f"plugin `{name}`: not the name of a package")
        distribution = _distribution_of(name)
        if distribution is None:
            raise PluginError(
                f"plugin `{name}`: no installed package is called so (its code is never taken from the linted files)"
            )
        _named[name] = _entries(name, distribution)
    return _named[name]


def all_plugins() -> tuple[Entry, ...]:
    """The rules of all plugins: those with an entry point, and those that a configuration of this process has named."""
    found = {entry.code: entry for entry in (*installed(), *(entry for entries in _named.values() for entry in entries))}
    return tuple(found.values())


@cache
def installed() -> tuple[Entry, ...]:
    """The rules of the installed packages that have the entry point; raises `PluginError` where one cannot be used."""
    if not _may_have_plugins():
        return ()
    from importlib.metadata import entry_points

    found: list[Entry] = []
    for point in entry_points(group=GROUP):
        assert point.dist is not None
        found += _entries(point.module, point.dist)
    return tuple(dict.fromkeys(found))


def _may_have_plugins() -> bool:
    """Whether any installed package speaks of our entry point: asking for it outright takes longer than linting a file."""
    group = GROUP.encode()
    for folder in map(Path, sys.path):
        for pattern in ("*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt"):
            for path in folder.glob(pattern) if folder.is_dir() else ():
                try:
                    if group in path.read_bytes():
                        return True
                except OSError:
                    continue
    return False


def versions(entries: Iterable[Entry]) -> tuple[str, ...]:
    """What tells one state of the plugins that ``entries`` come from from another, for caches."""
    return tuple(sorted({entry.plugin for entry in entries if entry.plugin}))


# --- what a plugin has -----------------------------------------------------------------------------------------------


def _distribution_of(name: str) -> Distribution | None:
    """The installed package that a module belongs to."""
    from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

    top = name.partition(".")[0]
    try:
        return distribution(top)
    except PackageNotFoundError:
        owners = packages_distributions().get(top)
        return distribution(owners[0]) if owners else None


def _entries(name: str, distribution: Distribution) -> tuple[Entry, ...]:
    if not _belongs(name, distribution):
        raise PluginError(
            f"plugin `{name}`: what would be imported is not the code of the installed package {distribution.name}"
        )
    try:
        modules = list(_modules(name))
    except Exception as error:
        text = " ".join(str(error).split())
        raise PluginError(f"plugin `{name}`: cannot be imported: {type(error).__name__}: {text}") from error
    rules = dict.fromkeys(rule for module in modules for rule in _rules_in(module))
    if not rules:
        raise PluginError(f"plugin `{name}`: defines no rule, which is a subclass of torchlint.rules.Rule with a code")
    state = f"{distribution.name} {distribution.version} {_state(modules)}"
    return tuple(replace(_checked(name, rule), plugin=state) for rule in rules)


def _belongs(name: str, distribution: Distribution) -> bool:
    """Whether the package that importing ``name`` would run lies where ``distribution`` was installed, or is edited."""
    from importlib.util import find_spec

    spec = find_spec(name.partition(".")[0])
    if spec is None:
        return True  # to import it will say so
    origin = spec.origin if spec.origin not in (None, "namespace") else next(iter(spec.submodule_search_locations or ()), None)
    homes = [Path(str(distribution.locate_file(""))), *_edited(distribution)]
    return origin is not None and any(Path(origin).resolve().is_relative_to(home.resolve()) for home in homes)


def _edited(distribution: Distribution) -> Iterator[Path]:
    """Where the code of a package lies that was installed to be edited."""
    import json
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        yield Path(url2pathname(unquote(urlsplit(origin["url"]).path)))


def _modules(name: str) -> Iterator[Any]:
    """A module and, of a package, all modules below it."""
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        yield importlib.import_module(found.name)


def _rules_in(module: Any) -> Iterator[type[Any]]:
    from torchlint.rules.rule import Rule

    for value in vars(module).values():
        if (
            isinstance(value, type)
            and issubclass(value, Rule)
            and "code" in vars(value)
            and value.__module__ == module.__name__
        ):
            yield value


def _checked(name: str, rule: type[Any]) -> Entry:
    """The entry of a rule that declares what it has to."""
    for what in ("code", "name", "triggers"):
        if not hasattr(rule, what):
            raise PluginError(f"plugin `{name}`: the rule {rule.__qualname__} has no `{what}`")
    if not _CODE.fullmatch(rule.code) or rule.code.startswith(_OURS):
        wanted = f"capital letters other than {_OURS}, and three digits"
        raise PluginError(f"plugin `{name}`: `{rule.code}` is no code for a rule of a plugin, which has {wanted}")
    return Entry.of(rule)


def _state(modules: Iterable[Any]) -> str:
    """The sizes and times of a plugin's files: one that is edited has the same version before and after."""
    states = []
    for module in modules:
        try:
            status = Path(module.__file__).stat()
        except (OSError, TypeError, AttributeError):
            continue
        states.append(f"{module.__name__} {status.st_size} {status.st_mtime_ns}")
    return " ".join(states)
