"""Which models a file trains, and in which scopes they are known."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.definitions import is_class_method, is_static
from torchlint.semantics.code.tree import FUNCTIONS, chosen_from, given_to, last_name
from torchlint.semantics.kinds.kind import Basis, Type
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.modes.mentions import Mentions
from torchlint.semantics.modes.modes import Modes, unwrapped
from torchlint.semantics.modes.switches import Mode, Switches

CALLED_A_MODEL = re.compile(
    r"(^|_)(model|net|network|encoder|decoder|classifier|backbone|transformer|lstm|rnn|gru|cnn|unet)\d?$"
)
"""What models are called."""
CRITERION = re.compile(r"loss|crit|cost|objective|mse|bce|entropy", re.IGNORECASE)
"""What is called that is given a model's output, and is no model itself."""
_LOADING = re.compile(r"load|pretrained|eval|infer|restore|freeze|frozen|teacher", re.IGNORECASE)
"""What functions are called that may give a model in evaluation mode."""
_MAKING = re.compile(r"^(get|make|build|create|init|define)_?[^_]*(model|net|network|classifier)|^[A-Z]\w*(?<!Module)$")
"""What is called that makes a new model: `build_model`, a class."""


class TrainedModels:
    """Looks up the models of one file whose parameters it hands out, or that it puts into training mode."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._references = semantics.of(References)
        self._switches = semantics.of(Switches)
        self._mentions = semantics.of(Mentions)
        self._modes = semantics.of(Modes)

    @cached_property
    def all(self) -> list[tuple[FlowScope, Reference]]:
        """The models whose parameters the file hands out or that it puts into training mode, in each scope that has them;
        and those that scopes hand to a function which does so.
        """
        found = dict.fromkeys(self._direct)
        pending = list(found)
        while pending:
            more = [each for each in self._given_by_callers(*pending.pop()) if each not in found]
            found.update(dict.fromkeys(more))
            pending += more
        return list(dict.fromkeys([*self._with_those_handed_on(self._direct), *self._with_those_handed_on(list(found))]))

    @cached_property
    def _direct(self) -> list[tuple[FlowScope, Reference]]:
        """Those of which a scope tells by itself."""
        found: dict[tuple[FlowScope, Reference], None] = {}
        for name in ("parameters", "named_parameters", "train"):
            for call in self._semantics.facts.calls.get(name, ()):
                if self._is_own_training(call):
                    continue
                if isinstance(call.func, ast.Attribute) and (models := self._references.all_of(call.func.value)):
                    for model in models:
                        found.update(dict.fromkeys(self.scopes_of(model, self._semantics.control_flow.scope(call))))
        found.update(dict.fromkeys(self._given()))
        return list(found)

    def _is_own_training(self, call: ast.Call) -> bool:
        """Whether ``self.train()`` runs a method of the object's own that trains: that says of no model which one."""
        is_own = isinstance(call.func, ast.Attribute) and self._semantics.facts.self_class(call.func.value) is not None
        return is_own and last_name(call.func) == "train" and call not in self._switches.of_call

    def _with_those_handed_on(self, models: list[tuple[FlowScope, Reference]]) -> list[tuple[FlowScope, Reference]]:
        found = dict.fromkeys(models)
        pending = list(found)
        while pending:
            more = [each for each in self._handed_on(*pending.pop()) if each not in found]
            found.update(dict.fromkeys(more))
            pending += more
        return list(found)

    def _handed_on(self, scope: FlowScope, model: Reference) -> Iterator[tuple[FlowScope, Reference]]:
        """The functions of the file that a scope hands a model to, and what they call it."""
        if len(model.path) > 1 or not self._mentions.knows(scope, model):
            return
        for call in self._mentions.calls_about(scope, model):
            function = self._references.callee(call) if call not in self._switches.of_call else None
            for inner in self._references.handed(model, call, function) if function is not None else ():
                if function is not None and inner.is_given and len(inner.path) == 1:
                    yield function, inner

    def _given_by_callers(self, scope: FlowScope, model: Reference) -> Iterator[tuple[FlowScope, Reference]]:
        """What the file's other scopes call a model that they hand to a function."""
        if not isinstance(scope, FUNCTIONS) or not model.is_given or model.root is not scope or len(model.path) > 1:
            return
        for site in self._semantics.facts.call_sites(scope):
            for argument in given_to(site):
                outer = self._references.of(argument)
                if outer is not None and model in self._references.handed(outer, site, scope):
                    yield self._semantics.control_flow.scope(site), outer

    def _given(self) -> Iterator[tuple[FlowScope, Reference]]:
        """What is called a model and given to a function, and is the only thing there that is run for a step of an optimizer:
        of several, one may be frozen.
        """
        steps = [call for call in self._semantics.facts.calls.get("step", ()) if isinstance(call.func, ast.Attribute)]
        scopes = {self._semantics.control_flow.scope(call) for call in steps}
        run: dict[FlowScope, set[Reference]] = {}
        for call in self._semantics.of(Backpropagated).all_calls if scopes else ():
            given = self._references.of(call.func) if isinstance(call.func, ast.Name) else None
            scope = self._semantics.control_flow.scope(call)
            if given is not None and given.is_given and scope in scopes and not CRITERION.search(given.path[0]):
                run.setdefault(scope, set()).add(given)
        for scope, models in run.items():
            if len(models) == 1 and all(CALLED_A_MODEL.search(model.path[0]) for model in models):
                yield from ((scope, model) for model in models)

    def is_trained(self, scope: FlowScope, model: Reference) -> bool:
        """Whether a model is one of them."""
        return (scope, model) in self._trained

    @cached_property
    def _trained(self) -> set[tuple[FlowScope, Reference]]:
        return set(self._with_those_handed_on(self._direct))

    def is_put_into_training(self, scope: FlowScope, model: Reference) -> bool:
        """Whether something that ``scope`` runs calls ``train()`` on the model: its author cares about the mode."""
        for call in self._mentions.calls_about(scope, model):
            if (switch := self._switches.of_call.get(call)) is not None:
                if switch[1] is Mode.TRAIN and any(found.holds(model) for found in switch[0] or ()):
                    return True
            elif (function := self._references.callee(call)) is not None:
                for inner in self._references.handed(model, call, function):
                    if any(Mode.TRAIN in setting.modes for setting in self._modes.settings(function, inner)):
                        return True
        return False

    def scopes_of(self, model: Reference, scope: FlowScope) -> Iterator[tuple[FlowScope, Reference]]:
        """The scopes that know a model: its own; for a variable of the module its functions; for an attribute the methods."""
        yield scope, model
        owner = self._semantics.tree.parent(model.root)
        if model.root is self._semantics.tree.module:
            yield model.root, model
            for function in sorted(self._mentions.functions_knowing(model), key=self._mentions.functions.__getitem__):
                yield function, model
        elif isinstance(owner, ast.ClassDef) and isinstance(model.root, FUNCTIONS):
            first = [*model.root.args.posonlyargs, *model.root.args.args][:1]
            if first and first[0].arg == model.path[0] and not is_static(model.root):
                for method in self._semantics.facts.classes[owner].methods.values():
                    names = [*method.args.posonlyargs, *method.args.args][:1]
                    if names and not is_static(method) and not is_class_method(method):
                        yield method, Reference(method, (names[0].arg, *model.path[1:]))


class NewModels:
    """Tells of values whether they are new models."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_made_by(self, value: ast.expr) -> bool:
        """Whether a value is a model that is made right there, as far as what is called tells."""
        value = unwrapped(value)
        if isinstance(value, ast.IfExp):
            return self.are_made_by(value.body) and self.are_made_by(value.orelse)
        if not isinstance(value, ast.Call):
            return False
        name = self._semantics.qualified_name(value.func) or ""
        if name.startswith("torchvision.models.") or _MAKING.search(last_name(value.func)) is not None:
            return True
        kind = self._semantics.kind(value)
        if kind.type is not Type.MODULE or _LOADING.search(ast.unparse(value.func)):
            return False
        return kind.basis is Basis.ELSEWHERE or chosen_from(value.func) is not None
