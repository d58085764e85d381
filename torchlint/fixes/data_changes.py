"""The ways in which a change through ``.data`` is made without it."""

from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Change, replace, without_attribute
from torchlint.fixes.code import api, method_call, statement
from torchlint.model import Model
from torchlint.semantics.data.changes import DataChange
from torchlint.semantics.data.roles import Means

_METHODS: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "add_",
    cst.SubtractAssign: "sub_",
    cst.MultiplyAssign: "mul_",
    cst.DivideAssign: "div_",
    cst.FloorDivideAssign: "floor_divide_",
    cst.ModuloAssign: "remainder_",
    cst.PowerAssign: "pow_",
    cst.BitAndAssign: "bitwise_and_",
    cst.BitOrAssign: "bitwise_or_",
    cst.BitXorAssign: "bitwise_xor_",
    cst.LeftShiftAssign: "bitwise_left_shift_",
    cst.RightShiftAssign: "bitwise_right_shift_",
}
"""The methods that do what augmented assignments do."""


def without_data(model: Model, change: DataChange[cst.BaseExpression]) -> Change:
    """Leaves `.data` out; where the tensor cannot be assigned to, an augmented assignment becomes a method call."""
    if change.means is Means.AUGMENTED and not change.augmentable:
        return _call_in_place(model, change, "{tensor}")
    return without_attribute(change.data)


def initialised(change: DataChange[cst.BaseExpression]) -> Change:
    """Makes `init.normal_(x, 0, 0.02)` of `x.data.normal_(0, 0.02)`."""
    call = change.node
    assert isinstance(call, cst.Call)
    values = () if change.initialiser in ("zeros_", "ones_") else call.args
    comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")) if values else cst.MaybeSentinel.DEFAULT
    target = change.tensor
    match call.func:
        case cst.Attribute(value=cst.Subscript() as item):
            target = item.with_changes(value=change.tensor)  # a view: `w[0]` of `w.data[0]`
    given = [cst.Arg(target, comma=comma), *map(_for_initialiser, values)]
    return replace(call, call.with_changes(func=api(f"torch.nn.init.{change.initialiser}"), args=given))


def through_detach(model: Model, change: DataChange[cst.BaseExpression]) -> Change:
    """Replaces `.data` by `.detach()`."""
    if change.means is Means.AUGMENTED:
        return _call_in_place(model, change, "{tensor}.detach()")
    assert isinstance(change.data, cst.Attribute)
    return replace(change.data, method_call(change.data, "detach"))


def masked(model: Model, change: DataChange[cst.BaseExpression]) -> Change:
    """Makes ``x = x.masked_fill(mask, value)`` of ``x.data.masked_fill_(mask, value)``."""
    assert isinstance(change.node, cst.Call)
    assert isinstance(change.tensor, cst.Name)
    filled = change.node.with_changes(func=cst.Attribute(cst.Name(change.tensor.value), cst.Name("masked_fill")))
    new = statement(f"{change.tensor.value} = {{masked}}", masked=filled)
    return replace(model.statement(change.data), new)


def _call_in_place(model: Model, change: DataChange[cst.BaseExpression], receiver: str) -> Change:
    """Makes `x.add_(value)` of `x.data += value`."""
    assignment = model.statement(change.data)
    assert isinstance(assignment, cst.AugAssign)
    call = f"{receiver}.{_METHODS[type(assignment.operator)]}({{value}})"
    return replace(assignment, statement(call, tensor=change.tensor, value=assignment.value))


def _for_initialiser(arg: cst.Arg) -> cst.Arg:
    """An argument of a tensor's method as its initialiser takes it: `uniform_` has `b` for `to`, `constant_` has no `value`."""
    match arg.keyword:
        case cst.Name("to"):
            return arg.with_changes(keyword=cst.Name("b"))
        case cst.Name("value"):
            return arg.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
    return arg
