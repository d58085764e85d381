from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen, is_about_torch
from torchlint.semantics import Type
from torchlint.semantics.memory.links import Links, Sharing, is_assigned
from torchlint.semantics.memory.places import Places

_TAKES_ID = re.compile(rb"id(?<![\w.]id)[\s\\)]*[(#]")
_IS = re.compile(
    rb"is(?<=[\s)\]]is)(?![\w.=,])[\s\\]*(?:#|(?:not\b[\s\\]*)?(?!(?:None|True|False|not|an?|the|it|this|that|in|to|of|used|no)\b)"
    rb"[\w.()\[\]\x80-\xff]+(?![\w.()\[\]\x80-\xff])(?:(?<=[\[(])|(?![\"'`!?]|(?<=\.)[^\S\r\n]*[\"'`]))(?![^\S\r\n]+(?!(?:and|or|else|if|for|in|is|not)\b)[\w\x80-\xff`]))"
)
_STARTS_AS_CODE = re.compile(rb"^\s*(?:if|elif|assert|while|return|and|or|not|yield)\b|[=(\[]")
_OPERAND = re.compile(
    rb"[ \t\f\\)\]]*(?:[\w\x80-\xff]+[ \t\\)\]]*(?:\.[ \t\\]*[\w\x80-\xff]+[ \t\\)\]]*)*)?"  # a chain, or its end
)
_IN_COMMENT = re.compile(rb"[^\"']*#")


_ASSERTS = re.compile(rb"assertIs(?:Not)?\b[\s\\)]*[(#]")


def _may_compare(data: bytes) -> bool:
    """Whether a file compares ids, or in a line of code the identity of what is not None."""
    if not is_about_torch(data):
        return False
    if b"id" in data and _TAKES_ID.search(data):
        return b"==" in data or b"!=" in data or b"assert" in data
    if b"assertIs" in data and _ASSERTS.search(data) is not None:
        return True
    for match in _IS.finditer(data):
        place = match.start()
        first = max(place - 300, 0)
        start = max(data.rfind(b"\n", first, place), data.rfind(b"\r", first, place), first - 1) + 1
        if start > first and _IN_COMMENT.match(data, start, place):
            continue
        if _STARTS_AS_CODE.search(data[start:place]) or (_OPERAND.fullmatch(data, start, place) and _goes_on(data, start)):
            return True
    return False


def _goes_on(data: bytes, line: int) -> bool:
    """Whether a line of code may go on with the expression of the line before."""
    before = data[max(line - 300, 0) : line].rstrip()
    last = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :]
    return _LEAVES_OPEN.search(last) is not None


_LEAVES_OPEN = re.compile(rb"[(\[{,=:\\]\Z|\b(?:and|or|not|if|elif|else|return|yield|assert|while|in)\Z|[^\s].*#")


_SAME_OBJECT = frozenset({"real", "conj", "positive", "as_tensor", "asarray", "as_subclass"})
"""What gives a tensor itself, where there is nothing to do."""
_ASSERTIONS = {
    "assertEqual": ("assertEqual", True),
    "assertNotEqual": ("assertNotEqual", True),
    "assertIs": ("assertEqual", False),
    "assertIsNot": ("assertNotEqual", False),
}
"""The assertions of unittest: by which name they compare addresses, and whether they compare ids."""


@dataclass(frozen=True, eq=False, slots=True)
class _Operand:
    """One side of a comparison: the tensor, and the expression whose text the fix replaces (``id(x)``, or ``x`` itself)."""

    tensor: ast.expr
    replaced: ast.expr
    stored: bool = False


