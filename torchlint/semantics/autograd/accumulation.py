"""Values that carry the autograd graph and are added to something that outlives the loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import Answer, Fact, all_of, unknown
from torchlint.semantics import Basis, Binding, Form, Grad, Kind, Semantics, Type
from torchlint.semantics.autograd.accumulators import Accumulation, Fate, KeptLosses, added_to, root_of
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.autograd.later_backwards import LaterBackwards, asks_for_graph
from torchlint.semantics.autograd.paths import connected, evaluates
from torchlint.semantics.autograd.resets import FEW, Resets
from torchlint.semantics.code.tree import FUNCTIONS, last_name, walk_body
from torchlint.semantics.graphs.carried_values import CarriedValues
from torchlint.semantics.graphs.kept_changes import KeptChanges
from torchlint.semantics.graphs.kept_values import KeptValues
from torchlint.semantics.graphs.likely.gradients_alone import GradientsAlone
from torchlint.semantics.graphs.spent_graphs import SpentGraphs
from torchlint.semantics.memory.meters import Meters
from torchlint.semantics.observers.unrecorded_calls import UnrecordedCalls
from torchlint.semantics.purpose import is_evaluation
from torchlint.semantics.unrecorded.gatherings import Gatherings
from torchlint.semantics.unrecorded.kept_items import KeptItems
from torchlint.semantics.unrecorded.named_numbers import NamedNumbers
from torchlint.semantics.unrecorded.plain_values import PlainValues

Node = TypeVar("Node")

_ADDING_METHODS = frozenset({"append", "appendleft", "insert"})
_MOVES = frozenset({"cpu", "cuda", "to", "float", "double", "half", "clone", "contiguous"})
_LOSS_NAME = re.compile(r"(?!.*_(val|value|item|np|num|str|avg)$).*(loss|mse|entropy|nll|bce|kld?($|_)|penalty)", re.IGNORECASE)
_OF_NUMBERS = re.compile(r"(^|_)(dicts?|info|infos|logs?|stats|items|metrics)(_|$)", re.IGNORECASE)
"""Names of what comes beside a loss, to be shown: as often of numbers."""
_STEP_HOOKS = frozenset({"training_step"})


@dataclass(frozen=True, eq=False, slots=True)
class Leak(Generic[Node]):
    """A statement that adds ``values`` with their graph to ``target``.

    ``kept`` is whether the target keeps the values themselves and not their sum. ``as_numbers`` are the parts to take the
    number of, None where a number would not do; ``as_tensors`` those to cut from their graph. What is not ``mendable`` may be
    something that has no such method. ``graph_unread`` is whether nobody asks for the graph of what is added, and
    ``read_as_numbers`` whether everybody who reads it makes a number of it. ``propagated_there`` is whether the values are
    back-propagated as the last items of the list, and have to be so before they are kept without their graph.
    """

    target: Node
    values: tuple[Node, ...]
    kept: bool
    as_numbers: tuple[Node, ...] | None
    as_tensors: tuple[Node, ...]
    mendable: bool
    graph_unread: Fact
    read_as_numbers: Fact
    propagated_there: bool


class Accumulations:
    """Finds what accumulates graph in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._fate = semantics.of(Fate)
        self._kept_losses = semantics.of(KeptLosses)
        self._gatherings = semantics.of(Gatherings)
        self._resets = semantics.of(Resets)
        self._meters = semantics.of(Meters)
        self._later = semantics.of(LaterBackwards)
        self._kept_items = semantics.of(KeptItems)
        self._gradients = semantics.of(GradientsAlone)
        self._candidates: list[tuple[Accumulation, list[ast.expr]]] = []

    @cached_property
    def leaks(self) -> dict[ast.stmt, Leak[ast.expr]]:
        """The statements that leak, but for those that do only because of another."""
        for node in self._semantics.tree.of_type(ast.AugAssign, ast.Assign, ast.Expr):
            match node:
                case ast.AugAssign():
                    self._augmented(node)
                case ast.Assign():
                    self._assigned(node)
                case ast.Expr():
                    self._called(node)
        sums = {ast.unparse(found.root) for found, _ in self._candidates if not found.kept}
        return {
            found.statement: self._leak(found, values)
            for found, values in self._candidates
            if not all(self._follows_from(value, sums, found) for value in values)
        }

    # --- the forms ---------------------------------------------------------------------------------------------------

    def _augmented(self, node: ast.AugAssign) -> None:
        """``total += loss``, ``stats["loss"] += loss``."""
        root = root_of(node.target) if isinstance(node.op, (ast.Add, ast.Sub)) and not _is_data(node.target) else None
        if root is not None and not self._extends_list(node):
            self._consider(Accumulation(node, node.target, root, (node.value,), kept=False))

    def _extends_list(self, node: ast.AugAssign) -> bool:
        """Whether what a model gives is added to a list, which takes no number: it is a list, and as likely one of numbers."""
        kind, names = self._semantics.kind(node.value), self._semantics.bindings
        starts = names.lookup(node.target.id, names.scope_of(node.target)) if isinstance(node.target, ast.Name) else ()
        kinds = (self._semantics.inference.binding_kind(each) for each in starts if each.form is not Form.AUGMENTED)
        return kind.is_tensor and kind.loose and any(each.type is Type.SEQUENCE for each in kinds)

    def _assigned(self, node: ast.Assign) -> None:
        """``total = total + loss``, ``history[k] = loss``."""
        if len(node.targets) != 1 or _is_data(node.targets[0]) or (root := root_of(node.targets[0])) is None:
            return
        target = node.targets[0]
        if isinstance(node.value, ast.BinOp):
            name = target.id if isinstance(target, ast.Name) else ast.unparse(target)
            if (others := added_to(name, node.value)) is not None:
                self._consider(Accumulation(node, target, root, others, kept=False))
                return
        if isinstance(target, ast.Subscript) and self._varies(target):
            self._consider(Accumulation(node, target, root, (node.value,), kept=True))

    def _called(self, node: ast.Expr) -> None:
        """``losses.append(loss)``; ``meter.update(loss)``, where the meter's class adds it up."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=meter), args=[value, *_]) if self._is_metered(node, value):
                if (root := root_of(meter)) is not None:
                    self._consider(Accumulation(node, meter, root, (value,), kept=False, handed=True))
            case ast.Call(func=ast.Attribute(value=target, attr=method), args=[*_, value], keywords=[]) if (
                method in _ADDING_METHODS
            ):
                root = root_of(target)
                if root is not None and self._is_list(target, method) and not self._resets.are_few(node):
                    self._consider(Accumulation(node, target, root, (value,), kept=True))

    def _is_metered(self, node: ast.Expr, value: ast.expr) -> bool:
        """Whether a statement gives a back-propagated value to what adds it up in another file."""
        may_be = self._semantics.elsewhere.is_in_project and not isinstance(value, (ast.Constant, ast.JoinedStr))
        return may_be and self._has_graph(value) and self._is_backpropagated(value) and self._meters.add_up(node)

    def _is_list(self, target: ast.expr, method: str) -> bool:
        kind = self._semantics.kind(target)
        if kind.type is Type.SEQUENCE:
            return not self._is_bounded(target)
        return kind.type is Type.UNKNOWN and method == "append"

    def _is_bounded(self, target: ast.expr) -> bool:
        """Whether a deque forgets its oldest items."""
        bindings = self._semantics.bindings.reaching(target) if isinstance(target, ast.Name) else ()
        values = [binding.value for binding in bindings]
        if isinstance(target, ast.Attribute) and (owner := self._semantics.facts.self_class(target.value)) is not None:
            stores = [store for slot in self._semantics.facts.slots(owner, target.attr) for store in slot.stores]
            values = [getattr(self._semantics.tree.parent(store), "value", None) for store in stores]
        return any(isinstance(value, ast.Call) and any(word.arg == "maxlen" for word in value.keywords) for value in values)

    def _varies(self, target: ast.Subscript) -> bool:
        """Whether an index differs from round to round, so that the store keeps what the last round stored."""
        if self._semantics.kind(target.value).type not in (Type.MAPPING, Type.SEQUENCE):
            return False
        loop = next(self._semantics.tree.loops(target), None)
        if loop is None:
            return False
        if isinstance(loop, ast.For) and self._is_bounded_loop(loop, target):
            return False
        bound = {binding.name for binding in self._semantics.bindings.bound_in_loop(loop)}
        return any(isinstance(part, ast.Name) and part.id in bound for part in ast.walk(target.slice))

    def _is_bounded_loop(self, loop: ast.For, target: ast.Subscript) -> bool:
        """Whether an index goes through the same few values each time: the items of a dict, or of what is written out."""
        own = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        indices = {part.id for part in ast.walk(target.slice) if isinstance(part, ast.Name)}
        match loop.iter:
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict():
                is_short = True
            case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int(count))]):
                is_short = count <= FEW
            case ast.Call(func=ast.Attribute(attr="items" | "keys"), args=[]):
                is_short = True
            case _:
                is_short = self._semantics.kind(loop.iter).type is Type.MAPPING
        return is_short and indices <= own

    # --- the decision ------------------------------------------------------------------------------------------------

    def _consider(self, found: Accumulation) -> None:
        if self._is_volatile_at(found.statement):
            return  # autograd was off, and is again once `volatile` is replaced
        if found.kept and self._kept_losses.are_kept(found) and not self._resets.is_each_round(found):
            self._candidates.append((found, list(found.values)))
            return
        values = [value for value in found.values if self._has_graph(value)]
        if any(map(asks_for_graph, values)) or (found.kept and self._kept_items.have_none(found.root)):
            return
        if not values or self._resets.is_each_round(found) or self._semantics.of(Backpropagated).name(found.root):
            return
        if (
            self._semantics.no_grad.covers(found.statement)
            if not found.kept
            else self._gatherings.is_one(found.statement, found.root, found.values)
        ):
            return
        if (found.kept and self._is_of_model(found)) or self._later.are_of_callers(found.root):
            return
        if self._resets.is_of_each_model(found) or self._resets.is_beside_loss(found, self._semantics.of(Backpropagated).name):
            return
        used = any(self._is_backpropagated(value) for value in values)
        if self._outlives(found, used) and (used or self._fate.is_only_reported(found)):
            if self._semantics.of(UnrecordedCalls).are_all_of_evaluation(found.statement):
                return
            if not all(map(self._semantics.of(NamedNumbers).may_be, values)) and not all(map(self._gradients.are, values)):
                self._candidates.append((found, values))

    def _is_of_model(self, found: Accumulation) -> bool:
        """Whether a list lives in a method of a module that neither trains nor evaluates: what it computes is its callers'."""
        function = self._semantics.tree.function(found.statement)
        if not isinstance(found.root, ast.Name) or not isinstance(function, FUNCTIONS) or evaluates(function):
            return False
        owner = self._semantics.tree.parent(function)
        if not isinstance(owner, ast.ClassDef) or not self._semantics.facts.is_module(owner) or is_evaluation(function.name):
            return False
        called = {last_name(part.func) for part in walk_body(function.body) if isinstance(part, ast.Call)}
        return not called & {"backward", "manual_backward", "step"}

    def _is_volatile_at(self, statement: ast.stmt) -> bool:
        function = self._semantics.tree.function(statement)
        return any(self._semantics.tree.function(each) is function for each in self._volatile)

    @cached_property
    def _volatile(self) -> list[ast.keyword]:
        words = self._semantics.tree.of_type(ast.keyword)
        return [each for each in words if each.arg == "volatile" and ast.unparse(each.value) != "False"]

    def _follows_from(self, value: ast.expr, sums: set[str], found: Accumulation) -> bool:
        """Whether ``value`` carries graph only because a sum that is reported does: ``epochs.append(total_loss / n)``."""
        carrying = [
            part
            for part in connected(value, self._semantics.names)
            if isinstance(part, (ast.Name, ast.Attribute)) and self._has_graph(part)
        ]
        return bool(carrying) and all(
            ast.unparse(part) in sums and ast.unparse(part) != ast.unparse(found.root) for part in carrying
        )

    # --- the values --------------------------------------------------------------------------------------------------

    def _has_graph(self, node: ast.expr) -> bool:
        if isinstance(node, (ast.Tuple, ast.List)):
            return any(self._has_graph(element) for element in node.elts)
        if self._semantics.of(PlainValues).is_plain(node):
            return False
        kind = self._semantics.kind(node)
        if _is_unclear(kind):
            return self._is_likely_loss(node)
        of_loss = kind.is_tensor and bool(kind.scalar) and kind.grad is Grad.UNKNOWN
        return kind.carries_graph or (of_loss and self._is_computed_of_loss(node))

    def _is_computed_of_loss(self, node: ast.expr) -> bool:
        """Whether a number is made of what is back-propagated, and that is no data: the targets of a loss are that, too."""
        for part in connected(node, self._semantics.names):
            if isinstance(part, (ast.Name, ast.Attribute)) and self._semantics.of(Backpropagated).name(part):
                kind = self._semantics.kind(part)
                if kind.scalar or kind.carries_graph or self._semantics.of(PlainValues).is_computed(part):
                    return True
        return False

    def _is_likely_loss(self, value: ast.expr) -> bool:
        """Whether a value of unknown kind is a loss by what is done beside it.

        It is called one, and is back-propagated through other names (``loss = sum(losses); loss.backward()``) or was
        unpacked beside what is (``loss, mse = f(x)``); or it is the dict whose loss is (``out["loss"].backward()``).
        """
        if self._holds_loss(value):
            return True
        for part in connected(value, self._semantics.names):
            if isinstance(part, ast.Name) and _LOSS_NAME.match(part.id) and _is_unclear(self._semantics.kind(part)):
                if self._semantics.of(Backpropagated).name(part):
                    return True
                if _OF_NUMBERS.search(part.id) is None and self._is_beside_loss(part):
                    return True
        return False

    def _holds_loss(self, value: ast.expr) -> bool:
        if not isinstance(value, ast.Name) or self._semantics.kind(value).known:
            return False
        bindings = set(self._semantics.bindings.reaching(value))
        for root in self._semantics.of(Backpropagated).roots:
            match root:
                case ast.Subscript(value=ast.Name() as container, slice=ast.Constant(value=str())):
                    if bindings & set(self._semantics.bindings.reaching(container)):
                        return not self._semantics.of(PlainValues).is_cut_before(value, root)
        return False

    def _is_beside_loss(self, name: ast.Name) -> bool:
        for binding in self._semantics.bindings.reaching(name):
            others = [other for other in self._unpacked_with(binding) if not other.name.startswith(f"{binding.name}_")]
            if binding.path and any(self._is_loss(other) for other in others):
                return True  # but `loss, loss_node = f(x)` gives the number and the tensor
        return False

    def _is_loss(self, binding: Binding) -> bool:
        kind = self._semantics.inference.binding_kind(binding)
        return self._semantics.of(Backpropagated).binding(binding) and (kind.carries_graph or not kind.known)

    def _unpacked_with(self, binding: Binding) -> Iterator[Binding]:
        for others in binding.scope.bindings.values():
            yield from (other for other in others if other is not binding and other.value is binding.value)

    def _is_backpropagated(self, value: ast.expr) -> bool:
        """Whether what carries the graph in ``value`` is itself back-propagated: the sum of such values never is again."""
        if self._is_likely_loss(value):
            return True
        for part in connected(value, self._semantics.names):
            if isinstance(part, (ast.Name, ast.Attribute)) and self._has_graph(part):
                propagated = self._semantics.of(Backpropagated)
                if propagated.name(part) or propagated.before_return(part) or self._is_given_loss(part):
                    return True
        return False

    def _is_given_loss(self, part: ast.expr) -> bool:
        """Whether a parameter is given a back-propagated value by a call in the file: ``meter.update(loss)``."""
        for binding in self._semantics.bindings.reaching(part) if isinstance(part, ast.Name) else ():
            for argument in self._arguments(binding):
                if self._semantics.kind(argument).carries_graph and self._semantics.of(Backpropagated).expression(argument):
                    return True
        return False

    def _arguments(self, binding: Binding) -> list[ast.expr]:
        """What the calls in the file give for a parameter."""
        return [argument for argument in self._semantics.inference.given(binding) if argument is not None]

    def _outlives(self, found: Accumulation, used: bool) -> bool:
        """Whether the accumulator lives on while more values are added: round a loop, or from call to call."""
        if next(self._semantics.tree.loops(found.statement), None) is not None:
            return True
        function = self._semantics.tree.function(found.statement)
        if not isinstance(function, FUNCTIONS):
            return False
        if isinstance(found.root, ast.Attribute):
            return self._semantics.facts.self_class(found.root.value) is not None and (used or function.name in _STEP_HOOKS)
        scope = self._semantics.bindings.scope_of(found.statement)
        return used and (found.root.id in scope.outer_names or self._is_carried_on(found, found.root))

    def _is_carried_on(self, found: Accumulation, root: ast.Name) -> bool:
        """Whether a list is the callers', or a sum goes round through a caller."""
        carried = self._semantics.of(CarriedValues)
        return carried.is_list_of_callers(root) if found.kept else found.target is root and carried.comes_back(root)

    # --- what to do about it -----------------------------------------------------------------------------------------

    def _leak(self, found: Accumulation, values: list[ast.expr]) -> Leak[ast.expr]:
        numbers = [part for value in values for part in self._parts(value, move=False)]
        tensors = [part for value in values for part in self._parts(value, move=True)]
        if found.handed:
            elsewhere = unknown("another file reads the sum")
            as_numbers = tuple(numbers) if all(map(self._is_scalar, numbers)) else None
            return Leak(found.target, tuple(values), False, as_numbers, tuple(tensors), True, elsewhere, elsewhere, False)
        is_number = not self._fate.is_used_as_tensor(found) and all(map(self._is_scalar, numbers))
        parts = [*numbers, *tensors]
        return Leak(
            found.target,
            tuple(values),
            found.kept,
            tuple(numbers) if is_number else None,
            tuple(tensors),
            graph_unread=self._graph_unread(found, tensors),
            read_as_numbers=self._read_as_numbers(found, numbers),
            propagated_there=(propagated_there := found.kept and self._kept_losses.are_kept(found)),
            mendable=not propagated_there
            and not any(self._holds_loss(part) or self._may_be_tuple(part) or self._may_be_dict(part) for part in parts),
        )

    def _graph_unread(self, found: Accumulation, parts: list[ast.expr]) -> Fact:
        """Whether nobody asks for the graph of what is kept: all that read it are in sight, or the graph of a sum is spent."""
        kept = self._semantics.of(KeptValues)
        keeps = found.kept or any(self._semantics.kind(value).type is Type.SEQUENCE for value in (found.target, *found.values))
        unread = kept.graph_unread(found.target, found.root, kept=keeps)
        if keeps:
            return unread & all_of(*(self._semantics.of(KeptChanges).left_alone(part) for part in parts))
        if unread.answer is Answer.UNKNOWN:
            spent = all_of(*(self._semantics.of(SpentGraphs).fact(part, found.statement) for part in parts))
            return spent if spent.is_certain else unread
        return unread

    def _read_as_numbers(self, found: Accumulation, parts: list[ast.expr]) -> Fact:
        if not found.kept:
            return unknown("a sum of numbers is rounded in another way than one of tensors")
        kept = self._semantics.of(KeptValues)
        return kept.read_as_numbers(found.target, found.root) & all_of(
            *(self._semantics.of(KeptChanges).unchanged(part) for part in parts)
        )

    def _is_scalar(self, part: ast.expr) -> bool:
        kind = self._semantics.kind(part)
        return bool(kind.scalar) and not kind.loose

    def _may_be_tuple(self, part: ast.expr) -> bool:
        """Whether the file asks if the value is a list or tuple."""
        return any(
            isinstance(call.func, ast.Name) and call.args and ast.unparse(call.args[0]) == ast.unparse(part)
            for call in self._semantics.facts.calls.get("isinstance", ())
        )

    def _may_be_dict(self, part: ast.expr) -> bool:
        """Whether the value is a module's output that is never used as a tensor itself."""
        if not (isinstance(part, ast.Name) and self._semantics.kind(part).loose):
            return False
        uses = [use for binding in self._semantics.bindings.reaching(part) for use in binding.uses]
        return not any(self._is_operand(use) for use in uses)

    def _is_operand(self, use: ast.expr) -> bool:
        """Whether a value is computed with: in an operation, or as the first argument of a loss or a function of torch."""
        parent = self._semantics.tree.parent(use)
        if isinstance(parent, ast.Call) and use in parent.args[:1]:
            return self._semantics.kind(parent).carries_graph
        return isinstance(parent, (ast.BinOp, ast.UnaryOp))

    def _parts(self, value: ast.expr, *, move: bool) -> list[ast.expr]:
        """The smallest parts of ``value`` that the graph hangs on; behind a move to another device only if ``move``."""
        match value:
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                return [part for element in elements if self._has_graph(element) for part in self._parts(element, move=move)]
            case ast.BinOp(left=left, right=right):
                carrying = [operand for operand in (left, right) if self._has_graph(operand)]
                if len(carrying) == 1:
                    return self._parts(carrying[0], move=move)
            case ast.UnaryOp(operand=operand):
                return self._parts(operand, move=move)
            case ast.Call(func=ast.Attribute(value=receiver, attr=method)) if (
                move and method in _MOVES and self._has_graph(receiver)
            ):
                return self._parts(receiver, move=move)
        return [value]


def _is_data(target: ast.expr) -> bool:
    """Whether what is assigned to is the ``.data`` of a tensor, which takes the values alone."""
    return isinstance(target, ast.Attribute) and target.attr == "data"


def _is_unclear(kind: Kind) -> bool:
    """Whether of a value nothing tells whether it has a graph, but how it is used here."""
    return not kind.known or (kind.is_tensor and kind.grad is Grad.UNKNOWN and kind.basis is Basis.ELSEWHERE)
