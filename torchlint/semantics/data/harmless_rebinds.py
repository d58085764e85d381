"""Assignments to a ``.data`` under which there is nothing that could be hidden: a reader's judgement of what they are for."""

from __future__ import annotations

import ast
import itertools
import re
from typing import TypeGuard

from torchlint.semantics import Form, Grad, Semantics, Type
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, Function, last_name
from torchlint.semantics.kinds.kind import UNKNOWN
from torchlint.semantics.memory.written_back import PutBackClones
from torchlint.semantics.provenance.registered_buffers import RegisteredBuffers

_PARAMETER = frozenset({"p", "param", "params", "parameter", "parameters", "w", "weight", "weights", "b", "bias"})
"""Words in the names of parameters."""
_PERTURBATION = frozenset({"delta", "noise", "perturbation", "pert", "perturb", "adv", "adversarial"})
"""Words in the names of what an attack adds to an input."""
_ITEMS = frozenset({"values", "items"})
_KEEPS = frozenset({"clone", "detach", "contiguous"})
_TAKES_OVER = frozenset(
    {"from_numpy", "as_tensor", "load", "tensor", "Tensor", "FloatTensor", "from_pretrained", "get_vectors"}
)
"""Functions that make a tensor of values from elsewhere."""
_MAKES = frozenset({"tensor", "Tensor", "FloatTensor"})
"""Those of them that are given numbers, with which something is computed."""
_WEIGHTS = re.compile(r"weights|embeddings|vectors|matrix|pretrained|glove|(word|w)2v", re.IGNORECASE)
"""What weights are called that are computed elsewhere, and no size is."""
_STATISTICS = frozenset({"running_mean", "running_var", "num_batches_tracked"})
_OF_ARRAYS = frozenset({"from_numpy", "as_tensor", "tensor", "Tensor", "FloatTensor"})
_TELLS = frozenset({"print", "info", "debug"})
_PRUNING = re.compile(r"mask|prun|(^|_)(keep|kept|remain(ing)?)($|_)", re.IGNORECASE)
"""What the places of values are called that are left when a network is pruned."""
_NEAR = 12
"""So many statements above an assignment are looked at."""
_MOVES = frozenset({"to", "cuda", "cpu"})
_OF_GRADIENT = frozenset({"grad", "shape", "size", "device", "dtype"})
_FORM = frozenset({"shape", "dtype", "device", "is_cuda", "requires_grad"})
_SHOWS = re.compile(r"^(save_image\w*|make_grid|im(save|show|write)|print)$")
"""Names of functions that show what they are given."""


