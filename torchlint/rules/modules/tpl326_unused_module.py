from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, remove
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class UnusedModule(Rule):
    """
    ## What it does
    Finds layers that the constructor of a module makes, and that nothing in the file uses. The same name in
    another class is another layer.

    ## Why is this bad
    Their parameters are moved, saved, counted and given to the optimizer, and never get a gradient. Mostly `forward` was meant
    to use them, or uses another one twice. `DistributedDataParallel` raises in the second step, as it waits for these.

    ## Example
    ```python
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(8, 8)
            self.second = nn.Linear(8, 8)

        def forward(self, x):
            return self.hidden(self.hidden(x))
    ```

    ## Use instead
    ```python
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(8, 8)
            self.second = nn.Linear(8, 8)

        def forward(self, x):
            return self.second(self.hidden(x))
    ```

    ## Fix safety
    Unsafe: the layer is taken away, where it may have been meant to be used. Files of weights that have it no longer fit, code
    of other files may use it, and what is initialised behind it gets other random numbers. There is no fix where a class of
    the file is derived from this one.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    """

    code = "TPL326"
    name = "unused-module"
    default = False
    severity = "warning"
    triggers = (Found(".modules.unused:UnusedModules.found"),)
    needs = (("forward",), ("Module",))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports the assignment of the layer."""
        unused = self.model.modules.unused(node)
        if unused is None:
            return
        rests_on = unknown("the layer may be meant to be used, and saved weights have it")
        title = f"Remove `{unused.name}`"
        change = None if unused.may_be_inherited else fix(title, remove(self.model.statement(node)), rests_on=rests_on)
        message = f"nothing uses `{self.model.shown(node.targets[0].target)}`: its parameters never get a gradient"
        self.report(node, message, change)
