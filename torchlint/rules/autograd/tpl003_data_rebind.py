from __future__ import annotations

import ast

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.data_accesses import Access, Role, accesses
from torchlint.rules.rewriting import Rewriter, TextEdit

_CHANGES_FORM = frozenset(
    {
        *("half", "float", "double", "bfloat16", "int", "long", "cuda", "cpu", "to", "type", "type_as", "view", "reshape", "t"),
        *("transpose", "permute", "squeeze", "unsqueeze", "narrow", "expand", "contiguous", "new", "pin_memory", "flatten"),
    }
)
"""Methods whose result has another type, device or shape than the tensor: copying it back would undo what they are for."""


class DataRebind(Rule):
    """
    ## What it does
    Finds assignments to the `.data` of a tensor: `p.data = value`.

    ## Why is this bad
    The tensor's storage is swapped under autograd and the optimizer. Nothing checks that the new one fits:
    `Linear(2, 2).weight.data = torch.ones(3, 3)` is accepted silently. A value that was saved for the backward pass is
    replaced without notice, and the gradient is wrong.

    ## Example
    ```python
    layer.weight.data = embeddings
    ```

    ## Use instead
    ```python
    with torch.no_grad():
        layer.weight.copy_(embeddings)
    ```

    ## Fix safety
    Unsafe: `copy_` keeps the parameter's own shape, type and device, raises where the shapes do not fit, and no longer
    shares memory with the value. There is no fix where the value is made to have another form (`p.data.half()`), as the
    copy would undo it: assign a new `nn.Parameter` to the module, or move the module.

    ## References
    - [torch.Tensor.copy_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.copy_.html)
    """

    code = "TPL003"
    name = "data-rebind"
    screen = Screen(any_of=(b".data",))

    def finish(self) -> None:
        """Reports every assignment to a tensor's `.data`."""
        for access in accesses(self.semantics).values():
            if access.role is Role.REBIND:
                tensor = ast.unparse(access.node.value)
                message = f"`{tensor}.data = …` swaps the tensor's storage unchecked, under autograd and the optimizer"
                self.report(access.node, message, self._fix(access, tensor))

    def _fix(self, access: Access, tensor: str) -> Fix | None:
        statement = self.semantics.tree.statement(access.node)
        if not (isinstance(statement, ast.Assign) and statement.targets == [access.node]) or self._changes_form(statement.value):
            return None
        rewriter = Rewriter(self.source, self.semantics)
        end = self.source.end(access.node)
        value = self.source.text.index("=", end) + 1
        while self.source.text[value] in " \t":
            value += 1
        dot = rewriter.attribute_span(access.node)[0]
        closing = self.source.end(statement)
        if self.semantics.no_grad.block(access.node):
            wrapping: list[TextEdit] | None = []
        else:
            wrapping = rewriter.wrap_in_no_grad([statement])
        detach = "" if wrapping is not None else ".detach()"
        edits = [*(wrapping or []), (dot, value, f"{detach}.copy_("), (closing, closing, ")")]
        return self.fix(f"Copy the value into `{tensor}`", edits, safe=False)

    @staticmethod
    def _changes_form(value: ast.expr) -> bool:
        if isinstance(value, ast.Subscript):
            return True
        return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _CHANGES_FORM
