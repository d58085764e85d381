from __future__ import annotations

import ast

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.data_accesses import Access, Role, accesses
from torchlint.rules.rewriting import Rewriter

_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous"})


class DataToNumpy(Rule):
    """
    ## What it does
    Finds `.data` on the way from a tensor to an array or a list: `x.data.cpu().numpy()`, `x.cpu().data.numpy()`,
    `x.data.numpy()`, `x.data.tolist()`.

    ## Why is this bad
    `.data` was how code of torch 0.3 left the graph. Behind `.cpu()` it comes too late: the copy to the host is recorded
    in the graph first. In front of it, it gives an alias of the tensor's memory that autograd's checks know nothing of.

    ## Example
    ```python
    prediction = out.cpu().data.numpy()
    ```

    ## Use instead
    ```python
    prediction = out.detach().cpu().numpy()
    ```

    ## Fix safety
    Safe: the array holds the same values.

    ## References
    - [torch.Tensor.numpy](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.numpy.html)
    """

    code = "TPL104"
    name = "data-to-numpy"
    screen = Screen(any_of=(b".data",))

    def finish(self) -> None:
        """Reports every `.data` on the way to the host."""
        for access in accesses(self.semantics).values():
            if access.role is Role.HOST:
                self._report(access)

    def _report(self, access: Access) -> None:
        rewriter = Rewriter(self.source, self.semantics)
        node = access.node
        base = node.value
        while isinstance(base, ast.Call) and isinstance(base.func, ast.Attribute) and base.func.attr in _MOVES:
            base = base.func.value
        tensor = ast.unparse(base)
        place = base if base is node.value else None
        fix = self._fix_behind_move(rewriter, node) if place is None else self._fix_in_place(rewriter, node)
        self.report(node, f"`{tensor}` leaves the graph through `.data`; detach it first: `{tensor}.detach()`", fix)

    def _fix_in_place(self, rewriter: Rewriter, node: ast.Attribute) -> Fix:
        parent = self.semantics.tree.parent(node)
        to_array = isinstance(parent, ast.Attribute) and parent.attr == "numpy"
        new = ".detach().cpu()" if to_array else ".detach()"
        return self.fix(f"Replace `.data` with `{new}`", [rewriter.replace_attribute(node, new)], safe=True)

    def _fix_behind_move(self, rewriter: Rewriter, node: ast.Attribute) -> Fix:
        """Takes `.data` from behind `.cpu()` and detaches in front of it; where `.cpu()` is not said, it is added."""
        move = node.value
        moved_to_host = False
        while isinstance(move, ast.Call) and isinstance(move.func, ast.Attribute) and move.func.attr in _MOVES:
            first = move.func
            moved_to_host = moved_to_host or first.attr == "cpu"
            move = first.value
        start = self.source.text.rindex(".", 0, self.source.end(first) - len(first.attr) + 1)
        parent = self.semantics.tree.parent(node)
        to_array = isinstance(parent, ast.Attribute) and parent.attr == "numpy"
        if to_array and not moved_to_host:
            edits = [rewriter.replace_attribute(node, ".cpu()")]
        else:
            edits = [rewriter.drop_attribute(node)]
        return self.fix("Detach before moving", [*edits, (start, start, ".detach()")], safe=True)
