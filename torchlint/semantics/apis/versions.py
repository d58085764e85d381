"""Code that asks which version of a library it runs on, and then uses what that one has."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, TRIES

_VERSION = re.compile(
    r"__version__|\b(?>\w*?torch)\w*(?:version|\d)|\bpt\w*(?:version|\d)|\b(?>\w*?version)\w*torch"
    r"|is_(?:old|new|legacy)_?torch",
    re.IGNORECASE,
)
_MISSING = frozenset({"ImportError", "ModuleNotFoundError", "AttributeError", "TypeError", "NameError", "Exception"})
_RAISED = frozenset({"RuntimeError"})
_NEWER = frozenset({"item", "detach", "requires_grad_"})
"""What tensors have since torch 0.4, or little longer: asked for by code that is to run before that, too."""
_LEAVING = (ast.Return, ast.Continue)
"""How a statement leaves a block for another answer; one that raises says what the file needs, and has no answer."""
_OF_PYTHON = re.compile(r"^(version_info|(is_?)?py(thon)?_?[23])$", re.IGNORECASE)
"""What is asked for the version of Python."""
_PYTHON_2 = re.compile(r"(is_?)?py(thon)?_?2", re.IGNORECASE)
"""Names of constants that are true where Python 2 runs: `six.PY2`."""
_PYTHON_3 = re.compile(r"(is_?)?py(thon)?_?3", re.IGNORECASE)


class Versions:
    """Tells which code is there for one version of a library."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_asked_for(self, node: ast.AST) -> bool:
        """Whether ``node`` stands behind a question for the version, or where what is newer turned out to be missing."""
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.If(test=test) | ast.IfExp(test=test) if self._asks(test):
                    return True
                case ast.ExceptHandler() if _catches(parent, _MISSING):
                    return True
                case ast.stmt() if self._is_left_over(parent):
                    return True
        return False

    def are_missed(self, node: ast.AST) -> bool:
        """Whether code catches what happens where ``node`` is not there any more, or only raises."""
        child = node
        for parent in self._semantics.tree.ancestors(node):
            if isinstance(parent, TRIES) and child in parent.body:
                if any(_catches(handler, _MISSING | _RAISED) for handler in parent.handlers):
                    return True
            elif isinstance(parent, FUNCTIONS):
                return False
            child = parent
        return False

    def are_of_python_2(self, node: ast.AST) -> bool:
        """Whether only Python 2 runs a node: it stands in the branch of a condition that asks for that version."""
        if not self._semantics.words.match(_OF_PYTHON):
            return False
        child = node
        for parent in self._semantics.tree.ancestors(node):
            match parent:
                case ast.If(test=test, orelse=others) if child is not test:
                    if _asks_for_python_2(test) is (child not in others):
                        return True
                case ast.IfExp(test=test, orelse=other) if child is not test:
                    if _asks_for_python_2(test) is (child is not other):
                        return True
            child = parent
        return False

    def _asks(self, test: ast.expr) -> bool:
        return _VERSION.search(_names(test)) is not None or self._asks_torch(test)

    def _is_left_over(self, statement: ast.stmt) -> bool:
        """Whether a statement is only reached where a question in front of it, in its block, was answered with no."""
        tree = self._semantics.tree
        questions = self._answers.get(tree.parent(statement), ())
        return any(each.lineno < statement.lineno and tree.block(each) is tree.block(statement) for each in questions)

    @cached_property
    def _answers(self) -> dict[ast.AST | None, list[ast.If]]:
        """The questions of which one answer leaves the block, by what that is the block of: mostly there are none."""
        found: dict[ast.AST | None, list[ast.If]] = defaultdict(list)
        for question in self._semantics.tree.of_type(ast.If):
            if isinstance(question.body[-1], _LEAVING) and not question.orelse and self._asks(question.test):
                found[self._semantics.tree.parent(question)].append(question)
        return found

    def _asks_torch(self, test: ast.expr) -> bool:
        """Whether a test is about what a module of torch has, ``hasattr(nn.init, "normal_")``, or what tensors have today."""
        for part in ast.walk(test):
            match part:
                case ast.Call(func=ast.Name(id="hasattr"), args=[asked, *more]):
                    if (self._semantics.qualified_name(asked) or "").startswith("torch"):
                        return True
                    if more and isinstance(more[0], ast.Constant) and more[0].value in _NEWER:
                        return True
        return False


def _catches(handler: ast.ExceptHandler, errors: frozenset[str]) -> bool:
    return handler.type is None or not errors.isdisjoint(_names(handler.type).split())


def _names(node: ast.expr) -> str:
    """The names that an expression is made of."""
    names = [part for part in ast.walk(node) if isinstance(part, (ast.Name, ast.Attribute))]
    return " ".join(name.id if isinstance(name, ast.Name) else name.attr for name in names)


def _asks_for_python_2(test: ast.expr) -> bool | None:
    """Whether a condition holds for Python 2 alone, or, ``False``, for Python 3 alone; ``None`` for others."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            found = _asks_for_python_2(operand)
            return None if found is None else not found
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return True if _PYTHON_2.fullmatch(name) else False if _PYTHON_3.fullmatch(name) else None
        case ast.Compare(left=asked, ops=[operator], comparators=[version]) if _is_version(asked):
            match _major(version), operator:
                case (2, ast.Eq()) | (3, ast.Lt() | ast.NotEq()) | (2, ast.LtE()):
                    return True
                case (3, ast.Eq() | ast.GtE()) | (2, ast.Gt() | ast.NotEq()):
                    return False
    return None


def _is_version(asked: ast.expr) -> bool:
    """Whether something is the version of Python, or its first number: ``sys.version_info[0]``."""
    match asked:
        case ast.Subscript(value=ast.Attribute(attr="version_info") | ast.Name(id="version_info"), slice=part):
            return isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value == 0)
        case ast.Attribute(attr="version_info") | ast.Name(id="version_info"):
            return True
        case ast.Attribute(value=ast.Attribute(attr="version_info") | ast.Name(id="version_info"), attr="major"):
            return True
    return False


def _major(version: ast.expr) -> int | None:
    """The version that something is compared with, if that is a first number alone: ``3``, ``(3,)``, ``(3, 0)``."""
    match version:
        case ast.Constant(value=int(number)):
            return number
        case (
            ast.Tuple(elts=[ast.Constant(value=int(number))])
            | ast.Tuple(elts=[ast.Constant(value=int(number)), ast.Constant(value=0)])
        ):
            return number
    return None
