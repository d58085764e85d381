from __future__ import annotations

import libcst as cst

from torchlint.fact import NOTHING
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Keyword
from torchlint.semantics import Type
from torchlint.target import TorchVersion


class AsyncKeyword(Rule):
    """
    ## What it does
    Finds `async=` where a tensor or a module is copied: `x.cuda(async=True)`, `x.copy_(y, async=True)`.

    ## Why is this bad
    `async` is a keyword since Python 3.7, and was what torch 0.3 called `non_blocking`. No Python since then parses the file:
    importing it raises a `SyntaxError`. torchlint reads `async` and `await` as the names that they were, where they cannot be
    keywords, and lints the rest of the file as any other.

    ## Example
    ```python
    target = target.cuda(async=True)
    ```

    ## Use instead
    ```python
    target = target.cuda(non_blocking=True)
    ```

    ## Fix safety
    Safe: torch has known `non_blocking` since 0.4, it means the same, and no Python that torch supports runs the file as it is.
    No fix where the call is given `non_blocking` as well. A class of the file whose method has a parameter called `async` is
    taken at its word.

    ## References
    - [torch.Tensor.cuda](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html)
    - [What's new in Python 3.7](https://docs.python.org/3/whatsnew/3.7.html)
    """

    code = "TPL110"
    name = "async-keyword"
    since = TorchVersion(0, 4)
    triggers = (Keyword("async", "non_blocking"),)
    needs = (("async",),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports `async=` in a call that copies."""
        given = argument(node, "async")
        if given is None or self.model.code.keyword(given) != "non_blocking" or not isinstance(node.func, cst.Attribute):
            return
        kind = self.model.kind(node.func.value)
        if kind.known and not kind.is_tensor and kind.type is not Type.MODULE:
            return
        shown = self.model.shown(given.value)
        self.report(
            given,
            f"`async={shown}` is a syntax error since Python 3.7; use `non_blocking={shown}`",
            None
            if argument(node, "non_blocking") is not None
            else fix(
                "Replace `async` with `non_blocking`",
                replace(given, given.with_changes(keyword=cst.Name("non_blocking"))),
                rests_on=NOTHING,
            ),
        )
