"""Whether a model is in training or in evaluation mode: who sets it, who runs the model, and who trains it, scope by scope.

A model is known by a `Reference`. Within a scope, everything that may set its mode is a `Setting`, and everything that runs it
a `Run`; a call of one of the file's functions is the one or the other by what the function does with what it is handed. What
code of other files may set is `Mode.UNKNOWN`, never taken for no change.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to, last_name, walk_body
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modes.mentions import Mentions
from torchlint.semantics.modes.run_conditions import RunConditions
from torchlint.semantics.modes.switches import EVAL, TRAIN, UNKNOWN, Mode, Switches, prefixes

__all__ = ["EVAL", "TRAIN", "UNKNOWN", "Mode", "Modes", "Run", "Setting"]

_FRAMEWORKS = ("pytorch_lightning.", "lightning.", "lightning_fabric.", "catalyst.", "ignite.", "fastai.", "skorch.")
"""Frameworks that set the modes of modules themselves."""
_KEEPS_MODE = re.compile(
    r"(save|load|log|print|count|watch|get|make|build|create|clip|unwrap|wrap|accumulate|initialize|init|freeze|num|is|"
    r"has|dump|convert|broadcast|sync|register|add_graph|no_sync|trainable|update_ema|ema|describe|repr|summarize|checkpoint|"
    r"set_seed|to_device|data_parallel|cuda|deepcopy|clone|copy)(_|$)|.*param|.*(state|checkpoint|optimizer|scheduler|ema|weights|size|flops)$",
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
_PART = re.compile(
    r"[A-GI-SU-Z]|(\w{1,20}_)?(encoder|decoder|backbone|net|network|generator|discriminator|classifier|projector)"
)
"""What parts of models are called that are modules."""
_ACT = re.compile(
    r"(save|load|store|restore|dump|export|write|print|show|plot|reset|init|initiali[sz]e|build|rebuild|make|create|define|get|"
    r"update|freeze|unfreeze|sync|backup|clone|resume|count|summari[sz]e|describe|remove|delete)_"
)
"""What names begin with of methods that do something with a part, and do not run it: ``save_network``."""
_MODES = {"train": Mode.TRAIN, "eval": Mode.EVAL, "mode": Mode.UNKNOWN}
"""What the acts of other files' functions leave a model in."""
_WRAPPERS = frozenset(
    {"compile", "DataParallel", "DistributedDataParallel", "DDP", "convert_sync_batchnorm", "convert_syncbn_model"}
)
"""What gives a model in the mode of the one that it is given."""
_READERS = frozenset({"print", "len", "isinstance", "hasattr", "id", "type", "str", "repr", "list", "tuple", "set", "dict"})
_WALKS = frozenset(
    {"sum", "any", "all", "map", "filter", "next", "iter", "zip", "enumerate", "dir", "vars", "getattr", "callable"}
)
_HARMLESS_BUILTINS = frozenset(f"builtins.{name}" for name in _READERS | _WALKS)
"""Functions that take a model and leave it as it is."""


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
    by_method: bool = False
    """Whether a method runs the model that is called neither `forward` nor like it."""
    unrecorded: bool = False
    """Whether autograd is off in a function between the two places."""
    handed: ast.expr | None = None
    """The model where a function of another file runs it, which is what is called."""

    @property
    def model(self) -> ast.expr:
        """The model, as the call of it says it: ``model`` in ``model(x)``, ``model.forward(x)`` and ``model.get_loss(x)``."""
        if self.handed is not None:
            return self.handed
        called = _called_module(self.call)
        return called.value if self.by_method and isinstance(called, ast.Attribute) else called


