"""What ``torch.compile`` cannot have in a graph, or compiles anew again and again, in the modules that a file compiles.

Run on torch 2.13: ``print``, ``item()``, ``float(t)`` and a branch on a tensor end a graph. A number of the module that each
call changes is compiled into the graph, which is made anew until the limit of eight.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body

Node = TypeVar("Node")

_COMPILING = frozenset({"torch.compile", "torch._dynamo.optimize"})
_LEFT_OUT = frozenset({"torch.compiler.disable", "torch._dynamo.disable", "torch.jit.ignore", "torch.jit.unused"})
_READING = frozenset({"item", "tolist"})
_CASTS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
_SAVING = frozenset({"capture_scalar_outputs", "is_compiling", "is_dynamo_compiling"})
"""Words of code that looks after this itself."""
_MOST = 64


class Cause(Enum):
    """What ends a graph, or makes it invalid."""

    PRINT = "print"
    READ = "a value is read"
    BRANCH = "a branch"
    COUNTER = "a number that changes"


@dataclass(frozen=True, eq=False, slots=True)
class Break(Generic[Node]):
    """A place in code that is compiled.

    ``start`` is the value that the constructor gives a counter which nothing else uses.
    """

    cause: Cause
    start: Node | None = None


class Breaks:
    """Finds such places in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts

    @cached_property
    def found(self) -> dict[ast.AST, Break[ast.expr]]:
        """The calls, conditions and assignments that end graphs."""
        found: dict[ast.AST, Break[ast.expr]] = {}
        if "compile" not in self._semantics.words.all or _SAVING & self._semantics.words.all:
            return found
        for function in self._compiled:
            for part in walk_body(function.body):
                ended = self._break(part)
                if ended is not None:
                    place, cause = ended
                    found.setdefault(place, cause)
        return found

    # --- what is compiled --------------------------------------------------------------------------------------------

    @cached_property
    def _compiled(self) -> list[Function]:
        """The functions of the file that are compiled: what is given to ``torch.compile``, and what this calls."""
        pending: list[ast.AST | None] = [*self._given()]
        found: list[Function] = []
        while pending and len(found) < _MOST:
            current = pending.pop()
            if isinstance(current, ast.ClassDef):
                current = self._facts.method(current, "forward")
            if not isinstance(current, FUNCTIONS) or current in found or self._is_left_out(current):
                continue
            found.append(current)
            pending += [self._called(part) for part in walk_body(current.body) if isinstance(part, ast.Call)]
        return found

    def _given(self) -> Iterator[ast.AST | None]:
        for call in self._facts.calls.get("compile", ()):
            if any(word.arg == "disable" for word in call.keywords):
                continue
            if (self._semantics.qualified_name(call.func) or "") in _COMPILING:
                given = [*call.args[:1], *(word.value for word in call.keywords if word.arg == "model")]
                yield from map(self._code, given)
            elif isinstance(call.func, ast.Attribute) and self._semantics.kind(call.func.value).type is Type.MODULE:
                yield self._code(call.func.value)
        definitions: list[ast.FunctionDef | ast.ClassDef]
        definitions = [*self._tree.of_type(ast.FunctionDef), *self._tree.of_type(ast.ClassDef)]
        for node in definitions:
            for decorator in node.decorator_list:
                named = decorator.func if isinstance(decorator, ast.Call) else decorator
                if (self._semantics.qualified_name(named) or "") in _COMPILING:
                    yield node

    def _code(self, value: ast.expr) -> ast.AST | None:
        """What runs where a value is called: a class of the file, or a function."""
        return self._semantics.kind(value).definition or self._facts.definition(value)

    def _called(self, call: ast.Call) -> ast.AST | None:
        """The code of the file that a call runs: a function, a method of ``self``, or the forward of a module."""
        if isinstance(call.func, ast.Attribute) and (owner := self._facts.self_class(call.func.value)) is not None:
            method = self._facts.method(owner, call.func.attr)
            if method is not None:
                return method
        kind = self._semantics.kind(call.func)
        return kind.definition if kind.type in (Type.MODULE, Type.FUNCTION) else None

    def _is_left_out(self, function: Function) -> bool:
        names = (each.func if isinstance(each, ast.Call) else each for each in function.decorator_list)
        return any((self._semantics.qualified_name(name) or "") in _LEFT_OUT for name in names)

    # --- what ends a graph -------------------------------------------------------------------------------------------

    def _break(self, part: ast.AST) -> tuple[ast.AST, Break[ast.expr]] | None:
        match part:
            case ast.Call(func=ast.Name(id="print") as name) if self._semantics.qualified_name(name) == "builtins.print":
                return (part, Break(Cause.PRINT)) if not self._is_conditional(part) else None
            case ast.Call(func=ast.Attribute(value=tensor, attr=name), args=[]) if name in _READING and self._is_tensor(tensor):
                return part, Break(Cause.READ)
            case ast.Call(func=function, args=[tensor], keywords=[]) if self._is_tensor(tensor):
                is_cast = (self._semantics.qualified_name(function) or "") in _CASTS
                return (part, Break(Cause.READ)) if is_cast else None
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
                return (test, Break(Cause.BRANCH)) if self._asks_tensor(test) else None
            case ast.AugAssign(target=ast.Attribute() as target):
                return self._counter(part, target)
        return None

    def _is_conditional(self, node: ast.AST) -> bool:
        """Whether code stands under a condition: that of a debugging flag, for all that is known."""
        for parent in self._tree.ancestors(node):
            if isinstance(parent, FUNCTIONS):
                return False
            if isinstance(parent, (ast.If, ast.Try, ast.ExceptHandler)):
                return True
        return False

    def _is_tensor(self, node: ast.expr) -> bool:
        kind = self._semantics.kind(node)
        return kind.is_tensor and not kind.loose

    def _asks_tensor(self, test: ast.expr) -> bool:
        """Whether a condition asks for the value of a tensor."""
        match test:
            case ast.BoolOp(values=values):
                return any(map(self._asks_tensor, values))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._asks_tensor(operand)
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                is_order = isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq))
                return is_order and (self._is_tensor(left) or self._is_tensor(right))
            case ast.Call() | ast.Name():
                return self._is_tensor(test)
        return False

    def _counter(self, statement: ast.AugAssign, target: ast.Attribute) -> tuple[ast.AST, Break[ast.expr]] | None:
        """A number of the module that is changed; its start where it can be a tensor instead."""
        owner = self._facts.self_class(target.value)
        slots = self._facts.slots(owner, target.attr) if owner is not None else []
        stores = [store for slot in slots for store in slot.stores if store is not target]
        values = [parent.value for store in stores if isinstance(parent := self._tree.parent(store), ast.Assign)]
        if len(slots) != 1 or not stores or len(values) != len(stores) or slots[0].class_values:
            return None
        if not all(isinstance(value, ast.Constant) and type(value.value) in (int, float) for value in values):
            return None
        uses = [use for use in slots[0].uses if use is not target]
        is_counted = isinstance(statement.value, ast.Constant) and type(statement.value.value) is int
        is_kept_apart = len(values) == 1 and not uses and is_counted and isinstance(statement.op, ast.Add)
        is_started = is_kept_apart and isinstance(values[0], ast.Constant) and type(values[0].value) is int
        return statement, Break(Cause.COUNTER, values[0] if is_started else None)
