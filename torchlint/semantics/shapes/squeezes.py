"""Calls of ``squeeze()`` that name no axis: which of them are of a model's output before a loss, and which axis is meant."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum, auto

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.kinds.results import LOSS_FUNCTIONS, LOSS_MODULES
from torchlint.semantics.shapes.batches import Batches
from torchlint.semantics.shapes.ranks import KEEPING, KEEPING_MODULES
from torchlint.semantics.shapes.sizes import number

_LOSS = re.compile(r"(\w*_)?(loss|criterion|crit)(_?(fn|func|function|fun|f|module))?|\w*(Loss|Criterion)", re.IGNORECASE)
_OF_VALUES = re.compile(r"bce|binary_cross_entropy|mse|l1|smooth|huber|poisson|BCE|MSE|L1|Huber|Poisson|Gaussian")
"""Losses of one value for each item, in the name of their function or class."""
_LOADER = re.compile(r"\w*(loader|dataloader|batches|_dl|_iter|iterator)s?|dl", re.IGNORECASE)
_STEPS = frozenset({"training_step", "validation_step", "test_step"})
_POOLINGS = re.compile(r"torch\.nn\.(functional\.)?(adaptive_)?(avg|max)_pool[23]d|torch\.nn\.Adaptive(Avg|Max)Pool[23]d")
_WITH_OUTPUTS = {"Linear": 1, "LazyLinear": 0, "Embedding": 1, "Bilinear": 2}
"""Modules whose last axis has the size that they are told at this place."""
_DEPTH = 8


class Meant(Enum):
    """What a ``squeeze()`` was meant to drop."""

    LAST = auto()  # the last axis, of size 1
    ALL_BUT_TWO = auto()  # the axes behind the channels, all of size 1


class Squeezes:
    """Looks at the squeezes of one file that name no axis."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._batches = semantics.of(Batches)

    # --- what is squeezed --------------------------------------------------------------------------------------------

    def is_output_before_loss(self, squeeze: ast.Call) -> bool:
        """Whether a model's output, of what a loader gives, is squeezed on its way to a loss."""
        tensor = _operand(squeeze)
        if tensor is None or self._loss(squeeze) is None:
            return False
        call = self._output(tensor)
        return call is not None and self._is_model(call) and any(map(self._is_of_loader, _names(call.args)))

    def _output(self, tensor: ast.expr, depth: int = _DEPTH) -> ast.Call | None:
        """The call that computes a tensor, behind the names and the element-wise functions that follow it."""
        match tensor:
            case ast.Name() if depth:
                values = [each.value for each in self._semantics.bindings.reaching(tensor) if _is_plain(each)]
                only = values[0] if len(values) == 1 and len(self._semantics.bindings.reaching(tensor)) == 1 else None
                return self._output(only, depth - 1) if only is not None else None
            case ast.Call() if depth:
                inner = self._kept(tensor)
                return self._output(inner, depth - 1) if inner is not None else tensor
        return None

    def _kept(self, call: ast.Call) -> ast.expr | None:
        """What a function or method computes element by element, or moves."""
        name = self._semantics.qualified_name(call.func) or ""
        if name.startswith("torch."):
            return call.args[0] if name.rpartition(".")[2] in KEEPING and call.args else None
        if isinstance(call.func, ast.Attribute) and call.func.attr in KEEPING:
            return call.func.value
        return None

    def _is_model(self, call: ast.Call) -> bool:
        """Whether what is called may be a model: a module, or a value that nothing is known of."""
        name = self._semantics.qualified_name(call.func) or ""
        kind = self._semantics.kind(call.func)
        if name or kind.name in LOSS_MODULES or not isinstance(call.func, (ast.Name, ast.Attribute)):
            return False
        return kind.type is Type.MODULE or (kind.type is Type.UNKNOWN and self._semantics.facts.definition(call.func) is None)

    def _is_of_loader(self, name: ast.Name, depth: int = _DEPTH) -> bool:
        """Whether a name is what a loop over a loader is given, or made of it."""
        return depth > 0 and any(self._gives(binding, depth) for binding in self._semantics.bindings.reaching(name))

    def _gives(self, binding: Binding, depth: int) -> bool:
        match binding.form:
            case Form.LOOP:
                return binding.value is not None and self._is_loader(binding.value) and self._batches.loads_many(binding.value)
            case Form.PARAMETER:
                function = binding.scope.node
                return isinstance(function, FUNCTIONS) and function.name in _STEPS and binding.name in ("batch", "data", "x")
            case Form.ASSIGNMENT if binding.value is not None:
                return any(self._is_of_loader(part, depth - 1) for part in _names([binding.value]))
        return False

    def _is_loader(self, iterated: ast.expr) -> bool:
        match iterated:
            case ast.Call(func=ast.Name(id="enumerate" | "tqdm" | "iter"), args=[inner, *_]):
                return self._is_loader(inner)
            case ast.Call(func=ast.Attribute(attr="tqdm" | "track" | "trange"), args=[inner, *_]):
                return self._is_loader(inner)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._semantics.kind(iterated).type is Type.LOADER or _LOADER.fullmatch(name) is not None
        return self._semantics.kind(iterated).type is Type.LOADER

    def _loss(self, squeeze: ast.Call) -> ast.Call | None:
        """The call of a loss that is given a squeezed tensor, right there or by its name."""
        uses: list[ast.expr] = [squeeze]
        match self._semantics.tree.parent(squeeze):
            case ast.Assign(targets=[ast.Name() as target]) if (binding := self._semantics.bindings.of(target)) is not None:
                uses += binding.uses
        for use in uses:
            call = self._semantics.tree.parent(use)
            while isinstance(call, ast.Attribute) and isinstance(moved := self._semantics.tree.parent(call), ast.Call):
                call = self._semantics.tree.parent(moved) if moved.func is call and call.attr in KEEPING else None
            if isinstance(call, ast.Call) and self._is_loss(call):
                return call
        return None

    def _is_loss(self, call: ast.Call) -> bool:
        kind = self._semantics.kind(call.func)
        name = self._semantics.qualified_name(call.func) or ""
        if kind.name in LOSS_MODULES or name in LOSS_FUNCTIONS:
            return True
        match call.func:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                return not name and _LOSS.fullmatch(word) is not None
        return False

    # --- what is meant -----------------------------------------------------------------------------------------------

    def meant(self, squeeze: ast.Call) -> Meant | None:
        """Which axis a squeeze is meant to drop; ``None`` where nothing tells."""
        tensor = _operand(squeeze)
        if tensor is None:
            return None
        by_origin = self._last_axis(tensor)
        if by_origin is not None:
            return by_origin if isinstance(by_origin, Meant) else None
        loss = self._loss(squeeze)
        return Meant.LAST if loss is not None and self._compares_values(loss) else None

    def _last_axis(self, tensor: ast.expr, depth: int = _DEPTH) -> Meant | bool | None:
        """What is dropped of a tensor by what makes it; no where its last axis is larger, none where that is not known."""
        match tensor:
            case ast.Name() if depth:
                found = {
                    self._last_axis(each.value, depth - 1) if each.value is not None and _is_plain(each) else None
                    for each in self._semantics.bindings.reaching(tensor)
                }
                return found.pop() if len(found) == 1 else None
            case ast.Subscript(slice=ast.Tuple(elts=[*_, ast.Slice() as last])):
                return Meant.LAST if _is_one_wide(last) else None
            case ast.BinOp(left=left, op=operator, right=right) if depth and not isinstance(operator, ast.MatMult):
                found = {self._last_axis(left, depth - 1), self._last_axis(right, depth - 1)} - {None}
                return found.pop() if len(found) == 1 else None
            case ast.Call() if depth:
                return self._last_axis_of_call(tensor, depth - 1)
        return None

    def _last_axis_of_call(self, call: ast.Call, depth: int) -> Meant | bool | None:
        if self._pools(call):
            return Meant.ALL_BUT_TWO
        inner = self._kept(call)
        if inner is not None:
            return self._last_axis(inner, depth)
        if isinstance(call.func, ast.Attribute) and call.func.attr == "unsqueeze" and call.args and number(call.args[0]) == -1:
            return Meant.LAST
        return self._given_by(call.func, call, depth)

    def _given_by(self, module: ast.expr, call: ast.Call, depth: int) -> Meant | bool | None:
        """What the last module of those that are called gives."""
        made = module if isinstance(module, ast.Call) else self._construction(module)
        kind = self._semantics.kind(made if made is not None else module)
        last = kind.name.rpartition(".")[2] if kind.name.startswith("torch.nn.") else ""
        if made is None or not last:
            return None
        if last == "Sequential":
            parts = [part for part in reversed(made.args) if not self._keeps(part)]
            return self._given_by(parts[0], call, depth) if parts and depth else None
        if last in KEEPING_MODULES and last not in _WITH_OUTPUTS:
            return self._last_axis(call.args[0], depth) if call.args and depth else None
        if last.startswith(("AdaptiveAvgPool", "AdaptiveMaxPool")):
            return Meant.ALL_BUT_TWO if last[-2:] != "1d" and _is_one(made.args[0] if made.args else None) else None
        if (place := _WITH_OUTPUTS.get(last)) is not None:
            words = {"out_features", "embedding_dim"}
            named = next((word.value for word in made.keywords if word.arg in words), None)
            size = number(named if named is not None else made.args[place] if len(made.args) > place else None)
            return None if size is None else Meant.LAST if size == 1 else False
        return None

    def _keeps(self, module: ast.expr) -> bool:
        last = self._semantics.kind(module).name.rpartition(".")[2]
        return last in KEEPING_MODULES and last not in _WITH_OUTPUTS

    def _construction(self, module: ast.expr) -> ast.Call | None:
        """The one call that makes a module that has a name."""
        match module:
            case ast.Name():
                values = [each.value if _is_plain(each) else None for each in self._semantics.bindings.reaching(module)]
            case ast.Attribute(value=owner, attr=name) if (found := self._semantics.facts.self_class(owner)) is not None:
                stores = [store for slot in self._semantics.facts.slots(found, name) for store in slot.stores]
                values = [self._assigned(store) for store in stores]
            case _:
                return None
        only = values[0] if len(values) == 1 else None
        return only if isinstance(only, ast.Call) else None

    def _assigned(self, store: ast.Attribute) -> ast.expr | None:
        match self._semantics.tree.parent(store):
            case ast.Assign(targets=[_], value=value):
                return value
        return None

    def _pools(self, call: ast.Call) -> bool:
        """Whether a call pools images to one value for each channel, or takes means that do the same."""
        axes = next((word.value for word in call.keywords if word.arg in ("dim", "axis")), None)
        given = [*call.args, *([axes] if axes is not None else [])]
        if any(word.arg == "keepdim" for word in call.keywords) and any(isinstance(each, ast.Tuple) for each in given):
            return True
        name = self._semantics.qualified_name(call.func) or ""
        return (
            _POOLINGS.fullmatch(name) is not None and len(call.args) > 1 and ("adaptive" not in name or _is_one(call.args[1]))
        )

    def _compares_values(self, loss: ast.Call) -> bool:
        """Whether a loss compares one value of each item with another, so that what it is given has one axis."""
        name = self._semantics.qualified_name(loss.func) or self._semantics.kind(loss.func).name
        return _OF_VALUES.search(name.rpartition(".")[2]) is not None


def _operand(squeeze: ast.Call) -> ast.expr | None:
    """What a squeeze is of: that of a method, or of torch's function."""
    match squeeze:
        case ast.Call(func=ast.Attribute(attr="squeeze"), args=[tensor, *_]):
            return tensor
        case ast.Call(func=ast.Attribute(value=tensor, attr="squeeze")):
            return tensor
        case ast.Call(func=ast.Name(), args=[tensor, *_]):
            return tensor
    return None


def _names(expressions: list[ast.expr]) -> Iterator[ast.Name]:
    return (part for each in expressions for part in ast.walk(each) if isinstance(part, ast.Name))


def _is_plain(binding: Binding) -> bool:
    return binding.form is Form.ASSIGNMENT and not binding.path


def _is_one(size: ast.expr | None) -> bool:
    """Whether a size is one, in each direction."""
    if isinstance(size, (ast.Tuple, ast.List)):
        return bool(size.elts) and all(map(_is_one, size.elts))
    return number(size) == 1


def _is_one_wide(index: ast.Slice) -> bool:
    lower, upper = number(index.lower) if index.lower is not None else 0, number(index.upper)
    return lower is not None and upper is not None and upper - lower == 1
