from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import as_operand, holds_comment
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class LostParameter(Rule):
    """
    ## What it does
    Finds parameters that are none any more when a module gets them, `self.w = nn.Parameter(t).to(device)`, and terms of a loss
    that lost their graph, `loss = ce + 0.1 * penalty.item()`. A parameter may get there by way of a
    variable, or of a function of the file that gives it back. A term may be the entropy of a policy, which is subtracted.

    ## Why is this bad
    What `to`, `cuda`, `view` or a product give is a tensor like any other, with the parameter somewhere behind it. The module
    does not register it: it is not in `parameters()`, no optimizer changes it, and no checkpoint has it. A term without a
    graph has a part in the loss that is shown, and in no gradient: nothing is trained by it.

    ## Example
    ```python
    class Table(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.table = nn.Parameter(torch.randn(size, 8)) * 0.02
    ```

    ## Use instead
    ```python
    class Table(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.table = nn.Parameter(torch.randn(size, 8) * 0.02)
    ```

    ## Fix safety
    Unsafe: the module gets another parameter, which is trained and saved; the gradients change. No fix where a comment
    stands in the call that makes the parameter, or where the parameter has a variable before: `w = w.cuda()`.

    ## References
    - [torch.nn.parameter.Parameter](https://docs.pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html)
    """

    code = "TPL319"
    name = "lost-parameter"
    triggers = (Found(".parameters.lost:LostParameters.found"), Found(".gradients.lost_terms:LostTerms.found"))
    needs = (("Parameter", "backward", "manual_backward", "training_step"), ("torch", "nn", "backward"))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports an attribute of a module that is assigned what is computed of a parameter."""
        found = self.model.training.lost_parameter(node)
        if found is None or not isinstance(found.parameter, cst.Call):
            return
        shown, computed = self.model.shown(node), self.model.shown_start(found.computed, 60)
        because = f"`{computed}` is a tensor that is computed of one, which the module does not register"
        if not found.direct:
            self.report(node, f"`{shown}` is no parameter: {because}")
            return
        inside = _inside(found.computed, found.parameter, found.tensor)
        first, *others = found.parameter.args
        whole = found.parameter.with_changes(args=[first.with_changes(value=inside), *others])
        rests_on = unknown("the module gets a parameter that it did not have")
        new = fix("Make the parameter of what is computed", replace(found.computed, whole), rests_on=rests_on)
        self.report(
            node,
            f"`{shown}` is no parameter: {because}",
            None if holds_comment(found.parameter) else new,
        )

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a term of a loss that leaves its graph behind."""
        found = self.model.training.lost_term(node)
        if found is None:
            return
        self.report(
            node,
            f"`{self.model.shown(node)}` adds to the loss and not to the gradients: nothing is trained by this term; "
            f"add `{self.model.shown(found.value)}` itself",
            fix("Keep the graph", replace(node, found.value), rests_on=unknown("the gradients change")),
        )


def _inside(computed: cst.BaseExpression, parameter: cst.Call, tensor: cst.BaseExpression) -> cst.BaseExpression:
    """What is computed of a parameter, computed of its tensor."""
    if computed is parameter:
        return as_operand(tensor)
    match computed:
        case cst.Call(func=cst.Attribute(value=owner) as method):
            return computed.with_changes(func=method.with_changes(value=_inside(owner, parameter, tensor)))
        case cst.UnaryOperation(expression=operand):
            return computed.with_changes(expression=_inside(operand, parameter, tensor))
        case cst.BinaryOperation(left=left, right=right):
            return computed.with_changes(left=_inside(left, parameter, tensor), right=_inside(right, parameter, tensor))
    return computed
