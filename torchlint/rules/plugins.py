"""Rules of other packages: found through their entry point ``torchlint.rules``, or named by the configuration.

To name a plugin is the one thing that runs somebody's code, so that it has to be of an installed package: a module of the same
name that lies among the linted files is not imported.
"""

from __future__ import annotations

import importlib
import os
import re
import site
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchlint.rules.catalogue import Entry
from torchlint.rules.triggers import Trigger

if TYPE_CHECKING:
    from importlib.metadata import Distribution

GROUP = "torchlint.rules"
_CODE = r"(?P<letters>[A-Z]{2,3})[0-9]{3}"
"""What flake8 takes for a code, in its options as well as in comments."""
_NAME = r"[a-z0-9]+(-[a-z0-9]+)*"
_OURS = "TPL"


class PluginError(Exception):
    """A plugin that cannot be used; the message is one line and names it."""


@cache
def named(name: str) -> tuple[Entry, ...]:
    """The rules of the plugin that a configuration calls ``name``: the name of an installed package, as it is imported.

    Raises `PluginError` where there is no such package, where it cannot be imported, or where its rules cannot be used.
    """
    if not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)*", name):
        raise PluginError(f"plugin `{name}`: not the name of a package")
    distribution = _distribution_of(name)
    if distribution is None:
        raise PluginError(f"plugin `{name}`: no installed package is called so (its code is never taken from the linted files)")
    return _entries(name, distribution)


@cache
def installed() -> tuple[Entry, ...]:
    """The rules of the installed packages that have the entry point; raises `PluginError` where one cannot be used."""
    return tuple(dict.fromkeys(rule for module, distribution in _with_entry_point() for rule in _entries(module, distribution)))


def together(own: Iterable[Entry], plugins: Iterable[str]) -> tuple[Entry, ...]:
    """torchlint's ``own`` rules, those of installed plugins and those of the ``plugins`` that are named, sorted by code.

    Raises `PluginError` for a plugin that cannot be used, or two rules with one code.
    """
    found: dict[str, Entry] = {}
    for rule in (*own, *installed(), *(rule for name in plugins for rule in named(name))):
        other = found.setdefault(rule.code, rule)
        if (other.module, other.class_name) != (rule.module, rule.class_name):
            raise PluginError(
                f"plugin `{rule.module}`: the code `{rule.code}` of its rule {rule.class_name} is also that of"
                f" {other.class_name} in `{other.module}`"
            )
    return tuple(sorted(found.values(), key=lambda rule: rule.code))


def states(entries: Iterable[Entry]) -> tuple[str, ...]:
    """What tells one state of the plugins that ``entries`` come from from another, for caches."""
    return tuple(sorted({entry.plugin for entry in entries if entry.plugin}))


# --- where plugins are -----------------------------------------------------------------------------------------------


def _with_entry_point() -> Iterator[tuple[str, Distribution]]:
    """The modules that our entry point leads to, and the installed packages that say so; each as first found on the path.

    To ask `importlib.metadata` outright takes longer than linting a file.
    """
    seen: set[str] = set()
    group = GROUP.encode()
    for path in _entry_points():
        try:
            with open(path, "rb") as file:
                speaks = group in file.read()
        except OSError:
            continue
        if speaks:
            from importlib.metadata import Distribution

            distribution = Distribution.at(os.path.dirname(path))
            if _is_installed(distribution) and (name := _name_of(distribution)) not in seen:
                seen.add(name)
                yield from ((module, distribution) for module in _modules_named(distribution, path))


