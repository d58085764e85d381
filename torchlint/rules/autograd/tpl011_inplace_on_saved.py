from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Change, CodeFix, fix, insert_before, replace, wrap
from torchlint.fixes.code import again, expression, statement
from torchlint.fixes.out_of_place import operation, out_of_place, without_flag
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.gradients.leaf_changes import LeafChange
from torchlint.semantics.gradients.saved.changes import OutOfPlace, SavedChange


class InplaceOnSaved(Rule):
    """
    ## What it does
    Finds changes in place of a tensor that an operation has saved for the backward pass, `y = x.sigmoid(); y *= mask`, or
    `h = self.fc(x); x += h`, those by modules such as `nn.Dropout(p, inplace=True)` among them, and changes of a leaf that
    requires grad, `w -= lr * w.grad`. Functions and modules of the file that keep what they are given count, too. Not
    reported is what a `forward` changes where it is not training, or has no targets, also behind a branch that returns.
    Strict is a change that is made whether or not the branch was taken in which the tensor is saved: perhaps never both.

    ## Why is this bad
    The gradient of `sigmoid`, `softmax`, `exp` or `relu` is computed from its result, that of a product or a layer from its
    input. Once the saved tensor is changed, the backward pass raises, far from the line that did it: "one of the variables
    needed for gradient computation has been modified by an inplace operation". A leaf that requires grad cannot be changed in
    place at all, except under `torch.no_grad()`.

    ## Example
    ```python
    x = torch.randn(3, requires_grad=True)
    y = x.sigmoid()
    y *= 2
    y.sum().backward()
    ```

    ## Use instead
    ```python
    x = torch.randn(3, requires_grad=True)
    y = x.sigmoid()
    y = y * 2
    y.sum().backward()
    ```

    ## Fix safety
    The change is made out of place, on a clone where only a part is changed, and under `torch.no_grad()` for a leaf. Safe where
    nobody can tell, whether or not a backward pass comes: the tensor is computed in the same function, nothing but its variable
    has it, or its memory, when it is changed (a kept `y.detach()` or `y.numpy()` has), only numbers go into a result out of
    place, and the file awaits no error and asks for no `_version` or `data_ptr`. A module must be called in this one place, and
    no layer of a sequence be used on its own or hooked. A leaf must be a variable made with `requires_grad=True`, or a
    parameter that the lines above have made.

    Unsafe everywhere else: the caller, another name or a view may rely on the change, a tensor may bring another type or shape,
    and what is taken for a leaf may be frozen or computed. There is no fix where a leaf is given a value with a graph, which
    `torch.no_grad()` would cut off.

    ## References
    - [Autograd mechanics: in-place operations](https://docs.pytorch.org/docs/stable/notes/autograd.html)
    """

    code = "TPL011"
    name = "inplace-on-saved"
    triggers = (
        Found(".gradients.saved.changes:SavedChanges.at"),
        Found(".gradients.saved.changes:SavedChanges.in_sequences"),
        Found(".gradients.leaf_changes:LeafChanges.at"),
    )
    needs = (
        (
            *("backward", "manual_backward", "grad", "training_step", "forward", "requires_grad", "requires_grad_"),
            *("Parameter", "ParameterList", "ParameterDict", "parameters", "named_parameters", "weight", "bias", "Sequential"),
        ),
    )

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """`y *= 2`, `y[0] += 1`."""
        self._check(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """`y[mask] = 0`."""
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        """`y.mul_(2)`, `F.relu(y, inplace=True)`, `self.dropout(y)`; `nn.Sequential(nn.ReLU(), nn.Dropout(inplace=True))`."""
        self._check(node)
        layer = self.model.autograd.saved_layer_change(node)
        if layer is not None:
            what = f"`{self.model.shown(node)}` changes in place what `{self.model.shown(layer.saving)}`"
            message = f"{what} has saved for the backward pass, which will raise"
            unseen = self.model.autograd.is_unseen_layer_change(node)
            self.report(node, message, fix("Do not work in place", without_flag(layer.flagged), rests_on=unseen))

    def _check(self, node: cst.CSTNode) -> None:
        if (saved := self.model.autograd.saved_change(node)) is not None:
            self.report(node, self._message_of_saved(saved), self._fix_of_saved(saved), strict=saved.is_conditional)
        elif (leaf := self.model.autograd.leaf_change(node)) is not None:
            advice = "make it without `requires_grad`" if leaf.takes_graph else "do it under `torch.no_grad()`"
            what = f"`{self.model.shown(leaf.target)}` is a leaf that requires grad"
            self.report(node, f"{what}: changing it in place raises; {advice}", self._fix_of_leaf(leaf))

    def _message_of_saved(self, change: SavedChange[cst.BaseExpression, cst.CSTNode]) -> str:
        operation = self.model.shown_call(change.saving, longest=40)
        by = f" by `{self.model.shown(change.module)}`" if change.module is not None else ""
        if change.target is change.saving:
            what = f"The result of `{operation}` is changed in place{by}, but saved"
        else:
            what = f"`{self.model.shown(change.target)}` is changed in place{by}, but `{operation}` has saved it"
        return f"{what} for the backward pass, which will raise"

    # --- fixes -------------------------------------------------------------------------------------------------------

    def _fix_of_saved(self, change: SavedChange[cst.BaseExpression, cst.CSTNode]) -> CodeFix | None:
        changes = self._changes(change)
        return (
            fix(
                "Make the change out of place",
                *changes,
                rests_on=self.model.autograd.is_own_change(change.node),
            )
            if changes
            else None
        )

    def _changes(self, change: SavedChange[cst.BaseExpression, cst.CSTNode]) -> list[Change]:
        match change.instead, change.node:
            case OutOfPlace.OPERATION, cst.AugAssign() as assignment:
                return [replace(assignment, operation(assignment))]
            case OutOfPlace.METHOD, cst.Call() as call:
                return [self._assigned(call, change.target)]
            case OutOfPlace.UNFLAGGED, _:
                return [without_flag(flagged) for flagged in change.flagged]
            case OutOfPlace.CLONED, _ if self.model.statement(change.saving) is not self.model.statement(change.node):
                assert change.first is not None
                cloned = statement("{changed} = {value}.clone()", changed=again(change.target), value=again(change.target))
                return [insert_before(change.first, cloned, alone=True)]
        return []

    def _assigned(self, call: cst.Call, changed: cst.BaseExpression) -> Change:
        """Makes ``y = y.mul(2)`` of ``y.mul_(2)``."""
        whole = self.model.statement(call)
        if isinstance(whole, cst.Assign):
            return replace(call, out_of_place(call))
        return replace(whole, statement("{changed} = {result}", changed=again(changed), result=out_of_place(call)))

    def _fix_of_leaf(self, change: LeafChange[cst.BaseExpression, cst.CSTNode]) -> CodeFix | None:
        if change.takes_graph or not change.whole:
            return None
        block = wrap([self.model.statement(change.node)], expression("{torch.no_grad}()"))
        return fix("Change it under `torch.no_grad()`", block, rests_on=self.model.autograd.is_leaf_change_alone(change.node))
