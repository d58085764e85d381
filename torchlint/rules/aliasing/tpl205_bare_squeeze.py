from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import with_positional
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Call
from torchlint.semantics.shapes.squeezes import Meant
from torchlint.target import TorchVersion

_LONGEST = 40
_LAST_AXIS = cst.UnaryOperation(cst.Minus(), cst.Integer("1"))


class BareSqueeze(Rule):
    """
    ## What it does
    Finds `.squeeze()` without a dimension on a batch: a model's output, an item of a data loader, what `forward` is given. Data
    loaders that drop the last batch, or give one item at a time, have no such batches.

    ## Why is this bad
    `squeeze()` drops every axis of size 1. Where the last batch of an epoch has a single item, that is the batch axis, too:
    `(1, 1)` becomes a scalar, `(1, 10)` a vector. What follows then broadcasts, picks the wrong axis, or fails, once an epoch.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 1)

        def forward(self, x):
            return torch.sigmoid(self.fc(x)).squeeze()
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 1)

        def forward(self, x):
            return torch.sigmoid(self.fc(x)).squeeze(-1)
    ```

    ## Fix safety
    Unsafe: other axes of size 1, which were dropped as well, now stay. The axis to drop is the last one where a layer with one
    output gives it (`nn.Linear(8, 1)`), or a loss compares one value for each item (`nn.BCELoss`, `F.mse_loss`); behind a
    pooling to one value for each channel, `.flatten(1)` drops them all but for the batch. For anything else there is no fix.

    ## References
    - [torch.squeeze](https://docs.pytorch.org/docs/stable/generated/torch.squeeze.html)
    """

    code = "TPL205"
    name = "bare-squeeze"
    default = False
    since = TorchVersion(0, 4)
    triggers = (Call("squeeze"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a squeeze of all axes of a batch."""
        match node:
            case cst.Call(cst.Attribute(attr=cst.Name("squeeze")), [cst.Arg(tensor, keyword=None, star="")]):
                if self.model.name(node.func) == "torch.squeeze":
                    self._check(node, tensor, with_positional(node, _LAST_AXIS))
            case cst.Call(cst.Attribute(tensor, cst.Name("squeeze")) as method, []):
                flat = node.with_changes(func=method.with_changes(attr=cst.Name("flatten")))
                instead = with_positional(node, _LAST_AXIS)
                self._check(node, tensor, instead, with_positional(flat, cst.Integer("1")))

    def _check(self, squeeze: cst.Call, tensor: cst.BaseExpression, last: cst.Call, flat: cst.Call | None = None) -> None:
        """Reports a squeeze of a batch; the one of its ``last`` axis was meant, or rows of features, as ``flat`` gives them."""
        if self._is_only_looked_at(squeeze):
            return
        if not self.model.shapes.is_batch(tensor) and not self.model.shapes.is_output_before_loss(squeeze):
            return
        text = self.model.shown(tensor)
        said = f"`{text}`" if len(text) <= _LONGEST else "a batch"
        self.report(
            squeeze,
            f"`squeeze()` drops the batch axis of {said}, too, where the batch has one item; name the axis to drop",
            self._fix(squeeze, tensor, last, flat),
        )

    def _is_only_looked_at(self, squeeze: cst.Call) -> bool:
        """Whether nothing but the number of axes is asked of the result, or nothing at all."""
        match self.model.parent(squeeze):
            case cst.Expr() | cst.Attribute(attr=cst.Name("dim" | "ndim" | "ndimension")):
                return True
        return False

    def _fix(self, squeeze: cst.Call, tensor: cst.BaseExpression, last: cst.Call, flat: cst.Call | None) -> CodeFix | None:
        """Squeezes the last axis only, or flattens what a pooling left: a row for each item then."""
        meant, rank = self.model.shapes.meant_by_squeeze(squeeze), self.model.shapes.rank(tensor)
        if meant is Meant.ALL_BUT_TWO and flat is not None:
            return fix("Replace with `flatten(1)`", replace(squeeze, flat), rests_on=unknown("other axes of size 1 stay"))
        if meant is Meant.LAST and (rank is None or rank < 4):
            return fix("Squeeze the last axis", replace(squeeze, last), rests_on=unknown("other axes of size 1 stay"))
        return None
