"""Methods of modules that give nothing, in the place of one of `nn.Module` that gives the module: ``net = net.to(device)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name, own_returns, walk_body
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

GIVE_MODULE = frozenset(
    {
        *("train", "eval", "requires_grad_", "apply", "to", "to_empty", "share_memory"),
        *("cpu", "cuda", "ipu", "mtia", "xpu", "type", "float", "double", "half", "bfloat16"),
    }
)
"""The methods of `nn.Module` that give the module.

Source: their annotations and what they return, torch 2.13."""
_MODES = frozenset({"train", "eval"})
_HARMLESS_DECORATORS = frozenset({"typing.override", "typing_extensions.override"})


@dataclass(frozen=True, eq=False, slots=True)
class GivesNothing(Generic[Node]):
    """A method of the class ``owner`` that gives nothing: at its ``returns``, and at its end if it ``falls_off`` that.

    ``instance`` is the name of its first parameter.
    """

    owner: str
    instance: str
    returns: tuple[Node, ...]
    falls_off: bool


class LostSelves:
    """Looks at the methods of the modules of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._classes = semantics.of(ModuleClasses)

    @cached_property
    def found(self) -> dict[ast.FunctionDef, GivesNothing[ast.stmt]]:
        """The methods."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.FunctionDef, GivesNothing[ast.stmt]]]:
        for owner in self._semantics.facts.classes:
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and method.name in GIVE_MODULE and not self._is_wrapped(method):
                    lost = self._lost(owner, method)
                    if lost is not None and self._classes.is_sure(owner):
                        yield method, lost

    def _is_wrapped(self, method: ast.FunctionDef) -> bool:
        """Whether a decorator may give something else."""
        return any(self._semantics.qualified_name(each) not in _HARMLESS_DECORATORS for each in method.decorator_list)

    def _lost(self, owner: ast.ClassDef, method: ast.FunctionDef) -> GivesNothing[ast.stmt] | None:
        parameters = [*method.args.posonlyargs, *method.args.args]
        if not parameters:
            return None
        instance, returns = parameters[0].arg, own_returns(method)
        if any(each.value is not None and not _is_none(each.value) for each in returns):
            return None
        parts = list(walk_body(method.body))
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts):
            return None
        if not any(isinstance(part, ast.Call) and self._does_the_same(part, method.name, instance) for part in parts):
            return None
        return GivesNothing(owner.name, instance, tuple(returns), not isinstance(method.body[-1], (ast.Return, ast.Raise)))

    def _does_the_same(self, call: ast.Call, name: str, instance: str) -> bool:
        """Whether a method calls the one that it stands for: ``super().to(device)``, ``nn.Module.to(self, device)``."""
        names = _MODES if name in _MODES else {name}
        match call.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=attribute):
                return attribute in names
            case ast.Attribute(value=ast.Name(id=owner), attr="train") if owner == instance:
                return name == "eval"
            case ast.Attribute(value=base, attr=attribute) if attribute in names and call.args:
                first = call.args[0]
                is_class = last_name(base)[:1].isupper() and self._semantics.facts.self_class(base) is None
                return is_class and isinstance(first, ast.Name) and first.id == instance
        return False


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None