class Modes:
    """Looks up what the scopes of a file do with the modes of models."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self.references = semantics.of(References)
        self._switches = semantics.of(Switches)
        self._mentions = semantics.of(Mentions)
        self._settings: dict[tuple[FlowScope, Reference], tuple[Setting, ...]] = {}
        self._runs: dict[tuple[FlowScope, Reference], tuple[Run, ...]] = {}
        self._entered: dict[tuple[Function, Reference, frozenset[Reference]], tuple[Run, ...]] = {}
        self._all_runs: dict[tuple[FlowScope, Reference], tuple[Run, ...]] = {}
        self._effects: dict[tuple[Function, Reference], Setting] = {}

    # --- what sets the mode ------------------------------------------------------------------------------------------

    def settings(self, scope: FlowScope, model: Reference) -> tuple[Setting, ...]:
        """The places of ``scope`` that may set the mode of ``model``."""
        key = (scope, model)
        if key not in self._settings:
            if not self._mentions.knows(scope, model):
                return ()
            self._settings[key] = ()
            self._settings[key] = tuple(self._find_settings(scope, model))
        return self._settings[key]

    def _find_settings(self, scope: FlowScope, model: Reference) -> Iterator[Setting]:
        for call in self._mentions.calls_about(scope, model):
            setting = self._set_by(call, model)
            if setting is not None:
                yield setting
        for target in self._mentions.stores_about(scope, model):
            if isinstance(target, ast.Attribute) and target.attr == "training":
                owner, looped = self.references.of(target.value), self._switches.looped_over(target.value)
                if looped is not None or (owner is not None and owner.holds(model)):
                    yield Setting(looped or target, UNKNOWN)
            rebound = self.references.rebound(target)
            if rebound is not None and rebound.holds(model):
                is_new = rebound == model and self.is_new_model(target)
                yield Setting(target, TRAIN if is_new else self._assigned_mode(target))

    def _assigned_mode(self, target: ast.expr) -> frozenset[Mode]:
        """The mode of a model that is put into it where it is assigned: ``model = Net().eval()``."""
        statement = self._semantics.tree.parent(target)
        node = statement.value if isinstance(statement, ast.Assign) else None
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if (switch := self._switches.of_call.get(node)) is not None:
                return frozenset({switch[1]}) if self._switches.assigned(node) is target else UNKNOWN
            node = node.func.value
        return self._made_in(target)

    def _made_in(self, target: ast.expr) -> frozenset[Mode]:
        """The mode in which one of the file's functions gives a model that it has made: ``net, optimizer = build()``."""
        binding = self._semantics.bindings.of(target) if isinstance(target, ast.Name) else None
        if binding is None or len(binding.path) > 1 or None in binding.path or not isinstance(binding.value, ast.Call):
            return UNKNOWN
        function = self.references.callee(binding.value)
        if function is None:
            return UNKNOWN
        given = self._semantics.facts.returned(function)
        if given and not binding.path and all(value is not None and self._is_new(value) for value in given):
            return TRAIN
        made = self.references.returned(function, next(iter(binding.path), None))
        if made is None or made.is_given:
            return UNKNOWN
        effect = self.effect(function, made)
        return effect.modes if effect.always and effect.modes else UNKNOWN

    def _set_by(self, call: ast.Call, model: Reference) -> Setting | None:
        if (switch := self._switches.of_call.get(call)) is not None:
            models, mode = switch
            place = self._switches.place_of(call)
            if models is None:
                return Setting(place, UNKNOWN)
            if any(found.holds(model) for found in models):
                return Setting(place, frozenset({mode}), switch=call)
            if any(self._is_held(model, found) for found in models):
                owner = call.func.value if isinstance(call.func, ast.Attribute) else call  # ``system = System(model)``
                is_module = self._semantics.kind(owner).type is Type.MODULE
                return Setting(place, frozenset({mode}) if is_module else UNKNOWN)
            return Setting(place, UNKNOWN) if self._switches.is_of_items(call) else None
        function = self.references.callee(call)
        if function is not None and self._switches.is_context(call, function):
            return Setting(call, UNKNOWN)
        if function is not None and self._switches.is_of_holder(call, function, model):
            return Setting(self._switches.looped_over(call.func) or call, UNKNOWN)
        if function is not None:
            effects = [self.effect(function, inner) for inner in self.references.handed(model, call, function)]
            if not effects and any(passed.holds(model) for passed in self._switches.handed_over(call)):
                return Setting(call, UNKNOWN)  # in a list, say
            modes = frozenset[Mode]().union(*(effect.modes for effect in effects))
            cause = next((effect.switch for effect in effects if effect.switch is not None), None)
            return Setting(call, modes, any(effect.always for effect in effects), cause) if modes else None
        if (set_elsewhere := self._set_elsewhere(call, model)) is not None:
            return set_elsewhere if set_elsewhere.modes else None
        return Setting(self._switches.looped_over(call.func) or call, UNKNOWN) if self._may_set(call, model) else None

    def _set_elsewhere(self, call: ast.Call, model: Reference) -> Setting | None:
        """What a function of another file does to the mode of what it is handed, no modes if nothing; `None` if not known."""
        values = given_to(call)
        handed = [value for value in values if any(each.holds(model) for each in self.references.elements(value))]
        if not handed or isinstance(call.func, ast.Call):
            return None
        modes: set[Mode] = set()
        always = False
        for value in handed:
            acts = self._semantics.elsewhere.acts(call, value) if self.references.of(value) is not None else None
            if acts is None:
                return None
            left = [act for act in acts if act.what in _MODES]
            last = max((index for index, act in enumerate(left) if act.sure), default=0)
            modes |= {_MODES[act.what] for act in left[last:]}
            always = always or any(act.sure for act in left)
        return Setting(call, frozenset(modes), always)

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
        if self._switches.is_wrapped(function):
            return Setting(function, UNKNOWN)
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
        if call in self._switches.unclear or self._switches.hands_switching(call):
            return True
        if any(passed.holds(model) for passed in self._switches.handed_over(call)):
            return not self._is_harmless(call, name)
        if not isinstance(call.func, ast.Attribute):
            called = self.references.of(call.func)
            return called not in (None, model) and self._is_held(model, called)  # ``net = restore(net)`` is the model itself
        if not _MAY_SET_MODE.search(name) or (receiver := self.references.of(call.func.value)) is None:
            return False
        if self.references.of(call.func) == model:
            return False  # the model itself is run, whatever it is called
        if receiver.holds(model):
            return name not in torch_api.MODULE_ATTRIBUTES
        return any(held.holds(model) for held in self._switches.held(call.func))

    def _is_held(self, model: Reference, owner: Reference) -> bool:
        """Whether an object, or one that it is a part of, was given the model when it was made."""
        return any(held.holds(model) for holder in prefixes(owner) for held in self._switches.held_by.get(holder, ()))

    def _is_harmless(self, call: ast.Call, name: str) -> bool:
        qualified = self._semantics.qualified_name(call.func) or ""
        if qualified in _HARMLESS_BUILTINS or qualified.startswith(("copy.", "wandb.")):
            return True
        if qualified.startswith("torch."):
            return not re.search(r"_(to_)?(train|eval)($|_)", name)  # of an exported model
        if (_KEEPS_MODE.match(name) and not _SAYS_MODE.search(name)) or self.references.of(call) is not None:
            return True
        return self._semantics.kind(call).type in (Type.OPTIMIZER, Type.SCHEDULER)

    # --- what runs the model -----------------------------------------------------------------------------------------

    def runs(self, scope: FlowScope, model: Reference) -> tuple[Run, ...]:
        """The places of ``scope`` that run ``model`` in the mode that it has there."""
        key = (scope, model)
        if key not in self._runs:
            if not self._mentions.knows(scope, model):
                return ()
            self._runs[key] = ()
            self._runs[key] = tuple(self._find_runs(scope, model))
        return self._runs[key]

    def _find_runs(self, scope: FlowScope, model: Reference) -> Iterator[Run]:
        for call in self._mentions.calls_about(scope, model):
            if self.runs_directly(call, model):
                yield self._direct_run(call)
            elif call not in self._switches.of_call and (function := self.references.callee(call)) is not None:
                names = frozenset(self.references.handed(model, call, function))
                for inner in sorted(names, key=lambda name: name.path):
                    yield from self._seen_from(call, function, self._entered_with(function, inner, names))

    def _seen_from(self, call: ast.Call, function: Function, runs: Iterable[Run]) -> Iterator[Run]:
        """The runs in a function that there are with what a call gives it, for the scope of that call."""
        conditions = self._semantics.of(RunConditions)
        entered = (run for run in runs if conditions.is_entered(run.node, function, call, run.call))
        return (replace(run, node=call, unrecorded=not self.is_recorded(run)) for run in entered)

    def _direct_run(self, call: ast.Call) -> Run:
        return Run(call, call, self._is_running_method(call.func))

    def _entered_with(self, function: Function, model: Reference, names: frozenset[Reference]) -> tuple[Run, ...]:
        """What runs a model in the mode that a function finds it in; ``names`` are all that it is called there.

        A function that is given a variable of the module may set its mode by the one name and run it by the other.
        """
        key = (function, model, names)
        if key not in self._entered:
            self._entered[key] = ()
            flow, conditions = self._semantics.control_flow, self._semantics.of(RunConditions)
            sure = [setting.node for name in names for setting in self.settings(function, name) if setting.always]
            self._entered[key] = tuple(
                run
                for run in self.runs(function, model)
                if flow.may_start_with(function, run.node, [*sure, *self.settings_of_part(function, model, run)])
                and not any(conditions.is_behind(each, run.node) for each in sure)
            )
        return self._entered[key]

    def settings_of_part(self, scope: FlowScope, model: Reference, run: Run) -> list[ast.AST]:
        """The places that set the mode of no more than the part of a model that is run: ``model.head.eval()``."""
        part = self._part_of(model, run)
        if part is None or part == model or not model.holds(part):
            return []
        whole = {run.node, *(setting.node for setting in self.settings(scope, model))}
        return [setting.node for setting in self.settings(scope, part) if setting.always and setting.node not in whole]

    def _part_of(self, model: Reference, run: Run) -> Reference | None:
        """What a run is of, as the scope calls it that has the model: a method of the model runs ``self.encoder``."""
        part = self.references.of(run.model)
        if part is None or run.node is run.call or model.holds(part) or not isinstance(run.node.func, ast.Attribute):
            return part
        if not part.is_given or not isinstance(part.root, FUNCTIONS) or self.references.of(run.node.func.value) != model:
            return part
        first = [*part.root.args.posonlyargs, *part.root.args.args][:1]
        is_method = isinstance(self._semantics.tree.parent(part.root), ast.ClassDef) and bool(first)
        return Reference(model.root, (*model.path, *part.path[1:])) if is_method and first[0].arg == part.path[0] else part

    def all_runs(self, scope: FlowScope, model: Reference) -> tuple[Run, ...]:
        """The places of ``scope`` that run ``model``, in whatever mode the functions that they call have put it in."""
        key = (scope, model)
        if key not in self._all_runs:
            if not self._mentions.knows(scope, model):
                return ()
            self._all_runs[key] = ()
            found: list[Run] = []
            for call in self._mentions.calls_about(scope, model):
                if self.runs_directly(call, model):
                    found.append(self._direct_run(call))
                elif call not in self._switches.of_call and (function := self.references.callee(call)) is not None:
                    for inner in self.references.handed(model, call, function):
                        found += self._seen_from(call, function, self.all_runs(function, inner))
            self._all_runs[key] = tuple(dict.fromkeys(found))
        return self._all_runs[key]

    def runs_directly(self, call: ast.Call, model: Reference) -> bool:
        """Whether a call is of ``model`` itself, as in ``model(x)`` and ``model.module.forward(x)``, or of a part of it."""
        called = _called_module(call)
        if isinstance(called, ast.Call):
            return False
        found = self.references.of(called)
        if found is None or not model.holds(found):
            return False
        return found == model or self._is_module_part(called)

    def _is_module_part(self, function: ast.expr) -> bool:
        """Whether what is called on a model is a module within it, or a forward method of another name; or an item of a dict
        whose items are models.
        """
        if isinstance(function, ast.Subscript):
            return True
        if isinstance(function, ast.Attribute) and function.attr.startswith("forward_"):
            return True
        return (
            self._semantics.kind(function).type is Type.MODULE
            or self._is_running_method(function)
            or self._is_called_a_part(function)
        )

    def _is_called_a_part(self, function: ast.expr) -> bool:
        """Whether what is called on a model of an unknown class has a name of parts of models: ``model.encoder(x)``."""
        if not isinstance(function, ast.Attribute) or not _PART.fullmatch(function.attr) or _ACT.match(function.attr):
            return False
        owner = self._semantics.kind(function.value)
        is_open = owner.type in (Type.UNKNOWN, Type.MODULE) and owner.definition is None
        return is_open and self._semantics.kind(function).type is Type.UNKNOWN

    def _is_running_method(self, function: ast.expr) -> bool:
        """Whether what is called is a method of another file's module that runs it: ``model.get_loss(x)``."""
        if not isinstance(function, ast.Attribute) or function.attr in torch_api.MODULE_ATTRIBUTES:
            return False
        kind = self._semantics.kind(function.value)
        lookup = self._semantics.elsewhere.lookup if kind.type is Type.MODULE and kind.classes_elsewhere else None
        return lookup is not None and all(lookup.runs(each, function.attr) for each in kind.classes_elsewhere)

    def is_recorded(self, run: Run) -> bool:
        """Whether autograd is on where the model is run, as far as the file tells."""
        no_grad = self._semantics.no_grad
        return not run.unrecorded and not no_grad.covers(run.call) and not no_grad.covers(run.node)

    def is_backpropagated(self, run: Run) -> bool:
        """Whether what the model returns in this run is back-propagated."""
        return self._semantics.of(RunConditions).is_backpropagated(run.call, run.node)

    def trains(self, run: Run) -> bool:
        """Whether what the model returns is back-propagated."""
        return self.is_recorded(run) and self.is_backpropagated(run)

    # --- what is known of a model ------------------------------------------------------------------------------------

    def is_new_model(self, target: ast.expr) -> bool:
        """Whether an assignment makes a new module, which is in training mode then: of a class of the file, or of torch's."""
        statement = self._semantics.tree.parent(target)
        return isinstance(statement, ast.Assign) and self._is_new(statement.value)

    def _is_new(self, value: ast.expr) -> bool:
        value = unwrapped(value)
        if not isinstance(value, ast.Call):
            return False
        kind = self._semantics.kind(value.func)
        if kind.type is not Type.CLASS:
            return False
        return (
            kind.name in torch_api.MODULES
            or kind.elsewhere is not None
            or (isinstance(kind.definition, ast.ClassDef) and self._semantics.facts.is_module(kind.definition))
        )

    def is_managed(self, node: ast.AST) -> bool:
        """Whether ``node`` stands in a class of a framework that sets the modes of modules itself."""
        definition = self._semantics.tree.enclosing_class(node)
        return definition is not None and self._semantics.facts.derives_from(definition, *_FRAMEWORKS)


def unwrapped(value: ast.expr) -> ast.expr:
    """What makes the model that is moved, compiled, or spread over devices in ``DataParallel(Net()).cuda()``."""
    while isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr in ("to", "cuda"):
            value = value.func.value
        elif last_name(value.func) in _WRAPPERS and value.args:
            value = value.args[0]
        else:
            break
    return value


def _called_module(call: ast.Call) -> ast.expr:
    """What is called in ``model(x)`` and ``model.forward(x)``: ``model``."""
    function = call.func
    return function.value if isinstance(function, ast.Attribute) and function.attr == "forward" else function
