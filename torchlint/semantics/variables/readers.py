"""Who may look at what a file says of `Variable`: at its annotations as the program runs, and at its names from other files."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, known, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.observers.programs import Programs
from torchlint.semantics.observers.sight import Sight

_READING = frozenset(
    {
        *("__annotations__", "get_type_hints", "get_annotations", "signature", "getfullargspec", "inspect", "singledispatch"),
        *("singledispatchmethod", "register", "script", "beartype", "typechecked", "jaxtyped", "validate_call"),
    }
)
"""Words of code that asks for annotations."""
_DECORATORS = frozenset(
    {
        *(f"builtins.{name}" for name in ("staticmethod", "classmethod", "property")),
        *("abc.abstractmethod", "functools.wraps", "functools.lru_cache", "functools.cached_property", "typing.overload"),
        *("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled", "dataclasses.dataclass"),
        "contextlib.contextmanager",
    }
)
"""Decorators that take no notice of what the annotations are."""
_BASES = ("torch.nn.", "torch.utils.data.", "torch.optim.", "torch.autograd.", "abc.", "typing.Generic", "builtins.object")
_EXECUTING = frozenset({"exec", "eval", "globals", "locals", "vars", "getattr"})


class Readers:
    """Tells whether anybody may look."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    # --- annotations -------------------------------------------------------------------------------------------------

    def is_inert(self, annotation: ast.expr) -> Fact:
        """Whether an annotation, of which ``annotation`` is a part, makes no difference to what the program does."""
        child: ast.AST = annotation
        for parent in self._tree.ancestors(annotation):
            match parent:
                case ast.AnnAssign(annotation=given) if given is child:
                    return self._is_inert_in(self._tree.parent(parent))
                case ast.FunctionDef() | ast.AsyncFunctionDef():
                    return self._is_inert_of(parent) & self._is_inert_in(self._tree.parent(parent))
                case ast.stmt():
                    break
            child = parent
        return unknown("the program may look at the class")

    def _is_inert_of(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Fact:
        for decorator in function.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            is_accessor = isinstance(called, ast.Attribute) and called.attr in ("setter", "getter")
            if not is_accessor and self._semantics.qualified_name(called) not in _DECORATORS:
                return unknown(f"`@{ast.unparse(called)[:40]}` may read the annotations")
        return CERTAIN

    def _is_inert_in(self, scope: ast.AST | None) -> Fact:
        """Whether nobody reads the annotations of the names of a scope: those of a function are not even kept."""
        while scope is not None and not isinstance(scope, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            scope = self._tree.parent(scope)
        if _READING & self._semantics.words.all:
            return unknown("the program may read the annotations")
        if isinstance(scope, ast.ClassDef):
            made = [*scope.decorator_list, *scope.bases, *(word.value for word in scope.keywords)]
            if not all(map(self._is_blind, made)):
                return unknown(f"what `{scope.name}` is made of may read its annotations")
        are_read = self._semantics.elsewhere.speaks_of("annotations that are read") is True
        return known(not are_read, "another file of the project may read the annotations")

    def _is_blind(self, node: ast.expr) -> bool:
        """Whether a base or decorator of a class reads no annotations."""
        name = self._semantics.qualified_name(node.func if isinstance(node, ast.Call) else node) or ""
        if name in _DECORATORS or name.startswith(_BASES):
            return True
        definition = self._semantics.facts.definition(node)
        if not isinstance(definition, ast.ClassDef) or definition.decorator_list or definition.keywords:
            return False
        return all(
            self._semantics.facts.definition(base) is not definition and self._is_blind(base) for base in definition.bases
        )

    # --- names -------------------------------------------------------------------------------------------------------

    def is_nobodys(self, binding: ast.AST) -> Fact:
        """Whether no other code uses a name that is imported, or assigned to, than what the file shows."""
        if _EXECUTING & self._semantics.words.all:
            return unknown("code that is executed from a string may use the name")
        if isinstance(self._semantics.bindings.scope_of(binding).node, FUNCTIONS):
            return CERTAIN
        trains = self._semantics.of(Programs).trains
        bound = self._semantics.bindings.of(binding)
        sight = self._semantics.of(Sight)
        if trains.is_certain or bound is None or not sight.is_known or "__all__" in self._semantics.words.all:
            return trains
        return sight.of(bound.name)
