from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import again, expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class DiscardedCompile(Rule):
    """
    ## What it does
    Finds `torch.compile(model)` as a statement of its own.

    ## Why is this bad
    `torch.compile` changes nothing: it gives a new module that compiles when it is run, and this one is thrown away. The model
    runs as before, at the speed of before, and nothing says so.

    ## Example
    ```python
    model = Net()
    torch.compile(model)
    loss = model(x).sum()
    ```

    ## Use instead
    ```python
    model = Net()
    model = torch.compile(model)
    loss = model(x).sum()
    ```

    ## Fix safety
    Unsafe: the model is compiled, with other rounding and what compiling costs. A module of a class that is not torch's own
    gets `model.compile()`, which keeps the names of its parameters in checkpoints; what is not known to be one is assigned.

    ## References
    - [torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
    - [torch.nn.Module.compile](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.compile)
    """

    code = "TPL703"
    name = "discarded-compile"
    triggers = (Found(".compiled.discarded:DiscardedCompiles.found"),)
    needs = (("torch",), ("compile",))
    since = TorchVersion(2, 0)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call whose result nothing gets."""
        found = self.model.training.discarded_compile(node)
        if found is None:
            return
        shown = self.model.shown(found.target)
        message = (
            f"`{self.model.shown(node.func)}` leaves `{shown}` as it is, and what it gives is thrown away: nothing is compiled"
        )
        whole = self.model.statement(node)
        if found.compiles_itself and not found.is_set_up:
            rest = [arg for arg in node.args if arg.value is not found.target]
            method = expression("{module}.compile", module=found.target)
            change = replace(node, node.with_changes(func=method, args=rest))
        elif isinstance(whole, cst.Expr):
            assigned = statement("{target} = {value}", target=again(found.target), value=whole.value)
            change = replace(whole, assigned)
        else:
            return
        self.report(node, message, fix("Run what is compiled", change, rests_on=unknown("the model is compiled")))
