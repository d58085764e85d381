"""Where autograd is off."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics.code import Code
from torchlint.semantics.code.definitions import LIGHTNING
from torchlint.semantics.code.tree import FUNCTIONS, Function, is_false

NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode"})
_EVALUATION_HOOK = re.compile(
    r"(validation|test|predict)_(step(_end)?|epoch_end)|(validation|test)_end|on_(validation|test|predict)_\w+"
)
"""Methods that Lightning's trainer calls from its loops of evaluation, each of which runs with autograd off as a whole.

`validation_end` and `test_end` are those of its versions before 1.0.

Source: ``_no_grad_context`` around ``run`` in lightning.pytorch.loops, evaluation_loop and prediction_loop.
"""


class NoGrad:
    """Tells whether code runs with autograd off."""

    def __init__(self, code: Code) -> None:
        self._tree = code.tree
        self._names = code.names
        self._definitions = code.definitions
        self._functions: dict[Function, bool] = {}
        self._covered: dict[ast.AST, bool] = {}

    def covers(self, node: ast.AST) -> bool:
        """Whether ``node`` is evaluated with autograd off: in a ``no_grad`` block, a decorated function, one called there."""
        passed: list[ast.AST] = []
        covered = False
        child = node
        for parent in self._tree.ancestors(node):
            if child in self._covered:
                covered = self._covered[child]
                break
            passed.append(child)
            mode = self._mode_in(parent, child)
            if mode is not None:
                covered = not mode
                break
            child = parent
        for part in passed:
            self._covered[part] = covered
        return covered

    def _mode_in(self, parent: ast.AST, child: ast.AST) -> bool | None:
        """The grad mode that ``parent`` evaluates its part ``child`` in; ``None`` where that is the mode around it."""
        if isinstance(parent, (ast.With, ast.AsyncWith)) and isinstance(child, ast.stmt):
            return self._switch(parent)
        if isinstance(parent, FUNCTIONS) and isinstance(child, ast.stmt):
            mode = self._switched(child, parent.body)
            return mode if mode is not None else not (self._function(parent) or self._is_run_after_switch(parent))
        if isinstance(parent, ast.Lambda):
            return True
        if isinstance(parent, ast.Module) and isinstance(child, ast.stmt):
            return self._switched(child, parent.body) is not False
        if self._switches and isinstance(parent, (ast.If, ast.For, ast.While, ast.Try)) and isinstance(child, ast.stmt):
            return self._switched(child, parent.orelse if child in parent.orelse else parent.body)
        return None

    def block(self, node: ast.AST) -> bool:
        """Whether ``node`` stands in a ``with`` block, or a decorated function, that turns autograd off."""
        for frame, child in self._tree.frames(node):
            if isinstance(frame, (ast.With, ast.AsyncWith)) and isinstance(child, ast.stmt) and self._switch(frame) is False:
                return True
            if isinstance(frame, FUNCTIONS) and isinstance(child, ast.stmt):
                return self.decorated(frame)
        return False

    def _switch(self, statement: ast.With | ast.AsyncWith) -> bool | None:
        """What a with statement makes of grad mode; ``None`` if it does not touch it."""
        states = [self.grad_mode(item.context_expr) for item in statement.items]
        return next((state for state in reversed(states) if state is not None), None)

    def grad_mode(self, node: ast.expr) -> bool | None:
        """What a context manager makes of grad mode: ``torch.no_grad()`` turns it off, ``enable_grad()`` on."""
        if not isinstance(node, ast.Call):
            return None
        name = self._names.qualified(node.func)
        if name in NO_GRAD:
            flag = node.args[0] if node.args else None
            return is_false(flag)
        if name == "torch.enable_grad":
            return True
        if name == "torch.set_grad_enabled" and node.args and isinstance(node.args[0], ast.Constant):
            return bool(node.args[0].value)
        return None

    def decorated(self, function: Function) -> bool:
        """Whether a decorator runs the function with autograd off."""
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            if self._names.qualified(target) in NO_GRAD:
                return True
            if isinstance(decorator, ast.Call) and self.grad_mode(decorator) is False:
                return True
        return False

    def _function(self, function: Function) -> bool:
        """Whether a function is decorated, run by a trainer with autograd off, or called where it is off alone in the file."""
        if function not in self._functions:
            self._functions[function] = False
            self._functions[function] = (
                self.decorated(function) or self._is_evaluation_hook(function) or self._only_called_without_grad(function)
            )
        return self._functions[function]

    def _is_evaluation_hook(self, function: Function) -> bool:
        """Whether Lightning's trainer calls a method to evaluate, and nothing in the file calls it with autograd on."""
        owner = self._tree.parent(function)
        return (
            isinstance(owner, ast.ClassDef)
            and _EVALUATION_HOOK.fullmatch(function.name) is not None
            and self._definitions.derives_from(owner, *LIGHTNING)
            and all(self.covers(call) for call in self._definitions.calls.get(function.name, ()))
        )

    def _only_called_without_grad(self, function: Function) -> bool:
        """Whether all calls in the file of a function, or of anything that may be it by its name, run with autograd off."""
        is_method = isinstance(self._tree.parent(function), ast.ClassDef)
        mentions = (
            call for call in self._definitions.calls.get(function.name, ()) if is_method or isinstance(call.func, ast.Name)
        )
        return bool(self._definitions.call_sites(function)) and all(self.covers(call) for call in mentions)

    def _switched(self, statement: ast.AST, body: list[ast.stmt]) -> bool | None:
        """The mode that ``torch.set_grad_enabled(…)`` set as a statement before ``statement``, in the same body."""
        mode: bool | None = None
        if not self._switches:
            return mode
        for earlier in body:
            if earlier is statement:
                return mode
            mode = self._set_by(earlier, mode)
        return None

    def _set_by(self, statement: ast.stmt, mode: bool | None) -> bool | None:
        """The mode behind a statement; ``mode`` where it sets none."""
        state = self._grad_statement(statement.value) if isinstance(statement, ast.Expr) else None
        return mode if state is None else state

    def _is_run_after_switch(self, function: Function) -> bool:
        """Whether autograd was turned off for good before: by the file as it is imported, or by the object's constructor.

        Where the file back-propagates, it was not for good.
        """
        if not self._switches or "backward" in self._definitions.calls:
            return False
        around = self._tree.parent(function)
        if isinstance(around, ast.ClassDef) and function.name != "__init__":
            constructors = (each for each in around.body if isinstance(each, FUNCTIONS) and each.name == "__init__")
            if any(self._left_off(each.body) for each in constructors):
                return True
        return function.name not in self._definitions.calls and self._left_off(self._tree.module.body)

    def _left_off(self, body: list[ast.stmt]) -> bool:
        """Whether autograd is off at the end of some statements because one of them turned it off."""
        mode: bool | None = None
        for statement in body:
            mode = self._set_by(statement, mode)
        return mode is False

    def _grad_statement(self, node: ast.expr) -> bool | None:
        if isinstance(node, ast.Call) and self._names.qualified(node.func) == "torch.set_grad_enabled":
            return self.grad_mode(node)
        return None

    @cached_property
    def _switches(self) -> bool:
        return "set_grad_enabled" in self._definitions.calls
