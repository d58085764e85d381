from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import again, expression, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class FactoryOffDevice(Rule):
    """
    ## What it does
    Finds tensors that a module's `forward` makes with no `device=`, `torch.zeros(n)` or `torch.arange(n)`, and combines with
    its inputs; and those that other code makes so which gives other tensors the device of its inputs.

    Strict findings, which are shown where the rule is selected by name: where neither the file nor its project speaks of other
    devices than the CPU, and where all that the tensor meets is an argument that is None where it is not given.

    ## Why is this bad
    Such a tensor is made on the CPU, or wherever the default device is. The module runs there and raises everywhere else: two
    tensors of an operation have to be on one device.

    ## Example
    ```python
    from torch import nn


    class Decay(nn.Module):
        def forward(self, x):
            steps = torch.arange(x.shape[1])
            return x * torch.exp(-steps)
    ```

    ## Use instead
    ```python
    from torch import nn


    class Decay(nn.Module):
        def forward(self, x):
            steps = torch.arange(x.shape[1], device=x.device)
            return x * torch.exp(-steps)
    ```

    ## Fix safety
    Unsafe: nothing shows for certain that the input has a device, and that it is the one that is meant. There is no fix where
    no argument of the method is known to be what the tensor meets. Nothing is reported in a project of which a file says where
    all factories make tensors, and in a method that reads an input with `.numpy()`, which has to be on the CPU for that.

    ## References
    - [torch.Tensor.device](https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device)
    """

    code = "TPL405"
    name = "factory-off-device"
    triggers = (Found(".devices.placeless:PlacelessTensors.found"),)
    needs = (("forward", "device"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the factory."""
        placeless = self.model.devices.placeless(node)
        if placeless is None:
            return
        other = self.model.shown_start(placeless.other)
        change = None
        if placeless.known is not None:
            device = expression("{known}.device", known=again(placeless.known))
            change = fix(
                f"Make it where `{self.model.shown(placeless.known)}` is",
                replace(node, with_argument(node, "device", device)),
                rests_on=unknown("the input may have no device, or another one than is meant"),
            )
        message = (
            f"`{self.model.shown_call(node)}` is on the CPU, wherever `{other}` is that it is combined with: pass a device"
        )
        self.report(node, message, change, strict=not placeless.leaves_cpu)
