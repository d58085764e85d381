from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import argument, without_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.numerics.refused_patterns import RefusedPattern


class EinsumPattern(Rule):
    """
    ## What it does
    Finds equations of `torch.einsum`, and patterns of einops, that are refused whatever the tensors hold: a letter of the
    output that no operand has, an axis that is on one side only, another number of operands or of dimensions.

    ## Why is this bad
    The call raises. A pattern is a string, so that nothing notices before the line is run, which may be the first evaluation
    after an epoch.

    ## Example
    ```python
    scores = torch.einsum("batch i d, batch j d -> batch i j", q, k)
    hidden = torch.einsum("bij,bjk->bil", q, k)
    ```

    ## Use instead
    ```python
    scores = torch.einsum("bid, bjd -> bij", q, k)
    hidden = torch.einsum("bij,bjk->bik", q, k)
    ```

    ## Fix safety
    Unsafe: another pattern may be meant. Words become letters, as `torch.einsum` takes each letter for an axis; another arrow
    becomes `->`; a length that einops has no use for is taken away. There is no fix for the others.

    Not reported where an error is awaited.

    ## References
    - [torch.einsum](https://docs.pytorch.org/docs/stable/generated/torch.einsum.html)
    - [einops](https://einops.rocks)
    """

    code = "TPL606"
    name = "einsum-pattern"
    default = False
    triggers = (Found(".numerics.refused_patterns:RefusedPatterns.found"),)
    needs = (("einsum", "einops"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call whose pattern is refused."""
        refused = self.model.numbers.refused_pattern(node)
        if refused is None:
            return
        message = f"`{self.model.shown(node.func)}` refuses {self.model.shown(refused.pattern)}: {refused.reason}"
        self.report(node, message, self._fix(node, refused))

    def _fix(self, node: cst.Call, refused: RefusedPattern[cst.BaseExpression]) -> CodeFix | None:
        """The pattern as it was meant, where that can be told."""
        rests_on = unknown("another pattern may be meant")
        if refused.meant is not None:
            meant = self.model.code.string(refused.meant)
            return fix(f"Use `{refused.meant}`", replace(refused.pattern, meant), rests_on=rests_on)
        given = argument(node, refused.unused) if refused.unused else None
        if given is None:
            return None
        return fix(f"Leave out `{refused.unused}`", replace(node, without_argument(node, given)), rests_on=rests_on)
