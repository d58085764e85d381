"""The reference pages, as far as they are made from the code: settings, options, formats."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from torchlint.cli import arguments
from torchlint.config.keys import KEYS
from torchlint.reporters import FORMATS

_README = Path(__file__).parents[2] / "README.md"
_COMMANDS = {
    "torchlint check": arguments.check_parser,
    "torchlint rule": arguments.rule_parser,
    "torchlint prove": arguments.prove_parser,
    "torchlint test-rule": arguments.test_rule_parser,
    "torchlint explain-kind": arguments.explain_kind_parser,
    "torchlint server": arguments.server_parser,
    "torchlint generate-shell-completion": arguments.completion_parser,
}
_LANGUAGES = {"json": "json", "json-lines": "json", "sarif": "json", "gitlab": "json", "junit": "xml"}
_SHOWN = 40
"""The lines of a report that the page shows."""


# --- configuration ---------------------------------------------------------------------------------------------------


def configuration() -> str:
    """A section for each key of the configuration, from the schema."""
    return "\n\n".join(
        f"### `{key.name}`\n\n{key.description}\n\n- type: {', '.join(_types(key.schema))}{_examples(key.name, key.schema)}"
        for key in KEYS
    )


def _types(schema: Mapping[str, Any]) -> Iterator[str]:
    """What a value may be, in words."""
    if "anyOf" in schema:
        for choice in schema["anyOf"]:
            yield from _types(choice)
    elif "enum" in schema:
        yield "one of " + ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    elif schema.get("$ref", "").endswith("/Code"):
        yield "rules: codes, prefixes, names"
    elif schema["type"] == "array":
        yield "a list of " + ", ".join(_types(schema["items"]))
    elif schema["type"] == "object":
        yield "a table, each value " + ", ".join(_types(schema["additionalProperties"]))
    else:
        names = {"string": "text", "boolean": "`true` or `false`", "integer": "a whole number", "number": "a number"}
        yield names[schema["type"]]


def _examples(name: str, schema: Mapping[str, Any]) -> str:
    given = schema.get("examples") or schema.get("items", {}).get("examples") or []
    values = given if schema.get("type") != "array" else [[value] for value in given]
    return "".join(f"\n- for example `{name} = {json.dumps(value)}`" for value in values[:1])


# --- command line ----------------------------------------------------------------------------------------------------


def command_line() -> str:
    """The options of each command, from its parser."""
    return "\n\n".join("\n".join(_command(name, parser())) for name, parser in _COMMANDS.items())


def _command(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    yield f"## `{name}`\n"
    if parser.description:
        yield parser.description + "\n"
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if action.help != argparse.SUPPRESS]
        if shown:
            yield f"| {group.title} | what it does |\n|---|---|"
            yield from (f"| {_spelling(action)} | {_help(parser, action)} |" for action in shown)
            yield ""


def _spelling(action: argparse.Action) -> str:
    value = action.metavar or (action.dest.upper() if action.option_strings else action.dest)
    value = value if isinstance(value, str) else " ".join(value)
    if action.choices and action.metavar is None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return f"`{value}`"
    takes = "" if action.nargs == 0 else f" {value}"
    return ", ".join(f"`{option}{takes}`" for option in action.option_strings).replace("|", "\\|")


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    values = {**vars(action), "prog": parser.prog}
    text = (action.help or "") % values
    return re.sub(r"([|*_<])", r"\\\1", " ".join(text.split()))


# --- formats ---------------------------------------------------------------------------------------------------------


def formats() -> str:
    """What each format makes of the findings of the first page's program."""
    program = re.search(
        r"<!-- train\.py -->\n```python\n(.*?)^```$", _README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert program is not None
    return "\n\n".join(_format(name, program[1]) for name in FORMATS)


def _format(name: str, program: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "train.py").write_text(program, encoding="utf-8")
        command = [sys.executable, "-m", "torchlint", "--isolated", "--no-cache", "--output-format", name, "train.py"]
        report = subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False).stdout
        report = report.replace(str(Path(folder).resolve()), "/home/me/project").replace(folder, "/home/me/project")
    lines = report.rstrip("\n").split("\n")
    lines = [*lines[:_SHOWN], *["…"] * (len(lines) > _SHOWN)]
    text = "\n".join(line if len(line) <= 600 else line[:600] + "…" for line in lines)
    language = _LANGUAGES.get(name, "text") if "…" not in text else "text"
    return f"## `{name}`\n\n```{language}\n{text}\n```"
