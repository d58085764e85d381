from __future__ import annotations

import ast
import re

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit, parses_alone
from torchlint.options import DEFAULTS, Options
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Grad, Semantics, torch_api
from torchlint.semantics.kinds.certainty import Certainty
from torchlint.target import TorchVersion
from torchlint.text.noqa import Suppressions
from torchlint.text.source import Source

_LONGEST = 40
"""A tensor whose text is longer than this is not quoted."""
_PLACING = frozenset({"dtype", "device"})


class TensorFromTensor(AstRule):
    """
    ## What it does
    Finds `torch.tensor(t)` where `t` is a tensor already: `torch.tensor(loss)`, `torch.tensor(weight, dtype=torch.float)`.

    ## Why is this bad
    It copies, warns, and cuts the copy from the graph in passing: no gradient flows through it, which nothing in the line
    says.

    ## Example
    ```python
    loss = F.cross_entropy(model(x), y)
    first = torch.tensor(loss)
    ```

    ## Use instead
    ```python
    loss = F.cross_entropy(model(x), y)
    first = loss.detach().clone()
    ```

    ## Fix safety
    Safe: `t.detach().clone()` is what `torch.tensor(t)` does. A `dtype` or `device` becomes a `.to(…)`, `requires_grad=True` a
    `.requires_grad_()`. The result of an operator or a factory is a new tensor already and is not cloned. If the value was not
    meant to be cut from the graph, leave out the `.detach()`. There is no fix where the arguments are given as `**kwargs` or
    there are comments among them.

    ## References
    - [torch.tensor](https://docs.pytorch.org/docs/stable/generated/torch.tensor.html)
    """

    code = "TPL207"
    name = "tensor-from-tensor"
    since = TorchVersion(0, 4)
    screen = Screen(
        any_of=(b"tensor",),
        and_any_of=(b"tensor(",),
        pattern=re.compile(rb"\btensor\((?!\s*(?:[\[\]\"')]|-?[\d.e]+\s*[,)]))"),
        names=frozenset({b"tensor"}),
    )
    yields_to = ("TPL007",)

    def __init__(self, source: Source, semantics: Semantics, suppressions: Suppressions, options: Options = DEFAULTS) -> None:
        super().__init__(source, semantics, suppressions, options)
        self._certainty = Certainty(semantics)

    def visit_Call(self, node: ast.Call) -> None:
        """Reports `torch.tensor` of a tensor."""
        data = _data(node)
        if data is None or isinstance(data, (ast.Constant, ast.List, ast.Tuple, ast.ListComp)):
            return
        if self.semantics.qualified_name(node.func) != "torch.tensor" or not self._certainty.is_tensor(data):
            return
        text = ast.unparse(data)
        said = f"`{text}`, which is a tensor already" if len(text) <= _LONGEST else "a tensor"
        message = (
            f"`{ast.unparse(node.func)}` copies {said}, and cuts the copy from the graph; use `{self._copy(data) or text}`"
        )
        self.report(node, message, self._copying(node, data))

    def _copying(self, call: ast.Call, data: ast.expr) -> Fix | None:
        """Replaces the call by ``data.detach().clone()`` and what the other arguments ask for."""
        words = [word for word in call.keywords if word.value is not data]
        text = self.source.text[self.source.start(call) : self.source.end(call)]
        if any(word.arg not in (*_PLACING, "requires_grad", "pin_memory") for word in words) or "#" in text:
            return None
        start, end = self.source.start(call), self.source.end(call)
        copied = _without_end(Rewriter(self.source, self.semantics).operand(data), data)
        methods = self._methods(words, data)
        if not parses_alone(copied):
            copied = f"({copied})"
        edits: list[TextEdit] = [(start, end, copied + methods)]
        return self.fix(f"Replace with `{methods}`" if methods else "Use the tensor as it is", edits, safe=True)

    def _copy(self, data: ast.expr) -> str:
        """What makes a copy that is cut from the graph: less where the value was made here and nobody else has it."""
        if isinstance(data, ast.Call) and self.semantics.qualified_name(data.func) in torch_api.FACTORIES:
            return "" if self.semantics.kind(data).grad is Grad.NONE else ".detach()"
        if isinstance(data, ast.Compare):
            return ""
        return ".detach()" if isinstance(data, ast.BinOp) else ".detach().clone()"

    def _methods(self, words: list[ast.keyword], data: ast.expr) -> str:
        """``.detach().clone()`` and the methods that stand for the keyword arguments."""
        methods = self._copy(data)
        placing = [word for word in words if word.arg in _PLACING]
        if len(placing) == 1:
            value = placing[0].value
            plain = self.source.segment(value if isinstance(value, (ast.Attribute, ast.Name)) else placing[0])
            methods += f".to({self.source.segment(placing[0]) if _may_be_none(value) else plain})"
        elif placing:
            methods += f".to({', '.join(self.source.segment(word) for word in placing)})"
        for word, method in (("pin_memory", ".pin_memory()"), ("requires_grad", ".requires_grad_()")):
            wanted = next((found.value for found in words if found.arg == word), None)
            if isinstance(wanted, ast.Constant):
                methods += method if wanted.value else ""
            elif wanted is not None and word == "requires_grad":
                methods += f".requires_grad_({self.source.segment(wanted)})"
        return methods


def _data(call: ast.Call) -> ast.expr | None:
    """What is made a tensor."""
    if call.args:
        return call.args[0] if len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) else None
    return next((word.value for word in call.keywords if word.arg == "data"), None)


def _without_end(text: str, data: ast.expr) -> str:
    """The text of a tensor without the copying that it ends in already."""
    for method in (".clone()", ".detach()"):
        if isinstance(data, ast.Call):
            text = text.removesuffix(method)
    return text


def _may_be_none(value: ast.expr) -> bool:
    """Whether a dtype or device is given by a name, which may stand for ``None``: `to` then needs the keyword."""
    return not (isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id in ("torch", "th"))
