from __future__ import annotations

import re

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Call

_LAYER = re.compile(r"torch\.nn\.(modules\.\w+\.)?(?!Lazy)[A-Z]\w*")
"""The layers of torch that have no hooks of their own, as lazy ones do."""


class DirectForward(Rule):
    """
    ## What it does
    Finds calls of a module's `forward` method: `model.forward(x)`, `self.loss.forward(a, p, n)`. Strict are a class's
    `self.forward(x)` in another method of its own, which knows what its `forward` does, and that of a layer of torch which is
    made on the spot and has no hooks yet: `nn.Upsample(size).forward(x)`.

    ## Why is this bad
    `model(x)` runs the hooks that are registered on the module, and then `forward`; `model.forward(x)` leaves the hooks out.
    The features that a forward hook collects are missing, and so is what libraries do in hooks: `nn.utils.weight_norm` and
    `spectral_norm` compute the weight there, pruning applies its masks, and profilers and Grad-CAM look at activations.

    ## Example
    ```python
    model = nn.Linear(2, 2)
    y = model.forward(x)
    ```

    ## Use instead
    ```python
    model = nn.Linear(2, 2)
    y = model(x)
    ```

    ## Fix safety
    Unsafe: the hooks run now, which may change results.

    Not reported are `super().forward(x)`, calls within `__call__` or in `forward` itself and what it calls, and modules that
    have a `__call__` of their own, whose `forward` the file replaces by another one (not by itself, compiled), or whose class
    never runs the constructor of `nn.Module`: there are no hooks, and a call raises. Nor is a receiver of unknown class in a
    project that has a class with `forward` and methods like `train` or `to` which is no module. Findings in tests, and
    elsewhere in files of tests, are strict.

    ## References
    - [torch.nn.Module.forward](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.forward)
    """

    code = "TPL302"
    name = "direct-forward"
    severity = "warning"
    triggers = (Call("forward"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call of ``forward`` on a module."""
        match node.func:
            case cst.Attribute(module, cst.Name("forward")) as forward if self.model.modules.leaves_out_hooks(node):
                text = self.model.shown(module) if self.model.is_on_one_line(module) else "the module"
                shown = f"`{text}.forward(…)`" if text != "the module" else "`.forward(…)`"
                self.report(
                    forward,
                    f"{shown} runs without the module's hooks: call `{text}(…)`",
                    fix(
                        "Call the module",
                        replace(forward, module),
                        rests_on=unknown("the module's hooks run, which may change results"),
                    ),
                    strict=self.model.modules.is_instance_itself(module)
                    or self._is_made_on_the_spot(module)
                    or self.model.code.is_in_tests(node),
                )

    def _is_made_on_the_spot(self, module: cst.BaseExpression) -> bool:
        """Whether a module is a layer of torch that was just made, so that nobody has registered a hook on it."""
        return isinstance(module, cst.Call) and _LAYER.fullmatch(self.model.name(module.func) or "") is not None
