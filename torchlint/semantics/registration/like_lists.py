"""Collections for which a list or dict that registers what is in it does the same, as far as anybody can tell."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Form, Semantics, torch_api
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.modules.constructors.new import NewModules
from torchlint.semantics.registration.collections import DICTS, LISTS, Collection
from torchlint.semantics.registration.hidden_names import HiddenNames
from torchlint.semantics.unrecorded.closed_files import ClosedFiles

_DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
_READING = frozenset(f"builtins.{name}" for name in ("len", "enumerate", "zip", "print", "iter", "list", "tuple"))
_OF_STATES = ("state_dict", "add_param_group", "param_groups", "pickle")
"""Words of what tells a module with more parameters from one with less, without being told of them."""
_RESERVED = torch_api.MODULE_ATTRIBUTES | {"keys", "values", "items", "pop", "update", "clear", "get", "copy", "setdefault"}


class LikeLists:
    """Tells of collections whether all that is done with them is on a list of what both kinds do alike."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._new = semantics.of(NewModules)

    def fact(self, found: Collection, items: list[ast.expr], *, parameters: bool, is_dict: bool) -> Fact:
        """Whether a container that registers is as good as ``found``, of which ``items`` is all that the class puts into it."""
        name = found.target.attr
        for item in items:
            made = self._new.is_parameter(item) if parameters else self._new.is_module(item)
            if not made or self._knows_owner(item):
                return unknown(f"`{shortened(item)}` may be something else than a new module")
        if is_dict and (key := self._odd_key(found)) is not None:
            return unknown(f"{key} may be no name for a module")
        in_sight = self._semantics.of(ClosedFiles).in_sight
        if not in_sight.is_certain:
            return in_sight
        if not isinstance(found.value, _DISPLAYS) and not self._is_empty(found.value):
            return unknown(f"`{shortened(found.value)}` may be used under another name")
        served = self._semantics.of(HiddenNames).is_served(found)
        if not served.is_certain:
            return served
        for word in _OF_STATES:
            if self._semantics.words.speak_of(word):
                return unknown(f"what is saved, or trained by itself (`{word}`) has other entries then")
        if (owner := self._trained_apart()) is not None:
            return unknown(f"`{owner}.parameters()` may be given to an optimizer that has them already")
        for node in self._tree.of_type(ast.Attribute):
            if node.attr == name and node is not found.target and not self._is_alike(node, found, is_dict=is_dict):
                return unknown(f"`{shortened(self._around(node))}` may want a {'dict' if is_dict else 'list'}")
        return CERTAIN

    # --- what is in it -----------------------------------------------------------------------------------------------

    def _knows_owner(self, item: ast.expr) -> bool:
        """Whether a module is given the one that keeps it, and may register that in turn."""
        return any(self._semantics.facts.self_class(part) is not None for part in ast.walk(item)) and any(
            isinstance(argument, ast.Name) and self._semantics.facts.self_class(argument) is not None
            for part in ast.walk(item)
            if isinstance(part, ast.Call)
            for argument in given_to(part)
        )

    def _is_empty(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Call) or value.args or value.keywords:
            return False
        return self._semantics.qualified_name(value.func) in LISTS | DICTS

    def _odd_key(self, found: Collection) -> str | None:
        """A key that may not name a module, for a phrase."""
        for key in found.keys:
            values = self._spelled(key) if key is not None else None
            if not values or any(not text or "." in text or text in _RESERVED for text in values):
                return f"`{shortened(key)}`" if key is not None else "a key"
        return None

    def _spelled(self, key: ast.expr) -> list[str] | None:
        """The strings that a key may be: written out, or taken one by one from some that are."""
        match key:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Name():
                parts = [part for binding in self._semantics.bindings.reaching(key) for part in _taken_of(binding)]
                texts = [part.value if isinstance(part, ast.Constant) else None for part in parts]
                return [text for text in texts if isinstance(text, str)] if all(isinstance(t, str) for t in texts) else None
        return None

    # --- what is done with it ----------------------------------------------------------------------------------------

    def _trained_apart(self) -> str | None:
        """Of what parameters are taken beside those of whole models, which a loop or a comprehension runs through."""
        for call in self._semantics.facts.calls.get("parameters", ()):
            match call.func:
                case ast.Attribute(value=ast.Name() as owner):
                    if any(binding.form is Form.LOOP for binding in self._semantics.bindings.reaching(owner)):
                        return owner.id
                case ast.Attribute(value=ast.Subscript() as owner):
                    return shortened(owner)
        return None

    def _is_alike(self, node: ast.Attribute, found: Collection, *, is_dict: bool) -> bool:
        """Whether a container that registers does the same where the attribute is named."""
        parent = self._tree.parent(node)
        in_constructor = self._tree.function(node) is self._tree.function(found.target)
        match parent:
            case ast.AugAssign(target=target, value=ast.List()):
                return target is node and in_constructor and not is_dict
            case ast.Subscript(value=value, ctx=ast.Store()) if value is node:
                return is_dict and in_constructor
            case _ if isinstance(node.ctx, ast.Store):
                return False
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
                return iterable is node
            case ast.Subscript(value=value, slice=index, ctx=ast.Load()) if value is node:
                return not isinstance(index, ast.Slice) or self._is_looped(parent)
            case ast.Attribute(attr=method) if isinstance(call := self._tree.parent(parent), ast.Call) and call.func is parent:
                if method in ("append", "extend"):
                    return in_constructor and not is_dict
                return is_dict and method in ("keys", "values", "items") and self._is_looped(call)
            case ast.Call(func=function):
                return (self._semantics.qualified_name(function) or "") in _READING
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
                return value is node and not is_dict
        return False

    def _is_looped(self, node: ast.expr) -> bool:
        match self._tree.parent(node):
            case ast.For(iter=iterable) | ast.comprehension(iter=iterable):
                return iterable is node
        return False

    def _around(self, node: ast.Attribute) -> ast.expr:
        parent = self._tree.parent(node)
        return parent if isinstance(parent, ast.expr) else node


def _taken_of(binding: Binding) -> list[ast.expr | None]:
    """What a loop takes of a tuple or list that is written out; nothing that is known of anything else."""
    match binding.value:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if binding.form is Form.LOOP and not binding.path:
            return [*parts]
    return [None]
