from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, CodeFix, fix, replace, wrap
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.registration.names import Role
from torchlint.semantics.registration.plain_values import Given
from torchlint.semantics.registration.refused_assignments import Refused


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
    shape; one that may be None is given a new tensor. There is no fix for modules, for a fraction in a buffer that may be of
    integers, nor for a parameter that is given something else than a tensor or a number.

    Not reported are names that are registered in a branch, and what may be a parameter itself: `self.weight.to(device)` is one,
    where there is nothing to do. Nor are classes with bases of other files, those that delete names, have a `__setattr__` of
    their own or hand themselves to a function, as `weight_norm(self)`, methods that the constructor runs before it registers
    the name, or a base class of torch may run in its own, and assignments in a `try` or behind an `isinstance`.

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
        given = f"{'an' if refused.given is Given.ARRAY else 'a'} {refused.given.value}"
        message = f"`{shown}` is a {refused.role.value} since line {line}: assigning {given} raises a TypeError"
        self.report(node, f"{message}{self._remedy(refused, shown)}", self._fix(node, target, refused))

    @staticmethod
    def _remedy(refused: Refused[cst.BaseExpression], shown: str) -> str:
        if refused.role is Role.PARAMETER and refused.given is Given.TENSOR:
            return "; copy it into the parameter, under `torch.no_grad()`" if refused.is_filled else "; make it a parameter"
        can_be_filled = refused.given is Given.NUMBER and refused.role is not Role.MODULE and refused.is_filled
        return f"; `{shown}.fill_(…)` sets its values" if can_be_filled else ""

    def _fix(self, node: cst.Assign, target: cst.BaseExpression, refused: Refused[cst.BaseExpression]) -> CodeFix | None:
        rests_on = unknown("the code raised, and what follows has never run")
        value = refused.value
        if refused.role is Role.MODULE:
            return None
        if refused.is_filled and refused.given in (Given.TENSOR, Given.NUMBER):
            if refused.given is Given.NUMBER and not (refused.takes_fractions or isinstance(value, cst.Integer)):
                return None
            method = "fill_({value})" if refused.given is Given.NUMBER else "copy_({value})"
            if refused.is_view:
                value = expression("{view}.clone()", view=value)  # of its own memory, perhaps
            call = replace(node, cst.Expr(expression(f"{{target}}.{method}", target=target, value=value)))
            off = () if refused.role is Role.BUFFER else (wrap([node], expression("{torch.no_grad}()")),)
            return fix(f"Set the values of the {refused.role.value}", *off, call, rests_on=rests_on)
        made = self._made(refused)
        return fix(*made, rests_on=rests_on) if made is not None else None

    @staticmethod
    def _made(refused: Refused[cst.BaseExpression]) -> tuple[str, Change] | None:
        """What makes a parameter or a tensor of a value."""
        value = refused.value
        if refused.role is Role.PARAMETER:
            made = expression("{torch.nn.Parameter}({value})", value=value)
            return ("Make it a parameter", replace(value, made)) if refused.given is Given.TENSOR else None
        is_list = isinstance(value, (cst.List, cst.Tuple)) and all(
            isinstance(each.value, (cst.Integer, cst.Float)) for each in value.elements
        )
        if refused.given in (Given.ARRAY, Given.NUMBER) or is_list:
            return "Make it a tensor", replace(value, expression("{torch.as_tensor}({value})", value=value))
        return None
