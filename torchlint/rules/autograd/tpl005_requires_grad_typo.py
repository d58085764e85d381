from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import TypeGuard

from torchlint.rules import Rule, Screen
from torchlint.rules.rewriting import Rewriter, TextEdit
from torchlint.semantics import Type
from torchlint.semantics.code.tree import last_name
from torchlint.target import MODULES_HAVE_REQUIRES_GRAD_

_RIGHT = "requires_grad"
_METHOD = "requires_grad_"
_OTHER_WORDS = re.compile(r"(retains?_?grad|grades?|gram|grid|graph|guard|gradients?)_?$", re.IGNORECASE)
"""Endings of names that are about something else, near as they may be."""
_SETTINGS = re.compile(
    r"(^|_)(args?|opts?|options?|cfg|conf|config|configuration|settings|hparams|params|namespace|flags)$", re.IGNORECASE
)
"""What a bag of settings is called."""


def _is_typo(name: str) -> bool:
    """Whether ``name`` is within two edits of ``requires_grad`` without being it, private, or about something else."""
    if name.startswith("_") or name.rstrip("_") == _RIGHT or _OTHER_WORDS.search(name):
        return False
    return _distance(name.rstrip("_"), _RIGHT) <= 2


@cache
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


_PIECES = (b"req", b"ires_", b"rad")
"""Two edits leave one of `requ`, `ires_` and `grad` whole; where a swap breaks two of them at once, one of `req` and `rad`."""
_WORD = re.compile(rb"\w+")
_COMPARED = re.compile(rb"requires_grad_?[\s\\)]*(?:==|#)")
_OVERWRITTEN = re.compile(rb"requires_grad_[\s\\)]*(?:=(?!=)|[,#])")


def _may_hold_typo(data: bytes) -> bool:
    """Whether a file has a word that is near `requires_grad`, compares that, or assigns to the method."""
    words = {word for piece in _PIECES for word in _words_around(data, piece)}
    if b"requires_grad" in words and _COMPARED.search(data):
        return True
    if b"requires_grad_" in words and _OVERWRITTEN.search(data):
        return True
    return any(_is_typo(word.decode("utf-8", "replace")) for word in words)


def _words_around(data: bytes, piece: bytes) -> Iterator[bytes]:
    """The words that hold ``piece``, as far as they are not much longer than `requires_grad`."""
    position = data.find(piece)
    while position >= 0:
        start = position
        while start > 0 and position - start <= 16 and (data[start - 1 : start].isalnum() or data[start - 1] == ord("_")):
            start -= 1
        match = _WORD.match(data, start)
        assert match is not None
        yield match.group()
        position = data.find(piece, match.end())


