from __future__ import annotations

from functools import cached_property, partial
from itertools import groupby

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, wrap
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modes.runs.discarded_graphs import Discarded
from torchlint.target import TorchVersion

_OTHERWISE = unknown("a model may compute otherwise without a graph, or keep a part of it")


class DiscardedGraph(Rule):
    """
    ## What it does
    Finds models that are run with autograd on where all that comes out is detached on the spot, in a function that trains:
    `fake = generator(z).detach()` for the discriminator, `target(states).max(1)[0].detach()` of a target network,
    `teacher(x).detach()`; also by a variable of which every use is detached.

    Left alone is a model that is frozen, that may turn autograd off itself or may need it, and what goes on to be used with its
    graph as well. Strict is what stands in a function that does not train, such as one that chooses an action, and a model of
    which it is not known whether autograd records it.

    ## Why is this bad
    Until `detach()` is reached, autograd records a graph of the whole run and keeps what a backward pass would need, and then
    throws all of it away: the run takes longer, and at its end every activation is in memory at once.

    ## Example
    ```python
    generator, discriminator = nn.Linear(8, 4), nn.Linear(4, 1)
    fake = generator(noise).detach()
    loss = discriminator(fake).mean() - discriminator(real).mean()
    loss.backward()
    ```

    ## Use instead
    ```python
    generator, discriminator = nn.Linear(8, 4), nn.Linear(4, 1)
    with torch.no_grad():
        fake = generator(noise).detach()
    loss = discriminator(fake).mean() - discriminator(real).mean()
    loss.backward()
    ```

    ## Fix safety
    Unsafe: a model may differentiate in its `forward`, keep a part of its graph, change in place what it is given, or compute
    otherwise without a graph, as an `LSTM` does in the last digits. `detach()` stays, as the model may give a parameter of its
    own, or what it was given. There is no fix where the statement does more than to give a name what comes out, or where
    something in it may have a graph.

    ## References
    - [torch.no_grad](https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html)
    """

    code = "TPL406"
    name = "discarded-graph"
    severity = "warning"
    since = TorchVersion(0, 4)
    yields_to = ("TPL304",)
    triggers = (Found(".modes.runs.discarded_graphs:DiscardedGraphs.found"),)
    needs = (("detach",),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that runs the model."""
        found = self.model.autograd.discarded_graph(node)
        if found is None:
            return
        self.report(
            node,
            f"autograd records `{self.model.shown(node.func)}(…)`, and `detach()` throws that graph away; "
            "run it under `torch.no_grad()`",
            self._fix(node, found),
            strict=not (found.is_trained and found.is_known),
        )

    def _fix(self, run: cst.Call, found: Discarded[cst.BaseExpression, cst.CSTNode]) -> CodeFix | None:
        """Puts a run under `no_grad`, with those of its neighbours that are reported, too: one fix for all of them."""
        here = self.model.statement(run)
        groups = groupby(found.statements, partial(self.model.is_silenced, self.code))
        together = next((each for each in (list(group) for is_left, group in groups if not is_left) if here in each), None)
        if together is None:
            return None
        if together[0] not in self._wraps:
            block = wrap(together, expression("{torch.no_grad}()"))
            self._wraps[together[0]] = fix("Run it under `torch.no_grad()`", block, rests_on=_OTHERWISE)
        return self._wraps[together[0]]

    @cached_property
    def _wraps(self) -> dict[cst.CSTNode, CodeFix]:
        """The fixes, by the first statement of each."""
        return {}
