"""Methods of modules that give nothing, in the place of one of `nn.Module` that gives the module: ``net = net.to(device)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import is_none, last_name, own_returns, walk_body
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

_MODES = frozenset({"train", "eval"})
_MOVES = frozenset(
    {"to", "to_empty", "cpu", "cuda", "ipu", "mtia", "xpu", "type", "float", "double", "half", "bfloat16", "share_memory"}
)
GIVE_MODULE = frozenset({*_MODES, *_MOVES, "requires_grad_", "apply", "_apply"})
"""The methods of `nn.Module` that give the module.

Source: their annotations and what they return, torch 2.13."""
_HARMLESS_DECORATORS = frozenset({"typing.override", "typing_extensions.override"})


@dataclass(frozen=True, eq=False, slots=True)
class GivesNothing(Generic[Node]):
    """A method of the class ``owner`` that gives nothing: at its ``returns``, and at its end if it ``falls_off`` that.

    ``instance`` is the name of its first parameter, ``others`` are the methods of `nn.Module` that give what this one does.
    """

    owner: str
    instance: str
    returns: tuple[Node, ...]
    falls_off: bool
    others: tuple[str, ...]


class LostSelves:
    """Looks at the methods of the modules of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._facts = semantics.facts
        self._classes = semantics.of(ModuleClasses)

    @cached_property
    def found(self) -> dict[ast.FunctionDef, GivesNothing[ast.stmt]]:
        """The methods."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.FunctionDef, GivesNothing[ast.stmt]]]:
        for owner in self._facts.classes:
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and method.name in GIVE_MODULE and self._is_as_written(owner, method):
                    lost = self._lost(owner, method)
                    if lost is not None and self._classes.is_sure(owner):
                        yield method, lost

    def _is_as_written(self, owner: ast.ClassDef, method: ast.FunctionDef) -> bool:
        """Whether nothing in sight puts something else in the place of a method."""
        if any(self._semantics.qualified_name(each) not in _HARMLESS_DECORATORS for each in method.decorator_list):
            return False
        if owner.decorator_list or owner.keywords or method.name in self._facts.stored_attributes:
            return False
        return sum(method.name in _bound(statement) for statement in owner.body) == 1

    def _lost(self, owner: ast.ClassDef, method: ast.FunctionDef) -> GivesNothing[ast.stmt] | None:
        parameters = [*method.args.posonlyargs, *method.args.args]
        if not parameters or (method.name in _MODES and len(parameters) > 2):
            return None  # a loop of its own
        returns = own_returns(method)
        if any(each.value is not None and not is_none(each.value) for each in returns):
            return None
        parts, instance = list(walk_body(method.body)), parameters[0].arg
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts):
            return None
        if not any(self._does_the_same(part, owner, method, instance) for part in parts):
            return None
        falls_off = not isinstance(method.body[-1], (ast.Return, ast.Raise))
        if not returns and not falls_off:
            return None  # always raises
        return GivesNothing(owner.name, instance, tuple(returns), falls_off, self._others(owner, method.name))

    def _others(self, owner: ast.ClassDef, name: str) -> tuple[str, ...]:
        """The methods of `nn.Module` that give what a method gives, and that the class does not define itself."""
        others = {"train": ("eval",), "_apply": ("to", "cuda", "half")}.get(name, ())
        return tuple(each for each in others if self._facts.method(owner, each) is None)

    def _does_the_same(self, part: ast.AST, owner: ast.ClassDef, method: ast.FunctionDef, instance: str) -> bool:
        """Whether code does what the method does that this one stands for: ``super().to(device)``, ``self.training = mode``."""
        name = method.name
        names = _MODES if name in _MODES else {name}
        match part:
            case ast.Attribute(value=ast.Name(id=target), attr="training", ctx=ast.Store()):
                return name == "train" and target == instance
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attribute)):
                return attribute in names and self._is_of_torch(owner, attribute)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=target), attr=attribute)) if target == instance:
                return self._leads_on(owner, name, attribute)
            case ast.Call(func=ast.Attribute(value=base, attr=attribute), args=[ast.Name(id=given), *_]) if given == instance:
                bases = {last_name(each) for each in owner.bases} | {"Module"}
                return attribute in names and last_name(base) in bases and self._is_of_torch(owner, attribute)
        return False

    def _leads_on(self, owner: ast.ClassDef, name: str, called: str) -> bool:
        """Whether a method of the same object is called that does what a method stands for."""
        if name == "eval":
            own = self._facts.method(owner, "train")
            return called == "train" and (own is None or len(own.args.args) <= 2)
        return name in _MOVES and called in ("to", "_apply") and self._facts.method(owner, called) is None

    def _is_of_torch(self, owner: ast.ClassDef, name: str) -> bool:
        """Whether a method of a base class is none of a class of the file."""
        return not any(name in self._facts.classes[base].methods for base in self._facts.bases(owner) if base is not owner)


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement of a class's body binds, in front of its blocks."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [last_name(target) for target in targets]
    return [part.name for part in ast.walk(statement) if isinstance(part, ast.FunctionDef)]