class RequiresGradTypo(Rule):
    """
    ## What it does
    Finds misspelt `requires_grad`: `p.requres_grad = False`, `torch.ones(3, require_grad=True)`,
    `setattr(p, "required_grad", False)`; `p.requires_grad == False` as a statement, which compares and does nothing; and
    the method of a tensor that is overwritten, `p.requires_grad_ = False`.

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
    screen = Screen(any_of=_PIECES, check=_may_hold_typo)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Reports a misspelt attribute that is assigned, and the method of a tensor that is overwritten instead of called."""
        if not isinstance(node.ctx, ast.Store) or not self._sets_flag(node):
            return
        if _is_typo(node.attr) and not self._is_own(node.value, node.attr):
            self._report_attribute(node)
        elif node.attr == _METHOD and self.semantics.kind(node.value).is_tensor:
            owner = ast.unparse(node.value)
            message = f"`{owner}.{_METHOD}` is overwritten, which sets no flag; assign to `{owner}.{_RIGHT}`"
            self._report_name(node, node.attr, self.source.end(node) - len(node.attr), message)

    def visit_keyword(self, node: ast.keyword) -> None:
        """Reports a misspelt keyword of a call that is torch's."""
        if node.arg is not None and _is_typo(node.arg) and self._is_torch_call(node):
            self._report_name(node, node.arg, self.source.start(node))

    def visit_Call(self, node: ast.Call) -> None:
        """Reports ``setattr`` with a misspelt name."""
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[owner, ast.Constant(value=str(name)) as literal, _]):
                if _is_typo(name) and not self._is_own(owner, name):
                    self._report_name(literal, name, self.source.start(literal) + self.source.segment(literal).index(name))

    def visit_Expr(self, node: ast.Expr) -> None:
        """Reports a comparison that was meant to be an assignment."""
        match node.value:
            case ast.Compare(
                left=ast.Attribute(attr=name, value=owner) as target,
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=bool(flag))],
            ) if name == _RIGHT or (_is_typo(name) and not self._is_own(owner, name)):
                left, right = self.source.end(target), self.source.start(node.value.comparators[0])
                operator = self.source.text.index("==", left, right)
                edits: list[TextEdit] = [(operator, operator + 2, "="), *self._parentheses(node)]
                if name != _RIGHT:
                    edits.append((left - len(name), left, _RIGHT))
                fix = self.fix("Assign instead of comparing", edits, safe=True)
                compared = f"{ast.unparse(target)} == {flag}"
                message = f"`{compared}` compares and changes nothing; assign to `{ast.unparse(owner)}.{_RIGHT}`"
                self.report(node, message, fix)

    def _parentheses(self, node: ast.Expr) -> list[TextEdit]:
        """Takes away the parentheses around a whole statement, in which no assignment may stand."""
        start, end = self.source.start(node), self.source.end(node)
        inner_start, inner_end = self.source.start(node.value), self.source.end(node.value)
        return [(start, inner_start, ""), (inner_end, end, "")] if start < inner_start else []

    # --- reports -----------------------------------------------------------------------------------------------------

    def _report_attribute(self, node: ast.Attribute) -> None:
        """Reports an assignment; one to a module becomes a call, since modules have no ``requires_grad`` to set either."""
        statement = self.semantics.tree.parent(node)
        is_module = self.semantics.kind(node.value).type is Type.MODULE
        if not is_module or self.target < MODULES_HAVE_REQUIRES_GRAD_ or not _is_plain_assignment(statement, node):
            self._report_name(node, node.attr, self.source.end(node) - len(node.attr))
            return
        edits = Rewriter(self.source, self.semantics).call_in_place(node, statement, ".requires_grad_")
        self.report(node, _message(node.attr), self.fix("Call `requires_grad_`", edits, safe=True))

    def _report_name(self, node: ast.expr | ast.keyword, wrong: str, start: int, message: str = "") -> None:
        fix = self.fix(f"Rename to `{_RIGHT}`", [(start, start + len(wrong), _RIGHT)], safe=True)
        self.report(node, message or _message(wrong), fix)

    # --- what the name is of -----------------------------------------------------------------------------------------

    def _sets_flag(self, node: ast.Attribute) -> bool:
        """Whether what is assigned may be a flag: a number or a text is something else's."""
        match self.semantics.tree.parent(node):
            case ast.Assign(value=ast.Constant(value=value)):
                return isinstance(value, bool) or value in (0, 1)
            case ast.AugAssign() | ast.For() | ast.withitem() | ast.AnnAssign(value=None):
                return False
        return True

    def _is_own(self, owner: ast.expr, name: str) -> bool:
        """Whether the file gives ``owner.name`` a meaning of its own: its classes, its options, what it reads."""
        own_class = self.semantics.facts.self_class(owner)
        if own_class is not None:
            constructed = (
                isinstance(function := self.semantics.tree.function(owner), ast.FunctionDef) and function.name == "__init__"
            )
            return constructed or not self.semantics.facts.is_module(own_class) or self._is_of_class(own_class, name)
        kind = self.semantics.kind(owner)
        if kind.type is Type.MODULE and isinstance(kind.definition, ast.ClassDef):
            return self._is_of_class(kind.definition, name)
        if kind.is_tensor or kind.type is Type.MODULE:
            return False
        return kind.known or name in self._meaningful or _SETTINGS.search(last_name(owner)) is not None

    def _is_of_class(self, node: ast.ClassDef, name: str) -> bool:
        """Whether a class, or a base of it, reads the attribute or defines it in its body."""
        if self.semantics.facts.method(node, name) is not None:
            return True
        return any(slot.uses or slot.class_values for slot in self.semantics.facts.slots(node, name))

    @cached_property
    def _meaningful(self) -> set[str]:
        """Names that are read as attributes somewhere in the file, defined by its classes, or options of its command line."""
        names: set[str] = set()
        for node in self.semantics.tree.nodes:
            match node:
                case (
                    ast.Attribute(attr=name, ctx=ast.Load())
                    | ast.FunctionDef(name=name)
                    | ast.Call(func=ast.Name(id="getattr" | "hasattr"), args=[_, ast.Constant(value=str(name)), *_])
                ):
                    names.add(name)
                case ast.Call(func=ast.Attribute(attr="add_argument"), args=[ast.Constant(value=str(option)), *_]):
                    names.add(option.lstrip("-").replace("-", "_"))
        for found in self.semantics.facts.classes.values():
            names.update(found.slots)
        return names

    def _is_torch_call(self, word: ast.keyword) -> bool:
        call = self.semantics.tree.parent(word)
        if not isinstance(call, ast.Call):
            return False
        name = self.semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            return True
        return isinstance(call.func, ast.Attribute) and self.semantics.kind(call.func.value).is_tensor


def _message(wrong: str) -> str:
    return f"`{wrong}` is a misspelt `{_RIGHT}`: it is set without an error and has no effect"


def _is_plain_assignment(statement: ast.AST | None, target: ast.expr) -> TypeGuard[ast.Assign]:
    return isinstance(statement, ast.Assign) and statement.targets == [target]
