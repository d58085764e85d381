from __future__ import annotations

import libcst as cst

from torchlint.fact import NOTHING
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import method_call
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Attribute
from torchlint.semantics import Grad, Kind
from torchlint.semantics.data.roles import Role
from torchlint.target import TorchVersion


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
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Attribute("data"),)
    yields_to = ("TPL009",)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a read of `.data` that no other rule is about."""
        access = self.model.data.access(node) if node.attr.value == "data" else None
        if access is None or access.role is not Role.READ:
            return
        tensor = self.model.shown(node).removesuffix(".data")  # with the parentheses that it needs
        message = f"`{tensor}.data` shares memory with `{tensor}`, but hides changes from autograd's checks; use `.detach()`"
        if self.model.memory.reads_form(node):
            message = f"`{tensor}.data` where `{tensor}` itself would do: only its form is read, or a number"
        self.report(node, message, self._fix(node, access.receiver, tensor))

    def _fix(self, node: cst.Attribute, receiver: Kind, tensor: str) -> CodeFix:
        if self._is_needless(node, receiver):
            return fix(f"Use `{tensor}` itself", replace(node, node.value), rests_on=NOTHING)
        return fix(f"Use `{tensor}.detach()`", replace(node, method_call(node, "detach")), rests_on=NOTHING)

    def _is_needless(self, node: cst.Attribute, receiver: Kind) -> bool:
        """Whether `.data` can just go: only the tensor's form is read, or what is made from it has no graph anyway."""
        match node.value:
            case cst.Call(func=cst.Attribute(attr=cst.Name("detach"))):
                return True
        without_graph = receiver.grad is Grad.NONE or self.model.autograd.is_off(node)
        return self.model.memory.reads_form(node) or (without_graph and self.model.memory.makes_new_value(node))
