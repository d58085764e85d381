"""Models that are trained in the wrong mode: as their evaluation, or what saved them, left them."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, last_name, position, walk_body
from torchlint.semantics.conditions.last_rounds import LastRounds
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.modes.mentions import Mentions
from torchlint.semantics.modes.modes import EVAL, Mode, Modes, Run, Setting
from torchlint.semantics.modes.switches import Switches
from torchlint.semantics.modes.trained_models import CRITERION, TrainedModels
from torchlint.semantics.modules.mode_dependence import ModeDependence
from torchlint.semantics.modules.own_modes import OwnModes
from torchlint.semantics.purpose import Purpose

Node = TypeVar("Node")
Place = TypeVar("Place")

_MOST_PLACES = 100
"""So many places of one scope that set a model's mode, or train it, are compared; code that has more is generated."""


@dataclass(frozen=True, eq=False, slots=True)
class TrainedInEvaluation(Generic[Node, Place]):
    """A model, called ``name`` there, that ``training`` trains in the evaluation mode that the round before left it in.

    ``statement`` is what holds the training in the body of the loop whose rounds these are.
    """

    name: str
    training: Node
    statement: Place


class EvaluationModeTrainings:
    """Finds the models of a file that are put into evaluation mode in a loop, and are trained in the next round."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)

    @cached_property
    def found(self) -> dict[ast.AST, TrainedInEvaluation[ast.expr, ast.stmt]]:
        """The calls of ``eval`` whose mode lasts until a training, each with the first one."""
        purpose, dependence = self._semantics.of(Purpose), self._semantics.of(ModeDependence)
        own = self._semantics.of(OwnModes)
        found: dict[ast.AST, TrainedInEvaluation[ast.expr, ast.stmt]] = {}
        for scope, model in self._models():
            if self._modes.is_managed(scope) or purpose.is_test_case(scope):
                continue
            for setting, run, loop in self._trained(scope, model):
                switch = setting.switch or setting.node
                if switch not in found and dependence.of(run.model) is not False and own.are_set(run.model):
                    statement = self._statement_in(loop, run.node, setting.node)
                    found[switch] = TrainedInEvaluation(".".join(model.path), run.node.func, statement)
        return found

    def _models(self) -> Iterator[tuple[FlowScope, Reference]]:
        """The models that the file trains: by its optimizers and calls of ``train``, or as the only model of a function."""
        evaluating = [(switch, models) for switch, models, mode in self._semantics.of(Switches).all if mode is Mode.EVAL]
        if not evaluating:
            return
        trained = self._semantics.of(TrainedModels)
        known = set(trained.all)
        yield from trained.all
        for switch, models in evaluating:
            for model in models or ():
                for scope, found in trained.scopes_of(model, self._semantics.control_flow.scope(switch)):
                    if (scope, found) not in known and isinstance(scope, FUNCTIONS) and self._is_only_model(scope, found):
                        known.add((scope, found))
                        yield scope, found

    def _is_only_model(self, function: Function, model: Reference) -> bool:
        """Whether a function trains no other model, of which this one might be a frozen part; it is given the optimizer."""
        references = self._modes.references
        calls = self._semantics.of(Mentions).calls_in(function)
        if not any(last_name(call.func) == "step" for call in calls):
            return False
        for call in calls:
            called = references.of(call.func) if self._semantics.of(Backpropagated).call(call) else None
            if called is not None and called.root is function and not model.holds(called):
                given = isinstance(call.func, ast.Name) or self._semantics.facts.self_class(_owner(call.func)) is not None
                if given and not CRITERION.search(last_name(call.func)):
                    return False
        return True

    def _trained(self, scope: FlowScope, model: Reference) -> Iterator[tuple[Setting, Run, Loop | None]]:
        """The places that put a model into evaluation mode, what then trains it, and the loop that has both, if one has."""
        modes, flow = self._modes, self._semantics.control_flow
        settings = modes.settings(scope, model)
        evaluating = [each for each in settings if each.modes == EVAL and each.always and not self._ends_with(each)]
        trained = [run for run in modes.runs(scope, model) if self._trains(run)] if evaluating else []
        evaluating, chosen = self._chosen(evaluating, settings)
        leaving = (*(setting.node for setting in settings if setting.modes != EVAL), *chosen)
        evaluating, trained = evaluating[:_MOST_PLACES], trained[:_MOST_PLACES]
        others = sorted(position(run.node) for run in modes.all_runs(scope, model) if run not in trained)
        trained = [run for run in trained if not any(self._is_meant(setting, run, others) for setting in evaluating)]
        trained = [run for run in trained if not self._helps_another(run)]
        for run in trained:
            looped = [(setting, self._common_loop(setting.node, run.node)) for setting in evaluating]
            from_start = [s for s, loop in looped if loop is None and flow.may_follow(s.node, run.node, leaving)]
            for setting in from_start:
                if self._is_forgotten(scope, model, setting, run):
                    yield setting, run, None
            if from_start:
                continue  # it is in evaluation mode from the start: that is meant
            for setting, loop in looped:
                if loop is not None and self._may_lead_to(setting.node, run.node, leaving):
                    if self._evaluates(scope, model, setting, trained) or self._is_saved(setting, run):
                        yield setting, run, loop

    def _ends_with(self, setting: Setting) -> bool:
        """Whether the function ends right behind what sets evaluation mode: what then trains is behind an error at most."""
        tree = self._semantics.tree
        statement = tree.statement(setting.node)
        block = tree.block(statement)
        for behind in block[block.index(statement) + 1 :]:
            if any(isinstance(part, (ast.Call, ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(behind)):
                return False
            if isinstance(behind, ast.Return):
                return isinstance(statement, ast.Expr)
        return False

    def _trains(self, run: Run) -> bool:
        """Whether what the model returns is back-propagated, and for more than the gradients of what a function gives it."""
        if not self._modes.trains(run):
            return False
        backpropagated = self._semantics.of(Backpropagated)
        if not backpropagated.call_within(run.call, run.node, backpropagated.of_inputs):
            return False
        function = self._semantics.tree.function(run.call)
        if run.node is run.call or not isinstance(function, FUNCTIONS):
            return True
        calls = {last_name(call.func) for call in self._semantics.of(Mentions).calls_in(function)}
        return "requires_grad_" not in calls or "step" in calls

    def _may_lead_to(self, setting: ast.AST, run: ast.AST, leaving: Iterable[ast.AST]) -> bool:
        """Whether a training may follow what sets evaluation mode: where that is in the last round of a loop around both, when
        the loop begins anew.
        """
        flow, obstacles = self._semantics.control_flow, list(leaving)
        last = self._semantics.of(LastRounds).loop_of(setting)
        if last is None or not self._semantics.tree.inside(run, last):
            return flow.may_follow(setting, run, obstacles)
        return flow.may_follow(setting, last.iter, obstacles) and flow.may_follow(last.iter, run, obstacles)

    def _is_meant(self, setting: Setting, run: Run, others: list[tuple[int, int]]) -> bool:
        """Whether evaluation mode is set to train another model: in the same round before, and nothing evaluates then.

        ``others`` is where the model is run besides, in order.
        """
        tree = self._semantics.tree
        if not isinstance(setting.node, ast.Call) or setting.switch is not setting.node:
            return False
        first = tree.statement(setting.node)
        if self._stands_beside_training(first, setting.node):
            return True
        begin, end = position(first), position(run.node)
        if end <= begin or bisect_right(others, begin) < bisect_left(others, end):
            return False
        block = tree.block(first)
        around: ast.AST = tree.statement(run.node)
        while isinstance(around, ast.stmt) and not isinstance(around, (*LOOPS, *FUNCTIONS)):
            if tree.block(around) is block:
                return first is not around
            parent = tree.parent(around)
            if parent is None:
                break
            around = parent
        return False

    def _stands_beside_training(self, statement: ast.stmt, switch: ast.Call) -> bool:
        """Whether the statement beside one that sets evaluation mode puts another model into training mode."""
        block = self._semantics.tree.block(statement)
        place = block.index(statement)
        beside = [each.value for each in block[max(place - 1, 0) : place + 2] if isinstance(each, ast.Expr)]
        training = (each for each in beside if isinstance(each, ast.Call) and each in self._to_training)
        return any(ast.dump(_owner(call.func)) != ast.dump(_owner(switch.func)) for call in training)

    @cached_property
    def _to_training(self) -> set[ast.Call]:
        """The calls that put models into training mode."""
        return {call for call, _, mode in self._semantics.of(Switches).all if mode is Mode.TRAIN}

    def _helps_another(self, run: Run) -> bool:
        """Whether a function that runs a model puts others into training mode, one for each optimizer that it steps.

        Then this one helps to train those: a frozen teacher, say, whose gradients, if any, nobody uses.
        """
        function, model = self._semantics.tree.function(run.call), self._modes.references.of(run.model)
        if run.node is run.call or not isinstance(function, FUNCTIONS) or model is None:
            return False
        scope_of = self._semantics.control_flow.scope
        put = {
            found
            for switch, models, mode in self._semantics.of(Switches).all
            if mode is Mode.TRAIN and scope_of(switch) is function
            for found in models or ()
        }
        if not put or any(found.holds(model) or model.holds(found) for found in put):
            return False
        stepped = {
            ast.unparse(call.func.value)
            for call in self._semantics.of(Mentions).calls_in(function)
            if isinstance(call.func, ast.Attribute) and call.func.attr == "step" and "sched" not in last_name(call.func.value)
        }
        return len(stepped) <= len(put)

    def _chosen(self, evaluating: Iterable[Setting], settings: Iterable[Setting]) -> tuple[list[Setting], list[ast.expr]]:
        """What sets evaluation mode but for where that is one of two choices, and the conditions that choose.

        ``if freeze: model.eval()``, and ``else: model.train()``: the author knows what they train in which mode.
        """
        training = [setting.node for setting in settings if setting.modes != EVAL]
        chosen: dict[ast.expr, None] = {}
        others = []
        for setting in evaluating:
            tests = [choice.test for choice in self._choices(setting.node, training)]
            chosen.update(dict.fromkeys(tests))
            if not tests:
                others.append(setting)
        return others, list(chosen)

    def _choices(self, evaluating: ast.AST, training: list[ast.AST]) -> Iterator[ast.If]:
        """The conditions round what sets evaluation mode whose other branch sets training mode."""
        tree = self._semantics.tree
        for parent in tree.ancestors(evaluating):
            if isinstance(parent, FUNCTIONS):
                return
            if isinstance(parent, ast.If):
                is_body = any(tree.inside(evaluating, part) for part in parent.body)
                other = parent.orelse if is_body else parent.body
                if any(tree.inside(node, part) for node in training for part in other):
                    yield parent

    def _is_forgotten(self, scope: FlowScope, model: Reference, setting: Setting, run: Run) -> bool:
        """Whether evaluation mode was meant for an evaluation before the training, of a model that is put into the other."""
        modes, flow = self._modes, self._semantics.control_flow
        if any(
            isinstance(parent, ast.If) and not self._semantics.tree.inside(run.node, parent)
            for parent in self._semantics.tree.ancestors(setting.node)
        ):
            return False  # where that was asked for, the training may not follow
        leaving = [other.node for other in modes.settings(scope, model) if other.modes != EVAL]
        evaluated = (other.node for other in modes.all_runs(scope, model) if not modes.is_recorded(other))
        return self._semantics.of(TrainedModels).is_put_into_training(scope, model) and any(
            flow.may_follow(setting.node, node, [*leaving, run.node]) and flow.may_follow(node, run.node, leaving)
            for node in evaluated
        )

    def _is_saved(self, setting: Setting, run: Run) -> bool:
        """Whether a round sets evaluation mode behind its training to save the model, and runs nothing in it."""
        switch = setting.node
        if not isinstance(switch, ast.Call) or setting.switch is not switch or position(switch) < position(run.node):
            return False
        statement = self._semantics.tree.statement(switch)
        block = self._semantics.tree.block(statement)
        behind = block[block.index(statement) + 1 :]
        return any(self._saves(part) for part in walk_body(behind)) and not any(
            last_name(part.func) in ("backward", "step") for part in walk_body(behind) if isinstance(part, ast.Call)
        )

    def _saves(self, part: ast.AST) -> bool:
        return isinstance(part, ast.Call) and last_name(part.func) in ("state_dict", "save", "export")

    def _common_loop(self, one: ast.AST, other: ast.AST) -> Loop | None:
        """The innermost loop that two nodes stand in."""
        return next((loop for loop in self._semantics.tree.loops(one) if self._semantics.tree.inside(other, loop)), None)

    def _evaluates(self, scope: FlowScope, model: Reference, setting: Setting, trained: list[Run]) -> bool:
        """Whether the model is first run to be evaluated, and not trained, once its mode is set."""
        modes, flow = self._modes, self._semantics.control_flow
        others = [run for run in modes.all_runs(scope, model) if not modes.trains(run)]
        if any(run.node is setting.node for run in others):
            return True  # a function sets the mode and evaluates
        obstacles: list[ast.AST] = [self._entered(run.node, setting.node) for run in trained]
        obstacles += [found.node for found in modes.settings(scope, model) if found.node is not setting.node]
        return any(flow.may_follow(setting.node, run.node, obstacles) for run in others if run.node not in obstacles)

    def _entered(self, node: ast.AST, outside: ast.AST) -> ast.AST:
        """Where the loops around ``node`` begin that ``outside`` does not stand in: they are taken to have a first round."""
        loops = [loop for loop in self._semantics.tree.loops(node) if not self._semantics.tree.inside(outside, loop)]
        if not loops:
            return node
        return loops[-1].test if isinstance(loops[-1], ast.While) else loops[-1].iter

    def _statement_in(self, loop: Loop | None, node: ast.AST, other: ast.AST) -> ast.stmt:
        """The statement of a loop's own body that ``node`` stands in; without a loop, the outermost that ``other`` does not."""
        statement = self._semantics.tree.statement(node)
        for parent in self._semantics.tree.ancestors(statement):
            if parent is loop or (loop is None and self._semantics.tree.inside(other, parent)):
                break
            if isinstance(parent, ast.stmt):
                statement = parent
        return statement


def _owner(function: ast.expr) -> ast.expr:
    return function.value if isinstance(function, ast.Attribute) else function
