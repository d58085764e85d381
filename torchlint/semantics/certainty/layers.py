"""Which attributes are the parameters of a layer of torch for certain: because the code asks what the layer is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.certainty.tensors import Tensors
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.observers.callers import Callers

_HAVE_WEIGHTS = {
    f"torch.nn.modules.{part}": ("weight", "bias")
    for part in ("batchnorm._BatchNorm", "conv._ConvNd", "instancenorm._InstanceNorm", "batchnorm._NormBase")
}
"""Common bases of layers."""


class Layers:
    """Tells of ``layer.weight`` whether it is the parameter of a layer of torch."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._tensors = semantics.of(Tensors)

    def fact(self, node: ast.expr) -> Fact:
        """Whether ``node`` is a tensor, as `Tensors` tells it or as the parameter of what is known to be a layer of torch."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and self._is_parameter(node, node.value):
            return CERTAIN
        if isinstance(node, ast.Attribute) and node.attr == "data":
            return self.fact(node.value)
        if isinstance(node, ast.Attribute) and node.attr in torch_api.PARAMETER_ATTRIBUTES.get("torch.nn.Linear", ()):
            if self._semantics.words.speak_of("parametrizations") or self._semantics.words.speak_of("parametrize"):
                return unknown(f"`{ast.unparse(node)}` may be computed by a parametrization")
        return self._tensors.fact(node)

    def is_layer(self, node: ast.expr, layer: ast.Name) -> bool:
        """Whether the code has asked, before it comes to ``node``, whether ``layer`` is one of some layers of torch."""
        return any(classes and all(self._parameters(each) for each in classes) for classes in self._asked(node, layer))

    def _is_parameter(self, node: ast.Attribute, layer: ast.Name) -> bool:
        """Whether the code has asked whether ``layer`` is one of the layers that have such a parameter."""
        if self._semantics.words.speak_of("parametrizations") or self._semantics.words.speak_of("parametrize"):
            return False
        if self._is_handed_parts(node.attr, layer):
            return True
        return any(
            classes and all(node.attr in self._parameters(each) for each in classes) for classes in self._asked(node, layer)
        )

    def _is_handed_parts(self, attribute: str, layer: ast.Name) -> bool:
        """Whether ``layer`` is what ``model.apply(function)`` hands to a function, of models of torch and of this file alone.

        Of modules of torch, ``weight`` and ``bias`` are parameters, or ``None``.
        """
        bindings = self._semantics.bindings.reaching(layer)
        if attribute not in ("weight", "bias") or len(bindings) != 1 or bindings[0].form is not Form.PARAMETER:
            return False
        function = bindings[0].scope.node
        callers = self._semantics.of(Callers)
        if not isinstance(function, FUNCTIONS) or callers.is_foreign_in_modules() or not callers.fact(function).is_certain:
            return False
        if not all(self._is_of_known_model(call.func) for call in callers.calls(function)):
            return False
        classes = self._semantics.facts.classes.values()
        return not any(
            (attribute in facts.slots and facts.slots[attribute].stores) or attribute in facts.methods for facts in classes
        )

    def _is_of_known_model(self, function: ast.expr) -> bool:
        """Whether ``function`` is the ``apply`` of a module of torch or of the file, or of a part of the module itself."""
        match function:
            case ast.Attribute(value=ast.Name() as model, attr="apply"):
                if self._semantics.facts.self_class(model) is not None:
                    return True
                bindings = self._semantics.bindings.reaching(model)
                return bool(bindings) and all(binding.value is not None and self._makes(binding.value) for binding in bindings)
            case ast.Attribute(value=ast.Attribute(value=owner), attr="apply"):
                return self._semantics.facts.self_class(owner) is not None
        return False

    def _makes(self, value: ast.expr) -> bool:
        """Whether a value is made by the constructor of a module of torch or of the file."""
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="to" | "cuda" | "double")):
                return self._makes(inner)
            case ast.Call(func=function):
                made = self._semantics.facts.definition(function)
                is_own = isinstance(made, ast.ClassDef) and self._semantics.facts.is_module(made)
                return (
                    is_own
                    or (self._semantics.qualified_name(function) or "") in torch_api.MODULES | torch_api.CONTAINER_MODULES
                )
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(each.value is not None and self._makes(each.value) for each in bindings)
        return False

    def _parameters(self, name: str) -> tuple[str, ...]:
        return torch_api.PARAMETER_ATTRIBUTES.get(name, _HAVE_WEIGHTS.get(name, ()))

    def _asked(self, node: ast.expr, layer: ast.Name) -> Iterator[list[str]]:
        """The classes of one of which ``layer`` is where ``node`` stands, for each test that led there."""
        child: ast.AST = node
        for parent in self._tree.ancestors(node):
            if isinstance(parent, ast.If) and child in parent.body:
                yield from self._tested(parent.test, layer)
            if isinstance(parent, ast.BoolOp) and isinstance(parent.op, ast.And):
                for part in parent.values[: next(i for i, each in enumerate(parent.values) if each is child)]:
                    yield from self._tested(part, layer)
            if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
                return
            child = parent

    def _tested(self, test: ast.expr, layer: ast.Name) -> Iterator[list[str]]:
        match test:
            case ast.BoolOp(op=ast.And(), values=parts):
                for part in parts:
                    yield from self._tested(part, layer)
            case ast.BoolOp(op=ast.Or(), values=parts):
                found = [next(self._tested(part, layer), []) for part in parts]
                if all(found):
                    yield [name for classes in found for name in classes]
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name() as asked, classes]) if self._is_same(asked, layer):
                yield self._named(classes)
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[ast.Name() as asked]),
                ops=[ast.Eq() | ast.Is() | ast.In()],
                comparators=[classes],
            ) if self._is_same(asked, layer):
                yield self._named(classes)

    def _is_same(self, one: ast.Name, other: ast.Name) -> bool:
        if one.id != other.id:
            return False
        before, then = self._semantics.bindings.reaching(one), self._semantics.bindings.reaching(other)
        return len(before) == len(then) and set(before) == set(then)

    def _named(self, classes: ast.expr) -> list[str]:
        parts = classes.elts if isinstance(classes, (ast.Tuple, ast.List, ast.Set)) else [classes]
        return [self._semantics.qualified_name(part) or "" for part in parts]
