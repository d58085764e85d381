from __future__ import annotations

import ast
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.data_accesses import Access, Means, Role, accesses
from torchlint.rules.rewriting import Rewriter
from torchlint.semantics import Grad
from torchlint.semantics.tree import COMPREHENSIONS


class DataMutation(Rule):
    """
    ## What it does
    Finds tensors that are changed through their `.data`: `w.data *= 3`, `w.data.sub_(lr * w.grad)`, `w.data[i] = v`,
    `init.normal_(w.data)`, and changes through a local name, `c = out.data` and later `c.zero_()`.

    ## Why is this bad
    `x.data` shares its memory with `x` but has a version counter of its own. Autograd saves values for the backward pass
    and checks by that counter that nobody changed them; a change through `.data` goes unseen, and the backward pass
    computes gradients from the wrong values, silently.

    ## Example
    ```python
    out = a.sigmoid()
    out.data.zero_()
    out.sum().backward()  # a.grad is all zeros, no error
    ```

    ## Use instead
    ```python
    out = a.sigmoid()
    with torch.no_grad():
        out.zero_()
    out.sum().backward()  # raises: a value needed for backward was modified
    ```

    ## Fix safety
    Where autograd is off already, and for a gradient, `.data` is dropped. Elsewhere the statement is put into
    `with torch.no_grad():`, together with its neighbours. Both are safe for parameters, other leaves and tensors without
    grad. For the result of an operation the fix is unsafe: the backward pass may now raise, which is the point.

    ## References
    - [Extending autograd: in-place correctness checks](https://docs.pytorch.org/docs/stable/notes/autograd.html)
    - [Migration guide for torch 0.4: what about .data?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL001"
    name = "data-mutation"
    screen = Screen(any_of=(b".data",))

    def finish(self) -> None:
        """Reports every mutation, each with the fix for the whole run of statements it stands in."""
        for access in self._mutations:
            if access.means is Means.ALIAS:
                self._report_alias(access)
            else:
                assert access.change is not None
                self.report(access.change, self._message(access), self._fix(access))

    @cached_property
    def _mutations(self) -> list[Access]:
        return [access for access in accesses(self.semantics).values() if access.role is Role.MUTATION]

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def _message(self, access: Access) -> str:
        tensor = ast.unparse(access.node.value)
        if access.means is Means.INITIALISER:
            return f"`{tensor}.data` is initialised behind autograd's back; the initialisers take `{tensor}` itself"
        return f"`{tensor}` is changed through `.data`, which autograd does not notice: gradients may silently be wrong"

    # --- through a name ----------------------------------------------------------------------------------------------

    def _report_alias(self, access: Access) -> None:
        tensor = ast.unparse(access.node.value)
        safe = access.receiver.grad in (Grad.LEAF, Grad.NONE)
        edits = [self._rewriter.replace_attribute(access.node, ".detach()")]
        fix = self.fix(f"Take the alias with `{tensor}.detach()`, whose changes autograd notices", edits, safe=safe)
        for change in access.changes:
            name = ast.unparse(next(part for part in ast.walk(change) if isinstance(part, ast.Name)))
            message = (
                f"`{tensor}` is changed through `{name}`, its `.data` from line {access.node.lineno}, "
                "which autograd does not notice: gradients may silently be wrong"
            )
            self.report(change, message, fix)

    # --- in place ----------------------------------------------------------------------------------------------------

    def _fix(self, access: Access) -> Fix:
        tensor = ast.unparse(access.node.value)
        if self._needs_no_wrapping(access):
            return self.fix(f"Change `{tensor}` itself", [self._rewriter.drop_attribute(access.node)], safe=self._is_safe(access))
        group = self._group(self.semantics.tree.statement(access.node)) if self._is_whole_statement(access) else []
        if group:
            wrapping = self._rewriter.wrap_in_no_grad(group)
            if wrapping is not None:
                inside = [found for found in self._mutations if self._is_fixed_with(found, group)]
                drops = [self._rewriter.drop_attribute(found.node) for found in inside]
                message = f"Change `{tensor}` itself, under `torch.no_grad()`"
                return self.fix(message, wrapping + drops, safe=all(self._is_safe(found) for found in inside))
        edits = [self._rewriter.replace_attribute(access.node, ".detach()")]
        return self.fix(f"Change `{tensor}.detach()`, which autograd notices", edits, safe=self._is_safe(access))

    def _needs_no_wrapping(self, access: Access) -> bool:
        if access.means is Means.INITIALISER or self.semantics.no_grad.block(access.node):
            return True
        return access.receiver.grad is Grad.NONE

    @staticmethod
    def _is_safe(access: Access) -> bool:
        return access.receiver.grad in (Grad.LEAF, Grad.NONE)

    def _is_whole_statement(self, access: Access) -> bool:
        """Whether the mutation is all that its statement is there for, so that turning autograd off changes nothing else."""
        statement = self.semantics.tree.statement(access.node)
        match statement:
            case ast.Expr(value=value):
                return value is access.change
            case ast.Assign(targets=[target]):
                return target is access.change
            case ast.AugAssign(target=target):
                return target is access.change
        return False

    def _is_fixed_with(self, access: Access, group: list[ast.stmt]) -> bool:
        if access.means in (Means.ALIAS, Means.INITIALISER) or self.suppressions.covers(self.code, access.node.lineno):
            return False
        if any(isinstance(parent, COMPREHENSIONS) for parent in self.semantics.tree.ancestors(access.node)):
            return False
        return any(self.semantics.tree.inside(access.node, statement) for statement in group) and not self._needs_no_wrapping(access)

    # --- the statements that share a block ---------------------------------------------------------------------------

    def _group(self, statement: ast.stmt) -> list[ast.stmt]:
        """The run of neighbouring statements around ``statement`` that mutate through ``.data`` and nothing else.

        A loop or condition all of whose body does so counts as one such statement.
        """
        outermost = statement
        for parent in self.semantics.tree.ancestors(statement):
            if isinstance(parent, ast.stmt) and self._only_mutates(parent):
                outermost = parent
            else:
                break
        block = self.semantics.tree.block(outermost)
        first = last = block.index(outermost)
        while first > 0 and self._only_mutates(block[first - 1]) and self._rewriter.stands_alone(block[first - 1]):
            first -= 1
        while last + 1 < len(block) and self._only_mutates(block[last + 1]) and self._rewriter.stands_alone(block[last + 1]):
            last += 1
        return block[first : last + 1]

    def _only_mutates(self, statement: ast.stmt) -> bool:
        match statement:
            case ast.For(orelse=[], body=body):
                return all(self._only_mutates(part) for part in body)
            case ast.If(test=test, orelse=[], body=body):
                return _is_plain(test) and all(self._only_mutates(part) for part in body)
        return statement in self._wrappable

    @cached_property
    def _wrappable(self) -> set[ast.stmt]:
        return {
            self.semantics.tree.statement(access.node)
            for access in self._mutations
            if self._is_whole_statement(access)
            and not self._needs_no_wrapping(access)
            and not self.suppressions.covers(self.code, access.node.lineno)
        }


def _is_plain(test: ast.expr) -> bool:
    """Whether a condition computes nothing that autograd could record."""
    return not any(isinstance(part, (ast.Call, ast.BinOp, ast.NamedExpr, ast.Await)) for part in ast.walk(test)) or (
        isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id in ("isinstance", "hasattr")
    )


