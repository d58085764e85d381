"""Times taken by the clock on the wall, of work that the GPU may not have finished."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import CERTAIN, Fact, all_of, known, shortened, unknown
from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS
from torchlint.semantics.conditions.without_gpu import WithoutGpu
from torchlint.semantics.devices.work import DeviceWork
from torchlint.semantics.modes.runs.recorded_models import RecordedModels

Node = TypeVar("Node")
Place = TypeVar("Place")

_CLOCKS = frozenset(
    {
        *("time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "time.monotonic_ns"),
        "timeit.default_timer",
    }
)

_CONTAINERS = frozenset({"builtins.list", "builtins.dict", "numpy.zeros", "numpy.empty", "numpy.ones", "collections.deque"})
"""What makes something that may hold times, which nobody else has."""
_OF_DETECTORS = ("boxes", "bbox", "nms", "detection")
"""What files speak of whose models find objects in pictures."""
_CONTEXTS = frozenset(
    {
        *("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled", "torch.autocast"),
        *("torch.cuda.amp.autocast", "torch.amp.autocast", "torch.device", "torch.cuda.device", "builtins.open"),
    }
)
"""Contexts in which the GPU can be waited for."""


@dataclass(frozen=True, eq=False, slots=True)
class Timing(Generic[Node, Place]):
    """A difference of two readings of the clock, and the last ``work`` in between that nothing waits for.

    ``hasty`` are the statements of those readings that do not wait for the GPU beforehand. ``needs_gpu`` is whether the
    function around them needs a GPU wherever it is run, and ``free`` whether nothing but the clock takes notice of a wait.
    """

    work: Node
    hasty: tuple[Place, ...]
    needs_gpu: bool
    free: Fact
    is_assumed: bool = False
    """Whether the work is that of a model of which it is only assumed that its ``forward`` does not wait itself."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of code between two readings of the clock: their statements, and what runs in between."""

    first: ast.stmt
    last: ast.stmt
    between: list[ast.stmt]


