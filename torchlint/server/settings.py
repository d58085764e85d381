"""What a client can set: by `initializationOptions`, `workspace/configuration` or `workspace/didChangeConfiguration`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torchlint.config.keys import nearest, shown_value
from torchlint.target import TorchVersion

SECTION = "torchlint"
"""What the settings stand under in a client's configuration."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting: its name, as clients spell it, its entry in the JSON schema, and what it is unless it is set."""

    name: str
    kind: str
    default: object
    description: str

    @property
    def schema(self) -> dict[str, Any]:
        """What the JSON schema says of it."""
        types: dict[str, Any] = {
            "boolean": {"type": "boolean"},
            "number": {"type": "number", "minimum": 0},
            "string": {"type": ["string", "null"]},
            "strings": {"type": ["array", "null"], "items": {"type": "string"}},
        }
        return {"description": self.description, **types[self.kind], "default": self.default}

    def read(self, value: object) -> object:
        """The value as it is kept; raises `ValueError`."""
        match self.kind, value:
            case _, None:
                return self.default
            case ("boolean", bool()) | ("string", str()):
                return value
            case "number", int() | float() if not isinstance(value, bool) and value >= 0:
                return value
            case "strings", list() if all(isinstance(each, str) for each in value):
                return tuple(value)
        expected = {
            "boolean": "true or false",
            "number": "a number from 0",
            "string": "a string",
            "strings": "a list of strings",
        }
        raise ValueError(f"`{SECTION}.{self.name}`: expected {expected[self.kind]}, found {shown_value(value)}")


SETTINGS = (
    Setting("enable", "boolean", True, "Whether there are findings, fixes and hovers at all."),
    Setting(
        "configuration",
        "string",
        None,
        "A configuration file for all files, in place of the ones that lie beside them; relative to the workspace folder.",
    ),
    Setting("select", "strings", None, "The rules to run, on top of what configuration files say: codes, prefixes or names."),
    Setting("extendSelect", "strings", None, "Rules to run besides."),
    Setting("ignore", "strings", None, "Rules not to run."),
    Setting("targetTorch", "string", None, 'The oldest torch that the code has to run on, such as "1.13".'),
    Setting("fixAll", "boolean", True, "Whether the action `source.fixAll.torchlint` is there; it makes the safe fixes."),
    Setting(
        "unsafeFixes", "boolean", True, "Whether unsafe fixes are among the quick fixes, each with the reason in its title."
    ),
    Setting("showSyntaxErrors", "boolean", True, "Whether it is said where a file cannot be parsed."),
    Setting(
        "debounce",
        "number",
        20,
        "The milliseconds without a keystroke after which a text is looked at that changed while it was being looked at.",
    ),
)
_BY_NAME = {setting.name: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a client's settings say of how files are linted; sent to the worker with each text."""

    configuration: str = ""
    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    target_torch: str = ""


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The settings of one workspace folder, or of all of them."""

    enable: bool = True
    fix_all: bool = True
    unsafe_fixes: bool = True
    show_syntax_errors: bool = True
    debounce: float = 20
    chosen: Chosen = field(default_factory=Chosen)


def read(given: object, folder: str) -> tuple[ClientSettings, list[str]]:
    """The settings that a client's JSON comes to, for a folder, and what is wrong with it, which counts as not set."""
    problems: list[str] = []
    if given is not None and not isinstance(given, Mapping):
        given, problems = {}, [f"`{SECTION}`: expected an object, found {shown_value(given)}"]
    values: dict[str, Any] = {setting.name: setting.default for setting in SETTINGS}
    for name, value in (given or {}).items():
        setting = _BY_NAME.get(name)
        if setting is None:
            problems.append(f"`{SECTION}.{name}`: no such setting{nearest(name, _BY_NAME)}")
            continue
        try:
            values[name] = setting.read(value)
            if name == "targetTorch" and values[name] is not None:
                TorchVersion.parse(values[name])
        except ValueError as error:
            values[name] = setting.default
            problems.append(str(error) if SECTION in str(error) else f"`{SECTION}.{name}`: {error}")
    configuration = values["configuration"] and os.path.join(folder, os.path.expanduser(values["configuration"]))
    chosen = Chosen(
        configuration or "", values["select"], values["extendSelect"] or (), values["ignore"] or (), values["targetTorch"] or ""
    )
    return ClientSettings(
        values["enable"],
        values["fixAll"],
        values["unsafeFixes"],
        values["showSyntaxErrors"],
        values["debounce"],
        chosen,
    ), problems


def schema() -> dict[str, Any]:
    """The JSON schema of the settings, from which an extension can take its `contributes.configuration`."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://github.com/torchlint/torchlint/blob/main/docs/torchlint-server.schema.json",
        "title": "torchlint server",
        "description": f"The settings of the language server, under `{SECTION}` in a client's configuration.",
        "type": "object",
        "additionalProperties": False,
        "properties": {setting.name: setting.schema for setting in SETTINGS},
    }
