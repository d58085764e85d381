"""By which names code speaks of networks that it thaws, or gives new parts; told by its text alone, for those who call it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torchlint.semantics.code.tree import is_self, walk
from torchlint.semantics.summaries.shown.freezing import makes_layer, may_thaw
from torchlint.semantics.summaries.summary import RESULT

_STORED = frozenset({ast.Attribute, ast.Subscript})


def thawed_names(parts: Iterable[ast.AST]) -> frozenset[str]:
    """The names of what may be thawed, as a whole or in part: of the variable of a loop, those of what it goes through."""
    return frozenset(name for part in parts for name in _named(part))


def thaws_of(parts: list[ast.AST], parameters: Iterable[str]) -> tuple[str, ...]:
    """The parameters that a function with these parts thaws, and `RESULT` where it does so to what it gives."""
    if not any(type(part) in _STORED and _may_be_thawed(part) for part in parts):
        return ()  # nearly always
    thawed = thawed_names(parts)
    given = (name for part in parts if isinstance(part, ast.Return) for name in _names(part))
    return (*(name for name in parameters if name in thawed), *([RESULT] if not thawed.isdisjoint(given) else []))


def _may_be_thawed(part: ast.AST) -> bool:
    """Whether an attribute or an item is of a kind without which nothing is thawed."""
    match part:
        case ast.Attribute(attr="requires_grad" | "requires_grad_"):
            return True
        case ast.Attribute(value=owner, ctx=ast.Store()):
            return not is_self(owner)
        case ast.Subscript(value=ast.Attribute(), ctx=ast.Store()):
            return True
    return False


def _named(part: ast.AST) -> Iterator[str]:
    """The names of what a statement or a call may thaw."""
    match part:
        case ast.For(iter=iterable, body=body):
            if any(may_thaw(each) for statement in body for each in walk(statement)):
                yield from _names(iterable)
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, (ast.Attribute, ast.Subscript)) and (may_thaw(part) or _is_part(target, value)):
                    yield from _names(target.value)
        case ast.Call(func=ast.Attribute(value=owner)) if may_thaw(part):
            yield from _names(owner)


def _is_part(target: ast.expr, value: ast.expr) -> bool:
    """Whether something but the object itself gets a layer of torch: ``net.fc = nn.Linear(8, 2)``."""
    owner = target.value if isinstance(target, (ast.Attribute, ast.Subscript)) else target
    return not is_self(owner) and makes_layer(value)


def _names(node: ast.AST) -> Iterator[str]:
    """The names and attributes in some code, but for ``self``."""
    for part in walk(node):
        if isinstance(part, ast.Name) and part.id != "self":
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
