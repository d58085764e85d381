"""Entries of state dicts, which have no graph: `net.state_dict()` detaches them, unless it is told to keep the variables."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import last_name

_STATES = re.compile(r"(^|_)(w|ws|weights?|sd|states?|state_?dicts?)(_|$)", re.IGNORECASE)
"""What functions call the state dicts that they are given, and lists of them, where they take entries by name."""
_SAID = re.compile(r"(^|_)(sd|states?|state_?dicts?)(_|$)", re.IGNORECASE)
"""What they call those that they go through: the weights of a functional call may have a graph."""
_MODELS = re.compile(r"(^|_)(model|net|network)(_|$)", re.IGNORECASE)
"""What they call the state dict of a model, too: a module has no items."""
_KEYS = re.compile(r"(^|_)(names?|keys?|k)$", re.IGNORECASE)
_COPIES = frozenset({"deepcopy", "copy", "dict", "OrderedDict"})
_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "view", "reshape", "flatten", "squeeze"})
_DEPTH = 5


class StateEntries:
    """Tells of tensors whether they were taken out of a state dict, by its key or as a loop goes through it."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_entry(self, tensor: ast.expr, depth: int = _DEPTH) -> bool:
        """Whether a tensor is an entry of a state dict, or a part of one."""
        while depth:
            match tensor:
                case ast.Subscript(value=owner, slice=key) if self._is_key(key):
                    return self._is_state(owner, _DEPTH)
                case ast.Subscript(value=inner):
                    tensor = inner
                case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _MOVES:
                    tensor = inner
                case ast.Name():
                    bindings = self._semantics.bindings.reaching(tensor)
                    if len(bindings) == 1 and (taken := self._taken(bindings[0])) is not None:
                        tensor, depth = taken, depth - 1
                        continue
                    return bool(bindings) and all(map(self._walks_entries, bindings))
                case _:
                    return False
        return False

    def _taken(self, binding: Binding) -> ast.Subscript | None:
        """What a name is given by a plain assignment of an item: `value = state[name]`."""
        match binding:
            case Binding(form=Form.ASSIGNMENT, path=(), value=ast.Subscript() as item):
                return item
        return None

    def _is_key(self, key: ast.expr) -> bool:
        """Whether something is the name of a parameter: a text, or what is called a name and is no number."""
        kind = self._semantics.kind(key)
        if kind.type is Type.STRING:
            return not (isinstance(key, ast.Constant) and "." not in str(key.value))  # `out["logits"]` is a model's
        return isinstance(key, ast.Name) and kind.type is not Type.NUMBER and _KEYS.search(key.id) is not None

    def _walks_entries(self, binding: Binding) -> bool:
        """Whether a loop binds the values of a state dict: `for name, value in state.items()`."""
        match binding:
            case Binding(form=Form.LOOP, path=path, value=ast.Call(func=ast.Attribute(value=owner, attr=method), args=[])):
                if (method, path) not in (("items", (1,)), ("values", ())):
                    return False
                is_given = isinstance(owner, ast.Name) and self._is_given(owner)
                if isinstance(owner, ast.Name) and is_given and _MODELS.search(owner.id) is not None:
                    return True
                is_said = not is_given or (isinstance(owner, ast.Name) and _SAID.search(owner.id) is not None)
                return is_said and self._is_state(owner, _DEPTH)
        return False

    def _is_given(self, owner: ast.Name) -> bool:
        return any(each.form is Form.PARAMETER for each in self._semantics.bindings.reaching(owner))

    def _is_state(self, owner: ast.expr, depth: int) -> bool:
        if not depth:
            return False
        match owner:
            case ast.Call(func=ast.Attribute(attr="state_dict"), keywords=[]):
                return True
            case ast.Call(func=function) if self._semantics.qualified_name(function) == "torch.load":
                return True
            case ast.Call(func=ast.Attribute(value=inner, attr="copy"), args=[]):
                return self._is_state(inner, depth - 1)
            case ast.Call(func=function, args=[inner], keywords=[]) if last_name(function) in _COPIES:
                return self._is_state(inner, depth - 1)
            case ast.Subscript(value=inner):
                return self._is_state(inner, depth - 1)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(owner)
                return bool(bindings) and all(self._binds_state(each, owner.id, depth - 1) for each in bindings)
        return False

    def _binds_state(self, binding: Binding, name: str, depth: int) -> bool:
        if binding.form in (Form.PARAMETER, Form.LOOP):
            return _STATES.search(name) is not None
        is_whole = binding.form is Form.ASSIGNMENT and not binding.path and binding.value is not None
        return is_whole and binding.value is not None and self._is_state(binding.value, depth)
