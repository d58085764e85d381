"""What ``torchlint --bug-report`` prints: versions and settings, and nothing that says whose code is linted or where.

Of the settings it gives those that say how torchlint runs. Where they stand is not said, and what names files, folders, or
packages and rules of others is only counted.
"""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version

from torchlint import __version__
from torchlint.config.files import ConfigError
from torchlint.config.keys import KEYS, SELECTING
from torchlint.config.settings import Settings, shown_as_toml
from torchlint.rules import own_rules
from torchlint.rules.plugins import PluginError
from torchlint.rules.selection import WORDS_FOR_ALL, SelectionError, prefixes

_PACKAGES = ("libcst", "pathspec", "rich", "shtab", "flake8", "pygls", "watchfiles", "torch")
"""What torchlint runs on or within, and torch, which it does not import."""
_TOLD = ("required-version", "respect-gitignore", "max-file-size", "timeout-per-file", "target-torch", "accumulate-with")
_TOLD_OF_RUNS = ("output-format", "exit-nonzero-on")
_OF_CODES = ("fixable", "unfixable")
_PUBLIC_BUILD = re.compile(r"cpu|cu\d+|rocm[\d.]+|xpu")
"""Builds of torch that everybody can get; another may be named after whoever made it."""


def text(settings: Callable[[], Settings]) -> str:
    """The report; ``settings`` finds those that hold, and what it raises is no more than mentioned."""
    lines = [
        f"torchlint {__version__}",
        f"{_python()} on {platform.system()} {platform.machine()}, {sys.getfilesystemencoding()}",
    ]
    versions = {name: _version(name) for name in _PACKAGES}
    lines.append(", ".join(f"{name} {found}" for name, found in versions.items() if found))
    if missing := [name for name, found in versions.items() if not found]:
        lines.append(f"not installed: {', '.join(missing)}")
    try:
        lines += _settings(settings())
    except (ConfigError, PluginError, SelectionError) as error:
        lines.append(f"settings: refused ({type(error).__name__}); torchlint says why when it is run without --bug-report")
    return "".join(f"{line}\n" for line in lines)


def _python() -> str:
    return f"Python {platform.python_version()} ({platform.python_implementation()})"


def _version(package: str) -> str:
    try:
        found = version(package)
    except PackageNotFoundError:
        return ""
    public, _, build = found.partition("+")
    return found if not build or _PUBLIC_BUILD.fullmatch(build) else f"{public}+(another build)"


def _settings(settings: Settings) -> Iterator[str]:
    """The settings that are not as they are by default."""
    yield f"rules: {len(settings.rules)} of {len(settings.known)}, {len(settings.known) - len(own_rules())} of them of plugins"
    changed = list(_changed(settings))
    yield "settings:" if changed else "settings: all as they are by default"
    yield from (f"  {line}" for line in changed)


def _changed(settings: Settings) -> Iterator[str]:
    usual = Settings(settings.root)
    for layer in settings.selections:
        for name in SELECTING:
            if (codes := getattr(layer, name.replace("-", "_"))) or (name == "select" and codes is not None):
                yield f"{name} = {_own(codes)}"
    for key in KEYS:
        if key.name in SELECTING:
            continue
        value = getattr(settings, key.field)
        if value == getattr(usual, key.field):
            continue
        if key.name in (*_TOLD, *_TOLD_OF_RUNS):
            yield f"{key.name} = {shown_as_toml(value)}"
        elif key.name in _OF_CODES:
            yield f"{key.name} = {_own(value)}"
        else:
            yield f"{key.name}: {len(value)} given" if isinstance(value, tuple) else f"{key.name}: given"


def _own(codes: Sequence[str]) -> str:
    """The codes, prefixes and names among ``codes`` that stand for torchlint's own rules, and how many others there are."""
    known = _known()
    own = [each for each in codes if each in known]
    others = len(codes) - len(own)
    return shown_as_toml(own) + (f" and {others} of plugins" if others else "")


def _known() -> set[str]:
    rules = own_rules()
    return {*WORDS_FOR_ALL, *prefixes(rules)}.union(*((rule.code, rule.name) for rule in rules))
