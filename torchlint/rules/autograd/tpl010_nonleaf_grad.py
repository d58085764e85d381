from __future__ import annotations

import libcst as cst

from torchlint.fact import Answer, unknown
from torchlint.fixes.changes import CodeFix, fix, insert_before, insert_behind, replace, wrap
from torchlint.fixes.code import again, expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.autograd.nonleaf_gradients import Rebound, Unretained


class NonleafGrad(Rule):
    """
    ## What it does
    Finds `.grad` read of a tensor that an operation produced, `b = a * 2; b.sum().backward(); b.grad`, with no `retain_grad()`.

    ## Why is this bad
    The backward pass leaves gradients in the leaves of the graph only. `.grad` of any other tensor is `None`, and torch just
    warns. That holds for a leaf's copies, too: `x = torch.randn(3, requires_grad=True).cuda()` is none, and neither is `w[0]`,
    nor what `w = w - lr * w.grad` leaves for the next round.

    ## Example
    ```python
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    b.sum().backward()
    print(b.grad)
    ```

    ## Use instead
    ```python
    a = torch.ones(2, requires_grad=True)
    b = a * 2
    b.retain_grad()
    b.sum().backward()
    print(b.grad)
    ```

    ## Fix safety
    Safe where the file shows that the tensor has a graph, and that a backward pass runs before the gradient is read: it is
    made, by operations of torch, of a tensor with `requires_grad=True`, a parameter or a layer; `loss.backward()` stands in the
    same block behind it; nobody reckons with `None`; and nothing takes a graph away: no flag, no context or decorator, no
    imported code beside known libraries. `w[0].grad` becomes `w.grad[0]`, safe where `w` is such a leaf and the loss is
    computed of it.

    Unsafe everywhere else: `retain_grad()` raises where the tensor has no graph, `w.grad` may be `None` as well, code that
    reads the gradients of what is in a list, or clips them, may go without that of a tensor in it, and `w = w - lr * w.grad`
    becomes a change of `w` in place. There is no fix for `.grad` of an expression that has no name, nor
    for that of an item of what is no leaf itself.

    ## References
    - [torch.Tensor.retain_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.retain_grad.html)
    - [torch.Tensor.is_leaf](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html)
    """

    code = "TPL010"
    name = "nonleaf-grad"
    triggers = (Found(".autograd.nonleaf_gradients:NonleafGradients.reads"),)
    needs = (("grad",), ("backward", "manual_backward"))

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a `.grad` that is always ``None``."""
        match self.model.autograd.nonleaf_gradient(node), node.value:
            case Rebound() as rebound, _:
                self._report_update(node, rebound)
            case Unretained(), cst.Subscript() as item:
                self._report_item(node, item)
            case Unretained() as read, cst.Name() | cst.Attribute():
                self._report_result(node, read)
            case Unretained(), value:
                self.report(node, f"`{self.model.shown(value)}` is a new tensor here, and no leaf: its `.grad` is None")

    def _report_result(self, node: cst.Attribute, read: Unretained[cst.BaseExpression, cst.CSTNode]) -> None:
        text = self.model.shown(read.tensor)
        what = f"a copy that `.{read.copied_by}()` made" if read.copied_by else "the result of an operation"
        self.report(
            node,
            f"`{text}` is {what} and no leaf: its `.grad` is None; call `{text}.retain_grad()` before the backward pass",
            self._retain(node, read, text),
        )

    def _retain(self, node: cst.Attribute, read: Unretained[cst.BaseExpression, cst.CSTNode], text: str) -> CodeFix | None:
        """Calls `retain_grad` before the backward pass, or right behind each assignment."""
        call = statement("{tensor}.retain_grad()", tensor=again(read.tensor))
        when = " before the backward pass" if isinstance(read.tensor, cst.Name) else ""
        if read.before is not None:
            calls = [insert_before(read.before, call)]
        else:
            calls = [insert_behind(assignment, call) for assignment in read.behind]
        return (
            fix(
                f"Call `{text}.retain_grad()`{when}",
                *calls,
                rests_on=self.model.autograd.is_gradient_retained(node),
            )
            if calls
            else None
        )

    def _report_item(self, node: cst.Attribute, item: cst.Subscript) -> None:
        whole = self.model.shown(item.value)
        what = f"`{self.model.shown(item)}` is a new tensor, and no leaf: its `.grad` is None"
        fact = self.model.autograd.has_gradient_of_leaf(node)
        if fact.answer is Answer.REFUTED:
            self.report(node, f"{what}; call `retain_grad()` on `{whole}`, and take the item of its gradient")
            return
        moved = item.with_changes(value=expression("{whole}.grad", whole=item.value))
        taken = fix(f"Take the item of `{whole}.grad`", replace(node, moved), rests_on=fact)
        self.report(node, f"{what}; take the item of `{whole}.grad`", taken)

    def _report_update(self, node: cst.Attribute, read: Rebound[cst.BaseExpression, cst.CSTNode]) -> None:
        name, line = self.model.shown(read.tensor), self.model.line(read.update)
        self.report(
            node,
            f"`{name}` is a leaf in the first round only: line {line} makes a new tensor, whose `.grad` is None; "
            f"change `{name}` in place under `torch.no_grad()`",
            self._update_in_place(read, name),
        )

    def _update_in_place(self, read: Rebound[cst.BaseExpression, cst.CSTNode], name: str) -> CodeFix | None:
        """Makes ``with torch.no_grad(): w -= lr * w.grad`` of ``w = w - lr * w.grad``.

        The gradient is taken away behind that, as it was gone with the old tensor, if nothing clears it.
        """
        match read.update:
            case cst.Assign(
                targets=[cst.AssignTarget(cst.Name(first) as target)],
                value=cst.BinaryOperation(cst.Name(second), cst.Subtract() | cst.Add() as operator, right),
            ) if first == second == name:
                sign = "-" if isinstance(operator, cst.Subtract) else "+"
                changes = [
                    wrap([read.update], expression("{torch.no_grad}()")),
                    replace(read.update, statement(f"{{target}} {sign}= {{right}}", target=target, right=right)),
                ]
                if not read.cleared:
                    changes.append(insert_behind(read.update, statement("{tensor}.grad = None", tensor=again(read.tensor))))
                return fix(
                    f"Change `{name}` in place under `torch.no_grad()`",
                    *changes,
                    rests_on=unknown("a change in place reaches whoever else holds the tensor"),
                )
        return None
