"""0-dim tensors that are indexed: ``loss.data[0]``."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Binding, Form, Grad, Kind, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, last_name, spoken_name, walk_body
from torchlint.semantics.kinds.kind import UNKNOWN
from torchlint.semantics.kinds.others.members import output_of
from torchlint.semantics.kinds.results import LOSS_MODULES, is_reduced
from torchlint.semantics.shapes.flattened_sums import FlattenedSums
from torchlint.semantics.shapes.losses.left_unbound import is_left_unbound
from torchlint.semantics.shapes.losses.propagated import Propagated
from torchlint.semantics.shapes.ranks import Ranks

_LOSS = re.compile(r"(^|_)loss($|_)|^loss|loss$", re.IGNORECASE)
_CRITERION = re.compile(r"criterion$|(^|_)loss_f", re.IGNORECASE)
CHAIN = frozenset({"cpu", "cuda", "numpy", "detach", "float", "double", "clone", "squeeze"})
"""Methods that leave a number the number it is."""
_REDUCING = frozenset({"mean", "sum", "norm", "std", "var", "prod"})
"""Methods of tensors that give one number where they are told no dimension; trees and heaps have a `max` and a `min`, too."""
_OF_LISTS = frozenset(f"torch.{name}" for name in ("tensor", "as_tensor", "Tensor", "FloatTensor", "cuda.FloatTensor"))
"""What makes tensors of lists, with a dimension for each of their levels."""
_OF_ONE_ELEMENT = frozenset({"warpctc_pytorch", "warprnnt_pytorch"})
"""Libraries whose losses have one element in one dimension, `torch.FloatTensor([costs.sum()])`, which can be indexed."""
_TRAINING = ("data", "backward", "Variable")
"""Code with losses to index has one of these; elsewhere nothing that is indexed bare would have survived its first run."""


_CRITERIA = frozenset(name.rpartition(".")[2] for name in LOSS_MODULES)


class HandedCriteria:
    """Tells of losses whether a criterion from elsewhere gives them that may not reduce: ``NLLLoss(reduction="none")``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._kept: dict[tuple[ast.ClassDef, str], bool] = {}

    def may_keep_dimensions(self, loss: ast.expr) -> bool:
        """Whether an argument gives a loss, and the criteria that the file, or else the project, makes for it do not reduce."""
        return any(map(self._may_keep, self._calls(loss)))

    def _calls(self, loss: ast.expr) -> list[ast.Call]:
        """The calls that give a loss."""
        values = [loss]
        if isinstance(loss, ast.Name):
            bound = self._semantics.bindings.reaching(loss)
            values = [each.value for each in bound if each.form is Form.ASSIGNMENT and not each.path and each.value is not None]
        return [value for value in values if isinstance(value, ast.Call)]

    def _may_keep(self, call: ast.Call) -> bool:
        if self._semantics.kind(call.func).scalar is not None or not self._is_handed(call.func):
            return False
        reducing = self._made[True] | self._made[None]
        if self._made[False] and (not reducing or last_name(call.func) in self._made[False] - reducing):
            return True
        return not any(self._made.values()) and self._semantics.elsewhere.speaks_of("unreduced losses") is True

    def _is_handed(self, function: ast.expr) -> bool:
        """Whether what is called is an argument, or an attribute that keeps one."""
        if isinstance(function, ast.Name):
            bindings = self._semantics.bindings.reaching(function)
            return bool(bindings) and all(each.form is Form.PARAMETER for each in bindings)
        owner = self._semantics.facts.self_class(function.value) if isinstance(function, ast.Attribute) else None
        if owner is None or not isinstance(function, ast.Attribute):
            return False
        key = owner, function.attr
        if key not in self._kept:
            stores = [store for slot in self._semantics.facts.slots(*key) for store in slot.stores]
            values = [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]
            self._kept[key] = bool(values) and all(isinstance(each, ast.Name) and self._is_handed(each) for each in values)
        return self._kept[key]

    @cached_property
    def _made(self) -> dict[bool | None, set[str]]:
        """The names that the criteria of torch get which the file makes, by whether they reduce; empty where they get none."""
        found: dict[bool | None, set[str]] = {True: set(), False: set(), None: set()}
        calls = self._semantics.facts.calls
        for call in (call for name in _CRITERIA for call in calls.get(name, ())):
            if self._semantics.qualified_name(call.func) in LOSS_MODULES:
                found[is_reduced(call)].add(self._name_of(call))
        return found

    def _name_of(self, call: ast.Call) -> str:
        """The variable, or the attribute, that what a call makes is assigned to."""
        node: ast.AST = call
        while isinstance(function := self._semantics.tree.parent(node), ast.Attribute) and function.attr in CHAIN | {"to"}:
            node = self._semantics.tree.parent(function) or function
        match self._semantics.tree.parent(node):
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                return last_name(target)
        return ""


