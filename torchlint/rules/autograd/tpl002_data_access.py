from __future__ import annotations

import ast

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.data_accesses import DATA_SCREEN, Access, Role, accesses, makes_new_value, reads_form
from torchlint.semantics import Grad
from torchlint.target import TorchVersion


class DataAccess(AstRule):
    """
    ## What it does
    Finds `.data` read where a tensor without its graph is wanted: `save(fake.data)`, `torch.max(out.data, 1)`.

    ## Why is this bad
    `x.data` shares its memory with `x`, but not its version counter. When the values are later changed in place, through
    either of them, autograd does not notice that what it saved for the backward pass is gone, and gradients are silently
    wrong. `x.detach()` gives the same tensor with the same counter: autograd raises instead.

    ## Example
    ```python
    _, predicted = torch.max(outputs.data, 1)
    ```

    ## Use instead
    ```python
    _, predicted = torch.max(outputs.detach(), 1)
    ```

    ## Fix safety
    Safe: `.detach()` gives the same values without the graph. Where autograd is off, or the tensor has no graph, or only
    its shape, type or device is read, `.data` is just dropped.

    ## References
    - [Migration guide for torch 0.4: what about .data?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL002"
    name = "data-access"
    since = TorchVersion(0, 4)
    screen = DATA_SCREEN
    yields_to = ("TPL009",)

    def finish(self) -> None:
        """Reports every read of `.data` that no other rule is about."""
        rewriter = Rewriter(self.source, self.semantics)
        for access in accesses(self.semantics).values():
            if access.role is Role.READ:
                tensor = ast.unparse(access.node).removesuffix(".data")  # with the parentheses that it needs
                self.report(access.node, self._message(access, tensor), self._fix(rewriter, access, tensor))

    def _message(self, access: Access, tensor: str) -> str:
        if reads_form(self.semantics, access.node):
            return f"`{tensor}.data` where `{tensor}` itself would do: only its form is read, or a number"
        return f"`{tensor}.data` shares memory with `{tensor}`, but hides changes from autograd's checks; use `.detach()`"

    def _fix(self, rewriter: Rewriter, access: Access, tensor: str) -> Fix:
        if self._needs_nothing(access):
            return self.fix(f"Use `{tensor}` itself", [rewriter.drop_attribute(access.node)], safe=True)
        return self.fix(f"Use `{tensor}.detach()`", [rewriter.replace_attribute(access.node, ".detach()")], safe=True)

    def _needs_nothing(self, access: Access) -> bool:
        """Whether `.data` can just go: only the tensor's form is read, or what is made from it has no graph anyway."""
        if reads_form(self.semantics, access.node) or _is_detached(access.node.value):
            return True
        without_graph = access.receiver.grad is Grad.NONE or self.semantics.no_grad.block(access.node)
        return without_graph and makes_new_value(self.semantics, access.node)


def _is_detached(tensor: ast.expr) -> bool:
    match tensor:
        case ast.Call(func=ast.Attribute(attr="detach")):
            return True
    return False
