"""When a function warns of one of its parameters: if it is given, if it is not, if it has a value, or as it sees fit."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

GIVEN, MISSING, DEPENDS = "given", "missing", "depends"
"""Beside these a condition may be ``=`` and the value that is not to be given."""


def conditions(tests: Sequence[ast.expr], function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """The parameters that ``tests``, which all hold, are about, each with what they ask of it."""
    defaults = _defaults(function)
    found: dict[str, str] = {}
    for parts in map(list, map(_alternatives, _parts(tests))):
        for part, alone in ((each, len(parts) == 1) for each in parts):
            asked = _asked(part, defaults)
            if asked is None:
                named = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)} & defaults.keys()
                found |= dict.fromkeys(named, DEPENDS)
                if named and not alone:
                    found |= dict.fromkeys(found, DEPENDS)
            else:
                name, when = asked
                found[name] = when if found.get(name, when) == when else DEPENDS
    if DEPENDS in found.values():
        return dict.fromkeys(found, DEPENDS)
    return {name: when for name, when in found.items() if when != MISSING} or found


def _defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, ast.expr | None]:
    """The parameters, each with its default."""
    arguments = function.args
    places = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [*[None] * (len(places) - len(arguments.defaults)), *arguments.defaults]
    every = [*zip(places, defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return {each.arg: default for each, default in every if each.arg not in ("self", "cls")}


def _parts(tests: Sequence[ast.expr]) -> Iterator[ast.expr]:
    """What all has to hold."""
    for test in tests:
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            yield from _parts(test.values)
        else:
            yield test


def _alternatives(test: ast.expr) -> Iterator[ast.expr]:
    """What one of is enough."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for each in test.values:
            yield from _alternatives(each)
    else:
        yield test


def _asked(test: ast.expr, defaults: Mapping[str, ast.expr | None]) -> tuple[str, str] | None:
    """The parameter that a test asks for, and what it asks; none for a test of another kind."""
    match test:
        case ast.Name(id=name) if name in defaults:
            return name, DEPENDS if _is(defaults[name], True) else GIVEN
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) if name in defaults:
            return name, "=False" if _is(defaults[name], True) else MISSING
        case ast.UnaryOp(op=ast.Not(), operand=inner) if (asked := _asked(inner, defaults)) is not None:
            opposite = {GIVEN: MISSING, MISSING: GIVEN}
            return (asked[0], opposite[asked[1]]) if asked[1] in opposite else None
        case ast.Compare(left=ast.Name(id=name), ops=[operator], comparators=[value]) if name in defaults:
            is_default = (default := defaults[name]) is not None and ast.unparse(default) == ast.unparse(value)
            match operator:
                case ast.Is() | ast.Eq() if is_default:
                    return name, MISSING
                case ast.IsNot() | ast.NotEq() if is_default or _is(value, None):
                    return name, GIVEN
                case ast.Is() | ast.Eq() if isinstance(value, (ast.Constant, ast.UnaryOp)):
                    return name, f"={ast.unparse(value)}"
    return None


def _is(value: ast.expr | None, constant: object) -> bool:
    return isinstance(value, ast.Constant) and value.value is constant