class Scalars:
    """Tells which indices are of tensors that have no dimensions."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._handed = semantics.of(HandedCriteria)

    @cached_property
    def indexed(self) -> dict[ast.Subscript, ast.expr]:
        """The indices of 0-dim tensors, ``loss.data.cpu()[0]``, each with the tensor, ``loss``."""
        found = ((node, self._indexed(node)) for node in self._semantics.tree.of_type(ast.Subscript))
        return {node: tensor for node, tensor in found if tensor is not None}

    @cached_property
    def _trains(self) -> bool:
        return not self._semantics.words.all.isdisjoint(_TRAINING)

    def index_of(self, node: ast.expr) -> ast.Subscript | None:
        """The index of a 0-dim tensor that ``node`` is the base or a link of: ``loss.data.cpu()[0]`` for ``loss.data``."""
        while True:
            parent = self._semantics.tree.parent(node)
            match parent:
                case ast.Subscript(value=value) if value is node:
                    return parent if self._indexed(parent) is not None else None
                case ast.Attribute(attr="data"):
                    node = parent
                case ast.Attribute(attr=method) if method in CHAIN:
                    call = self._semantics.tree.parent(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return None
                    node = call
                case _:
                    return None

    def are_kept_for_index(self, node: ast.expr) -> bool:
        """Whether a value, or a copy, has a name under which nothing is done but to index it, though it has no dimensions."""
        parent = self._semantics.tree.parent(node)
        while isinstance(parent, ast.Attribute) and parent.attr in ("clone", "cpu", "detach"):
            call = self._semantics.tree.parent(parent)
            if not isinstance(call, ast.Call):
                return False
            node, parent = call, self._semantics.tree.parent(call)
        match parent:
            case ast.Assign(targets=[ast.Name() as name], value=value) if value is node:
                binding = self._semantics.bindings.of(name)
                uses = [self._semantics.tree.parent(use) for use in binding.uses] if binding is not None else []
                return bool(uses) and all(use in self.indexed for use in uses)
        return False

    def _indexed(self, node: ast.Subscript) -> ast.expr | None:
        if not isinstance(node.ctx, ast.Load) or not _is_first(node.slice):
            return None
        value = base(node.value)
        if (value is node.value and not self._trains) or is_left_unbound(value, self._semantics):
            return None
        kind = self._semantics.kind(value)
        if self._starts_with_dimensions(value) or self._is_of_one_element(value):
            return None
        if self._may_have_dimensions_elsewhere(value, is_idiom=value is not node.value):
            return None
        if value is node.value:
            is_scalar = (kind.is_tensor and kind.scalar and not kind.loose) or self._sums_losses(value) or self._counts(value)
            return value if is_scalar and not self._is_used_as_sequence(value) else None
        if kind.is_tensor and kind.scalar and not kind.loose:
            return value
        if self._counts(value) or (self._is_of_torch and _has_data(node.value) and self._is_reduced(value)):
            return value
        if _squeezes(node.value) and not _has_data(node.value):
            return None  # `loss.squeeze()[0]` may be the first of many
        may_be = kind.type in (Type.UNKNOWN, Type.TENSOR) and kind.scalar is not False and kind.grad is not Grad.NONE
        if not (may_be or self._is_number_elsewhere(value, kind)):
            return None
        if self._is_of_torch and _has_data(node.value) and (self._propagated.are(value) or self._is_sum_of_losses(value)):
            return value
        return value if names_loss(value) and not self._handed.may_keep_dimensions(value) else None

    @cached_property
    def _propagated(self) -> Propagated:
        return self._semantics.of(Propagated)

    def _is_sum_of_losses(self, value: ast.expr) -> bool:
        """Whether losses are computed with numbers, or settings: ``(self.gamma * loss_real - loss_fake).data``."""
        if not isinstance(value, ast.BinOp):
            return False
        pending: list[ast.expr] = [value]
        losses = 0
        while pending:
            part = pending.pop()
            match part:
                case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), left=left, right=right):
                    pending += [left, right]
                case ast.UnaryOp(operand=operand):
                    pending.append(operand)
                case _ if self._is_one_loss(part):
                    losses += 1
                case _ if not self._propagated.is_weight(part):
                    return False
        return losses > 0

    def _is_one_loss(self, part: ast.expr) -> bool:
        kind = self._semantics.kind(part)
        if kind.is_tensor and kind.scalar is not None:
            return kind.scalar and not kind.loose
        may_be = kind.type in (Type.UNKNOWN, Type.TENSOR) and not self._starts_with_dimensions(part)
        is_loss = isinstance(part, ast.Name) and (names_loss(part) or self._propagated.are(part))
        return may_be and is_loss and not (self._is_of_one_element(part) or self._handed.may_keep_dimensions(part))

    def _is_of_one_element(self, value: ast.expr) -> bool:
        """Whether a loss is given by a library whose losses have a dimension: `loss = CTCLoss()(scores, y)`."""
        for binding in self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ():
            made = _assigned(binding)
            if isinstance(made, ast.Call) and any(map(self._makes_one_element, self._criteria(made.func))):
                return True
        return False

    def _criteria(self, function: ast.expr) -> list[ast.expr | None]:
        """What a criterion is, as far as the file tells: the value of a variable or an attribute of ``self``."""
        if isinstance(function, ast.Name):
            return [function, *(each.value for each in self._semantics.bindings.reaching(function))]
        owner = self._semantics.facts.self_class(function.value) if isinstance(function, ast.Attribute) else None
        if owner is None or not isinstance(function, ast.Attribute):
            return [function]
        stores = [store for slot in self._semantics.facts.slots(owner, function.attr) for store in slot.stores]
        return [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]

    def _makes_one_element(self, criterion: ast.expr | None) -> bool:
        while isinstance(criterion, ast.Call) or (
            isinstance(criterion, ast.Attribute) and isinstance(criterion.value, ast.Call)
        ):
            criterion = criterion.func if isinstance(criterion, ast.Call) else criterion.value
        name = self._semantics.qualified_name(criterion) if criterion is not None else None
        return (name or "").partition(".")[0] in _OF_ONE_ELEMENT

    def _starts_with_dimensions(self, value: ast.expr) -> bool:
        """Whether a variable starts as a tensor with dimensions, which losses are added to: `total = torch.Tensor([0])`."""
        pending = list(self._semantics.bindings.reaching(value)) if isinstance(value, ast.Name) else []
        seen: set[Binding] = set()
        while pending:
            binding = pending.pop()
            if binding in seen:
                continue
            seen.add(binding)
            pending += binding.before
            start = _assigned(binding)
            if isinstance(start, ast.Name) and isinstance(value, ast.Name) and start.id == value.id:
                pending += self._semantics.bindings.reaching(start)  # total = total.cuda()
            elif start is not None and self._has_dimensions(start):
                return True
        return False

    def _has_dimensions(self, start: ast.expr) -> bool:
        """Whether a value is made with dimensions of its own."""
        match start:
            case ast.Call(func=function, args=[ast.List() | ast.Tuple(), *_]):
                if (self._semantics.qualified_name(function) or "") in _OF_LISTS:
                    return True
        return (self._semantics.of(Ranks).of(start) or 0) > 0

    def _may_have_dimensions_elsewhere(self, value: ast.expr, *, is_idiom: bool) -> bool:
        """Whether a model of another file may give a tensor with dimensions that losses were added to: ``FloatTensor([0.0])``.

        That it is back-propagated says nothing then, for it may have one element in one dimension. Where it ``is_idiom``, with
        a ``.data`` in front of the index, it has to be known to have them.
        """
        for binding in self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ():
            call = binding.value if binding.form is Form.ASSIGNMENT else None
            classes = self._semantics.kind(call.func).classes_elsewhere if isinstance(call, ast.Call) else ()
            for given in (output_of(each, self._semantics.elsewhere) for each in classes):
                for step in binding.path:
                    given = given.items[step] if given.items and step is not None and step < len(given.items) else UNKNOWN
                if given.is_tensor and (given.scalar is False or not (given.scalar or is_idiom)):
                    return True
        return False

    @cached_property
    def _is_of_torch(self) -> bool:
        return "torch" in self._semantics.names.imported_libraries

    def _is_reduced(self, value: ast.expr, depth: int = 4) -> bool:
        """Whether something of unknown kind, whose ``data`` is asked for, is reduced to one number: ``gap.abs().mean()``."""
        match value:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]) if name in _REDUCING:
                return isinstance(owner, ast.Compare) or self._semantics.kind(owner).type in (Type.UNKNOWN, Type.TENSOR)
            case ast.Call() if depth:
                return self._gives_reduced(value, depth - 1)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._is_reduced(operand, depth)
            case ast.BinOp(left=left, right=right):
                return (self._is_reduced(left, depth) and (self._is_number(right) or self._is_reduced(right, depth))) or (
                    self._is_number(left) and self._is_reduced(right, depth)
                )
            case ast.Name() if depth:
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT
                    and not each.path
                    and each.value is not None
                    and self._is_reduced(each.value, depth - 1)
                    for each in bindings
                )
        return False

    def _gives_reduced(self, call: ast.Call, depth: int) -> bool:
        """Whether a function of the file, or of torch, gives such a number: ``weight * ((norm - 1) ** 2).mean()``."""
        kind = self._semantics.kind(call)
        if kind.is_tensor and kind.scalar is not None:
            return kind.scalar and not kind.loose
        function = self._called(call.func)
        if not isinstance(function, ast.FunctionDef) or function.decorator_list or function.name == "__init__":
            return False
        parts = list(walk_body(function.body))
        values = [part.value for part in parts if isinstance(part, ast.Return)]
        if not values or any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in parts):
            return False
        return all(value is not None and self._is_reduced(value, depth) for value in values)

    def _called(self, function: ast.expr) -> ast.AST | None:
        """The function of the file that is called, or the method of the same object."""
        owner = self._semantics.facts.self_class(function.value) if isinstance(function, ast.Attribute) else None
        if isinstance(function, ast.Attribute):
            return self._semantics.facts.method(owner, function.attr) if owner is not None else None
        return self._semantics.facts.definition(function)

    def _is_number(self, node: ast.expr) -> bool:
        """Whether something is a number: also a setting that an object is given, and that is a number by default."""
        if self._semantics.kind(node).type is Type.NUMBER:
            return True
        owner = self._semantics.facts.self_class(node.value) if isinstance(node, ast.Attribute) else None
        if not isinstance(node, ast.Attribute) or owner is None:
            return isinstance(node, ast.Name) and self._is_number_by_default(node)
        stores = [store for slot in self._semantics.facts.slots(owner, node.attr) for store in slot.stores]
        values = [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]
        return bool(values) and all(isinstance(value, ast.Name) and self._is_number_by_default(value) for value in values)

    def _is_number_by_default(self, name: ast.Name) -> bool:
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1 or not isinstance(parameter := bindings[0].node, ast.arg):
            return False
        function = bindings[0].scope.node
        default = self._semantics.facts.default(function, parameter) if isinstance(function, FUNCTIONS) else None
        return isinstance(default, ast.Constant) and type(default.value) in (int, float)

    def _counts(self, value: ast.expr) -> bool:
        """Whether a name is for a sum over the only dimension there was."""
        return isinstance(value, ast.Name) and self._semantics.of(FlattenedSums).is_number(value)

    def _is_number_elsewhere(self, value: ast.expr, kind: Kind) -> bool:
        """Whether a name is known for a number by one branch only, which is not where its ``data`` is read."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        kinds = [self._semantics.inference.binding_kind(binding) for binding in bindings]
        return kind.type is Type.NUMBER and any(each.type is Type.UNKNOWN for each in kinds)

    def _sums_losses(self, value: ast.expr) -> bool:
        """Whether a name is for a sum that starts as a number and gets ``.data`` of losses: ``n * criterion(x, y).data``."""
        bindings = self._semantics.bindings.reaching(value) if isinstance(value, ast.Name) else ()
        sums = [binding for binding in bindings if binding.form is Form.AUGMENTED]
        starts = [each for binding in sums for each in binding.before if each.form is not Form.AUGMENTED]
        kinds = [self._semantics.inference.binding_kind(each) for each in starts]
        others = [binding for binding in bindings if binding.form is not Form.AUGMENTED]
        return (
            bool(sums)
            and all(kind.type is Type.NUMBER for kind in kinds)
            and all(self._semantics.inference.binding_kind(each).type is Type.NUMBER for each in others)
            and all(binding.value is not None and self._has_data_of_loss(binding.value) for binding in sums)
        )

    def _has_data_of_loss(self, node: ast.expr) -> bool:
        """Whether an expression is the ``.data`` of a loss, or that and numbers computed together."""
        match node:
            case ast.BinOp(left=left, right=right):
                one, other = (left, right) if self._semantics.kind(right).type is Type.NUMBER else (right, left)
                return self._semantics.kind(other).type is Type.NUMBER and self._has_data_of_loss(one)
            case ast.Attribute(value=value, attr="data") | ast.Call(func=ast.Attribute(value=value, attr="detach")):
                kind = self._semantics.kind(value)
                return names_loss(value) and kind.type in (Type.UNKNOWN, Type.TENSOR) and kind.scalar is not False
        return False

    def _is_used_as_sequence(self, value: ast.expr) -> bool:
        """Whether the function around ``value`` asks for its type or length, or takes another item of it."""
        function = self._semantics.tree.function(value) or self._semantics.tree.module
        same = ast.dump(value)
        for node in ast.walk(function):
            match node:
                case ast.Call(func=ast.Name(id="isinstance" | "len" | "type" | "zip" | "enumerate"), args=[first, *_]):
                    if ast.dump(first) == same:
                        return True
                case ast.Subscript(value=part, slice=index) if not _is_first(index) and ast.dump(part) == same:
                    return True
        return False


