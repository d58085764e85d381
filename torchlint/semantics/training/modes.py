"""Whether a model is in training or in evaluation mode: who sets it, who runs the model, and who trains it, scope by scope.

A model is known by a `Reference`. Within a scope, everything that may set its mode is a `Setting`, and everything that runs it
a `Run`; a call of one of the file's functions is the one or the other by what the function does with what it is handed. What
code of other files may set is `Mode.UNKNOWN`, never taken for no change.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from torchlint.semantics import torch_api
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.definitions import is_class_method, is_static
from torchlint.semantics.code.tree import FUNCTIONS, Function, in_body, last_name, walk_body
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.memory.references import Reference, References

if TYPE_CHECKING:
    from torchlint.semantics import Semantics

_FRAMEWORKS = ("pytorch_lightning.", "lightning.", "lightning_fabric.", "catalyst.", "ignite.", "fastai.", "skorch.")
"""Frameworks that set the modes of modules themselves."""
_KEEPS_MODE = re.compile(
    r"(save|load|log|print|count|watch|get|make|build|create|clip|unwrap|wrap|accumulate|initialize|init|freeze|num|is|"
    r"has|dump|convert|broadcast|sync|register|add_graph|no_sync|trainable|update_ema|ema|describe|repr|summarize|checkpoint|"
    r"set_seed|to_device|cuda|deepcopy|clone|copy)(_|$)|.*param|.*(state|checkpoint|optimizer|scheduler|ema|weights|size|flops)$",
    re.IGNORECASE,
)
"""What a function is called that takes a model, and does not set its mode."""
_SAYS_MODE = re.compile(r"eval|train(?!able)|infer|test|valid|mode(?!l)|phase", re.IGNORECASE)
"""What such a function is called where it may set the mode all the same."""
_MAY_SET_MODE = re.compile(
    r"train|eval|fit|test|valid|predict|infer|mode(?!l)|run|epoch|hook|callback|call|begin|end$|start|reset|learn|phase|switch",
    re.IGNORECASE,
)
"""What a method is called that may set the mode of the object's models."""
_READERS = frozenset({"print", "len", "isinstance", "hasattr", "id", "type", "str", "repr", "list", "tuple", "set", "dict"})
_WALKS = frozenset(
    {"sum", "any", "all", "map", "filter", "next", "iter", "zip", "enumerate", "dir", "vars", "getattr", "callable"}
)
_HARMLESS_BUILTINS = frozenset(f"builtins.{name}" for name in _READERS | _WALKS)
"""Functions that take a model and leave it as it is."""


class Mode(Enum):
    """The mode of a module."""

    TRAIN = "train"
    EVAL = "eval"
    UNKNOWN = "unknown"


