from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.rules import Rule, Screen

_RIGHT = ("requires_grad", "requires_grad_")


class RequiresGradTypo(Rule):
    """
    ## What it does
    Finds misspelt `requires_grad`: `p.requres_grad = False`, `torch.ones(3, require_grad=True)`,
    `setattr(p, "required_grad", False)`; and `p.requires_grad == False` as a statement, which compares and does nothing.

    ## Why is this bad
    Python lets any attribute be set. `p.requres_grad = False` raises nothing and freezes nothing: the parameter goes on
    training.

    ## Example
    ```python
    for p in backbone.parameters():
        p.requres_grad = False
    ```

    ## Use instead
    ```python
    for p in backbone.parameters():
        p.requires_grad = False
    ```

    ## Fix safety
    Safe: the right name is what was meant.

    ## References
    - [torch.Tensor.requires_grad](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad.html)
    """

    code = "TPL005"
    name = "requires-grad-typo"
    screen = Screen(any_of=(b"gra", b"_gard", b"_grd"), pattern=re.compile(rb"(?i)r\w{3,9}_?g\w{2,5}"))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Reports a misspelt attribute that is assigned."""
        if isinstance(node.ctx, ast.Store) and _is_typo(node.attr) and node.attr not in self._own_names:
            self._report_name(node, node.attr, self.source.end(node) - len(node.attr))

    def visit_keyword(self, node: ast.keyword) -> None:
        """Reports a misspelt keyword of a call that is torch's, or of nothing that the file defines."""
        if node.arg is not None and _is_typo(node.arg) and node.arg not in self._own_names and self._is_torch_call(node):
            self._report_name(node, node.arg, self.source.start(node))

    def visit_Call(self, node: ast.Call) -> None:
        """Reports ``setattr`` with a misspelt name."""
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[_, ast.Constant(value=str(name)) as literal, _]):
                if _is_typo(name) and name not in self._own_names:
                    self._report_name(literal, name, self.source.start(literal) + self.source.segment(literal).index(name))

    def visit_Expr(self, node: ast.Expr) -> None:
        """Reports a comparison that was meant to be an assignment."""
        match node.value:
            case ast.Compare(
                left=ast.Attribute(attr=name, value=owner) as target,
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=bool(flag))],
            ) if name == "requires_grad" or _is_typo(name):
                left, right = self.source.end(target), self.source.start(node.value.comparators[0])
                operator = self.source.text.index("==", left, right)
                fix = self.fix("Assign instead of comparing", [(operator, operator + 2, "=")], safe=True)
                message = f"`{ast.unparse(target)} == {flag}` compares and changes nothing; assign to `{ast.unparse(owner)}.requires_grad`"
                self.report(node, message, fix)

    def _report_name(self, node: ast.expr | ast.keyword, wrong: str, start: int) -> None:
        right = "requires_grad_" if wrong.endswith("_") else "requires_grad"
        fix = self.fix(f"Rename to `{right}`", [(start, start + len(wrong), right)], safe=True)
        self.report(node, f"`{wrong}` is a misspelt `{right}`: it is set without an error and has no effect", fix)

    @cached_property
    def _own_names(self) -> set[str]:
        """Names that the file itself gives a meaning: parameters, methods, class attributes, and what it reads."""
        names: set[str] = set()
        for node in self.semantics.tree.nodes:
            match node:
                case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.Name(id=name):
                    names.add(name)
                case ast.Attribute(attr=name, ctx=ast.Load(), value=owner):
                    if self.semantics.facts.self_class(owner) is not None:
                        names.add(name)
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str(option)), *_]):
                    names.add(option.lstrip("-").replace("-", "_"))
        return names

    def _is_torch_call(self, word: ast.keyword) -> bool:
        call = self.semantics.tree.parent(word)
        if not isinstance(call, ast.Call):
            return False
        name = self.semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            return True
        return isinstance(call.func, ast.Attribute) and self.semantics.kind(call.func.value).is_tensor


def _is_typo(name: str) -> bool:
    """Whether ``name`` is within two edits of ``requires_grad`` without being it, or an English word for something else."""
    lowered = name.lower().rstrip("_") + ("_" if name.endswith("_") else "")
    if name in _RIGHT or lowered.replace("_", "") in ("retaingrad", "retainsgrad"):
        return False
    return _distance(name.rstrip("_"), "requires_grad") <= 2 and len(name) > 8


def _distance(one: str, other: str) -> int:
    """The edit distance, with a swap of neighbours counted once."""
    if abs(len(one) - len(other)) > 2:
        return 3
    rows: list[list[int]] = [list(range(len(other) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(other, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
