from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, insert_before, insert_behind
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class MissingZeroGrad(Rule):
    """
    ## What it does
    Finds loops that call `backward()` and `optimizer.step()`, and zero the gradients on no path round the loop. An
    optimizer of which nothing is known but its name counts where nothing in sight could zero them, either. So do loops that
    zero them in one branch alone of `if args.amp:`, and step in both. What is shown is the last `backward()` before the step.
    And models whose
    gradients are lent to another one, `shared.grad = own.grad`, where only those of the other are zeroed: since torch 2.0
    `zero_grad()` sets these to `None`, and the model's own stay.

    ## Why is this bad
    `backward()` adds to the gradients. Where nothing zeroes them, each step uses the sum of the gradients of all batches so
    far: the model learns from old batches again and again, with steps that grow.

    ## Example
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## Use instead
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    Unsafe: training takes another course. Where the step is not made in each round, which is how gradients are accumulated
    over several batches, they are zeroed right behind it. There is no fix where the backward and the step are in different
    functions.

    ## References
    - [Zeroing out gradients in PyTorch](https://docs.pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html)
    """

    code = "TPL015"
    name = "missing-zero-grad"
    triggers = (Found(".steps.zeroing:Zeroing.piles"), Found(".steps.lent_gradients:LentOut.found"))
    needs = (("backward", "optim"), ("step", "optim"))  # of which another file may do both

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the backward that adds to what piled up, or else the step that uses it; and what adds to what was lent."""
        self._report_lent(node)
        pile = self.model.training.piled_up(node)
        if pile is None:
            return
        optimizer, shown = pile.optimizer, self.model.shown(pile.optimizer)
        zero = statement("{optimizer}.zero_grad()", optimizer=optimizer)
        before = "it" if pile.backward is pile.step else f"`{self.model.shown(pile.backward)}`"
        zeroing = None
        if pile.before is not None:
            zeroing = insert_before(pile.before, zero)
        elif pile.behind is not None:
            zeroing = insert_behind(pile.behind, zero)
        self.report(
            node,
            f"`{self.model.shown_call(pile.step)}` also uses the gradients of all rounds before, which nothing zeroes; "
            f"call `{shown}.zero_grad()` before {before}",
            fix(f"Insert `{shown}.zero_grad()`", zeroing, rests_on=unknown("the training takes another course"))
            if zeroing
            else None,
        )

    def _report_lent(self, node: cst.Call) -> None:
        lent = self.model.training.lent_gradients(node)
        if lent is None:
            return
        lender, place = self.model.shown(lent.lender), self.model.statement(node)
        zero = statement("{lender}.zero_grad()", lender=lent.lender)
        self.report(
            node,
            f"`{self.model.shown(node)}` adds to the gradients of `{lender}` of all rounds before: what is zeroed are those of "
            f"`{self.model.shown(lent.borrower)}` alone; call `{lender}.zero_grad()` before",
            fix(
                f"Insert `{lender}.zero_grad()`",
                insert_before(place, zero),
                rests_on=unknown("the training takes another course"),
            ),
        )
