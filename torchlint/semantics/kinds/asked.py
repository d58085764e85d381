"""What the code's own tests say of a variable: ``if torch.is_tensor(x):``, and a function that asks and goes on either way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body

_TENSOR_CLASSES = frozenset({"torch.Tensor", "torch.autograd.Variable", "torch.nn.Parameter", "builtins.Tensor"})
_OF_ALL_TENSORS = _TENSOR_CLASSES - {"torch.nn.Parameter"}
"""What is no instance of one of these is no tensor at all."""
_PLAIN = ("list", "tuple", "dict", "set", "int", "float", "str", "bool", "bytes")
_OTHER_CLASSES = frozenset(f"builtins.{name}" for name in _PLAIN)
_OTHER_LIBRARIES = ("numpy.", "collections.", "pandas.", "PIL.")
"""Whose classes are none of tensors."""
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class AskedTensors:
    """Tells of variables whether they are tensors where they are read, for all that is asked around them."""

    def __init__(self, code: Code) -> None:
        self._code = code
        self._tree = code.tree
        self._leaving: dict[ast.stmt, list[ast.If]] = {}

    def are_tensors(self, name: ast.expr) -> bool:
        """Whether a variable is read where a test around has just found it to be a tensor."""
        return isinstance(name, ast.Name) and self._is_settled(name, wanted=True)

    def are_none(self, name: ast.expr) -> bool:
        """Whether a variable is read where a test around has just found it to be no tensor."""
        return isinstance(name, ast.Name) and self._is_settled(name, wanted=False)

    def _is_settled(self, name: ast.Name, *, wanted: bool) -> bool:
        """Whether a test around decides that a variable is a tensor, or that it is none."""
        if name.id not in self._asked_for:
            return False
        child: ast.AST = name
        for outer in self._tree.ancestors(name):
            if isinstance(child, ast.stmt) and self._is_left_before(child, name, wanted=wanted):
                return True
            match outer:
                case ast.If(test=test, body=body, orelse=orelse):
                    is_branch = child in body or child in orelse
                    found = is_branch and self._says(test, name, holds=child in body, wanted=wanted)
                case ast.IfExp(test=test):
                    found = child is not test and self._says(test, name, holds=child is outer.body, wanted=wanted)
                case ast.BoolOp(op=operator, values=values):
                    before = values[: values.index(child)] if child in values else []
                    holds = isinstance(operator, ast.And)
                    found = any(self._says(value, name, holds=holds, wanted=wanted) for value in before)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                    return False
                case _:
                    found = False
            if found:
                return True
            child = outer
        return False

    @cached_property
    def _asked_for(self) -> frozenset[str]:
        """The names of the variables that the file asks what they are."""
        questions: list[ast.expr] = [*self._tree.of_type(ast.Call), *self._tree.of_type(ast.Compare)]
        return frozenset(asked[0].id for test in questions if (asked := self._question(test)) is not None)

    def _is_left_before(self, statement: ast.stmt, name: ast.Name, *, wanted: bool) -> bool:
        """Whether a test in front of a statement leaves the block if it holds: ``if is_tensor(x): return x``."""
        return any(
            earlier.lineno < statement.lineno and self._says(earlier.test, name, holds=False, wanted=wanted)
            for earlier in self._leaving_ifs(self._tree.block(statement))
        )

    def _leaving_ifs(self, block: list[ast.stmt]) -> list[ast.If]:
        """The conditions in a block that leave it where they hold."""
        if not block:
            return []
        if block[0] not in self._leaving:
            conditions = [each for each in block if isinstance(each, ast.If) and isinstance(each.body[-1], _LEAVING)]
            self._leaving[block[0]] = conditions
        return self._leaving[block[0]]

    def are_read_either_way(self, name: ast.expr) -> bool:
        """Whether a parameter is read on every path through a function that asks whether it is a tensor: also where it is."""
        bindings = self._code.bindings.reaching(name) if isinstance(name, ast.Name) else ()
        if not isinstance(name, ast.Name) or len(bindings) != 1 or bindings[0].form is not Form.PARAMETER:
            return False
        function = self._tree.function(name)
        if not isinstance(function, FUNCTIONS) or bindings[0].scope.node is not function:
            return False
        return self._is_always_read(name, function) and any(self._asks(use) for use in self._uses(bindings[0], function))

    def _says(self, test: ast.expr, name: ast.Name, *, holds: bool, wanted: bool) -> bool:
        """Whether it follows that a variable is a tensor, or is none, from that a test holds, or does not."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._says(operand, name, holds=not holds, wanted=wanted)
            case ast.BoolOp(op=ast.And(), values=values):
                return holds and any(self._says(value, name, holds=True, wanted=wanted) for value in values)
            case ast.BoolOp(op=ast.Or(), values=values):
                decides = all if holds else any
                return decides(self._says(value, name, holds=holds, wanted=wanted) for value in values)
        asked = self._question(test)
        if asked is None:
            return False
        variable, classes = asked
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
            holds = not holds
        if variable.id != name.id or not _follows(classes, holds=holds, wanted=wanted):
            return False
        return set(self._code.bindings.reaching(variable)) == set(self._code.bindings.reaching(name))

    def _question(self, test: ast.AST | None) -> tuple[ast.Name, list[str]] | None:
        """The variable that a test asks what it is, and the classes that it is held against."""
        match test:
            case ast.Call(func=function, args=[ast.Name() as name]) if self._name(function) == "torch.is_tensor":
                return name, ["torch.Tensor"]
            case ast.Call(func=function, args=[ast.Name() as name, classes]) if self._name(function) == "builtins.isinstance":
                return name, [self._name(part) for part in (classes.elts if isinstance(classes, ast.Tuple) else [classes])]
            case ast.Compare(
                left=ast.Call(func=function, args=[ast.Name() as name]),
                ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()],
                comparators=[asked],
            ) if self._name(function) == "builtins.type":
                return name, [self._name(asked)]
        return None

    def _tested(self, test: ast.AST | None) -> ast.Name | None:
        """The variable that a test asks whether it is a tensor, and nothing else."""
        asked = self._question(test)
        return asked[0] if asked is not None and _follows(asked[1], holds=True, wanted=True) else None

    def _asks(self, use: ast.Name) -> bool:
        """Whether a use asks what the variable is, and does not just insist on it."""
        test = self._tree.parent(use)
        return self._tested(test) is use and not isinstance(self._tree.statement(use), ast.Assert)

    def _uses(self, binding: Binding, function: Function) -> Iterator[ast.Name]:
        return (use for use in binding.uses if self._tree.function(use) is function)

    def _is_always_read(self, name: ast.Name, function: Function) -> bool:
        """Whether nothing comes before the reading that may leave the function, and no condition stands around it."""
        statement = self._tree.statement(name)
        if statement not in function.body or not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return, ast.Expr)):
            return False
        for outer in self._tree.ancestors(name):
            if outer is statement:
                break
            if isinstance(outer, (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)):
                return False
        before = function.body[: function.body.index(statement)]
        return not any(isinstance(part, (ast.Return, ast.Raise, ast.Assert)) for part in walk_body(before))

    def _name(self, node: ast.expr) -> str:
        return self._code.names.qualified(node) or ""


def _follows(classes: list[str], *, holds: bool, wanted: bool) -> bool:
    """Whether it follows that something is a tensor, or none, from that it is of one of some classes, or of none of them."""
    if not holds:
        return not wanted and not _OF_ALL_TENSORS.isdisjoint(classes)
    if wanted:
        return bool(classes) and _TENSOR_CLASSES.issuperset(classes)
    return bool(classes) and all(each in _OTHER_CLASSES or each.startswith(_OTHER_LIBRARIES) for each in classes)
