"""Sums and containers that start as something that nobody else has: a number, a new tensor, an empty list."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, all_of, shortened, unknown
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

_FILLING = frozenset({"update", "setdefault", "append", "insert", "extend", "appendleft"})
_TYPES = frozenset({"builtins.float", "builtins.int", "builtins.list", "builtins.dict"})


class FreshStarts:
    """Tells of variables that values are added to what they held at first."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._starts: dict[Binding, frozenset[Binding]] = {}
        self._contents: dict[frozenset[Binding], Fact] = {}

    def fact(self, target: ast.expr, root: ast.Name) -> Fact:
        """Whether ``root`` held something new before anything was added to ``target``, itself or an item of it."""
        starts = self.starts(root)
        if not starts:
            return unknown(f"nothing shows where `{root.id}` is from")
        doubts = [before for start in starts if isinstance(before := self._before(start), Fact)]
        if doubts or not isinstance(target, ast.Subscript):
            return all_of(*doubts)
        if starts not in self._contents:
            self._contents[starts] = self._items(root, starts)
        return self._contents[starts]

    def starts(self, root: ast.Name) -> frozenset[Binding]:
        """The bindings that gave a variable what was then added to, up to where ``root`` stands."""
        binding = self._semantics.bindings.of(root)
        found = (binding,) if binding is not None else self._semantics.bindings.reaching(root)
        return frozenset(start for each in found for start in self._starts_of(each))

    def _starts_of(self, binding: Binding) -> frozenset[Binding]:
        if binding not in self._starts:
            starts: set[Binding] = set()
            pending, seen = [binding], {binding}
            while pending:
                each = pending.pop()
                if each in self._starts:
                    starts |= self._starts[each]
                    continue
                before = self._before(each)
                if isinstance(before, Fact) or not before:
                    starts.add(each)
                else:
                    pending += [other for other in before if other not in seen]
                    seen.update(before)
            self._starts[binding] = frozenset(starts)
        return self._starts[binding]

    def _before(self, binding: Binding) -> Fact | list[Binding]:
        """What a variable held before something was added to it in a binding; empty if the binding starts anew."""
        if binding.form is Form.AUGMENTED and binding.before:
            return list(binding.before)
        if binding.form is Form.PARAMETER:
            return unknown(f"`{binding.name}` is an argument; its owner may need the graph")
        value = _unpacked(binding)
        if binding.form is not Form.ASSIGNMENT or value is None:
            return unknown(f"nothing shows what `{binding.name}` is at first")
        own = [part for part in ast.walk(value) if isinstance(part, ast.Name) and part.id == binding.name]
        if own and isinstance(value, ast.BinOp):
            return [each for part in own for each in self._semantics.bindings.reaching(part)]
        if not isinstance(value, ast.Constant) and self._has_other_names(binding):
            return unknown(f"`{binding.name}` starts as something that has another name, too")
        return (
            [] if self.is_fresh(value) else unknown(f"`{binding.name}` starts as `{shortened(value)}`, which others may have")
        )

    def _has_other_names(self, binding: Binding) -> bool:
        """Whether what a binding gives is handed to something else by the same statement: ``log = losses = []``."""
        statement = self._semantics.tree.statement(binding.node)
        is_inner = isinstance(self._semantics.tree.parent(binding.node), ast.NamedExpr)
        return is_inner or (isinstance(statement, ast.Assign) and len(statement.targets) > 1)

    def _items(self, root: ast.Name, bindings: frozenset[Binding]) -> Fact:
        """Whether nothing but what is new gets into a container whose items are added to."""
        for use in (use for binding in bindings for use in binding.uses):
            parent = self._semantics.tree.parent(use)
            statement = self._semantics.tree.parent(parent) if isinstance(parent, ast.Subscript) else None
            is_alias = isinstance(parent, (ast.Assign, ast.AugAssign, ast.NamedExpr))
            is_filled = isinstance(parent, ast.Attribute) and parent.attr in _FILLING
            is_given = isinstance(statement, ast.Assign) and parent in statement.targets and not self._is_new(statement.value)
            if is_alias or is_filled or is_given:
                return unknown(f"`{root.id}` may be given items that others have")
        return CERTAIN

    def _is_new(self, value: ast.expr) -> bool:
        """Whether a value is new, or computed, so that no other name is for the object."""
        return self.is_fresh(value) or isinstance(value, ast.BinOp)

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
