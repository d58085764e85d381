from __future__ import annotations

import ast
import re

from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen, given


class RetainGraph(AstRule):
    """
    ## What it does
    Finds `backward(retain_graph=True)` in a loop where nothing back-propagates through the graph a second time.

    ## Why is this bad
    What autograd has saved for the backward is freed by it, but for a graph that is retained: that stays until the loss is
    rebound. In the next round, two graphs are alive at once, which may double the memory that training needs.

    The rule speaks up only where the file shows that each round makes the whole graph anew, from data and parameters, and
    that the values it is made of go nowhere else.

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
    screen = Screen(any_of=(b"retain_graph",), pattern=re.compile(given(b"retain_graph", b"True")))

    def finish(self) -> None:
        """Looks at each backward of the file."""
        for backward in self.semantics.training_steps.backwards:
            word = _retaining(backward.call)
            loop = next(self.semantics.tree.loops(backward.call), None)
            if word is None or loop is None:
                continue
            if self.semantics.round_graphs.is_used_up(backward.loss, backward.call, loop):
                loss = ast.unparse(backward.loss)
                message = (
                    f"`retain_graph=True` keeps the graph of `{loss}` in memory into the next round, "
                    "and nothing back-propagates it again; drop the argument"
                )
                edits = [Rewriter(self.source, self.semantics).delete_argument(backward.call, word)]
                self.report(word, message, self.fix("Drop `retain_graph=True`", edits, safe=False))


def _retaining(call: ast.Call) -> ast.keyword | None:
    """The argument that retains the graph, unless a graph of the gradients is asked for as well, which needs it."""
    if any(word.arg in ("create_graph", None) for word in call.keywords):
        return None
    for word in call.keywords:
        if word.arg == "retain_graph" and isinstance(word.value, ast.Constant) and word.value.value is True:
            return word
    return None
