from __future__ import annotations

import libcst as cst

from torchlint.fact import NOTHING
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import again, expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.training.uncalled import Lacks


class UncalledMethod(Rule):
    """
    ## What it does
    Finds methods that stand as a statement without being called, `loss.backward`, `optimizer.step`, `model.eval`; functions
    such as `torch.cuda.synchronize`; and `with torch.no_grad:`.

    ## Why is this bad
    Without `()` the method is looked up and thrown away: no gradient is computed, no weight changes, dropout stays on, and
    nothing is raised. (`with torch.no_grad:` raises a `TypeError`, once that line is reached.)

    ## Example
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step
    ```

    ## Use instead
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    Safe: the statement does nothing, and calling the method is what was meant. A method that gives a new tensor, as in
    `x.cuda`, is called and its result assigned: `x = x.cuda()`. There is no fix where the call needs arguments.

    ## References
    - [Optimizing model parameters](https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html)
    """

    code = "TPL013"
    name = "uncalled-method"
    triggers = (Found(".training.uncalled:Uncalled.functions"), Found(".training.uncalled:Uncalled.contexts"))
    needs = (("torch", "torchvision", "nn", "optim", "backward", "zero_grad", "step", "forward", "LightningModule", "cuda"),)

    def visit_Expr(self, node: cst.Expr) -> None:
        """`loss.backward` as a statement."""
        lacks = self.model.training.uncalled(node.value)
        if lacks is not None:
            self._report(node.value, "does nothing", self._fix(node, lacks))

    def visit_WithItem(self, node: cst.WithItem) -> None:
        """`with torch.no_grad:`."""
        if self.model.training.is_uncalled_context(node.item):
            effect = "raises a `TypeError`: it is the class of the context manager"
            self._report(node.item, effect, self._call(node.item))

    def _report(self, target: cst.BaseExpression, effect: str, mended: CodeFix | None) -> None:
        name = self.model.shown(target)
        remedy = f"call it: `{name}()`" if mended is not None else "call it with what it needs"
        self.report(target, f"`{name}` without a call {effect}; {remedy}", mended)

    def _fix(self, node: cst.Expr, lacks: Lacks) -> CodeFix | None:
        method = node.value
        match lacks, method:
            case Lacks.CALL, _:
                return self._call(method)
            case Lacks.ASSIGNED_CALL, cst.Attribute(value=cst.Name() | cst.Attribute() | cst.Subscript() as tensor):
                assignment = statement("{tensor} = {call}", tensor=again(tensor), call=_called(method))
                return fix(f"Call `{self.model.shown(method)}`", replace(node, assignment), rests_on=NOTHING)
        return None

    def _call(self, function: cst.BaseExpression) -> CodeFix:
        return fix(f"Call `{self.model.shown(function)}`", replace(function, _called(function)), rests_on=NOTHING)


def _called(function: cst.BaseExpression) -> cst.BaseExpression:
    """The call of a function; parentheses around the function are now around the call."""
    call = expression("{function}()", function=function.with_changes(lpar=(), rpar=()))
    return call.with_changes(lpar=function.lpar, rpar=function.rpar)
