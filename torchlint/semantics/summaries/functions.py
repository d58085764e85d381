"""What is kept of a function: what it does with its arguments, and what it gives.

Every use of a parameter is looked at. What is not understood, an alias that is made, a method that no tensor, module or
optimizer has, is the act ``other``: whoever asks then knows no more than without the project.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache

from torchlint.semantics import torch_api
from torchlint.semantics.code.tree import Function, dotted, given_to, is_none, last_name, own_parts, own_returns
from torchlint.semantics.summaries.local_names import LocalNames
from torchlint.semantics.summaries.shown.running_methods import differentiates, runs_of
from torchlint.semantics.summaries.shown.thawing import thaws_of
from torchlint.semantics.summaries.shown.unrecorded import gives_unrecorded
from torchlint.semantics.summaries.summary import NOTHING_KNOWN, Act, FunctionSummary, Made

_ACTS = {"backward": "backward", "step": "step", "zero_grad": "zero", "eval": "eval", "train": "train"}
SAME_METHODS = frozenset(
    {*("to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_", "share_memory", "type")}
)
"""Methods that give what they are called on, or that moved."""
_LEAVES_ALONE = (
    torch_api.TENSOR_ATTRIBUTES
    | torch_api.MODULE_ATTRIBUTES
    | {
        "state_dict",
        "load_state_dict",
        "param_groups",
        "parameters",
        "add_param_group",
        "items",
        "keys",
        "values",
        "get",
        "scale",
    }
    | {"scale", "unscale_", "update", "set_epoch", "get_last_lr", "get_lr", "dataset", "sampler", "batch_size"}
) - {"apply", "_apply", "register_hook", "zero_grad", "backward", "train", "eval", "train_", "step"}
_GIVES_PARAMETERS = frozenset({"parameters", "named_parameters", "modules", "children", "named_modules", "named_children"})
OVERWRITING = frozenset({"zero_", "fill_", "mul_", "copy_", "set_"})
WIPING_NAME = re.compile(
    r"\A(?:(?>.*?(?:zero|clear|reset|clean|wipe|null|empty|free|drop)).*grad|(?>.*?grad).*(?:zero|clear|reset|none)|.*foreach_zero)",
    re.IGNORECASE,
)
_KNOWN_DECORATORS = frozenset({"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "staticmethod", "no_grad"})
_ENGINE = re.compile(r"accel|fabric|engine|amp|optimi|self|autograd", re.IGNORECASE)
"""What is called that back-propagates what it is given: ``accelerator.backward(loss)``."""
_HIDING: frozenset[type[ast.AST]] = frozenset({ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal})
_MOST_ACTS = 24
_OTHER = Act("other")


def summed_up(function: Function, names: LocalNames | None = None) -> FunctionSummary:
    """The summary of a function; ``names`` are those of the function around it, if there is one."""
    parts = own_parts(function.body)
    local = LocalNames(function, names, parts)
    given = function.args
    positional = tuple(each.arg for each in [*given.posonlyargs, *given.args])
    named = tuple(each.arg for each in given.kwonlyargs)
    derives = differentiates(parts)
    thaws = thaws_of(parts, (*positional, *named))
    unrecorded = gives_unrecorded(function)
    if _is_hidden(function, parts):
        return FunctionSummary(positional, named, hidden=True, differentiates=derives, thaws=thaws)
    if given.vararg or given.kwarg:
        unclear = tuple((name, (_OTHER,)) for name in (*positional, *named))
        given_all = _given(function, local)
        return FunctionSummary(
            positional, named, given_all, unclear, differentiates=derives, unrecorded=unrecorded, thaws=thaws
        )
    acts = _Acts(local, (*positional, *named))
    acts.read(function, parts)
    found = tuple((name, tuple(each)) for name, each in acts.found.items() if each)
    runs = runs_of(function, parts, (*positional, *named))
    returned = _given(function, local)
    return FunctionSummary(
        positional, named, returned, found,
        propagates=acts.propagates, runs=runs, differentiates=derives, unrecorded=unrecorded, thaws=thaws,
    )  # fmt: skip


def _is_hidden(function: Function, parts: list[ast.AST]) -> bool:
    """Whether calling a function does something else than running its body."""
    decorators = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
    if any(dotted(each) not in _KNOWN_DECORATORS for each in decorators) or isinstance(function, ast.AsyncFunctionDef):
        return True
    return not _HIDING.isdisjoint(map(type, parts))


# --- what it does with its arguments ---------------------------------------------------------------------------------


class _Acts:
    """Reads the acts of a function by the parameter that they are of."""

    def __init__(self, local: LocalNames, parameters: Iterable[str]) -> None:
        self.found: dict[str, list[Act]] = {name: [] for name in parameters}
        self._local = local
        self.propagates = False
        """Whether every call back-propagates something that the function has made."""
        self._left = False
        """Whether the function may have been left by now."""

    def read(self, function: Function, parts: list[ast.AST]) -> None:
        """Finds all acts of a function's body, which has these parts."""
        self._rebound()
        self._block(function.body, sure=True)
        if any(map(_may_wipe, parts)):
            self._all_other()
        for name, acts in self.found.items():
            if _OTHER in acts or len(acts) > _MOST_ACTS:
                self.found[name] = [_OTHER]

    def _rebound(self) -> None:
        """Gives up parameters that are given another value, which is not they, moved, or what is computed of them."""
        for name in self.found:
            values = self._local.values[name][1:]
            if any(value is None or not _is_same(value, name) for value in values):
                self.found[name].append(_OTHER)

    def _all_other(self) -> None:
        for acts in self.found.values():
            acts.append(_OTHER)

    def _add(self, node: ast.AST | None, act: Act) -> bool:
        """Adds an act where it is of a parameter; says whether it is."""
        if not isinstance(node, ast.Name) or node.id not in self.found:
            return False
        self.found[node.id].append(act)
        return True

    def _block(self, body: Iterable[ast.stmt], *, sure: bool) -> None:
        for statement in body:
            self._statement(statement, sure=sure and not self._left)

    def _statement(self, statement: ast.stmt, *, sure: bool) -> None:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse) | ast.While(test=test, body=body, orelse=orelse):
                self._value(test, sure=sure)
                self._block(body, sure=False)
                self._block(orelse, sure=False)
            case ast.For(target=target, iter=rows, body=body, orelse=orelse):
                self._value(rows, sure=sure)
                self._value(target, sure=False)
                self._block([*body, *orelse], sure=False)
            case ast.With(items=items, body=body):
                for item in items:
                    self._value(item.context_expr, sure=sure)
                self._block(body, sure=sure)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=last):
                self._block(body, sure=sure)
                for handler in handlers:
                    self._block(handler.body, sure=False)
                self._block(orelse, sure=False)
                self._block(last, sure=sure)
            case ast.Return(value=value):
                for part in value.elts if isinstance(value, ast.Tuple) else [value]:
                    if part is not None and not isinstance(part, ast.Name):
                        self._value(part, sure=sure)
                self._left = True
            case ast.Assign(targets=targets, value=value):
                self._value(value, sure=sure, kept=True)
                for target in targets:
                    self._stored(target, value, sure=sure)
            case ast.Expr(value=value) | ast.AugAssign(value=value) | ast.Assert(test=value):
                self._value(value, sure=sure)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self._enclosed(statement)
            case ast.Raise() | ast.Break() | ast.Continue():
                self._left = self._left or not isinstance(statement, ast.Raise)
            case ast.Pass() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                self._mentioned(statement)

    def _enclosed(self, node: ast.AST) -> None:
        """What is defined within may do anything with what it mentions, whenever it runs."""
        self._mentioned(node)

    def _mentioned(self, node: ast.AST) -> None:
        for part in ast.walk(node):
            self._add(part, _OTHER)

    def _stored(self, target: ast.expr, value: ast.expr, *, sure: bool) -> None:
        match target:
            case ast.Attribute(value=owner, attr="training"):
                if not self._add(owner, Act("mode", sure)):
                    self._all_other()
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._stored(part, value, sure=sure)
            case ast.Subscript(value=owner, slice=index):
                self._value(owner, sure=sure)
                self._value(index, sure=sure)

    def _value(self, node: ast.AST, *, sure: bool, kept: bool = False) -> None:
        """Looks at an expression; ``kept`` where what it gives is bound to a variable or attribute."""
        match node:
            case ast.Name():
                if kept:
                    self._add(node, _OTHER)
            case ast.Call():
                self._call(node, sure=sure)
            case ast.Attribute(value=ast.Name()):
                pass
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._value(test, sure=sure)
                self._value(body, sure=False, kept=kept)
                self._value(orelse, sure=False, kept=kept)
            case ast.BoolOp(values=values):
                for index, part in enumerate(values):
                    self._value(part, sure=sure and not index, kept=kept)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                for part in parts:
                    self._value(part, sure=sure, kept=True)
            case ast.Dict(keys=keys, values=values):
                for each in (*keys, *values):
                    if each is not None:
                        self._value(each, sure=sure, kept=True)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for child in ast.iter_child_nodes(node):
                    self._value(child, sure=False)
            case ast.Lambda() | ast.Await() | ast.NamedExpr() | ast.Starred():
                self._enclosed(node)
            case _:
                for child in ast.iter_child_nodes(node):
                    self._value(child, sure=sure)

    def _call(self, call: ast.Call, *, sure: bool) -> None:
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr in _ACTS and self._act(call, function, sure=sure):
            return
        match function:
            case ast.Attribute(value=ast.Name() as owner, attr=name):
                if name not in _LEAVES_ALONE:
                    self._add(owner, _OTHER)
            case ast.Attribute(value=owner, attr=name):
                root: ast.expr = owner
                while isinstance(root, (ast.Attribute, ast.Subscript)):
                    root = root.value
                if isinstance(root, ast.Name):
                    if name not in _LEAVES_ALONE:
                        self._add(root, _OTHER)
                else:
                    self._value(owner, sure=sure)
            case ast.Name():
                pass
            case _:
                self._value(function, sure=sure)
        runs_parameter = isinstance(function, ast.Name) and function.id in self.found
        for index, argument in enumerate(call.args):
            self._handed(argument, call, str(index), sure=sure, harmless=runs_parameter)
        for word in call.keywords:
            self._handed(word.value, call, word.arg or "", sure=sure, harmless=runs_parameter)

    def _act(self, call: ast.Call, function: ast.Attribute, *, sure: bool) -> bool:
        """Adds what a call of ``step`` and the like does; False where it is a call of something else of that name."""
        owner, what = function.value, _ACTS[function.attr]
        given = given_to(call)
        if what == "backward":
            propagated = call.args[0] if call.args and _ENGINE.search(last_name(owner)) else _scaled(owner)
            if self._add(propagated, Act(what, sure)):
                return True
            if self._local.reference(owner) and call.args:
                return False  # ``autograd.backward(loss)``
            self._value(owner, sure=sure)
            self.propagates = self.propagates or sure
            return True
        if what == "step" and len(given) == 1 and isinstance(given[0], ast.Name):
            return self._add(given[0], Act(what, sure))
        if given and self._local.reference(owner):
            return False  # ``engine.train(model)``
        if what in ("eval", "train"):
            what = _mode(what, given)
            if not what:
                return False
        elif given and what != "zero":
            return False
        while isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr in SAME_METHODS:
            owner = owner.func.value
        if self._add(owner, Act(what, sure)):
            return True
        if what == "step" and isinstance(owner, ast.Name) and "sched" in owner.id:
            return True
        self._all_other()
        return True

    def _handed(self, argument: ast.expr, call: ast.Call, place: str, *, sure: bool, harmless: bool) -> None:
        to = self._local.reference(call.func)
        match argument:
            case ast.Name():
                if not harmless and argument.id in self.found:
                    self._add(argument, Act("give", sure, to, place) if to and place else _OTHER)
            case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr=name)) if name in _GIVES_PARAMETERS:
                if owner.id in self.found:
                    self._add(owner, Act("give", sure, to) if to else _OTHER)
            case ast.Starred() | ast.Lambda():
                self._enclosed(argument)
            case ast.Tuple() | ast.List() | ast.Dict():
                self._mentioned_names(argument)
                self._value(argument, sure=sure, kept=True)
            case _:
                self._value(argument, sure=sure)

    def _mentioned_names(self, node: ast.AST) -> None:
        for part in ast.iter_child_nodes(node):
            self._add(part, _OTHER)


