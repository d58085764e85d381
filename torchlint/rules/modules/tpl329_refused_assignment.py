from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace, wrap
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics import Type
from torchlint.semantics.registration.refused_assignments import Refused, Role


class RefusedAssignment(Rule):
    """
    ## What it does
    Finds assignments that `nn.Module` refuses: of a tensor or a number to a parameter, `self.weight = self.weight / 2`, of a
    number or an array to a buffer, and of what is no module to a module, where the constructor registers the name whatever its
    conditions.

    ## Why is this bad
    `nn.Module` keeps the names of its parameters, buffers and modules for these: each such assignment raises a TypeError when
    it runs, which may be late, in a branch or a method that is rarely called.

    ## Example
    ```python
    import torch
    import torch.nn.functional as F
    from torch import nn


    class Prototypes(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(10, 4))

        def normalize(self):
            self.weight = F.normalize(self.weight)
    ```

    ## Use instead
    ```python
    import torch
    import torch.nn.functional as F
    from torch import nn


    class Prototypes(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(10, 4))

        def normalize(self):
            with torch.no_grad():
                self.weight.copy_(F.normalize(self.weight))
    ```

    ## Fix safety
    Unsafe: the code raised, and what follows has never run. The values are copied into the parameter or buffer, which keeps its
    shape; one that was registered as None is given a new one. There is no fix for modules, nor for a parameter that is given
    something else than a tensor or a number.

    Not reported are names that are registered in a branch, classes that delete names, have a `__setattr__` of their own or hand
    themselves to a function, as `weight_norm(self)`, and what may be a parameter itself: `self.weight.to(device)` is one, where
    there is nothing to do.

    ## References
    - [torch.nn.Module](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html)
    - [torch.nn.Module.register_buffer](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_buffer)
    """

    code = "TPL329"
    name = "refused-assignment"
    triggers = (Found(".registration.refused_assignments:RefusedAssignments.found"),)
    needs = (("__init__",), ("torch", "nn", "lightning", "pytorch_lightning"))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports the assignment."""
        refused = self.model.modules.refused_assignment(node)
        if refused is None:
            return
        target = node.targets[0].target
        shown, line = self.model.shown(target), self.model.line(refused.registered)
        given = f"{'an' if refused.given is Type.ARRAY else 'a'} {refused.given.value}"
        message = f"`{shown}` is a {refused.role.value} since line {line}: assigning {given} raises a TypeError"
        self.report(node, f"{message}{self._remedy(refused, shown)}", self._fix(node, target, refused))

    @staticmethod
    def _remedy(refused: Refused[cst.BaseExpression], shown: str) -> str:
        if refused.role is Role.PARAMETER and refused.given is Type.TENSOR:
            return "; copy it into the parameter, under `torch.no_grad()`" if refused.is_filled else "; make it a parameter"
        can_be_filled = refused.given is Type.NUMBER and refused.role is not Role.MODULE and refused.is_filled
        return f"; `{shown}.fill_(…)` sets its values" if can_be_filled else ""

    def _fix(self, node: cst.Assign, target: cst.BaseExpression, refused: Refused[cst.BaseExpression]) -> CodeFix | None:
        rests_on = unknown("the code raised, and what follows has never run")
        made = {Role.PARAMETER: "{torch.nn.Parameter}({value})", Role.BUFFER: "{torch.as_tensor}({value})"}.get(refused.role)
        is_number = refused.given is Type.NUMBER
        if made is None or (refused.role is Role.PARAMETER and not (is_number or refused.given is Type.TENSOR)):
            return None
        if refused.is_filled and (is_number or refused.given is Type.TENSOR):
            method = "fill_" if is_number else "copy_"
            call = replace(node, cst.Expr(expression(f"{{target}}.{method}({{value}})", target=target, value=refused.value)))
            off = () if refused.role is Role.BUFFER else (wrap([node], expression("{torch.no_grad}()")),)
            return fix(f"Set the values of the {refused.role.value}", *off, call, rests_on=rests_on)
        if is_number and refused.role is Role.PARAMETER:
            return None
        change = replace(refused.value, expression(made, value=refused.value))
        return fix(f"Make it a {'parameter' if refused.role is Role.PARAMETER else 'tensor'}", change, rests_on=rests_on)
