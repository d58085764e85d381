from __future__ import annotations

import ast
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.rewriting import Rewriter, TextEdit
from torchlint.semantics import Type
from torchlint.semantics.tree import walk_body

_BACKWARD = frozenset({"backward", "manual_backward", "step"})


class Volatile(Rule):
    """
    ## What it does
    Finds `volatile`: `Variable(x, volatile=True)`, `x.volatile = True`.

    ## Why is this bad
    `volatile` was how torch 0.3 turned autograd off for inference. It has no effect since 0.4, but for a warning: the graph
    is built and its activations are kept, so evaluation takes the memory of training.

    ## Example
    ```python
    for x, y in test_loader:
        x = Variable(x, volatile=True)
        correct += count(model(x), y)
    ```

    ## Use instead
    ```python
    with torch.no_grad():
        for x, y in test_loader:
            correct += count(model(x), y)
    ```

    ## Fix safety
    Unsafe: the code that uses the value, as far as the fix finds it, is put into `with torch.no_grad():` (the loop, or
    the rest of the block, unless something is back-propagated there), which turns autograd off for everything there.

    ## References
    - [Migration guide for torch 0.4: what about volatile?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL103"
    name = "volatile"
    screen = Screen(any_of=(b"volatile",))

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Reports the keyword where it is given to Variable."""
        call = self.semantics.tree.parent(node)
        if node.arg == "volatile" and isinstance(call, ast.Call) and self._is_variable(call):
            drop = self._rewriter.delete_argument(call, node)
            self.report(node, self._message, self._fix(call, node.value, drop))

    def visit_Assign(self, node: ast.Assign) -> None:
        """Reports the attribute where it is set on a tensor."""
        match node.targets:
            case [ast.Attribute(attr="volatile", value=owner)] if self._may_be_tensor(owner):
                drop = self._rewriter.delete_statement(node)
                self.report(node, self._message, self._fix(node, node.value, drop))

    _message = "`volatile` has no effect since torch 0.4: the graph is built; use `torch.no_grad()`"

    def _is_variable(self, call: ast.Call) -> bool:
        name = self.semantics.qualified_name(call.func)
        return name == "torch.autograd.Variable"

    def _may_be_tensor(self, owner: ast.expr) -> bool:
        kind = self.semantics.kind(owner)
        return kind.is_tensor or (kind.type is Type.UNKNOWN and self.semantics.facts.self_class(owner) is None)

    # --- where autograd goes off -------------------------------------------------------------------------------------

    def _fix(self, node: ast.Call | ast.Assign, flag: ast.expr, drop: TextEdit) -> Fix:
        message = "Drop `volatile`"
        if (isinstance(flag, ast.Constant) and not flag.value) or self.semantics.no_grad.block(node):
            return self.fix(message, [drop], safe=isinstance(flag, ast.Constant))
        mode = self._mode(flag)
        statement = self.semantics.tree.statement(node)
        if mode is not None and not isinstance(statement, ast.Return):
            wrapping = self._wrapping(statement, mode)
            if wrapping is not None:
                return self.fix(f"{message} and use `torch.{mode}`", [drop, *wrapping], safe=False)
        return self.fix(message, [drop], safe=False)

    @staticmethod
    def _mode(flag: ast.expr) -> str | None:
        """The context manager that does what ``volatile=flag`` did."""
        match flag:
            case ast.Constant():
                return "no_grad()"
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as operand):
                return f"set_grad_enabled({ast.unparse(operand)})"
            case ast.Name() | ast.Attribute():
                return f"set_grad_enabled(not {ast.unparse(flag)})"
        return None

    def _wrapping(self, statement: ast.stmt, mode: str) -> list[TextEdit] | None:
        loop = next(self.semantics.tree.loops(statement), None)
        if loop is not None and not self._trains([loop]):
            return self._rewriter.wrap_in_no_grad([loop], mode)
        block = self.semantics.tree.block(statement)
        first = next(position for position, part in enumerate(block) if self._holds_volatile(part))
        rest = block[first:]
        if isinstance(statement, ast.Assign) and statement in rest and _is_flag(statement):
            rest = block[block.index(statement) + 1 :]
        if rest and not self._trains(rest) and not any(isinstance(part, (ast.FunctionDef, ast.ClassDef)) for part in rest):
            return self._rewriter.wrap_in_no_grad(rest, mode)
        return self._around_uses(statement, mode)

    def _trains(self, statements: list[ast.stmt]) -> bool:
        return any(
            isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _BACKWARD
            for part in walk_body(statements)
        )

    @cached_property
    def _volatile_statements(self) -> set[ast.stmt]:
        return {
            self.semantics.tree.statement(node)
            for node in self.semantics.tree.nodes
            if (isinstance(node, ast.keyword) and node.arg == "volatile") or (isinstance(node, ast.Assign) and _is_flag(node))
        }

    def _holds_volatile(self, statement: ast.stmt) -> bool:
        return statement in self._volatile_statements

    def _around_uses(self, statement: ast.stmt, mode: str) -> list[TextEdit] | None:
        """Wraps each statement that computes something from the names that ``statement`` binds."""
        edits: list[TextEdit] = []
        names = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
        for name in names:
            binding = self.semantics.bindings.of(name)
            for use in binding.uses if binding is not None else []:
                user = self.semantics.tree.statement(use)
                if not isinstance(user, (ast.Assign, ast.Expr)) or self._trains([user]) or self.semantics.no_grad.block(user):
                    continue
                if not any(isinstance(part, ast.Call) for part in ast.walk(user)) or self._holds_volatile(user):
                    continue
                edits.extend(edit for edit in self._rewriter.wrap_in_no_grad([user], mode) or [] if edit not in edits)
        return edits or None


def _is_flag(statement: ast.Assign) -> bool:
    match statement.targets:
        case [ast.Attribute(attr="volatile")]:
            return True
    return False