class HarmlessRebinds:
    """Tells of assignments to the ``.data`` of tensors whether neither a graph nor an optimizer has the tensor."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._idle: dict[Function, bool] = {}

    def is_harmless(self, statement: ast.Assign, target: ast.Attribute, *, may_move: bool) -> bool:
        """Whether storages change places, or are shared with a layer made for that, or the tensor is only data.

        Unless it ``may_move`` so, a tensor is moved whose name could be given the moved one.
        """
        return (
            _is_swap(statement)
            or self._is_shared_with_new(statement.value, target.value)
            or self._is_of_optimizer_state(target.value)
            or self._semantics.of(PutBackClones).is_one(statement, target.value)
            or self._semantics.of(RegisteredBuffers).has(target.value)
            or self._is_statistic(target.value)
            or self._is_own_entry(target.value)
            or self._is_of_tensor_class(statement.value, target)
            or self._is_frozen_at_once(statement, target.value)
            or _is_selection(statement.value, target.value)
            or self.is_pruned(statement.value)
            or self._is_step_of_attack(statement.value, target.value)
            or (may_move and self._is_only_data(target.value))
        )

    def is_of_checked_form(self, statement: ast.Assign, tensor: ast.expr) -> bool:
        """Whether the code asserts right above that a tensor has the size of the one whose memory it is given.

        ``assert a.weight.size() == b.weight.size()``, and then ``b.weight.data = a.weight.data``; or likewise of an array.
        """
        given = _copied(statement.value)
        if given is None or ast.unparse(given).startswith("self."):
            return False  # what the object keeps would share its memory
        block = self._tree.block(statement)
        place = block.index(statement)
        pair = {ast.unparse(given), ast.unparse(tensor)}
        checks: list[ast.expr] = []
        for above in itertools.takewhile(_is_check_or_rebind, reversed(block[max(0, place - _NEAR) : place])):
            asserted = above.body if isinstance(above, ast.Try) else [above]
            checks += [each.test for each in asserted if isinstance(each, ast.Assert)]
        return any({_sized(check.left), _sized(check.comparators[0])} == pair for check in filter(_is_equation, checks))

    def is_first_of_constructor(self, value: ast.expr, target: ast.Attribute, depth: int = 3) -> bool:
        """Whether the constructor of a class gives a weight of what it makes its first value, which it computes itself.

        Not what it is given, nor the memory of another weight: both need not fit, or stay what they are.
        """
        function = self._tree.function(target)
        if not isinstance(function, ast.FunctionDef) or function.name != "__init__" or depth == 0:
            return False
        match value:
            case ast.Subscript() | ast.Call() | ast.BinOp() | ast.UnaryOp():
                if ast.dump(_kept(value)) != ast.dump(value):
                    return False  # a copy, and no more
                taken = _TAKES_OVER - _MAKES if isinstance(value, ast.BinOp) else _TAKES_OVER
                if any(isinstance(part, ast.Call) and last_name(part.func) in taken for part in ast.walk(value)):
                    return False
                return not self._is_given(value)
            case ast.Name():
                bindings = self._semantics.bindings.reaching(value)
                return bool(bindings) and all(
                    each.form is Form.ASSIGNMENT
                    and not each.path
                    and each.value is not None
                    and self.is_first_of_constructor(each.value, target, depth - 1)
                    for each in bindings
                )
        return False

    def is_given_weights(self, made: ast.Call) -> bool:
        """Whether a tensor is made of weights that the function is given: ``torch.Tensor(embeddings)``, and of no size."""
        match made:
            case ast.Call(func=function, args=[ast.Name() as value]) if last_name(function) in _MAKES:
                is_number = self._semantics.kind(value).type is Type.NUMBER
                return not is_number and _WEIGHTS.search(value.id) is not None and self._is_given(value)
        return False

    def _is_given(self, value: ast.expr, depth: int = 3) -> bool:
        """Whether a value is an argument, an item of one, or what its methods give."""
        while isinstance(value, (ast.Subscript, ast.Attribute, ast.Call)):
            value = value.func if isinstance(value, ast.Call) else value.value
        if not isinstance(value, ast.Name) or value.id == "self":
            return False
        for each in self._semantics.bindings.reaching(value):
            if each.form is Form.PARAMETER or (depth and each.value is not None and self._is_given(each.value, depth - 1)):
                return True
        return False

    def _is_shared_with_new(self, value: ast.expr, tensor: ast.expr) -> bool:
        """Whether a layer that the function made is given a weight of another: `cell.bias.data = gru.bias.data`.

        Part of one, `new.weight.data = old.fc.weight.data[1:]`, goes on where nothing is trained there.
        """
        match tensor:
            case ast.Attribute(value=ast.Name() as layer):
                pass
            case _:
                return False
        given = _kept(value)
        while isinstance(given, ast.Subscript) and self._trains_nothing(tensor):
            given = given.value
        if not (isinstance(given, ast.Attribute) and given.attr == "data" and isinstance(given.value, ast.Attribute)):
            return False
        bindings = self._semantics.bindings.reaching(layer)
        scope = self._semantics.bindings.scope_of(layer)
        return bool(bindings) and all(each.scope is scope and self._is_made(each) for each in bindings)

    def _trains_nothing(self, node: ast.expr) -> bool:
        """Whether the function around a node back-propagates nothing, and has no optimizer take a step."""
        function = self._tree.function(node)
        if not isinstance(function, FUNCTIONS):
            return False
        if function not in self._idle:
            attributes = (part.attr for part in ast.walk(function) if isinstance(part, ast.Attribute))
            self._idle[function] = {"backward", "step"}.isdisjoint(attributes)
        return self._idle[function]

    def _is_statistic(self, tensor: ast.expr) -> bool:
        """Whether a tensor is one of the statistics of a norm, which nothing but its forward sets."""
        return isinstance(tensor, ast.Attribute) and tensor.attr in _STATISTICS

    def _is_own_entry(self, tensor: ast.expr) -> bool:
        """Whether a tensor is kept in a container and was made without a graph: `self.old[name].data = p.data.clone()`."""
        kind = self._semantics.kind(tensor) if isinstance(tensor, ast.Subscript) else UNKNOWN
        return kind.is_tensor and kind.grad is Grad.NONE and not kind.loose

    def _is_of_tensor_class(self, value: ast.expr, target: ast.Attribute) -> bool:
        """Whether a class of tensors gives another one of itself the moved values: `new.data = super().to(device)`."""
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr=method)):
                owner = self._tree.enclosing_class(target)
                bases = owner.bases if method in _MOVES and owner is not None else ()
                return any(self._semantics.qualified_name(base) == "torch.Tensor" for base in bases)
        return False

    def _is_frozen_at_once(self, statement: ast.Assign, tensor: ast.expr) -> bool:
        """Whether a layer that the function made is given a filter of its own, which is never trained."""
        layer = tensor.value if isinstance(tensor, ast.Attribute) else None
        if not isinstance(layer, ast.Name):
            return False
        bindings = self._semantics.bindings.reaching(layer)
        scope = self._semantics.bindings.scope_of(layer)
        if not bindings or not all(each.scope is scope and self._is_made(each) for each in bindings):
            return False
        block = self._tree.block(statement)
        return any(_freezes(other, tensor) for other in block[block.index(statement) + 1 :])

    def _is_made(self, binding: Binding) -> bool:
        """Whether a name is given what a call makes, and is not called itself."""
        if binding.form is not Form.ASSIGNMENT or not isinstance(binding.value, ast.Call):
            return False
        return not any(isinstance(parent := self._tree.parent(use), ast.Call) and parent.func is use for use in binding.uses)

    def _is_step_of_attack(self, value: ast.expr, tensor: ast.expr) -> bool:
        """Whether the noise that an attack has made is kept within bounds: `delta.data = clamp(delta + step, -eps, eps)`."""
        if not isinstance(tensor, ast.Name) or not isinstance(value, (ast.Call, ast.BinOp)):
            return False
        if ast.dump(_kept(value)) != ast.dump(value):
            return False
        bindings = self._semantics.bindings.reaching(tensor)
        scope = self._semantics.bindings.scope_of(tensor)
        is_own = bool(bindings) and all(
            each.scope is scope and each.form is Form.ASSIGNMENT and isinstance(each.value, (ast.Call, ast.BinOp))
            for each in bindings
        )
        is_named = not _PERTURBATION.isdisjoint(tensor.id.lower().split("_"))
        if not is_own or not (is_named or any(self._takes_sign(use) for each in bindings for use in each.uses)):
            return False
        return self._is_computed_with(value, tensor.id)

    def _is_computed_with(self, value: ast.expr, name: str, depth: int = 2) -> bool:
        """Whether the value of a name, not its gradient, goes into a value, or into a name that was given its value for it."""
        for part in ast.walk(value):
            if not isinstance(part, ast.Name) or not isinstance(part.ctx, ast.Load):
                continue
            if part.id == name:
                parent = self._tree.parent(part)
                if not isinstance(parent, ast.Attribute) or parent.attr not in _OF_GRADIENT:
                    return True
            elif depth:
                bindings = self._semantics.bindings.reaching(part)
                if bindings and all(
                    each.form is Form.ASSIGNMENT
                    and isinstance(each.value, (ast.Call, ast.BinOp))
                    and self._is_computed_with(each.value, name, depth - 1)
                    for each in bindings
                ):
                    return True
        return False

    def _takes_sign(self, use: ast.Name) -> bool:
        """Whether the sign of the gradient of a name is taken, which attacks on an input do: `x.grad.detach().sign()`."""
        node: ast.AST | None = self._tree.parent(use)
        if not isinstance(node, ast.Attribute) or node.attr != "grad":
            return False
        while isinstance(node := self._tree.parent(node), (ast.Attribute, ast.Call)):
            if isinstance(node, ast.Call) and last_name(node.func) == "sign":
                return True
        return False

    def is_pruned(self, value: ast.expr) -> bool:
        """Whether a value is what a mask leaves of a weight: ``old[mask.tolist(), :]``; the layer is to have that shape."""
        value = _kept(value)
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            return bool(bindings) and all(
                each.form is Form.ASSIGNMENT and not each.path and each.value is not None and _is_masked(_kept(each.value))
                for each in bindings
            )
        return _is_masked(value)

    def is_item_of(self, name: ast.expr) -> bool:
        """Whether a name stands for each value of a dictionary: what is assigned to the name itself does not get there."""
        return isinstance(name, ast.Name) and any(map(_walks_items, self._semantics.bindings.reaching(name)))

    def _is_of_optimizer_state(self, tensor: ast.expr, depth: int = 3) -> bool:
        """Whether a tensor is what an optimizer keeps: `for v in state.values()` of `optimizer.state.values()`."""
        while isinstance(tensor, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(tensor, ast.Attribute) and tensor.attr == "state":
                return True
            tensor = tensor.func if isinstance(tensor, ast.Call) else tensor.value
        if not isinstance(tensor, ast.Name) or depth == 0:
            return False
        bindings = self._semantics.bindings.reaching(tensor)
        return any(
            _walks_items(each) and each.value is not None and self._is_of_optimizer_state(each.value, depth - 1)
            for each in bindings
        )

    def _is_only_data(self, tensor: ast.expr) -> bool:
        """Whether a name stands for a tensor without a graph, or for a result of which nothing but the values is used."""
        if not isinstance(tensor, ast.Name) or not _PARAMETER.isdisjoint(tensor.id.lower().split("_")):
            return False
        kind = self._semantics.kind(tensor)
        bindings = self._semantics.bindings.reaching(tensor)
        if not bindings or any(each.form is not Form.ASSIGNMENT or each.path for each in bindings):
            return False
        if kind.grad is Grad.NONE:
            return kind.is_tensor
        if kind.grad is Grad.LEAF or kind.type not in (Type.TENSOR, Type.UNKNOWN):
            return False
        made = all(isinstance(each.value, ast.Call) for each in bindings)
        return made and all(self._is_for_values(use) for each in bindings for use in each.uses)

    def _is_for_values(self, use: ast.Name) -> bool:
        match self._tree.parent(use):
            case ast.Attribute(attr=attribute):
                return attribute in _FORM | {"data"}
            case ast.Call(func=function) as call if use in call.args:
                return _SHOWS.search(last_name(function)) is not None
        return False


def _freezes(statement: ast.stmt, tensor: ast.expr) -> bool:
    """Whether a statement takes a tensor out of training."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=frozen, attr="requires_grad")], value=ast.Constant(value=False)):
            return ast.dump(frozen) == ast.dump(tensor)
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=frozen, attr="requires_grad_"), args=[ast.Constant(value=False)])
        ):
            return ast.dump(frozen) == ast.dump(tensor)
    return False