def _mode(what: str, given: list[ast.expr]) -> str:
    """What ``eval()`` or ``train(…)`` does to the mode; empty where it is something else."""
    match given:
        case []:
            return what
        case [ast.Constant(value=bool(flag))] if what == "train":
            return "train" if flag else "eval"
        case [ast.Name() | ast.Attribute() | ast.UnaryOp() | ast.Compare() | ast.BoolOp()] if what == "train":
            return "mode"
    return ""


def _scaled(node: ast.expr) -> ast.expr | None:
    """The loss that is back-propagated by ``loss.backward()``, ``(loss / n).backward()``, ``scaler.scale(loss).backward()``."""
    match node:
        case ast.Name():
            return node
        case ast.BinOp(left=left, right=right):
            return _scaled(left) or _scaled(right)
        case ast.Call(func=ast.Attribute(attr="scale" | "mean" | "sum", value=owner), args=args):
            return _scaled(args[0]) if args else _scaled(owner)
    return None


def _is_same(value: ast.expr, name: str) -> bool:
    """Whether a parameter that is given this value holds what it held, moved, or something that is computed of it."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in SAME_METHODS:
        value = value.func.value
    match value:
        case ast.Name(id=other):
            return other == name
        case ast.BinOp(left=left, right=right):
            return _is_same(left, name) or _is_same(right, name)
    return False


@lru_cache(maxsize=4096)
def _is_wiping(name: str) -> bool:
    return name in OVERWRITING or WIPING_NAME.search(name) is not None


def _may_wipe(node: ast.AST) -> bool:
    """Whether gradients may be wiped by other means than ``zero_grad`` of a parameter, which is an act."""
    match node:
        case ast.Attribute(attr="grad", ctx=ast.Store() | ast.Del()) | ast.Constant(value="grad" | "zero_grad"):
            return True
        case ast.Attribute(attr="zero_grad"):
            return False
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return _is_wiping(name)
    return False


# --- what it gives ---------------------------------------------------------------------------------------------------


def _given(function: Function, local: LocalNames) -> Made:
    """What calling a function gives."""
    values = [each.value for each in own_returns(function)]
    return joined(made(value, local) for value in values if value is not None and not is_none(value))


def made(value: ast.expr, local: LocalNames, seen: frozenset[str] = frozenset()) -> Made:
    """What makes a value: a call, those that a variable was assigned, or of a tuple each of its items."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in SAME_METHODS:
        value = value.func.value
    match value:
        case ast.Call(func=function):
            reference = local.called(function)
            return Made((reference,)) if reference else NOTHING_KNOWN
        case ast.IfExp(body=body, orelse=orelse):
            return joined(made(part, local, seen) for part in (body, orelse) if not is_none(part))
        case ast.Tuple(elts=parts):
            return Made(items=tuple(made(part, local, seen) for part in parts))
        case ast.Name(id=name) if name in local.values and name not in seen:
            given = [part for part in local.values[name] if part is None or not (_is_same(part, name) or is_none(part))]
            if given and all(part is not None for part in given):
                return joined(made(part, local, seen | {name}) for part in given if part is not None)
    return NOTHING_KNOWN


def joined(parts: Iterable[Made]) -> Made:
    """One of several."""
    every = list(dict.fromkeys(parts))
    if len(every) == 1:
        return every[0]
    if every and all(each.by for each in every):
        return Made(tuple(dict.fromkeys(by for each in every for by in each.by)))
    if every and len({len(each.items) for each in every}) == 1 and every[0].items:
        return Made(items=tuple(joined(items) for items in zip(*(each.items for each in every), strict=True)))
    return NOTHING_KNOWN
