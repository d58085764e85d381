"""Which runs of models are evaluations: behind `eval()`, with autograd on, and nothing of what comes out is back-propagated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from torchlint.semantics import Semantics, Type
from torchlint.semantics.autograd.gradient_uses import GradientUses
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.control_flow import Ahead, ControlFlow, FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to, last_name, walk_body
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modes.mentions import Mentions
from torchlint.semantics.modes.modes import EVAL, TRAIN, Mode, Modes, Run
from torchlint.semantics.modes.ruled_gradients import RuledGradients
from torchlint.semantics.modes.run_conditions import RunConditions
from torchlint.semantics.modes.switches import Switches
from torchlint.semantics.observers.unrecorded_calls import UnrecordedCalls
from torchlint.semantics.purpose import Purpose, is_evaluation

_MOST_BLOCKS = 200
"""So many blocks of one scope that put a model into evaluation mode are looked at; code that has more is generated."""
_MOST_CALLERS = 3
"""So many callers of callers are asked, one behind the other."""
_SHORT = 6
"""So many statements has a function at most that only sets modes."""
_MODEL = re.compile(r"(^|_)(model|net|network|backbone)$", re.IGNORECASE)
"""What models are called that something else is handed."""
_SETTING_UP = re.compile(r"^__init__$|(^|_)(load|init\w*|build|set_?up|create|prepare|restore|make)(_|$)", re.IGNORECASE)
"""What methods are called that run before the others of their object."""
_Switch: TypeAlias = tuple[ast.Call, list[Reference], Mode]
_OF_TORCH = ("torch", "Module", "zero_grad", "load_state_dict")
"""Parts of words of files about torch: what has an ``eval`` elsewhere is no model of ours."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """A run of a model behind the call that put it into evaluation mode.

    With a ``condition`` it is one only where that test comes out so: else, what the model returns is back-propagated.
    ``is_settled`` if the model was put into evaluation mode for good, somewhere else; ``is_looped`` if a function of another
    file runs it in a loop.
    """

    switch: ast.Call
    model: Reference
    run: Run
    condition: tuple[ast.expr, bool] | None = None
    assumed: Assumption | None = None
    is_settled: bool = False
    is_looped: bool = False


class _RecordedRuns:
    """The runs of a model in a scope with autograd on, and which of them follow a place."""

    def __init__(self, scope: FlowScope, runs: Iterable[Run], training: tuple[ast.AST, ...], flow: ControlFlow) -> None:
        self._scope = scope
        self._training = training
        self._flow = flow
        self._runs: dict[ast.AST, list[tuple[int, Run]]] = {}
        """By their steps, each with its place among them."""
        for place, run in enumerate(runs):
            self._runs.setdefault(flow.step(run.node), []).append((place, run))
        self._last = list(self._runs)[-1:]
        self._followed: dict[ast.stmt, Ahead] = {}

    def behind(self, switch: ast.Call, block: ast.stmt) -> list[Run]:
        """The runs that may follow ``switch``, with no training mode set in between.

        Of several switches in one block those are left out that only lead to what an earlier one leads to: they stand in the
        same loops, and so say the same of it.
        """
        earlier = self._followed.get(block)
        if earlier.includes(switch) if earlier is not None else len(self._followed) >= _MOST_BLOCKS:
            return []
        ahead = self._flow.ahead_of(self._scope, [switch], self._training, up_to=self._last)
        self._followed[block] = ahead
        return self._among(ahead)

    def under(self, switch: ast.Call, assumed: Assumption) -> list[Run]:
        """Likewise, with nothing in between that makes something else of what is assumed."""
        changes = [binding.node for binding in assumed.names if self._flow.scope(binding.node) is self._scope]
        return self._among(self._flow.ahead_of(self._scope, [switch], [*self._training, *changes], up_to=self._last))

    def _among(self, ahead: Ahead) -> list[Run]:
        steps = self._runs.keys() & ahead.steps
        found = [numbered for step in steps for numbered in self._runs[step] if ahead.includes(numbered[1].node)]
        return [run for _, run in sorted(found, key=lambda numbered: numbered[0])]


class EvaluatedRuns:
    """Finds the runs of models in a file that evaluate and are recorded by autograd."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._modes = semantics.of(Modes)
        self._gradients = semantics.of(RuledGradients)
        self._assumptions = semantics.of(Assumptions)
        self._conditions = semantics.of(RunConditions)
        self._volatile: dict[FlowScope, bool] = {}
        self._left: dict[ast.Call, frozenset[Mode]] = {}
        """In which modes the calls of functions leave a model that these have run, too."""
        self._blocks: set[tuple[ast.stmt, Reference]] = set()
        self._runs: dict[tuple[FlowScope, Reference], _RecordedRuns] = {}
        self._called_off: dict[Function, bool] = {}
        self._looped_elsewhere: set[Run] = set()
        """The runs by functions of other files that do so in loops."""

    @cached_property
    def by_scope(self) -> dict[FlowScope, list[Evaluated]]:
        """What runs in evaluation mode in each scope."""
        found: dict[FlowScope, list[Evaluated]] = {}
        unrecorded = self._semantics.of(UnrecordedCalls)
        for switch, models, mode in self._switches():
            scope = self._semantics.control_flow.scope(switch)
            if not self._is_anothers_business(switch, scope):
                for model in models:
                    found.setdefault(scope, []).extend(self._behind(switch, scope, model, mode))
        for switch, function, model in self._settled():
            if not self._is_anothers_business(switch, function):
                found.setdefault(function, []).extend(self._evaluated_alone(switch, function, model))
        return {scope: runs for scope, runs in found.items() if not (runs and unrecorded.are_all_of(scope))}

    def _behind(self, switch: ast.Call, scope: FlowScope, model: Reference, mode: Mode) -> list[Evaluated]:
        runs, evaluated = self._recorded_runs(scope, model), list[Evaluated]()
        if mode is Mode.EVAL:
            block = self._semantics.tree.block(self._semantics.tree.statement(switch))[0]
            always = self._assumed(switch, None)
            for run in runs.behind(switch, block):
                if switch in self._left and not self._is_of_evaluation(run, switch):
                    continue
                if not self._modes.is_backpropagated(run) or self._is_evaluated(run, always):
                    evaluated.append(Evaluated(switch, model, run, is_looped=run in self._looped_elsewhere))
        condition = self._condition(switch, mode)
        if condition is not None and self._is_first(switch, model) and not self._is_ruled_by_callers(scope, condition[0]):
            found = {each.run for each in evaluated}
            assumed = self._assumed(switch, condition)
            for run in runs.under(switch, assumed):
                if run not in found and self._modes.is_backpropagated(run) and self._is_evaluated(run, assumed):
                    evaluated.append(Evaluated(switch, model, run, condition, assumed))
        return evaluated

    # --- models that are left in evaluation mode -----------------------------------------------------------------------

    def _settled(self) -> Iterator[tuple[ast.Call, Function, Reference]]:
        """The functions that find a model in evaluation mode, and what put it there for good: the making of the object whose
        methods they are, or the top level of the file.
        """
        switches, mentions = self._semantics.of(Switches).all, self._semantics.of(Mentions)
        left = {self._holder(model) for _, models, mode in switches if mode is not Mode.EVAL for model in models or ()}
        seen: set[tuple[ast.AST, tuple[str, ...]]] = set()
        for switch, models, mode in switches:
            scope = self._semantics.control_flow.scope(switch)
            for model in (models or ()) if mode is Mode.EVAL else ():
                holder = self._holder(model)
                if holder is None or holder in left or holder in seen:
                    continue
                owner, path = holder
                if isinstance(owner, ast.ClassDef):
                    if not isinstance(scope, FUNCTIONS) or not _SETTING_UP.search(scope.name) or not self._is_plain(owner):
                        continue
                    seen.add(holder)
                    for method in self._methods(owner):
                        yield switch, method, Reference(method, (method.args.args[0].arg, *path))
                elif scope is owner:
                    seen.add(holder)
                    for function in sorted(mentions.functions_knowing(model), key=mentions.functions.__getitem__):
                        yield switch, function, model

    def _holder(self, model: Reference) -> tuple[ast.AST, tuple[str, ...]] | None:
        """The class or file that a model is an attribute or a variable of, and how it is called there."""
        if model.root is self._semantics.tree.module:
            return model.root, model.path
        owner = self._semantics.tree.parent(model.root)
        if not isinstance(owner, ast.ClassDef) or not isinstance(model.root, FUNCTIONS) or len(model.path) < 2:
            return None
        given = model.root.args.args
        return (owner, model.path[1:]) if given and given[0].arg == model.path[0] else None

    def _is_plain(self, owner: ast.ClassDef) -> bool:
        """Whether a class is no module, derives from nothing, and needs gradients nowhere."""
        if any(not isinstance(base, ast.Name) or base.id not in ("object", "ABC") for base in owner.bases):
            return False
        gradients = self._semantics.of(GradientUses)
        return not any(gradients.used_in(method.body) for method in self._methods(owner))

    def _methods(self, owner: ast.ClassDef) -> list[Function]:
        """The methods of a class that find what its making left."""
        methods = (each for each in owner.body if isinstance(each, FUNCTIONS) and each.args.args)
        return [each for each in methods if not each.decorator_list and not _SETTING_UP.search(each.name)]

    def _evaluated_alone(self, switch: ast.Call, function: Function, model: Reference) -> list[Evaluated]:
        """The runs of such a model in a function that sets its mode nowhere, for whoever calls that."""
        if self._modes.settings(function, model):
            return []
        found: list[Evaluated] = []
        for run in self._modes.runs(function, model):
            within = self._semantics.tree.function(run.call)
            if run.node is not run.call and isinstance(within, FUNCTIONS) and self._finds(within, model):
                continue  # which says itself what is evaluated
            if self._may_be_evaluation(run) and not self._modes.is_backpropagated(run):
                found.append(Evaluated(switch, model, run, is_settled=True))
        return found

    def _finds(self, function: Function, model: Reference) -> bool:
        """Whether a function finds a model that is left so itself: it is of the same file or object."""
        if model.root is self._semantics.tree.module:
            return function in self._semantics.of(Mentions).functions_knowing(model)
        return self._semantics.tree.parent(function) is self._semantics.tree.parent(model.root)

    def _is_of_evaluation(self, run: Run, switch: ast.Call) -> bool:
        """Whether a function runs a model that is called like one that evaluates, in whatever mode, and is no method of it;
        or the scope itself does, and that is in evaluation mode for certain.
        """
        if run.node is run.call:
            return self._left[switch] == EVAL
        references = self._semantics.of(References)
        if references.callee(run.node) is references.callee(switch):
            return False  # which says itself what is evaluated
        if self._semantics.words.speak_of("set_grad_enabled"):
            return False  # perhaps by what functions are given
        function = self._semantics.tree.function(run.call)
        owner = self._semantics.tree.parent(function) if function is not None else None
        if isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner):
            return False
        return isinstance(function, FUNCTIONS) and is_evaluation(function.name)

    def _is_first(self, switch: ast.Call, model: Reference) -> bool:
        """Whether a call is the first in its block to set the mode of a model: others say the same of the code behind."""
        key = (self._semantics.tree.block(self._semantics.tree.statement(switch))[0], model)
        if key in self._blocks or len(self._blocks) >= _MOST_BLOCKS:
            return False
        self._blocks.add(key)
        return True

    def _switches(self) -> list[_Switch]:
        """The calls that put models into evaluation mode, or may do so, in a file about torch."""
        switches = self._semantics.of(Switches).all
        found: list[_Switch] = [
            (switch, models, mode) for switch, models, mode in switches if mode is not Mode.TRAIN and models
        ]
        is_of_torch = found and any(map(self._semantics.words.speak_of, _OF_TORCH))
        return [*found, *self._by_functions(found)] if is_of_torch else []

    def _by_functions(self, switches: list[_Switch]) -> Iterator[_Switch]:
        """The calls of functions that leave a model in evaluation mode, or perhaps in training mode instead."""
        references = self._semantics.of(References)
        seen: set[tuple[FlowScope, Reference]] = set()
        for switch, models, mode in switches:
            function = self._semantics.control_flow.scope(switch)
            if mode is not Mode.EVAL or not isinstance(function, FUNCTIONS):
                continue
            left = {model: self._modes.effect(function, model).modes for model in models if (function, model) not in seen}
            seen.update((function, model) for model in left)
            inner = [model for model, modes in left.items() if EVAL <= modes <= EVAL | TRAIN]
            if not inner:
                continue
            runs = len(function.body) > _SHORT or any(self._modes.runs(function, model) for model in inner)
            for site in self._semantics.inference.call_sites(function):
                given = given_to(site)
                outer = [found for value in given if (found := references.of(value)) is not None]
                scope = self._semantics.control_flow.scope(site)
                if isinstance(site.func, ast.Attribute) and (owner := references.of(site.func.value)) is not None:
                    outer += [Reference(owner.root, (*owner.path, *model.path[1:])) for model in inner]
                held = [each for each in outer if set(inner) & set(references.handed(each, site, function))]
                if held and scope is not function:
                    if runs or any(left[model] != EVAL for model in inner):
                        self._left[site] = frozenset[Mode]().union(*(left[model] for model in inner))
                    yield site, held, mode

    def _is_anothers_business(self, switch: ast.Call, scope: FlowScope) -> bool:
        """Whether grad mode is up to others: a framework, the callers of a module's methods, `volatile`; or it is a test."""
        if self._modes.is_managed(switch) or self._semantics.of(Purpose).is_test_case(scope):
            return True
        if self._is_volatile_in(scope):
            return True  # autograd was off, and is again once `volatile` is replaced
        owner = self._semantics.tree.parent(scope)
        return isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner)

    def _is_volatile_in(self, scope: FlowScope) -> bool:
        """Whether ``volatile`` is an argument of a call in a scope."""
        if scope not in self._volatile:
            self._volatile[scope] = self._has_volatile and any(map(_is_volatile, walk_body(scope.body)))
        return self._volatile[scope]

    @cached_property
    def _has_volatile(self) -> bool:
        return any(map(_is_volatile, self._semantics.tree.of_type(ast.keyword)))

    def _recorded_runs(self, scope: FlowScope, model: Reference) -> _RecordedRuns:
        if (scope, model) not in self._runs:
            modes = self._modes
            training = tuple(setting.node for setting in modes.settings(scope, model) if Mode.TRAIN in setting.modes)
            every = (*modes.runs(scope, model), *self._elsewhere(scope, model))
            runs = (run for run in every if self._may_be_evaluation(run))
            self._runs[scope, model] = _RecordedRuns(scope, runs, training, self._semantics.control_flow)
        return self._runs[scope, model]

    def _elsewhere(self, scope: FlowScope, model: Reference) -> Iterator[Run]:
        """The runs of a model by functions of other files that are given it, and do nothing else with it."""
        references, elsewhere = self._semantics.of(References), self._semantics.elsewhere
        for call in self._semantics.of(Mentions).calls_about(scope, model):
            given = given_to(call)
            handed = next((value for value in given if references.of(value) == model), None)
            if handed is None or references.callee(call) is not None:
                continue
            looped = elsewhere.runs(call, handed)
            if looped is not None:
                run = Run(call, call, handed=handed)
                if looped:
                    self._looped_elsewhere.add(run)
                yield run

    def _may_be_evaluation(self, run: Run) -> bool:
        """Whether a run is recorded, as far as the file tells, and of a model that is handed no other to train."""
        if not self._modes.is_recorded(run) or (run.handed is None and self._is_handed_model(run.call)):
            return False
        return not self._gradients.are_ruled_at(run.node) and not self._gradients.are_ruled_at(run.call)

    def _is_handed_model(self, call: ast.Call) -> bool:
        """Whether what is run is handed another model, and may train it: a method that adapts to a few examples first."""
        if isinstance(self._semantics.kind(call.func).definition, ast.ClassDef):
            return False
        given = given_to(call)
        named = [each for each in given if isinstance(each, (ast.Name, ast.Attribute))]
        return any(self._semantics.kind(each).type is Type.MODULE or _MODEL.search(last_name(each)) for each in named)

    # --- under conditions --------------------------------------------------------------------------------------------

    def _condition(self, switch: ast.Call, mode: Mode) -> tuple[ast.expr, bool] | None:
        """What decides whether a call puts a model into evaluation mode: the flag that it is given, or the test around."""
        flags = given_to(switch)
        if mode is Mode.UNKNOWN:
            return (flags[0], False) if flags else None  # `getattr(model, mode)()` may do anything
        return next(iter(self._assumptions.guards(switch)), None)

    def _assumed(self, switch: ast.Call, condition: tuple[ast.expr, bool] | None) -> Assumption:
        """What is so where a call puts a model into evaluation mode: that it is in none for training, and the conditions."""
        assumed = self._assumptions.at(switch) if condition is not None else Assumption()
        if condition is not None:
            self._assumptions.assume(assumed, *condition)
        if isinstance(switch.func, ast.Attribute):
            training = ast.Attribute(switch.func.value, "training", ast.Load())
            self._assumptions.assume(assumed, training, False)
        return assumed

    def _is_ruled_by_callers(self, scope: FlowScope, test: ast.expr) -> bool:
        """Whether the callers of a function decide by what they give it, and may turn autograd off for some of their calls."""
        if not isinstance(scope, FUNCTIONS):
            return False
        names = [part for part in ast.walk(test) if isinstance(part, ast.Name)]
        bindings = [binding for name in names for binding in self._semantics.bindings.reaching(name)]
        values = [part for binding in bindings for part in ast.walk(binding.value or binding.node)]
        names += [part for part in values if isinstance(part, ast.Name)]
        if not any(each.form is Form.PARAMETER for name in names for each in self._semantics.bindings.reaching(name)):
            return False
        sites = self._semantics.facts.calls.get(scope.name, ())
        return not sites or any(self._may_be_off(site, _MOST_CALLERS) for site in sites)

    def _may_be_off(self, site: ast.Call, depth: int) -> bool:
        """Whether autograd may be off where a call is made, or where some call is made of the function around it."""
        if self._semantics.no_grad.covers(site) or self._gradients.are_ruled_at(site):
            return True
        function = self._semantics.tree.function(site) if depth else None
        if not isinstance(function, FUNCTIONS):
            return False
        if function not in self._called_off:
            self._called_off[function] = False  # while it is looked at
            sites = self._semantics.facts.call_sites(function)
            self._called_off[function] = any(self._may_be_off(each, depth - 1) for each in sites)
        return self._called_off[function]

    def _is_evaluated(self, run: Run, assumed: Assumption) -> bool:
        """Whether under an assumption the model is run, and nothing of what comes out is back-propagated."""
        if not self._conditions.is_run_under(run.call, run.node, assumed):
            return False
        return not self._conditions.is_backpropagated_under(run.call, run.node, assumed)


def _is_volatile(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "volatile"
