"""Whether modules of a class are initialised by its constructor alone, so that one more call, or an earlier one, only helps."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.tree import Function, walk_body
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.observers.programs import Programs

_STATE = torch_api.MODULE_ATTRIBUTES | {"training"}
_ASKING = frozenset({"super", "isinstance", "issubclass"})


class SoleInitialisation:
    """Tells of constructors whether nobody relies on the base class not being initialised by them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def fact(self, owner: ast.ClassDef, constructor: Function, culprit: ast.AST | None) -> Fact:
        """Whether the base class may be initialised first of all, where ``culprit`` is what raises without that.

        Where that is always run, no object was ever made. Elsewhere what the base class does must be harmless. Either way
        nobody may await the error that goes.
        """
        others = self._others(owner) & self._semantics.of(FreeErrors).of(constructor)
        if not others.is_certain or (culprit is not None and self._is_always_run(constructor, culprit)):
            return others
        return self._bases(owner, constructor)

    def _others(self, owner: ast.ClassDef) -> Fact:
        """Whether nothing else initialises objects of the class: no decorator, no subclass, no other file."""
        if owner.decorator_list:
            return unknown(f"`{shortened(owner.decorator_list[0])}` may initialise `{owner.name}`")
        for other in self._semantics.facts.classes:
            if other is not owner and owner in self._semantics.facts.bases(other):
                made = self._semantics.facts.classes[other].methods.get("__init__")
                parts = walk_body(made.body) if made is not None else ()
                calls = [part for part in parts if isinstance(part, ast.Attribute) and part.attr == "__init__"]
                if len(calls) > 1 or other.decorator_list:
                    return unknown(f"`{other.name}` may have initialised it before")
        if not self._semantics.of(Programs).runs:
            return unknown(f"a subclass of `{owner.name}` in another file may have initialised it before")
        binding = self._semantics.bindings.of(owner)
        for use in binding.uses if binding is not None else ():
            if not self._is_plain(use):
                return unknown(f"`{owner.name}` is handed on, and may be initialised by what gets it")
        return CERTAIN

    def _is_plain(self, use: ast.Name) -> bool:
        """Whether a class is only called, or is the base of another, or what something is compared to."""
        match self._tree.parent(use):
            case ast.Call(func=ast.Name(id=function), args=arguments) if use in arguments:
                return function in _ASKING
            case ast.Call(func=function):
                return function is use
            case ast.ClassDef() | ast.arg():
                return True
        return False

    def _is_always_run(self, constructor: Function, culprit: ast.AST) -> bool:
        """Whether a statement of the constructor itself raises, with none before it that might leave the constructor."""
        statement = self._tree.statement(culprit)
        if statement not in constructor.body or not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Expr)):
            return False
        if any(isinstance(part, (ast.IfExp, ast.BoolOp)) for part in ast.walk(statement)):
            return False
        before = constructor.body[: constructor.body.index(statement)]
        return not any(isinstance(part, ast.Return) for each in before for part in ast.walk(each))

    def _bases(self, owner: ast.ClassDef, constructor: Function) -> Fact:
        """Whether the base classes do nothing but set attributes, and none that the constructor sets as well."""
        own = {part.attr for part in walk_body(constructor.body) if isinstance(part, ast.Attribute) and _is_stored(part)}
        if own & _STATE:
            return unknown(f"`{min(own & _STATE)}` is set by `nn.Module.__init__`, too")
        for base in self._semantics.facts.bases(owner):
            made = self._semantics.facts.classes[base].methods.get("__init__") if base is not owner else None
            for part in walk_body(made.body) if made is not None else ():
                is_init = isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "__init__"
                if isinstance(part, ast.Call) and not is_init and ast.unparse(part) != "super()":
                    return unknown(f"`{base.name}.__init__` calls `{shortened(part.func)}`")
                if isinstance(part, ast.Attribute) and _is_stored(part) and part.attr in own:
                    return unknown(f"`{part.attr}` is set by `{base.name}.__init__`, too")
            for outer in base.bases:
                name = self._semantics.qualified_name(outer) or ""
                if self._semantics.facts.definition(outer) is None and name not in ("torch.nn.Module", "abc.ABC"):
                    return unknown(f"`{shortened(outer)}` may do more than to make a module")
        return CERTAIN


def _is_stored(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, (ast.Store, ast.Del))
