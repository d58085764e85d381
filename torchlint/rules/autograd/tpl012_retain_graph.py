from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument, without_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Keyword


class RetainGraph(Rule):
    """
    ## What it does
    Finds `backward(retain_graph=True)` in a loop where nothing back-propagates through the graph a second time.

    ## Why is this bad
    What autograd has saved for the backward is freed by it, but for a graph that is retained: that stays until the loss is
    rebound. In the next round, two graphs are alive at once, which may double the memory that training needs.

    The rule speaks up only where the file, with those of the project that its modules and functions are from, shows that each
    round makes the whole graph anew, from data and parameters, and that the values it is made of go nowhere else. A module
    that keeps something from one call to the next is left alone, and so is what is back-propagated of data, of items that
    something was put into, and of lists of which it is not known what they hold.

    ## Example
    ```python
    w = torch.zeros(3, requires_grad=True)
    for x, y in loader:
        loss = F.mse_loss(w * x, y)
        loss.backward(retain_graph=True)
    ```

    ## Use instead
    ```python
    w = torch.zeros(3, requires_grad=True)
    for x, y in loader:
        loss = F.mse_loss(w * x, y)
        loss.backward()
    ```

    ## Fix safety
    Unsafe: if there is a second backward after all, in a hook or in code that the file does not show, it raises.

    ## References
    - [torch.Tensor.backward](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html)
    """

    code = "TPL012"
    name = "retain-graph"
    severity = "warning"
    triggers = (Keyword("retain_graph"),)
    needs = (("backward", "manual_backward"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports ``loss.backward(retain_graph=True)`` in a loop."""
        match argument(node, "retain_graph"):
            case cst.Arg(value=cst.Name("True")) as retaining if not _makes_graph_of_gradients(node):
                loss = self.model.autograd.used_up(node)
                if loss is not None:
                    self.report(
                        retaining,
                        f"`retain_graph=True` keeps the graph of `{self.model.shown(loss)}` in memory into the next round, "
                        "and nothing back-propagates it again; drop the argument",
                        fix(
                            "Drop `retain_graph=True`",
                            replace(node, without_argument(node, retaining)),
                            rests_on=unknown("a second backward that the file does not show would raise"),
                        ),
                    )


def _makes_graph_of_gradients(call: cst.Call) -> bool:
    """Whether a backward makes, or may make, a graph of the gradients as well: that needs the graph that it goes through."""
    return argument(call, "create_graph") is not None or any(each.star == "**" for each in call.args)
