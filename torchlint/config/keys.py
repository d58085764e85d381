"""The keys of the configuration: how their values are read, and what the JSON schema says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from torchlint import __version__
from torchlint.config.versions import fits
from torchlint.diagnostic import SEVERITIES
from torchlint.reporters import FORMATS
from torchlint.rules import all_rules, own_rules
from torchlint.rules.catalogue import Entry
from torchlint.rules.plugins import PluginError
from torchlint.rules.selection import WORDS_FOR_ALL, SelectionError, prefixes, select_rules
from torchlint.target import NEWEST, TorchVersion
from torchlint.text.reading import parse_size

Reader: TypeAlias = Callable[[Any], Any]
"""Takes the value of a key from TOML and gives that of the setting; raises `ValueError` with what is wrong."""
Check: TypeAlias = Callable[[Any, Sequence[Entry]], object]
"""Raises `ValueError` where a setting names a rule that is none of those that there are."""


def _anything(value: object, rules: Sequence[Entry]) -> None:
    """Checks nothing: the value names no rule."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the configuration: how its value is read, its entry in the JSON schema, how the rules in it are checked."""

    name: str
    read: Reader
    description: str
    schema: Mapping[str, Any]
    check: Check = _anything

    @property
    def field(self) -> str:
        """The name of the setting."""
        return self.name.replace("-", "_")


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"expected a list of strings, found {shown_value(value)}")
    return tuple(value)


def _plugins(value: object) -> tuple[str, ...]:
    names = _strings(value)
    all_rules()  # what is wrong with a plugin that has an entry point is not this file's fault
    try:
        all_rules(names)
    except PluginError as error:
        raise ValueError(str(error)) from None
    return names


def _known(codes: Sequence[str], rules: Sequence[Entry]) -> None:
    try:
        select_rules(codes, among=rules)
    except SelectionError as error:
        raise ValueError(str(error)) from None


def _patterns(value: object) -> tuple[str, ...]:
    patterns = _strings(value)
    if not all(patterns):
        raise ValueError("a pattern is empty")
    return patterns


def _codes_of_patterns(value: object) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if not isinstance(value, dict):
        raise ValueError(f"expected a table of patterns with codes, found {shown_value(value)}")
    found = []
    for pattern, codes in value.items():
        try:
            found.append((pattern, _strings(codes)))
        except ValueError as error:
            raise ValueError(f"of `{pattern}`: {error}") from None
    return tuple(found)


def _known_of_patterns(codes_of_patterns: Iterable[tuple[str, Sequence[str]]], rules: Sequence[Entry]) -> None:
    for pattern, codes in codes_of_patterns:
        try:
            _known(codes, rules)
        except ValueError as error:
            raise ValueError(f"of `{pattern}`: {error}") from None


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {shown_value(value)}")
    return value


def _folder(value: object) -> str:
    return _text(value, "the name of a folder")


def _string(value: object) -> str:
    return _text(value, "a string")


def _text(value: object, wanted: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"expected {wanted}, found {shown_value(value)}")
    return value


def _root(value: object) -> str | bool:
    if value is not False and (not isinstance(value, str) or not value):
        raise ValueError(f"expected a folder, or false, found {shown_value(value)}")
    assert isinstance(value, (str, bool))
    return value


def _required(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f'expected a string such as ">=0.1,<1", found {shown_value(value)}')
    if not fits(__version__, value):
        raise ValueError(f"this is torchlint {__version__}, and {value} is asked for")
    return value


def _version(value: object) -> TorchVersion:
    if not isinstance(value, str):
        raise ValueError(f'expected a string such as "1.13", found {shown_value(value)}')
    return TorchVersion.parse(value)


