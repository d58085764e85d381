from __future__ import annotations

import ast
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit, combined
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.data_accesses import DATA_SCREEN, Access, Change, Means, Role, accesses, accesses_in, makes_new_value
from torchlint.rules.no_grad_runs import SUSPENDING, NoGradRuns
from torchlint.semantics import Grad
from torchlint.target import TorchVersion

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
    ast.FloorDiv: "floor_divide_",
    ast.Mod: "remainder_",
    ast.Pow: "pow_",
    ast.BitAnd: "bitwise_and_",
    ast.BitOr: "bitwise_or_",
    ast.BitXor: "bitwise_xor_",
    ast.LShift: "bitwise_left_shift_",
    ast.RShift: "bitwise_right_shift_",
}
"""The methods that do what augmented assignments do."""


class DataMutation(AstRule):
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
    since = TorchVersion(0, 4)
    screen = DATA_SCREEN

    def finish(self) -> None:
        """Reports every mutation, each with the fix for the whole run of statements it stands in."""
        for access in self._mutations:
            fix = self._fix(access)
            for change in access.changes:
                self.report(change.node, self._message(access, change), fix)

    @cached_property
    def _mutations(self) -> list[Access]:
        return [access for access in accesses(self.semantics).values() if access.role is Role.MUTATION]

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def _message(self, access: Access, change: Change) -> str:
        tensor = ast.unparse(access.node.value)
        if access.means is Means.ALIAS:
            way = f"`{_root(change.node)}`, its `.data` from line {access.node.lineno}"
        else:
            way = "`.data`"
        if access.means is Means.INITIALISER:
            return f"`{tensor}` is initialised through {way}, behind autograd's back; the initialisers take `{tensor}` itself"
        if _is_gradient(access.node.value):
            return f"`{tensor}` is changed through {way}, unseen by autograd; a gradient can be changed itself"
        return f"`{tensor}` is changed through {way}, which autograd does not notice: gradients may silently be wrong"

    @cached_property
    def _runs(self) -> dict[bool, NoGradRuns]:
        """The runs of statements whose fix is safe, and those of the others."""
        return {safe: self._runs_of(safe) for safe in (True, False)}

    def _runs_of(self, safe: bool) -> NoGradRuns:
        return NoGradRuns(
            self.semantics,
            self._rewriter,
            needs_it=lambda statement: self._wrappable.get(statement) is safe,
            bears_it=lambda statement: statement in self._bare,
        )

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _fix(self, access: Access) -> Fix:
        tensor = ast.unparse(access.node.value)
        safe = _is_safe(access)
        if access not in self._droppable:
            return self.fix(f"Change `{tensor}.detach()`, which autograd notices", self._detach(access), safe=safe)
        if self._needs_no_wrapping(access):
            return self.fix(f"Change `{tensor}` itself", self._drop(access), safe=safe)
        wrapped = self._wrapped(self._runs[safe].around(self.semantics.tree.statement(access.node)), safe)
        return wrapped or self.fix(f"Change `{tensor}.detach()`, which autograd notices", self._detach(access), safe=safe)

    def _wrapped(self, run: list[ast.stmt], safe: bool) -> Fix | None:
        """Puts a run of statements under ``no_grad``, less each ``.data`` that is not needed there."""
        if run[0] not in self._wrapped_runs:
            wrapping = self._rewriter.wrap_in_no_grad(run)
            parts = (part for member in run for part in ast.walk(member))
            drops = (self._drop_within(found) for part in parts for found in accesses_in(self.semantics, part))
            edits = combined(wrapping, *drops) if wrapping is not None else []
            fix = self.fix("Leave `.data` out, under `torch.no_grad()`", edits, safe=safe) if edits else None
            self._wrapped_runs[run[0]] = fix
        return self._wrapped_runs[run[0]]

    @cached_property
    def _wrapped_runs(self) -> dict[ast.stmt, Fix | None]:
        return {}

    def _detach(self, access: Access) -> list[TextEdit]:
        """Replaces ``.data`` by ``.detach()``."""
        statement = self.semantics.tree.statement(access.node)
        if access.means is Means.AUGMENTED and isinstance(statement, ast.AugAssign):
            return self._rewriter.call_in_place(access.node, statement, f".detach().{_OPERATORS[type(statement.op)]}")
        return [self._rewriter.replace_attribute(access.node, ".detach()")]

    def _drop(self, access: Access) -> list[TextEdit]:
        """Leaves ``.data`` out; where the tensor cannot be assigned to, an augmented assignment becomes a method call."""
        statement = self.semantics.tree.statement(access.node)
        if (
            access.means is Means.AUGMENTED
            and isinstance(statement, ast.AugAssign)
            and not self._is_assignable(access.node.value)
        ):
            return self._rewriter.call_in_place(access.node, statement, f".{_OPERATORS[type(statement.op)]}")
        return [self._rewriter.drop_attribute(access.node)]

    def _drop_within(self, access: Access) -> list[TextEdit]:
        """Leaves out a ``.data`` that is needed no more once its statement is under ``no_grad``."""
        if access in self._droppable:
            return self._drop(access)
        is_in_mutation = self.semantics.tree.statement(access.node) in self._wrappable and access.role is Role.READ
        if is_in_mutation and makes_new_value(self.semantics, access.node) and not self._is_suppressed(access):
            return [self._rewriter.drop_attribute(access.node)]
        return []

    def _is_assignable(self, tensor: ast.expr) -> bool:
        """Whether ``tensor += x`` works: not on a call or an item, nor on a name of an outer scope."""
        if isinstance(tensor, ast.Name):
            scope = self.semantics.bindings.scope_of(tensor)
            return tensor.id in scope.bindings or tensor.id in scope.outer_names
        return isinstance(tensor, ast.Attribute)

    def _is_droppable(self, access: Access) -> bool:
        """Whether the mutation stays the same without ``.data``, once autograd is off."""
        if access.means is Means.INITIALISER:
            change = access.changes[0].node
            return isinstance(change, ast.Call) and change.args[0] is access.node
        if access.means not in (Means.METHOD, Means.STORE, Means.AUGMENTED):
            return False
        return self._is_whole_statement(access)

    def _is_whole_statement(self, access: Access) -> bool:
        """Whether the mutation is all that its statement is there for, so that turning autograd off changes nothing else."""
        statement = self.semantics.tree.statement(access.node)
        if any(isinstance(part, SUSPENDING) for part in ast.walk(statement)):
            return False
        match statement:
            case ast.Expr(value=change) | ast.Assign(targets=[change]) | ast.AugAssign(target=change):
                return change is access.changes[0].node
        return False

    def _needs_no_wrapping(self, access: Access) -> bool:
        """Whether autograd records nothing when ``.data`` is left out."""
        if access.means is Means.INITIALISER or self.semantics.no_grad.block(access.node):
            return True
        return access.receiver.grad is Grad.NONE and not self._may_take_graph(
            self.semantics.tree.statement(access.node), access
        )

    def _may_take_graph(self, statement: ast.stmt, access: Access) -> bool:
        """Whether a tensor without grad would become part of a graph by a value that ``statement`` puts into it."""
        values: list[ast.expr] = []
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            values.append(statement.value)
        for part in ast.walk(statement):
            if isinstance(part, ast.Call) and self.semantics.tree.inside(access.node, part.func):
                values += [*part.args, *(word.value for word in part.keywords)]
        return any(self._may_carry_graph(value) for value in values)

    def _may_carry_graph(self, value: ast.expr) -> bool:
        kind = self.semantics.kind(value)
        if kind.is_tensor:
            return kind.grad is not Grad.NONE
        return not kind.known

    @cached_property
    def _wrappable(self) -> dict[ast.stmt, bool]:
        """The statements that go under ``no_grad``, and whether that is safe."""
        return {
            self.semantics.tree.statement(access.node): _is_safe(access)
            for access in self._mutations
            if access in self._droppable and not self._needs_no_wrapping(access)
        }

    @cached_property
    def _bare(self) -> set[ast.stmt]:
        """The statements that are fixed without ``no_grad``, and may stand under it."""
        return {
            self.semantics.tree.statement(access.node)
            for access in self._droppable
            if self._needs_no_wrapping(access) and self._is_whole_statement(access)
        }

    @cached_property
    def _droppable(self) -> set[Access]:
        return {access for access in self._mutations if self._is_droppable(access) and not self._is_suppressed(access)}

    def _is_suppressed(self, access: Access) -> bool:
        code = self.code if access.role is Role.MUTATION else "TPL002"
        return self.suppressions.covers(code, access.node.lineno)


def _is_safe(access: Access) -> bool:
    """Whether nothing that works today may raise or change: what is initialised is a parameter, not a result."""
    return access.receiver.grad in (Grad.LEAF, Grad.NONE) or access.means is Means.INITIALISER


def _is_gradient(tensor: ast.expr) -> bool:
    return isinstance(tensor, ast.Attribute) and tensor.attr == "grad"


def _root(node: ast.expr) -> str:
    """The name that a change is made through: ``c`` of ``c[0].zero_()``."""
    while not isinstance(node, ast.Name):
        match node:
            case ast.Attribute(value=value) | ast.Subscript(value=value):
                node = value
            case ast.Call(func=ast.Attribute(value=value)) if not isinstance(value, ast.Name) or value.id != "torch":
                node = value
            case ast.Call(args=[first, *_]):
                node = first
            case _:
                return ast.unparse(node)
    return node.id
