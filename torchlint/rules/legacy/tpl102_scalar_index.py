from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.rules import Rule, Screen
from torchlint.rules.data_accesses import scalar_base, scalar_index
from torchlint.rules.rewriting import Rewriter
from torchlint.target import TorchVersion
from torchlint.text.fstrings import is_placed

_GAP = r"[\s\\)]*(?:#[^\r\n]{0,300}[\r\n][\s\\)]*){0,5}"
_TRAINS = rf"\.{_GAP}data\b|backward|Variable|\.{_GAP}detach{_GAP}\((?:.*|[\s\S]{{0,80}}?)\[[\s\\(]*0"
"""Code with losses to index has one of these; elsewhere nothing that is indexed bare would have survived its first run."""


def _may_hold(data: bytes) -> bool:
    """Whether a file looks as if it had to do with losses."""
    return re.search(_TRAINS.encode(), data) is not None


class ScalarIndex(Rule):
    """
    ## What it does
    Finds 0-dim tensors, such as losses, that are indexed to get their number: `loss.data[0]`, `loss[0]`,
    `loss.data.cpu().numpy()[0]`.

    ## Why is this bad
    Before torch 0.4 a loss had one element in one dimension. It has no dimensions now, and indexing it raises
    `IndexError: invalid index of a 0-dim tensor`.

    ## Example
    ```python
    total_loss += loss.data[0]
    ```

    ## Use instead
    ```python
    total_loss += loss.item()
    ```

    ## Fix safety
    Safe: `.item()` gives the number that the index meant.

    ## References
    - [torch.Tensor.item](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.item.html)
    """

    code = "TPL102"
    name = "scalar-index"
    since = TorchVersion(0, 4)
    screen = Screen(any_of=(b"[",), pattern=re.compile(rb"\[[\s\\(]*(?:0[0xXoObB_]*[\s\\)]*[\]#]|#)"), check=_may_hold)

    @cached_property
    def _trains(self) -> bool:
        return re.search(_TRAINS, self.source.text) is not None

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """Reports the index of a value without dimensions."""
        value = scalar_base(node.value)
        if value is node.value and not self._trains:
            return
        if not is_placed(node) or scalar_index(self.semantics, value) != (node, value):
            return
        tensor = ast.unparse(value)
        edits = Rewriter(self.source, self.semantics).replace_chain(node, value, ".item()")
        item = f"({tensor}).item()" if isinstance(value, (ast.BinOp, ast.UnaryOp)) else f"{tensor}.item()"
        fix = self.fix(f"Use `{item}`", edits, safe=True)
        self.report(node, f"`{tensor}` has no dimensions: indexing it raises IndexError; use `{item}`", fix)