def _assigned(binding: Binding) -> ast.expr | None:
    """What an assignment gives a name, without moves and casts; of a tuple that is written out, its item."""
    value = binding.value if binding.form is Form.ASSIGNMENT else None
    for step in binding.path if value is not None else ():
        match value:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if isinstance(step, int) and 0 <= step < len(parts):
                value = parts[step]
            case _:
                return None
    return base(value) if value is not None else None


def _has_data(node: ast.expr) -> bool:
    """Whether a chain has a ``.data`` in it: ``loss.data.cpu()``."""
    while node is not (owner := _owner(node)):
        if isinstance(node, ast.Attribute):
            return True
        node = owner
    return False


def _squeezes(node: ast.expr) -> bool:
    """Whether a chain has a ``squeeze()`` in it."""
    while node is not (owner := _owner(node)):
        match node:
            case ast.Call(func=ast.Attribute(attr="squeeze")):
                return True
        node = owner
    return False


def base(node: ast.expr) -> ast.expr:
    """The value that a chain of ``.data``, moves and casts starts from: ``loss`` of ``loss.data.cpu()``."""
    while node is not (owner := _owner(node)):
        node = owner
    return node


def _owner(node: ast.expr) -> ast.expr:
    """What the last link of such a chain is of; the node itself where it is none."""
    match node:
        case ast.Attribute(value=value, attr="data"):
            return value
        case ast.Call(func=ast.Attribute(value=value, attr=method), args=[], keywords=[]) if method in CHAIN:
            return value
    return node


def _is_first(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value == 0 and index.value is not False


def names_loss(node: ast.expr) -> bool:
    """Whether a value is called a loss: with ``.data[0]`` behind it, the idiom of 0-dim losses before torch 0.4."""
    if isinstance(node, ast.Call):
        return _CRITERION.search(spoken_name(node.func)) is not None
    return _LOSS.search(last_name(node)) is not None
