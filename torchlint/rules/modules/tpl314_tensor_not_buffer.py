from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class TensorNotBuffer(Rule):
    """
    ## What it does
    Finds tensors that a module keeps as a plain attribute, `self.mask = torch.ones(…)`, and combines with its inputs in a
    method that does not move them there. So it is with views of the module's own parameters, `self.back = self.weight.t()`.

    ## Why is this bad
    `model.to(device)`, `.cuda()`, `.double()` and `.half()` move parameters and buffers. A plain attribute stays where and what
    it was: on another device the method raises, or computes in another dtype than the rest of the module. Nor is it in copies
    that `DataParallel` makes for each device. A view of a parameter shows the memory that this had when it was taken: once the
    model has been moved, that is where it was before. It is to be computed where it is used.

    ## Example
    ```python
    import torch
    from torch import nn


    class Scaled(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.scale = torch.linspace(0, 1, size)

        def forward(self, x):
            return x * self.scale
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn


    class Scaled(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.register_buffer("scale", torch.linspace(0, 1, size), persistent=False)

        def forward(self, x):
            return x * self.scale
    ```

    ## Fix safety
    Unsafe: the tensor is moved and cast with the module from now on, and is one of its `buffers()`. It is made a buffer that is
    not persistent, so that the module's `state_dict()` stays what it was.

    Not reported are tensors whose device is said, where they are made or used, those of no dimensions, which work with tensors
    of each device, and modules that have a `to` or `_apply` of their own.

    ## References
    - [torch.nn.Module.register_buffer](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)
    """

    code = "TPL314"
    name = "tensor-not-buffer"
    since = TorchVersion(1, 6)
    triggers = (Found(".devices.plain_tensors:PlainTensors.found"),)
    needs = (("class",), ("torch",), ("forward", "training_step", "Module"))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports the assignment that keeps the tensor."""
        kept = self.model.modules.plain_tensor(node)
        target = node.targets[0].target
        if kept is None or not isinstance(target, cst.Attribute):
            return
        shown = self.model.shown(target)
        if kept.parameter is not None:
            parameter, other = self.model.shown(kept.parameter), self.model.shown(kept.other)
            self.report(
                node,
                f"`{shown}` shares the memory that `{parameter}` has here, and keeps it when the module is moved to another "
                f"device or dtype, but `{kept.method}` combines it with `{other}`; compute it there",
            )
            return
        new = statement(
            f'{{owner}}.register_buffer("{target.attr.value}", {{value}}, persistent=False)',
            owner=target.value,
            value=node.value,
        )
        registered = fix(
            f"Register `{target.attr.value}` as a buffer",
            replace(node, new),
            rests_on=unknown(f"`{shown}` is moved and cast with the module"),
        )
        self.report(
            node,
            f"`{shown}` is no buffer, so that it stays behind when the module is moved to another device or dtype, but "
            f"`{kept.method}` combines it with `{self.model.shown(kept.other)}`; use `register_buffer`",
            registered if kept.is_always else None,
        )
