"""New code that makes a new tensor where the old one was changed in place."""

from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Change, replace
from torchlint.fixes.code import again, without_argument
from torchlint.fixes.parentheses import fitting
from torchlint.semantics.memory.inplace import Flagged

_OPERATORS: dict[type[cst.BaseAugOp], type[cst.BaseBinaryOp]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
    cst.DivideAssign: cst.Divide,
    cst.FloorDivideAssign: cst.FloorDivide,
    cst.ModuloAssign: cst.Modulo,
    cst.PowerAssign: cst.Power,
}


def operation(assignment: cst.AugAssign) -> cst.Assign:
    """``y = y * 2`` for ``y *= 2``, and ``y=y*2`` for ``y*=2``."""
    given = assignment.operator
    before, after = _blank(given, "whitespace_before"), _blank(given, "whitespace_after")
    operator = _OPERATORS[type(given)]().with_changes(whitespace_before=before, whitespace_after=after)
    whole = cst.BinaryOperation(again(assignment.target), operator, assignment.value)
    whole = whole.with_changes(right=fitting(whole.right, whole, "right"))
    return cst.Assign([cst.AssignTarget(assignment.target, before, after)], whole)


def _blank(operator: cst.BaseAugOp, place: str) -> cst.SimpleWhitespace:
    """A blank where an operator has one, or more, or a line break."""
    return cst.SimpleWhitespace("" if getattr(operator, place).empty else " ")


def out_of_place(call: cst.Call) -> cst.Call:
    """``y.mul(2)`` for ``y.mul_(2)``."""
    method = call.func
    assert isinstance(method, cst.Attribute)
    name = cst.Name(method.attr.value.removesuffix("_"))
    return call.with_changes(func=method.with_changes(attr=name))


def without_flag(flagged: Flagged[cst.BaseExpression]) -> Change:
    """Takes the ``inplace=True`` out of a call; where it is given by its place, it becomes False."""
    call = flagged.call
    assert isinstance(call, cst.Call)
    given = next(each for each in call.args if each.value is flagged.flag)
    if given.keyword is None:
        return replace(flagged.flag, cst.Name("False"))
    return replace(call, without_argument(call, given))