def _is_check_or_rebind(statement: ast.stmt) -> bool:
    """Whether a statement asserts, be it that the error is raised again, prints, or gives another ``.data`` its value."""
    match statement:
        case ast.Assert() | ast.Assign(targets=[ast.Attribute(attr="data")]):
            return True
        case ast.Expr(value=ast.Call(func=function)):
            return last_name(function) in _TELLS
        case ast.Try(body=body, handlers=handlers, orelse=[], finalbody=[]):
            is_raised = all(handler.body and isinstance(handler.body[-1], ast.Raise) for handler in handlers)
            return is_raised and all(isinstance(each, ast.Assert) for each in body)
    return False


def _copied(value: ast.expr) -> ast.expr | None:
    """What a tensor is given the values of: ``x`` of ``x.data.clone()``, and of ``torch.from_numpy(x)``."""
    match _kept(value):
        case ast.Attribute(value=tensor, attr="data"):
            return tensor
        case ast.Call(func=function, args=[array]) if last_name(function) in _OF_ARRAYS:
            return array
    return None


def _is_equation(test: ast.expr) -> TypeGuard[ast.Compare]:
    return isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq)


def _sized(node: ast.expr) -> str:
    """The tensor whose size is asked for: ``x`` of ``x.size()``, ``x.shape``, ``x.data.shape``."""
    match node:
        case ast.Attribute(value=tensor, attr="shape") | ast.Call(func=ast.Attribute(value=tensor, attr="size"), args=[]):
            return ast.unparse(tensor.value if isinstance(tensor, ast.Attribute) and tensor.attr == "data" else tensor)
    return ""


