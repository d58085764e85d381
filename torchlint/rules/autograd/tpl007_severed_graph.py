from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, remove, replace
from torchlint.fixes.code import as_operand
from torchlint.fixes.parentheses import bare
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.gradients.severed import NewLeaf


class SeveredGraph(Rule):
    """
    ## What it does
    Finds computed values that are made new leaves on the way to `backward`: `loss = Variable(loss, requires_grad=True)`,
    `torch.tensor(loss.item(), requires_grad=True)`, `loss.requires_grad = True`, also of what a model gave for a part of the
    loss, a model's output taken through NumPy and wrapped again. In the `forward` of a module, also what a layer of it
    computes, if that is taken through NumPy, as it is, and nothing else becomes of it than what other layers are given:
    `torch.from_numpy(h.detach().numpy()[-1])`.

    ## Why is this bad
    The backward pass ends at a leaf. It runs without an error, for there is something that requires grad, but no parameter
    gets a gradient: the model is never trained; where layers come behind it, those in front of it are not.
    `requires_grad=True` does not mend "element 0 of tensors does not require grad", it hides it. Where the value has a graph,
    setting the flag raises a RuntimeError: only leaves take it.

    ## Example
    ```python
    output = model(x)
    loss = criterion(output, y)
    loss = Variable(loss, requires_grad=True)
    loss.backward()
    ```

    ## Use instead
    ```python
    output = model(x)
    loss = criterion(output, y)
    loss.backward()
    ```

    ## Fix safety
    Unsafe: with the graph whole again, gradients flow where there were none; and where `requires_grad = True` hid that a loss
    has no graph at all, the backward pass raises without it. There is no fix where the value went through something that is
    not a tensor's, or through an operation without a gradient such as `argmax`.

    ## References
    - [torch.Tensor.requires_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html)
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TPL007"
    name = "severed-graph"
    triggers = (
        Found(".gradients.severed:SeveredGraphs.made_leaves"),
        Found(".gradients.severed:SeveredGraphs.new_leaves"),
        Found(".modules.round_trips:RoundTrips.found"),
    )
    needs = (("requires_grad", "requires_grad_", "Variable", "numpy", "tolist"),)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """`loss.requires_grad = True` before `loss.backward()`."""
        self._check_flag(node)

    def visit_Call(self, node: cst.Call) -> None:
        """`loss.requires_grad_()`, `Variable(loss, requires_grad=True)`, `torch.tensor(loss.item(), requires_grad=True)`."""
        self._check_flag(node)
        leaf = self.model.autograd.new_leaf(node)
        if leaf is not None:
            self.report(node, self._message(leaf), _reconnected(leaf, self.model.statement(node)))
            return
        trip = self.model.autograd.round_trip(node)
        if trip is not None:
            made, source = self.model.shown_call(node), self.model.shown(trip.source)
            self.report(node, f"`{made}` leaves the graph of `{source}` behind: the layers that computed it get no gradient")

    def _check_flag(self, node: cst.BaseExpression) -> None:
        made = self.model.autograd.made_leaf(node)
        if made is not None:
            statement = self.model.statement(node)
            flag, value = self.model.shown(statement), self.model.shown(made.loss)
            if made.raises:
                message = f"`{flag}` raises: an operation made `{value}`, and only a leaf takes the flag; drop the line"
            elif made.whole:
                message = (
                    f"`{flag}` makes a leaf of a computed value: `{value}.backward()` runs, but no parameter gets a gradient"
                )
            else:
                message = f"`{flag}` raises where `{value}` has a graph; where it has none, no parameter gets a gradient by it"
            self.report(
                node,
                message,
                fix(
                    "Leave the flag alone",
                    remove(statement),
                    rests_on=unknown("gradients flow where there were none, or the backward raises where there is no graph"),
                ),
            )

    def _message(self, leaf: NewLeaf[cst.BaseExpression]) -> str:
        made = f"`{self.model.shown_call(leaf.node)}`"
        if leaf.asks_for_grad:
            return (
                f"{made} makes a new leaf of a computed value: the backward pass ends there, and no parameter gets a gradient"
            )
        return f"{made} cuts the graph on the way to the backward pass: no parameter gets a gradient"


def _reconnected(leaf: NewLeaf[cst.BaseExpression], statement: cst.CSTNode) -> CodeFix | None:
    """Uses the value itself; where nothing is left of the statement, removes it."""
    if leaf.whole is None:
        return None
    value = as_operand(bare(leaf.whole))
    for item in leaf.items:
        assert isinstance(item, cst.Subscript)
        value = item.with_changes(value=value, lpar=(), rpar=())
    change = remove(statement) if leaf.needless else replace(leaf.node, value)
    return fix(
        "Keep the graph",
        change,
        rests_on=unknown("gradients flow where there were none, or the backward raises where there is no graph"),
    )
