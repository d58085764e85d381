"""Where a number is meant, and a tensor of one number stands: what is formatted, printed, added up to be reported."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Generic, TypeVar

from torchlint.fact import CERTAIN, Fact, known, unknown
from torchlint.semantics import Semantics, Type
from torchlint.semantics.autograd.accumulators import Accumulation, Fate, root_of
from torchlint.semantics.certainty.dimensions import Dimensions
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.shapes.scalars import CHAIN, base
from torchlint.semantics.shapes.sizes import number

Node = TypeVar("Node")

_RECORDING = frozenset({"add_scalar", "scalar_summary", "log_value", "update", "set_postfix", "set_description"})
"""Methods that take numbers to keep or to show: of a summary writer, a meter, a progress bar."""
_CONVERSION = re.compile(r"%(?:\([^)]{0,99}\))?[-#0 +]{0,9}[\d*]{0,9}(?:\.[\d*]{1,9})?(.)")
"""One conversion of a text that `%` is used on."""
_FIND = {"argmax": 1, "argmin": 1, "multinomial": 2}
_FIND_BOTH = {"max": 1, "min": 1, "topk": 2, "sort": 2}
"""Functions and methods that give the places of what they find in a matrix, alone or beside the values; with how many axes."""
_WANTED = "code may want a tensor here"
_ROUNDS = "computed with as a number, it is rounded otherwise"
_SHOWN = "a number is shown otherwise than a tensor"


@dataclass(frozen=True, eq=False, slots=True)
class MeantNumber(Generic[Node]):
    """An expression ``read`` that is given for the number in a ``tensor``, and whether that number itself comes to the same.

    It is ``indexed`` where the tensor has dimensions, ``best.data[0]``, ``kept`` where it is added up or collected, and
    ``shown`` where a text is made of it, which holds the number either way.
    """

    read: Node
    tensor: Node
    alike: Fact
    indexed: bool = False
    kept: bool = False
    shown: bool = False


class MeantNumbers:
    """Tells of the ``.data`` of tensors of one number whether the code around them wants that number."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def of(self, data: ast.Attribute) -> MeantNumber[ast.expr] | None:
        """The number that ``loss.data``, ``loss.data.numpy()`` or ``best.data[0]`` stands for; ``None`` where none is meant."""
        if (item := self._item_of_indices(data)) is not None:
            return MeantNumber(item, data.value, unknown(_WANTED), indexed=True)
        tensor = base(data.value)
        kind = self._semantics.kind(tensor)
        if not (kind.is_tensor and kind.scalar) or kind.loose:
            return None
        read, method = self._read(data)
        if method in ("tolist", "item"):
            meant: Fact | None = CERTAIN
        else:
            meant = self._of_array(read) if method == "numpy" else self._of_tensor(read)
        if meant is None:
            return None
        alike = self._semantics.of(Dimensions).has_none(tensor) & meant
        top = self._top(read)
        shown = self._shown(top)
        return MeantNumber(read, tensor, alike, kept=self._is_recorded(top), shown=shown is not None)

    def _item_of_indices(self, data: ast.Attribute) -> ast.expr | None:
        """``q.max(1)[1].data[0]``, the one place where a maximum is, which was a number in torch 0.3."""
        missing = self._axes_of_indices(data.value)
        item: ast.expr = data
        while missing and isinstance(parent := self._tree.parent(item), ast.Subscript) and parent.value is item:
            parts = parent.slice.elts if isinstance(parent.slice, ast.Tuple) else [parent.slice]
            if not isinstance(parent.ctx, ast.Load) or not all(isinstance(number(part), int) for part in parts):
                return None
            missing, item = max(missing - len(parts), 0), parent
        is_number = (
            item is not data and missing == 0 and not isinstance(self._tree.parent(item), (ast.Attribute, ast.Subscript))
        )
        return item if is_number else None

    def _axes_of_indices(self, node: ast.expr, depth: int = 0) -> int:
        """How many axes the indices have that a search through a matrix gives; 0 where a value is something else."""
        match node:
            case ast.Name() if depth == 0:
                bindings = self._semantics.bindings.reaching(node)
                found = {self._axes_of_binding(binding) for binding in bindings}
                return found.pop() if len(found) == 1 else 0
            case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=1)):
                return _axes_found(call, _FIND_BOTH, self._is_torch(call))
            case ast.Call():
                return _axes_found(node, _FIND, self._is_torch(node))
        return 0

    def _axes_of_binding(self, binding: Binding) -> int:
        value = binding.value
        if binding.form is not Form.ASSIGNMENT or value is None:
            return 0
        if binding.path == (1,) and isinstance(value, ast.Call):
            return _axes_found(value, _FIND_BOTH, self._is_torch(value))
        return self._axes_of_indices(value, 1) if not binding.path else 0

    def _is_torch(self, call: ast.Call) -> bool:
        return (self._semantics.qualified_name(call.func) or "").startswith("torch.")

    def _read(self, node: ast.expr) -> tuple[ast.expr, str]:
        """What a chain of moves and casts of ``node`` ends in, and the last method of it."""
        method = ""
        while True:
            parent = self._tree.parent(node)
            call = self._tree.parent(parent) if isinstance(parent, ast.Attribute) else None
            if not (isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent):
                return node, method
            may_follow = CHAIN | {"tolist"} | ({"item"} if method == "numpy" else set())
            if parent.attr not in may_follow or call.args or call.keywords:
                return node, method
            node, method = call, parent.attr

    def _of_array(self, node: ast.expr) -> Fact | None:
        """Whether the number comes to the same where an array stands; ``None`` where an array may be meant."""
        if (meant := self._of_tensor(node)) is not None:
            return meant
        match self._tree.parent(self._top(node)):
            case ast.Attribute() | ast.Subscript() | ast.Starred():
                return None
            case ast.Assign(targets=[ast.Name() as name]):
                binding = self._semantics.bindings.of(name)
                uses = binding.uses if binding is not None else ()
                if any(isinstance(self._tree.parent(use), (ast.Attribute, ast.Subscript)) for use in uses):
                    return None
            case ast.Assign():
                return None
        return unknown("a number has more digits than an array of it")

    def _of_tensor(self, node: ast.expr) -> Fact | None:
        """Whether the number comes to the same where a tensor stands; ``None`` where a tensor may be meant."""
        top = self._top(node)
        shown = self._shown(top)
        if shown is None and self._is_recorded(top):
            shown = unknown(_WANTED)
        if shown is not None and shown.is_certain and top is not node:
            return known(isinstance(top, ast.UnaryOp) and top.operand is node, _ROUNDS)
        return shown

    def _top(self, node: ast.expr) -> ast.expr:
        """The arithmetic expression that ``node`` is an operand of."""
        while True:
            parent = self._tree.parent(node)
            match parent:
                case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                    node = parent
                case ast.BinOp(op=operator, left=left, right=right):
                    other = right if left is node else left
                    if isinstance(operator, ast.Mod) or self._semantics.kind(other).type is not Type.NUMBER:
                        return node
                    node = parent
                case _:
                    return node

    # --- where it is shown -------------------------------------------------------------------------------------------

    def _shown(self, node: ast.expr) -> Fact | None:
        """Whether a number that is put into a text for ``node`` makes the same text; ``None`` where none is made."""
        parent = self._tree.parent(node)
        match parent:
            case ast.FormattedValue(conversion=conversion):
                return known(conversion == -1, _SHOWN)
            case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is node:
                return self._converted(text)
            case ast.Tuple():
                match self._tree.parent(parent):
                    case ast.BinOp(op=ast.Mod(), left=text, right=right) if right is parent:
                        return self._converted(text)
            case ast.Call(func=ast.Attribute(value=text, attr="format")) if self._is_text(text):
                return self._formatted(text)
            case ast.keyword():
                match self._tree.parent(parent):
                    case ast.Call(func=ast.Attribute(value=text, attr="format")) if self._is_text(text):
                        return self._formatted(text)
            case ast.Call(func=function) if node in parent.args:
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("math."):
                    return CERTAIN
                return unknown(_SHOWN) if name in ("builtins.print", "builtins.str") else None
        return None

    def _is_text(self, node: ast.expr) -> bool:
        return self._semantics.kind(node).type is Type.STRING

    def _converted(self, text: ast.expr) -> Fact | None:
        if not self._is_text(text):
            return None
        is_written = isinstance(text, ast.Constant) and isinstance(text.value, str)
        kinds = _CONVERSION.findall(ast.literal_eval(text)) if is_written else ["s"]
        return known(set(kinds) <= set("fFeEgGdiu%"), _SHOWN)

    def _formatted(self, text: ast.expr) -> Fact:
        is_written = isinstance(text, ast.Constant) and isinstance(text.value, str)
        fields = re.findall(r"\{[^{}]*\}", ast.literal_eval(text)) if is_written else ["{!s}"]
        return known(not any("!" in field or "." in field.partition(":")[0] or "[" in field for field in fields), _SHOWN)

    # --- where it is kept --------------------------------------------------------------------------------------------

    def _is_recorded(self, node: ast.expr) -> bool:
        """Whether ``node`` is given to what keeps numbers, or is added up or listed and nobody wants a tensor of it."""
        parent = self._tree.parent(node)
        match parent:
            case ast.Call(func=ast.Attribute(attr=method)) if node in parent.args and method in _RECORDING:
                return True
            case ast.Call(func=ast.Attribute(value=target, attr="append"), args=[only]) if only is node:
                return self._is_number_kept(node, target, kept=True)
            case ast.AugAssign(target=target, op=ast.Add(), value=value) if value is node:
                return self._is_number_kept(node, target, kept=False)
        return False

    def _is_number_kept(self, node: ast.expr, target: ast.expr, *, kept: bool) -> bool:
        root = root_of(target)
        if root is None:
            return False
        found = Accumulation(self._tree.statement(node), target, root, (node,), kept)
        return not self._semantics.of(Fate).is_used_as_tensor(found)


def _axes_found(call: ast.Call, table: dict[str, int], is_function: bool) -> int:
    """How many axes the indices have that a function or method of ``table`` finds in a matrix, along one axis."""
    axes = table.get(call.func.attr, 0) if isinstance(call.func, ast.Attribute) else 0
    words = {word.arg: word.value for word in call.keywords}
    arguments = call.args[1:] if is_function else call.args
    kept = words.get("keepdim", arguments[1] if len(arguments) > 1 else None)
    if axes != 1:
        return axes
    if not arguments and "dim" not in words:
        return 0
    return 2 if isinstance(kept, ast.Constant) and kept.value else 1
