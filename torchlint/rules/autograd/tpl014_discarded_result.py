from __future__ import annotations

import libcst as cst

from torchlint.fact import all_of, unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import again, expression, positional, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class DiscardedResult(Rule):
    """
    ## What it does
    Finds statements that compute a tensor and throw it away: `x.to(device)`, `x.cuda()`, `mask.masked_fill(pad, 0)`,
    `F.dropout(x, p)`; or several, `x.cuda(), y.cuda()`. And gradients that nobody gets:
    `torch.autograd.grad(loss, model.parameters())`.

    ## Why is this bad
    A module is moved in place by `model.to(device)`; a tensor is not. `x.to(device)` gives another tensor, and `x` stays
    where and what it was. The same holds for every method that does not end in `_`. `torch.autograd.grad` gives the
    gradients and, unlike `backward()`, puts them nowhere: the optimizer's step behind it changes nothing. A move to the
    device on which the tensor is already, by a move in the lines above, is strict.

    ## Example
    ```python
    mask = torch.tensor(rows)
    mask.to(device)
    scores = scores + mask
    ```

    ## Use instead
    ```python
    mask = torch.tensor(rows)
    mask = mask.to(device)
    scores = scores + mask
    ```

    ## Fix safety
    The result is assigned to the variable, attribute or item that the method was called on. Safe for `to`, `cuda` and `cpu`
    where what is moved is a tensor for certain, what it is given is a device, and nobody else has hold of the tensor: it has
    a name of its function's own, and was made for that or is only read; or it is an attribute that the class sets once, or
    the item of a dict, and is only read or given to modules; and where nothing in sight needs it on the CPU behind the move:
    an array that is made of it, a tensor that is made there beside it, a layer that is never moved. Unsafe for everything
    else: what computes other numbers (`x.add(1)`, `F.dropout(x, p)`, a cast), since the program's results change; `clone` and
    `contiguous`, since what was a view no longer is; leaves that require grad, since the result is no leaf.
    There is no fix where assigning would not help: the name is not read afterwards, it belongs to an enclosing scope, the
    attribute is a parameter, what is computed is of another sort, such as a sum or a pair, or what would be moved is then
    compared with something that was moved to the CPU.
    Gradients are computed by `loss.backward()` instead, for all parameters that the loss depends on, which is unsafe; with
    other arguments than the loss and what it is differentiated by there is no fix.

    ## References
    - [torch.Tensor.to](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html)
    """

    code = "TPL014"
    name = "discarded-result"
    triggers = (Found(".memory.discarded:DiscardedResults.found"), Found(".gradients.discarded:DiscardedGradients.found"))
    needs = (("torch",),)

    def visit_Expr(self, node: cst.Expr) -> None:
        """Reports a call as a statement."""
        if self.model.code.is_displayed(node):
            return
        differentiated = self.model.autograd.discarded_gradients(node.value)
        if differentiated is not None and isinstance(node.value, cst.Call):
            self._report_gradients(node.value, differentiated)
        if isinstance(node.value, (cst.Tuple, cst.List)):
            self._report_several(node, node.value)
            return
        discarded = self.model.memory.discarded(node.value)
        if discarded is None:
            return
        name, assigned = self.model.shown(discarded.tensor), None
        if discarded.assignable:
            assignment = statement("{tensor} = {call}", tensor=again(discarded.tensor), call=node.value)
            assigned = fix(
                f"Assign the result to `{name}`",
                replace(node, assignment),
                rests_on=self.model.memory.may_take_its_place(node.value),
            )
        self.report(
            node.value,
            f"`{self.model.shown_call(node.value)}` leaves `{name}` as it is, and its result is thrown away; "
            + (f"assign it: `{name} = …`" if assigned is not None else "use it"),
            assigned,
            strict=isinstance(node.value, cst.Call) and self.model.devices.is_there_already(node.value),
        )

    def _report_several(self, node: cst.Expr, values: cst.Tuple | cst.List) -> None:
        """Reports a statement that is nothing but several results, `x.cuda(), y.cuda()`, at the first that is thrown away."""
        calls = [element.value for element in values.elements]
        found = {call: each for call in calls if (each := self.model.memory.discarded(call)) is not None}
        if not found:
            return
        names = {call: self.model.shown(each.tensor) for call, each in found.items()}
        assigned, targets = None, ", ".join(names.values())
        if len(set(names.values())) == len(calls) > 1 and all(each.assignable for each in found.values()):
            tensors = [cst.Element(again(each.tensor)) for each in found.values()]
            assigned = fix(
                f"Assign the results to `{targets}`",
                replace(node, statement("{tensors} = {values}", tensors=cst.Tuple(tensors, lpar=(), rpar=()), values=values)),
                rests_on=all_of(*map(self.model.memory.may_take_its_place, found)),
            )
        first, *others = found
        call, kept = f"`{self.model.shown_call(first)}`", " and ".join(f"`{name}`" for name in dict.fromkeys(names.values()))
        whose = f"{call} leaves {kept} as it is, and its result is thrown away"
        if others:
            whose = f"{call} and what is beside it leave {kept} as they were, and their results are thrown away"
        use = "use them" if others else "use it"
        self.report(first, f"{whose}; {f'assign them: `{targets} = …`' if assigned is not None else use}", assigned)

    def _report_gradients(self, call: cst.Call, loss: cst.BaseExpression) -> None:
        name = self.model.shown(loss)
        self.report(
            call,
            f"`{self.model.shown_call(call)}` gives gradients that are thrown away, and sets no `.grad`; "
            f"use `{name}.backward()`",
            fix(
                "Call `backward()`",
                replace(call, expression("{loss}.backward()", loss=loss)),
                rests_on=unknown("it computes the gradients of all parameters, and adds them to `.grad`"),
            )
            if isinstance(loss, (cst.Name, cst.Attribute)) and len(positional(call)) == len(call.args) <= 2
            else None,
        )
