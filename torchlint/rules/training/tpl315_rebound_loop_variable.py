from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, fix, replace, replace_by_lines, wrap
from torchlint.fixes.code import again, expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.memory.rebound import Rebound


class ReboundLoopVariable(Rule):
    """
    ## What it does
    Finds loops over tensors that give their variable a new value which nothing reads: `for v in batch: v = v.to(device)`,
    and loops over parameters that give it an item of something else: `p = averaged[name].clone()`.

    ## Why is this bad
    The name gets the new tensor, and the list, dict or module keeps the old one. What the loop was to move, clip or scale is as
    it was, with no error.

    ## Example
    ```python
    for p in model.parameters():
        p = torch.clamp(p, -0.01, 0.01)
    ```

    ## Use instead
    ```python
    for p in model.parameters():
        with torch.no_grad():
            p.copy_(torch.clamp(p, -0.01, 0.01))
    ```

    ## Fix safety
    Unsafe: what the loop was meant to do happens. Parameters are changed in place; an item that has a key or an index is
    stored there; a loop that does nothing else becomes a list. Parameters cannot be moved so: there is no fix where the loop
    moves or casts them, which `model.to(…)` does.

    ## References
    - [Python's for statement](https://docs.python.org/3/reference/compound_stmts.html#the-for-statement)
    """

    code = "TPL315"
    name = "rebound-loop-variable"
    triggers = (Found(".memory.rebound:ReboundItems.found"),)
    needs = (("torch",), ("for",))

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports the assignment to the loop's variable."""
        found = self.model.memory.rebound_item(node)
        if found is None or not isinstance(target := node.targets[0].target, cst.Name):
            return
        kept = "the parameters" if found.parameters else f"the items of `{self.model.shown(found.container)}`"
        message = f"nothing reads the `{target.value}` that is assigned here: {kept} stay as they are"
        changes = self._changes(node, target, found)
        rests_on = unknown("what the loop was meant to change is changed")
        self.report(node, message, fix("Keep what is computed", *changes, rests_on=rests_on) if changes else None)

    def _changes(self, node: cst.Assign, target: cst.Name, found: Rebound[cst.CSTNode]) -> list[Change]:
        """What keeps the new values; nothing where it is not clear how."""
        container, loop = found.container, found.loop
        if not isinstance(container, cst.BaseExpression):
            return []
        if found.parameters:
            if found.moved:
                return []
            changed = replace(node, statement("{p}.copy_({new})", p=cst.Name(target.value), new=node.value))
            no_grad = expression("{torch.no_grad}()")
            return [changed] if self.model.autograd.is_off(node) else [changed, wrap([node], no_grad)]
        if isinstance(found.key, cst.Name):
            stored = expression("{items}[{key}]", items=again(container), key=cst.Name(found.key.value))
            return [replace(target, stored)]
        if not found.alone or not isinstance(loop, cst.For):
            return []
        new = expression("[{new} for {item} in {items}]", new=node.value, item=cst.Name(target.value), items=container)
        if found.names:
            names = ", ".join(self.model.shown(name) for name in found.names)
            return [replace_by_lines(loop, statement(f"{names} = {{new}}", new=new))]
        return [replace_by_lines(loop, statement("{items} = {new}", items=again(container), new=new))]
