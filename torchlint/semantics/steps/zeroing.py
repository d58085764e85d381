"""Steps of optimizers that use the gradients of all rounds before, because nothing zeroes them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop, dotted, given_to, position
from torchlint.semantics.purpose import Purpose
from torchlint.semantics.steps.acts import Deed
from torchlint.semantics.steps.rounds import LoopRound, Rounds
from torchlint.semantics.steps.training_steps import Step, TrainingSteps
from torchlint.semantics.steps.unseen_code import UnseenCode
from torchlint.semantics.training.optimizers import Optimizers, root_of

Node = TypeVar("Node")
Place = TypeVar("Place")

_DEEP = 3
"""So many functions may lie between a loop and the step in it."""
_MANY = 16
"""So many steps of one loop are looked at: no one writes more of them, but for tests of linters."""
_STEP_HOOKS = ("register_step_post_hook", "register_step_pre_hook", "register_post_accumulate_grad_hook")


@dataclass(frozen=True, eq=False, slots=True)
class PiledUp(Generic[Node, Place]):
    """A ``step`` of ``optimizer`` that uses the gradients of all rounds, and the first ``backward`` that adds to them.

    They can be zeroed ``before`` a statement, or ``behind`` one; nowhere if neither is given.
    """

    optimizer: Node
    backward: Node
    step: Node
    before: Place | None = None
    behind: Place | None = None


@dataclass(frozen=True, slots=True)
class _OwnBackward:
    """A backward that adds to what a step uses: where a round runs it, and where the step ``behind`` it."""

    backward: ast.Call
    place: ast.Call
    behind: ast.Call


class Zeroing:
    """Finds what piles up in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._steps = semantics.of(TrainingSteps)
        self._rounds = semantics.of(Rounds)
        self._backwards: dict[Loop, list[tuple[ast.Call, ast.Call]]] = {}
        self._optimizers = semantics.of(Optimizers)
        self._given_values: dict[Loop, set[str | None]] = {}

    @cached_property
    def piles(self) -> dict[ast.Call, PiledUp[ast.expr, ast.stmt]]:
        """The steps that use the gradients of former rounds, each by the backward before it which adds to those."""
        steps = [*self._steps.steps, *self._likely_steps()]
        piles = dict(self._handed_on)
        if not steps or any(hook in self._semantics.facts.calls for hook in _STEP_HOOKS):
            return piles
        reported: set[tuple[Loop, frozenset[ast.Call]]] = set()
        looked_at: Counter[Loop] = Counter()
        for step in steps:
            if self._is_wiped_beside(step):
                continue
            round_ = self._round(step)
            if round_ is None or looked_at[round_.loop] == _MANY:
                continue
            looked_at[round_.loop] += 1
            own = self._own_backwards(step, round_)
            key = (round_.loop, frozenset(each.backward for each in own))
            if own and key not in reported and self._piles_up(step, own, round_):
                reported.add(key)
                piles[self._adding(step, own, piles)] = self._pile(step, own, round_)
        return piles

    def _adding(self, step: Step, own: list[_OwnBackward], known: Container[ast.Call]) -> ast.Call:
        """The last backward of the same function before a step, if there is one that no other step has; else the step."""
        function = self._semantics.tree.function(step.call)
        before = [each.backward for each in own if position(each.backward) < position(step.call)]
        beside = [each for each in before if self._semantics.tree.function(each) is function and each not in known]
        return beside[-1] if beside else step.call

    # --- steps that other files make ---------------------------------------------------------------------------------

    @property
    def _handed_on(self) -> Iterator[tuple[ast.Call, PiledUp[ast.expr, ast.stmt]]]:
        """The calls in loops of functions of other files that back-propagate, step an optimizer, and zero nothing."""
        tree = self._semantics.tree
        for call in tree.of_type(ast.Call) if self._semantics.elsewhere.is_in_project else ():
            loop = next(tree.loops(call), None)
            optimizer = self._stepped_elsewhere(call) if loop is not None else None
            if loop is None or optimizer is None or self._is_anew(self._rounds.of_loop(loop), optimizer):
                continue
            outermost = [loop, *tree.loops(loop)][-1]
            wiping = [zero for zero in self._steps.zero_grads_in(outermost) if not self._optimizers.apart(optimizer, zero.of)]
            if not wiping and not self._semantics.of(UnseenCode).may_wipe(self._rounds.of_loop(loop), optimizer):
                yield call, PiledUp(optimizer, call, call, before=tree.statement(call))

    def _is_anew(self, round_: LoopRound, optimizer: ast.expr) -> bool:
        """Whether each round may have an optimizer of its own, by where that is made."""
        makings = self._optimizers.makings(optimizer) or frozenset()
        return self._is_made_in(round_, optimizer) or any(round_.makes(each) for each in makings)

    def _stepped_elsewhere(self, call: ast.Call) -> ast.expr | None:
        """The optimizer of torch that a function of another file surely steps, behind a backward of its own."""
        elsewhere = self._semantics.elsewhere
        function = elsewhere.function(call.func)
        if function is None or function.summary.hidden:
            return None
        given = given_to(call)
        acts = {each: elsewhere.acts(call, each) or () for each in given}
        sure = {each: {act.what for act in found if act.sure} for each, found in acts.items()}
        propagates = function.summary.propagates or any("backward" in what for what in sure.values())
        stepped = [each for each, what in sure.items() if "step" in what and self._optimizers.makings(each)]
        if not propagates or len(stepped) != 1 or self._semantics.of(UnseenCode).wipes_elsewhere(call) is not False:
            return None
        return stepped[0]

    def _likely_steps(self) -> list[Step]:
        """The steps of optimizers of unknown kind, where they are no part of a test of other code."""
        purpose, flow = self._semantics.of(Purpose), self._semantics.control_flow
        return [step for step in self._steps.likely_steps if not purpose.is_test_case(flow.scope(step.call))]

    def _is_wiped_beside(self, step: Step) -> bool:
        """Whether the loop around a step plainly wipes the gradients, as nearly every loop does."""
        loop = next(self._semantics.tree.loops(step.call), None)
        if loop is not None and self._choices(step.call, loop):
            return False  # perhaps in the other branch
        wiped = self._wiped.get((loop, dotted(step.optimizer)), ())
        return any(self._optimizers.same(optimizer, step.optimizer) for optimizer in wiped)

    @cached_property
    def _wiped(self) -> dict[tuple[ast.AST | None, str | None], list[ast.expr]]:
        """The optimizers whose gradients are zeroed in each loop, by their spelling: of those alike, the first."""
        found: dict[tuple[ast.AST | None, str | None], list[ast.expr]] = {}
        same = self._optimizers.same
        for zero in self._steps.zero_grads:
            for loop in (parent for parent in self._semantics.tree.ancestors(zero.call) if isinstance(parent, LOOPS)):
                known = found.setdefault((loop, dotted(zero.of)), [])
                if not any(same(zero.of, other) for other in known):
                    known.append(zero.of)
        return found

    # --- what goes round ---------------------------------------------------------------------------------------------

    def _round(self, step: Step) -> LoopRound | None:
        """The innermost loop that runs a step and a backward before it."""
        for loop in self._loops(step.call, _DEEP):
            round_ = self._rounds.of_loop(loop)
            if self._backwards_in(round_):
                return round_
        return None

    def _loops(self, node: ast.AST, depth: int) -> Iterator[Loop]:
        """The loops that ``node`` is in, innermost first; where it is in none, those that call its function."""
        loops = list(self._semantics.tree.loops(node))
        yield from loops
        function = self._semantics.tree.function(node)
        if not loops and depth and isinstance(function, FUNCTIONS):
            for call in self._semantics.inference.call_sites(function):
                yield from self._loops(call, depth - 1)

    def _own_backwards(self, step: Step, round_: LoopRound) -> list[_OwnBackward]:
        """The backward calls whose gradients the step uses in the same round."""
        flow = self._semantics.control_flow
        head = round_.loop.test if isinstance(round_.loop, ast.While) else round_.loop.target
        steps = [(placed.act.call, placed.place) for placed in round_.of(Deed.STEP) if placed.act.call in self._stepped]
        own: dict[ast.Call, _OwnBackward] = {}
        for place in round_.places(step.call):
            others = [other for later, other in steps if later is not step.call and other is not place]
            avoiding = (head, *self._of_same_optimizer(others, step))
            for backward, at in self._backwards_in(round_):
                if backward in own:
                    continue
                beside = at is place
                if self._comes_first(backward, step.call) if beside else flow.may_follow(at, place, avoiding=avoiding):
                    own[backward] = _OwnBackward(backward, at, place)
        return list(own.values())

    def _backwards_in(self, round_: LoopRound) -> list[tuple[ast.Call, ast.Call]]:
        """The calls that surely add to gradients, in the order of the text, each with the call in the loop that runs it."""
        if round_.loop not in self._backwards:
            placed = [each for each in round_.of(Deed.BACKWARD) if each.act.certain]
            pairs = dict.fromkeys((each.act.call, each.place) for each in placed)
            self._backwards[round_.loop] = sorted(pairs, key=lambda pair: position(pair[0]))
        return self._backwards[round_.loop]

    def _of_same_optimizer(self, places: list[ast.Call], step: Step) -> list[ast.Call]:
        return [place for place in places if place in self._stepped and self._is_same(self._stepped[place], step.optimizer)]

    def _is_same(self, one: ast.expr, other: ast.expr) -> bool:
        makings = self._optimizers.makings(one), self._optimizers.makings(other)
        return makings[0] == makings[1] if makings != (None, None) else self._optimizers.same(one, other)

    @cached_property
    def _stepped(self) -> dict[ast.Call, ast.expr]:
        """The optimizers of the calls that make steps."""
        return {step.call: step.optimizer for step in (*self._steps.steps, *self._steps.likely_steps)}

    def _comes_first(self, backward: ast.Call, step: ast.Call) -> bool:
        """Whether, of two calls that one call runs, the first comes before the second as far as that is shown."""
        tree = self._semantics.tree
        if tree.function(backward) is not tree.function(step):
            return True
        return self._semantics.control_flow.may_follow(backward, step)

    def _piles_up(self, step: Step, own: list[_OwnBackward], round_: LoopRound) -> bool:
        """Whether the gradients of one round are still there in the next, for all that the file shows."""
        steps, tree = self._steps, self._semantics.tree
        makings = self._optimizers.makings(step.optimizer) or frozenset()
        if any(round_.makes(making) for making in makings):
            return False
        if not step.is_certain and self._is_made_in(round_, step.optimizer):
            return False
        outermost = [round_.loop, *tree.loops(round_.loop)][-1]  # round which the way leads, if at all
        wiping = [zero.call for zero in steps.zero_grads_in(outermost) if not self._optimizers.apart(step.optimizer, zero.of)]
        chosen = self._choices(step.call, outermost)
        apart = {each for each in wiping if any(self._is_in_other_branch(each, step.call, choice) for choice in chosen)}
        wiping = [each for each in wiping if each not in apart]
        if self._semantics.of(UnseenCode).may_wipe(round_, step.optimizer, {each.func for each in apart}):
            return False
        flow, scope = self._semantics.control_flow, self._semantics.control_flow.scope(round_.loop)
        places = [each.place for each in own]
        ahead = {place: flow.ahead_of(scope, [place], wiping, up_to=places) for place in {each.behind for each in own}}
        return any(ahead[each.behind].includes(each.place) for each in own)

    def _choices(self, step: ast.Call, loop: Loop) -> list[ast.If]:
        """The choices around a step in a loop that come out the same in all rounds: ``if args.amp: … else: …``."""
        found: list[ast.If] = []
        for parent in self._semantics.tree.ancestors(step):
            if parent is loop or isinstance(parent, FUNCTIONS):
                return found
            if isinstance(parent, ast.If) and parent.orelse and self._is_settled(parent.test, loop):
                found.append(parent)
        return found

    def _is_settled(self, test: ast.expr, loop: Loop) -> bool:
        """Whether a test asks for a variable, or for an attribute of one, that nothing in a loop gives another value."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=asked):
                return self._is_settled(asked, loop)
            case ast.Compare(left=asked, ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq()], comparators=[ast.Constant()]):
                return self._is_settled(asked, loop)
            case ast.Name() | ast.Attribute(value=ast.Name()):
                root = root_of(test)
                if not isinstance(root, ast.Name) or self._semantics.facts.self_class(root) is not None:
                    return False
                return {root.id, dotted(test)}.isdisjoint(self._changed(loop))
        return False

    def _changed(self, loop: Loop) -> set[str | None]:
        """The variables, and the attributes as they are spelled, that a loop gives values."""
        if loop not in self._given_values:
            stored = (part for part in ast.walk(loop) if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store))
            bound = self._semantics.bindings.bound_in_loop(loop)
            self._given_values[loop] = {*(each.name for each in bound), *map(dotted, stored)}
        return self._given_values[loop]

    def _is_in_other_branch(self, wiping: ast.Call, step: ast.Call, choice: ast.If) -> bool:
        """Whether a choice runs either what wipes or a step."""
        inside = self._semantics.tree.inside
        branches = [
            [any(inside(call, part) for part in body) for body in (choice.body, choice.orelse)] for call in (wiping, step)
        ]
        return any(branches[0]) and branches[0] != branches[1]

    def _is_made_in(self, round_: LoopRound, optimizer: ast.expr) -> bool:
        """Whether each round may have an optimizer of its own."""
        text, root = dotted(optimizer), root_of(optimizer)
        targets = (node for node in round_.nodes if isinstance(node, (ast.Name, ast.Attribute)))
        if any(isinstance(node.ctx, ast.Store) and dotted(node) in (text, dotted(root)) for node in targets):
            return True
        bound = self._semantics.bindings.reaching(root) if isinstance(root, ast.Name) else ()
        return any(self._semantics.tree.inside(binding.node, round_.loop) for binding in bound)

    # --- where they can be zeroed ------------------------------------------------------------------------------------

    def _pile(self, step: Step, own: list[_OwnBackward], round_: LoopRound) -> PiledUp[ast.expr, ast.stmt]:
        tree = self._semantics.tree
        function, first = tree.function(step.call), own[0].backward
        if any(tree.function(each.backward) is not function for each in own) or not self._is_bound_before(step, round_):
            return PiledUp(step.optimizer, first, step.call)
        if self._always_steps(step, own, round_):
            outer = round_.loop if function is tree.function(round_.loop) else function
            assert isinstance(outer, (*LOOPS, *FUNCTIONS))
            calls = [step.call, *(each.backward for each in own)]
            return PiledUp(step.optimizer, first, step.call, before=self._first_of_shared_block(outer.body, calls))
        statement = tree.statement(step.call)
        return PiledUp(step.optimizer, first, step.call, behind=statement if isinstance(statement, ast.Expr) else None)

    def _is_bound_before(self, step: Step, round_: LoopRound) -> bool:
        """Whether the optimizer's variable is bound before the loop, or the function, starts."""
        names = [part for part in ast.walk(step.optimizer) if isinstance(part, ast.Name)]
        bindings = [binding for name in names for binding in self._semantics.bindings.reaching(name)]
        function = self._semantics.tree.function(step.call)
        inside = self._semantics.tree.inside
        if function is self._semantics.tree.function(round_.loop):
            return not any(inside(binding.node, round_.loop) for binding in bindings)
        return not any(
            isinstance(binding.node, ast.Name) and function is not None and inside(binding.node, function)
            for binding in bindings
        )

    def _always_steps(self, step: Step, own: list[_OwnBackward], round_: LoopRound) -> bool:
        """Whether each round that gets gradients makes the step."""
        flow, tree = self._semantics.control_flow, self._semantics.tree
        if tree.function(step.call) is not tree.function(round_.loop):
            return not any(flow.may_end(each.backward, avoiding=[step.call]) for each in own)
        head = round_.loop.test if isinstance(round_.loop, ast.While) else round_.loop.target
        return not any(flow.may_follow(each.backward, head, avoiding=[step.call]) for each in own)

    def _first_of_shared_block(self, block: list[ast.stmt], nodes: list[ast.Call]) -> ast.stmt:
        """The statement with the first of some calls, in the innermost block that holds all of them."""
        holding = [statement for statement in block if any(self._semantics.tree.inside(node, statement) for node in nodes)]
        if len(holding) == 1:
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(holding[0], field, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    if all(any(self._semantics.tree.inside(node, part) for part in inner) for node in nodes):
                        return self._first_of_shared_block(inner, nodes)
        return holding[0]
