"""What is a module, an optimizer or a scheduler of torch for certain: made in sight, or annotated."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.sources import Condition, Sources

_MOVING = frozenset({"to", "cuda", "cpu", "float", "double", "half", "train", "eval"})
"""Methods of a module that give the module itself."""


class TorchObjects:
    """Tells of expressions whether they are objects of torch, by all that they may be assigned."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._sources = semantics.of(Sources)

    def module(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a module of torch, or of a class of the file that derives from those alone."""
        return self._sources.fact(node, Condition("module of torch", self._makes_module, frozenset({"torch.nn.Module"})))

    def layer(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a layer of torch that has weights of its own, and so gives a graph."""
        return self._sources.fact(node, Condition("layer of torch", self._makes_layer))

    def trained(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a layer of torch with weights, or a sequence that has one, and so gives a graph."""
        return self._sources.fact(node, Condition("layer of torch", self._makes_trained))

    def optimizer(self, node: ast.expr) -> Fact:
        """Whether ``node`` is an optimizer of torch's that is made in sight."""
        return self._made_by(node, "optimizer of torch", torch_api.OPTIMIZERS)

    def scheduler(self, node: ast.expr, classes: frozenset[str] = torch_api.SCHEDULERS) -> Fact:
        """Whether ``node`` is a scheduler of torch's that is made in sight, of one of some classes."""
        return self._made_by(node, "scheduler of torch", classes)

    def loader(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a data loader of torch's that is made in sight."""
        return self._made_by(node, "data loader of torch", frozenset({"torch.utils.data.DataLoader"}))

    def device(self, node: ast.expr) -> Fact:
        """Whether ``node`` names a device, and no type: as torch writes it down, or the ``device`` of something."""
        return self._sources.fact(node, Condition("device", self._is_device, frozenset({"torch.device"})))

    def _made_by(self, node: ast.expr, noun: str, classes: frozenset[str]) -> Fact:
        def holds(value: ast.expr) -> Fact | None:
            if isinstance(value, ast.Call):
                return CERTAIN if self._semantics.qualified_name(value.func) in classes else None
            return None

        return self._sources.fact(node, Condition(noun, holds))

    def _makes_module(self, value: ast.expr) -> Fact | None:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr=method)) if method in _MOVING:
                return self._makes_module(made)
            case ast.Call(func=function):
                if self._semantics.qualified_name(function) in torch_api.MODULES or self._is_of_torch(function):
                    return CERTAIN
        return None

    def _makes_layer(self, value: ast.expr) -> Fact | None:
        if isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) in torch_api.PARAMETER_ATTRIBUTES:
            return CERTAIN
        return None

    def _makes_trained(self, value: ast.expr) -> Fact | None:
        if isinstance(value, ast.Call) and self._semantics.qualified_name(value.func) == "torch.nn.Sequential":
            return CERTAIN if any(self._makes_layer(part) is not None for part in value.args) else None
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Call() as made, attr="to" | "cuda" | "cpu")):
                return self._makes_trained(made)
        return self._makes_layer(value)

    def _is_of_torch(self, function: ast.expr) -> bool:
        """Whether a class of the file is called that derives from modules of torch alone."""
        definition = self._semantics.facts.definition(function)
        if not isinstance(definition, ast.ClassDef) or not definition.bases or definition.decorator_list:
            return False
        return all(
            (self._semantics.qualified_name(base) or "") in torch_api.MODULES | {"torch.nn.Module"} or self._is_of_torch(base)
            for base in definition.bases
        )

    def _is_device(self, value: ast.expr) -> Fact | None:
        match value:
            case ast.Constant(value=str(name)):
                is_device = name.partition(":")[0] in ("cpu", "cuda", "mps", "xpu")
                return CERTAIN if is_device else unknown(f"`{name}` may be no device")
            case ast.Attribute(attr="device") if not (self._semantics.qualified_name(value) or "").startswith("torch."):
                return CERTAIN
            case ast.Call(func=function):
                return CERTAIN if self._semantics.qualified_name(function) == "torch.device" else None
        return None
