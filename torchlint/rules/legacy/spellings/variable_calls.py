"""Calls of `Variable`: what each of them does since torch 0.4, and what is left without it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeGuard

import libcst as cst

from torchlint.fact import NOTHING, Fact, unknown
from torchlint.fixes.changes import CodeFix, Replace, empty, fix, remove, replace, unwrap
from torchlint.fixes.code import argument, expression, holds_comment, with_argument, without_argument
from torchlint.fixes.detaching import is_computed_from, is_detached_behind
from torchlint.rules.data_reads import mended_read
from torchlint.rules.rule import Rule
from torchlint.semantics import Type
from torchlint.semantics.variables.wrappers import Wrapping

DEAD = "`Variable` does no more than detach since torch 0.4: use the tensor itself"
_TAKE_REQUIRES_GRAD = frozenset(
    f"torch.{name}"
    for name in (
        *("zeros", "ones", "rand", "randn", "randint", "empty", "full", "eye", "arange", "linspace", "logspace"),
        *("tensor", "zeros_like", "ones_like", "rand_like", "randn_like", "empty_like", "full_like"),
    )
)


_FLOWS = "the graph that `Variable` cut is whole again"


def report_call(rule: Rule, call: cst.Call) -> None:
    """Reports a call of Variable."""
    if sum(each.keyword is None and each.star != "**" for each in call.args) == 3 or argument(call, "volatile") is not None:
        return  # TPL103 says more
    if rule.model.variables.goes_with_another(call, unless_silenced=rule.code):
        return  # one finding for one statement
    wrapping = rule.model.variables.wrapping(call)
    if wrapping is None:
        rule.report(call, DEAD, _out_of_own_wrapper(rule, call))
        return
    is_strict = rule.model.variables.is_beside_volatile(call)
    is_leaf = wrapping.flag is not None and rule.model.code.truth(wrapping.flag) is not False
    if _is_refused(rule, call, wrapping.data):
        found = None if is_leaf else _with_reads(rule, call, _converted(call))
        text = _shown(rule, wrapping.data)
        message = f"`Variable({text})` raises a TypeError since torch 0.4: `{text}` is no tensor"
        rule.report(call, message, found, strict=is_strict, severity="error")
    elif wrapping.flag is not None and is_leaf:
        flag = rule.model.shown(wrapping.flag)
        message = f"`Variable(…, requires_grad={flag})`: tensors take `requires_grad` themselves since torch 0.4"
        rule.report(call, message, _with_reads(rule, call, _made_leaf(rule, call, wrapping, wrapping.flag)))
    elif rule.model.variables.cuts_graph(wrapping.data) and not rule.model.variables.cuts_where_frozen(call):
        text, found = _shown(rule, wrapping.data), _with_reads(rule, call, _unwrapped(rule, call, wrapping))
        message = f"`Variable({text})` silently cuts the graph behind `{text}`"
        rule.report(call, message, found, strict=is_strict, severity="error")
    else:
        found = _with_reads(rule, call, _unwrapped(rule, call, wrapping))
        detaches = found is not None and any(isinstance(each, Replace) and _ends_detached(each.new) for each in found.changes)
        rule.report(call, _message(rule, call, wrapping.data, detaches=detaches), found, strict=is_strict)


def _with_reads(rule: Rule, call: cst.Call, found: CodeFix | None) -> CodeFix | None:
    """A fix that takes each ``.data`` along that is read in what is wrapped, so that one finding mends it all."""
    if found is None or not all(isinstance(change, Replace) for change in found.changes):
        return found  # what goes needs no mending
    is_detached = any(isinstance(change, Replace) and _ends_detached(change.new) for change in found.changes)
    for data in rule.model.data.reads_within(call):
        if rule.model.is_silenced("TPL002", data) or rule.model.data.meant_number(data) is not None:
            continue
        mended = mended_read(rule.model, data)
        if is_detached and is_computed_from(rule.model, data, call.args[0].value):
            mended = fix(mended.title, replace(data, data.value), rests_on=mended.rests_on)
        if mended.rests_on.is_certain or not found.rests_on.is_certain:
            found = fix(found.title, *found.changes, *mended.changes, rests_on=found.rests_on & mended.rests_on)
    return found


def _ends_detached(node: cst.CSTNode) -> bool:
    """Whether new code is ``x.detach()``, or a leaf that is made of that."""
    match node:
        case cst.Call(func=cst.Attribute(value=inner, attr=cst.Name(method))):
            return method == "detach" or (method == "requires_grad_" and _ends_detached(inner))
    return False


def _is_refused(rule: Rule, call: cst.Call, data: cst.BaseExpression) -> bool:
    """Whether what is wrapped is no tensor. A branch with nothing but ``x = Variable(x)`` is one that none enters any more."""
    if rule.model.kind(data).type in (Type.ARRAY, Type.NUMBER, Type.SEQUENCE):
        return True
    is_idle = rule.model.variables.idle(rule.model.statement(call), unless_silenced=rule.code) is not None
    return rule.model.kinds.is_tested_to_be_none(data) and not is_idle


def _shown(rule: Rule, data: cst.BaseExpression) -> str:
    return rule.model.shown(data) if rule.model.is_on_one_line(data) else "…"


def _message(rule: Rule, call: cst.Call, data: cst.BaseExpression, *, detaches: bool) -> str:
    text = _shown(rule, data)
    if _is_data(data, rule):
        return f"`Variable({text})`: detach the tensor instead, `{rule.model.shown(data.value)}.detach()`"
    if rule.model.variables.cuts_on_purpose(call):
        return f"`Variable({text})` only detaches since torch 0.4: use `.detach()`"
    if detaches:
        return f"`Variable({text})` is just `{text}`, detached, since torch 0.4"
    if rule.model.variables.is_bare(data).is_certain or rule.model.variables.is_itself(call).is_certain:
        return f"`Variable({text})` is just `{text}` since torch 0.4"
    return f"`Variable({text})` is just `{text}` since torch 0.4, detached if it has a graph"


def _is_data(node: cst.BaseExpression, rule: Rule) -> TypeGuard[cst.Attribute]:
    """Whether a node is ``x.data`` of a tensor, and not that of what is known to be none: the images of a dataset."""
    if not isinstance(node, cst.Attribute) or node.attr.value != "data":
        return False
    kind = rule.model.kind(node.value)
    return kind.is_tensor or not kind.known


# --- what the tensor is left as --------------------------------------------------------------------------------------


def _unwrapped(rule: Rule, call: cst.Call, wrapping: Wrapping[cst.BaseExpression]) -> CodeFix | None:
    data, variables = wrapping.data, rule.model.variables
    detached = variables.is_detached(data)
    if _is_data(data, rule):
        return _without_wrapper(rule, call, data)
    detach = _detach(rule, call)
    if variables.cuts_on_purpose(call):
        return _left(rule, call, data, detach, "Detach the tensor", rests_on=detached)
    idle = variables.idle(rule.model.statement(call), unless_silenced=rule.code)
    itself = variables.is_itself(call) if idle is None else idle.itself
    if variables.cuts_graph(data):
        itself = unknown(_FLOWS)
    elif not itself.is_certain and (detached if idle is None else idle.detached).is_certain:
        return _left(rule, call, data, detach, "Detach the tensor", rests_on=detached)
    if idle is None:
        return _left(rule, call, data, "", "Use the tensor itself", rests_on=itself)
    if not idle.whole:
        [statement] = idle.statements
        removal = remove(statement, but_comment=True)
        return fix("Remove the assignment of a name to itself", removal, rests_on=itself)
    change = empty(idle.statements) if idle.branch is None else remove(idle.branch)
    return fix("Remove the assignments to themselves", change, rests_on=itself)


def _without_wrapper(
    rule: Rule, call: cst.Call, data: cst.Attribute, suffix: str = "", flag: cst.BaseExpression | None = None
) -> CodeFix | None:
    """What is left of ``Variable(x.data)``: the same, where `x` is a tensor for certain, for a version counter of its own."""
    is_boolean = NOTHING
    if flag is not None:
        is_boolean = rule.model.variables.is_boolean(flag) & rule.model.variables.can_be_leaf(data)
    if (own := rule.model.variables.is_own(data)).is_certain:
        return _left(
            rule, call, data, suffix, f"Use `{rule.model.shown(data)}{suffix}`", flag=flag, rests_on=is_boolean, base=data
        )
    suffix = f"{_detach(rule, call)}{suffix}"
    title = f"Use `{rule.model.shown(data.value)}{suffix}`"
    return _left(rule, call, data, suffix, title, flag=flag, rests_on=own & is_boolean, base=data.value)


def _detach(rule: Rule, call: cst.Call) -> str:
    """What detaches the tensor that is left of a call; nothing where that is detached behind it anyway."""
    return "" if is_detached_behind(rule.model, call) else ".detach()"


def _converted(call: cst.Call) -> CodeFix | None:
    """What is no tensor was never wrapped but refused: it becomes one."""
    match call.args:
        case [cst.Arg(keyword=None)]:
            return fix(
                "Use `torch.as_tensor`",
                replace(call.func, expression("{torch.as_tensor}")),
                rests_on=unknown("`torch.as_tensor` may choose another dtype"),
            )
    return None


def _made_leaf(rule: Rule, call: cst.Call, wrapping: Wrapping[cst.BaseExpression], flag: cst.BaseExpression) -> CodeFix | None:
    data = wrapping.data
    own, is_boolean = rule.model.variables.is_own(data), rule.model.variables.is_boolean(flag)
    if isinstance(data, cst.Call) and _takes_requires_grad(rule, data):
        leaf = with_argument(data, "requires_grad", flag)
        return fix("Give `requires_grad` to the factory", unwrap(call, leaf), rests_on=own & is_boolean)
    given = "" if isinstance(flag, cst.Name) and flag.value == "True" else "{flag}"
    suffix = f".requires_grad_({given})"
    if _is_data(data, rule):
        return _without_wrapper(rule, call, data, suffix, flag)
    if not own.is_certain and not _ends_detached(data):
        suffix = f".detach(){suffix}"
    return _left(
        rule,
        call,
        data,
        suffix,
        "Make the tensor a leaf",
        flag=flag,
        rests_on=rule.model.variables.is_detached(data) & is_boolean & rule.model.variables.can_be_leaf(data),
    )


def _out_of_own_wrapper(rule: Rule, call: cst.Call) -> CodeFix | None:
    """Takes Variable out of ``wrap = lambda *args, **kwargs: Variable(*args, **kwargs).cuda()``, if it always gets a tensor."""
    wrapper = rule.model.variables.own_wrapper(call)
    if wrapper is None or not wrapper.uses or not all(map(_gives_one_value, wrapper.uses)):
        return None
    match wrapper.definition:
        case cst.Lambda(params=cst.Parameters(params=[], star_arg=cst.Param())) as function:
            tensor = "tensor"
        case (
            cst.Lambda(
                params=cst.Parameters(params=[cst.Param(cst.Name(tensor), default=None)], star_kwarg=cst.Param())
            ) as function
        ):
            pass
        case _:
            return None
    body = function.body.visit(_Unwrapping(wrapper.calls, tensor))
    new = function.with_changes(params=cst.Parameters([cst.Param(cst.Name(tensor))]), body=body)
    rests_on = unknown("other code may call it with more than a tensor")
    return fix("Use the tensor itself", replace(function, new), rests_on=rests_on)


class _Unwrapping(cst.CSTTransformer):
    """Puts a name in the place of calls."""

    def __init__(self, calls: Collection[cst.CSTNode], name: str) -> None:
        super().__init__()
        self._calls = calls
        self._name = name

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Replaces it."""
        return cst.Name(self._name) if original_node in self._calls else updated_node


