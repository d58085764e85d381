"""Changes of tensors through their ``.data``, and what it takes to change the tensors themselves."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import Fact, known, unknown
from torchlint.semantics import Form, Grad, Kind, Semantics
from torchlint.semantics.autograd.no_grad_runs import NoGradRuns, is_suspending
from torchlint.semantics.certainty.layers import Layers
from torchlint.semantics.code.tree import given_to
from torchlint.semantics.data.accesses import DataAccesses
from torchlint.semantics.data.beginnings import Beginnings
from torchlint.semantics.data.roles import Access, Change, Means, Role
from torchlint.semantics.memory.changes import RESHAPES_IN_PLACE
from torchlint.semantics.memory.reads import Reads
from torchlint.semantics.pending.autocast import Autocast
from torchlint.semantics.pending.fresh import Fresh
from torchlint.semantics.pending.handles import Handles
from torchlint.semantics.pending.quiet import Quiet
from torchlint.semantics.pending.still_values import StillValues
from torchlint.semantics.pending.survivors import Survivors
from torchlint.semantics.pending.unsaved import Unsaved

Node = TypeVar("Node")


class Remedy(Enum):
    """What makes a change through ``x.data`` one that autograd knows of."""

    NOTHING = auto()  # `x` can be changed
    NO_GRAD = auto()  # `x` can be changed where autograd is off
    INITIALISE = auto()  # `x` can be given to an initialiser
    DETACH = auto()  # `x.detach()` can be
    ANEW = auto()  # a new tensor can take the name of `x`
    RESHAPE = auto()  # `x`, whose `.data` alone is given another shape, can be given it itself
    NONE = auto()  # it cannot


@dataclass(frozen=True, eq=False, slots=True)
class DataChange(Generic[Node]):
    """A change of a ``tensor`` through ``data``, its ``.data``: ``node`` is the call that makes it, or what is assigned to.

    ``name`` is the local name that it is made through, if it is. ``augmentable`` is whether ``tensor += x`` can be said.
    ``reads`` are the other ``.data`` in its statement that are not needed either, if the remedy is to turn autograd off, and
    ``detached`` those that ``.detach()`` can stand for.
    ``rests_on`` is what has to hold so that nothing that works may raise or change by the remedy.
    ``is_beginning`` is whether it sets what a model starts with, so that no gradient goes wrong; ``initialiser`` is the
    function of ``torch.nn.init`` that does the same, if the remedy is to call it. ``is_of_copy`` is whether what it changes
    was copied just before.
    """

    node: Node
    data: Node
    tensor: Node
    means: Means
    remedy: Remedy
    rests_on: Fact
    name: Node | None
    augmentable: bool
    reads: tuple[Node, ...]
    detached: tuple[Node, ...]
    is_beginning: bool
    initialiser: str
    is_of_copy: bool


class DataChanges:
    """Tells what changes tensors through their ``.data``."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._accesses = semantics.of(DataAccesses)
        self._reads = semantics.of(Reads)
        self._layers = semantics.of(Layers)
        self._unsaved = semantics.of(Unsaved)
        self._handles = semantics.of(Handles)
        self._quiet = semantics.of(Quiet)
        self._values = semantics.of(StillValues)
        self._fresh = semantics.of(Fresh)
        self._survivors = semantics.of(Survivors)
        self._beginnings = semantics.of(Beginnings)
        self._autocast = semantics.of(Autocast)
        self._known_beginnings: dict[ast.stmt, bool] = {}

    @cached_property
    def at(self) -> dict[ast.expr, list[DataChange[ast.expr]]]:
        """The changes, by the nodes that make them; one call may change several tensors."""
        found: dict[ast.expr, list[DataChange[ast.expr]]] = defaultdict(list)
        for change in (change for changes in self._of.values() for change in changes):
            found[change.node].append(change)
        return dict(found)

    def within(self, statements: Iterable[ast.stmt]) -> list[DataChange[ast.expr]]:
        """The changes through the ``.data`` in some statements, and in the statements that are parts of these."""
        return [change for access in self._accesses.within(statements) for change in self._of[access]]

    def sets_beginning(self, statement: ast.stmt) -> bool:
        """Whether a statement sets, through a ``.data``, what a model starts with."""
        if statement not in self._known_beginnings:
            self._known_beginnings[statement] = any(change.is_beginning for change in self.within([statement]))
        return self._known_beginnings[statement]

    def runs(
        self,
        *,
        safe: bool,
        is_left: Callable[[ast.expr], bool],
        stands_alone: Callable[[ast.stmt], bool],
    ) -> NoGradRuns:
        """The runs of statements that go under one ``no_grad`` to mend the changes that are ``safe`` to, or the others.

        Where they are, nothing in a run needs autograd. ``is_left`` tells of a ``.data`` whether it is to stay as it is.
        """
        changes = [change for at in self.at.values() for change in at if not is_left(change.data)]
        needy, bearing = set(), set()
        for change in changes:
            statement = self._tree.statement(change.data)
            if change.remedy is Remedy.NO_GRAD and change.rests_on.is_certain is safe:
                needy.add(statement)
            elif self._is_mended_alone(change, statement):
                if not safe or (change.rests_on & self._quiet.fact(statement)).is_certain:
                    bearing.add(statement)
        is_plain = (lambda header: self._quiet.of_header(header).is_certain) if safe else None
        return NoGradRuns(self._tree, needy, bearing, stands_alone, is_plain)

    def _is_mended_alone(self, change: DataChange[ast.expr], statement: ast.stmt) -> bool:
        """Whether a change is a statement that can be mended under ``no_grad`` as well as without it."""
        is_alone = change.remedy in (Remedy.NOTHING, Remedy.INITIALISE)
        return is_alone and self._is_whole_statement(change.node, statement)

    @cached_property
    def _of(self) -> dict[Access[ast.expr], list[DataChange[ast.expr]]]:
        return {access: list(self._changes(node, access)) for node, access in self._accesses.all.items()}

    def _changes(self, data: ast.Attribute, access: Access[ast.expr]) -> Iterator[DataChange[ast.expr]]:
        if access.role is not Role.MUTATION:
            return
        tensor = data.value
        for change in access.changes:
            remedy, rests_on = self._remedy(access, change)
            is_beginning = change.means is not Means.RESHAPED and self._beginnings.sets(tensor, change.node)
            initialiser = _initialiser(change.node) if remedy is Remedy.INITIALISE else ""
            reads, detached = self._other_reads(data, remedy, rests_on)
            yield DataChange(
                change.node,
                data,
                tensor,
                change.means,
                remedy,
                rests_on,
                change.name,
                self._is_augmentable(tensor),
                reads,
                detached,
                is_beginning,
                initialiser,
                self._beginnings.is_new_copy(tensor, change.node),
            )

    def _is_augmentable(self, tensor: ast.expr) -> bool:
        """Whether ``tensor += x`` can be said and changes the tensor alone: of a local name.

        An attribute is assigned to as well, which a property, a named tuple or a parametrized layer does not take.
        """
        if not isinstance(tensor, ast.Name):
            return False
        scope = self._semantics.bindings.scope_of(tensor)
        return tensor.id in scope.bindings or tensor.id in scope.outer_names

    def _other_reads(
        self, data: ast.Attribute, remedy: Remedy, rests_on: Fact
    ) -> tuple[tuple[ast.expr, ...], tuple[ast.expr, ...]]:
        """The other ``.data`` that are read in the statement of a change, if they can go with its own.

        First those that are not needed where autograd is off, then those that ``.detach()`` can stand for. A remedy that rests
        on certain facts leaves alone what is not certain to be a tensor.
        """
        found = [
            other
            for other in self._accesses.within([self._tree.statement(data)])
            if other.role in (Role.READ, Role.HOST) and not self._is_in_lambda(other.node)
        ]
        is_off = remedy is Remedy.NO_GRAD or self._semantics.no_grad.block(data)
        needless = [other.node for other in found if other.role is Role.READ and is_off and self._goes_into_values(other.node)]
        if rests_on.is_certain:
            return tuple(node for node in needless if self._is_tensors(node)), ()
        return tuple(needless), tuple(other.node for other in found if other.node not in needless)

    def _goes_into_values(self, data: ast.expr) -> bool:
        """Whether only the values of a ``.data`` go into what its statement makes or changes."""
        match self._tree.parent(data):
            case ast.Assign(targets=[ast.Subscript()], value=value):
                return value is data
        return self._reads.makes_new_value(data) and self._autocast.leaves(data)

    def _is_tensors(self, data: ast.expr) -> bool:
        """Whether a ``.data`` is that of a tensor for certain."""
        return isinstance(data, ast.Attribute) and self._layers.fact(data.value).is_certain

    def _is_in_lambda(self, node: ast.expr) -> bool:
        """Whether a node is part of a lambda of its statement, and not evaluated where that runs."""
        lambdas = (each for each in self._tree.ancestors(node) if isinstance(each, ast.Lambda))
        return any(self._tree.inside(each, self._tree.statement(node)) for each in lambdas)

    # --- the remedy --------------------------------------------------------------------------------------------------

    def _remedy(self, access: Access[ast.expr], change: Change[ast.expr]) -> tuple[Remedy, Fact]:
        """The remedy for a change, and what has to hold for it to be right."""
        data, tensor = access.node, _owner(access.node)
        statement = self._tree.statement(change.node)
        same = self._layers.fact(tensor) & self._handles.fact(tensor, change.node)
        rests_on = same & self._unsaved.fact(tensor, change.node)
        first = access.changes[0]
        if first.means is Means.INITIALISER:
            is_first = isinstance(first.node, ast.Call) and first.node.args[0] is data
            is_whole = self._is_whole_statement(first.node, statement) or self._is_assigned_back(first.node, tensor)
            rests_on &= known(is_whole or not is_first, "what the initialiser returns is used, and now is the tensor itself")
            return Remedy.NOTHING if is_first else Remedy.DETACH, rests_on
        if first.means is Means.RESHAPED and self._is_whole_statement(first.node, statement) and self._is_reshaped(data):
            may_reshape = access.receiver.grad not in (Grad.LEAF, Grad.GRAPH) and not self._is_weight(tensor)
            rests_on &= unknown(f"`{ast.unparse(tensor)}` has another shape then, and may not be given one if it requires grad")
            return Remedy.RESHAPE if may_reshape else Remedy.NONE, rests_on
        is_direct = first.means in (Means.METHOD, Means.STORE, Means.AUGMENTED)
        if not is_direct or not self._is_whole_statement(first.node, statement):
            is_alias = change.means is Means.ALIAS
            rests_on &= known(not is_alias, "other changes through the name may be noticed by a backward, too")
            rests_on &= known(first.means is not Means.RESHAPED, "a detached tensor may not be reshaped in place")
            return Remedy.DETACH, rests_on
        if self._semantics.no_grad.block(data):
            return Remedy.NOTHING, rests_on & self._stays_off
        if self._is_masking(first.node, tensor) and self._is_result(tensor, access.receiver):
            return Remedy.ANEW, unknown(
                f"the backward then goes through the masking; other names of `{ast.unparse(tensor)}` do not"
            )
        if isinstance(tensor, ast.Attribute) and tensor.attr == "grad":
            return Remedy.NOTHING, rests_on & self._leaves_graphs_alone(tensor, statement)
        is_leaf = isinstance(tensor, ast.Name) and self._semantics.words.speak_of("requires_grad_")  # it may be made one
        has_graph = access.receiver.grad is not Grad.NONE or is_leaf or self._may_take_graph(statement, data)
        if not has_graph:
            graphless = rests_on & self._leaves_graphs_alone(tensor, statement)
            if graphless.is_certain:
                return Remedy.NOTHING, graphless
        if self._can_be_initialised(statement) and self._beginnings.sets(tensor, change.node):
            return Remedy.INITIALISE, rests_on
        rests_on &= self._quiet.fact(statement)
        return Remedy.NO_GRAD if has_graph or rests_on.is_certain else Remedy.NOTHING, rests_on

    def _is_reshaped(self, data: ast.expr) -> bool:
        """Whether a ``.data`` itself is given another shape, and not a view of it."""
        method = self._tree.parent(data)
        return isinstance(method, ast.Attribute) and method.attr in RESHAPES_IN_PLACE

    @staticmethod
    def _is_weight(tensor: ast.expr) -> bool:
        return isinstance(tensor, ast.Attribute) and tensor.attr in ("weight", "bias")

    def _can_be_initialised(self, statement: ast.stmt) -> bool:
        """Whether a statement can be a call of an initialiser, and does not stand between others that go under ``no_grad``."""
        if not _initialiser(statement):
            return False
        block = self._tree.block(statement)
        place = block.index(statement)
        before = next((each for each in reversed(block[:place]) if not _initialiser(each)), None)
        behind = next((each for each in block[place + 1 :] if not _initialiser(each)), None)
        return not (self._needs_block(before) and self._needs_block(behind))

    def _needs_block(self, statement: ast.stmt | None) -> bool:
        """Whether a statement changes a ``.data`` by what is no initialiser, or is a block under ``no_grad`` already."""
        match statement:
            case ast.With(items=[ast.withitem(context_expr=ast.Call(func=function))]):
                return self._semantics.qualified_name(function) == "torch.no_grad"
        if not isinstance(statement, (ast.Expr, ast.Assign, ast.AugAssign)):
            return False
        accesses = self._accesses.within([statement])
        changes = [change for access in accesses for change in access.changes]
        is_initialised = bool(changes) and changes[0].means is Means.INITIALISER
        return not is_initialised and any(access.role in (Role.MUTATION, Role.REBIND) for access in accesses)

    @staticmethod
    def _is_masking(change: ast.expr, tensor: ast.expr) -> bool:
        """Whether values of a local name are masked, which a softmax makes of no account for the backward pass as well."""
        match change:
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="data"), attr="masked_fill_")):
                return isinstance(tensor, ast.Name)
        return False

    def _is_result(self, tensor: ast.expr, kind: Kind) -> bool:
        """Whether a tensor is what an operation gave: one with a graph, or a function's own of what may have one."""
        if kind.grad is Grad.GRAPH or not kind.is_tensor or kind.grad is not Grad.UNKNOWN:
            return kind.grad is Grad.GRAPH
        bindings = self._semantics.bindings.reaching(tensor) if isinstance(tensor, ast.Name) else ()
        return bool(bindings) and all(each.form is Form.ASSIGNMENT for each in bindings)

    def _is_assigned_back(self, call: ast.expr, tensor: ast.expr) -> bool:
        """Whether an initialiser's result is assigned to the ``.data`` of the same tensor, which is a finding of its own."""
        match self._tree.parent(call):
            case ast.Assign(targets=[ast.Attribute(attr="data", value=target)]):
                return ast.dump(target) == ast.dump(tensor)
        return False

    def _leaves_graphs_alone(self, tensor: ast.expr, statement: ast.stmt) -> Fact:
        """Whether neither a tensor nor what is put into it has anything to do with a graph.

        It is asked of all names of a statement and of the whole program, which has to be in sight; `graphs.graphless` asks
        it of one local value, by the uses of its name, and takes arguments and attributes to carry one.
        """
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and not self._values.is_plain(part) and not self._is_taken_out(part, tensor):
                return unknown(f"`{part.id}` may carry graph")
        if isinstance(tensor, ast.Attribute) and tensor.attr == "grad":
            return self._survivors.kept
        return self._fresh.has_no_graph(tensor, statement)

    def _is_taken_out(self, name: ast.Name, tensor: ast.expr) -> bool:
        """Whether a name stands for the changed tensor, or for one whose ``.data`` or ``.grad`` is read."""
        parent = self._tree.parent(name)
        is_data = isinstance(parent, ast.Attribute) and parent.attr in ("data", "grad")
        return is_data or isinstance(name.ctx, ast.Store) or self._tree.inside(name, tensor)

    @cached_property
    def _stays_off(self) -> Fact:
        """Whether autograd stays off where a block turns it off: nothing in the file turns it on."""
        words = self._semantics.words
        return known(
            not (words.speak_of("enable_grad") or words.speak_of("set_grad_enabled")), "autograd may be switched on again here"
        )

    @staticmethod
    def _is_whole_statement(change: ast.expr, statement: ast.stmt) -> bool:
        """Whether a change is all that its statement is there for, so that turning autograd off changes nothing else."""
        match statement:
            case ast.Expr(value=whole) | ast.Assign(targets=[whole]) | ast.AugAssign(target=whole):
                return whole is change and not is_suspending(statement)
        return False

    def _may_take_graph(self, statement: ast.stmt, data: ast.expr) -> bool:
        """Whether a tensor without grad would become part of a graph by a value that ``statement`` puts into it."""
        values: list[ast.expr] = []
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            values.append(statement.value)
        for part in ast.walk(statement):
            if isinstance(part, ast.Call) and self._tree.inside(data, part.func):
                values += given_to(part)
        return any(self._may_carry_graph(value) for value in values)

    def _may_carry_graph(self, value: ast.expr) -> bool:
        kind = self._semantics.kind(value)
        if kind.is_tensor:
            return kind.grad is not Grad.NONE
        return not kind.known


def _owner(data: ast.expr) -> ast.expr:
    assert isinstance(data, ast.Attribute)
    return data.value


def _initialiser(change: ast.expr | ast.stmt) -> str:
    """The function of ``torch.nn.init`` that does what ``x.data.normal_(…)`` or ``x.data[0].zero_()`` does; empty if none."""
    match change:
        case ast.Expr(value=ast.Call() as call):
            return _initialiser(call)
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="data") | ast.Subscript(value=ast.Attribute(attr="data")), attr=method),
            args=args,
            keywords=words,
        ):
            given = [word.arg for word in words]
            if any(isinstance(each, ast.Starred) for each in args):
                return ""
            match method, args:
                case "zero_", []:
                    return "zeros_" if not given else ""
                case "fill_", [ast.Constant(value=0 | 1 as value)]:
                    return "ones_" if value else "zeros_"
                case "fill_", _:
                    return "constant_" if len(args) + len(given) == 1 and given in ([], ["value"]) else ""
                case "normal_", _:
                    return "normal_" if {*given} <= {"mean", "std"} and len(args) + len(given) <= 2 else ""
                case "uniform_", _:
                    return "uniform_" if {*given} <= {"to"} and len(args) + len(given) <= 2 else ""
    return ""
