"""What does not run under an assumption: ``loss.backward()`` below ``if train:``, where ``train`` is false.

What is assumed are truths and constants of names, as a condition around a place, a flag, or the arguments of a call give them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, in_body

_DEEP = 3
"""So many names may stand between a test and what it asks."""
_LEAVES = (ast.Return, ast.Continue, ast.Break, ast.Raise)
_Constant = str | int | float | bool | bytes | complex | None


@dataclass(slots=True)
class Assumption:
    """Tests that are taken to be true or false, as they are spelled, and names and attributes to be constants.

    ``names`` are the bindings that these hang on: with another one, nothing is assumed any more.
    """

    truths: dict[str, bool] = field(default_factory=dict)
    constants: dict[str, ast.Constant] = field(default_factory=dict)
    names: set[Binding] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.truths or self.constants)


class Assumptions:
    """Tells of the code of one file what does not run under assumptions."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._guards: dict[ast.AST, list[tuple[ast.expr, bool]]] = {}

    # --- what is assumed ---------------------------------------------------------------------------------------------

    def at(self, node: ast.AST) -> Assumption:
        """What is so where a node runs: the conditions around it hold."""
        found = Assumption()
        for test, holds in self.guards(node):
            self.assume(found, test, holds)
        return found

    def assume(self, assumption: Assumption, test: ast.expr, holds: bool, depth: int = _DEEP) -> None:
        """Adds that a test is true, or false, and what follows from that."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.assume(assumption, operand, not holds, depth)
                return
            case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And) is holds:
                for value in values:
                    self.assume(assumption, value, holds, depth)
                return
            case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[ast.Constant() as constant]):
                self._assume_equal(assumption, left, constant, not holds)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[ast.Constant() as constant]):
                self._assume_equal(assumption, left, constant, holds)
        assumption.truths.setdefault(ast.dump(test), holds)
        for part in ast.walk(test):
            if isinstance(part, ast.Name):
                assumption.names.update(self._semantics.bindings.reaching(part))
        meant = self._value(test) if depth else None
        if meant is not None:
            self.assume(assumption, meant, holds, depth - 1)

    def _assume_equal(self, assumption: Assumption, left: ast.expr, constant: ast.Constant, holds: bool) -> None:
        if holds:
            assumption.constants.setdefault(ast.dump(left), constant)
        elif constant.value is None:
            assumption.truths.setdefault(ast.dump(left), True)

    def within(self, function: Function, call: ast.Call, outside: Assumption) -> Assumption:
        """What is so within a function where a call runs it: parameters that are given constants, or left as they are."""
        found, arguments = Assumption(), function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            given = self._semantics.facts.argument(call, function, parameter)
            binding = self._semantics.bindings.of(parameter)
            if given is None or binding is None:
                continue
            name = ast.dump(ast.Name(parameter.arg, ast.Load()))
            if (given_constant := self._constant(given)) is not None:
                found.constants[name] = given_constant
            elif (constant := outside.constants.get(ast.dump(given))) is not None:
                found.constants[name] = constant
            elif ast.dump(ast.Attribute(given, "training", ast.Load())) in outside.truths:
                training = ast.Attribute(ast.Name(parameter.arg, ast.Load()), "training", ast.Load())
                found.truths[ast.dump(training)] = outside.truths[ast.dump(ast.Attribute(given, "training", ast.Load()))]
            elif (truth := self.decided(given, outside)) is not None:
                found.truths[name] = truth
            else:
                continue
            found.names.add(binding)
        return found

    # --- what does not run -------------------------------------------------------------------------------------------

    def excludes(self, assumption: Assumption, node: ast.AST) -> bool:
        """Whether a condition that decides on a node cannot hold."""
        return bool(assumption) and any(self.decided(test, assumption) is (not holds) for test, holds in self.guards(node))

    def decided(self, test: ast.expr, assumption: Assumption, depth: int = _DEEP) -> bool | None:
        """Whether a test is true, as far as that is certain."""
        if isinstance(test, ast.Constant):
            return bool(test.value)
        text = ast.dump(test)
        if text in assumption.truths or text in assumption.constants:
            if not self._is_about(test, assumption):
                return None
            return assumption.truths[text] if text in assumption.truths else bool(assumption.constants[text].value)
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                found = self.decided(operand, assumption, depth)
                return None if found is None else not found
            case ast.BoolOp(op=op, values=values):
                parts = [self.decided(value, assumption, depth) for value in values]
                ending = isinstance(op, ast.Or)
                return ending if ending in parts else None if None in parts else not ending
            case ast.Compare(left=left, ops=[operator], comparators=[right]):
                return self._compared(left, operator, right, assumption)
        value = self._value(test) if depth else None
        return self.decided(value, assumption, depth - 1) if value is not None else None

    def _compared(self, left: ast.expr, operator: ast.cmpop, right: ast.expr, assumption: Assumption) -> bool | None:
        if not self._is_about(left, assumption):
            return None
        constant = assumption.constants.get(ast.dump(left))
        if constant is None:
            is_none = isinstance(right, ast.Constant) and right.value is None
            if (
                is_none
                and assumption.truths.get(ast.dump(left))
                and isinstance(operator, (ast.Is, ast.Eq, ast.IsNot, ast.NotEq))
            ):
                return isinstance(operator, (ast.IsNot, ast.NotEq))
            return None
        match operator, right:
            case (ast.Eq() | ast.Is(), ast.Constant(value=value)):
                return bool(constant.value == value)
            case (ast.NotEq() | ast.IsNot(), ast.Constant(value=value)):
                return bool(constant.value != value)
            case (ast.In() | ast.NotIn(), ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts)):
                if all(isinstance(part, ast.Constant) for part in parts):
                    is_in = any(isinstance(part, ast.Constant) and part.value == constant.value for part in parts)
                    return is_in is isinstance(operator, ast.In)
        return None

    def _is_about(self, node: ast.expr, assumption: Assumption) -> bool:
        """Whether the names of an expression have the values that were assumed something about, and no others."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        return all(set(self._semantics.bindings.reaching(name)) <= assumption.names for name in names)

    def _constant(self, node: ast.expr) -> ast.Constant | None:
        """The constant that an expression is, or that a variable of a function has for good."""
        if isinstance(node, ast.Constant):
            return node
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return None
        value = bindings[0].value
        return value if isinstance(value, ast.Constant) and isinstance(bindings[0].scope.node, FUNCTIONS) else None

    def _value(self, test: ast.expr) -> ast.expr | None:
        """What a name stands for that is given a truth value once: ``train = optimizer is not None``."""
        value = self._semantics.bindings.assigned(test)
        return value if isinstance(value, (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant, ast.Name)) else None

    # --- the conditions of a place -----------------------------------------------------------------------------------

    def guards(self, node: ast.AST) -> list[tuple[ast.expr, bool]]:
        """The tests that decide in its function whether a node runs, and how they have to come out: those around it, and those
        in front of it that leave the block.
        """
        if node not in self._guards:
            self._guards[node] = list(self._find_guards(node))
        return self._guards[node]

    def _find_guards(self, node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
        child: ast.AST = node
        for parent in self._tree.ancestors(node):
            if isinstance(child, ast.stmt):
                yield from _left_before(child, self._tree.block(child))
            match parent:
                case ast.If(test=test) if child is not test:
                    yield test, in_body(child, parent)
                case ast.IfExp(test=test) if child is not test:
                    yield test, child is parent.body
                case ast.BoolOp(op=op, values=values) if child is not values[0]:
                    earlier = values[: next(index for index, value in enumerate(values) if value is child)]
                    yield from ((value, isinstance(op, ast.And)) for value in earlier)
                case ast.While(test=test) if child is not test and in_body(child, parent):
                    yield test, True
            if isinstance(parent, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
                return
            child = parent


def _left_before(statement: ast.stmt, block: list[ast.stmt]) -> Iterator[tuple[ast.expr, bool]]:
    """The tests of the statements in front of one that leave its block if they come out so: ``if not train: return loss``."""
    for earlier in block:
        if earlier is statement:
            return
        if isinstance(earlier, ast.If):
            if isinstance(earlier.body[-1], _LEAVES):
                yield earlier.test, False
            elif earlier.orelse and isinstance(earlier.orelse[-1], _LEAVES):
                yield earlier.test, True
