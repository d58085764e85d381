"""Whether a tensor can be changed itself as its ``.data`` can, whatever becomes of a backward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, unknown
from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.tree import FUNCTIONS, given_to, is_false

_WATCHING = frozenset({"__torch_function__", "__torch_dispatch__", "TorchFunctionMode", "TorchDispatchMode"})
"""Words of code that is told which functions of torch are called: `.data` is one of them, `no_grad` brings others (ran)."""
_MAKING = torch_api.FACTORIES | torch_api.PASSING_FACTORIES | torch_api.MODULES | {"torch.tensor", "torch.nn.Parameter"}
_TELLING = (ast.Call, ast.Attribute)
"""Of code, what tells whether it makes tensors that stay."""


class Handles:
    """Tells of tensors whether what is done to their ``.data`` can be done to them as well, and nobody sees the difference.

    The `.data` of a sparse tensor is a tensor with values of its own: what `mul_` and `zero_` make of those is lost (ran).
    And that of a tensor which was made under `inference_mode` may be changed outside of it, while the tensor may not (ran).
    """

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def fact(self, tensor: ast.expr, place: ast.AST) -> Fact:
        """Whether ``tensor``, which is changed at ``place`` through its ``.data``, can be changed itself there."""
        return self._is_unwatched & self._is_dense(tensor) & self._is_made_for_training(tensor, place)

    @cached_property
    def _is_unwatched(self) -> Fact:
        found = sorted(self._semantics.words.all & _WATCHING)
        return CERTAIN if not found else unknown(f"`{found[0]}` may see which functions of torch are called")

    # --- sparse tensors ----------------------------------------------------------------------------------------------

    def _is_dense(self, tensor: ast.expr) -> Fact:
        if not self._semantics.words.speak_of("sparse"):
            return CERTAIN
        is_gradient = isinstance(tensor, ast.Attribute) and tensor.attr == "grad"
        if self._makes_sparse or (is_gradient and self._makes_sparse_gradients):
            return unknown(f"`{ast.unparse(tensor)}` may be sparse, with a `.data` that has values of its own")
        return CERTAIN

    @cached_property
    def _makes_sparse(self) -> bool:
        """Whether the file makes sparse tensors."""
        nodes = [*self._tree.of_type(ast.Attribute), *self._tree.of_type(ast.Name)]
        return any(
            (isinstance(node, ast.Attribute) and node.attr.startswith("to_sparse"))
            or (self._semantics.qualified_name(node) or "").startswith("torch.sparse")
            for node in nodes
            if isinstance(node, (ast.Attribute, ast.Name))
        )

    @cached_property
    def _makes_sparse_gradients(self) -> bool:
        """Whether an embedding of the file may be one with sparse gradients."""
        words = (word for word in self._tree.of_type(ast.keyword) if isinstance(word, ast.keyword) and word.arg == "sparse")
        return any(not (isinstance(word.value, ast.Constant) and not word.value.value) for word in words)

    # --- tensors for inference ---------------------------------------------------------------------------------------

    def _is_made_for_training(self, tensor: ast.expr, place: ast.AST) -> Fact:
        if "inference_mode" not in self._semantics.words.all or self._is_inferring(place, certainly=True):
            return CERTAIN
        root = tensor
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        bindings = self._semantics.bindings.reaching(root) if isinstance(root, ast.Name) else ()
        doubt = unknown(f"`{ast.unparse(tensor)}` may be made under `inference_mode`, and not be changed outside of it")
        if any(self._is_inferring(binding.node) for binding in bindings):
            return doubt
        if bindings and all(map(self._is_made_here, bindings)):
            return CERTAIN
        return doubt if self._makes_for_inference else CERTAIN

    def _is_made_here(self, binding: Binding) -> bool:
        """Whether a name is given what a call of torch makes on the spot."""
        made = binding.value
        while isinstance(made, (ast.Attribute, ast.Subscript)):
            made = made.value
        is_making = isinstance(made, ast.Call) and self._semantics.qualified_name(made.func) in _MAKING
        return binding.form is Form.ASSIGNMENT and not binding.path and is_making

    def _is_inferring(self, node: ast.AST, *, certainly: bool = False) -> bool:
        """Whether a node stands in a block, or a decorated function, that is under ``inference_mode``, or may be."""
        for frame, child in self._tree.frames(node):
            if isinstance(frame, (ast.With, ast.AsyncWith)) and isinstance(child, ast.stmt):
                if any(self._infers(item.context_expr, certainly) for item in frame.items):
                    return True
            if isinstance(frame, FUNCTIONS) and isinstance(child, ast.stmt):
                return any(self._infers(each, certainly) for each in frame.decorator_list)
        return False

    def _infers(self, context: ast.expr, certainly: bool) -> bool:
        called = context.func if isinstance(context, ast.Call) else context
        if self._semantics.qualified_name(called) != "torch.inference_mode":
            return False
        given = given_to(context) if isinstance(context, ast.Call) else []
        return not given or not (certainly or is_false(given[0]))

    @cached_property
    def _makes_for_inference(self) -> bool:
        """Whether a tensor, a layer or an attribute is made under ``inference_mode``, also by a function called there."""
        pending = [node for node in self._tree.nodes if isinstance(node, _TELLING) and self._is_inferring(node)]
        seen: set[ast.AST] = set()
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Attribute):
                if isinstance(node.ctx, ast.Store):
                    return True
            elif isinstance(node, ast.Call):
                if self._semantics.qualified_name(node.func) in _MAKING:
                    return True
                for definition in self._run(node.func):
                    if isinstance(definition, ast.ClassDef):
                        return True
                    if definition not in seen:
                        seen.add(definition)
                        pending += [part for part in ast.walk(definition) if isinstance(part, _TELLING)]
        return False

    def _run(self, function: ast.expr) -> Iterator[ast.AST]:
        """What of the file a call of ``function`` runs or makes."""
        facts = self._semantics.facts
        if (definition := facts.definition(function)) is not None:
            yield definition
        elif isinstance(function, ast.Attribute) and (owner := facts.self_class(function.value)) is not None:
            if (method := facts.method(owner, function.attr)) is not None:
                yield method