class Timings:
    """Finds the times that a file takes too early."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._work = semantics.of(DeviceWork)

    @cached_property
    def unfinished(self) -> dict[ast.BinOp, Timing[ast.AST, ast.stmt]]:
        """The differences of two readings with work of the GPU in between that may go on; but for those that are compared."""
        found: dict[ast.BinOp, Timing[ast.AST, ast.stmt]] = {}
        for node in self._semantics.tree.of_type(ast.BinOp):
            if not isinstance(node.op, ast.Sub) or not self._is_wanted(node) or self._semantics.of(WithoutGpu).covers(node):
                continue
            stretch = self._timed(node)
            work = self._unfinished(stretch.between) if stretch is not None and not self._waits_beside(node.left) else None
            if stretch is not None and work is not None:
                hasty = tuple(each for each in (stretch.first, stretch.last) if not self._is_synchronised(each))
                surely, free = self._work.surely_on_gpu(stretch.last), self._may_wait(node, stretch)
                found[node] = Timing(work, hasty, surely, free, is_assumed=self._may_wait_itself(work))
        return found

    def _may_wait_itself(self, work: ast.AST) -> bool:
        """Whether work is a run of a model whose code is not in sight, or may wait for the GPU."""
        if not isinstance(work, ast.Call) or not self._work.runs_module(work):
            return False
        models, kind = self._semantics.of(RecordedModels), self._semantics.kind(work.func)
        return not models.are_known(kind) or models.may_wait(kind)

    def _is_wanted(self, difference: ast.BinOp) -> bool:
        """Whether a time is used, and not only compared, added to a mean or told in whole seconds.

        Many a report of it has been commented out.
        """
        if self._is_lap(difference):
            return False
        match parent := self._semantics.tree.parent(difference):
            case ast.Compare():
                return False
            case ast.Call(func=ast.Attribute(attr="update")):
                return False  # a meter takes the mean of rounds one after the other, where the next one waits
            case ast.FormattedValue():
                return not _in_whole_seconds(parent)
            case ast.Assign(targets=[ast.Name() as name]) if parent.value is difference:
                binding = self._semantics.bindings.of(name)
                uses = [self._semantics.tree.parent(use) for use in binding.uses] if binding is not None else []
                if uses and all(isinstance(use, ast.FormattedValue) and _in_whole_seconds(use) for use in uses):
                    return False
                return binding is None or bool(binding.uses) or self._semantics.tree.function(difference) is None
            case ast.Assign(targets=[ast.Subscript(value=ast.Name() as times)]) if parent.value is difference:
                return not self._is_never_read(times)
            case ast.Call(func=ast.Attribute(value=ast.Name() as times, attr="append"), args=[given]) if given is difference:
                return not self._is_never_read(times)
        return True

    def _is_never_read(self, times: ast.Name) -> bool:
        """Whether a function makes a list or an array that it only writes to: `times = []`, and then `times.append(spent)`."""
        bindings = self._semantics.bindings.reaching(times)
        if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return False
        made = bindings[0].value
        is_new = isinstance(made, (ast.List, ast.ListComp, ast.Dict)) or (
            isinstance(made, ast.Call) and self._semantics.qualified_name(made.func) in _CONTAINERS
        )
        is_local = isinstance(bindings[0].scope.node, FUNCTIONS) and self._is_bound_alone(bindings[0])
        return is_new and is_local and all(map(self._is_written_to, bindings[0].uses))

    def _is_bound_alone(self, binding: Binding) -> bool:
        """Whether one statement gives a binding its value, and no other name."""
        match self._semantics.tree.statement(binding.node):
            case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name()):
                return True
        return False

    def _is_written_to(self, use: ast.expr) -> bool:
        tree = self._semantics.tree
        match parent := tree.parent(use):
            case ast.Subscript(value=value, ctx=ast.Store()) if value is use:
                statement = tree.parent(parent)
                return isinstance(statement, ast.Assign) and len(statement.targets) == 1
            case ast.Attribute(attr="append") if isinstance(call := tree.parent(parent), ast.Call) and call.func is parent:
                return isinstance(tree.parent(call), ast.Expr)
        return False

    def _is_lap(self, difference: ast.BinOp) -> bool:
        """Whether a loop goes on from the reading at hand: what one round leaves to the GPU counts for the next one.

        ``spent = time.time() - start``, and then ``start = time.time()``.
        """
        tree = self._semantics.tree
        statement = tree.statement(difference)
        block = tree.block(statement)
        behind = next(iter(block[block.index(statement) + 1 :]), None)
        match difference.right, behind:
            case ast.Name(id=start), ast.Assign(targets=[ast.Name(id=again)], value=value) if start == again:
                return self._clock_statement(value) is not None and any(tree.loops(difference))
        return False

    # --- whether a wait is noticed -----------------------------------------------------------------------------------

    def _may_wait(self, difference: ast.BinOp, stretch: _Stretch) -> Fact:
        """Whether nothing but the clock takes notice of a wait before each reading."""
        tree = self._semantics.tree
        is_short = not any(isinstance(node, LOOPS) for part in stretch.between for node in ast.walk(part))
        is_added = isinstance(tree.statement(difference), ast.AugAssign)
        contexts = [context for reading in (stretch.first, stretch.last) for context in self._contexts(reading)]
        strange = [each for each in contexts if self._semantics.qualified_name(each) not in _CONTEXTS]
        return all_of(
            known(not (is_short and any(tree.loops(stretch.first))), "the loop would wait in each of its rounds"),
            known(not is_added, "times that are added up are taken often, and each would wait"),
            CERTAIN if not strange else unknown(f"`{shortened(strange[0])}` may not allow a wait"),
        )

    def _contexts(self, statement: ast.stmt) -> Iterator[ast.expr]:
        """What a statement stands in that a ``with`` has entered, less its arguments."""
        for parent in self._semantics.tree.ancestors(statement):
            if isinstance(parent, FUNCTIONS):
                return
            if isinstance(parent, (ast.With, ast.AsyncWith)):
                for item in parent.items:
                    context = item.context_expr
                    yield context.func if isinstance(context, ast.Call) else context

    # --- what is timed -----------------------------------------------------------------------------------------------

    def _timed(self, difference: ast.BinOp) -> _Stretch | None:
        first = self._reading(difference.right)
        last = self._clock_statement(difference.left) or self._reading(difference.left)
        if first is None or last is None:
            return None
        between = self._between(first, last)
        return _Stretch(first, last, between) if between else None

    def _clock_statement(self, node: ast.expr) -> ast.stmt | None:
        """The statement of a call that reads the clock."""
        if isinstance(node, ast.Call) and self._semantics.qualified_name(node.func) in _CLOCKS:
            return self._semantics.tree.statement(node)
        return None

    def _reading(self, node: ast.expr) -> ast.stmt | None:
        """The statement that gave a name its reading of the clock."""
        match node:
            case ast.Name():
                for binding in self._semantics.bindings.reaching(node):
                    if binding.value is not None and not binding.path and self._clock_statement(binding.value) is not None:
                        statement = self._semantics.tree.statement(binding.node)
                        if self._precedes(statement, node):
                            return statement
            case ast.Attribute(attr=name) if (owner := self._semantics.facts.self_class(node.value)) is not None:
                return self._stored_reading(node, owner, name)
        return None

    def _stored_reading(self, node: ast.Attribute, owner: ast.ClassDef, name: str) -> ast.stmt | None:
        """The statement of the same function that stored a reading in an attribute of ``self``, the last one before."""
        found = None
        for slot in self._semantics.facts.slots(owner, name):
            for store in slot.stores:
                statement = self._semantics.tree.statement(store)
                if isinstance(statement, ast.Assign) and self._clock_statement(statement.value) is not None:
                    if self._precedes(statement, node):
                        found = statement
        return found

    def _precedes(self, statement: ast.stmt, use: ast.AST) -> bool:
        """Whether a statement stands before ``use`` in the same function."""
        same = self._semantics.tree.function(statement) is self._semantics.tree.function(use)
        return same and statement.lineno < self._semantics.tree.statement(use).lineno

    def _between(self, first: ast.stmt, last: ast.stmt) -> list[ast.stmt]:
        """The statements from ``first`` to ``last``, which may stand in conditions of their own, but in no other loop."""
        tree = self._semantics.tree
        starts = [first, *self._conditions_that_end_with(first)]
        inner: list[ast.stmt] = []
        current: ast.AST = last
        while isinstance(current, ast.stmt):
            block = tree.block(current)
            start = next((index for index, statement in enumerate(block) if statement in starts), None)
            if start is not None:
                return [*block[start + 1 : block.index(current)], *inner]
            inner = [*block[: block.index(current)], *inner]
            parent = tree.parent(current)
            if not isinstance(parent, (ast.If, ast.With, ast.AsyncWith, ast.Try)):
                return []
            current = parent
        return []

    def _conditions_that_end_with(self, first: ast.stmt) -> Iterator[ast.stmt]:
        """The conditions around a statement that do nothing after it: ``if warm: start = time.time()``."""
        current = first
        parent = self._semantics.tree.parent(current)
        while isinstance(parent, ast.If) and not parent.orelse and self._semantics.tree.block(current)[-1] is current:
            yield parent
            current, parent = parent, self._semantics.tree.parent(parent)

    # --- what is unfinished ------------------------------------------------------------------------------------------

    def _unfinished(self, statements: list[ast.stmt]) -> ast.AST | None:
        """The last work of the GPU that nothing waits for; an optimizer's step alone is little behind what was waited for."""
        work: ast.AST | None = None
        is_much = True
        for statement in statements:
            for node in _in_order(statement):
                if self._work.is_read(node):
                    work, is_much = None, False
                elif self._work.starts(node):
                    work = None if self._sorts_out(node) else node
                    is_much = is_much or not self._work.is_step(node)
                elif self._work.may_wait(node):
                    work, is_much = None, False
        if not is_much:
            return None
        return None if work is None or self._waits_each_round(work, statements) else work

    def _sorts_out(self, work: ast.AST) -> bool:
        """Whether a model out of sight gives three or more things, as detectors do: to sort out boxes, it waits itself.

        Of a class that nobody here knows, that the file speaks of boxes is enough.
        """
        if not isinstance(work, ast.Call) or not self._work.runs_module(work):
            return False
        if not self._semantics.kind(work.func).known and any(map(self._semantics.words.speak_of, _OF_DETECTORS)):
            return True
        match self._semantics.tree.parent(work):
            case ast.Assign(targets=[ast.Tuple(elts=parts)]):
                return len(parts) > 2 and self._semantics.kind(work.func).definition is None
        return False

    def _waits_beside(self, reading: ast.expr) -> bool:
        """Whether what is evaluated before ``reading`` as another argument or part of the same expression may wait.

        ``print(loss.item(), time.time() - start)``
        """
        current: ast.AST = reading
        if self._clock_statement(reading) is None:
            return False  # it was read before
        for parent in self._semantics.tree.ancestors(reading):
            if not isinstance(parent, (ast.expr, ast.keyword)):
                break
            for part in ast.iter_child_nodes(parent):
                if part is current:
                    break
                if isinstance(parent, ast.Call) and part is parent.func:
                    continue
                if any(self._work.is_read(node) or self._work.may_wait(node) for node in _in_order(part)):
                    return True
            current = parent
        return False

    def _waits_each_round(self, work: ast.AST, statements: list[ast.stmt]) -> bool:
        """Whether a loop among the statements waits in each round, so that only the end of the last one is not counted."""
        loops = [loop for loop in self._semantics.tree.loops(work) if any(loop in ast.walk(part) for part in statements)]
        parts = (part for loop in loops[-1:] for statement in loop.body for part in _in_order(statement))
        return any(self._work.may_wait(part) or self._work.is_read(part) for part in parts)

    def _is_synchronised(self, statement: ast.stmt) -> bool:
        """Whether the statement before waits for the GPU."""
        block = self._semantics.tree.block(statement)
        before = block[block.index(statement) - 1] if block.index(statement) else None
        if isinstance(before, ast.If) and len(before.body) == 1:
            before = before.body[0]
        match before:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="synchronize"))):
                return True
        return False


def _in_whole_seconds(shown: ast.FormattedValue) -> bool:
    """Whether a text shows a number without a fraction: ``f"{time.time() - start:.0f}s"``."""
    match shown.format_spec:
        case ast.JoinedStr(values=[ast.Constant(value=str(spec))]):
            return spec.endswith(".0f")
    return False


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement, each behind its own parts; functions that are defined in it are not entered."""
    if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        return
    for part in ast.iter_child_nodes(node):
        yield from _in_order(part)
    yield node
