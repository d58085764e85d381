"""What the constructors of a file's classes are given where the file itself makes objects of them."""

from __future__ import annotations

import ast
from dataclasses import replace

from torchlint.semantics.code.tree import Function
from torchlint.semantics.kinds.api import TELLING
from torchlint.semantics.kinds.kind import UNKNOWN, Kind, Type, join
from torchlint.semantics.kinds.questions import Kinds


def constructed_with(kinds: Kinds, owner: ast.ClassDef, constructor: Function, parameter: ast.arg) -> Kind:
    """The kind of what the file gives for a parameter of a class's constructor, where all of which that is known agree.

    As of what other files give, no more is told than that it is a model, an optimizer, a schedule or a loader; nothing of a
    class that others of the file derive from, which may give something else.
    """
    definitions = kinds.code.definitions
    if len(definitions.derived(owner)) > 1:
        return UNKNOWN
    sites = [call for call in definitions.calls.get(owner.name, ()) if definitions.definition(call.func) is owner]
    given = [definitions.argument(call, constructor, parameter) for call in sites]
    every = [kinds.kind(value) if value is not None else UNKNOWN for value in given]
    some = [kind for kind in every if kind.type is not Type.NONE]
    return UNKNOWN if any(kind.known and kind.type not in TELLING for kind in some) else agreed(some)


def agreed(kinds: list[Kind]) -> Kind:
    """What is known of a value that is one of several which callers give: another one may give a model of another class."""
    known = [kind for kind in kinds if kind.type in TELLING]
    if not known or len({kind.type for kind in known}) > 1:
        return UNKNOWN
    found = join(known)
    if found.type is Type.MODULE and len(known) < len(kinds):
        return replace(found, name="", definition=None, elsewhere=None, choices=())
    return found
