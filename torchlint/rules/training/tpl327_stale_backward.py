from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, move
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class StaleBackward(Rule):
    """
    ## What it does
    Finds losses that are back-propagated through a model after a step of its optimizer has changed the weights that the loss
    was computed with, as in loops that train two models in turn. Of an optimizer that comes from elsewhere its name tells which
    model it has: `self.d_optim` is that of `self.D`. So are log-probabilities that a policy has given before, and that a loop
    back-propagates one by one, with a step for each.

    ## Why is this bad
    It raises: "one of the variables needed for gradient computation has been modified by an inplace operation". The backward
    pass needs the weights of the forward. Before torch 1.5 there was no error, and the gradients were wrong, so that many older
    scripts are written this way.

    ## Example
    ```python
    critic_optimizer = torch.optim.Adam(critic.parameters())
    for real in loader:
        fake = generator(noise())
        critic_loss = critic(fake.detach()).mean() - critic(real).mean()
        generator_loss = -critic(fake).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        generator_optimizer.zero_grad()
        generator_loss.backward()
        generator_optimizer.step()
    ```

    ## Use instead
    ```python
    critic_optimizer = torch.optim.Adam(critic.parameters())
    for real in loader:
        fake = generator(noise())
        critic_loss = critic(fake.detach()).mean() - critic(real).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        generator_loss = -critic(fake).mean()
        generator_optimizer.zero_grad()
        generator_loss.backward()
        generator_optimizer.step()
    ```

    ## Fix safety
    Unsafe: the loss is computed with the changed weights. The step, and what stands between it and the loss, is moved in front
    of the loss; there is no fix where that is not all in one block, where it needs the loss, and where the model is called in
    one statement and the loss computed in another.

    ## References
    - [In-place correctness checks](https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-correctness-checks)
    """

    code = "TPL327"
    name = "stale-backward"
    triggers = (Found(".steps.stale:StaleBackwards.found"),)
    needs = (("backward", "manual_backward"), ("step", "optimizer_step"))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the backward pass."""
        stale = self.model.training.stale_backward(node)
        if stale is None:
            return
        step, forward = self.model.shown(stale.step), self.model.shown(stale.forward)
        if stale.is_collected:
            self.report(
                node,
                f"`{step}` of one round changes the weights that `{forward}` were computed with, so that this raises in the "
                "next; add the losses up, and back-propagate them once",
            )
            return
        self.report(
            node,
            f"`{step}` has changed the weights that `{forward}` was computed with, so that this raises; "
            "compute the loss behind the step",
            fix(
                f"Move the step in front of `{forward}`",
                *(move(statement, stale.loss) for statement in stale.moved),
                rests_on=unknown("the loss is computed with the changed weights"),
            )
            if stale.loss
            else None,
        )
