from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument, instead_of, is_open_ended
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api

_SLOPE, _PROBABILITY = ("negative_slope", "its negative slope"), ("p", "its probability")
_DROPOUTS = ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")
_BOUNDS = {
    "torch.nn.RReLU": ("lower", "its lowest slope"),
    "torch.nn.Hardtanh": ("min_val", "its lower bound"),
}
"""The first of two bounds that layers take: two flags in a row may be meant as nought and one."""
_FIRST = {
    "torch.nn.LeakyReLU": _SLOPE,
    **_BOUNDS,
    **dict.fromkeys((f"torch.nn.{name}" for name in _DROPOUTS), _PROBABILITY),
}
"""The first number that layers take, whose last argument is a flag: how it is called, and what it is."""
_SECOND = {"torch.nn.functional.leaky_relu": _SLOPE}
"""The second argument of functions, behind the tensor."""
_CHANGED = unknown("the model computes something else")
_FLAG = re.compile(r"_?in_?place", re.IGNORECASE)


class FlagAsNumber(Rule):
    """
    ## What it does
    Finds activations and dropout layers that are given a flag in the place of a number: `nn.LeakyReLU(True)`,
    `F.leaky_relu(x, inplace)`, `nn.Dropout(True)`, `nn.LeakyReLU(negative_slope=True)`. (Flags that `F.dropout`
    takes for its probability are [TPL316](TPL316.md)'s.)

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
        if (name not in _FIRST and name not in _SECOND) or is_open_ended(node):
            return
        given = self._number(node, name)
        if given is None or not self._is_flag(given, name):
            return
        flag, number = self.model.shown(given.value), (_FIRST.get(name) or _SECOND[name])[1]
        inplace = replace(given, instead_of(given, "inplace", given.value))
        self.report(
            given.value,
            f"`{self.model.shown(node.func)}` takes `{flag}` for {number}; pass `inplace={flag}`",
            fix("Say that it is `inplace`", inplace, rests_on=_CHANGED) if self._is_all(node, given) else None,
        )

    def _number(self, call: cst.Call, name: str) -> cst.Arg | None:
        """What a call gives for the number; of two bounds, nothing where both are given."""
        place = 0 if name in _FIRST else 1
        by_place = [each for each in call.args if each.keyword is None]
        if name in _BOUNDS and (len(by_place) > 1 or argument(call, "upper") or argument(call, "max_val")):
            return None
        return by_place[place] if len(by_place) > place else argument(call, (_FIRST.get(name) or _SECOND[name])[0])

    def _is_all(self, call: cst.Call, given: cst.Arg) -> bool:
        """Whether a call gives nothing behind the number, so that the flag may be given instead."""
        return call.args[-1] is given

    def _is_flag(self, given: cst.Arg, name: str) -> bool:
        """Whether what is given is true or false, or, given by its place, called like the flag.

        No dropout at all, `nn.Dropout(False)`, may be meant.
        """
        match given.value:
            case cst.Name("True"):
                return True
            case cst.Name("False"):
                return _FIRST.get(name) != _PROBABILITY
            case cst.Name(called) | cst.Attribute(attr=cst.Name(called)):
                return given.keyword is None and _FLAG.fullmatch(called) is not None
        return False
