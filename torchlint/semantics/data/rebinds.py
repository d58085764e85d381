"""Assignments to a tensor's ``.data``, and which of them can be copies into the tensor instead."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeGuard, TypeVar

from torchlint.fact import NOTHING, Fact, known
from torchlint.semantics import Binding, Form, Grad, Semantics, Type
from torchlint.semantics.autograd.no_grad_runs import NoGradRuns, is_suspending
from torchlint.semantics.certainty.layers import Layers
from torchlint.semantics.code.later_reads import LaterReads
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.data.accesses import DataAccesses
from torchlint.semantics.data.beginnings import Beginnings
from torchlint.semantics.data.harmless_rebinds import HarmlessRebinds
from torchlint.semantics.data.masked_weights import MaskedWeights
from torchlint.semantics.data.recomputed import RecomputedWeights
from torchlint.semantics.data.roles import Role
from torchlint.semantics.memory.origins import Origins
from torchlint.semantics.memory.reads import Reads
from torchlint.semantics.pending.handles import Handles
from torchlint.semantics.pending.projected import ProjectedWeights
from torchlint.semantics.pending.unsaved import Unsaved
from torchlint.semantics.purpose import Purpose

Node = TypeVar("Node")

_CHANGES_FORM = frozenset(
    {
        *("half", "float", "double", "bfloat16", "int", "long", "cuda", "cpu", "to", "type", "type_as", "view", "reshape", "t"),
        *("transpose", "permute", "squeeze", "unsqueeze", "narrow", "expand", "contiguous", "new", "pin_memory", "flatten"),
        *("repeat", "index_select", "gather", "masked_select"),
    }
)
"""Methods whose result has another type, device or shape than the tensor: copying it back would undo what they are for."""
_CASTS = frozenset({"half", "float", "double", "bfloat16", "int", "long", "short", "byte", "bool"})
_TURNS = frozenset({"permute", "transpose", "t"})
_DTYPE = re.compile(r"^torch\.(b?float|u?int|complex|half|double|long|short|bool)\w*$|(^|[._])d_?type$")
"""Names of dtypes: torch's, and those of variables."""
_PARAMETER = frozenset({"p", "param", "params", "parameter", "parameters", "w", "weight", "weights", "b", "bias"})
"""Words in the names of parameters."""
_FACTORIES = frozenset(
    f"torch.{name}"
    for name in ("zeros", "ones", "full", "rand", "randn", "eye", "tensor", "Tensor", "FloatTensor", "linspace", "arange")
)
_RESIZES = frozenset({"interpolate", "upsample", "pad", "resize", "resize_", "resample"})
_WALKS = frozenset({"parameters", "named_parameters", "modules", "named_modules", "children", "buffers", "named_buffers"})


@dataclass(frozen=True, eq=False, slots=True)
class Rebind(Generic[Node]):
    """An assignment to ``data``, the ``x.data`` of a ``tensor`` ``x``.

    ``initialiser`` is the call of ``x.data = init.normal_(x.data)``, which does it all, where what it ``rests_on`` holds.
    ``copied`` is the value of an
    assignment that ``x.copy_(value)`` can stand for; ``reads`` are the ``.data`` in it that a copy does not need where autograd
    is off, and ``detached`` those that ``.detach()`` can stand for. Where ``takes_value``, the value can be assigned to ``x``
    instead: a gradient, or a name that is given another form, ``x.data = x.data.cuda()``. One that ``is_meant`` gives a tensor
    its own values in another dtype or size, or a model the first values, which are made on the spot: nothing goes wrong there.
    """

    data: Node
    tensor: Node
    initialiser: Node | None
    rests_on: Fact
    copied: Node | None
    reads: tuple[Node, ...]
    detached: tuple[Node, ...]
    takes_value: bool
    is_meant: bool


