"""Where the memory that an ``x.data`` shares is kept, given back or handed on, rather than only read."""

from __future__ import annotations

import ast
import builtins

from torchlint.semantics import Binding, Semantics
from torchlint.semantics.torch_api import INPLACE_METHODS, TENSOR_METHODS

_MOVES = frozenset({"cpu", "cuda", "to", "detach"})
"""Methods that may give the same memory, and leave every number where it is."""
_LOOKS = _MOVES | {"unsqueeze", "squeeze", "view", "reshape", "contiguous", "float"}
_HOLDERS = frozenset({"builtins.tuple", "builtins.list", "builtins.dict", "builtins.zip", "collections.OrderedDict"})
_FILLS = frozenset({"append", "appendleft", "extend", "insert", "add"})
_DEPTH = 4
"""How many names are followed, one after the other."""
_READ_BY = ("torch.", "numpy.", "math.")
"""Libraries whose functions read what they are given, and keep nothing of it; so do Python's own."""


class KeptMemory:
    """Tells of the ``.data`` of tensors whether somebody has their memory afterwards."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._pooled: dict[tuple[Binding, int], bool] = {}

    def is_kept(self, data: ast.expr) -> bool:
        """Whether a value, as it is, is stored in an object or a container, given back, or handed to unknown code.

        In a ``forward``, something is computed with whatever is read there, which then lacks its gradient; so it is with a
        leaf that the code makes for itself, ``x = torch.ones(3, requires_grad=True)``.
        """
        if getattr(self._tree.function(data), "name", "") == "forward" or self._is_own_leaf(data):
            return True
        node: ast.AST = data
        is_held = False
        while True:
            match parent := self._tree.parent(node):
                case ast.Attribute() if (moved := self._tree.called(node, _MOVES)) is not None:
                    node = moved
                case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                    node, is_held = parent, True
                case ast.Starred() | ast.IfExp():
                    node = parent
                case ast.BinOp() if is_held:
                    node = parent
                case ast.keyword():
                    call = self._tree.parent(parent)
                    return isinstance(call, ast.Call) and not self._only_reads(call)
                case ast.Call() if node in parent.args:
                    if self._semantics.qualified_name(parent.func) in _HOLDERS:
                        node, is_held = parent, True
                    else:
                        return not self._only_reads(parent)
                case ast.Return() | ast.Yield():
                    return True
                case ast.Assign(targets=[target]):
                    return is_held or isinstance(target, (ast.Attribute, ast.Subscript))
                case ast.AugAssign() | ast.AnnAssign():
                    return is_held
                case _:
                    return False

    def _is_own_leaf(self, data: ast.expr) -> bool:
        """Whether torch's functions make what is read, and no module has it."""
        value = data.value if isinstance(data, ast.Attribute) else data
        values = self._semantics.bindings.values(value) if isinstance(value, ast.Name) else []
        return bool(values) and all(
            isinstance(each, ast.Call) and (self._semantics.qualified_name(each.func) or "").startswith("torch.")
            for each in values
        )

    def is_pooled(self, data: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a value, or each of its items, goes into a list that an object keeps: ``self.images.append(image)``."""
        node = data
        while (call := self._seen(node)) is not None:
            node = call
        match parent := self._tree.parent(node):
            case ast.Call(func=ast.Attribute(value=kept, attr=method)) if method in _FILLS and node in parent.args:
                return self._is_own(kept)
            case ast.Assign(targets=[ast.Subscript(value=kept)]):
                return self._is_own(kept)
            case ast.Assign(targets=[ast.Name() as name]):
                return bool(depth) and self._is_pooled_name(name, depth - 1)
            case ast.For(target=ast.Name() as name, iter=iterated) if iterated is node:
                return bool(depth) and self._is_pooled_name(name, depth - 1)
        return False

    def _is_pooled_name(self, name: ast.Name, depth: int) -> bool:
        binding = self._semantics.bindings.of(name)
        if binding is None:
            return False
        if (binding, depth) not in self._pooled:
            uses = (use for use in binding.uses if binding in self._semantics.bindings.reaching(use))
            self._pooled[binding, depth] = any(self.is_pooled(use, depth) for use in uses)
        return self._pooled[binding, depth]

    def _seen(self, node: ast.expr) -> ast.expr | None:
        """What gives the same values in another form: ``torch.unsqueeze(x, 0)``, ``x.view(3)``."""
        match parent := self._tree.parent(node):
            case ast.Call(func=function, args=[first, *_]) if first is node:
                library, _, name = (self._semantics.qualified_name(function) or "").rpartition(".")
                return parent if library == "torch" and name in _LOOKS else None
        return self._tree.called(node, _LOOKS)

    def _is_own(self, kept: ast.expr) -> bool:
        return isinstance(kept, ast.Attribute) and self._semantics.facts.self_class(kept.value) is not None

    def _only_reads(self, call: ast.Call) -> bool:
        """Whether torch, Python or a method of a tensor is called, which keep nothing of what they are given."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith(_READ_BY) or (name.startswith("builtins.") and hasattr(builtins, name.removeprefix("builtins."))):
            return True
        return isinstance(call.func, ast.Attribute) and call.func.attr in TENSOR_METHODS.keys() | INPLACE_METHODS
