"""What was made just before a place in a function and has been used for nothing since."""

from __future__ import annotations

import ast

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.kinds.kind import Type

_FORM = frozenset({"data", "shape", "size", "dim", "numel", "dtype", "device", "in_features", "out_features", "kernel_size"})
_FILLS = frozenset({"zero_", "fill_", "normal_", "uniform_", "exponential_", "bernoulli_", "random_"})
_STAYS = frozenset({"to", "cuda", "float", "double", "normal_", "uniform_", "zero_", "fill_", "view", "unsqueeze", "type"})
_SHARED = (Type.MODULE, Type.TENSOR, Type.SEQUENCE)


class Fresh:
    """Tells of tensors whether they have just been made, in the function where they are asked about."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def fact(self, tensor: ast.expr, place: ast.AST) -> Fact:
        """Whether a tensor, or the layer of torch that it is part of, was made here and only changed or measured since."""
        binding = self._binding(tensor)
        if binding is None:
            return unknown(f"`{ast.unparse(tensor)}` was not made here")
        flow = self._semantics.control_flow
        if flow.scope(place) is not flow.scope(binding.node):
            return unknown(f"`{binding.name}` was made elsewhere")
        for use in binding.uses:
            is_before = flow.scope(use) is not flow.scope(place) or flow.may_follow(use, place, [binding.node])
            if is_before and not self._is_harmless(use):
                return unknown(f"`{binding.name}` was used before; a backward that has saved its old values may follow")
        return CERTAIN

    def has_no_graph(self, tensor: ast.expr, place: ast.AST) -> Fact:
        """Whether such a tensor does not require grad either."""
        binding = self._binding(tensor)
        match binding:
            case Binding(value=ast.Call(func=function, keywords=words)):
                name = self._semantics.qualified_name(function) or ""
                is_plain = name in torch_api.FACTORIES or name == "torch.tensor"
                if is_plain and not any(word.arg in (None, "requires_grad", "out") for word in words):
                    return self.fact(tensor, place)
        return unknown(f"`{ast.unparse(tensor)}` may require grad")

    def _binding(self, tensor: ast.expr) -> Binding | None:
        """The one assignment that gives the name of a tensor, or of its layer, what a call of torch has made."""
        name = tensor
        while isinstance(name, (ast.Attribute, ast.Subscript)):
            name = name.value
        bindings = self._semantics.bindings.reaching(name) if isinstance(name, ast.Name) else ()
        match bindings:
            case [Binding(form=Form.ASSIGNMENT, path=(), value=ast.expr() as value) as binding]:
                while isinstance(value, (ast.Attribute, ast.Subscript)):
                    value = value.value  # `nn.Linear(2, 2).weight`
                is_own = not binding.scope.foreign.get(binding.name)
                return binding if is_own and isinstance(value, ast.Call) and self._is_made(value) else None
        return None

    def _is_made(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        given = given_to(call)
        if name.endswith(".Parameter"):
            return all(isinstance(each, ast.Constant) or self.is_new(each) for each in given)
        is_layer = name in torch_api.MODULES and not any(self._semantics.kind(each).type in _SHARED for each in given)
        return is_layer or self.is_new(call)

    def is_new(self, value: ast.expr) -> bool:
        """Whether an expression gives a new tensor, whose memory is nobody else's."""
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=method)) if method in _STAYS:
                return self.is_new(inner)
            case ast.Call(func=function, args=arguments):
                name = self._semantics.qualified_name(function) or ""
                is_size = len(arguments) > 1 or any(isinstance(getattr(each, "value", None), int) for each in arguments)
                is_sized = name.startswith("torch.") and name.endswith("Tensor") and is_size
                return name in torch_api.FACTORIES or name == "torch.tensor" or is_sized
            case ast.BinOp(left=left, right=right):
                return self.is_new(left) or self.is_new(right)
        return False

    def _is_harmless(self, use: ast.expr) -> bool:
        """Whether a use of a tensor, or of its layer, changes or measures it and computes nothing of it."""
        node, parent = use, self._tree.parent(use)
        if isinstance(parent, ast.Attribute) and parent.attr in ("weight", "bias"):
            node, parent = parent, self._tree.parent(parent)
        match parent:
            case ast.Attribute(attr=attribute):
                return attribute in _FORM or attribute in _FILLS
            case ast.Call(func=function, args=[first, *_]):
                name = self._semantics.qualified_name(function) or ""
                return first is node and name.startswith("torch.nn.init.") and isinstance(self._tree.parent(parent), ast.Expr)
        return False