class DataRebinds:
    """Tells what is assigned to the ``.data`` of tensors."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._accesses = semantics.of(DataAccesses)
        self._reads = semantics.of(Reads)
        self._layers = semantics.of(Layers)
        self._unsaved = semantics.of(Unsaved)
        self._later_reads = semantics.of(LaterReads)
        self._beginnings = semantics.of(Beginnings)
        self._harmless = semantics.of(HarmlessRebinds)

    @cached_property
    def all(self) -> dict[ast.Attribute, Rebind[ast.expr]]:
        """The assignments to the ``.data`` of tensors, by that."""
        found = (node for node, access in self._accesses.all.items() if access.role is Role.REBIND)
        return {node: self._rebind(node) for node in found}

    @cached_property
    def meant(self) -> set[ast.stmt]:
        """The assignments that give a tensor another dtype or size, or its first values, on purpose."""
        return {self._tree.statement(node) for node, rebind in self.all.items() if rebind.is_meant}

    def within(self, statements: list[ast.stmt]) -> list[Rebind[ast.expr]]:
        """The assignments among some statements, and among the statements that are parts of these."""
        found = self._accesses.within(statements)
        return [self.all[access.node] for access in found if isinstance(access.node, ast.Attribute) and access.node in self.all]

    def runs(self, *, is_left: Callable[[ast.expr], bool], stands_alone: Callable[[ast.stmt], bool]) -> NoGradRuns:
        """The runs of assignments that can be copies under one ``no_grad``.

        ``is_left`` tells of a ``.data`` whether it is to stay as it is.
        """
        statements = {
            self._tree.statement(node)
            for node, rebind in self.all.items()
            if rebind.copied is not None and not is_left(node) and not is_suspending(self._tree.statement(node))
        }
        return NoGradRuns(self._tree, statements, (), stands_alone)

    def _rebind(self, node: ast.Attribute) -> Rebind[ast.expr]:
        statement = self._tree.statement(node)
        initialiser = self._initialiser(statement)
        takes_value = initialiser is None and self._takes_value(statement, node)
        copied = self._copied(statement, node) if initialiser is None and not takes_value else None
        reads, detached = self._other_reads(node, statement, takes_value=takes_value)
        rests_on = self._same_tensor(node.value, statement) if initialiser is not None else NOTHING
        is_meant = initialiser is None and self._is_meant(statement, node, may_move=not takes_value)
        return Rebind(node, node.value, initialiser, rests_on, copied, reads, detached, takes_value, is_meant)

    def _same_tensor(self, tensor: ast.expr, statement: ast.stmt) -> Fact:
        """Whether what is initialised is the tensor that is assigned to, and none that a backward still needs unchanged."""
        is_told_by_names = not any(isinstance(part, (ast.Call, ast.Await)) for part in ast.walk(tensor))
        same = known(is_told_by_names, f"`{ast.unparse(tensor)}` may be another tensor each time")
        same &= self._layers.fact(tensor) & self._semantics.of(Handles).fact(tensor, statement)
        return same & self._unsaved.fact(tensor, statement)

    def _initialiser(self, statement: ast.stmt) -> ast.Call | None:
        """The call in ``p.data = init.normal_(p.data)``, which does it all."""
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(attr="data", value=tensor)], value=ast.Call(func=function, args=[first, *_]) as call
            ):
                initialised = first.value if _is_data(first) else first
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("torch.nn.init.") and ast.dump(initialised) == ast.dump(tensor):
                    return call
        return None

    def _copied(self, statement: ast.stmt, target: ast.Attribute) -> ast.expr | None:
        """The value of an assignment to one target that ``copy_`` can stand for."""
        if not isinstance(statement, ast.Assign) or statement.targets != [target]:
            return None
        if _is_other_form(statement.value, target.value) or self._is_resized(statement.value, target.value):
            return None
        if self._harmless.is_pruned(statement.value):
            return None  # of another shape
        if self._is_kept(target):
            return None
        return statement.value

    def _takes_value(self, statement: ast.stmt, target: ast.Attribute) -> bool:
        """Whether a value can be assigned to the tensor itself: to a gradient, or to the name of what is given another form."""
        if not isinstance(statement, ast.Assign) or statement.targets != [target]:
            return False
        match target.value:
            case ast.Attribute(attr="grad"):
                return True
            case ast.Name() as name if _is_other_form(statement.value, name) and not self._is_parameter(name):
                if self._harmless.is_item_of(name):
                    return False
                return self._later_reads.follow(statement, name)
        return False

    def _is_meant(self, statement: ast.stmt, target: ast.Attribute, *, may_move: bool) -> bool:
        """Whether a tensor is given another dtype or size on purpose, with its own values, its first values, or itself.

        So is another device, where the tensor ``may_move``.
        """
        value = getattr(statement, "value", None)
        if not isinstance(statement, ast.Assign) or not isinstance(value, ast.expr):
            return False
        if self._is_made_here(value, target.value) and self._tree.function(target) is not None:
            if self._beginnings.sets(target.value, target):
                return True
        if self._harmless.is_of_checked_form(statement, target.value) and self._beginnings.sets(target.value, target):
            return True
        return (
            self._is_without_training(target)
            or self._semantics.of(Purpose).is_trial(target)
            or self._semantics.of(Purpose).is_comparison(target)
            or self._semantics.of(ProjectedWeights).is_one(statement)
            or self._harmless.is_first_of_constructor(value, target)
            or self._may_be_itself(value, target.value)
            or self._is_cast(value, target.value, may_move=may_move)
            or self._semantics.of(MaskedWeights).are_masked_by(target)
            or self._semantics.of(MaskedWeights).are_pruned_by(target)
            or self._semantics.of(RecomputedWeights).is_named(target.value)
            or self._harmless.is_harmless(statement, target, may_move=may_move)
            or self._is_resized(value, target.value)
        )

    def _is_made_here(self, value: ast.expr, tensor: ast.expr) -> bool:
        """Whether a value is made by a factory, or computed from that of ``tensor`` or of other parts of the same object."""
        if (made := self._scaled(value)) is not None and (self._semantics.qualified_name(made.func) or "") in _FACTORIES:
            return not self._harmless.is_given_weights(made)
        is_own = _is_of_self(tensor)
        return isinstance(_turned(value), (ast.Call, ast.BinOp)) and any(
            ast.dump(part) == ast.dump(tensor) or (is_own and _is_of_self(part)) for part in ast.walk(value)
        )

    def _scaled(self, value: ast.expr) -> ast.Call | None:
        """The call whose result a value is, or is computed from by numbers: ``torch.randn(4)`` of ``torch.randn(4) * 0.01``."""
        while isinstance(value, ast.BinOp):
            left, right = (self._semantics.kind(each).type is Type.NUMBER for each in (value.left, value.right))
            if left is right:
                return None
            value = value.right if left else value.left
        return value if isinstance(value, ast.Call) else None

    def _is_without_training(self, target: ast.Attribute) -> bool:
        """Whether values are set with autograd off in a file that trains nothing: a test that compares results."""
        calls = self._semantics.facts.calls
        return not any(calls.get(name) for name in ("backward", "step")) and self._semantics.no_grad.block(target)

    def _may_be_itself(self, value: ast.expr, tensor: ast.expr) -> bool:
        """Whether a value is what a function that is not shown gave for ``tensor``: that may be the very same memory."""
        match _turned(value):
            case ast.Call(func=ast.Name(id=name) as function, args=[first, *_]):
                known_name = self._semantics.qualified_name(function) or ""
                shown = {each.name for each in self._tree.of_type(ast.FunctionDef)}
                return (
                    name not in shown
                    and "." in known_name
                    and not known_name.startswith("torch.")
                    and (_plain(_turned(first)) == _plain(tensor))
                )
        return False

    def _is_cast(self, value: ast.expr, tensor: ast.expr, *, may_move: bool) -> bool:
        """Whether a value is that of ``tensor``, cast or moved, or under ``no_grad`` in another order, and nothing else."""
        casts = False
        while not _is_data(value) and ast.dump(value) != ast.dump(tensor):
            if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
                return False
            if value.func.attr not in ("detach", "contiguous", "clone"):
                is_moved = may_move and value.func.attr in ("to", "cuda", "cpu")
                is_turned = value.func.attr in _TURNS and self._semantics.no_grad.block(value)
                if not is_moved and not is_turned and not self._casts(value, value.func.attr):
                    return False
                casts = True
            value = value.func.value
        return casts and _plain(value) == _plain(tensor)

    def _casts(self, call: ast.Call, method: str) -> bool:
        """Whether a call of a method asks for another dtype, and for no device."""
        match call:
            case ast.Call(args=[], keywords=[]):
                return method in _CASTS
            case ast.Call(args=[ast.expr() as dtype], keywords=[]) | ast.Call(args=[], keywords=[ast.keyword("dtype", dtype)]):
                name = self._semantics.qualified_name(dtype) or ast.unparse(dtype)
                return method in ("to", "type") and _DTYPE.search(name) is not None
        return False

    def _is_resized(self, value: ast.expr, tensor: ast.expr) -> bool:
        """Whether a value was computed from that of ``tensor`` in another size."""
        found = self._semantics.of(Origins).of(value)
        return any(isinstance(part, ast.Call) and last_name(part.func) in _RESIZES for part in found) and any(
            _is_data(part) and ast.dump(part.value) == ast.dump(tensor) for part in found
        )

    def _is_parameter(self, name: ast.Name) -> bool:
        """Whether a name may stand for a parameter, which has to stay the same object."""
        if self._semantics.kind(name).grad is Grad.LEAF or not _PARAMETER.isdisjoint(name.id.lower().split("_")):
            return True
        bindings = self._semantics.bindings.reaching(name)
        return any(isinstance(binding.value, (ast.Attribute, ast.Subscript)) or _walks(binding) for binding in bindings)

    def _other_reads(
        self, target: ast.Attribute, statement: ast.stmt, *, takes_value: bool
    ) -> tuple[tuple[ast.expr, ...], tuple[ast.expr, ...]]:
        """The ``.data`` that are read in an assignment to one: those that are not needed any more, and the others."""
        found = [access for access in self._accesses.within([statement]) if access.role in (Role.READ, Role.HOST)]
        value = getattr(statement, "value", None)

        def is_needless(read: ast.expr) -> bool:
            if takes_value:
                return _is_of_same_or_gradient(read, target)
            return read is value or self._reads.makes_new_value(read)

        needless = [access.node for access in found if access.role is Role.READ and is_needless(access.node)]
        return tuple(needless), tuple(access.node for access in found if access.node not in needless)

    # --- what is kept ------------------------------------------------------------------------------------------------

    def _is_kept(self, target: ast.Attribute) -> bool:
        """Whether the memory of a tensor is kept elsewhere: copying into it would change what was kept."""
        return (self._owner(target), ast.dump(target.value)) in self._kept

    @cached_property
    def _kept(self) -> set[tuple[ast.AST | None, str]]:
        """The tensors, in which class or function, whose memory is kept elsewhere."""
        return {
            (self._owner(node), ast.dump(tensor))
            for node in self._tree.of_type(ast.Attribute, ast.Call)
            if (tensor := _aliased(node)) is not None and self._keeps(node)
        }

    def _owner(self, node: ast.AST) -> ast.AST | None:
        """The class that ``node`` stands in, whose methods back up and restore the same tensors, or else the function."""
        return self._tree.enclosing_class(node) or self._tree.function(node)

    def _keeps(self, node: ast.AST) -> bool:
        """Whether ``node`` is given a name or put into a container, as it is."""
        parent = self._tree.parent(node)
        match parent:
            case ast.Assign(targets=[ast.Attribute(attr="data")]):
                return False  # given to another tensor, which is a finding of its own
            case ast.Assign() | ast.AnnAssign() | ast.NamedExpr() | ast.Dict() | ast.DictComp() | ast.ListComp():
                return True
            case ast.Tuple() | ast.List() | ast.IfExp():
                return self._keeps(parent)
            case ast.Call(func=ast.Attribute(attr="append" | "insert" | "add" | "setdefault")):
                return True
        return False


def _is_data(node: ast.expr) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _turned(value: ast.expr) -> ast.expr:
    """A value without the transpositions around it: ``x`` of ``x.T``."""
    while True:
        match value:
            case ast.Attribute(value=inner, attr="T" | "mT") | ast.Call(func=ast.Attribute(value=inner, attr="t"), args=[]):
                value = inner
            case _:
                return value


def _is_of_self(node: ast.AST) -> bool:
    """Whether something is a part of ``self``, or of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
        if isinstance(node, ast.Name):
            return node.id == "self"
    return False


