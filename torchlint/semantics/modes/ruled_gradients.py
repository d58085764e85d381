"""Where something around code decides whether autograd is on, in a way that is not certain."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import FUNCTIONS

_RULES_GRADIENTS = re.compile(r"(?<!auto)grad|infer|eval_mode|evaluating|volatile", re.IGNORECASE)
"""What contexts and decorators are called that may turn autograd off."""
_DEPTH = 3
"""So many names are followed to what a context is."""


class RuledGradients:
    """Tells of places in the code whether a context, a decorator or the file as a whole may turn autograd off there.

    A context is asked for its own words, and a name for what is bound to it: ``enable_grad() if train else no_grad()``.
    One that a function is given is its callers' business.
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are_ruled_at(self, node: ast.AST) -> bool:
        """Whether something around ``node``, or the file as a whole, may turn autograd off in a way that is not certain."""
        if self._is_switched_in_file:
            return True
        for parent in self._tree.ancestors(node):
            match parent:
                case ast.With() | ast.AsyncWith():
                    if any(self._may_rule(item.context_expr) for item in parent.items) or self._is_entered_in(parent):
                        return True
                case ast.FunctionDef(decorator_list=decorators) | ast.AsyncFunctionDef(decorator_list=decorators):
                    if any(map(self._may_rule, decorators)):
                        return True
        return False

    def _may_rule(self, context: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a context manager, or a decorator, speaks of gradients, or what it is bound to does."""
        if _RULES_GRADIENTS.search(ast.unparse(context)):
            return True
        target = context.func if isinstance(context, ast.Call) else context
        return depth > 0 and any(self._is_ruling(each, depth - 1) for each in self._meant(target))

    def _is_ruling(self, meant: ast.AST | None, depth: int) -> bool:
        """Whether what a name stands for may turn autograd off; ``None`` is what callers give."""
        if meant is None:
            return True
        if isinstance(meant, (*FUNCTIONS, ast.ClassDef)):
            return any(_RULES_GRADIENTS.search(word) for word in _words(meant))
        return isinstance(meant, ast.expr) and self._may_rule(meant, depth)

    def _meant(self, target: ast.expr) -> Iterator[ast.AST | None]:
        """What a name or an attribute stands for, as far as the file shows."""
        match target:
            case ast.Name():
                for binding in self._semantics.bindings.reaching(target):
                    if binding.form is Form.PARAMETER:
                        yield None
                    yield binding.value if binding.value is not None else binding.node
            case ast.Attribute(attr=name):
                if (definition := self._semantics.kind(target).definition) is not None:
                    yield definition
                for assignment in self._tree.of_type(ast.Assign):
                    if any(isinstance(each, ast.Attribute) and each.attr == name for each in assignment.targets):
                        yield assignment.value

    def _is_entered_in(self, block: ast.With | ast.AsyncWith) -> bool:
        """Whether a stack of contexts is opened by a block, and one is put on it that may turn autograd off."""
        entered = self._semantics.facts.calls.get("enter_context", ())
        return any(block in self._tree.ancestors(call) and any(map(self._may_rule, call.args)) for call in entered)

    @cached_property
    def _is_switched_in_file(self) -> bool:
        """Whether the file turns autograd off, or on and off, by a statement that holds from there on."""
        calls = self._semantics.facts.calls.get("set_grad_enabled", ())
        return any(isinstance(self._around_choices(call), ast.Expr) for call in calls)

    def _around_choices(self, call: ast.Call) -> ast.AST | None:
        """What a call stands in, less the expressions that choose whether it is run: ``on() if train else off()``."""
        around = self._tree.parent(call)
        while isinstance(around, (ast.IfExp, ast.BoolOp)):
            around = self._tree.parent(around)
        return around


def _words(definition: ast.AST) -> Iterable[str]:
    """The names that the code of a definition speaks of."""
    for part in ast.walk(definition):
        match part:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
