from __future__ import annotations

import libcst as cst

from torchlint.rules.legacy._deprecations import deprecated_names, found, release, replaced
from torchlint.rules.legacy._renamed import short
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api


class DeprecatedApi(Rule):
    """
    ## What it does
    Finds uses of functions, classes and modules that torch, torchvision or torchaudio deprecate, by whatever name the file
    calls them: `torch.cuda.amp.autocast`, `torch.cuda.amp.GradScaler`, `functorch.vmap`, `torch.cuda.memory_cached`. The table
    behind it is generated from the libraries' releases, from torch 1.0 to 2.13.

    What warns when it is used is reported by default. What only the documentation calls deprecated, such as `torch.norm`, is a
    strict finding.

    ## Why is this bad
    It warns, at every call or at the first, and a later release takes it away. With `target-torch` only what the oldest torch
    that the code has to run on deprecates is reported: older ones may lack what is to be used instead.

    ## Example
    ```python
    scaler = torch.cuda.amp.GradScaler()
    with torch.cuda.amp.autocast():
        loss = model(x).sum()
    ```

    ## Use instead
    ```python
    scaler = torch.amp.GradScaler("cuda")
    with torch.amp.autocast("cuda"):
        loss = model(x).sum()
    ```

    ## Fix safety
    Safe where the replacement was run beside what it replaces, to the same results, and nobody can tell: a name that another
    file may import from this one stays, nothing awaits the warning that goes. Unsafe for classes, which code may tell apart,
    and for what no run has compared. No fix where the library names no one successor, or one that takes or gives something
    else; the message says what there is.

    Code that asks for the version of torch, or catches what an older one lacks, is left alone.

    ## References
    - [torch.amp](https://docs.pytorch.org/docs/stable/amp.html)
    - [PyTorch: deprecation policy](https://docs.pytorch.org/docs/stable/)
    """

    code = "TPL108"
    name = "deprecated-api"
    severity = "warning"
    yields_to = ("TPL106", "TPL109")
    triggers = (Api(*deprecated_names()),)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports what was imported by itself."""
        self._look(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports what stands behind its module."""
        self._look(node)

    def _look(self, node: cst.Name | cst.Attribute) -> None:
        row = found(self, node)
        if row is None or row.is_removed_for(self.options.target) or not row.is_deprecated_for(self.options.target):
            return
        new = short(row.replacement.partition("(")[0])
        advice = f"use `{new}`" if row.replacement else row.message.rstrip(". ")
        message = f"`{self.model.shown(node)}` is deprecated since {row.library} {release(row.since)}: {advice}"
        self.report(node, message, replaced(self, node, row), strict=not row.warns)
