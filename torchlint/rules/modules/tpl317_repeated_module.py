from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.registration.repeated import Repeated


class RepeatedModule(Rule):
    """
    ## What it does
    Finds one module that a `ModuleList` or a `Sequential` is given several times: `nn.ModuleList([nn.Linear(8, 8)] * 3)`,
    `nn.ModuleList([layer for _ in range(3)])`.

    ## Why is this bad
    The list holds the same object at each place. There are as many calls of it as layers were meant, but one set of weights:
    the model has a fraction of its parameters, trains, and is worse. Where weights are to be shared, a loop that calls the
    one module says so.

    ## Example
    ```python
    self.layers = nn.ModuleList([nn.Linear(8, 8)] * 3)
    ```

    ## Use instead
    ```python
    self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
    ```

    ## Fix safety
    Unsafe: the model gets more parameters, and what they start with is another draw. A module that has a name is copied, so
    that the copies start with equal weights. Not reported are modules without weights, and what is shared under a name or a
    condition that says so.

    ## References
    - [torch.nn.ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    """

    code = "TPL317"
    name = "repeated-module"
    triggers = (Found(".registration.repeated:RepeatedModules.found"),)
    needs = (("ModuleList", "Sequential"),)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        """Reports a list of modules that is multiplied."""
        self._look(node)

    def visit_ListComp(self, node: cst.ListComp) -> None:
        """Reports a comprehension that gives the same module each time."""
        self._look(node)

    def visit_GeneratorExp(self, node: cst.GeneratorExp) -> None:
        """Reports a generator that gives the same module each time."""
        self._look(node)

    def _look(self, node: cst.BaseExpression) -> None:
        found = self.model.modules.repeated(node)
        if found is None:
            return
        first = found.modules[0]
        shown = f"`{self.model.shown_call(first, 40)}`" if len(found.modules) == 1 else "modules"
        message = f"the same {shown} `{self.model.shown(found.times)}` times: they share one set of weights; make one for each"
        self.report(node, message, self._fix(node, found))

    def _fix(self, node: cst.BaseExpression, found: Repeated[cst.BaseExpression]) -> CodeFix:
        """What makes modules of their own."""
        rests_on = unknown("the model gets more parameters")
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            copied = expression("{copy.deepcopy}({module})", module=found.modules[0])
            return fix("Copy the module", replace(found.modules[0], copied), rests_on=rests_on)
        parts = {"times": found.times, "module": found.modules[0]}
        if len(found.modules) > 1:
            name = self.model.code.free_name("module", "layer", "each")
            several = cst.Tuple([cst.Element(module) for module in found.modules])
            template = f"[{name} for _ in range({{times}}) for {name} in {{module}}]"
            parts["module"] = several
        elif found.are_made:
            template = "[{module} for _ in range({times})]"
        else:
            template = "[{copy.deepcopy}({module}) for _ in range({times})]"
        new = expression(template, **parts)
        return fix("Make a module for each", replace(node, new), rests_on=rests_on)
