"""Calls that make models of torchvision."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics

_MODELS = "torchvision.models"
ANY = f"{_MODELS}.*"
"""What stands for a function that is looked up by a name which the program computes."""


class TorchvisionModels:
    """Tells which functions of `torchvision.models` a file calls."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def made(self) -> dict[ast.Call, str]:
        """The calls, also those of `functools.partial`, with the full name of the function that makes the model."""
        if not self._is_in_reach:
            return {}
        found = ((call, self._function(call)) for call in self._semantics.tree.of_type(ast.Call))
        return {call: name for call, name in found if name.startswith(f"{_MODELS}.")}

    @property
    def _is_in_reach(self) -> bool:
        """Whether the file imports torchvision, or takes the usual name of its models for granted."""
        names = self._semantics.tree.of_type(ast.Name)
        return "torchvision" in self._semantics.names.imported_libraries or any(name.id == "models" for name in names)

    def _function(self, call: ast.Call) -> str:
        name = self._name(call.func)
        return self._name(call.args[0]) if name == "functools.partial" and call.args else name

    def _name(self, function: ast.expr) -> str:
        match function:
            case (
                ast.Subscript(value=ast.Attribute(attr="__dict__", value=module))
                | ast.Call(func=ast.Name(id="getattr"), args=[module, _, *_])
            ):
                return ANY if self._semantics.qualified_name(module) == _MODELS else ""
        return self._semantics.qualified_name(function) or ""
