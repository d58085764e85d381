"""Calls of torch 0.3: softmax without a dimension, factors in front, arguments that have gone or were none."""

from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import argument, expression, holds_comment, instead_of, with_argument, without_argument
from torchlint.rules.rule import Rule
from torchlint.semantics.apis.implicit_dims import ImplicitDim
from torchlint.target import TorchVersion

_WITHOUT_NEXT = TorchVersion(1, 13)
"""The first torch whose data loaders have iterators without a method ``next``."""


def report_implicit_dim(rule: Rule, call: cst.Call) -> None:
    """Reports a softmax that picks its dimension itself."""
    picked = rule.model.apis.implicit_dim(call)
    if picked is None:
        return
    picks = "0 of one or three dimensions, else 1"
    if picked.rank is not None:
        picks = f"{picked.dim}, as there are {picked.rank} of them"
    function = rule.model.shown(call.func)
    message = f"`{function}` without `dim` picks the dimension by their number ({picks}): say `dim=`"
    rule.report(call, message, _say_dim(call, picked), strict=picked.is_idle)


def _say_dim(call: cst.Call, picked: ImplicitDim) -> CodeFix | None:
    if picked.dim is None:
        return None
    dim = cst.Integer(str(picked.dim))
    new = with_argument(call, "dim", dim)
    if by_place := [each for each in call.args if each.keyword is None][picked.place :]:
        [given] = by_place
        args = [instead_of(each, "dim", dim) if each is given else each for each in call.args]
        new = call.with_changes(args=args)
    return fix(f"Add `dim={picked.dim}`", replace(call, new), rests_on=unknown("torch may have picked another dimension"))


def report_leading_factors(rule: Rule, call: cst.Call) -> None:
    """Reports an operation with factors in front of its operands."""
    factors = rule.model.apis.leading_factors(call)
    if not factors or not isinstance(call.func, cst.Attribute):
        return
    new = call
    for factor in factors:
        new = without_argument(new, next(each for each in new.args if each.value is factor.value))
    for factor in factors:
        new = with_argument(new, factor.name, factor.value.with_changes(lpar=(), rpar=()))
    words = ", ".join(f"{factor.name}={rule.model.shown(factor.value)}" for factor in factors)
    message = f"`{call.func.attr.value}` with its factor in front is deprecated: give `{words}` behind the operands"
    title = f"Give `{words}` behind the operands"
    moved = fix(title, replace(call, new), rests_on=rule.model.apis.may_move_factors(call))
    rule.report(factors[0].value, message, moved if not holds_comment(call) else None)


def report_retained_variables(rule: Rule, call: cst.Call) -> None:
    """Reports `loss.backward(retain_variables=True)`."""
    word = argument(call, "retain_variables")
    if word is None or not rule.model.apis.is_backward(call.func):
        return
    message = f"`{rule.model.shown(word)}` raises a TypeError since torch 0.4: it is called `retain_graph`"
    rule.report(
        word,
        message,
        fix(
            "Use `retain_graph`",
            replace(word, word.with_changes(keyword=cst.Name("retain_graph"))),
            rests_on=rule.model.apis.is_method_of_tensor(call),
        ),
        severity="error",
    )


def report_method_next(rule: Rule, call: cst.Call) -> None:
    """Reports `iter(loader).next()`."""
    match call:
        case cst.Call(cst.Attribute(iterator, cst.Name("next")), []) if rule.model.apis.iterates_over_loader(iterator):
            shown = rule.model.shown(iterator)
            message = f"`{shown}.next()` raises an AttributeError since torch 1.13: use `next({shown})`"
            rule.report(
                call,
                message,
                fix(
                    f"Use `next({shown})`",
                    replace(call, expression("next({it})", it=iterator)),
                    rests_on=rule.model.apis.is_next_of_loader(call),
                ),
                severity="error" if rule.options.target >= _WITHOUT_NEXT else None,
            )


def report_bare_multinomial(rule: Rule, call: cst.Call) -> None:
    """Reports `probabilities.multinomial()`, which used to draw one."""
    match call:
        case cst.Call(cst.Attribute(value, cst.Name("multinomial")), []):
            kind = rule.model.kind(value)
            if kind.is_tensor or not kind.known:
                one = call.with_changes(args=[cst.Arg(cst.Integer("1"))])
                message = (
                    f"`{rule.model.shown(call)}` raises a TypeError since torch 0.4: say how many to draw, `multinomial(1)`"
                )
                rests_on = rule.model.apis.is_method_of_tensor(call)
                rule.report(call, message, fix("Draw one", replace(call, one), rests_on=rests_on), severity="error")
