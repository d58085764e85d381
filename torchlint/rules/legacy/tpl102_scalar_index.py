from __future__ import annotations

import libcst as cst

from torchlint.fact import NOTHING
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class ScalarIndex(Rule):
    """
    ## What it does
    Finds 0-dim tensors, such as losses, that are indexed to get their number: `loss.data[0]`, `loss[0]`,
    `loss.data.cpu().numpy()[0]`.

    ## Why is this bad
    Before torch 0.4 a loss had one element in one dimension. It has no dimensions now, and indexing it raises
    `IndexError: invalid index of a 0-dim tensor`.

    ## Example
    ```python
    total_loss += loss.data[0]
    ```

    ## Use instead
    ```python
    total_loss += loss.item()
    ```

    ## Fix safety
    Safe: `.item()` gives the number that the index meant.

    ## References
    - [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
    """

    code = "TPL102"
    name = "scalar-index"
    since = TorchVersion(0, 4)
    triggers = (Found(".shapes.scalars:Scalars.indexed"),)
    needs = (("data", "backward", "Variable", "detach"),)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """Reports the index of a value without dimensions."""
        tensor = self.model.shapes.indexed_scalar(node)
        if tensor is None:
            return
        item = expression("{tensor}.item()", tensor=tensor)
        shown = self.model.shown(tensor)
        self.report(
            node,
            f"`{shown}` has no dimensions: indexing it raises IndexError; use `{self.model.shown(item)}`",
            fix(f"Use `{self.model.shown(item)}`", replace(node, item), rests_on=NOTHING),
        )
