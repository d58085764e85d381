from __future__ import annotations

import libcst as cst

from torchlint.rules.legacy._deprecations import found, release, removed_names, replaced
from torchlint.rules.legacy._renamed import short
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api


class RemovedApi(Rule):
    """
    ## What it does
    Finds uses of functions, classes and modules that torch, torchvision or torchaudio have removed, or that only raise by now:
    `torch.solve`, `torch.symeig`, `torch.lstsq`. The table behind it is generated from the libraries' releases.

    ## Why is this bad
    It raises an AttributeError, an ImportError or a RuntimeError, when the line is run and not before. With `target-torch` only
    what the oldest torch that the code has to run on lacks is reported.

    ## Example
    ```python
    torch.set_deterministic(True)
    values, vectors = torch.symeig(a, eigenvectors=True)
    ```

    ## Use instead
    ```python
    torch.use_deterministic_algorithms(True)
    values, vectors = torch.linalg.eigh(a)
    ```

    ## Fix safety
    Unsafe: the code raised, and what handles that, or stands behind it, has not run on today's torch. No fix where the
    successor takes or gives something else: `torch.solve(b, a)` gave the solution and its LU factors,
    `torch.linalg.solve(a, b)` gives the solution.

    Code that asks for the version of torch, or catches what a newer one lacks, is left alone.

    ## References
    - [torch.linalg](https://docs.pytorch.org/docs/stable/linalg.html)
    """

    code = "TPL109"
    name = "removed-api"
    yields_to = ("TPL106",)
    triggers = (Api(*removed_names()),)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports what was imported by itself."""
        self._look(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports what stands behind its module."""
        self._look(node)

    def _look(self, node: cst.Name | cst.Attribute) -> None:
        row = found(self, node)
        if row is None or not row.is_removed_for(self.options.target):
            return
        new = short(row.replacement.partition("(")[0])
        advice = f": use `{new}`" if row.replacement else f": {row.message.rstrip('. ')}" if row.message else ""
        gone = "only raises since" if row.only_raises else "was removed in"
        message = f"`{self.model.shown(node)}` {gone} {row.library} {release(row.removed)}{advice}"
        self.report(node, message, replaced(self, node, row, doubt="the code raised, and what follows has never run"))