def _entry_points() -> Iterator[str]:
    """Where the installed packages may declare entry points, in the order of the path."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for ending in (".dist-info", ".egg-info"):
            yield from (os.path.join(folder, name, "entry_points.txt") for name in sorted(names) if name.endswith(ending))


def _modules_named(distribution: Distribution, path: str) -> list[str]:
    """The modules that the entry point of a package, declared in the file at ``path``, leads to."""
    try:
        return [point.module for point in distribution.entry_points.select(group=GROUP)]
    except Exception as error:  # of a file that is none of an installer's
        raise PluginError(f"{path}: the entry point {GROUP} cannot be read: {' '.join(str(error).split())}") from None


def _name_of(distribution: Distribution) -> str:
    return _said(distribution, "Name")


def _said(distribution: Distribution, field: str) -> str:
    return str((distribution.metadata.get_all(field) or ["?"])[0])


def _distribution_of(name: str) -> Distribution | None:
    """The installed package that a module belongs to."""
    from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

    top = name.partition(".")[0]
    with suppress(PackageNotFoundError):
        found = distribution(top)
        if not _is_installed(found):
            return None
        if _is_edited(found) or any(file.parts[0] in (top, f"{top}.py") for file in found.files or ()):
            return found
    owners = packages_distributions().get(top, [])
    return next(filter(_is_installed, map(distribution, owners)), None)


def _is_installed(distribution: Distribution) -> bool:
    """Whether a package was installed, and does not just lie in the working directory, which may be on the path."""
    home, here = _home(distribution), Path.cwd()
    return not home.is_relative_to(here) or any(home.is_relative_to(Path(own).resolve()) for own in _own_folders())


def _own_folders() -> Iterator[str]:
    """Where this Python has packages installed; an environment often lies within the project."""
    yield from (sys.prefix, sys.base_prefix, *site.getsitepackages())
    if site.ENABLE_USER_SITE:
        yield site.getusersitepackages()


def _home(distribution: Distribution) -> Path:
    return Path(str(distribution.locate_file(""))).resolve()


def _belongs(name: str, distribution: Distribution) -> bool:
    """Whether the package that importing ``name`` would run lies where ``distribution`` was installed, or is edited."""
    from importlib.util import find_spec

    spec = find_spec(name.partition(".")[0])
    if spec is None:
        return True  # to import it will say so
    places = [*(spec.submodule_search_locations or ()), *([spec.origin] if spec.has_location and spec.origin else [])]
    homes = [_home(distribution), *_edited(distribution)]
    return bool(places) and all(any(Path(place).resolve().is_relative_to(home) for home in homes) for place in places)


def _is_edited(distribution: Distribution) -> bool:
    return any(True for _ in _edited(distribution))


def _edited(distribution: Distribution) -> Iterator[Path]:
    """Where the code of a package lies that was installed to be edited."""
    import json
    from urllib.parse import unquote, urlsplit
    from urllib.request import url2pathname

    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        yield Path(url2pathname(unquote(urlsplit(origin["url"]).path))).resolve()


# --- what a plugin has -----------------------------------------------------------------------------------------------


def _entries(name: str, distribution: Distribution) -> tuple[Entry, ...]:
    if not _belongs(name, distribution):
        raise PluginError(
            f"plugin `{name}`: what would be imported is not the code of the installed package {_name_of(distribution)}"
        )
    try:
        modules = list(_modules(name))
    except (Exception, SystemExit) as error:
        text = " ".join(str(error).split())
        raise PluginError(f"plugin `{name}`: cannot be imported: {type(error).__name__}: {text}") from error
    rules = dict.fromkeys(rule for module in modules for rule in _rules_in(module))
    if not rules:
        raise PluginError(f"plugin `{name}`: defines no rule, which is a subclass of torchlint.rules.Rule with a code")
    for rule in rules:
        if wrong := _what_is_wrong_with(rule):
            raise PluginError(f"plugin `{name}`: {wrong}")
    state = f"{_name_of(distribution)} {_said(distribution, 'Version')} {_state(modules)}"
    return tuple(Entry.of(rule)._replace(plugin=state) for rule in rules)


def _modules(name: str) -> Iterator[Any]:
    """A module and, of a package, all modules below it."""
    import pkgutil

    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}.", onerror=_raise):
        yield importlib.import_module(found.name)


def _raise(name: str) -> None:
    """Has a package below a plugin that cannot be imported say so."""
    raise


def _rules_in(module: Any) -> Iterator[type[Any]]:
    """The rules that a module defines; one without a code is no rule if others are made of it, or if it declares nothing."""
    from torchlint.rules.rule import Rule

    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
            is_base = not hasattr(value, "code") and value.__subclasses__()
            if not is_base and not {"code", "name", "triggers"}.isdisjoint(vars(value)):
                yield value


def _what_is_wrong_with(rule: type[Any]) -> str:
    """Why a class cannot be used as a rule; empty if it can."""
    for what in ("code", "name", "triggers"):
        if not hasattr(rule, what):
            return f"the rule {rule.__qualname__} has no `{what}`"
    code = re.fullmatch(_CODE, rule.code) if isinstance(rule.code, str) else None
    if code is None or _OURS.startswith(code["letters"]):
        wanted = f"two or three capital letters other than {_OURS}, and three digits"
        return f"{rule.code!r} is no code for a rule of a plugin, which has {wanted}"
    if not isinstance(rule.name, str) or not re.fullmatch(_NAME, rule.name):
        return f"{rule.code}: {rule.name!r} is no name for a rule, which is words in small letters with hyphens between"
    if not _is_of(rule.triggers, Trigger) or not rule.triggers:
        return f"{rule.code}: `triggers` is no tuple of triggers: {rule.triggers!r}"
    if not _is_of(rule.needs, tuple) or not all(_is_of(group, str) for group in rule.needs):
        return f"{rule.code}: `needs` is no tuple of tuples of words: {rule.needs!r}"
    if not _is_of(rule.yields_to, str) or not isinstance(rule.url, str):
        return f"{rule.code}: `yields_to` is no tuple of codes, or `url` no string"
    from torchlint.diagnostic import SEVERITIES

    if rule.severity not in SEVERITIES:
        return f"{rule.code}: `severity` is {rule.severity!r}, and none of {', '.join(SEVERITIES)}"
    if unknown := _visits_nothing(rule):
        return f"{rule.code}: `{unknown}` is never called: `visit_` is followed by the name of a libcst node"
    if _found_as(rule) is not rule:
        return f"{rule.code}: the module {rule.__module__} has another {rule.__qualname__}"
    return ""


def _visits_nothing(rule: type[Any]) -> str:
    """A method of a rule that looks like a visit to a node, and is none."""
    import libcst

    for name in dir(rule):
        if name.startswith("visit_") and not hasattr(libcst.CSTVisitor, name):
            return name
        if name.count("_") > 1 and name.startswith("visit_") and getattr(rule, name) is not getattr(libcst.CSTVisitor, name):
            return name  # of libcst, for a part of a node
    return ""


def _is_of(values: object, kind: type) -> bool:
    return isinstance(values, tuple) and all(isinstance(value, kind) for value in values)


def _found_as(rule: type[Any]) -> object:
    """What other processes will find under a rule's name."""
    found: Any = sys.modules[rule.__module__]
    for part in rule.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


def _state(modules: Sequence[Any]) -> str:
    """The sizes and times of a plugin's files: one that is edited has the same version before and after.

    They are all files of the package that is named, and what has been imported of the one that it is a part of.
    """
    top = modules[0].__name__.partition(".")[0]
    files: set[Path] = set()
    for name, module in list(sys.modules.items()):
        if name == top or name.startswith(f"{top}."):
            files.add(Path(getattr(module, "__file__", None) or ""))
    for folder in getattr(modules[0], "__path__", ()):
        files.update(path for path in Path(folder).rglob("*") if "__pycache__" not in path.parts)
    states = []
    for path in sorted(files):
        with suppress(OSError):
            status = path.stat()
            if path.is_file():
                states.append(f"{path} {status.st_size} {status.st_mtime_ns}")
    return "; ".join(states)
