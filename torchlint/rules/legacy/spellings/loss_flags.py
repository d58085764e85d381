"""Losses that are told by ``size_average`` and ``reduce`` what to do with the losses of single elements."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from torchlint.fact import known, unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument, expression, holds_comment, instead_of, is_open_ended, without_argument
from torchlint.rules.rule import Rule
from torchlint.semantics.apis.loss_flags import Flag, FlaggedLoss

_FLAGS = ("size_average", "reduce")
_Written = Callable[[cst.BaseExpression], cst.BaseExpression]


def report_flags(rule: Rule, call: cst.Call) -> None:
    """Reports a loss that is given a flag."""
    loss = rule.model.apis.flagged_loss(call)
    if loss is None or rule.model.apis.asks_for_version(call) or rule.model.training.misused_class(call) is not None:
        return  # what `nn.MSELoss(out, y)` is given is no flag
    [flag, *_] = loss.flags
    given = _argument(call, flag)
    said = f"{flag.name}={rule.model.shown(flag.value)}"
    if not _leaves_room(call, loss):
        if any(rule.model.code.truth(each.value) is not None and not _is_none(each.value) for each in loss.flags):
            rule.report(given, f"`{said}` is deprecated, and overrules `reduction`: leave one of them out")
        return
    shown = rule.model.code.written(_reduction(rule, loss, rule.model.code.plain))
    new = _with_reduction(call, loss, _reduction(rule, loss, lambda value: value))
    shows = all(rule.model.code.truth(each.value) is not None for each in loss.flags)
    meaning = known(shows, "the flags are taken to be true or false") & rule.model.apis.takes_reduction(call)
    message = f"`{said}` is deprecated and warns at every call: use `reduction={shown}`"
    lonely = any(_is_behind_comment(call, other) for other in loss.flags[1:])
    rule.report(given, message, None if lonely else fix(f"Use `reduction={shown}`", replace(call, new), rests_on=meaning))


def report_setting(rule: Rule, statement: cst.Assign) -> None:
    """Reports `criterion.size_average = False`, which torch 1.0 and later does not look at."""
    match statement:
        case cst.Assign([cst.AssignTarget(cst.Attribute(owner, cst.Name(flag)) as target)], cst.Name("True" | "False" as on)):
            if flag not in _FLAGS or not rule.model.apis.is_plain_loss(owner):
                return
            reduction = "mean" if on == "True" else "sum" if flag == "size_average" else "none"
            name = rule.model.shown(owner)
            right = target.with_changes(attr=cst.Name("reduction"))
            changes = replace(target, right), replace(statement.value, rule.model.code.string(reduction))
            rule.report(
                statement,
                f"`{name}.{flag}` is an attribute that nothing reads since torch 1.0: set `{name}.reduction`",
                fix(f'Set `{name}.reduction = "{reduction}"`', *changes, rests_on=unknown("the loss becomes what was meant")),
                severity="error",
            )


def _argument(call: cst.Call, flag: Flag[cst.BaseExpression]) -> cst.Arg:
    """The argument that is a flag."""
    return next(each for each in call.args if each.value is flag.value)


def _is_behind_comment(call: cst.Call, flag: Flag[cst.BaseExpression]) -> bool:
    """Whether a comment stands between a flag, which is not the first argument, and what is given before it, or in that."""
    place = call.args.index(_argument(call, flag))
    return any(map(holds_comment, call.args[place - 1].children))


def _leaves_room(call: cst.Call, loss: FlaggedLoss[cst.BaseExpression]) -> bool:
    """Whether a call does not give, and may be given, ``reduction``."""
    if argument(call, "reduction") is not None or is_open_ended(call):
        return False
    return sum(each.keyword is None for each in call.args) <= loss.parameters.index("reduction")


def _with_reduction(call: cst.Call, loss: FlaggedLoss[cst.BaseExpression], reduction: cst.BaseExpression) -> cst.Call:
    """A call with ``reduction`` in the place of its flags; what stands behind one that has no name is named as well."""
    first, *others = loss.flags
    named = dict(zip((each.value for each in call.args if each.keyword is None), loss.parameters))
    for other in others:
        call = without_argument(call, _argument(call, other))
    place = call.args.index(_argument(call, first))
    args = [*call.args[:place], instead_of(call.args[place], "reduction", reduction)]
    for each in call.args[place + 1 :]:
        args.append(instead_of(each, named[each.value], each.value) if each.keyword is None else each)
    return call.with_changes(args=args)


def _reduction(rule: Rule, loss: FlaggedLoss[cst.BaseExpression], as_written: _Written) -> cst.BaseExpression:
    """The ``reduction`` that the flags stand for, with those that are no constants written as told."""
    flags = {flag.name: flag for flag in loss.flags}
    average, reduce = flags.get("size_average"), flags.get("reduce")
    mean, total, none = (rule.model.code.string(name) for name in ("mean", "sum", "none"))

    def chosen(
        flag: Flag[cst.BaseExpression] | None, if_true: cst.BaseExpression, if_false: cst.BaseExpression
    ) -> cst.BaseExpression:
        truth = rule.model.code.truth(flag.value) if flag is not None else True
        if flag is None or truth is not None:
            return if_true if truth or (flag is not None and _is_none(flag.value)) else if_false
        parts = {"flag": as_written(flag.value), "yes": if_true, "no": if_false}
        return expression("{no} if {flag} is False else {yes}" if flag.may_be_none else "{yes} if {flag} else {no}", **parts)

    return chosen(reduce, chosen(average, mean, total), none)


def _is_none(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Name) and node.value == "None"
