from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class ScalarIndex(Rule):
    """
    ## What it does
    Finds 0-dim tensors, such as losses, that are indexed to get their number: `loss.data[0]`, `loss[0]`,
    `loss.data.cpu().numpy()[0]`, `loss.data.squeeze()[0]`. With a `.data` in front of the index, also what the file
    back-propagates or adds up to that, whatever it is called.

    Not reported is what a sum that starts with a dimension gives: `torch.FloatTensor([0.0])`, and code for an older torch:
    `loss.item() if hasattr(loss, "item") else loss.data[0]`. Nor is the loss of a criterion that is handed to a function,
    where all that the file, or else the project, makes for it give one number for each item: `NLLLoss(reduction="none")`.

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
    Safe where it is certain that the value has no dimensions, so that the index raises: of reductions of a whole tensor, of
    the losses of torch that are made in sight and reduce as usual, and of what is computed of them and of numbers. Unsafe for
    everything that is only called a loss: an argument, an attribute, or what a function of another file returns may have a
    dimension; there `loss[0]` works, and is a tensor. So it may be in a file that gives tensors dimensions in place, or
    has a class of tensors or a hook of its own. Unsafe, too, where code of the file awaits the error, unless what it does
    then is what the fix writes, or Python does: in `__getitem__` it ends a sequence.

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
        if tensor is None or self.model.apis.asks_for_version(node):
            return
        item = expression("{tensor}.item()", tensor=tensor)
        shown = self.model.shown(tensor)
        self.report(
            node,
            f"`{shown}` has no dimensions: indexing it raises IndexError; use `{self.model.shown(item)}`",
            fix(
                f"Use `{self.model.shown(item)}`",
                replace(node, item),
                rests_on=self.model.shapes.has_no_dimensions(tensor)
                & self.model.code.ends_with_its_error(node, item, error="IndexError"),
            ),
        )
