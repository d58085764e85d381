from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument, is_open_ended, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api
from torchlint.semantics.apis.deprecations import taking
from torchlint.target import TorchVersion

_CHECKPOINTS = tuple(sorted(taking("use_reentrant")))


class ImplicitReentrant(Rule):
    """
    ## What it does
    Finds activation checkpoints that do not say which of the two implementations they mean:
    `torch.utils.checkpoint.checkpoint(block, x)` and `checkpoint_sequential(blocks, 4, x)` without `use_reentrant=`.

    ## Why is this bad
    Such a call warns, torch announces that it will raise, and what it takes today is the older, reentrant implementation.
    That one sees the tensors that it is given, and nothing else: where none of them requires a gradient, as in the first
    block of a network, the parameters of the block get none, and nothing raises if the loss depends on other parameters as
    well. It does not work with `torch.autograd.grad` either, nor with tensors in dictionaries, hooks and nested backwards.

    ## Example
    ```python
    from torch.utils.checkpoint import checkpoint

    hidden = checkpoint(block, inputs)
    ```

    ## Use instead
    ```python
    from torch.utils.checkpoint import checkpoint

    hidden = checkpoint(block, inputs, use_reentrant=False)
    ```

    ## Fix safety
    Unsafe: it takes the implementation that torch recommends. Parameters that got no gradient get one, and what is recomputed
    is recomputed under other conditions. `use_reentrant=True` is what keeps everything as it is. No fix where the call hands on
    arguments that may hold `use_reentrant` already; such a call is not reported.

    ## References
    - [torch.utils.checkpoint](https://docs.pytorch.org/docs/stable/checkpoint.html)
    """

    code = "TPL111"
    name = "implicit-reentrant"
    severity = "warning"
    since = TorchVersion(1, 11)
    triggers = (Api(*_CHECKPOINTS),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call of a checkpoint that does not choose."""
        if self.model.name(node.func) not in _CHECKPOINTS or argument(node, "use_reentrant") or is_open_ended(node):
            return
        if self.model.apis.asks_for_version(node):
            return
        shown = self.model.shown(node.func)
        message = f"`{shown}` without `use_reentrant` warns, and takes the implementation that may give parameters no gradient"
        new = with_argument(node, "use_reentrant", cst.Name("False"))
        doubt = unknown("the other implementation gives gradients to parameters that had none")
        self.report(node, message, fix("Add `use_reentrant=False`", replace(node, new), rests_on=doubt))
