"""Where models are evaluated: run in evaluation mode, and nothing of what comes out is back-propagated."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import Fact, unknown
from torchlint.semantics import Semantics
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.autograd.handed_out import HandedOut
from torchlint.semantics.autograd.no_grad_runs import SUSPENDING
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, LOOPS, Function, Loop, ends_before, position, walk_body
from torchlint.semantics.graphs.differentiating import DifferentiatingModels
from torchlint.semantics.graphs.frozen.models import FrozenModels
from torchlint.semantics.graphs.frozen.results import FrozenResults
from torchlint.semantics.modes.evaluated_runs import Evaluated, EvaluatedRuns
from torchlint.semantics.modes.runs.passing_runs import PassingRuns
from torchlint.semantics.modes.runs.sure_runs import SureRuns
from torchlint.semantics.purpose import Purpose, is_evaluation, speaks_of_evaluation_data
from torchlint.semantics.unrecorded.shown_loops import prints_each, saves_picture, shows, sums_up
from torchlint.semantics.unrecorded.unneeded_graphs import UnneededGraphs

Node = TypeVar("Node")
Place = TypeVar("Place")

_WRAPPED = (*LOOPS, ast.Expr, ast.Assign, ast.With, ast.If)
"""The statements that can be put under ``no_grad`` as they are."""
_TRAINING = ("backward", "manual_backward", "step", "fit", "learn")
"""What is called where something learns, or acts in an environment."""
_NEAR = 7
"""So many statements make a block of their own at most where only the first and the last of them evaluate."""


@dataclass(frozen=True, eq=False, slots=True)
class RecordedEvaluation(Generic[Node, Place]):
    """An evaluation with autograd on: all of a ``function``, or neighbouring ``statements``.

    It is ``mendable`` if autograd can be turned off for it: no value and no control is handed to code outside meanwhile.
    ``unneeded`` tells whether that is certain to change nothing. With a ``test``, they are an evaluation where that ``holds``,
    or does not, and a training else.
    """

    function: Place | None
    statements: tuple[Place, ...]
    mendable: bool
    unneeded: Fact
    test: Node | None = None
    holds: bool = False
    is_shown: bool = False
    """Whether the statements show what comes out one by one, and somebody looks at it before they go on; or what they record
    goes at once.
    """
    is_printed: bool = False
    """Whether they are loops at the top level that print something in each round, as notebooks do."""
    is_assumed: bool = False
    """Whether it is only assumed that autograd records the model."""


class Evaluations:
    """Finds the evaluations of a file that are recorded by autograd for no backward pass."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._gradients = semantics.of(GradientUses)
        self._handed_out = semantics.of(HandedOut)
        self._passing = semantics.of(PassingRuns)
        self._looked_at: set[ast.stmt] = set()
        self._entered: set[ast.stmt] = set()
        self._summing: dict[Loop, bool] = {}
        self._found: dict[ast.Call, list[RecordedEvaluation[ast.expr, ast.stmt]]] = {}

    @cached_property
    def recorded(self) -> dict[ast.Call, list[RecordedEvaluation[ast.expr, ast.stmt]]]:
        """The evaluations with autograd on, by the first call in each of them that runs a model."""
        for scope, evaluated in self._semantics.of(EvaluatedRuns).by_scope.items():
            self._consider(scope, sorted(evaluated, key=self._in_order))
        return self._found

    # --- what is pure evaluation -------------------------------------------------------------------------------------

    def _consider(self, scope: FlowScope, evaluated: list[Evaluated]) -> None:
        """Finds what evaluates in a scope: all of it, or some of its statements."""
        if isinstance(scope, FUNCTIONS):
            frozen = self._semantics.of(FrozenModels)
            evaluated = [found for found in evaluated if not frozen.is_frozen(scope, found.model, found.run.node)]
        else:
            evaluated = [found for found in evaluated if not self._semantics.of(Purpose).is_trial(found.run.node)]
        frozen_results, differentiating = self._semantics.of(FrozenResults), self._semantics.of(DifferentiatingModels)
        evaluated = [found for found in evaluated if not frozen_results.is_graphless_run(found.run.call)]
        evaluated = [found for found in evaluated if not differentiating.may_be(found.run.call.func)]
        if not evaluated:
            return
        always = [found for found in evaluated if found.condition is None and not self._is_warm_up(found)]
        if isinstance(scope, FUNCTIONS) and always and self._is_pure(scope, always):
            if scope not in self._looked_at and self._is_worth_it(scope, always):
                self._looked_at.add(scope)
                self._add_function(scope, always)
            return
        for found in evaluated:
            if found.condition is not None:
                self._consider_conditional(found)
        blocks: dict[ast.stmt, list[Evaluated]] = {}
        for found in always:
            blocks.setdefault(self._block(found)[0], []).append(found)
        for together in blocks.values():
            self._consider_block(self._block(together[0]), together)

    def _in_order(self, found: Evaluated) -> tuple[bool, tuple[int, int]]:
        """The order of evaluations in a scope: of models that are left so, those in loops come first."""
        is_single = found.is_settled and not any(self._semantics.tree.loops(found.run.node))
        return is_single, position(found.run.node)

    def _block(self, found: Evaluated) -> list[ast.stmt]:
        """The statements among which a model is put into evaluation mode: where nothing is trained, also under a condition."""
        tree = self._semantics.tree
        statement: ast.stmt = tree.statement(found.switch)
        while self._only_predicts and isinstance(around := tree.parent(statement), ast.If):
            if tree.inside(found.run.node, around):
                break
            statement = around
        return tree.block(statement)

    def _is_pure(self, function: Function, evaluated: list[Evaluated]) -> bool:
        """Whether a function does nothing but evaluate models that it is given."""
        made = any(found.model.root is function and not found.model.is_given for found in evaluated)
        return not made and not self._gradients.used_in(function.body)

    def _is_worth_it(self, function: Function, evaluated: list[Evaluated]) -> bool:
        """Whether a function surely evaluates: round a loop, or with numbers for a result; and hands out no graph unasked."""
        looped = any(self._is_looped(found) or self._is_round(found) for found in evaluated)
        if not looped and all(found.is_settled for found in evaluated) and not self._is_called_in_loop(function):
            return False
        if not looped and all(self._passing.is_cut_there(found.run.call) for found in evaluated):
            return False
        if self._hands_out(function, evaluated):
            sites = self._semantics.facts.call_sites(function)
            if is_evaluation(function.name):
                return looped or bool(sites)
            if any(map(self._goes_through_evaluation_data, evaluated)):
                return True
            return looped and bool(sites) and all(map(self._is_asked_by_evaluation, sites))
        return looped or is_evaluation(function.name)

    def _goes_through_evaluation_data(self, found: Evaluated) -> bool:
        """Whether a loop that is entered after the mode was set goes through data that are called those of an evaluation."""
        loops = (loop for loop in self._semantics.tree.loops(found.run.node) if isinstance(loop, ast.For))
        return any(
            speaks_of_evaluation_data(loop.iter) and not self._semantics.tree.inside(found.switch, loop) for loop in loops
        )

    def _is_warm_up(self, found: Evaluated) -> bool:
        """Whether a model is run once, outside of loops, and what comes out is thrown away: ``_ = model(zeros)``."""
        is_direct = found.run.node is found.run.call and found.run.handed is None
        if not is_direct or any(self._semantics.tree.loops(found.run.node)):
            return False
        match self._semantics.tree.statement(found.run.node):
            case ast.Assign(targets=[ast.Name(id="_")], value=value) | ast.Expr(value=value):
                return found.run.node in (value, value.body if isinstance(value, ast.IfExp) else None)
        return False

    def _is_called_in_loop(self, function: Function) -> bool:
        """Whether a loop of the file calls a function."""
        return any(any(self._semantics.tree.loops(site)) for site in self._semantics.facts.call_sites(function))

    def _is_asked_by_evaluation(self, site: ast.Call) -> bool:
        """Whether a call stands in a function that is called like one that evaluates, and needs no gradients."""
        function = self._semantics.tree.function(site)
        return isinstance(function, FUNCTIONS) and is_evaluation(function.name) and not self._gradients.used_in(function.body)

    def _is_looped(self, found: Evaluated) -> bool:
        """Whether the model is run in a loop that is entered after it was put into evaluation mode, perhaps in a function."""
        loops = self._semantics.tree.loops
        if found.is_looped or (found.run.node is not found.run.call and any(loops(found.run.call))):
            return True
        if any(self._is_in_comprehension(call) for call in {found.run.node, found.run.call}):
            return True
        return any(not self._semantics.tree.inside(found.switch, loop) for loop in loops(found.run.node))

    def _is_in_comprehension(self, call: ast.Call) -> bool:
        """Whether a call is made for each item that a comprehension goes through."""
        child: ast.AST = call
        for parent in self._semantics.tree.ancestors(call):
            if isinstance(parent, ast.stmt):
                break
            if isinstance(parent, COMPREHENSIONS) and not (
                isinstance(child, ast.comprehension) and child is parent.generators[0]
            ):
                return True
            child = parent
        return False

    def _is_so_each_round(self, found: Evaluated) -> bool:
        """Whether a loop sets the mode in each of its rounds by names that no round changes, and then runs the model."""
        assert found.condition is not None
        names = [part for part in ast.walk(found.condition[0]) if isinstance(part, ast.Name)]
        bound = [binding.node for name in names for binding in self._semantics.bindings.reaching(name)]
        if not bound or any(isinstance(part, (ast.Call, ast.Attribute)) for part in ast.walk(found.condition[0])):
            return False
        inside = self._semantics.tree.inside
        return any(not any(inside(node, loop) for node in bound) for loop in self._semantics.tree.loops(found.run.node))

    def _is_repeated(self, found: Evaluated) -> bool:
        """Whether the model is evaluated in each round of a loop that trains it, or another: in a function that a loop calls;
        or of a loop that does nothing else.
        """
        loops = self._semantics.tree.loops
        if any(loop in self._loops_with_backward for loop in loops(found.switch)):
            return True
        if any(loops(found.switch)):
            return self._is_round(found)
        return self._semantics.tree.function(found.switch) in self._training_rounds and not self._passing.is_cut_there(
            found.run.call
        )

    def _is_round(self, found: Evaluated) -> bool:
        """Whether one loop puts the model into evaluation mode, runs it and adds up what comes out, in each round; a program
        that only predicts, and a loop through data that are called those of an evaluation, may do anything with that.
        """
        own = next(self._semantics.tree.loops(found.switch), None)
        if own is None or own is not next(self._semantics.tree.loops(found.run.node), None):
            return False
        if own not in self._summing:
            is_of_prediction = isinstance(own, ast.For) and self._only_predicts
            self._summing[own] = sums_up(own) or is_of_prediction or self._passing.goes_through_evaluation_data(own)
        return self._summing[own]

    @cached_property
    def _only_predicts(self) -> bool:
        """Whether the file loads the weights of a model, and neither trains nor acts in an environment."""
        calls = self._semantics.facts.calls
        return bool(calls.get("load_state_dict")) and not any(map(calls.get, _TRAINING))

    @cached_property
    def _training_rounds(self) -> set[ast.AST | None]:
        """The functions that back-propagate in no loop of their own, and that the file calls in one."""
        calls = (call for name in ("backward", "manual_backward") for call in self._semantics.facts.calls.get(name, ()))
        tree, sites = self._semantics.tree, self._semantics.facts.call_sites
        around = [(tree.function(call), any(tree.loops(call))) for call in calls]
        looped = {function for function, has_loop in around if has_loop}
        functions = {function for function, _ in around if isinstance(function, FUNCTIONS) and function not in looped}
        return {function for function in functions if any(any(tree.loops(site)) for site in sites(function))}

    @cached_property
    def _loops_with_backward(self) -> set[Loop]:
        """The loops that something is back-propagated in."""
        calls = (call for name in ("backward", "manual_backward") for call in self._semantics.facts.calls.get(name, ()))
        return {parent for call in calls for parent in self._semantics.tree.ancestors(call) if isinstance(parent, LOOPS)}

    def _hands_out(self, function: Function, evaluated: list[Evaluated]) -> bool:
        """Whether a function hands out the graph of the models' outputs."""
        calls = self._handed_out.calls(function)
        return any(call in calls for found in evaluated for call in (found.run.node, found.run.call))

    # --- statements that evaluate ------------------------------------------------------------------------------------

    def _consider_block(self, block: list[ast.stmt], evaluated: list[Evaluated]) -> None:
        """Adds the statements that run models time and again, without gradients, where the mode is set in the same block."""
        group: list[tuple[int, Evaluated]] = []
        inside = self._by_statement(block, evaluated)
        for index, statement in enumerate(block):
            found = self._evaluated_in(statement, inside.get(statement, []))
            if found is None:
                self._consider_rounds(statement, inside.get(statement, []))
                continue
            if group and not self._belong_together(block[group[-1][0] : index + 1]):
                self._add_statements(block[group[0][0] : group[-1][0] + 1], [member for _, member in group])
                group = []
            group.append((index, found))
        if group:
            self._add_statements(block[group[0][0] : group[-1][0] + 1], [member for _, member in group])

    def _consider_rounds(self, loop: ast.stmt, evaluated: list[Evaluated]) -> None:
        """Looks in a loop whose rounds train for what they evaluate besides, of models put into evaluation mode before:
        for loops, and for anything where the rounds train in loops, an epoch each.
        """
        if not evaluated or not isinstance(loop, LOOPS) or loop in self._entered or not self._gradients.used_in([loop]):
            return
        self._entered.add(loop)
        if self._semantics.of(Purpose).is_reinforcement_learning:
            return
        trains = [statement for statement in loop.body if self._gradients.used_in([statement])]
        is_of_epochs = all(isinstance(statement, LOOPS) for statement in trains)
        inner = [statement for statement in loop.body if is_of_epochs or isinstance(statement, LOOPS)]
        kept = [found for found in evaluated if not self._passing.is_cut(found)]
        if inner and kept:
            self._consider_block(inner, kept)

    def _by_statement(self, block: list[ast.stmt], evaluated: list[Evaluated]) -> dict[ast.stmt, list[Evaluated]]:
        """Which statement of a block has the run of which evaluation, as far as it comes behind the setting of the mode."""
        statements = set(block)
        found: dict[ast.stmt, list[Evaluated]] = {}
        for each in evaluated:
            around: Iterator[ast.AST] = iter((each.run.node, *self._semantics.tree.ancestors(each.run.node)))
            statement = next((node for node in around if isinstance(node, ast.stmt) and node in statements), None)
            if statement is not None and ends_before(each.switch, statement):
                found.setdefault(statement, []).append(each)
        return found

    def _evaluated_in(self, statement: ast.stmt, inside: list[Evaluated]) -> Evaluated | None:
        """What a statement evaluates again and again, where it is to be put under ``no_grad`` as it is."""
        if not any(self._is_looped(found) or self._is_repeated(found) for found in inside):
            return None
        if statement in self._looked_at or not isinstance(statement, (*_WRAPPED, ast.Return)):
            return None
        self._looked_at.add(statement)
        if self._gradients.used_in([statement]) or self._is_of_function(inside[0]) or isinstance(statement, ast.Return):
            return None
        if isinstance(statement, ast.Assign) and any(map(self._is_differentiated, statement.targets)):
            return None
        return inside[0]

    def _is_differentiated(self, target: ast.expr) -> bool:
        """Whether what a variable is assigned is handed to something that computes gradients: ``cam.of(outputs)``."""
        names = [part for part in ast.walk(target) if isinstance(part, ast.Name)]
        for binding in filter(None, map(self._semantics.bindings.of, names)):
            for use in binding.uses:
                around = iter(self._semantics.tree.ancestors(use))
                for parent in around:
                    if isinstance(parent, ast.stmt):
                        break
                    if isinstance(parent, ast.Call) and self._gradients.call_uses(parent):
                        return True
        return False

    def _is_of_function(self, found: Evaluated) -> bool:
        """Whether the finding is one about the function that evaluates, and not about the call of it; it is added, then."""
        function = self._semantics.tree.function(found.run.call)
        if found.run.node is found.run.call or not isinstance(function, ast.FunctionDef) or not is_evaluation(function.name):
            return False
        if function not in self._looked_at and self._hands_out(function, [found]):
            return False
        if function not in self._looked_at:
            self._add_function(function, [Evaluated(found.switch, found.model, replace(found.run, node=found.run.call))])
        self._looked_at.add(function)
        return True

    def _consider_conditional(self, found: Evaluated) -> None:
        """Adds the statement that runs a model for a training and for an evaluation, behind what sets the mode for both."""
        assert found.condition is not None
        statement = self._behind_condition(found)
        if statement is None or statement in self._looked_at or not (self._is_looped(found) or self._is_so_each_round(found)):
            return
        self._looked_at.add(statement)
        if self._gradients.used_in([statement], found.assumed):
            return
        suspends = any(isinstance(part, SUSPENDING) for part in ast.walk(statement))
        mendable = not suspends and isinstance(statement, _WRAPPED)
        unneeded = unknown("the same code trains under another condition")
        self._add(found, RecordedEvaluation(None, (statement,), mendable, unneeded, *found.condition))

    def _behind_condition(self, found: Evaluated) -> ast.stmt | None:
        """The statement with a run that comes behind the setting of the mode, or behind the condition around that."""
        tree = self._semantics.tree
        around = [node for node in tree.ancestors(found.run.node) if isinstance(node, ast.stmt)]
        for statement in (tree.statement(found.switch), *tree.ancestors(found.switch)):
            if not isinstance(statement, ast.stmt) or statement in around:
                continue
            behind = next((node for node in around if node in tree.block(statement)), None)
            if behind is not None:
                return behind if ends_before(statement, behind) else None
        return None

    def _belong_together(self, statements: list[ast.stmt]) -> bool:
        """Whether statements that evaluate, and those between them, go into one block."""
        simple = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
        return (
            len(statements) <= _NEAR
            and all(isinstance(statement, simple) for statement in statements)
            and not self._gradients.used_in(statements)
        )

    # --- what is found -----------------------------------------------------------------------------------------------

    def _add_function(self, function: Function, evaluated: list[Evaluated]) -> None:
        suspends = any(isinstance(part, SUSPENDING) for part in walk_body(function.body))
        mendable = isinstance(function, ast.FunctionDef) and not suspends
        unneeded = self._semantics.of(UnneededGraphs).of_function(function)
        shown = [loop for found in evaluated for loop in self._semantics.tree.loops(found.run.call)]
        is_shown = all(map(shows, shown)) if shown else saves_picture(function)
        is_shown = is_shown or self._passing.are_of_function(function, evaluated)
        self._add(evaluated[0], RecordedEvaluation(function, (), mendable, unneeded, is_shown=is_shown))

    def _add_statements(self, statements: list[ast.stmt], evaluated: list[Evaluated]) -> None:
        suspends = any(isinstance(part, SUSPENDING) for statement in statements for part in ast.walk(statement))
        unneeded = self._semantics.of(UnneededGraphs).of_statements(statements)
        shown = all(map(shows, statements)) or self._passing.are_of_statements(evaluated)
        around = self._semantics.tree.parent(statements[0])
        printed = isinstance(around, ast.Module) and all(map(prints_each, statements))
        found: RecordedEvaluation[ast.expr, ast.stmt] = RecordedEvaluation(
            None, tuple(statements), not suspends, unneeded, is_shown=shown, is_printed=printed
        )
        self._add(evaluated[0], found)

    def _add(self, first: Evaluated, found: RecordedEvaluation[ast.expr, ast.stmt]) -> None:
        is_assumed = not self._semantics.of(SureRuns).is_sure(first)
        self._found.setdefault(first.run.node, []).append(replace(found, is_assumed=is_assumed))