TRAIN = frozenset({Mode.TRAIN})
EVAL = frozenset({Mode.EVAL})
UNKNOWN = frozenset({Mode.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Setting:
    """A place that may set a model's mode: the modes that it may leave it in, and whether it sets one in any case.

    ``switch`` is what does it: the same place, or a call within the function that is called there.
    """

    node: ast.AST
    modes: frozenset[Mode]
    always: bool = True
    switch: ast.AST | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A place that runs a model: the ``node`` of the scope, and the call of the model itself, perhaps within a function."""

    node: ast.Call
    call: ast.Call


_Variable: TypeAlias = tuple[ast.AST, str]
"""The variable that a reference starts from: the scope that binds it, and its name."""


@dataclass(slots=True)
class _Contents:
    """The calls of a scope and what it assigns, by the variables that they have to do with."""

    calls: list[ast.Call] = field(default_factory=list)
    stores: dict[_Variable, list[ast.expr]] = field(default_factory=dict)
    about: dict[_Variable, list[int]] = field(default_factory=dict)
    """The places in ``calls`` of those that name a variable, or something that was given it."""
    about_all: list[int] = field(default_factory=list)
    """Those that may set the mode of any model."""
    callees: dict[Function, list[int]] = field(default_factory=dict)
    """Those that run functions of the file, which may know variables of the scopes around them."""


class Modes:
    """Looks up what the scopes of a file do with the modes of models."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self.references = References(semantics.tree, semantics.bindings, semantics.names, semantics.facts, semantics.inference)
        self._contents: dict[FlowScope, _Contents] = {}
        self._knowing: dict[_Variable, set[Function]] = {}
        self._settings: dict[tuple[FlowScope, Reference], tuple[Setting, ...]] = {}
        self._runs: dict[tuple[FlowScope, Reference], tuple[Run, ...]] = {}
        self._entered: dict[tuple[Function, Reference], tuple[Run, ...]] = {}
        self._all_runs: dict[tuple[FlowScope, Reference], tuple[Run, ...]] = {}
        self._effects: dict[tuple[Function, Reference], Setting] = {}
        self._passed: dict[ast.Call, list[Reference]] = {}

    # --- what sets the mode ------------------------------------------------------------------------------------------

    @cached_property
    def switches(self) -> list[tuple[ast.Call, list[Reference] | None, Mode]]:
        """The calls of ``eval`` and ``train`` that set modes, with the models whose (None: not known) and the mode."""
        found = []
        for name in ("eval", "train"):
            for call in self._semantics.facts.calls.get(name, ()):
                mode = _mode_set(call)
                if mode is not None and isinstance(call.func, ast.Attribute) and not self._is_other_method(call):
                    found.append((call, self.references.all_of(call.func.value), mode))
        return found

    @cached_property
    def _switch_of(self) -> dict[ast.Call, tuple[list[Reference] | None, Mode]]:
        return {call: (models, mode) for call, models, mode in self.switches}

    def _is_other_method(self, call: ast.Call) -> bool:
        """Whether ``x.train()`` runs a method of the file that is not about modes: a trainer's."""
        function = self.references.callee(call)
        if function is None:
            return False
        owner = self._semantics.tree.parent(function)
        return not (isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner))

    def settings(self, scope: FlowScope, model: Reference) -> tuple[Setting, ...]:
        """The places of ``scope`` that may set the mode of ``model``."""
        key = (scope, model)
        if key not in self._settings:
            if not self._knows(scope, model):
                return ()
            self._settings[key] = ()
            self._settings[key] = tuple(self._find_settings(scope, model))
        return self._settings[key]

    def _find_settings(self, scope: FlowScope, model: Reference) -> Iterator[Setting]:
        for call in self._calls_about(scope, model):
            setting = self._set_by(call, model)
            if setting is not None:
                yield setting
        for target in self._contents_of(scope).stores.get(_variable(model), ()):
            if isinstance(target, ast.Attribute) and target.attr == "training":
                owner = self.references.of(target.value)
                if owner is not None and owner.holds(model):
                    yield Setting(target, UNKNOWN)
            rebound = self.references.rebound(target)
            if rebound is not None and rebound.holds(model):
                yield Setting(target, TRAIN if rebound == model and self.is_new_model(target) else UNKNOWN)

    def _set_by(self, call: ast.Call, model: Reference) -> Setting | None:
        if (switch := self._switch_of.get(call)) is not None:
            models, mode = switch
            place = self._loop_over(call) or self._asks_for(call) or call
            if models is None:
                return Setting(place, UNKNOWN)
            return Setting(place, frozenset({mode}), switch=call) if any(found.holds(model) for found in models) else None
        function = self.references.callee(call)
        if function is not None:
            effects = [self.effect(function, inner) for inner in self.references.handed(model, call, function)]
            if not effects and any(passed.holds(model) for passed in self._handed_over(call)):
                return Setting(call, UNKNOWN)  # in a list, say
            modes = frozenset[Mode]().union(*(effect.modes for effect in effects))
            cause = next((effect.switch for effect in effects if effect.switch is not None), None)
            return Setting(call, modes, any(effect.always for effect in effects), cause) if modes else None
        return Setting(call, UNKNOWN) if self._may_set(call, model) else None

    def _loop_over(self, switch: ast.Call) -> ast.expr | None:
        """What ``for m in models: m.eval()`` goes through: it is taken not to be empty."""
        assert isinstance(switch.func, ast.Attribute)
        if isinstance(switch.func.value, ast.Name):
            for binding in self._semantics.bindings.reaching(switch.func.value):
                if binding.form is Form.LOOP and binding.value is not None:
                    return binding.value
        return None

    def _asks_for(self, switch: ast.Call) -> ast.expr | None:
        """The test of ``if m is not None: m.eval()``: without a model, there is none that has a mode."""
        assert isinstance(switch.func, ast.Attribute)
        model = ast.unparse(switch.func.value)
        child: ast.AST = switch
        for parent in self._semantics.tree.ancestors(switch):
            match parent:
                case ast.If(test=test) if in_body(child, parent):
                    return test if ast.unparse(test) in (model, f"{model} is not None") else None
                case ast.stmt() if not isinstance(parent, ast.Expr):
                    return None
            child = parent
        return None

    def effect(self, function: Function, model: Reference) -> Setting:
        """What running a function of the file does to the mode of what it calls ``model``; no modes: nothing."""
        key = (function, model)
        if key not in self._effects:
            self._effects[key] = Setting(function, frozenset(), always=False)
            self._effects[key] = self._find_effect(function, model)
        return self._effects[key]

    def _find_effect(self, function: Function, model: Reference) -> Setting:
        settings = self.settings(function, model)
        if not settings:
            return Setting(function, frozenset(), always=False)
        if any(isinstance(part, (ast.Yield, ast.YieldFrom)) for part in walk_body(function.body)):
            return Setting(function, UNKNOWN)  # a context manager, perhaps: what it sets holds until it goes on
        flow = self._semantics.control_flow
        sure = [setting.node for setting in settings if setting.always]
        last = [
            setting for setting in settings if flow.may_end(setting.node, [node for node in sure if node is not setting.node])
        ]
        modes = frozenset[Mode]().union(*(setting.modes for setting in last))
        switch = next((setting.switch for setting in last if setting.switch is not None), None)
        return Setting(function, modes, not flow.may_pass(function, sure), switch)

    def _may_set(self, call: ast.Call, model: Reference) -> bool:
        """Whether a call of code that the file does not show may set the mode of ``model``."""
        name = last_name(call.func)
        if any(passed.holds(model) for passed in self._handed_over(call)):
            return not self._is_harmless(call, name)
        if not isinstance(call.func, ast.Attribute):
            called = self.references.of(call.func)
            return called is not None and self._is_held(model, called)
        if not _MAY_SET_MODE.search(name) or (receiver := self.references.of(call.func.value)) is None:
            return False
        if receiver.holds(model):
            return name not in torch_api.MODULE_ATTRIBUTES
        return self._is_held(model, receiver)

    def _is_held(self, model: Reference, owner: Reference) -> bool:
        """Whether an object, or one that it is a part of, was given the model when it was made."""
        return any(held.holds(model) for holder in _prefixes(owner) for held in self._held_by.get(holder, ()))

    def _is_harmless(self, call: ast.Call, name: str) -> bool:
        qualified = self._semantics.qualified_name(call.func) or ""
        if qualified in _HARMLESS_BUILTINS or qualified.startswith(("torch.", "copy.", "wandb.")):
            return True
        if (_KEEPS_MODE.match(name) and not _SAYS_MODE.search(name)) or self.references.of(call) is not None:
            return True
        return self._semantics.kind(call).type in (Type.OPTIMIZER, Type.SCHEDULER)

    def _handed_over(self, call: ast.Call) -> list[Reference]:
        """What the arguments of a call refer to."""
        if call not in self._passed:
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            self._passed[call] = [found for value in values for found in self.references.elements(value)]
        return self._passed[call]

    @cached_property
    def _held_by(self) -> dict[Reference, list[Reference]]:
        """What objects were given when they were made: ``evaluator = Evaluator(model)`` holds ``model``."""
        found: dict[Reference, list[Reference]] = {}
        for node in self._semantics.tree.nodes:
            match node:
                case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=ast.Call() as call):
                    held = self._handed_over(call)
                    if held and (holder := self.references.rebound(target)) is not None:
                        found.setdefault(holder, []).extend(held)
        return found

    # --- what runs the model -----------------------------------------------------------------------------------------

    def runs(self, scope: FlowScope, model: Reference) -> tuple[Run, ...]:
        """The places of ``scope`` that run ``model`` in the mode that it has there."""
        key = (scope, model)
        if key not in self._runs:
            if not self._knows(scope, model):
                return ()
            self._runs[key] = ()
            self._runs[key] = tuple(self._find_runs(scope, model))
        return self._runs[key]

    def _find_runs(self, scope: FlowScope, model: Reference) -> Iterator[Run]:
        for call in self._calls_about(scope, model):
            if self.runs_directly(call, model):
                yield Run(call, call)
            elif call not in self._switch_of and (function := self.references.callee(call)) is not None:
                for inner in self.references.handed(model, call, function):
                    yield from (Run(call, run.call) for run in self._entered_with(function, inner))

    def _entered_with(self, function: Function, model: Reference) -> tuple[Run, ...]:
        """What runs a model in the mode that a function finds it in."""
        key = (function, model)
        if key not in self._entered:
            self._entered[key] = ()
            flow = self._semantics.control_flow
            sure = [setting.node for setting in self.settings(function, model) if setting.always]
            self._entered[key] = tuple(
                run for run in self.runs(function, model) if flow.may_start_with(function, run.node, sure)
            )
        return self._entered[key]

    def all_runs(self, scope: FlowScope, model: Reference) -> tuple[Run, ...]:
        """The places of ``scope`` that run ``model``, in whatever mode the functions that they call have put it in."""
        key = (scope, model)
        if key not in self._all_runs:
            if not self._knows(scope, model):
                return ()
            self._all_runs[key] = ()
            found: list[Run] = []
            for call in self._calls_about(scope, model):
                if self.runs_directly(call, model):
                    found.append(Run(call, call))
                elif call not in self._switch_of and (function := self.references.callee(call)) is not None:
                    for inner in self.references.handed(model, call, function):
                        found += [Run(call, run.call) for run in self.all_runs(function, inner)]
            self._all_runs[key] = tuple(dict.fromkeys(found))
        return self._all_runs[key]

    def runs_directly(self, call: ast.Call, model: Reference) -> bool:
        """Whether a call is of ``model`` itself, as in ``model(x)`` and ``model.module.forward(x)``, or of a part of it."""
        function = call.func
        if isinstance(function, ast.Attribute) and function.attr == "forward":
            function = function.value
        if isinstance(function, ast.Call):
            return False
        found = self.references.of(function)
        if found is None or not model.holds(found):
            return False
        return found == model or self._is_module_part(function)

    def _is_module_part(self, function: ast.expr) -> bool:
        """Whether what is called on a model is a module within it, or a forward method of another name."""
        if isinstance(function, ast.Attribute) and function.attr.startswith("forward_"):
            return True
        return self._semantics.kind(function).type is Type.MODULE

    def is_recorded(self, run: Run) -> bool:
        """Whether autograd is on where the model is run, as far as the file tells."""
        no_grad = self._semantics.no_grad
        return not no_grad.covers(run.call) and not no_grad.covers(run.node)

    def trains(self, run: Run) -> bool:
        """Whether what the model returns is back-propagated."""
        return self.is_recorded(run) and self._semantics.backpropagated.call(run.call)

    # --- which models there are --------------------------------------------------------------------------------------

    @cached_property
    def trained(self) -> list[tuple[FlowScope, Reference]]:
        """The models whose parameters the file hands out or that it puts into training mode, in each scope that has them."""
        found: dict[tuple[FlowScope, Reference], None] = {}
        for name in ("parameters", "named_parameters", "train"):
            for call in self._semantics.facts.calls.get(name, ()):
                if isinstance(call.func, ast.Attribute) and (models := self.references.all_of(call.func.value)):
                    for model in models:
                        found.update(dict.fromkeys(self.scopes_of(model, self._semantics.control_flow.scope(call))))
        return list(found)

    def is_trained(self, scope: FlowScope, model: Reference) -> bool:
        """Whether a model is one of the `trained`."""
        return (scope, model) in self._trained

    @cached_property
    def _trained(self) -> set[tuple[FlowScope, Reference]]:
        return set(self.trained)

    def is_put_into_training(self, scope: FlowScope, model: Reference) -> bool:
        """Whether something that ``scope`` runs calls ``train()`` on the model: its author cares about the mode."""
        for call in self._calls_about(scope, model):
            if (switch := self._switch_of.get(call)) is not None:
                if switch[1] is Mode.TRAIN and any(found.holds(model) for found in switch[0] or ()):
                    return True
            elif (function := self.references.callee(call)) is not None:
                for inner in self.references.handed(model, call, function):
                    if any(Mode.TRAIN in setting.modes for setting in self.settings(function, inner)):
                        return True
        return False

    def scopes_of(self, model: Reference, scope: FlowScope) -> Iterator[tuple[FlowScope, Reference]]:
        """The scopes that know a model: its own; for a variable of the module its functions; for an attribute the methods."""
        yield scope, model
        owner = self._semantics.tree.parent(model.root)
        if model.root is self._semantics.tree.module:
            yield model.root, model
            for function in sorted(self._functions_knowing(model), key=self._functions.__getitem__):
                yield function, model
        elif isinstance(owner, ast.ClassDef) and isinstance(model.root, FUNCTIONS):
            first = [*model.root.args.posonlyargs, *model.root.args.args][:1]
            if first and first[0].arg == model.path[0] and not is_static(model.root):
                for method in self._semantics.facts.classes[owner].methods.values():
                    names = [*method.args.posonlyargs, *method.args.args][:1]
                    if names and not is_static(method) and not is_class_method(method):
                        yield method, Reference(method, (names[0].arg, *model.path[1:]))

    # --- what is known of a model ------------------------------------------------------------------------------------

    def is_new_model(self, target: ast.expr) -> bool:
        """Whether an assignment makes a new module, which is in training mode then: of a class of the file, or of torch's."""
        statement = self._semantics.tree.parent(target)
        if not isinstance(statement, ast.Assign):
            return False
        value = statement.value
        while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            value = value.func.value
        if not isinstance(value, ast.Call):
            return False
        kind = self._semantics.kind(value.func)
        if kind.type is not Type.CLASS:
            return False
        return kind.name in torch_api.MODULES or (
            isinstance(kind.definition, ast.ClassDef) and self._semantics.facts.is_module(kind.definition)
        )

    def is_managed(self, node: ast.AST) -> bool:
        """Whether ``node`` stands in a class of a framework that sets the modes of modules itself."""
        definition = self._semantics.tree.enclosing_class(node)
        return definition is not None and self._semantics.facts.derives_from(definition, *_FRAMEWORKS)

    def calls_in(self, scope: FlowScope) -> list[ast.Call]:
        """The calls that ``scope`` makes itself."""
        return self._contents_of(scope).calls

    # --- what has to do with which variable --------------------------------------------------------------------------

    def _contents_of(self, scope: FlowScope) -> _Contents:
        """The calls of a scope and what it assigns."""
        if scope not in self._contents:
            self._contents[scope] = contents = _Contents()
            for part in walk_body([part for part in scope.body if not isinstance(part, (*FUNCTIONS, ast.ClassDef))]):
                if isinstance(part, ast.Call):
                    self._add_call(contents, part)
                elif isinstance(part, (ast.Name, ast.Attribute)) and isinstance(part.ctx, ast.Store):
                    owner = self.references.of(part.value) if isinstance(part, ast.Attribute) else None
                    for variable in {_variable(found) for found in (owner, self.references.rebound(part)) if found is not None}:
                        contents.stores.setdefault(variable, []).append(part)
        return self._contents[scope]

    def _add_call(self, contents: _Contents, call: ast.Call) -> None:
        place = len(contents.calls)
        contents.calls.append(call)
        models, _ = switch = self._switch_of.get(call, ((), None))
        if models is None:
            contents.about_all.append(place)
        elif switch[1] is None and (function := self.references.callee(call)) is not None:
            contents.callees.setdefault(function, []).append(place)
        for variable in {_variable(found) for found in (*(models or ()), *self._named_in(call))}:
            contents.about.setdefault(variable, []).append(place)

    def _named_in(self, call: ast.Call) -> Iterator[Reference]:
        """What a call is of, what it is handed, and what the object was given when it was made whose method it is."""
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if (found := self.references.of(argument)) is not None:
                yield found
        yield from self._handed_over(call)
        if (called := self.references.of(call.func)) is not None:
            yield called
            for holder in _prefixes(called):
                yield from self._held_by.get(holder, ())

    def _calls_about(self, scope: FlowScope, model: Reference) -> list[ast.Call]:
        """The calls of ``scope`` that may have to do with a model, in the order of the text."""
        contents = self._contents_of(scope)
        places = {*contents.about.get(_variable(model), ()), *contents.about_all}
        for function in contents.callees.keys() & self._functions_knowing(model):
            places.update(contents.callees[function])
        return [contents.calls[place] for place in sorted(places)]

    def _knows(self, scope: FlowScope, model: Reference) -> bool:
        """Whether a scope, or a function that it calls, may have to do with a variable of a scope around it."""
        return scope is model.root or not isinstance(scope, FUNCTIONS) or scope in self._functions_knowing(model)

    def _functions_knowing(self, model: Reference) -> set[Function]:
        """The functions that have to do with the variable of a model, by themselves or by what they call."""
        variable = _variable(model)
        if variable not in self._knowing:
            found = self._knowing[variable] = set[Function]()
            pending = [*self._functions_naming.get(variable, ()), *self._functions_about_all]
            while pending:
                function = pending.pop()
                if function not in found:
                    found.add(function)
                    pending += self._callers.get(function, ())
        return self._knowing[variable]

    @cached_property
    def _functions(self) -> dict[Function, int]:
        """The functions of the file, numbered in the order of the text."""
        functions = (node for node in self._semantics.tree.nodes if isinstance(node, FUNCTIONS))
        return {function: number for number, function in enumerate(functions)}

    @cached_property
    def _functions_naming(self) -> dict[_Variable, list[Function]]:
        found: dict[_Variable, list[Function]] = {}
        for function in self._functions:
            contents = self._contents_of(function)
            for variable in contents.about.keys() | contents.stores.keys():
                found.setdefault(variable, []).append(function)
        return found

    @cached_property
    def _functions_about_all(self) -> list[Function]:
        return [function for function in self._functions if self._contents_of(function).about_all]

    @cached_property
    def _callers(self) -> dict[Function, list[Function]]:
        """For each function, those that call it."""
        found: dict[Function, list[Function]] = {}
        for caller in self._functions:
            for function in self._contents_of(caller).callees:
                found.setdefault(function, []).append(caller)
        return found


def _variable(reference: Reference) -> _Variable:
    return reference.root, reference.path[0]


def _prefixes(reference: Reference) -> Iterator[Reference]:
    """What a reference is a part of, from the variable on, and itself."""
    return (Reference(reference.root, reference.path[:length]) for length in range(1, len(reference.path) + 1))


def _mode_set(call: ast.Call) -> Mode | None:
    """The mode that ``x.eval()`` or ``x.train(…)`` sets, as far as such a call can be one of a module."""
    assert isinstance(call.func, (ast.Name, ast.Attribute))
    flags = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    if len(flags) != len(call.args) + len(call.keywords) or len(flags) > 1:
        return None
    if last_name(call.func) == "eval":
        return None if flags else Mode.EVAL
    match flags:
        case [] | [ast.Constant(value=True)]:
            return Mode.TRAIN
        case [ast.Constant(value=False)]:
            return Mode.EVAL
        case [ast.Name() | ast.Attribute() | ast.UnaryOp() | ast.Compare() | ast.BoolOp()]:
            return Mode.UNKNOWN
    return None
