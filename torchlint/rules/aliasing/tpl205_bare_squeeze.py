from __future__ import annotations

import ast
import re

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.options import DEFAULTS, Options
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.batches import Batches
from torchlint.rules.screens import Screen
from torchlint.semantics import Semantics, Type
from torchlint.semantics.kinds.results import LOSS_MODULES
from torchlint.semantics.shapes.layouts import Layouts
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_LONGEST = 40
_POOLINGS = re.compile(r"torch\.nn\.(functional\.)?(adaptive_)?(avg|max)_pool[23]d|torch\.nn\.Adaptive(Avg|Max)Pool[23]d")


class BareSqueeze(AstRule):
    """
    ## What it does
    Finds `.squeeze()` without a dimension on a batch: a model's output, an item of a data loader, what `forward` is given.

    ## Why is this bad
    `squeeze()` drops every axis of size 1. Where the last batch of an epoch has a single item, that is the batch axis, too:
    `(1, 1)` becomes a scalar, `(1, 10)` a vector. What follows then broadcasts, picks the wrong axis, or fails, once an epoch.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 1)

        def forward(self, x):
            return torch.sigmoid(self.fc(x)).squeeze()
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(8, 1)

        def forward(self, x):
            return torch.sigmoid(self.fc(x)).squeeze(-1)
    ```

    ## Fix safety
    Unsafe: the axis to drop is taken to be the last one, that of a layer with one output; behind a pooling, and in front of a
    module, `.flatten(1)` drops them all but for the batch. Where other axes of size 1 were dropped as well, they now stay.
    There is no fix for the result of a convolution or a product, whose axis of size 1 may be any.

    ## References
    - [torch.squeeze](https://docs.pytorch.org/docs/stable/generated/torch.squeeze.html)
    """

    code = "TPL205"
    name = "bare-squeeze"
    default = False
    since = TorchVersion(0, 4)
    screen = Screen(any_of=(b"squeeze",))

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        super().__init__(source, semantics, suppressions, options)
        self._batches = Batches(semantics)
        self._layouts = Layouts(semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports a squeeze of all axes of a batch."""
        match node:
            case ast.Call(func=ast.Attribute(attr="squeeze") as function, keywords=[]):
                by_function = self.semantics.qualified_name(function) == "torch.squeeze"
                tensor = node.args[0] if by_function and len(node.args) == 1 else function.value
                if len(node.args) != int(by_function) or self._is_only_looked_at(node) or not self._batches.is_batch(tensor):
                    return
                text = ast.unparse(tensor)
                said = f"`{text}`" if len(text) <= _LONGEST else "a batch"
                message = (
                    f"`squeeze()` drops the batch axis of {said}, too, where the batch has one item; name the axis to drop"
                )
                self.report(node, message, self._naming_axis(node, tensor, by_function=by_function))

    def _is_only_looked_at(self, call: ast.Call) -> bool:
        """Whether nothing but the number of axes is asked of the result, or nothing at all."""
        parent = self.semantics.tree.parent(call)
        return isinstance(parent, ast.Expr) or (
            isinstance(parent, ast.Attribute) and parent.attr in ("dim", "ndim", "ndimension")
        )

    def _naming_axis(self, call: ast.Call, tensor: ast.expr, *, by_function: bool) -> Fix | None:
        """Squeezes the last axis only, or flattens what a pooling left."""
        end = self.source.end(call)
        if (self._is_pooled(tensor) or self._is_flattened(call)) and isinstance(call.func, ast.Attribute) and not by_function:
            name = Rewriter(self.source, self.semantics).replace_attribute(call.func, ".flatten")
            return self.fix("Replace with `flatten(1)`", [name, (end - 1, end, "1)")], safe=False)
        rank = self._layouts.of(tensor).rank
        if (rank is not None and rank > 3) or self._is_product(tensor) or self._is_pooled(tensor):
            return None
        edits: list[TextEdit] = [(end - 1, end, ", -1)" if by_function else "-1)")]
        return self.fix("Squeeze the last axis", edits, safe=False)

    def _is_pooled(self, tensor: ast.expr) -> bool:
        """Whether the value is the result of a pooling to one value for each channel, or of a mean that does the same."""
        if not isinstance(tensor, ast.Call):
            return False
        words = {word.arg: word.value for word in tensor.keywords}
        if "keepdim" in words and any(isinstance(part, ast.Tuple) for part in (*tensor.args, words.get("dim"))):
            return True
        name = self.semantics.qualified_name(tensor.func) or self.semantics.kind(tensor.func).name
        return _POOLINGS.fullmatch(name) is not None

    def _is_flattened(self, call: ast.Call) -> bool:
        """Whether a module is given the result, which has to be a row of features for each item of the batch then."""
        uses: list[ast.AST] = [call]
        statement = self.semantics.tree.parent(call)
        if isinstance(statement, ast.Assign) and statement.value is call:
            bindings = [self.semantics.bindings.of(target) for target in statement.targets]
            uses += [use for binding in bindings if binding is not None for use in binding.uses]
        calls = [self.semantics.tree.parent(use) for use in uses]
        return any(
            isinstance(parent, ast.Call)
            and parent.args[:1] == [use]
            and (kind := self.semantics.kind(parent.func)).type is Type.MODULE
            and kind.name not in LOSS_MODULES
            for use, parent in zip(uses, calls)
        )

    def _is_product(self, tensor: ast.expr) -> bool:
        """Whether the value is a matrix product, whose axis of size 1 is where one of the factors has it."""
        match tensor:
            case ast.BinOp(op=ast.MatMult()) | ast.Call(func=ast.Attribute(attr="matmul" | "bmm")):
                return True
        return False
