"""ACM001: a tensor summed by Python."""

from __future__ import annotations

import libcst as cst

from torchlint.rules import Call, Rule, expression, fix, positional, replace, unknown


class HostSum(Rule):
    """
    ## What it does
    Finds tensors that are summed by Python's own `sum`: `sum(losses)`, where `losses` is a tensor.

    ## Why is this bad
    `sum` goes through the tensor row by row and adds the rows one after the other: one operation and one node of the autograd
    graph for each, where the tensor's own `sum` takes one for all of them.

    ## Example
    ```python
    import torch

    weights = torch.rand(1000, requires_grad=True)
    total = sum(weights)
    ```

    ## Use instead
    ```python
    import torch

    weights = torch.rand(1000, requires_grad=True)
    total = weights.sum(dim=0)
    ```

    ## Fix safety
    Unsafe: the rows are added in another order, so that the last digits may differ.

    ## References
    - [torch.Tensor.sum](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.sum.html)
    """

    code = "ACM001"
    name = "host-sum"
    triggers = (Call("sum"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports `sum(tensor)`."""
        if self.model.name(node.func) != "builtins.sum" or len(node.args) != 1:
            return
        match positional(node):
            case [tensor] if self.model.kind(tensor).is_tensor:
                shown = self.model.shown(tensor)
                self.report(
                    node,
                    f"`sum({shown})` adds the rows of a tensor one by one; use its own `.sum(dim=0)`",
                    fix(
                        "Sum on the device",
                        replace(node, expression("{tensor}.sum(dim=0)", tensor=tensor)),
                        rests_on=unknown("the rows are added in another order, so that the last digits may differ"),
                    ),
                )
