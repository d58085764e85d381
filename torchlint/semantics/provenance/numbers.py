"""What is a plain number for certain, whatever way led there: so that what it is computed with keeps its type."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.invariants import Invariants
from torchlint.semantics.provenance.values import Values

_GIVE_NUMBERS = frozenset(f"builtins.{name}" for name in ("int", "float", "len", "bool", "ord", "hash", "id"))
_CLASSES = frozenset({"builtins.int", "builtins.float", "builtins.bool"})


class Numbers:
    """Tells of expressions whether they are numbers of Python: trusted are annotations with `int`, `float` and `bool`."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._values = semantics.of(Values)
        self._numbers = Invariants["ast.expr | Binding"](self._find)

    def is_number(self, node: ast.expr) -> bool:
        """Whether ``node`` is a number."""
        return self._numbers.holds(node)

    def binds(self, binding: Binding) -> bool:
        """Whether what ``binding`` binds is a number."""
        return self._numbers.holds(binding)

    def _find_bound(self, binding: Binding) -> bool:
        match binding.form:
            case Form.PARAMETER:
                annotation = binding.annotation
                return annotation is not None and self._name(annotation) in _CLASSES
            case Form.LOOP:
                return self._counts(binding)
            case Form.AUGMENTED:
                is_plain = binding.value is not None and self.is_number(binding.value)
                return is_plain and bool(binding.before) and all(map(self.binds, binding.before))
        value = self._values.assigned(binding)
        taken = self._values.taken(value) if value is not None else None
        return taken is not None and not taken.path and self.is_number(taken.node)

    def _counts(self, binding: Binding) -> bool:
        match binding.value:
            case ast.Call(func=function) if not binding.path:
                return self._name(function) == "builtins.range"
            case ast.Call(func=function):
                return self._name(function) == "builtins.enumerate" and binding.path == (0,)
        return False

    def _find(self, node: ast.expr | Binding) -> bool:
        match node:
            case Binding():
                return self._find_bound(node)
            case ast.Constant(value=bool() | int() | float()):
                return True
            case ast.Name():
                found = self._values.bindings(node)
                return bool(found) and all(map(self.binds, found))
            case ast.UnaryOp(operand=operand):
                return isinstance(node.op, ast.Not) or self.is_number(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_number(left) and self.is_number(right)
            case ast.IfExp(body=body, orelse=orelse):
                return self.is_number(body) and self.is_number(orelse)
            case ast.Call(func=function):
                return self._name(function) in _GIVE_NUMBERS or self._name(function).startswith("math.")
        return False

    def _name(self, node: ast.AST) -> str:
        return self._semantics.qualified_name(node) or ""
