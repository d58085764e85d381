"""Sums and containers that start as something that nobody else has: a number, a new tensor, an empty list."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, all_of, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form

_SHARING = frozenset(
    {"torch.from_numpy", "torch.frombuffer", "torch.as_tensor", "torch.asarray", "torch.from_dlpack", "torch.from_file"}
)
_MAKERS = frozenset(
    {
        *("builtins.list", "builtins.dict", "builtins.float", "builtins.int", "collections.deque", "collections.defaultdict"),
        *("collections.OrderedDict", "collections.Counter"),
    }
)

_TYPES = frozenset({"builtins.float", "builtins.int", "builtins.list", "builtins.dict"})


class FreshStarts:
    """Tells of variables that values are added to what they held at first."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def fact(self, target: ast.expr, root: ast.Name) -> Fact:
        """Whether ``root`` held something new before anything was added to ``target``, itself or an item of it."""
        binding = self._semantics.bindings.of(root)
        bindings = (binding,) if binding is not None else self._semantics.bindings.reaching(root)
        if not bindings:
            return unknown(f"nothing shows where `{root.id}` is from")
        seen: set[Binding] = set()
        return all_of(*(self._start(each, seen) for each in bindings))

    def _start(self, binding: Binding, seen: set[Binding]) -> Fact:
        """Whether the variable was new in a binding, or in those that the binding adds to."""
        if binding in seen:
            return CERTAIN
        seen.add(binding)
        if binding.form is Form.AUGMENTED:
            if not binding.before:
                return unknown(f"nothing shows what `{binding.name}` is at first")
            return all_of(*(self._start(each, seen) for each in binding.before))
        if binding.form is Form.PARAMETER:
            return unknown(f"`{binding.name}` is an argument; its owner may need the graph")
        value = _unpacked(binding)
        if binding.form is not Form.ASSIGNMENT or value is None:
            return unknown(f"nothing shows what `{binding.name}` is at first")
        own = [part for part in ast.walk(value) if isinstance(part, ast.Name) and part.id == binding.name]
        if own and isinstance(value, ast.BinOp):
            return all_of(*(self._start(each, seen) for part in own for each in self._semantics.bindings.reaching(part)))
        return (
            CERTAIN if self.is_fresh(value) else unknown(f"`{binding.name}` starts as `{_short(value)}`, which others may have")
        )

    def is_fresh(self, value: ast.expr) -> bool:
        """Whether an expression gives something that nobody else has."""
        match value:
            case ast.Constant():
                return True
            case ast.UnaryOp(operand=inner):
                return self.is_fresh(inner)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(self.is_fresh, parts))
            case ast.Dict(values=parts):
                return all(map(self.is_fresh, parts))
            case ast.ListComp(elt=part) | ast.DictComp(value=part):
                return self.is_fresh(part)
            case ast.BinOp(left=ast.List() as left, op=ast.Mult()):
                return self.is_fresh(left)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                makes = name in torch_api.FACTORIES and name not in _SHARING
                return makes or (name in _MAKERS and all(map(self._is_plain, value.args)))
        return False

    def _is_plain(self, argument: ast.expr) -> bool:
        """Whether what a container is made of gives it nothing of others: a type, or something new."""
        return self.is_fresh(argument) or self._semantics.qualified_name(argument) in _TYPES


def _unpacked(binding: Binding) -> ast.expr | None:
    """The part of a written-out tuple that a binding takes; ``None`` for a part of anything else."""
    value = binding.value
    for index in binding.path:
        if index is None or not isinstance(value, (ast.Tuple, ast.List)) or not -len(value.elts) <= index < len(value.elts):
            return None
        value = value.elts[index]
    return value


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else "…"
