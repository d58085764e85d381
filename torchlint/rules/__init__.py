"""The rules: what is wrong, why, and how to mend it; and the interface that rules are written against, here and elsewhere.

A rule is one file below this package that defines one subclass of `Rule`; it is found by being there. It knows libcst nodes,
the `Model` that says what they mean, and nothing of files, formats or the command line.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from torchlint.rules.catalogue import Entry
from torchlint.rules.index import ENTRIES
from torchlint.rules.plugins import together

if TYPE_CHECKING:
    from torchlint.fact import NOTHING as NOTHING
    from torchlint.fact import Answer as Answer
    from torchlint.fact import Fact as Fact
    from torchlint.fact import all_of as all_of
    from torchlint.fact import known as known
    from torchlint.fact import refuted as refuted
    from torchlint.fact import unknown as unknown
    from torchlint.fixes.changes import fix as fix
    from torchlint.fixes.changes import insert_before as insert_before
    from torchlint.fixes.changes import insert_behind as insert_behind
    from torchlint.fixes.changes import insert_first as insert_first
    from torchlint.fixes.changes import insert_last as insert_last
    from torchlint.fixes.changes import remove as remove
    from torchlint.fixes.changes import replace as replace
    from torchlint.fixes.changes import wrap as wrap
    from torchlint.fixes.code import argument as argument
    from torchlint.fixes.code import expression as expression
    from torchlint.fixes.code import is_open_ended as is_open_ended
    from torchlint.fixes.code import keyword as keyword
    from torchlint.fixes.code import positional as positional
    from torchlint.fixes.code import statement as statement
    from torchlint.fixes.code import with_argument as with_argument
    from torchlint.fixes.code import without_argument as without_argument
    from torchlint.model import Model as Model
    from torchlint.rules.rule import Rule as Rule
    from torchlint.rules.triggers import Api as Api
    from torchlint.rules.triggers import Attribute as Attribute
    from torchlint.rules.triggers import Call as Call
    from torchlint.rules.triggers import Found as Found
    from torchlint.rules.triggers import Keyword as Keyword
    from torchlint.rules.triggers import Misspelt as Misspelt
    from torchlint.rules.triggers import Syntax as Syntax
    from torchlint.rules.triggers import Word as Word
    from torchlint.semantics import Grad as Grad
    from torchlint.semantics import Kind as Kind
    from torchlint.semantics import Type as Type
    from torchlint.target import TorchVersion as TorchVersion

_PUBLIC = {
    "torchlint.fact": ("NOTHING", "Answer", "Fact", "all_of", "known", "refuted", "unknown"),
    "torchlint.fixes.changes": (
        "fix",
        "insert_before",
        "insert_behind",
        "insert_first",
        "insert_last",
        "remove",
        "replace",
        "wrap",
    ),
    "torchlint.fixes.code": (
        *("argument", "expression", "is_open_ended", "keyword", "positional", "statement", "with_argument", "without_argument"),
    ),
    "torchlint.model": ("Model",),
    "torchlint.rules.rule": ("Rule",),
    "torchlint.rules.triggers": ("Api", "Attribute", "Call", "Found", "Keyword", "Misspelt", "Syntax", "Word"),
    "torchlint.semantics": ("Grad", "Kind", "Type"),
    "torchlint.target": ("TorchVersion",),
}
"""What authors of rules import from here, and where it is defined."""
_DEFINED_IN = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = ["all_rules", "own_rules", *_DEFINED_IN]


def __getattr__(name: str) -> object:
    """Imports what rules are made of, and with it libcst, when it is asked for."""
    if name in _DEFINED_IN:
        return getattr(importlib.import_module(_DEFINED_IN[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def all_rules(plugins: Iterable[str] = ()) -> tuple[Entry, ...]:
    """Every rule there is, sorted by code: torchlint's own, those of plugins that are found by their entry point, and those of
    ``plugins`` that a configuration names.

    Raises `PluginError` where a plugin cannot be used.
    """
    return together(own_rules(), plugins)


def own_rules() -> tuple[Entry, ...]:
    """torchlint's own rules, sorted by code."""
    return ENTRIES
