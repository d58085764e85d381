from __future__ import annotations

import libcst as cst

from torchlint.fact import NOTHING
from torchlint.fixes.changes import CodeFix, fix, insert_behind
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class LingeringIntermediate(Rule):
    """
    ## What it does
    Finds tensors that a loop computes for itself, and whose last one is still there while a later call needs the memory:
    `for …: intermediate = f(x); result += g(intermediate)`, and then `h(result)`.

    ## Why is this bad
    A variable of a loop lives on behind it. The last `intermediate` is kept until the function ends, so that the peak memory
    of `h` is that much higher.

    ## Example
    ```python
    with torch.no_grad():
        for x in inputs:
            features = encoder(x)
            result += pool(features)
        output = head(result)
    ```

    ## Use instead
    ```python
    with torch.no_grad():
        for x in inputs:
            features = encoder(x)
            result += pool(features)
            del features
        output = head(result)
    ```

    ## Fix safety
    Safe: the name is deleted inside the loop, behind its last use there, and is not read anywhere else. There is no fix where
    other code shares the line of that use.

    While autograd records, the graph may hold the tensor as well; such code is left alone.

    ## References
    - [My model reports "cuda runtime error(2): out of memory"](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code = "TPL209"
    name = "lingering-intermediate"
    default = False
    severity = "warning"
    triggers = (Found(".memory.lifetimes:Lifetimes.lingering"),)
    needs = (("for", "while"),)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports the name that the loop leaves bound."""
        found = self.model.memory.lingering(node)
        if found is not None:
            text = self.model.shown(found.later)
            later = text if len(text) <= 40 else f"{text[:37]}..."
            name = node.value
            message = (
                f"The last `{name}` of the loop stays in memory while `{later}` runs; delete `{name}` at the end of each round"
            )
            self.report(node, message, self._deletion(node, found.last_use))

    def _deletion(self, name: cst.Name, last_use: cst.CSTNode | None) -> CodeFix | None:
        if last_use is None:
            return None
        deletion = statement("del {name}", name=cst.Name(name.value))
        return fix(
            f"Delete `{name.value}` behind its last use", insert_behind(last_use, deletion, alone=True), rests_on=NOTHING
        )
