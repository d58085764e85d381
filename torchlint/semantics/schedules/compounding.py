"""Schedules that scale what the ``get_lr`` of their base gives: that goes on from the rates of the step before."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import Function, is_self, last_name, own_returns, walk, walk_body
from torchlint.semantics.inheritance.inherited_methods import InheritedMethods

Node = TypeVar("Node")

_PACKAGE = "torch.optim.lr_scheduler."
_CLOSED = frozenset(
    {"StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR"},
)
"""The schedulers whose ``get_lr`` starts from ``group["lr"]``, since torch 1.4, and that can compute a rate from the first one,
too: run with a factor, beside the plain one (torch 2.13). ``LambdaLR``, ``CyclicLR``, ``OneCycleLR`` and
``CosineAnnealingWarmRestarts`` start from ``base_lrs``.
"""
_GOING_ON = frozenset(f"{_PACKAGE}{name}" for name in (*_CLOSED, "MultiplicativeLR"))
_COUNTERS = frozenset({"last_epoch", "_step_count"})
_STEPPING = frozenset({"step", "_update_lr", "_initial_step"})
"""Methods of a scheduler that, where a class has its own, may set the rates back before they are scaled again."""
_MEANT = re.compile(r"gamma|decay|anneal", re.IGNORECASE)
"""What a factor is called that is to be applied once more in each step."""
_BEFORE = re.compile(r"prev|(^|_)(old|before)|(^|_)last_(?!epoch)", re.IGNORECASE)
"""What is called so that was in the rates before, and is taken out of them."""
_ARRAYS = frozenset({"numpy.array", "numpy.asarray", "torch.tensor", "torch.as_tensor"})
_DEEP = 3
"""Through so many names and methods the parts of a factor are followed."""


@dataclass(frozen=True, eq=False, slots=True)
class Compounding(Generic[Node]):
    """The ``factor`` that a method applies to what a base's ``get_lr`` gives, and all of its ``calls`` of that.

    ``has_closed_form`` tells whether the base can compute a rate from the first one. A factor that is not ``of_epoch`` may be
    meant to be applied in each step.
    """

    factor: Node
    calls: tuple[Node, ...]
    has_closed_form: bool
    of_epoch: bool


@dataclass(frozen=True, eq=False, slots=True)
class _Scaled:
    """The call whose rates something is made of, and what they are multiplied with, divided by, and what is added."""

    call: ast.Call
    factors: list[ast.expr]
    divisors: list[ast.expr]
    addends: list[ast.expr]


class CompoundingSchedules:
    """Finds the schedulers of a file whose factors add up from step to step."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts

    @cached_property
    def found(self) -> dict[ast.Call, Compounding[ast.expr]]:
        """The calls of a base's ``get_lr`` whose rates are scaled; one for each method."""
        found: dict[ast.Call, Compounding[ast.expr]] = {}
        if not _STEPPING.isdisjoint(self._semantics.of(InheritedMethods).given_from_outside):
            return found
        for owner, facts in self._facts.classes.items():
            method = facts.methods.get("get_lr")
            if method is not None and (each := self._of_method(method, owner)) is not None:
                call, compounding = each
                found[call] = compounding
        return found

    def _of_method(self, method: Function, owner: ast.ClassDef) -> tuple[ast.Call, Compounding[ast.expr]] | None:
        calls = {call: name for call in self._calls.get(method, ()) if (name := self._base(call)) in _GOING_ON}
        if not calls or self._sets_back(owner):
            return None
        tests = list(_tests(method))
        if any(map(_is_of_some_steps, tests)) or not self._words(tests).isdisjoint(_stored(method)):
            return None
        for each in own_returns(method):
            if self._is_of_first_step(each, method):
                continue
            scaled = self._scaled(each.value) if each.value is not None else None
            factor = self._telling(scaled, method, is_conditional=bool(tests)) if scaled is not None else None
            if scaled is not None and factor is not None and scaled.call in calls:
                is_closed = calls[scaled.call].removeprefix(_PACKAGE) in _CLOSED and not self._has_own_form(owner)
                of_epoch = self._is_of_epoch(factor)
                return scaled.call, Compounding(factor, tuple(calls), is_closed, of_epoch)
        return None

    @cached_property
    def _calls(self) -> dict[ast.AST | None, list[ast.Call]]:
        """The calls of a method of that name, by the functions that they are in."""
        calls: dict[ast.AST | None, list[ast.Call]] = defaultdict(list)
        for call in self._facts.calls.get("get_lr", ()):
            calls[self._semantics.tree.function(call)].append(call)
        return calls

    def _base(self, call: ast.Call) -> str:
        """The full name of the class whose ``get_lr`` a call in a method of that name runs."""
        name, before = self._semantics.of(InheritedMethods).of(call)
        return name if len(call.args) == before and not call.keywords else ""

    def _is_of_first_step(self, result: ast.Return, method: Function) -> bool:
        """Whether a method returns something in the very first step alone, before there is anything to add up."""
        child: ast.AST = result
        for parent in self._semantics.tree.ancestors(result):
            if parent is method:
                return False
            if isinstance(parent, ast.If) and child in parent.body and _is_first(parent.test):
                return True
            child = parent
        return False

    def _sets_back(self, owner: ast.ClassDef) -> bool:
        """Whether a class, or one of the file that it derives from or that derives from it, may set the rates itself."""
        family = {*self._facts.bases(owner), *self._facts.derived(owner)}
        return any(
            not _STEPPING.isdisjoint(self._facts.classes[each].methods) or any(map(self._sets_rate, ast.walk(each)))
            for each in family
        )

    def _sets_rate(self, node: ast.AST) -> bool:
        """Whether a node sets a rate by hand: ``group["lr"] = rate``, ``group.update(lr=rate)``, or ``group[key] = rate``."""
        match node:
            case ast.Subscript(slice=ast.Constant(value=key), ctx=ast.Store()):
                return key == "lr"
            case ast.Subscript(value=ast.Name() as group, ctx=ast.Store()):
                return self._is_group(group)
            case ast.Call(func=ast.Attribute(attr="update"), args=args, keywords=words):
                keys = [key for given in args if isinstance(given, ast.Dict) for key in given.keys]
                return any(word.arg == "lr" for word in words) or any(map(_is_lr, keys))
            case ast.Call(func=ast.Attribute(attr="__setitem__"), args=[key, _]):
                return _is_lr(key)
        return False

    def _is_group(self, name: ast.Name) -> bool:
        """Whether a name stands for one of the optimizer's groups of parameters."""
        values = [each.value for each in self._semantics.bindings.reaching(name)]
        parts = (part for value in values if value is not None for part in ast.walk(value))
        return any(isinstance(part, ast.Attribute) and part.attr == "param_groups" for part in parts)

    def _has_own_form(self, owner: ast.ClassDef) -> bool:
        return self._facts.method(owner, "_get_closed_form_lr") is not None

    # --- what is made of the rates -----------------------------------------------------------------------------------

    def _scaled(self, value: ast.expr, depth: int = _DEEP) -> _Scaled | None:
        """How a value is made of what a base's ``get_lr`` gives: ``[lr * factor for lr in super().get_lr()]``."""
        if not depth:
            return None
        match value:
            case ast.ListComp(elt=each) | ast.GeneratorExp(elt=each):
                return self._of_rate(each)
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner], keywords=[]):
                return self._scaled(inner, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr="tolist"), args=[]):
                return self._scaled(inner, depth)
            case ast.IfExp(test=test, orelse=other) if _is_first(test):
                return self._scaled(other, depth)
            case ast.IfExp(body=one, orelse=other):
                return self._scaled(one, depth) or self._scaled(other, depth)
            case ast.BinOp():
                return self._of_rate(value)
            case ast.Name():
                values = self._semantics.bindings.values(value)
                made = (self._scaled(each, depth - 1) for each in values)
                return next(filter(None, made), None) or self._filled(value)
        return None

    def _filled(self, name: ast.Name) -> _Scaled | None:
        """Likewise of a list that a loop changes, or fills: ``rates[i] *= factor``, ``rates.append(lr * factor)``."""
        function = self._semantics.tree.function(name)
        if function is None or isinstance(function, ast.Lambda):
            return None
        for part in walk_body(function.body):
            match part:
                case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=id) as rates), op=operation, value=by) if (
                    id == name.id
                ):
                    call = self._source(rates)
                    if call is not None:
                        return _joined(_Scaled(call, [], [], []), operation, by, is_left=True)
                case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=id))], value=each) if id == name.id:
                    if (scaled := self._of_rate(each)) is not None:
                        return scaled
                case ast.Call(func=ast.Attribute(value=ast.Name(id=id), attr="append"), args=[each]) if id == name.id:
                    if (scaled := self._of_rate(each)) is not None:
                        return scaled
        return None

    def _of_rate(self, value: ast.expr) -> _Scaled | None:
        """How a value is made of one of the rates."""
        call = self._rate(value)
        if call is not None:
            return _Scaled(call, [], [], [])
        match value:
            case ast.BinOp(left=left, op=operation, right=right):
                if (scaled := self._of_rate(left)) is not None:
                    return _joined(scaled, operation, right, is_left=True)
                if (scaled := self._of_rate(right)) is not None:
                    return _joined(scaled, operation, left, is_left=False)
            case ast.Call(func=ast.Name(id="max" | "min" | "float" | "abs"), args=parts):
                return next(filter(None, map(self._of_rate, parts)), None)
            case ast.IfExp(test=test, orelse=other) if _is_first(test):
                return self._of_rate(other)
            case ast.IfExp(body=one, orelse=other):
                made = [scaled for scaled in map(self._of_rate, (one, other)) if scaled is not None]
                return next((each for each in made if each.factors or each.divisors or each.addends), None)
            case ast.Name():
                values = self._semantics.bindings.values(value)
                return self._of_rate(values[0]) if len(values) == 1 and values[0] is not value else None
        return None

    def _rate(self, value: ast.expr) -> ast.Call | None:
        """The call that gives a rate, or an array of them, that a value is."""
        match value:
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                if len(bindings) == 1 and bindings[0].form is Form.LOOP and bindings[0].value is not None:
                    return self._gone_through(bindings[0].value, bindings[0].path)
            case ast.Subscript(value=rates):
                return self._source(rates)
            case ast.Call(func=function, args=[rates]) if self._semantics.qualified_name(function) in _ARRAYS:
                return self._source(rates)
        return None

    def _gone_through(self, value: ast.expr, path: tuple[int | None, ...]) -> ast.Call | None:
        """The call that gives the rates that a loop goes through, alone or beside other things."""
        match value, path:
            case _, ():
                return self._source(value)
            case ast.Call(func=ast.Name(id="zip"), args=parts), (int(place),) if place < len(parts):
                return self._source(parts[place])
            case ast.Call(func=ast.Name(id="enumerate"), args=[rates]), (1,):
                return self._source(rates)
        return None

    def _source(self, value: ast.expr, depth: int = _DEEP) -> ast.Call | None:
        """The call of a base's ``get_lr`` whose result a value is."""
        match value:
            case ast.Call(func=ast.Name(id="list" | "tuple"), args=[inner]):
                return self._source(inner, depth)
            case ast.Call(func=ast.Attribute(attr="get_lr")):
                return value
            case ast.Name() if depth:
                values = self._semantics.bindings.values(value)
                return self._source(values[0], depth - 1) if len(values) == 1 else None
        return None

    # --- by what -----------------------------------------------------------------------------------------------------

    def _telling(self, scaled: _Scaled, method: Function, *, is_conditional: bool) -> ast.expr | None:
        """What is applied to the rates though it is in them already: it counts from the first step on. Under no condition,
        anything that is not meant to be applied again and again.
        """
        every = [*scaled.factors, *scaled.divisors, *scaled.addends]
        words = self._words(every)
        if words & _stored(method) or any(_BEFORE.search(word) for word in words) or any(map(self._is_ratio, every)):
            return None
        if any(map(self._is_of_some_steps, every)):
            return None
        if any(map(self._is_of_epoch, scaled.factors)) and any(map(self._is_of_epoch, scaled.divisors)):
            return None
        counted = next(filter(self._is_of_epoch, every), None)
        if counted is not None or is_conditional:
            return counted
        return next(filter(self._is_kept, (*scaled.factors, *scaled.divisors)), None)

    def _words(self, values: Iterable[ast.expr]) -> set[str]:
        """What the parts of some values are called."""
        return {_word(part) for each in values for part in self._parts(each)} - {""}

    def _is_of_some_steps(self, value: ast.expr) -> bool:
        """Whether a value is looked up by the step, or asks which one it is: it may be another one than 1 in single steps."""
        for part in self._parts(value):
            match part:
                case ast.Subscript(slice=key) | ast.Call(func=ast.Attribute(attr="get"), args=[key, *_]):
                    if self._is_of_epoch(key):
                        return True
                case ast.Compare() if _is_of_some_steps(part) and self._is_of_epoch(part):
                    return True
        return False

    def _is_kept(self, factor: ast.expr) -> bool:
        """Whether a factor is something of the object's that does not sound as if it was to be applied in each step."""
        words = {_word(part) for part in self._parts(factor)}
        own = any(isinstance(part, ast.Attribute) and is_self(part.value) for part in walk(factor))
        return own and not any(_MEANT.search(word) for word in words)

    def _is_of_epoch(self, value: ast.expr) -> bool:
        return any(isinstance(part, ast.Attribute) and part.attr in _COUNTERS for part in self._parts(value))

    def _is_ratio(self, value: ast.expr) -> bool:
        """Whether a value divides two that both count the steps: what is in the rates already is taken out of them."""
        return any(
            isinstance(part, ast.BinOp)
            and isinstance(part.op, ast.Div)
            and self._is_of_epoch(part.left)
            and self._is_of_epoch(part.right)
            for part in self._parts(value)
        )

    def _parts(self, value: ast.AST, depth: int = _DEEP) -> Iterator[ast.AST]:
        """The parts of a value, of what its names have been given, and of the own methods that it calls."""
        for part in walk(value):
            yield part
            if not depth:
                continue
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
                for binding in self._semantics.bindings.reaching(part):
                    if binding.form in (Form.ASSIGNMENT, Form.AUGMENTED) and binding.value is not None:
                        yield from self._parts(binding.value, depth - 1)
                    for before in binding.before:
                        if before.value is not None:
                            yield from self._parts(before.value, depth - 1)
            elif isinstance(part, ast.Attribute) and (owner := self._facts.self_class(part.value)) is not None:
                method = self._facts.method(owner, part.attr)
                for statement in method.body if method is not None and method.name != "get_lr" else ():
                    yield from self._parts(statement, depth - 1)


