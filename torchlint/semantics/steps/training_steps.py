"""What a training loop does with gradients: where they are computed, used and wiped, and by which optimizer.

Three acts make a training step: ``backward`` adds to the gradients, ``step`` uses them, ``zero_grad`` wipes them.
`TrainingSteps` finds them, also where a function of the file does them for its caller.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backwards import Backward, Backwards
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, Tree
from torchlint.semantics.training.likely_optimizers import LikelyOptimizers
from torchlint.semantics.training.optimizers import Making, Optimizers, stepped

_PLACES = 8
"""In so many places of a loop a function is looked at that the loop runs in several."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A call by which an optimizer changes its parameters: ``optimizer.step()``, ``scaler.step(optimizer)``."""

    call: ast.Call
    optimizer: ast.expr
    is_certain: bool = True
    """Whether the optimizer is one of torch; otherwise it has its name and acts alone to tell."""


@dataclass(frozen=True, slots=True, eq=False)
class ZeroGrad:
    """A call of ``zero_grad``, of an optimizer or a module."""

    call: ast.Call
    of: ast.expr


_Act = TypeVar("_Act", Backward, Step, ZeroGrad)


class _Placed(Generic[_Act]):
    """Acts by the loops that they stand in, and by the function around them."""

    def __init__(self, acts: list[_Act], tree: Tree) -> None:
        self.by_loop: dict[ast.AST, list[_Act]] = {}
        self.by_function: dict[ast.AST, list[_Act]] = {}
        self._in_regions: dict[ast.AST, list[tuple[_Act, ast.Call]]] = {}
        for act in acts:
            function = tree.function(act.call)
            if function is not None:
                self.by_function.setdefault(function, []).append(act)
            for parent in tree.ancestors(act.call):
                if isinstance(parent, LOOPS):
                    self.by_loop.setdefault(parent, []).append(act)

    def in_region(self, region: Region, tree: Tree) -> list[tuple[_Act, ast.Call]]:
        """Those that a round may run, in the order of the text, each with the call in the loop that runs it."""
        if region.loop not in self._in_regions:
            self._in_regions[region.loop] = list(self._find_in(region, tree))
        return self._in_regions[region.loop]

    def _find_in(self, region: Region, tree: Tree) -> Iterator[tuple[_Act, ast.Call]]:
        near = set(self.by_loop.get(region.loop, ()))
        for function in region.functions:
            near.update(self.by_function.get(function, ()))
        for act in sorted(near, key=lambda act: _position(act.call)):
            for place in region.places(act.call, tree):
                yield act, place


class TrainingSteps:
    """Finds the acts of training steps in one file, and answers questions about them."""

    def __init__(self, semantics: Semantics) -> None:
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._call_graph = semantics.inference.call_graph
        self._backwards = semantics.of(Backwards)
        self._optimizers = semantics.of(Optimizers)
        self._likely = semantics.of(LikelyOptimizers)
        self._regions: dict[ast.AST, Region] = {}

    # --- the acts ----------------------------------------------------------------------------------------------------

    @property
    def backwards(self) -> list[Backward]:
        """The calls that surely add to gradients."""
        return self._backwards.all

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of optimizers of torch that the file makes, or that it declares to be given."""
        found: list[Step] = []
        for call in [*self._facts.calls.get("step", ()), *self._facts.calls.get("optimizer_step", ())]:
            optimizer = stepped(call)
            if optimizer is not None and self._optimizers.makings(optimizer):
                found.append(Step(call, optimizer))
        return sorted(found, key=lambda step: _position(step.call))

    @cached_property
    def likely_steps(self) -> list[Step]:
        """The steps of what must be an optimizer, though nothing tells of which kind."""
        likely, certain = self._likely, {step.call for step in self.steps}
        calls = [call for call in self._facts.calls.get("step", ()) if call not in certain]
        found = [Step(call, optimizer, False) for call in calls if (optimizer := likely.steps(call)) is not None]
        return sorted(found, key=lambda step: _position(step.call))

    @cached_property
    def zero_grads(self) -> list[ZeroGrad]:
        """The calls of ``zero_grad``."""
        calls = self._facts.calls.get("zero_grad", ())
        return [ZeroGrad(call, call.func.value) for call in calls if isinstance(call.func, ast.Attribute)]

    # --- what a round of a loop runs ---------------------------------------------------------------------------------

    def region(self, loop: Loop) -> Region:
        """The code that a round of ``loop`` may run: its body, and the functions of the file that are called from there."""
        if loop not in self._regions:
            roots: list[ast.AST] = [*([loop.test] if isinstance(loop, ast.While) else [loop.iter]), *loop.body]
            functions: list[Function] = []
            calls: dict[Function, list[ast.Call]] = {}
            pending: list[tuple[ast.AST, ast.Call | None]] = [(root, None) for root in roots]
            while pending:
                root, through = pending.pop()
                for node in ast.walk(root):
                    if not isinstance(node, ast.Call):
                        continue
                    function, place = self._call_graph.called(node), through or node
                    if function is None:
                        continue
                    if function not in calls:
                        calls[function] = [place]
                        functions.append(function)
                        pending.extend((statement, place) for statement in function.body)
                    elif place not in calls[function] and len(calls[function]) < _PLACES:
                        calls[function].append(place)
            self._regions[loop] = Region(loop, roots, functions, calls)
        return self._regions[loop]

    def backwards_in(self, region: Region) -> list[tuple[Backward, ast.Call]]:
        """The backward calls that a round surely may run, each with the call in the loop that runs it."""
        return self._placed_backwards.in_region(region, self._tree)

    def steps_in(self, region: Region) -> list[tuple[Step, ast.Call]]:
        """The steps of optimizers that a round surely may run, each with the call in the loop that runs it."""
        return self._placed_steps.in_region(region, self._tree)

    def zero_grads_in(self, loop: Loop) -> list[ZeroGrad]:
        """The calls of ``zero_grad`` in a loop, or in functions that are defined there."""
        return self._placed_zero_grads.by_loop.get(loop, [])

    @cached_property
    def _placed_backwards(self) -> _Placed[Backward]:
        return _Placed(self.backwards, self._tree)

    @cached_property
    def _placed_steps(self) -> _Placed[Step]:
        return _Placed([*self.steps, *self.likely_steps], self._tree)

    @cached_property
    def _placed_zero_grads(self) -> _Placed[ZeroGrad]:
        return _Placed(self.zero_grads, self._tree)


class Region:
    """The code that a round of a loop may run."""

    def __init__(
        self, loop: Loop, roots: list[ast.AST], functions: list[Function], calls: dict[Function, list[ast.Call]]
    ) -> None:
        self.loop = loop
        self.functions = functions
        self._roots = roots
        self._calls = calls

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes, those of nested functions included."""
        roots = [*self._roots, *(statement for function in self.functions for statement in function.body)]
        return [node for root in roots for node in ast.walk(root)]

    @cached_property
    def _own(self) -> set[ast.AST]:
        return {node for root in self._roots for node in ast.walk(root)}

    def places(self, node: ast.Call, tree: Tree) -> list[ast.Call]:
        """The calls in the loop's body that are ``node`` or run it; none where no round runs it."""
        function = tree.function(node)
        if node in self._own:
            return [node] if function is tree.function(self.loop) else []
        return self._calls.get(function, []) if isinstance(function, FUNCTIONS) else []

    def makes(self, making: Making, tree: Tree) -> bool:
        """Whether a round makes the optimizer anew."""
        return making in self._own or tree.function(making) in self.functions


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