def _gives_one_value(use: cst.CSTNode) -> bool:
    match use:
        case cst.Call(args=[cst.Arg(keyword=None, star="")]):
            return True
    return False


def _takes_requires_grad(rule: Rule, factory: cst.Call) -> bool:
    if rule.model.name(factory.func) not in _TAKE_REQUIRES_GRAD or any(each.star == "**" for each in factory.args):
        return False
    return all(argument(factory, name) is None for name in ("requires_grad", "out")) and not holds_comment(factory)


def _left(
    rule: Rule,
    call: cst.Call,
    data: cst.BaseExpression,
    suffix: str,
    title: str,
    *,
    flag: cst.BaseExpression | None = None,
    rests_on: Fact,
    base: cst.BaseExpression | None = None,
) -> CodeFix | None:
    """The fix that leaves the wrapped expression, or ``base``, with ``suffix`` behind it, in the place of a ``.data``."""
    base = base or (data.value if suffix and _is_data(data, rule) else data)
    is_commented = _has_comment_beside(call, data)
    if is_commented:
        given, *others = call.args
        if given.value is not data or given.keyword is not None:
            return None
        bare = call if not others else without_argument(call, others[0])
        base = _in_parentheses_of(bare, base)
    parts = {} if flag is None else {"flag": flag}
    new = expression(f"{{base}}{suffix}", base=base, **parts)
    return fix(title, replace(call, new) if is_commented else unwrap(call, new), rests_on=rests_on)


def _has_comment_beside(call: cst.Call, data: cst.BaseExpression) -> bool:
    """Whether a comment stands between the parentheses of a call, and not in what it wraps."""
    parts = [part for each in call.args for part in each.children if part is not data]
    return any(map(holds_comment, [call.whitespace_before_args, *parts]))


def _in_parentheses_of(call: cst.Call, node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression in the parentheses of a call, with the comments that stand in them."""
    [given] = call.args
    behind = given.comma.whitespace_after if isinstance(given.comma, cst.Comma) else given.whitespace_after_arg
    opening, closing = cst.LeftParen(call.whitespace_before_args), cst.RightParen(behind)
    return node.with_changes(lpar=[opening, *node.lpar], rpar=[*node.rpar, closing])
