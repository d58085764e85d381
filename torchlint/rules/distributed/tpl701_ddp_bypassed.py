from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class DdpBypassed(Rule):
    """
    ## What it does
    Finds `ddp.module(x)`, a forward pass past the `DistributedDataParallel`, whose result is back-propagated.

    ## Why is this bad
    The wrapper averages the gradients of all processes in the backward pass, if its own forward pass came before. Of a pass
    through the module within it knows nothing: each process steps by its own gradients, and the models part. No error says so.

    ## Example
    ```python
    from torch.nn.parallel import DistributedDataParallel

    ddp = DistributedDataParallel(model)
    optimizer.zero_grad()
    loss = criterion(ddp.module(x), y)
    loss.backward()
    optimizer.step()
    ```

    ## Use instead
    ```python
    from torch.nn.parallel import DistributedDataParallel

    ddp = DistributedDataParallel(model)
    optimizer.zero_grad()
    loss = criterion(ddp(x), y)
    loss.backward()
    optimizer.step()
    ```

    ## Fix safety
    Unsafe: the models of all processes get the same gradients, and a process waits for the others in each backward pass.

    Left alone is code that averages gradients itself, and passes through the module beside one through the wrapper.

    ## References
    - [torch.nn.parallel.DistributedDataParallel](https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "TPL701"
    name = "ddp-bypassed"
    triggers = (Found(".distributed.bypassed:BypassedWrappers.found"),)
    needs = (("DistributedDataParallel",), ("module",), ("backward",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the forward pass."""
        bypassed = self.model.training.bypassed_wrapper(node)
        if bypassed is None:
            return
        shown = self.model.shown(bypassed.wrapper)
        self.report(
            node,
            f"`{self.model.shown(node.func)}` goes past `{shown}`, which does not average the gradients of the processes then",
            fix(
                f"Call `{shown}`",
                replace(node, node.with_changes(func=bypassed.wrapper)),
                rests_on=unknown("all processes get the same gradients"),
            ),
        )
