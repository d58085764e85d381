from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, replace
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion

_COPIES = {"view": "reshape", "view_as": "reshape_as"}
_LONGEST = 40
"""A receiver whose text is longer than this is not quoted in full."""


class ViewAfterTranspose(Rule):
    """
    ## What it does
    Finds `.view(…)` of a transposed or permuted tensor that merges axes which no longer lie next to each other in memory:
    `x.transpose(1, 2).view(batch, -1)`, `x = x.permute(0, 2, 1)` and later `x.view(-1, channels)`.

    A view that only splits axes, or merges those that still lie together, works on a transposed tensor, too, and is left
    alone: `x.transpose(1, 2).view(batch, channels, height, width)`, `x.permute(0, 2, 3, 1).view(batch, -1, channels)`.

    Not reported is `correct[:k].view(-1)` where each `k` is of a parameter with the default `(1,)`, and the file calls the
    function without it, or no file of the project speaks of several: one row is a view still. Nor is `x.view(x.size(0), -1)`
    of what a stack of convolutions in one dimension leaves, transposed: that may be one step. Nor is
    `out.transpose(1, 2).view(-1, channels)` of what a network gives of which nothing is known: its batches may be of one item.
    So they are where the batch's axis is moved and each `DataLoader` of the file says `batch_size=1`.

    ## Why is this bad
    `transpose`, `permute` and `.T` change the strides and leave the memory as it is. `view` never copies, so it raises a
    `RuntimeError` where the new shape cannot be had with strides alone: often only once a batch has more than one item.

    ## Example
    ```python
    def forward(self, x):
        x = x.transpose(1, 2)
        return self.fc(x.view(x.size(0), -1))
    ```

    ## Use instead
    ```python
    def forward(self, x):
        x = x.transpose(1, 2)
        return self.fc(x.reshape(x.size(0), -1))
    ```

    ## Fix safety
    Safe: `reshape` gives the same view where there is one, and copies where `view` would raise. Unsafe where the value may be
    no tensor, and where something in the file may catch the error, so that code may decide by it.

    ## References
    - [torch.Tensor.view](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html)
    """

    code = "TPL204"
    name = "view-after-transpose"
    since = TorchVersion(0, 4)
    triggers = (Found(".shapes.torn_views:TornViews.calls"),)
    needs = (
        ("view", "view_as"),
        (
            *("transpose", "permute", "t", "T", "mT", "H", "mH", "adjoint"),
            *("swapaxes", "swapdims", "movedim", "moveaxis"),
        ),
    )
    yields_to = ("TPL206",)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a view that cannot be had of its transposed tensor."""
        match node.func:
            case cst.Attribute(tensor, cst.Name("view" | "view_as" as method)) if self.model.shapes.is_torn(node):
                instead = _COPIES[method]
                text = self.model.shown(tensor)
                said = f"`{text}`" if len(text) <= _LONGEST else "the tensor"
                self.report(
                    node,
                    f"`{method}` cannot merge the transposed axes of {said} and raises; use `{instead}`",
                    fix(
                        f"Replace `{method}` with `{instead}`",
                        replace(node.func, node.func.with_changes(attr=cst.Name(instead))),
                        rests_on=self.model.kinds.is_tensor(tensor) & self.model.code.ends_with_its_error(node),
                    ),
                )
