from __future__ import annotations

import ast

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.data_accesses import Access, Role, accesses
from torchlint.rules.rewriting import Rewriter
from torchlint.semantics import Grad

_ABOUT_THE_TENSOR = frozenset(
    {
        *("shape", "size", "dim", "ndim", "numel", "nelement", "dtype", "device", "is_cuda", "layout", "get_device", "element_size"),
        *("data_ptr", "is_contiguous", "stride", "is_floating_point", "tolist", "item"),
    }
)
"""What reads the same from a tensor and from its ``.data`` and never takes part in the graph."""


class DataAccess(Rule):
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
    screen = Screen(any_of=(b".data",))

    def finish(self) -> None:
        """Reports every read of `.data` that no other rule is about."""
        for access in accesses(self.semantics).values():
            if access.role is Role.READ:
                tensor = ast.unparse(access.node.value)
                message = f"`{tensor}.data` hides later changes from autograd's checks"
                self.report(access.node, message, self._fix(access, tensor))

    def _fix(self, access: Access, tensor: str) -> Fix:
        rewriter = Rewriter(self.source, self.semantics)
        if self._needs_nothing(access):
            return self.fix(f"Use `{tensor}` itself", [rewriter.drop_attribute(access.node)], safe=True)
        return self.fix(f"Use `{tensor}.detach()`", [rewriter.replace_attribute(access.node, ".detach()")], safe=True)

    def _needs_nothing(self, access: Access) -> bool:
        """Whether `.data` can just go: only the tensor's form is read, or what is made from it has no graph anyway."""
        parent = self.semantics.tree.parent(access.node)
        if isinstance(parent, ast.Attribute) and parent.attr in _ABOUT_THE_TENSOR:
            return True
        computed_from = isinstance(parent, (ast.BinOp, ast.Compare, ast.UnaryOp, ast.Attribute)) or (
            isinstance(parent, ast.Call) and (self.semantics.qualified_name(parent.func) or "").startswith("torch.")
        )
        return computed_from and (access.receiver.grad is Grad.NONE or self.semantics.no_grad.block(access.node))