class IdentityAsSharing(AstRule):
    """
    ## What it does
    Finds the identity of tensor objects taken for the identity of their memory: `id(a) == id(b)`, `x.data is y.data`,
    `view is x` where `view = x.view(-1)`, and `before = id(x)` that is compared later.

    ## Why is this bad
    `view`, `detach`, `.data`, indexing and their like make a new tensor object over the same memory: the objects differ
    while everything written to one is seen in the other. And an `id` may be given again to another object, once the first
    is gone.

    ## Example
    ```python
    x = torch.zeros(3, 4)
    row = x[0]
    shared = id(row) == id(x)  # False, whatever is shared
    ```

    ## Use instead
    ```python
    x = torch.zeros(3, 4)
    row = x[0]
    shared = row.data_ptr() == x.data_ptr()  # False, whatever is shared
    ```

    ## Fix safety
    Unsafe: the comparison becomes the one of where the memory of both starts, whose result is another. A view that starts
    further behind has another address, too. Where a comment stands inside `id(…)`, there is no fix.

    ## References
    - [torch.Tensor.data_ptr](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.data_ptr.html)
    - [Tensor views](https://docs.pytorch.org/docs/stable/tensor_view.html)
    """

    code = "TPL202"
    name = "identity-as-sharing"
    screen = Screen(any_of=(b"is", b"id"), check=_may_compare)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Looks at comparisons of two objects."""
        if len(node.ops) != 1:
            return
        left, right = node.left, node.comparators[0]
        match node.ops[0]:
            case ast.Eq() | ast.NotEq():
                operands = self._ids(left, right)
                operator = None
            case ast.Is():
                operands, operator = self._objects(left, right), "=="
            case ast.IsNot():
                operands, operator = self._objects(left, right), "!="
            case _:
                return
        if operands is not None:
            edits = self._operands_edits(operands)
            if edits is not None and operator is not None:
                edits += self._operator_edit(left, right, operator)
            self._report(node, operands, edits)

    def visit_Call(self, node: ast.Call) -> None:
        """Looks at the assertions of unittest."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name) as function, args=[left, right, *_]):
                if name in _ASSERTIONS:
                    new, by_id = _ASSERTIONS[name]
                    operands = self._ids(left, right) if by_id else self._objects(left, right)
                    if operands is not None:
                        edits = self._operands_edits(operands)
                        if edits is not None:
                            end = self.source.end(function)
                            edits += [(end - len(name), end, new)] if new != name else []
                        self._report(node, operands, edits)

    # --- what is compared --------------------------------------------------------------------------------------------

    def _ids(self, left: ast.expr, right: ast.expr) -> tuple[_Operand, _Operand] | None:
        """The tensors whose ids are compared, one of them perhaps stored before."""
        one, other = self._id_of(left), self._id_of(right)
        if one is None or other is None or (one.stored and other.stored):
            return None
        if not self._is_of_torch(one.tensor, other.tensor):
            return None
        stored_before = one.stored != other.stored and ast.dump(one.tensor) == ast.dump(other.tensor)
        return (one, other) if stored_before or self._is_about_memory(one.tensor, other.tensor) else None

    def _id_of(self, node: ast.expr) -> _Operand | None:
        """The tensor of ``id(x)``, or of a name that such an id is bound to."""
        match node:
            case ast.Call(func=ast.Name(id="id") as function, args=[tensor], keywords=[]):
                is_builtin = self.semantics.qualified_name(function) == "builtins.id"
                return _Operand(tensor, node) if is_builtin and self._has_memory(tensor) else None
            case ast.Name():
                bindings = self.semantics.bindings.reaching(node)
                if len(bindings) == 1 and is_assigned(bindings[0]) and isinstance(bindings[0].value, ast.Call):
                    found = self._id_of(bindings[0].value)
                    return _Operand(found.tensor, found.replaced, stored=True) if found is not None else None
        return None

    def _objects(self, left: ast.expr, right: ast.expr) -> tuple[_Operand, _Operand] | None:
        """Two tensors that cannot be one object, whose identity is asked for."""
        if isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
            return None
        if not (self._has_memory(left) and self._has_memory(right)) or not self._is_of_torch(left, right):
            return None
        if not self._is_about_memory(left, right):
            return None
        return _Operand(left, left), _Operand(right, right)

    def _has_memory(self, node: ast.expr) -> bool:
        kind = self.semantics.kind(node)
        return (kind.is_tensor and not kind.loose) or self._is_storage(node) or self._is_array_of_tensor(node)

    def _is_of_torch(self, *sides: ast.expr) -> bool:
        """Whether one side at least is a tensor, or its storage, and not both are arrays."""
        return any(self.semantics.kind(side).is_tensor or self._is_storage(side) for side in sides)

    def _is_storage(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(value=tensor, attr="storage"), args=[]):
                return self.semantics.kind(tensor).is_tensor
        return False

    def _is_array_of_tensor(self, node: ast.expr) -> bool:
        """Whether a value is an array over a tensor's memory, or one that a tensor was made of."""
        return self.semantics.kind(node).type is Type.ARRAY

    def _is_about_memory(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether one side is a new object at each evaluation, or made from the other side."""
        if self._is_new(left) or self._is_new(right):
            return True
        return self._derives(left, right) or self._derives(right, left)

    def _is_new(self, node: ast.expr) -> bool:
        """Whether evaluating ``node`` makes a new object over existing memory."""
        if self._is_storage(node):
            return True
        link = self.semantics.of(Links).link(node)
        if link is None or link.sharing is not Sharing.ALWAYS or link.name.endswith("_") or link.name in _SAME_OBJECT:
            return False
        return True

    def _derives(self, node: ast.expr, origin: ast.expr) -> bool:
        """Whether a name is bound to a new object over the memory of ``origin``: ``view = x.view(-1)``."""
        if not isinstance(node, ast.Name) or (place := self.semantics.of(Places).place(origin)) is None:
            return False
        bindings = self.semantics.bindings.reaching(node)
        return len(bindings) == 1 and is_assigned(bindings[0]) and self._is_new_over(bindings[0].value, place.spelling)

    def _is_new_over(self, value: ast.expr | None, spelling: str) -> bool:
        if value is None or not self._is_new(value):
            return False
        start = self.semantics.of(Links).chain(value)[-1].source if not self._is_storage(value) else value
        place = self.semantics.of(Places).place(start)
        return place is not None and place.spelling == spelling

    # --- report ------------------------------------------------------------------------------------------------------

    def _report(self, node: ast.Compare | ast.Call, operands: tuple[_Operand, _Operand], edits: list[TextEdit] | None) -> None:
        one, other = (ast.unparse(operand.tensor) for operand in operands)
        message = (
            f"`{ast.unparse(node)}` compares objects, not memory: `{one}` and `{other}` may share theirs; compare `data_ptr()`"
        )
        self.report(node, message, self._fix(edits))

    def _fix(self, edits: list[TextEdit] | None) -> Fix | None:
        return self.fix("Compare the addresses of the memory", edits, safe=False) if edits is not None else None

    def _operands_edits(self, operands: tuple[_Operand, _Operand]) -> list[TextEdit] | None:
        edits: list[TextEdit] = []
        for operand in operands:
            if "#" in self.source.segment(operand.replaced):
                return None  # a comment in between
            edits.append(
                (self.source.start(operand.replaced), self.source.end(operand.replaced), self._address(operand.tensor))
            )
        return edits

    def _address(self, tensor: ast.expr) -> str:
        """The expression for where the memory of ``tensor`` starts."""
        rewriter = Rewriter(self.source, self.semantics)
        if isinstance(tensor, ast.Attribute) and tensor.attr == "data":
            return f"{rewriter.operand(tensor.value)}.data_ptr()"
        if self._is_array_of_tensor(tensor):
            return f"{rewriter.operand(tensor)}.ctypes.data"
        return f"{rewriter.operand(tensor)}.data_ptr()"

    def _operator_edit(self, left: ast.expr, right: ast.expr, operator: str) -> list[TextEdit]:
        start, end = self.source.end(left), self.source.start(right)
        match = re.search(r"\bis(\s+not)?\b", self.source.text[start:end])
        assert match is not None
        return [(start + match.start(), start + match.end(), operator)]