def _plain(tensor: ast.expr) -> str:
    """What tells a tensor from others, without its ``.data``."""
    return ast.dump(tensor.value if _is_data(tensor) else tensor)


def _is_of_same_or_gradient(data: ast.expr, target: ast.Attribute) -> bool:
    """Whether a ``.data`` is that of the same tensor as ``target`` is, or of a gradient."""
    match data:
        case ast.Attribute(value=ast.Attribute(attr="grad")):
            return True
        case ast.Attribute(value=tensor):
            return ast.dump(tensor) == ast.dump(target.value)
    return False


def _aliased(node: ast.AST) -> ast.expr | None:
    """The tensor whose memory ``node`` shares: ``x`` of ``x.data`` and of ``x.detach()``."""
    match node:
        case (
            ast.Attribute(value=tensor, attr="data", ctx=ast.Load()) | ast.Call(func=ast.Attribute(value=tensor, attr="detach"))
        ):
            return tensor
    return None


def _is_other_form(value: ast.expr, tensor: ast.expr) -> bool:
    """Whether a value is ``tensor`` in another form, with another type, device or shape."""
    if not any(ast.dump(part) == ast.dump(tensor) for part in ast.walk(value)):
        return False
    match value:
        case ast.Subscript() | ast.Attribute(attr="T" | "mT" | "H" | "mH"):
            return True
        case ast.Call(func=ast.Attribute(attr=method)):
            return method in _CHANGES_FORM
    return False


def _walks(binding: Binding) -> bool:
    """Whether a binding is the variable of a loop over the parts of a model, or over what may be a list of them."""
    if binding.value is None or binding.form is not Form.LOOP:
        return False
    calls = [part.func for part in ast.walk(binding.value) if isinstance(part, ast.Call)]
    return any(isinstance(function, ast.Attribute) and function.attr in _WALKS for function in calls)
