"""Schedules that nothing moves on, or that go on with an optimizer that is not used any more."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.bindings import Binding
from torchlint.semantics.code.tree import FUNCTIONS, Function, argument, dotted, last_name
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions
from torchlint.semantics.kinds.results import WARM_UPS
from torchlint.semantics.memory.references import References
from torchlint.semantics.steps.acts import Act, Acts, Deed

Node = TypeVar("Node")

PACKAGE = "torch.optim.lr_scheduler."
_HARMLESS = frozenset({"state_dict", "load_state_dict", "get_last_lr", "get_lr", "last_epoch", "optimizer", "base_lrs"})
"""What is asked of a schedule without moving it on."""
_PLAIN = frozenset({"builtins.object", "abc.ABC", "torch.nn.Module", "torch.nn.modules.module.Module"})
"""Base classes that move no schedule on."""
_DEEP = 2
"""Through so many functions a schedule is followed."""
_SAVING = re.compile(r"(^|_)save")
"""What functions are called that write a schedule to a file with the rest of a checkpoint."""


@dataclass(frozen=True, eq=False, slots=True)
class LeftBehind(Generic[Node]):
    """The ``scheduler`` that is moved on by ``step``, and whose ``optimizer`` another one has replaced before."""

    optimizer: Node
    scheduler: Node
    step: Node


class IdleSchedules:
    """Finds the schedules of a file that change no learning rate which is used."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._assumptions = semantics.of(Assumptions)

    @cached_property
    def _acts(self) -> list[Act]:
        return self._semantics.of(Acts).all

    @cached_property
    def made(self) -> dict[ast.Call, str]:
        """The calls that make a scheduler and are assigned to a variable, with the name of that."""
        found: dict[ast.Call, str] = {}
        if self._semantics.words.all.isdisjoint({"lr_scheduler", *WARM_UPS}):
            return found
        for statement in self._tree.of_type(ast.Assign):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if self._is_scheduler(call):
                    found[call] = name
        return found

    def _is_scheduler(self, call: ast.Call) -> bool:
        name = self._semantics.qualified_name(call.func) or ""
        return name.startswith(PACKAGE) or (name.startswith("transformers.") and name.rpartition(".")[2] in WARM_UPS)

    def uses(self, name: str) -> Iterator[ast.Name]:
        """All uses of a name in the file, in whatever scope."""
        return (node for node in self._tree.of_type(ast.Name) if node.id == name and isinstance(node.ctx, ast.Load))

    def is_harmless(self, use: ast.expr) -> bool:
        """Whether a use of a schedule does not move it on."""
        match self._tree.parent(use):
            case ast.Attribute(attr=name):
                return name in _HARMLESS
            case ast.Compare() | ast.If():
                return True
            case ast.Call(func=function, args=arguments) if use in arguments:
                return _SAVING.search(last_name(function)) is not None
        return False

    # --- never moved on ----------------------------------------------------------------------------------------------

    @cached_property
    def unused(self) -> dict[ast.Call, ast.expr]:
        """The calls that make a scheduler which nothing moves on, with the step of an optimizer beside."""
        found: dict[ast.Call, ast.expr] = {}
        backwards = [act for act in self._acts if act.deed is Deed.BACKWARD and act.certain]
        steps = [act for act in self._acts if act.deed is Deed.STEP and act.certain] + self._steps_in_turn
        for call, name in self.made.items() if backwards and steps and not self._is_set_by_hand else ():
            scope = self._tree.function(call)
            if scope is None and any(self._tree.function(step.call) is not None for step in steps):
                if self._is_imported or not all(map(self.is_harmless, self.uses(name))):
                    continue
            elif not all(self._moves_nothing(use, call) for use in self.uses_of(call, name, scope)):
                continue
            own = [step for step in steps if scope is None or self._tree.inside(step.call, scope)]
            if (step := self._of_its_optimizer(call, own or steps)) is not None:
                found[call] = step.call
        found = {call: step for call, step in found.items() if not self._is_made_again(call, found)}
        for call, owner in self._kept_idly.items() if backwards and steps and not self._is_set_by_hand else ():
            if (step := self._of_kept(call, [each for each in steps if self._tree.inside(each.call, owner)])) is not None:
                found[call] = step.call
        return found

    @cached_property
    def _steps_in_turn(self) -> list[Act]:
        """The steps of optimizers that a loop goes through, as they are written out: ``for o in [one, other]: o.step()``."""
        found: list[Act] = []
        for call in self._semantics.facts.calls.get("step", ()):
            match call:
                case ast.Call(func=ast.Attribute(value=ast.Name() as stepped), args=[]):
                    bindings = self._semantics.bindings.reaching(stepped)
                    if bindings and all(each.form is Form.LOOP and not each.path for each in bindings):
                        parts = [part for each in bindings for part in _written_out(each.value)]
                        found += [
                            Act(Deed.STEP, call, part) for part in parts if self._semantics.kind(part).type is Type.OPTIMIZER
                        ]
        return found

    @cached_property
    def _is_set_by_hand(self) -> bool:
        """Whether the file sets learning rates itself: ``group["lr"] = rate``; they do not stay as they are, then."""
        targets = [target for statement in self._tree.of_type(ast.Assign) for target in statement.targets]
        for target in (*targets, *(statement.target for statement in self._tree.of_type(ast.AugAssign))):
            match target:
                case ast.Subscript(value=group, slice=ast.Constant(value="lr")) if _is_group(group):
                    return True
        return False

    def _of_its_optimizer(self, making: ast.Call, steps: list[Act]) -> Act | None:
        """The first step of the optimizer that a scheduler is made for; of another one where its own is stepped elsewhere."""
        optimizer = argument(making, 0, "optimizer")
        if not isinstance(optimizer, ast.Name):
            return steps[0]
        for step in steps:
            if isinstance(step.of, ast.Name) and step.of.id == optimizer.id:
                return step
        scope = self._tree.function(making)
        others = all(isinstance(step.of, ast.Name) and self._tree.function(step.call) is scope for step in steps)
        return None if others else steps[0]

    def _is_made_again(self, call: ast.Call, unused: Container[ast.Call]) -> bool:
        """Whether the variable is given another scheduler behind, which is moved on: the rate changes after all."""
        scope, flow = self._tree.function(call), self._semantics.control_flow
        others = [each for each, name in self.made.items() if name == self.made[call] and each not in unused]
        return any(self._tree.function(other) is scope and flow.may_follow(call, other) for other in others)

    @cached_property
    def _kept_idly(self) -> dict[ast.Call, ast.ClassDef]:
        """The calls that make a scheduler for an attribute of the program's own object, which nothing in it asks for."""
        found: dict[ast.Call, ast.ClassDef] = {}
        words = self._semantics.words.all
        if "lr_scheduler" not in words or not words.isdisjoint({"getattr", "__dict__"}):
            return found
        attributes = self._tree.of_type(ast.Attribute)
        for statement in self._tree.of_type(ast.Assign):
            match statement:
                case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=value):
                    calls = [call for call in _made_in(value) if self._is_scheduler(call)]
                    owner = self._semantics.facts.self_class(target.value) if calls else None
                    if owner is None or not self._is_whole(owner):
                        continue
                    uses = (each for each in attributes if each.attr == name and isinstance(each.ctx, ast.Load))
                    if all(self.is_harmless(use) or self._is_package(use) for use in uses) and self._is_own(name, owner):
                        found.update(dict.fromkeys(calls, owner))
        return found

    def _is_own(self, attribute: str, owner: ast.ClassDef) -> bool:
        """Whether no other code names an attribute: the file is a program, or no file of the project that may have it does."""
        if self._semantics.elsewhere.speaks_of(f"schedules of others: {attribute}") is True:
            return False
        if not self._is_imported:
            return True
        project, file = self._semantics.elsewhere.around, self._semantics.elsewhere.file
        if project is None or not file.endswith(".py"):
            return False
        stem = os.path.basename(file).removesuffix(".py")
        callers = self._semantics.elsewhere.callers
        return not project.naming(attribute, (stem, owner.name)) and callers is not None and not callers.heirs(owner.name)

    def _of_kept(self, making: ast.Call, steps: list[Act]) -> Act | None:
        """The first step in a class of the optimizer that a scheduler is made for; none where only others are stepped."""
        optimizer = argument(making, 0, "optimizer")
        own = dotted(optimizer) if optimizer is not None else None
        if not isinstance(optimizer, ast.Attribute):
            return next(iter(steps), None)
        return next((step for step in steps if step.of is not None and dotted(step.of) == own), None)

    def _is_package(self, use: ast.Attribute) -> bool:
        """Whether what is read is the package of the schedulers: ``torch.optim.lr_scheduler``."""
        return f"{self._semantics.qualified_name(use)}." == PACKAGE

    def _is_whole(self, owner: ast.ClassDef) -> bool:
        """Whether a class has all of its methods in sight, a step of an optimizer among them."""
        plain = all(self._semantics.qualified_name(base) in _PLAIN for base in owner.bases)
        return plain and any(act.deed is Deed.STEP and act.certain and self._tree.inside(act.call, owner) for act in self._acts)

    def uses_of(self, making: ast.Call, name: str, scope: ast.AST | None) -> Iterator[ast.Name]:
        """The uses of the variable of a function that a scheduler is assigned to; of the module's, all of that name."""
        statement = self._tree.statement(making)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        binding = self._semantics.bindings.of(target) if isinstance(target, ast.Name) and scope is not None else None
        if binding is None or name in binding.scope.foreign:
            return self.uses(name)
        return iter(binding.uses)

    @cached_property
    def _is_imported(self) -> bool:
        """Whether the file may be a library, whose variables others use: nothing in it runs as a program."""
        return not self._semantics.words.speak_of("__main__")

    def _moves_nothing(self, use: ast.Name, making: ast.Call) -> bool:
        """Whether a use does not move the schedule on that a call makes: it does not run where that was made, or never."""
        if self.is_harmless(use):
            return True
        here = self._tree.function(use)
        if here is self._tree.function(making):
            bindings = self._semantics.bindings.reaching(use)
            if bindings and all(binding.value is not making for binding in bindings):
                return True
            if self._assumptions.excludes(self._assumptions.at(making), use):
                return True
            if isinstance(here, FUNCTIONS) and self._is_returned_idly(use, here):
                return True
            return self._is_handed_on_idly(use, self._assumptions.at(making), _DEEP)
        return isinstance(here, FUNCTIONS) and self._is_parameter(use) and self._is_never_run(here, use)

    def _is_parameter(self, use: ast.Name) -> bool:
        bindings = self._semantics.bindings.reaching(use)
        return bool(bindings) and all(binding.form is Form.PARAMETER for binding in bindings)

    def _is_never_run(self, function: Function, use: ast.Name) -> bool:
        """Whether no call of a function gets to a use in it, by the constants that it is given."""
        sites = self._semantics.inference.call_sites(function)
        return bool(sites) and all(
            self._assumptions.excludes(self._assumptions.within(function, site, self._assumptions.at(site)), use)
            for site in sites
        )

    def _is_returned_idly(self, use: ast.Name, function: Function) -> bool:
        """Whether a program's function returns a schedule, alone or with others, and no caller does anything with it."""
        parent = self._tree.parent(use)
        place = parent.elts.index(use) if isinstance(parent, ast.Tuple) else None
        returned = parent if isinstance(parent, ast.Tuple) else use
        binding = self._semantics.bindings.of(function)
        if not isinstance(self._tree.parent(returned), ast.Return) or binding is None or self._is_imported:
            return False
        sites = [(mention, self._tree.parent(mention)) for mention in binding.uses]
        return bool(sites) and all(
            isinstance(site, ast.Call) and site.func is mention and self._is_taken_idly(site, place) for mention, site in sites
        )

    def _is_taken_idly(self, site: ast.Call, place: int | None) -> bool:
        """Whether a function gives what it returns, or what stands at a place of it, a name that moves no schedule on."""
        taken: ast.expr | None = None
        match self._tree.parent(site):
            case ast.Assign(targets=[target]) if place is None:
                taken = target
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if place is not None and place < len(targets):
                taken = targets[place] if not any(isinstance(each, ast.Starred) for each in targets) else None
        binding = self._semantics.bindings.of(taken) if isinstance(taken, ast.Name) else None
        if binding is None or not isinstance(binding.scope.node, FUNCTIONS) or binding.name in binding.scope.foreign:
            return binding is not None and all(map(self.is_harmless, self.uses(binding.name)))
        return all(
            self.is_harmless(use) or self._is_handed_on_idly(use, self._assumptions.at(site), _DEEP) for use in binding.uses
        )

    def _is_handed_on_idly(self, use: ast.Name, assumed: Assumption, depth: int) -> bool:
        """Whether a schedule is handed to a function of the file that, with what else it is given, does not move it on."""
        call = self._tree.parent(use)
        call = self._tree.parent(call) if isinstance(call, ast.keyword) else call
        function = self._semantics.of(References).callee(call) if isinstance(call, ast.Call) and depth else None
        if function is None or not isinstance(call, ast.Call) or use is call.func:
            return False
        within = self._assumptions.within(function, call, assumed)
        parameters = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        given = [each for each in parameters if self._semantics.facts.argument(call, function, each) is use]
        bindings = [self._semantics.bindings.of(each) for each in given]
        return bool(bindings) and all(
            binding is not None
            and all(
                self.is_harmless(inner)
                or self._assumptions.excludes(within, inner)
                or self._is_handed_on_idly(inner, within, depth - 1)
                for inner in binding.uses
            )
            for binding in bindings
        )

    # --- of an optimizer that is replaced ----------------------------------------------------------------------------

    @cached_property
    def left_behind(self) -> dict[ast.Call, LeftBehind[ast.expr]]:
        """The calls that make another optimizer, while the schedule of the one before goes on."""
        found: dict[ast.Call, LeftBehind[ast.expr]] = {}
        for making in self.made:
            optimizer = next(iter(making.args), None)
            if not isinstance(optimizer, ast.Name):
                continue
            scope = self._semantics.control_flow.scope(making)
            for schedule in (act for act in self._acts if act.deed is Deed.SCHEDULE):
                if self._semantics.control_flow.scope(schedule.call) is not scope or not isinstance(schedule.of, ast.Name):
                    continue
                reaching = self._semantics.bindings.reaching(schedule.of)
                if not any(binding.value is making for binding in reaching):
                    continue
                for other in self._replacing(optimizer, making, schedule, reaching):
                    found.setdefault(other, LeftBehind(optimizer, schedule.of, schedule.call))
        return found

    def _replacing(
        self, optimizer: ast.Name, making: ast.Call, schedule: Act, schedules: tuple[Binding, ...]
    ) -> Iterator[ast.Call]:
        """The calls that make what an optimizer's variable holds afterwards, where the schedule is not made anew."""
        flow = self._semantics.control_flow
        first = self._semantics.bindings.reaching(optimizer)
        again = [binding.node for binding in schedules]
        for step in (act for act in self._acts if act.deed is Deed.STEP and act.certain):
            if not isinstance(step.of, ast.Name) or step.of.id != optimizer.id:
                continue
            others = [binding for binding in self._semantics.bindings.reaching(step.of) if binding not in first]
            for binding in others:
                value = binding.value
                if not isinstance(value, ast.Call) or self._semantics.kind(value).type is not Type.OPTIMIZER:
                    continue
                if flow.may_follow(making, value) and flow.may_follow(value, schedule.call, avoiding=again):
                    if flow.may_follow(value, step.call) and not self._is_dropped(optimizer, making, value):
                        yield value

    def _is_dropped(self, optimizer: ast.Name, making: ast.Call, value: ast.Call) -> bool:
        """Whether the schedule and the new optimizer are made under conditions that exclude one another."""
        return self._assumptions.excludes(self._assumptions.at(making), value)


def _made_in(value: ast.expr) -> list[ast.Call]:
    """The calls whose results an attribute holds: itself, or those that a list is written of."""
    match value:
        case ast.Call():
            return [value]
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [part for part in parts if isinstance(part, ast.Call)]
        case ast.ListComp(elt=ast.Call() as each):
            return [each]
    return []


def _written_out(value: ast.expr | None) -> list[ast.expr]:
    return value.elts if isinstance(value, (ast.List, ast.Tuple)) else []


def _is_group(value: ast.expr) -> bool:
    """Whether a value is called like a group of an optimizer's parameters: ``group``, ``optimizer.param_groups[0]``."""
    return "group" in last_name(value.value if isinstance(value, ast.Subscript) else value) or last_name(value) in ("g", "pg")
