"""Weights of layers and models that a function has just put in place or copied, and does not run: no graph has them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import dotted, last_name

_INITIALISES = re.compile(r"(^|_)(re)?(init\w*|xavier|kaiming|orthogonal)(_|$)", re.IGNORECASE)
"""What functions and methods are called that give weights their first values."""
_STAYS = frozenset(
    {
        *("to", "cuda", "cpu", "float", "half", "double", "apply", "train", "eval", "requires_grad_", "state_dict"),
        *("load_state_dict", "parameters", "named_parameters", "register_buffer", "add_module", "register_parameter"),
    }
)
"""Methods of modules that run none of their layers."""
_FORM = frozenset({"data", "shape", "dtype", "device", "in_features", "out_features", "requires_grad"})
_MEASURES = frozenset({"len", "print", "isinstance", "type", "id"})
_NEAR = 12
"""So many statements may lie between a layer and the change of its weight."""
_DEPTH = 4
"""So many names are followed to what they are parts of."""


@dataclass(frozen=True, slots=True)
class _Acts:
    """What a statement puts new modules into, and what it may run: calls, hands to functions, or calls methods of."""

    makes: frozenset[str]
    runs: frozenset[str]


class NewParts:
    """Tells of weights whether they are part of what a function has just made, and has not run."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._known: dict[ast.stmt, _Acts] = {}
        self._idle: dict[Binding, bool] = {}

    # --- layers that are put in the place of others ------------------------------------------------------------------

    def is_of_replaced(self, tensor: ast.expr, change: ast.expr) -> bool:
        """Whether the statements right above have made the layer that a weight is of: ``self.embed = nn.Embedding(n, d)``."""
        layer = dotted(tensor.value) if isinstance(tensor, ast.Attribute) else None
        if layer is None:
            return False
        words = layer.split(".")
        owners = {".".join(words[:count]) for count in range(1, len(words) + 1)}
        statement = self._tree.statement(change)
        block = self._tree.block(statement)
        place = block.index(statement)
        for above in reversed(block[max(0, place - _NEAR) : place]):
            acts = self._acts(above)
            if layer in acts.makes:
                return True
            if not owners.isdisjoint(acts.runs):
                return False
        return False

    def _acts(self, statement: ast.stmt) -> _Acts:
        if statement not in self._known:
            makes: set[str] = set()
            match statement:
                case ast.Assign(targets=targets, value=ast.Call() as value) if self._semantics.kind(value).type is Type.MODULE:
                    makes = {name for name in map(dotted, targets) if name is not None}
            runs = {name for part in ast.walk(statement) for name in self._run_by(part)}
            self._known[statement] = _Acts(frozenset(makes), frozenset(runs))
        return self._known[statement]

    def _run_by(self, part: ast.AST) -> list[str]:
        """What a part of a statement may run, or gives another object."""
        found: list[ast.expr] = []
        match part:
            case ast.Call(func=function, args=arguments, keywords=words):
                found.append(function)
                name = last_name(function)
                if isinstance(function, ast.Attribute) and name not in _STAYS and not _INITIALISES.search(name):
                    found.append(function.value)
                if not _INITIALISES.search(name) and name not in _MEASURES:
                    found += [*arguments, *(word.value for word in words)]
            case ast.Assign(targets=targets, value=value):
                found += [value, *targets] if not isinstance(value, ast.Call) else []
        return [name for name in map(dotted, found) if name is not None]

    # --- copies ------------------------------------------------------------------------------------------------------

    def is_of_copy(self, tensor: ast.expr, change: ast.expr) -> bool:
        """Whether a weight is part of a deep copy that the function has made, and neither runs nor hands to other code."""
        function = self._tree.function(change)
        value = tensor
        for _ in range(_DEPTH if isinstance(tensor, ast.Attribute) and function is not None else 0):
            while isinstance(value, (ast.Attribute, ast.Subscript)):
                value = value.value
            match self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ():
                case [Binding(form=Form.ASSIGNMENT, path=(), value=ast.expr() as given) as binding]:
                    if self._tree.function(binding.node) is not function:
                        return False
                case _:
                    return False
            if isinstance(given, ast.Call):
                return self._semantics.qualified_name(given.func) == "copy.deepcopy" and self._is_idle(binding)
            value = given
        return False

    def _is_idle(self, binding: Binding, depth: int = 2) -> bool:
        """Whether what a name stands for, or a part of it, is only changed, measured and given back."""
        if binding not in self._idle:
            self._idle[binding] = all(self._leaves_idle(use, depth) for use in binding.uses)
        return self._idle[binding]

    def _leaves_idle(self, use: ast.expr, depth: int) -> bool:
        node, parent = use, self._tree.parent(use)
        while isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node:
            if isinstance(parent, ast.Attribute) and parent.attr in _FORM:
                return True
            node, parent = parent, self._tree.parent(parent)
        match parent:
            case ast.Return() | ast.Delete():
                return True
            case ast.Call(func=function) if function is node:
                return node is not use and last_name(node) in _STAYS
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return last_name(function) in _MEASURES or name.startswith("torch.nn.init.")
            case ast.Assign(targets=targets) if node in targets:
                return node is not use
            case ast.Assign(targets=[ast.Name() as name]) if depth:
                named = self._semantics.bindings.of(name)
                return named is not None and self._is_idle(named, depth - 1)
        return False
