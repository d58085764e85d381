"""Which parentheses an expression needs where it is put: how tightly it binds itself, and how tightly its place does."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import fields
from enum import IntEnum, auto
from typing import TypeVar

import libcst as cst

from torchlint.model.parsing import parsed_expression

Expression = TypeVar("Expression", bound=cst.BaseExpression)


class Strength(IntEnum):
    """How tightly expressions bind, the loosest first."""

    BARE = auto()  # what elsewhere has parentheses of its own: a tuple, `yield`, `:=`
    LAMBDA = auto()
    CHOICE = auto()
    OR = auto()
    AND = auto()
    NOT = auto()
    COMPARISON = auto()
    BIT_OR = auto()
    BIT_XOR = auto()
    BIT_AND = auto()
    SHIFT = auto()
    SUM = auto()
    PRODUCT = auto()
    SIGN = auto()
    POWER = auto()
    AWAIT = auto()
    NUMBER = auto()  # behind it a dot would be its own
    ATOM = auto()


_OPERATORS: dict[type[cst.CSTNode], Strength] = {
    **{cst.Or: Strength.OR, cst.And: Strength.AND, cst.Not: Strength.NOT, cst.Power: Strength.POWER},
    **{cst.BitOr: Strength.BIT_OR, cst.BitXor: Strength.BIT_XOR, cst.BitAnd: Strength.BIT_AND},
    **dict.fromkeys((cst.LeftShift, cst.RightShift), Strength.SHIFT),
    **dict.fromkeys((cst.Add, cst.Subtract), Strength.SUM),
    **dict.fromkeys((cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.MatrixMultiply), Strength.PRODUCT),
    **dict.fromkeys((cst.Minus, cst.Plus, cst.BitInvert), Strength.SIGN),
}
_EXPRESSIONS: dict[type[cst.CSTNode], Strength] = {
    **dict.fromkeys((cst.NamedExpr, cst.Yield, cst.GeneratorExp, cst.Tuple), Strength.BARE),
    **{cst.Lambda: Strength.LAMBDA, cst.IfExp: Strength.CHOICE, cst.Comparison: Strength.COMPARISON},
    **{cst.Await: Strength.AWAIT, cst.Integer: Strength.NUMBER, cst.ConcatenatedString: Strength.NUMBER},
}
_PLACES: dict[tuple[type[cst.CSTNode], str], Strength] = {
    **{(cst.Attribute, "value"): Strength.ATOM, (cst.Subscript, "value"): Strength.NUMBER},
    **{(cst.Call, "func"): Strength.NUMBER, (cst.Await, "expression"): Strength.NUMBER},
    **{(cst.IfExp, "test"): Strength.OR, (cst.IfExp, "body"): Strength.OR},
    **{(cst.Comparison, "left"): Strength.BIT_OR, (cst.ComparisonTarget, "comparator"): Strength.BIT_OR},
    **{(cst.StarredElement, "value"): Strength.BIT_OR, (cst.StarredDictElement, "value"): Strength.BIT_OR},
    (cst.FormattedStringExpression, "expression"): Strength.AWAIT,  # whose `:` and `!=` are not those of the field
    **{(cst.CompFor, "iter"): Strength.OR, (cst.CompIf, "test"): Strength.OR},
    **dict.fromkeys(((cst.Assign, "value"), (cst.AugAssign, "value"), (cst.Return, "value")), Strength.BARE),
    **dict.fromkeys(((cst.AnnAssign, "value"), (cst.Expr, "value"), (cst.Index, "value")), Strength.BARE),
}
"""How tightly the places within nodes bind, but for those of operands."""
WITH_OWN_PARENTHESES = (cst.Tuple, cst.GeneratorExp)
"""Expressions that are replaced along with the parentheses around them."""
_BRACKETS = (cst.Arg, cst.List, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp, cst.SubscriptElement)
"""What stands in brackets, or has its parts in them."""
_PARTS = (
    *_BRACKETS,
    cst.BaseExpression,
    cst.BaseElement,
    cst.BaseDictElement,
    cst.ComparisonTarget,
    cst.BaseSlice,
    cst.CompFor,
)


def in_parentheses(node: Expression) -> Expression:
    """An expression with another pair of parentheses around it."""
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def bare(node: Expression) -> Expression:
    """A name, an attribute, a call and their like without the parentheses around it; with them where a line ends in between."""
    if _strength(node) is not Strength.ATOM:
        return node
    inside = node.with_changes(lpar=(), rpar=())
    try:
        parsed_expression(cst.Module([]).code_for_node(inside))
    except cst.ParserSyntaxError:
        return node if node.lpar else in_parentheses(node)
    return inside


def fitting(new: cst.BaseExpression, parent: cst.CSTNode, place: str) -> cst.BaseExpression:
    """An expression as it has to be written to be the part ``place`` of ``parent``: in parentheses if it needs them."""
    if new.lpar:
        return new
    strength, needed = _strength(new), _needed(parent, place)
    is_walrus = isinstance(new, cst.NamedExpr)
    return in_parentheses(new) if strength < needed or is_walrus else new


def fitting_there(
    new: cst.BaseExpression, old: cst.BaseExpression, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> cst.BaseExpression:
    """An expression as it has to be written to stand where ``old`` does: in parentheses if it needs them."""
    if old.lpar and not isinstance(old, WITH_OWN_PARENTHESES) and not holds(new, old):
        return new  # between its parentheses
    parent = parents[old]
    place = next((each.name for each in fields(parent) if getattr(parent, each.name) is old), "")
    new = fitting(new, parent, place)
    return new if new.lpar or _is_on_one_line(new) or _is_within_brackets(old, parents) else in_parentheses(new)


def holds(node: cst.CSTNode, part: cst.CSTNode) -> bool:
    """Whether a node is another one, or has it as a part."""
    return node is part or any(holds(child, part) for child in node.children)


def _is_within_brackets(node: cst.CSTNode, parents: Mapping[cst.CSTNode, cst.CSTNode]) -> bool:
    """Whether a line may be broken where ``node`` stands."""
    parent = parents.get(node)
    while isinstance(parent, _PARTS):
        if isinstance(parent, _BRACKETS) or (isinstance(parent, cst.BaseExpression) and parent.lpar):
            return True
        parent = parents.get(parent)
    return False


def _is_on_one_line(node: cst.BaseExpression) -> bool:
    """Whether an expression needs no brackets to be one: it breaks the line nowhere but within its own."""
    code = cst.Module([], default_newline="\r").code_for_node(node)  # "\n" would be one break with a backslash's own "\r"
    if "\n" not in code and "\r" not in code:
        return True
    try:
        ast.parse(code, mode="eval")
    except (SyntaxError, ValueError):
        return False
    return True


def _strength(node: cst.BaseExpression) -> Strength:
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation, cst.UnaryOperation)):
        return _OPERATORS[type(node.operator)]
    return _EXPRESSIONS.get(type(node), Strength.ATOM)


def _needed(parent: cst.CSTNode, place: str) -> Strength:
    """How tightly what stands in a place has to bind."""
    if isinstance(parent, (cst.BinaryOperation, cst.BooleanOperation)):
        own = _OPERATORS[type(parent.operator)]
        is_looser = place == "left" and own is not Strength.POWER
        return own if is_looser else Strength(own + 1)
    if isinstance(parent, cst.UnaryOperation):
        return Strength(_OPERATORS[type(parent.operator)] + 1)
    if isinstance(parent, cst.Arg) and parent.star:
        return Strength.BIT_OR
    return _PLACES.get((type(parent), place), Strength.LAMBDA)
