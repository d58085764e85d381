"""Calls by which a method runs that of the base, ``super().__init__()``, and whose it is."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Form, Semantics

_PLAIN = frozenset({"builtins.object", "abc.ABC", "typing.Generic", "typing_extensions.Generic"})
"""Base classes that have no methods but those of ``object``."""
_DEEP = 8
"""Through so many classes of the file a method is looked for."""


class InheritedMethods:
    """Finds the methods of other files that those of the same name, in the classes of this one, run."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._mixed: dict[ast.ClassDef, bool] = {}

    def of(self, call: ast.Call) -> tuple[str, int]:
        """The full name of the class whose method a method of the file runs, and how many arguments go before those that it is
        given: ``super().__init__(x)`` has none, ``Base.__init__(self, x)`` has one. The name is empty for other calls.
        """
        match call.func:
            case ast.Attribute(value=asked, attr=name):
                owner = self._owner(call, name) if name not in self.given_from_outside else None
                base = self._base(owner) if owner is not None else None
                if owner is None or base is None:
                    return "", 0
                match asked:
                    case ast.Call(func=ast.Name(id="super"), args=[]):
                        return self._holder(base, name), 0
                    case ast.Call(func=ast.Name(id="super"), args=[cls, own]) if self._is_own(cls, own, owner):
                        return self._holder(base, name), 0
                    case ast.Name() | ast.Attribute() if self._is_same(asked, base) and self._is_given_self(call, owner):
                        return self._holder(base, name), 1
        return "", 0

    @cached_property
    def given_from_outside(self) -> set[str]:
        """The methods that the file gives to classes from outside: ``Base.__init__ = init``, ``setattr(Base, "step", f)``."""
        calls = [call for name in ("setattr", "patch", "object") for call in self._facts.calls.get(name, ())]
        texts = (each.value for call in calls for each in call.args if isinstance(each, ast.Constant))
        named = {text.rpartition(".")[2] for text in texts if isinstance(text, str)}
        return {*self._facts.stored_attributes, *named}

    def _owner(self, call: ast.Call, method: str) -> ast.ClassDef | None:
        """The class in whose method a call stands, if no class of the file has that beside another base."""
        function = self._semantics.tree.function(call)
        owner = self._semantics.tree.parent(function) if isinstance(function, ast.FunctionDef) else None
        if not isinstance(owner, ast.ClassDef) or not isinstance(function, ast.FunctionDef) or function.name != method:
            return None
        family = self._facts.derived(owner)
        is_known = all(self._base(each) is not None and not self._is_mixed_elsewhere(each) for each in family)
        return owner if is_known else None

    def _is_mixed_elsewhere(self, cls: ast.ClassDef) -> bool:
        """Whether a class of another file derives from a class and from something else, which may come between."""
        if cls not in self._mixed:
            callers = self._semantics.elsewhere.callers
            heirs = callers.heirs(cls.name) if callers is not None else ()
            self._mixed[cls] = any(len(heir.summary.bases) > 1 for heir in heirs)
        return self._mixed[cls]

    def _base(self, owner: ast.ClassDef) -> ast.expr | None:
        """The one base of a class that may have methods: ``Sampler`` of ``class Pairs(Sampler[int], ABC)``."""
        bases = [base.value if isinstance(base, ast.Subscript) else base for base in owner.bases]
        telling = [base for base in bases if self._semantics.qualified_name(base) not in _PLAIN]
        return telling[0] if len(telling) == 1 else None

    def _holder(self, base: ast.expr, method: str) -> str:
        """The full name of the class of another file whose method a class runs, through classes of this file that have none
        of that name.
        """
        for _ in range(_DEEP):
            definition = self._facts.definition(base)
            if definition is None:
                return self._semantics.qualified_name(base) or "" if self._is_one(base) else ""
            further = self._base(definition) if isinstance(definition, ast.ClassDef) and _is_bare(definition, method) else None
            if further is None:
                break
            base = further
        return ""

    def _is_one(self, base: ast.expr) -> bool:
        """Whether a base can only be one class: it is not imported from one of two places."""
        while isinstance(base, ast.Attribute):
            base = base.value
        bindings = self._semantics.bindings.reaching(base) if isinstance(base, ast.Name) else ()
        return len({each.imported if each.form is Form.IMPORT else id(each) for each in bindings}) <= 1

    def _is_own(self, cls: ast.expr, own: ast.expr, owner: ast.ClassDef) -> bool:
        """Whether ``super`` is given the class that the call is in: ``super(Pairs, self)``, ``super(self.__class__, self)``."""
        is_self = self._facts.self_class(own) is owner
        match cls:
            case ast.Attribute(value=value, attr="__class__") | ast.Call(func=ast.Name(id="type"), args=[value]):
                return is_self and self._facts.self_class(value) is owner
        return is_self and self._facts.definition(cls) is owner

    def _is_same(self, asked: ast.expr, base: ast.expr) -> bool:
        definition, name = self._facts.definition(asked), self._semantics.qualified_name(asked)
        if definition is not self._facts.definition(base):
            return False
        return definition is not None or (bool(name) and name == self._semantics.qualified_name(base))

    def _is_given_self(self, call: ast.Call, owner: ast.ClassDef) -> bool:
        return bool(call.args) and self._facts.self_class(call.args[0]) is owner


def _is_bare(definition: ast.ClassDef, method: str) -> bool:
    """Whether a class surely has no method of a name, nor is given one."""
    if definition.decorator_list or definition.keywords:
        return False
    return not any(
        (isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)) and part.name == method)
        or (isinstance(part, ast.Name) and part.id == method)
        or isinstance(part, (ast.Import, ast.ImportFrom))
        for statement in definition.body
        for part in ast.walk(statement)
    )
