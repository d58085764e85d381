from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import CodeFix, fix, insert_behind
from torchlint.fixes.code import statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.memory.lifetimes import Lingering


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
    Safe in a function: the name is deleted inside the loop, behind its last use there, and is not read anywhere else. Unsafe at
    the level of the module, whose names other files can read, and where the file looks at names that are not written
    (`locals()`, `eval`, frames), at weak references or at the `id` of objects. There is no fix where other code
    shares the line of that use.

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
            later = self.model.shown_start(found.later)
            name = node.value
            message = (
                f"The last `{name}` of the loop stays in memory while `{later}` runs; delete `{name}` at the end of each round"
            )
            self.report(node, message, self._deletion(node, found))

    def _deletion(self, name: cst.Name, found: Lingering[cst.CSTNode]) -> CodeFix | None:
        last_use = found.last_use
        if last_use is None:
            return None
        deletion = statement("del {name}", name=cst.Name(name.value))
        return fix(
            f"Delete `{name.value}` behind its last use", insert_behind(last_use, deletion, alone=True), rests_on=found.unseen
        )
