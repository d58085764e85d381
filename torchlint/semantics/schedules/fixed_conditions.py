"""Conditions that come out the same in every round of a loop: those that ask for options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Form, Semantics
from torchlint.semantics.code.tree import Function, Loop, dotted, is_self, last_name

_PARTS = (
    *(ast.Name, ast.Attribute, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Subscript, ast.Tuple, ast.List),
    *(ast.cmpop, ast.boolop, ast.unaryop, ast.expr_context),
)
"""What tests are made of that ask for options."""
_OPTIONS = re.compile(r"(^|_)(args?|opts?|options?|cfg|conf|config|hparams|hps|flags|params|settings)$", re.IGNORECASE)
"""What an object is called that holds the options of a run."""
_ROUNDS = re.compile(
    r"epoch|step|iter|round|count|first|start|begin|begun|done|seen|trained|warm|resum|ready|initial|(^|_)(n|i|t)$",
    re.IGNORECASE,
)
"""What is called so that other files may change from round to round."""
_FILLING = frozenset(
    {"append", "appendleft", "extend", "insert", "add", "update", "setdefault", "pop", "popleft", "clear", "remove"}
)


class FixedConditions:
    """Tells which conditions the rounds of a loop do not change."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_fixed(self, test: ast.expr, loop: Loop) -> bool:
        """Whether a test asks for options and variables alone that the rounds of a loop do not change."""
        if not all(isinstance(part, _PARTS) for part in ast.walk(test)):
            return False
        asked = [part for part in ast.walk(test) if isinstance(part, (ast.Name, ast.Attribute))]
        rounds = loop.body if isinstance(loop, ast.While) else [loop.target, *loop.body]
        changed = {last_name(part) for part in _changes(rounds)}
        if any(last_name(part) in changed for part in asked):
            return False
        within = self._semantics.tree.function(loop)
        return not any(self._is_changed_elsewhere(part, within) for part in asked)

    def is_fixed_within(self, test: ast.expr, loop: Loop, scheduler: ast.expr) -> bool:
        """Likewise of a test in a function that the loop calls: it asks for options, or whether there is a scheduler."""
        return self.is_fixed(test, loop) and all(
            dotted(each) == dotted(scheduler) or self._is_option(each) for each in _asked_for(test)
        )

    def _is_option(self, asked: ast.expr) -> bool:
        """Whether a value is one of the options, or one that an object of the file is made with, and that is no count."""
        chain = [part for part in ast.walk(asked) if isinstance(part, (ast.Name, ast.Attribute))]
        if any(_OPTIONS.search(last_name(part)) for part in chain if part is not asked):
            return True
        match asked:
            case ast.Attribute(value=owner):
                cls = self._semantics.facts.self_class(owner)
                return cls is not None and any(slot.stores for slot in self._semantics.facts.slots(cls, asked.attr))
            case ast.Name():
                bindings = self._semantics.bindings.reaching(asked)
                outside = bool(bindings) and all(each.scope.parent is None for each in bindings)
                return outside and all(each.form is Form.ASSIGNMENT for each in bindings)
        return False

    def _is_changed_elsewhere(self, part: ast.Name | ast.Attribute, within: ast.AST | None) -> bool:
        """Whether a function that the rounds may call gives what a test asks for another value, as far as names tell."""
        if isinstance(part, ast.Name) and part.id in self._declared:
            return True
        if isinstance(part, ast.Attribute) and is_self(part.value) and _ROUNDS.search(part.attr):
            return True
        return any(function is not within for function in self._stores.get((type(part), last_name(part)), ()))

    @cached_property
    def _declared(self) -> set[str]:
        """The names that functions declare to be those of others."""
        tree = self._semantics.tree
        declarations: list[ast.Global | ast.Nonlocal] = [*tree.of_type(ast.Global), *tree.of_type(ast.Nonlocal)]
        return {name for each in declarations for name in each.names}

    @cached_property
    def _stores(self) -> dict[tuple[type[ast.AST], str], list[ast.AST]]:
        """The functions other than constructors that change attributes, or what is in names and attributes."""
        found: dict[tuple[type[ast.AST], str], list[ast.AST]] = {}
        functions: list[Function] = [
            *self._semantics.tree.of_type(ast.FunctionDef),
            *self._semantics.tree.of_type(ast.AsyncFunctionDef),
        ]
        for function in functions:
            if function.name == "__init__":
                continue
            for part in _changes(function.body):
                if not isinstance(part, ast.Name) or isinstance(part.ctx, ast.Load):  # else it is its own
                    found.setdefault((type(part), last_name(part)), []).append(function)
        return found


def _changes(nodes: Iterable[ast.AST]) -> Iterator[ast.expr]:
    """What code stores to, stores items of, or fills."""
    for part in (part for node in nodes for part in ast.walk(node)):
        match part:
            case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                yield part
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                yield value
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method in _FILLING:
                yield value


def _asked_for(test: ast.expr) -> Iterator[ast.expr]:
    """What a test asks for: of ``not self.args.plain and net is None`` the two values."""
    match test:
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _asked_for(part)
        case ast.UnaryOp(operand=part):
            yield from _asked_for(part)
        case ast.Compare(left=left, comparators=others):
            for part in (left, *others):
                yield from _asked_for(part)
        case ast.Constant():
            return
        case ast.expr():
            yield test