def seconds(value: object) -> float:
    """A number of seconds."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < _ENDLESS:
        raise ValueError(f"expected a number of seconds, found {shown_value(value)}")
    return float(value)


_ENDLESS = 1_000_000


def _size(value: object) -> int:
    if isinstance(value, str):
        return parse_size(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f'expected a number of bytes, or a string such as "10MB", found {shown_value(value)}')
    return value


def _one_of(choices: Sequence[str]) -> Reader:
    def read(value: object) -> str:
        if value not in choices:
            raise ValueError(f"{shown_value(value)} is none of {', '.join(choices)}{nearest(str(value), choices)}")
        assert isinstance(value, str)
        return value

    return read


def shown_value(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)


def nearest(given: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    from difflib import get_close_matches

    close = get_close_matches(given, list(known), n=1, cutoff=cutoff)
    return f"; did you mean `{close[0]}`?" if close else ""


_CODE_LIST = {"type": "array", "items": {"$ref": "#/definitions/Code"}}
_OF_PLUGIN = r"^((?!TPL)[A-Z]{2,3}[0-9]{0,3}|[a-z0-9]+(-[a-z0-9]+)*)$"
"""A code, a prefix of codes or a name; any name, as it is not known which there are."""
_PATTERN_LIST = {"type": "array", "items": {"type": "string", "minLength": 1}}


def _of_codes(name: str, description: str) -> Key:
    """A key that names rules."""
    return Key(name, _strings, description, _CODE_LIST, _known)


KEYS = (
    Key(
        "required-version",
        _required,
        "The torchlint that this configuration is for: a version, or conditions such as >=0.1,<1.",
        {"type": "string", "minLength": 1, "examples": [">=0.1,<1"]},
    ),
    Key(
        "extend",
        _string,
        "Another configuration file, which holds as far as this one says nothing else; its paths start from this one's folder.",
        {"type": "string", "minLength": 1, "examples": ["../base.toml"]},
    ),
    Key(
        "plugins",
        _plugins,
        "Installed packages whose rules are known besides, by the names that they are imported by.",
        {"type": "array", "items": {"type": "string", "minLength": 1, "examples": ["acme_rules"]}},
    ),
    _of_codes("select", "The rules to run, in place of the default ones: codes, prefixes of codes, names, `ALL` or `strict`."),
    _of_codes("ignore", "Rules not to run."),
    _of_codes("extend-select", "Rules to run besides."),
    Key(
        "per-file-ignores",
        _codes_of_patterns,
        "Rules not to run in the files that match a pattern, or, behind a !, in those that do not.",
        {"type": "object", "additionalProperties": _CODE_LIST},
        _known_of_patterns,
    ),
    _of_codes("fixable", "The rules whose fixes are applied; all by default."),
    _of_codes("unfixable", "Rules whose fixes are not applied."),
    Key("exclude", _patterns, "Patterns of files and directories to leave out, in place of the default ones.", _PATTERN_LIST),
    Key("extend-exclude", _patterns, "Patterns of files and directories to leave out besides.", _PATTERN_LIST),
    Key("include", _patterns, "Patterns of the files to lint below a directory.", _PATTERN_LIST),
    Key("respect-gitignore", _boolean, "Whether to leave out what .gitignore files name.", {"type": "boolean"}),
    Key(
        "max-file-size",
        _size,
        "The size from which on files are refused, in bytes or as in 10MB; for notebooks ten times that, for their code that.",
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "examples": ["10MB"]}]},
    ),
    Key(
        "timeout-per-file",
        seconds,
        "The seconds of processor time after which a file is given up; 0 is no limit. Not on Windows, which has no such clock.",
        {"type": "number", "minimum": 0},
    ),
    Key(
        "project-root",
        _root,
        "The folder of whose files imports are followed, that of the configuration file or below it; false for none.",
        {"anyOf": [{"type": "string", "minLength": 1, "examples": ["."]}, {"type": "boolean", "const": False}]},
    ),
    Key(
        "target-torch",
        _version,
        "The oldest torch that the code has to run on; the newest by default.",
        {"type": "string", "pattern": r"^\d{1,3}\.\d{1,3}(\.\d+)*$", "examples": ["1.13", str(NEWEST)]},
    ),
    Key(
        "accumulate-with",
        _one_of(("item", "detach")),
        "What takes a loss out of its graph where either is right: detach does not wait for the device.",
        {"type": "string", "enum": ["item", "detach"]},
    ),
    Key("output-format", _one_of(FORMATS), "How findings are written.", {"type": "string", "enum": list(FORMATS)}),
    Key(
        "exit-nonzero-on",
        _one_of(SEVERITIES),
        "How bad a finding has to be for the run to fail: an error, or a warning, which is any finding.",
        {"type": "string", "enum": list(SEVERITIES)},
    ),
    Key(
        "cache-dir",
        _folder,
        "Where the cache is: a folder below that of the configuration file, torchlint's own or new.",
        {"type": "string", "minLength": 1},
    ),
)

SELECTING = ("select", "ignore", "extend-select")
"""The keys that together choose the rules."""


def schema() -> dict[str, Any]:
    """The JSON schema of the configuration, for editors."""
    codes = {rule.code for rule in own_rules()} | prefixes(own_rules())
    names = sorted(rule.name for rule in own_rules())
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://github.com/torchlint/torchlint/blob/main/docs/torchlint.schema.json",
        "title": "torchlint",
        "description": "The configuration of torchlint: [tool.torchlint] in pyproject.toml, or torchlint.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: {"description": key.description, **key.schema} for key in KEYS},
        "definitions": {
            "Code": {
                "anyOf": [
                    {"type": "string", "enum": [*WORDS_FOR_ALL, *sorted(codes), *names]},
                    {"type": "string", "pattern": _OF_PLUGIN, "description": "Rules of a plugin."},
                ]
            }
        },
    }
