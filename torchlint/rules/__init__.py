"""The rules: what is wrong, why, and how to mend it.

A rule is one file below this package that defines one subclass of `Rule`; it is found by being there. It knows libcst nodes,
the `Model` that says what they mean, and nothing of files, formats or the command line.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from torchlint.rules.ast_rule import AnyRule, AstRule
from torchlint.rules.catalogue import Entry

if TYPE_CHECKING:
    from torchlint.rules.rule import Rule as Rule

__all__ = ["AnyRule", "Rule", "all_rules"]


def __getattr__(name: str) -> object:
    """Imports `Rule`, and with it libcst, when it is asked for."""
    if name == "Rule":
        from torchlint.rules.rule import Rule

        return Rule
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@cache
def all_rules() -> tuple[Entry, ...]:
    """Every rule there is, sorted by code."""
    from torchlint.rules.comment_rule import CommentRule
    from torchlint.rules.rule import Rule

    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        importlib.import_module(module.name)
    found = [*_subclasses(AstRule), *_subclasses(CommentRule), *_subclasses(Rule)]
    found = [each for each in found if issubclass(each, AstRule) or each.__module__.startswith(__name__ + ".")]
    return tuple(sorted(map(Entry.of, found), key=lambda rule: rule.code))


def _subclasses(base: type[AnyRule]) -> list[type[AnyRule]]:
    return [
        found for child in base.__subclasses__() for found in ([child] if hasattr(child, "code") else []) + _subclasses(child)
    ]