def _is_swap(statement: ast.Assign) -> bool:
    """Whether two storages change places: `a.data, b.data = b.data, a.data`."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=[_, _] as targets)], value=ast.Tuple(elts=[_, _] as values)):
            given, taken = ([ast.unparse(_kept(each)) for each in side] for side in (targets, values))
            return given == taken[::-1]
    return False


def _is_selection(value: ast.expr, tensor: ast.expr) -> bool:
    """Whether a tensor is left with some of its own values, as where a layer is pruned: `bn.bias.data = bn.bias.data[kept]`."""
    match _kept(value):
        case ast.Subscript(value=ast.Attribute(value=owner, attr="data")):
            return ast.dump(owner) == ast.dump(tensor)
    return False


def _is_masked(value: ast.expr) -> bool:
    """Whether a value is chosen from another one by what is called a mask, or is to be kept."""
    while isinstance(value, ast.Subscript):
        names = (part for part in ast.walk(value.slice) if isinstance(part, (ast.Name, ast.Attribute)))
        if any(_PRUNING.search(last_name(name)) for name in names):
            return True
        value = value.value
    return False


def _kept(value: ast.expr) -> ast.expr:
    """A value without copies around it: ``w.data`` of ``w.data.clone().detach()``."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _KEEPS:
        value = value.func.value
    return value


def _walks_items(binding: Binding) -> bool:
    match binding:
        case Binding(form=Form.LOOP, value=ast.Call(func=ast.Attribute(attr=method))):
            return method in _ITEMS
    return False
