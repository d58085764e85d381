from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import after_method
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.shapes.shuffles import Shuffle
from torchlint.target import TorchVersion

_FIRST_TWO = (cst.Integer("0"), cst.Integer("1"))


class ViewAsTranspose(Rule):
    """
    ## What it does
    Finds `view` and `reshape` that ask for a tensor's own axes in another order: `x.view(x.size(1), x.size(0), -1)`,
    `b, c, h, w = x.shape` and later `x.reshape(b, h, w, c)`; also of the last state of a recurrent network with several layers
    or directions, which are its first axis: `h_n.view(-1, 2 * hidden)`.

    ## Why is this bad
    `view` and `reshape` deal the elements out anew in the order of memory. The result has the shape of the transposed tensor,
    but its rows are made of pieces of several of the old ones: the items of a batch are mixed up, without an error.

    ## Example
    ```python
    def time_first(x):
        return x.view(x.size(1), x.size(0), x.size(2))
    ```

    ## Use instead
    ```python
    def time_first(x):
        return x.permute(1, 0, 2)
    ```

    ## Fix safety
    Unsafe: the elements come in another order, the one that the shape suggests. Where it is unknown how many axes there are,
    or where axes are merged as well, the fix transposes and reshapes then. There is no fix where the new order cannot be
    told.

    A tensor that is sliced or reshaped back after it was dealt out anew is taken to be meant: the relative shift of
    Transformer-XL works like that.

    ## References
    - [torch.permute](https://docs.pytorch.org/docs/stable/generated/torch.permute.html)
    """

    code = "TPL206"
    name = "view-as-transpose"
    since = TorchVersion(0, 4)
    triggers = (Found(".shapes.shuffles:Shuffles.found"),)
    needs = (("view", "reshape"), ("size", "shape", "LSTM", "GRU", "RNN"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a new shape that has the old axes in another order."""
        shuffle = self.model.shapes.shuffle(node)
        if shuffle is None:
            return
        match node.func:
            case cst.Attribute(tensor, cst.Name(method)):
                one, other = shuffle.axes
                self.report(
                    node,
                    f"`{method}` does not swap axes {one} and {other} of `{self.model.shown(tensor)}`: "
                    "it deals the elements out in the order of memory; use `permute`",
                    _permuting(node, node.func, shuffle),
                )


def _permuting(call: cst.Call, function: cst.Attribute, shuffle: Shuffle) -> CodeFix | None:
    """Permutes the axes into the order that the shape asks for, and reshapes them then if it merges some."""
    if shuffle.order is None:
        return None
    axes = [cst.Integer(str(axis)) for axis in shuffle.order]
    if shuffle.suffices:
        places = [replace(size, axis) for size, axis in zip(_sizes(call), axes)]
        permute = replace(function, function.with_changes(attr=cst.Name("permute")))
        return fix("Replace with `permute`", *places, permute, rests_on=unknown("the elements come in another order"))
    swap = after_method(function, "permute", *axes) if axes else after_method(function, "transpose", *_FIRST_TWO)
    reshape = replace(function, swap.with_changes(attr=cst.Name("reshape")))
    return fix("Permute the axes before reshaping", reshape, rests_on=unknown("the elements come in another order"))


def _sizes(call: cst.Call) -> list[cst.BaseExpression]:
    """The sizes that a call is given, also where that is as one tuple or list."""
    values = [each.value for each in call.args]
    match values:
        case [cst.Tuple(elements) | cst.List(elements)]:
            return [each.value for each in elements]
    return values
