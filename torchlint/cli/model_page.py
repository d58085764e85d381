"""The page of what a rule can ask, docs/model.md, made from the docstrings of the model."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property

_ENGINE = frozenset(
    {"twin", "is_placed", "span", "concrete", "concretes", "translated", "answered", "parsed", "parsed_with", "whole"}
)
"""What the engine and the groups of questions ask."""
_HEAD = """\
# The model

What a rule can ask about the code, by `self.model`; see [Writing rules](writing-rules.md). This page is made from the
docstrings by `python -m torchlint.cli.rule_pages`. Nodes are libcst nodes. A question about a node that says nothing to it,
or about a new one that is in no file yet, has the answer for "unknown"."""


def model_page() -> str:
    """The page, in Markdown."""
    from torchlint.model import Model
    from torchlint.model.joint import Joint

    lines = [_HEAD, "## What every rule asks", *_questions(Joint, "model")]
    for name, group in vars(Model).items():
        if isinstance(group, cached_property):
            lines += [f"## `model.{name}`", _documented(group.func), *_questions(_class_of(name), f"model.{name}")]
    return "\n\n".join(lines) + "\n"


def _class_of(group: str) -> type:
    import importlib

    found: type = getattr(importlib.import_module(f"torchlint.model.{group}"), f"{group.capitalize()}Questions")
    return found


def _questions(owner: type, prefix: str) -> Iterator[str]:
    for name, member in vars(owner).items():
        if name.startswith("_") or name in _ENGINE:
            continue
        if isinstance(member, (property, cached_property)):
            yield f"**`{prefix}.{name}`**  \n{_documented(member)}"
        elif inspect.isfunction(member):
            signature = inspect.signature(member)
            shown = signature.replace(parameters=[each for each in signature.parameters.values() if each.name != "self"])
            yield f"**`{prefix}.{name}{_plain(str(shown))}`**  \n{_documented(member)}"


def _plain(signature: str) -> str:
    return re.sub(r"'", "", signature)


def _documented(member: object) -> str:
    text = inspect.getdoc(member) or ""
    return re.sub(r"``(.+?)``", r"`\1`", text)
