"""What is a device for certain, and means the same to a factory as to a move."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from torchlint.fact import CERTAIN, Fact
from torchlint.semantics import Semantics
from torchlint.semantics.certainty.sources import Condition, Sources
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import position
from torchlint.semantics.devices import factories
from torchlint.semantics.provenance.passed import Passed

_CASTS = frozenset({"float", "double", "half", "bfloat16", "long", "int", "bool", "clone", "detach"})
_OF_ONE = frozenset({"bernoulli", "exp", "log", "sqrt", "abs", "neg", "sigmoid", "cumsum", "square"})
"""Functions that give a tensor where the one is that they are given."""
_DEEPEST = 4
_FACTORIES = frozenset(
    f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "arange", "tensor", "rand", "randn", "eye")
)


class CertainDevices:
    """Tells of expressions whether they are devices."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._sources = semantics.of(Sources)
        self._condition = Condition("device", self._holds, frozenset({"torch.device", "builtins.str"}))

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a device, the name or number of one, or None: a move and a factory take each of these alike."""
        return self._sources.fact(node, self._condition)

    def is_cpu(self, node: ast.expr) -> bool:
        """Whether ``node`` is the CPU, written out: ``"cpu"``, ``torch.device("cpu")``, or a name for nothing else."""
        match node:
            case ast.Constant(value="cpu"):
                return True
            case ast.Call(func=function, args=[device], keywords=[]):
                return self._semantics.qualified_name(function) == "torch.device" and self.is_cpu(device)
            case ast.Name():
                found = self._last(node)
                values = [each.value for each in found if each.form is Form.ASSIGNMENT and not each.path]
                is_known = bool(found) and len(values) == len(found)
                return is_known and all(isinstance(each, (ast.Constant, ast.Call)) and self.is_cpu(each) for each in values)
            case ast.Attribute(value=ast.Name() as owner, attr=name):
                return self._is_kept_cpu(owner, name)
        return False

    def is_of_cpu_tensor(self, device: ast.expr) -> bool:
        """Whether a device is that of a tensor which torch makes on the CPU, of nothing that could be elsewhere."""
        match device:
            case ast.Attribute(value=tensor, attr="device"):
                return self._is_made_on_cpu(tensor, _DEEPEST)
        return False

    def is_made_on_cpu(self, tensor: ast.expr) -> bool:
        """Whether ``tensor`` is one that torch makes on the CPU, of nothing that could be elsewhere."""
        return self._is_made_on_cpu(tensor, _DEEPEST)

    def _is_made_on_cpu(self, tensor: ast.expr, depth: int) -> bool:
        if not depth:
            return False
        match tensor:
            case ast.Call(func=ast.Attribute(value=owner, attr=method), args=[], keywords=[]) if method in _CASTS:
                return self._is_made_on_cpu(owner, depth - 1)
            case ast.Call(func=function, args=given, keywords=words):
                name = (self._semantics.qualified_name(function) or "").removeprefix("torch.")
                if any(word.arg in (None, "device", "out") for word in words) or self._has_default_device:
                    return False
                if name in factories.FUNCTIONS - factories.LIKE and name != "normal":
                    return name != "tensor" or all(map(self._is_plain, given))
                return name in _OF_ONE and len(given) == 1 and self._is_made_on_cpu(given[0], depth - 1)
            case ast.Name():
                values = self._semantics.bindings.values(tensor)
                return bool(values) and all(self._is_made_on_cpu(each, depth - 1) for each in values)
        return False

    def _is_plain(self, data: ast.expr) -> bool:
        """Whether a value is not known to be a tensor, which would say where the new one is made."""
        return not self._semantics.kind(data).is_tensor

    @cached_property
    def _has_default_device(self) -> bool:
        words = self._semantics.words.all
        return any(each.startswith("set_default_") for each in words) or (
            self._semantics.elsewhere.speaks_of("default devices") is True
        )

    def _is_kept_cpu(self, owner: ast.Name, name: str) -> bool:
        """Whether all that the class of ``self`` keeps under a name is the CPU."""
        facts = self._semantics.facts
        class_ = facts.self_class(owner)
        stores = [store for slot in facts.slots(class_, name) for store in slot.stores] if class_ is not None else []
        kept = [self._semantics.tree.parent(store) for store in stores]
        return bool(kept) and all(isinstance(each, ast.Assign) and self.is_cpu(each.value) for each in kept)

    def _last(self, name: ast.Name) -> Sequence[Binding]:
        """The bindings that reach a name; in a function, of a name that the file binds line by line, the last one."""
        found = self._semantics.bindings.reaching(name)
        tree = self._semantics.tree
        body = tree.module.body
        if tree.function(name) is None or not all(tree.statement(each.node) in body for each in found):
            return found
        return sorted(found, key=lambda each: position(tree.statement(each.node)))[-1:]

    def _holds(self, node: ast.expr) -> Fact | None:
        match node:
            case ast.Constant(value=str() | int() | None) | ast.JoinedStr():
                return CERTAIN
            case ast.Call(func=function) if self._semantics.qualified_name(function) in ("torch.device", "builtins.int"):
                return CERTAIN
            case ast.Attribute(value=owner, attr="device") if (fact := self._semantics.of(Tensors).fact(owner)).is_certain:
                return fact
            case ast.Name() if self._has_passed(node):
                return CERTAIN
        return None

    def _has_passed(self, name: ast.Name) -> bool:
        """Whether code that has run before would have raised if ``name`` were no device."""
        found = self._semantics.bindings.reaching(name)
        if len(found) != 1:
            return False
        passed = self._semantics.of(Passed)
        demanding = [use for use in found[0].uses if use is not name and self._is_demanded(use)]
        return passed.has_run(list(filter(passed.runs_with_statement, demanding)), name, found[0])

    def _is_demanded(self, use: ast.Name) -> bool:
        """Whether a use raises where the value is no device: that of a factory, or of ``torch.device``."""
        match self._semantics.tree.parent(use):
            case ast.keyword(arg="device") as word:
                call = self._semantics.tree.parent(word)
                return isinstance(call, ast.Call) and self._semantics.qualified_name(call.func) in _FACTORIES
            case ast.Call(func=function, args=[first, *_]) if first is use:
                return self._semantics.qualified_name(function) == "torch.device"
        return False
