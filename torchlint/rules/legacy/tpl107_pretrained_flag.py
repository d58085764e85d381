from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument, expression, instead_of, is_open_ended
from torchlint.rules.legacy.spellings.pretrained import ANY_CLASSIFIER, builder, builders
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class PretrainedFlag(Rule):
    """
    ## What it does
    Finds torchvision's models made with `pretrained=` or `pretrained_backbone=`: `models.resnet50(pretrained=True)`,
    `models.__dict__[arch](pretrained=flag)`, `vgg16(True)`.

    ## Why is this bad
    Since torchvision 0.13 models take `weights`, which says which of several sets of weights it is, and `pretrained` warns at
    every call; torchvision's own warning says that it may be removed. What it stands for are the first weights that there
    were (`IMAGENET1K_V1`), not the best ones that there are now (`DEFAULT`).

    ## Example
    ```python
    backbone = models.resnet50(pretrained=True)
    ```

    ## Use instead
    ```python
    backbone = models.resnet50(weights="IMAGENET1K_V1")
    ```

    ## Fix safety
    Unsafe: the weights are those that `pretrained=True` has always meant, but a torchvision before 0.13 takes no `weights`,
    and neither does a function of one's own that stands in for torchvision's. No fix where `weights` is given as well, where
    other arguments are given by position, for quantized models, whose weights depend on `quantize`, and for models that never
    had weights.

    ## References
    - [torchvision: general information on pre-trained weights](https://docs.pytorch.org/vision/stable/models.html)
    """

    code = "TPL107"
    name = "pretrained-flag"
    severity = "warning"
    since = TorchVersion(1, 12)
    triggers = (Found(".apis.torchvision:TorchvisionModels.made"),)
    needs = (("models",), ("__dict__", "getattr", *sorted({name.rpartition(".")[2] for name in builders()})))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the flags of a call that makes a model of torchvision."""
        function = self.model.apis.torchvision_model(node)
        made = ANY_CLASSIFIER if function.endswith(".*") else builder(function)
        if made is None or self.model.apis.asks_for_version(node):
            return
        for flag in node.args:
            match flag.keyword:
                case cst.Name("pretrained"):
                    self._report(node, flag, "weights", made.weights)
                case cst.Name("pretrained_backbone") if made.backbone is not None:
                    self._report(node, flag, "weights_backbone", made.backbone)
        if node.args and _is_flag(node.args[0]):
            self._report(node, node.args[0], "weights", made.weights)

    def _report(self, call: cst.Call, flag: cst.Arg, word: str, weights: str | None) -> None:
        shown = self.model.shown(flag)
        said = shown if flag.keyword is not None else f"{self.model.shown(call.func)}({shown})"
        is_on = self.model.code.truth(flag.value)
        if weights is None and is_on is not False:
            self.report(flag, f"`{said}` is deprecated since torchvision 0.13, and raises: there are no weights for this model")
            return
        names = self.model.code.string(weights or "")
        new = f"{word}={self.model.code.written(_chosen(self.model.code.plain(flag.value), is_on, names))}"
        message = f"`{said}` is deprecated since torchvision 0.13, and may be removed: use `{new}`"
        chosen = instead_of(flag, word, _chosen(flag.value, is_on, names))
        is_hindered = self._is_hindered(call, flag, word)
        self.report(
            flag,
            message,
            None
            if is_hindered
            else fix(f"Use `{new}`", replace(flag, chosen), rests_on=unknown("a torchvision before 0.13 takes no `weights`")),
        )

    def _is_hindered(self, call: cst.Call, flag: cst.Arg, word: str) -> bool:
        """Whether the weights cannot just be given: they are, or what is given decides which ones they are."""
        others = [each for each in call.args if each is not flag and each.keyword is None and each.star != "**"]
        if argument(call, word) is not None or (flag.keyword is None and others):
            return True
        is_quantized = ".quantization." in self.model.apis.torchvision_model(call)
        chooses = self.model.code.truth(flag.value) is not False
        return is_quantized and chooses and (argument(call, "quantize") is not None or is_open_ended(call))


def _is_flag(given: cst.Arg) -> bool:
    """Whether what is given first is ``pretrained``, and not the number of something."""
    match given:
        case cst.Arg(
            cst.Name("True" | "False" | "pretrained") | cst.Attribute(attr=cst.Name("pretrained")), keyword=None, star=""
        ):
            return True
    return False


def _chosen(flag: cst.BaseExpression, is_on: bool | None, weights: cst.BaseExpression) -> cst.BaseExpression:
    """The weights that a flag chooses, which is on, off, or not known to be either."""
    if is_on is None:
        return expression("{weights} if {flag} else None", weights=weights, flag=flag)
    return weights if is_on else cst.Name("None")
