from __future__ import annotations

import ast
from functools import cached_property
from typing import TypeGuard

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit, combined
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.data_accesses import DATA_SCREEN, Role, accesses, accesses_in, makes_new_value
from torchlint.rules.no_grad_runs import SUSPENDING, NoGradRuns
from torchlint.target import TorchVersion

_CHANGES_FORM = frozenset(
    {
        *("half", "float", "double", "bfloat16", "int", "long", "cuda", "cpu", "to", "type", "type_as", "view", "reshape", "t"),
        *("transpose", "permute", "squeeze", "unsqueeze", "narrow", "expand", "contiguous", "new", "pin_memory", "flatten"),
        *("repeat", "index_select", "gather", "masked_select"),
    }
)
"""Methods whose result has another type, device or shape than the tensor: copying it back would undo what they are for."""


class DataRebind(AstRule):
    """
    ## What it does
    Finds assignments to the `.data` of a tensor: `p.data = value`.

    ## Why is this bad
    The tensor's storage is swapped under autograd and the optimizer. Nothing checks that the new one fits:
    `Linear(2, 2).weight.data = torch.ones(3, 3)` is accepted silently. A value that was saved for the backward pass is
    replaced without notice, and the gradient is wrong.

    ## Example
    ```python
    layer.weight.data = embeddings
    ```

    ## Use instead
    ```python
    with torch.no_grad():
        layer.weight.copy_(embeddings)
    ```

    ## Fix safety
    `p.data = init.normal_(p.data)` becomes `init.normal_(p)`: safe. Else unsafe: `copy_` keeps the parameter's own shape,
    type and device, raises where the shapes do not fit, and no longer shares memory with the value. There is no fix where
    the tensor is given another form (`p.data = p.data.half()`), as the copy would undo it, nor where its old `.data` was
    kept to be put back, as the copy would overwrite what was kept: assign a new `nn.Parameter` to the module, or clone the
    old values.

    ## References
    - [torch.Tensor.copy_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.copy_.html)
    """

    code = "TPL003"
    name = "data-rebind"
    since = TorchVersion(0, 4)
    screen = DATA_SCREEN

    def finish(self) -> None:
        """Reports every assignment to a tensor's `.data`, each with the fix for the whole run of statements it stands in."""
        for access in accesses(self.semantics).values():
            if access.role is Role.REBIND:
                tensor = ast.unparse(access.node.value)
                message = f"`{tensor}.data = …` swaps the tensor's storage unchecked, under autograd and the optimizer"
                self.report(access.node, message, self._fix(self.semantics.tree.statement(access.node), tensor))

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _copied(self) -> dict[ast.stmt, ast.Attribute]:
        """The assignments that `copy_` can stand for, with the `.data` that each is to."""
        return {
            statement: access.node
            for access in accesses(self.semantics).values()
            if access.role is Role.REBIND
            and _is_copied(statement := self.semantics.tree.statement(access.node), access.node)
            and self._initialisation(statement) is None
            and (self._function(access.node), ast.dump(access.node.value)) not in self._kept
        }

    @cached_property
    def _kept(self) -> set[tuple[ast.AST | None, str]]:
        """The tensors, in which function, whose memory is kept elsewhere: copying into it would change what was kept."""
        return {
            (self._function(node), ast.dump(tensor))
            for node in self.semantics.tree.nodes
            if (tensor := _aliased(node)) is not None and self._is_kept(node)
        }

    def _function(self, node: ast.AST) -> ast.AST | None:
        return self.semantics.tree.function(node)

    def _is_kept(self, node: ast.AST) -> bool:
        """Whether ``node`` is given a name or put into a container, as it is."""
        parent = self.semantics.tree.parent(node)
        match parent:
            case ast.Assign(targets=[ast.Attribute(attr="data")]):
                return False  # given to another tensor, which is a finding of its own
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Dict() | ast.DictComp() | ast.ListComp():
                return True
            case ast.Tuple() | ast.List() | ast.IfExp():
                return self._is_kept(parent)
            case ast.Call(func=ast.Attribute(attr="append" | "insert" | "add" | "setdefault")):
                return True
        return False

    def _fix(self, statement: ast.stmt, tensor: str) -> Fix | None:
        if (call := self._initialisation(statement)) is not None:
            return self.fix(f"Initialise `{tensor}` itself", self._initialise(statement, call), safe=True)
        if statement not in self._copied:
            return None
        if self.semantics.no_grad.block(statement):
            return self.fix(f"Copy the value into `{tensor}`", self._copy(statement), safe=False)
        copied = self._copy(statement, ".detach()")
        return self._wrapped(statement) or self.fix(f"Copy the value into `{tensor}`", copied, safe=False)

    def _initialisation(self, statement: ast.stmt) -> ast.Call | None:
        """The call in `p.data = init.normal_(p.data)`, which does it all."""
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr="data", value=tensor)], value=ast.Call(func=function, args=[first, *_]) as call
            ):
                initialised = first.value if _is_data(first) else first
                name = self.semantics.qualified_name(function) or ""
                if name.startswith("torch.nn.init.") and ast.dump(initialised) == ast.dump(tensor):
                    return call
        return None

    def _initialise(self, statement: ast.stmt, call: ast.Call) -> list[TextEdit]:
        edits = [(self.source.start(statement), self.source.start(call), "")]
        first = call.args[0]
        return [*edits, self._rewriter.drop_attribute(first)] if _is_data(first) else edits

    def _wrapped(self, statement: ast.stmt) -> Fix | None:
        """Puts an assignment, with its neighbours, under ``no_grad``."""
        if not self._belongs(statement):
            return None
        run = self._runs.around(statement)
        if run[0] not in self._wrapped_runs:
            wrapping = self._rewriter.wrap_in_no_grad(run)
            copies = (self._copy(part) for member in run for part in ast.walk(member))
            edits = combined(wrapping, *copies) if wrapping is not None else []
            fix = self.fix("Copy the value, under `torch.no_grad()`", edits, safe=False) if edits else None
            self._wrapped_runs[run[0]] = fix
        return self._wrapped_runs[run[0]]

    @cached_property
    def _runs(self) -> NoGradRuns:
        return NoGradRuns(self.semantics, self._rewriter, needs_it=self._belongs, bears_it=lambda _: False)

    @cached_property
    def _wrapped_runs(self) -> dict[ast.stmt, Fix | None]:
        return {}

    def _belongs(self, statement: ast.stmt) -> bool:
        if statement not in self._copied or self.suppressions.covers(self.code, statement.lineno):
            return False
        return not any(isinstance(part, SUSPENDING) for part in ast.walk(statement))

    def _copy(self, statement: ast.AST, receiver: str = "") -> list[TextEdit]:
        """Makes `x.copy_(value)` of `x.data = value`; under ``no_grad``, less each `.data` of the value that is not needed."""
        if not isinstance(statement, ast.Assign) or statement not in self._copied:
            return []
        edits = self._rewriter.call_in_place(self._copied[statement], statement, f"{receiver}.copy_")
        if receiver:
            return edits
        return edits + [
            self._rewriter.drop_attribute(access.node)
            for access in accesses_in(self.semantics, statement)
            if access.role is Role.READ
            and self.semantics.tree.inside(access.node, statement.value)
            and (access.node is statement.value or makes_new_value(self.semantics, access.node))
            and not self.suppressions.covers("TPL002", access.node.lineno)
        ]


def _is_data(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _aliased(node: ast.AST) -> ast.expr | None:
    """The tensor whose memory ``node`` shares: `x` of `x.data` and of `x.detach()`."""
    match node:
        case (
            ast.Attribute(value=tensor, attr="data", ctx=ast.Load()) | ast.Call(func=ast.Attribute(value=tensor, attr="detach"))
        ):
            return tensor
    return None


def _is_copied(statement: ast.stmt, target: ast.Attribute) -> bool:
    """Whether `copy_` can stand for an assignment: to one target, of a value that is not the tensor in another form."""
    if not isinstance(statement, ast.Assign) or statement.targets != [target]:
        return False
    if not any(ast.dump(part) == ast.dump(target.value) for part in ast.walk(statement.value)):
        return True
    match statement.value:
        case ast.Subscript() | ast.Attribute(attr="T" | "mT" | "H" | "mH"):
            return False
        case ast.Call(func=ast.Attribute(attr=method)):
            return method not in _CHANGES_FORM
    return True
