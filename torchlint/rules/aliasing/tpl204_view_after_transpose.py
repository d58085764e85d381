from __future__ import annotations

import ast
import re

from torchlint.fixes.rewriting import Rewriter
from torchlint.options import DEFAULTS, Options
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Semantics
from torchlint.semantics.shapes.layout import Contiguity, Layout, Size, view_must_copy
from torchlint.semantics.shapes.layouts import Layouts
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_TRANSPOSES = re.compile(rb"transpose|permute|\.t\([\s\\]*[)#]|\.T\b|\.mT\b|swapaxes|swapdims|movedim|moveaxis|adjoint|\.m?H\b")
_COPIES = {"view": "reshape", "view_as": "reshape_as"}
_LONGEST = 40
"""A receiver whose text is longer than this is not quoted in full."""


class ViewAfterTranspose(AstRule):
    """
    ## What it does
    Finds `.view(…)` of a transposed or permuted tensor that merges axes which no longer lie next to each other in memory:
    `x.transpose(1, 2).view(batch, -1)`, `x = x.permute(0, 2, 1)` and later `x.view(-1, channels)`.

    A view that only splits axes, or merges those that still lie together, works on a transposed tensor, too, and is left
    alone: `x.transpose(1, 2).view(batch, channels, height, width)`, `x.permute(0, 2, 3, 1).view(batch, -1, channels)`.

    ## Why is this bad
    `transpose`, `permute` and `.T` change the strides and leave the memory as it is. `view` never copies, so it raises a
    `RuntimeError` where the new shape cannot be had with strides alone: often only once a batch has more than one item.

    ## Example
    ```python
    def forward(self, x):
        x = x.transpose(1, 2)
        return self.fc(x.view(x.size(0), -1))
    ```

    ## Use instead
    ```python
    def forward(self, x):
        x = x.transpose(1, 2)
        return self.fc(x.reshape(x.size(0), -1))
    ```

    ## Fix safety
    Safe: `reshape` gives the same view where there is one, and copies where `view` would raise.

    ## References
    - [torch.Tensor.view](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html)
    """

    code = "TPL204"
    name = "view-after-transpose"
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(b"view",),
        and_any_of=(b".view(", b".view_as("),
        pattern=_TRANSPOSES,
        names=frozenset({b".view", b".view_as", b".t", b".T", b".mT", b".H", b".mH"}),
    )
    yields_to = ("TPL206",)

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        super().__init__(source, semantics, suppressions, options)
        self._layouts = Layouts(semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a view that cannot be had of its transposed tensor."""
        match node:
            case ast.Call(
                func=ast.Attribute(value=tensor, attr="view" | "view_as" as method) as function, args=[_, *_], keywords=[]
            ):
                if not any(self._raises(node, method, layout) for layout in self._layouts.alternatives(tensor)):
                    return
                if self._is_other(tensor):
                    return
                instead = _COPIES[method]
                edit = Rewriter(self.source, self.semantics).replace_attribute(function, f".{instead}")
                message = f"`{method}` cannot merge the transposed axes of {self._said(tensor)} and raises; use `{instead}`"
                self.report(node, message, self.fix(f"Replace `{method}` with `{instead}`", [edit], safe=True))

    def _raises(self, call: ast.Call, method: str, layout: Layout) -> bool:
        if layout.contiguity is Contiguity.UNKNOWN or layout.is_compact:
            return False
        shape: list[Size] | None = None
        if method == "view":
            layout, shape = self._layouts.view(call, layout)
        elif (other := self._layouts.of(call.args[0])).closed:
            shape = [axis.size for axis in other.front]
        return shape is not None and view_must_copy(layout, shape)

    def _is_other(self, tensor: ast.expr) -> bool:
        """Whether the value is known to be something else than a tensor."""
        kind = self.semantics.kind(tensor)
        return kind.known and not kind.is_tensor

    def _said(self, tensor: ast.expr) -> str:
        text = ast.unparse(tensor)
        return f"`{text}`" if len(text) <= _LONGEST else "the tensor"
