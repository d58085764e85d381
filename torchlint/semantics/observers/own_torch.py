"""Whether the torch that a file works with is torch's own: nothing in the file puts something else in place of its parts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import given_to, last_name

_PACKAGES = frozenset(
    {
        *("torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.modules", "torch.optim"),
        *("torch.autograd", "torch.cuda", "torch.utils", "torch.utils.data", "torch.linalg", "torch.special", "torch.fft"),
        *("torch.sparse", "torch.random", "torch.distributed", "torch.distributions", "torch.jit", "torch.serialization"),
    }
)
"""Modules of torch: who is handed one can change what is in it."""
_CLASSES = frozenset({"torch.Tensor", "torch.nn.Module", "torch.nn.Parameter", "torch.optim.Optimizer"})
"""Classes of torch whose methods everything has."""
_SETTINGS = ("torch.backends.", "torch.multiprocessing.", "torch._dynamo.config.", "torch._inductor.config.")
"""Modules whose attributes are there to be assigned to."""
_READING = frozenset({"getattr", "hasattr", "isinstance", "issubclass", "dir", "print", "getmembers", "TypeVar", "cast", "id"})
"""Functions that change nothing of what they are given."""
_SETTING = frozenset({"setattr", "delattr", "object", "multiple", "reload"})
"""Functions that change what they are given first: `setattr`, and those of `unittest.mock` and pytest's `monkeypatch`."""
_PATCHING = frozenset({"patch", "setattr", "delattr", "setitem", "delitem"})
"""Functions that may be told by a string what to change."""


class OwnTorch:
    """Tells whether what is called torch's does what torch's does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def fact(self) -> Fact:
        """Whether the file replaces nothing in torch, and hands none of torch's modules to code that may."""
        if self._semantics.words.all.isdisjoint(("torch", "exec")):
            return CERTAIN
        return next(
            (unknown(f"`{shortened(node)}` may put something else in torch's place") for node in self._changing()), CERTAIN
        )

    def _changing(self) -> Iterator[ast.expr]:
        for node in self._tree.nodes:
            match node:
                case ast.Attribute(ctx=ast.Store() | ast.Del()) if self._is_of_torch(node):
                    yield node
                case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) if self._is_table(value):
                    yield node
                case ast.Name(ctx=ast.Load()) | ast.Attribute(ctx=ast.Load()) if self._is_handed_on(node):
                    yield self._shown(node)
                case ast.Call() if self._sets(node):
                    yield node

    def _is_of_torch(self, target: ast.expr) -> bool:
        name = self._semantics.qualified_name(target) or ""
        return name.startswith("torch.") and not name.startswith(_SETTINGS)

    def _is_table(self, table: ast.expr) -> bool:
        """Whether a table is the attributes of something of torch's, or the modules that there are."""
        match table:
            case ast.Attribute(value=owner, attr="__dict__"):
                name = self._semantics.qualified_name(owner) or ""
                return name.partition(".")[0] == "torch"
            case ast.Attribute():
                return self._semantics.qualified_name(table) == "sys.modules"
        return False

    def _is_handed_on(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a module of torch is used for more than to name what is in it."""
        parent = self._tree.parent(node)
        if isinstance(parent, (ast.Attribute, ast.Assign, ast.AnnAssign, ast.Compare, ast.alias)):
            is_table = isinstance(parent, ast.Attribute) and parent.attr == "__dict__"
            return is_table and self._is_package(node) and not isinstance(self._tree.parent(parent), ast.Subscript)
        if isinstance(parent, ast.Call) and last_name(parent.func) in _READING:
            return False
        return self._is_package(node)

    def _is_package(self, node: ast.expr) -> bool:
        return self._semantics.qualified_name(node) in _PACKAGES

    def _shown(self, node: ast.expr) -> ast.expr:
        parent = self._tree.parent(node)
        return parent if isinstance(parent, ast.expr) else node

    def _sets(self, call: ast.Call) -> bool:
        """Whether a call may change a class of torch, or something of torch that it is told by its name."""
        name, given = last_name(call.func), given_to(call)
        if name == "exec" and isinstance(call.func, ast.Name):
            return True
        texts = [each.value for each in given if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if name in _PATCHING and any(text.partition(".")[0] == "torch" and "." in text for text in texts):
            return True
        if name in _READING:
            return False
        classes = [each for each in given if (self._semantics.qualified_name(each) or "").startswith("torch.")]
        if name in _SETTING:
            return bool(classes) and bool(given) and classes[0] is given[0]
        return bool(texts) and any(self._semantics.qualified_name(each) in _CLASSES for each in classes)
