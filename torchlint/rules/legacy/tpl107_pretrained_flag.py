from __future__ import annotations

import ast
import re

from torchlint.rules.arguments import is_open_ended, keyword_of
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.compatibility import asks_for_version
from torchlint.rules.legacy._pretrained import ANY_CLASSIFIER, Builder, builder
from torchlint.rules.quotes import usual_quote
from torchlint.rules.screens import Screen
from torchlint.target import TorchVersion

_MODELS = "torchvision.models"
_FLAG = re.compile(rb"pretrained(?:_backbone)?[\s\\]*[=,)#]")
_MODELS_NAMED = re.compile(rb"models(?<![\w.]models)(?:[\s\\)]*\.[\s\\]*[\w#]|[\s\\]*[,)\[\r\n#])")
"""The name for torchvision's models that a snippet takes for granted."""
_BOOLEAN = re.compile(rb"\((?:[\s\\(]{0,60}(?:#[^\r\n]{0,300}[\r\n][\s(]{0,60}){0,3}(?:True|False)\b|[\s\\(]{61})")


def _may_hold(data: bytes) -> bool:
    """Whether a file may give a flag, by name or by position."""
    if b"torchvision" not in data and _MODELS_NAMED.search(data) is None:
        return False
    return (b"pretrained" in data and _FLAG.search(data) is not None) or _BOOLEAN.search(data) is not None


class PretrainedFlag(AstRule):
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
    since = TorchVersion(1, 12)
    screen = Screen(any_of=(b"models",), check=_may_hold)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports the flag of a call that makes a model of torchvision."""
        if not node.args and not any(word.arg in ("pretrained", "pretrained_backbone") for word in node.keywords):
            return
        partial = self.semantics.qualified_name(node.func) == "functools.partial" and bool(node.args)
        function = node.args[0] if partial else node.func
        made = self._builder(function)
        if made is None or asks_for_version(node, self.semantics):
            return
        for word in node.keywords:
            if word.arg == "pretrained":
                self._report(node, word, word.value, "weights", made.weights, function)
            elif word.arg == "pretrained_backbone" and made.backbone is not None:
                self._report(node, word, word.value, "weights_backbone", made.backbone, function)
        if not partial and node.args and self._is_flag(node.args[0]):
            self._report(node, node.args[0], node.args[0], "weights", made.weights, function)

    def _builder(self, function: ast.expr) -> Builder | None:
        """The function of torchvision that is called, also one looked up by a name that the program computes."""
        match function:
            case ast.Subscript(value=ast.Attribute(attr="__dict__", value=module)):
                return ANY_CLASSIFIER if self.semantics.qualified_name(module) == _MODELS else None
            case ast.Call(func=ast.Name(id="getattr"), args=[module, _, *_]):
                return ANY_CLASSIFIER if self.semantics.qualified_name(module) == _MODELS else None
        name = self.semantics.qualified_name(function)
        return builder(name) if name is not None else None

    @staticmethod
    def _is_flag(argument: ast.expr) -> bool:
        match argument:
            case ast.Constant(value=bool()) | ast.Name(id="pretrained") | ast.Attribute(attr="pretrained"):
                return True
        return False

    def _report(
        self, call: ast.Call, node: ast.keyword | ast.expr, value: ast.expr, word: str, weights: str | None, function: ast.expr
    ) -> None:
        said = ast.unparse(node) if isinstance(node, ast.keyword) else f"{ast.unparse(call.func)}({ast.unparse(node)})"
        if isinstance(value, ast.Constant) and not value.value:
            new = f"{word}=None"
        elif weights is None:
            self.report(node, f"`{said}` is deprecated since torchvision 0.13, and raises: there are no weights for this model")
            return
        else:
            new = f"{word}={self._chosen(value, weights)}"
        message = f"`{said}` is deprecated since torchvision 0.13, and may be removed: use `{new}`"
        hindered = keyword_of(call, word) is not None or (not isinstance(node, ast.keyword) and len(call.args) > 1)
        quantized = ".quantization." in (self.semantics.qualified_name(function) or "") and not new.endswith("None")
        if hindered or (quantized and keyword_of(call, "quantize") is not None) or (quantized and is_open_ended(call)):
            self.report(node, message)
            return
        edit = (self.source.start(node), self.source.end(node), new)
        self.report(node, message, self.fix(f"Use `{new}`", [edit], safe=False))

    def _chosen(self, flag: ast.expr, weights: str) -> str:
        """The value that stands for what a flag chooses."""
        quote = usual_quote(self.source)
        if isinstance(flag, ast.Constant):
            return f"{quote}{weights}{quote}"
        text = self.source.segment(flag)
        if "\n" in text or "\r" in text:
            text = ast.unparse(flag)
        if isinstance(flag, (ast.IfExp, ast.Lambda, ast.NamedExpr)):
            text = f"({text})"
        return f"{quote}{weights}{quote} if {text} else None"
