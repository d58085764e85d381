"""The flag `requires_grad`, set on modules, which have none: their parameters do."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Basis, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, dotted
from torchlint.semantics.modules.evidence import ModuleEvidence

_FLAG = "requires_grad"
_TENSORS = frozenset({"torch.Tensor", "torch.nn.Parameter", "torch.autograd.Variable"})


class ModuleFlags:
    """Tells where the flag is set on a module, and means nothing."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._evidence = semantics.of(ModuleEvidence)
        self._asked: dict[ast.AST, set[str | None]] = {}

    def mean_nothing(self, owner: ast.expr, value: ast.expr) -> bool:
        """Whether ``owner`` is a module to which `requires_grad`, set to ``value``, means nothing."""
        own_class = self._semantics.facts.self_class(owner)
        if own_class is not None:
            return self._semantics.facts.is_module(own_class) and self._is_meant_for_parameters(own_class, owner, value)
        if not self._evidence.is_module(owner) or self._is_taken_for_other(owner) or self._is_read(owner):
            return False
        definition = self._semantics.kind(owner).definition
        return not isinstance(definition, ast.ClassDef) or not self._has_flag(definition)

    def is_set_beside(self, owner: ast.expr, value: ast.expr) -> bool:
        """Whether a loop of the same function sets the flag of each parameter of ``owner`` to the same."""
        function, spelling = self._semantics.tree.function(owner), dotted(owner)
        return isinstance(value, ast.Constant) and any(
            flag is value.value and dotted(module) == spelling and self._semantics.tree.function(loop) is function
            for loop, module, flag in self._loops
        )

    @cached_property
    def _loops(self) -> list[tuple[ast.For, ast.expr, object]]:
        """The loops that set the flag of all parameters of a module: the loop, the module, the flag."""
        found: list[tuple[ast.For, ast.expr, object]] = []
        for loop in self._semantics.tree.of_type(ast.For):
            match loop:
                case ast.For(
                    iter=ast.Call(func=ast.Attribute(value=module, attr="parameters" | "named_parameters")),
                    body=[ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=ast.Constant(value=flag))],
                ):
                    found.append((loop, module, flag))
        return found

    def _has_flag(self, definition: ast.ClassDef) -> bool:
        """Whether a class gives `requires_grad` a meaning of its own."""
        facts = self._semantics.facts
        if any(facts.method(definition, name) is not None for name in (_FLAG, "__setattr__")):
            return True
        return any(slot.uses or slot.class_values for slot in facts.slots(definition, _FLAG))

    def _is_meant_for_parameters(self, own_class: ast.ClassDef, owner: ast.expr, value: ast.expr) -> bool:
        """Whether a module that sets its own flag means to freeze itself, and has something to freeze.

        An option that the constructor takes is kept for others to read.
        """
        function = self._semantics.tree.function(owner)
        constructed = isinstance(function, FUNCTIONS) and function.name == "__init__"
        if self._has_flag(own_class) or (constructed and not isinstance(value, ast.Constant)):
            return False
        return self._has_parameters(own_class)

    def _has_parameters(self, definition: ast.ClassDef) -> bool:
        for current in self._semantics.facts.bases(definition):
            for base in current.bases:
                name = self._semantics.qualified_name(base) or ""
                if name.startswith("torch.nn.") and name not in ("torch.nn.Module", "torch.nn.Sequential"):
                    return True
            for name in self._semantics.facts.classes[current].slots:
                kinds = [
                    self._semantics.kind(store) for slot in self._semantics.facts.slots(current, name) for store in slot.stores
                ]
                if any(kind.type is Type.MODULE or kind.basis is Basis.PARAMETER for kind in kinds):
                    return True
        return False

    def _is_taken_for_other(self, owner: ast.expr) -> bool:
        """Whether the code asks what ``owner`` is, and here it is not what was found to be a module.

        That is so in the `else` of ``if isinstance(x, nn.Module)``, behind it, and where it is found to be a parameter.
        """
        chain = dotted(owner)
        child: ast.AST = owner
        for parent in self._semantics.tree.ancestors(owner):
            if isinstance(parent, ast.ExceptHandler):
                return True
            if isinstance(parent, ast.If) and child in parent.body and _asks(parent.test, chain):
                return not self._finds_module(parent.test, chain)
            child = parent
            if isinstance(parent, FUNCTIONS):
                break
        return chain in self._asked_about(child)

    def _asked_about(self, scope: ast.AST) -> set[str | None]:
        """What a function asks the class or the attributes of."""
        if scope not in self._asked:
            subjects = [_subject(part) for part in ast.walk(scope) if isinstance(part, ast.Call)]
            self._asked[scope] = {dotted(subject) for subject in subjects if subject is not None} - {None}
        return self._asked[scope]

    def _finds_module(self, test: ast.expr, chain: str | None) -> bool:
        """Whether a test that asks what ``chain`` is takes it for an instance of classes other than tensors."""
        for part in ast.walk(test):
            match part:
                case ast.Call(func=ast.Name(id="isinstance"), args=[subject, classes]) if dotted(subject) == chain:
                    asked = classes.elts if isinstance(classes, ast.Tuple) else [classes]
                    return not any(self._semantics.qualified_name(found) in _TENSORS for found in asked)
        return False

    def _is_read(self, owner: ast.expr) -> bool:
        """Whether the file reads the flag of the same thing: then it is the author's own."""
        chain = dotted(owner)
        return chain is not None and chain in self._read

    @cached_property
    def _read(self) -> set[str | None]:
        attributes = self._semantics.tree.of_type(ast.Attribute)
        return {dotted(node.value) for node in attributes if node.attr == _FLAG and isinstance(node.ctx, ast.Load)}


def _asks(node: ast.expr, chain: str | None) -> bool:
    """Whether a test asks for the class or the attributes of what ``chain`` names, or is made of such questions."""
    match node:
        case ast.Call():
            subject = _subject(node)
            return subject is not None and chain is not None and dotted(subject) == chain
        case ast.BoolOp(op=ast.And(), values=values):
            return any(_asks(value, chain) for value in values)
    return False


def _subject(call: ast.Call) -> ast.expr | None:
    """The ``x`` of ``isinstance(x, …)`` and ``hasattr(x, …)``."""
    match call:
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr"), args=[subject, _]):
            return subject
    return None
