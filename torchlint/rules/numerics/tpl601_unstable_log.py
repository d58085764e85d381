from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import api, expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.numerics.unstable_logs import STABLE, Unstable

_FULL = {
    "log_softmax": "torch.nn.functional.log_softmax",
    "logsigmoid": "torch.nn.functional.logsigmoid",
    "logsumexp": "torch.logsumexp",
}


class UnstableLog(Rule):
    """
    ## What it does
    Finds `log(softmax(x))`, `log(sigmoid(x))` and `log(sum(exp(x)))`, as functions and as methods; also of some numbers of
    such a tensor, and of what functions and models of the project give that end in a softmax or a sigmoid.

    Strict is the logarithm of a sum of exponentials, which may be shifted or held within bounds by what nobody here sees, and
    of what other code gives, which may have seen to it that nothing becomes zero; and what no backward pass can reach: in a
    test of the code, where they are what others are compared with; in what a file tries out under
    `if __name__ == "__main__":`; under `no_grad`; and in a file that back-propagates nothing, outside of functions that return
    or keep what they compute.

    ## Why is this bad
    The probability of what is unlikely becomes zero, and its logarithm minus infinity; the exponential of what is large becomes
    infinity. The loss is infinite then, and its gradient NaN, which no weight survives. `log_softmax`, `logsigmoid` and
    `logsumexp` give the same numbers without that.

    ## Example
    ```python
    loss = -torch.log(torch.softmax(logits, dim=1))[:, 0].mean()
    loss.backward()
    ```

    ## Use instead
    ```python
    loss = -torch.log_softmax(logits, dim=1)[:, 0].mean()
    loss.backward()
    ```

    ## Fix safety
    Safe for `softmax` with a dimension, and for what carries a graph: the results are the same, but where they were infinite.
    Unsafe where the tensor may hold integers, which `logsigmoid` does not take; where the file speaks of half precision, in
    which two steps are rounded otherwise than one; and where the file changes in place what only the one function saves for
    the backward pass: the result of `log_softmax` and `logsumexp`, what `logsigmoid` and `logsumexp` are given. No fix for a
    sum over everything, and none where other code stands between the two.

    ## References
    - [torch.nn.functional.log_softmax](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.log_softmax.html)
    - [torch.logsumexp](https://docs.pytorch.org/docs/stable/generated/torch.logsumexp.html)
    """

    code = "TPL601"
    name = "unstable-log"
    triggers = (Found(".numerics.unstable_logs:UnstableLogs.found"),)
    needs = (("log",),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the logarithm."""
        found = self.model.numbers.unstable_log(node)
        if found is None or not isinstance(found.inner, cst.Call):
            return
        stable = STABLE[found.function]
        when = "an exponential overflows" if found.function == "sum" else f"the {found.function} becomes zero"
        if found.is_far:
            when = f"what `{self.model.shown(found.inner, 40)}` gives becomes zero"
        message = f"`{self.model.shown_call(node)}` is infinite where {when}, and its gradient NaN; use `{stable}`"
        is_assumed = found.is_far or found.function == "sum"
        mended = self._fix(node, found.inner, found) if found.is_direct else None
        self.report(node, message, mended, strict=is_assumed or not self.model.numbers.may_learn(node))

    def _fix(self, node: cst.Call, inner: cst.Call, found: Unstable[cst.BaseExpression]) -> CodeFix | None:
        """What does both at once."""
        stable = STABLE[found.function]
        title = f"Use `{stable}`"
        new: cst.BaseExpression
        if found.function == "sigmoid":
            new = expression("{torch.nn.functional.logsigmoid}({value})", value=found.value)
        elif found.function == "softmax":
            func = inner.func
            if isinstance(func, cst.Attribute):
                new = inner.with_changes(func=func.with_changes(attr=cst.Name(stable)))
            else:
                new = inner.with_changes(func=api(_FULL[stable]))
        else:
            args = inner.args if found.of_method else inner.args[1:]
            words = {arg.keyword.value for arg in args if arg.keyword is not None}
            if not args or not words <= {"dim", "keepdim"} or any(arg.star for arg in args):
                return None
            value = cst.Arg(found.value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
            new = cst.Call(api(_FULL[stable]), [value, *args])
        return fix(title, replace(node, new), rests_on=found.same)
