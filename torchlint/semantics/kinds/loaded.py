"""What a data loader of unknown kind gives: tensors, where its items are unpacked and used as tensors are."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Binding, Form, Semantics, Type, torch_api
from torchlint.semantics.code.scopes import Scope
from torchlint.semantics.code.tree import last_name

_MOVED_IN_PLACE = frozenset({"dgl", "torch_geometric", "transformers"})
"""Libraries whose batches have a `to` or `cuda` that acts in place."""
_LOADERS = re.compile(r"load(er)?(_|$)|_iter$|generator|(^|_)dl$", re.IGNORECASE)
"""What a data loader is called; names count only beside other evidence."""
_CRITERIA = re.compile(r"crit(erion)?|(loss_?)(fn|func|function|criterion)?", re.IGNORECASE)
_MODELS = frozenset({"model", "net", "network"})
"""What unknown values are called that take tensors: criteria, and models."""
_WRAPPERS = frozenset({"enumerate", "tqdm", "iter", "trange", "track"})


class LoaderTensors:
    """Tells which variables hold tensors of a batch."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._moved_alone: dict[Scope, list[Binding]] = {}

    def include(self, node: ast.expr) -> bool:
        """Whether a variable is one of several that a loader's item is unpacked into, and used as a tensor is."""
        if not isinstance(node, ast.Name) or _MOVED_IN_PLACE & self._semantics.names.imported_libraries:
            return False
        bindings = self._semantics.bindings.reaching(node)
        if not bindings or not all(self._is_unpacked(binding) for binding in bindings):
            return False
        uses = [use for binding in bindings for use in binding.uses]
        if any(map(self._takes_tensor, uses)):
            return True
        if not any(map(self._is_models_input, uses)):
            return False
        return all(map(_is_entry, bindings)) or any(map(self._is_moved_target, bindings))

    def _is_unpacked(self, binding: Binding) -> bool:
        """Whether a binding is ``x`` of ``for x, y in loader``, or of ``x, y = batch`` or ``x = batch[0]`` within a loop."""
        if binding.form is Form.LOOP and binding.value is not None:
            return len(binding.path) > _depth(binding.value) and self._is_loader(binding.value)
        batch = _batch(binding)
        items = self._semantics.bindings.reaching(batch) if batch is not None else ()
        return bool(items) and all(
            item.form is Form.LOOP
            and item.value is not None
            and len(item.path) == _depth(item.value)
            and self._is_loader(item.value)
            for item in items
        )

    def _is_loader(self, iterable: ast.expr) -> bool:
        """Whether what a loop runs over is a data loader, or an unknown value that is called one."""
        iterable = _unwrapped(iterable)
        kind = self._semantics.kind(iterable)
        return kind.type is Type.LOADER or (not kind.known and _LOADERS.search(last_name(iterable)) is not None)

    def _takes_tensor(self, use: ast.Name) -> bool:
        match self._semantics.tree.parent(use):
            case ast.Call(func=function, args=arguments) if use in arguments:
                name = self._semantics.qualified_name(function) or ""
                if name in torch_api.FUNCTIONS or self._semantics.kind(function).type is Type.MODULE:
                    return True
                return _CRITERIA.fullmatch(last_name(function)) is not None
            case ast.Attribute(attr=name):
                return name in ("shape", "size", "view", "dim", "dtype") or name in torch_api.TENSOR_ONLY
            case ast.Subscript(value=owner, slice=ast.Tuple(elts=axes)) if owner is use:
                return any(isinstance(each, ast.Slice) for each in axes)  # of several axes, as of arrays, which do not move
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
                other = self._semantics.kind(right if left is use else left)
                return other.is_tensor and not other.loose
        return False

    def _is_models_input(self, use: ast.Name) -> bool:
        """Whether a variable is given to an unknown value that is called a model."""
        match self._semantics.tree.parent(use):
            case ast.Call(func=function, args=arguments) if use in arguments:
                return last_name(function) in _MODELS
        return False

    def _is_moved_target(self, binding: Binding) -> bool:
        """Whether another part of the same batch is moved by a statement of its own, too, and is given to a criterion."""
        scope = binding.scope
        if scope not in self._moved_alone:
            every = (
                each for bound in scope.bindings.values() for each in bound if any(map(self._is_moved_by_itself, each.uses))
            )
            self._moved_alone[scope] = [each for each in every if any(map(self._takes_tensor, each.uses))]
        return any(each is not binding and _is_of_same_batch(each, binding) for each in self._moved_alone[scope])

    def _is_moved_by_itself(self, use: ast.Name) -> bool:
        """Whether a use of a variable moves it in a statement of its own."""
        match method := self._semantics.tree.parent(use):
            case ast.Attribute(attr="to" | "cuda"):
                call = self._semantics.tree.parent(method)
                around = self._semantics.tree.parent(call) if isinstance(call, ast.Call) else None
                if isinstance(around, (ast.Tuple, ast.List)):
                    around = self._semantics.tree.parent(around)
                return isinstance(around, ast.Expr)
        return False


def _batch(binding: Binding) -> ast.Name | None:
    """The variable that a binding takes a part of: ``batch`` of ``x, y = batch``, ``x = batch[0]``, ``x = batch["x"]``."""
    match _assigned(binding):
        case ast.Name() as batch if binding.path:
            return batch
        case ast.Subscript(value=ast.Name() as batch, slice=ast.Constant(value=int() | str()) | ast.Name()):
            return batch
    return None


def _assigned(binding: Binding) -> ast.expr | None:
    """What a variable is assigned, by itself or beside others: ``batch[0]`` to ``x`` in ``x, y = batch[0], batch[1]``."""
    if binding.form is not Form.ASSIGNMENT:
        return None
    match binding.value, binding.path:
        case ((ast.Tuple(elts=values) | ast.List(elts=values)), (int() as place,)) if place < len(values):
            is_plain = not any(isinstance(each, ast.Starred) for each in values)
            return values[place] if is_plain and not isinstance(values[place], ast.Name) else None
        case ast.Subscript(), (_, *_):
            return None
    return binding.value


def _is_entry(binding: Binding) -> bool:
    """Whether a variable has what a batch keeps under a name, ``batch["image"]``, and not the batch itself."""
    match _assigned(binding):
        case ast.Subscript(slice=ast.Constant(value=str())):
            return True
    return False


def _is_of_same_batch(one: Binding, other: Binding) -> bool:
    """Whether two variables have parts of one item of a loop."""
    batch, others = _batch(one), _batch(other)
    if batch is None or others is None:
        return one.value is other.value and one.form is other.form
    return batch.id == others.id


def _unwrapped(iterable: ast.expr) -> ast.expr:
    """``loader`` of ``enumerate(tqdm(loader))``."""
    while True:
        match iterable:
            case ast.NamedExpr(value=value):
                iterable = value
            case ast.Call(func=function, args=[first, *_]) if last_name(function) in _WRAPPERS:
                iterable = first
            case _:
                return iterable


def _depth(iterable: ast.expr) -> int:
    """How deep, in what a loop over ``iterable`` unpacks, its items are: in a pair where it is enumerated."""
    return int(any(isinstance(part, ast.Name) and part.id == "enumerate" for part in ast.walk(iterable)))
