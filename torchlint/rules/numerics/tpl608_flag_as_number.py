from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import is_open_ended, keyword
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api

_SLOPE, _PROBABILITY = "its negative slope", "its probability"
_DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_FIRST = {
    "torch.nn.LeakyReLU": _SLOPE,
    "torch.nn.RReLU": "its lowest slope",
    "torch.nn.Hardtanh": "its lower bound",
    **dict.fromkeys((f"torch.nn.{name}" for name in _DROPOUTS), _PROBABILITY),
}
"""What the first number is that layers take, whose last argument is a flag."""
_SECOND = {"torch.nn.functional.leaky_relu": _SLOPE}
"""What the second one is of functions, behind the tensor."""
_CHANGED = unknown("the model computes something else")
_FLAG = re.compile(r"_?in_?place", re.IGNORECASE)


class FlagAsNumber(Rule):
    """
    ## What it does
    Finds activations and dropout layers that are given a flag in the place of a number: `nn.LeakyReLU(True)`,
    `F.leaky_relu(x, inplace)`, `nn.Dropout(True)`. (Flags that `F.dropout` takes for its probability are
    [TPL316](TPL316.md)'s.)

    ## Why is this bad
    `nn.ReLU(True)` works in place, `nn.LeakyReLU(True)` has a slope of one: it gives what it is given, and the layers around it
    are one linear layer. `nn.LeakyReLU(False)` is a plain `ReLU`, and `nn.Dropout(True)` drops everything. Nothing fails, but
    for `nn.RReLU(True)` and `nn.Hardtanh(True)`, whose bounds are the wrong way round then.

    ## Example
    ```python
    net = nn.Sequential(nn.Linear(8, 8), nn.LeakyReLU(True), nn.Linear(8, 1))
    ```

    ## Use instead
    ```python
    net = nn.Sequential(nn.Linear(8, 8), nn.LeakyReLU(inplace=True), nn.Linear(8, 1))
    ```

    ## Fix safety
    Unsafe: the model computes something else, and so do weights that were trained with it.

    ## References
    - [torch.nn.LeakyReLU](https://docs.pytorch.org/docs/stable/generated/torch.nn.LeakyReLU.html)
    - [torch.nn.Dropout](https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html)
    """

    code = "TPL608"
    name = "flag-as-number"
    triggers = (Api(*_FIRST, *_SECOND),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a flag that a number is expected for."""
        name = self.model.name(node.func)
        place = 0 if name in _FIRST else 1 if name in _SECOND else None
        if place is None or is_open_ended(node) or len(node.args) <= place:
            return
        given = node.args[place]
        if given.keyword is not None or not self._is_flag(given.value, name):
            return
        flag, number = self.model.shown(given.value), _FIRST.get(name) or _SECOND[name]
        mended = fix("Say that it is `inplace`", replace(given, keyword("inplace", given.value)), rests_on=_CHANGED)
        self.report(
            given.value,
            f"`{self.model.shown(node.func)}` takes `{flag}` for {number}; pass `inplace={flag}`",
            mended if len(node.args) == place + 1 else None,
        )

    def _is_flag(self, value: cst.BaseExpression, name: str) -> bool:
        """Whether a value is true or false, or called like the flag; no dropout at all, `nn.Dropout(False)`, may be meant."""
        match value:
            case cst.Name("True"):
                return True
            case cst.Name("False"):
                return name not in _FIRST or _FIRST[name] != _PROBABILITY
            case cst.Name(called) | cst.Attribute(attr=cst.Name(called)):
                return _FLAG.fullmatch(called) is not None
        return False
