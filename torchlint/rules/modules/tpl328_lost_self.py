from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, fix, insert_last, replace
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modules.lost_selves import GIVE_MODULE, GivesNothing


class LostSelf(Rule):
    """
    ## What it does
    Finds methods of a module that do what the one of `nn.Module` does, and more, and give nothing: `train`, `eval`, `to`,
    `cuda`, `cpu`, `half`, `float`, `double`, `requires_grad_`, `apply` and their like, which all give the module, and `_apply`,
    whose result most of them give.

    ## Why is this bad
    Everyone writes `model = Net().to(device)` and `net = net.eval()`. With such a method the name is `None`, and calling it
    raises a TypeError, far from the class. `nn.Module.eval` gives what `train(False)` gives, so that a `train` without
    `return self` breaks both.

    ## Example
    ```python
    from torch import nn


    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

        def forward(self, x):
            return self.stem(x)

        def train(self, mode=True):
            super().train(mode)
            self.stem.eval()
    ```

    ## Use instead
    ```python
    from torch import nn


    class Backbone(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))

        def forward(self, x):
            return self.stem(x)

        def train(self, mode=True):
            super().train(mode)
            self.stem.eval()
            return self
    ```

    ## Fix safety
    Unsafe: who calls the method gets the module, and may have looked at the `None`. An annotation `-> None` becomes the class.

    Not reported are methods of the same name that do not do what the one of the base class does, such as a `train(loader)`
    which is a loop of its own, those that give something somewhere, those with a decorator, and those that the class or the
    file puts something else in the place of.

    ## References
    - [torch.nn.Module.train](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.train)
    - [torch.nn.Module.to](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.to)
    """

    code = "TPL328"
    name = "lost-self"
    triggers = (Found(".modules.lost_selves:LostSelves.found"),)
    needs = (tuple(sorted(GIVE_MODULE)), ("torch", "nn", "lightning", "pytorch_lightning", "transformers"))

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        """Reports the name of the method."""
        lost = self.model.modules.lost_self(node)
        if lost is None:
            return
        name = node.name.value
        others = f", and with it {', '.join(f'`{each}`' for each in lost.others)}," if lost.others else ""
        used = lost.others[0] if name == "_apply" and lost.others else name
        given = f"`{name}`{others} gives None where that of `nn.Module` gives the module"
        self.report(
            node.name,
            f"{given}: `net = net.{used}(…)` is None; return `{lost.instance}`",
            fix(
                f"Return `{lost.instance}`",
                *self._changes(node, lost),
                rests_on=unknown("callers get the module where they got None"),
            ),
        )

    @staticmethod
    def _changes(node: cst.FunctionDef, lost: GivesNothing[cst.CSTNode]) -> Iterator[Change]:
        new = statement(f"return {lost.instance}")
        if (
            node.returns is not None
            and isinstance(node.returns.annotation, cst.Name)
            and node.returns.annotation.value == "None"
        ):
            yield replace(node.returns.annotation, cst.SimpleString(f'"{lost.owner}"'))
        for each in lost.returns:
            yield replace(each, new)
        if lost.falls_off:
            yield insert_last(node, new)