def _joined(scaled: _Scaled, operation: ast.operator, by: ast.expr, *, is_left: bool) -> _Scaled | None:
    """What is made of a rate, on the left or the right of an operation, and of another value; none where that is no scaling."""
    call, factors, divisors, addends = scaled.call, scaled.factors, scaled.divisors, scaled.addends
    match operation:
        case ast.Mult():
            return _Scaled(call, [*factors, by], divisors, addends)
        case ast.Div() if is_left:
            return _Scaled(call, factors, [*divisors, by], addends)
        case ast.Add():
            return _Scaled(call, factors, divisors, [*addends, by])
        case ast.Sub() if is_left:
            return _Scaled(call, factors, divisors, [*addends, by])
    return None


def _tests(method: Function) -> Iterator[ast.expr]:
    """The conditions in a method."""
    for part in walk_body(method.body):
        match part:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                yield test
            case ast.comprehension(ifs=tests):
                yield from tests


def _is_of_some_steps(test: ast.expr) -> bool:
    """Whether a condition holds in single steps, in which a rate may be scaled once and for all: ``self.last_epoch in (3, 5)``,
    ``self.last_epoch % 30 == 0``. The very first one is none of them.
    """
    for part in walk(test):
        match part:
            case ast.BinOp(op=ast.Mod()):
                return True
            case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=0 | -1 | str())]):
                continue
            case ast.Compare(ops=[ast.Eq() | ast.NotEq()], comparators=[ast.UnaryOp(operand=ast.Constant(value=1))]):
                continue
            case ast.Compare(ops=operations):
                if any(isinstance(each, (ast.Eq, ast.NotEq, ast.In, ast.NotIn)) for each in operations):
                    return True
    return False


def _is_first(test: ast.expr) -> bool:
    """Whether a condition holds in the very first step alone: ``self.last_epoch == 0``."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute(attr="last_epoch")):
            return True
        case ast.Compare(left=ast.Attribute(attr="last_epoch"), ops=[operation], comparators=[ast.Constant(value=bound)]):
            return (isinstance(operation, (ast.Eq, ast.LtE)) and bound == 0) or (isinstance(operation, ast.Lt) and bound == 1)
    return False


def _is_lr(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "lr"


def _stored(method: Function) -> set[str]:
    """The attributes that a method stores."""
    return {part.attr for part in walk_body(method.body) if isinstance(part, ast.Attribute) and not _is_read(part)}


def _is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _word(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_]):
            return name
        case ast.Name() | ast.Attribute():
            return last_name(node)
    return ""
