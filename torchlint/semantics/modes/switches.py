"""The calls that switch the modes of models, ``model.eval()`` and ``model.train()``, and who was handed a model."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.bindings import Form
from torchlint.semantics.code.tree import FUNCTIONS, Function, given_to, in_body, last_name
from torchlint.semantics.kinds.kind import Type
from torchlint.semantics.memory.references import Reference, References
from torchlint.semantics.summaries.shown.running_methods import is_about_mode


class Mode(Enum):
    """The mode of a module."""

    TRAIN = "train"
    EVAL = "eval"
    UNKNOWN = "unknown"


TRAIN = frozenset({Mode.TRAIN})
EVAL = frozenset({Mode.EVAL})
UNKNOWN = frozenset({Mode.UNKNOWN})


_SAME = frozenset({"to", "cuda", "cpu", "half", "float", "double", "bfloat16", "requires_grad_", "eval", "train"})
"""Methods that give the module that they are called on."""
_MODES = frozenset({"train", "eval"})
_OF_MODES = re.compile(r"mode(?!l)|eval|train", re.IGNORECASE)
"""What decorators are called that may set modes."""
_HOOK = re.compile(
    r"^on_\w*(begin|start)|^set_(train|mode)|(train|training)_mode$|^(call|run|fire|trigger)_\w*(hook|callback|event)"
)
"""What methods are called in which objects that may know the model may set its mode."""


class Switches:
    """Finds what switches modes in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._references = semantics.of(References)
        self._passed: dict[ast.Call, list[Reference]] = {}

    @cached_property
    def all(self) -> list[tuple[ast.Call, list[Reference] | None, Mode]]:
        """The calls of ``eval`` and ``train`` that set modes, with the models whose (None: not known) and the mode."""
        found: list[tuple[ast.Call, list[Reference] | None, Mode]] = []
        for name in ("eval", "train"):
            for call in self._semantics.facts.calls.get(name, ()):
                if not isinstance(call.func, ast.Attribute) or self._is_other_method(call):
                    continue
                if call.args and self._semantics.kind(call.func.value).type is Type.CLASS:  # ``nn.Module.train(model)``
                    found.append((call, self._references.all_of(call.args[0]), Mode.UNKNOWN))
                elif (mode := mode_set(call)) is not None:
                    found.append((call, self._models(call), mode))
        return [*found, *self._by_other_names]

    def _models(self, switch: ast.Call) -> list[Reference] | None:
        """The models whose mode a call sets."""
        assert isinstance(switch.func, ast.Attribute)
        models = self._references.all_of(switch.func.value)
        if models and any(isinstance(model.root, ast.Lambda) for model in models):
            return None
        target = self.assigned(switch) if isinstance(switch.func.value, ast.Call) else None
        made = self._references.rebound(target) if target is not None else None
        return [made] if made is not None and not models else models

    @property
    def _by_other_names(self) -> Iterator[tuple[ast.Call, list[Reference] | None, Mode]]:
        """The calls that may set modes without saying so: of ``set_train = model.train``, and of ``getattr(model, mode)``."""
        for name in self._semantics.tree.of_type(ast.Attribute):
            parent = self._semantics.tree.parent(name)
            if name.attr in _MODES and isinstance(name.ctx, ast.Load) and isinstance(parent, ast.Assign):
                binding = self._semantics.bindings.of(parent.targets[0]) if isinstance(parent.targets[0], ast.Name) else None
                for use in binding.uses if binding is not None and parent.value is name else ():
                    call = self._semantics.tree.parent(use)
                    if isinstance(call, ast.Call) and call.func is use:
                        yield call, self._references.all_of(name.value), Mode.UNKNOWN
        for call in self._semantics.facts.calls.get("getattr", ()):
            outer = self._semantics.tree.parent(call)
            if isinstance(outer, ast.Call) and outer.func is call and len(outer.args) < 2 and len(call.args) > 1:
                if _may_be_mode(call.args[1]) and self._semantics.kind(call.args[0]).type is not Type.CLASS:
                    yield outer, self._references.all_of(call.args[0]), Mode.UNKNOWN

    @cached_property
    def unclear(self) -> frozenset[ast.Call]:
        """The calls of hooks that objects from elsewhere may set modes in: ``callback.on_epoch_start()``."""
        names = (name for name in self._semantics.facts.calls if _HOOK.search(name))
        calls = (call for name in names for call in self._semantics.facts.calls[name] if isinstance(call.func, ast.Attribute))
        return frozenset(call for call in calls if self._references.callee(call) is None)

    def hands_switching(self, call: ast.Call) -> bool:
        """Whether a call hands over a function of the file that sets modes: ``model.apply(set_train)``."""
        handed = [each if isinstance(each, ast.Lambda) else self._semantics.facts.definition(each) for each in call.args]
        return any(isinstance(each, (ast.Lambda, *FUNCTIONS)) and _speaks_of_modes(each) for each in handed)

    def is_of_holder(self, call: ast.Call, function: Function, model: Reference) -> bool:
        """Whether a call runs a method, which speaks of modes, of an object that was given the model when it was made."""
        return any(each.holds(model) for each in self.held(call.func)) and _speaks_of_modes(function)

    def held(self, function: ast.expr) -> Iterator[Reference]:
        """What the object was given whose method is called, or one that it is a part of, or comes from."""
        looped = self.looped_over(function) if self.held_by else None
        for called in (self._references.of(function), self._references.of(looped) if looped is not None else None):
            for holder in prefixes(called) if called is not None else ():
                yield from self.held_by.get(holder, ())

    def is_context(self, call: ast.Call, function: Function) -> bool:
        """Whether a call makes an object for ``with`` of a class of the file that sets modes."""
        owner = self._semantics.tree.parent(function)
        is_entered = isinstance(self._semantics.tree.parent(call), ast.withitem)
        return is_entered and isinstance(owner, ast.ClassDef) and _speaks_of_modes(owner)

    def is_wrapped(self, function: Function) -> bool:
        """Whether a decorator of a function may set modes, or set them back behind it."""
        for decorator in function.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            definition = self._semantics.facts.definition(target)
            if _speaks_of_modes(definition) if definition is not None else _OF_MODES.search(last_name(target)):
                return True
        return False

    def looped_over(self, function: ast.expr) -> ast.expr | None:
        """What ``for hook in hooks: hook(model)`` goes through, or ``hook.start(model)``: it is taken not to be empty."""
        while isinstance(function, (ast.Attribute, ast.Subscript)):
            function = function.value
        if isinstance(function, ast.Name):
            bindings = self._semantics.bindings.reaching(function)
            if bindings and all(binding.form is Form.LOOP for binding in bindings):
                return bindings[0].value
        return None

    def place_of(self, switch: ast.Call) -> ast.AST:
        """Where a call sets the mode in any case: the loop, or the question, without which there is nothing to be set."""
        if not isinstance(switch.func, ast.Attribute):
            return switch
        if isinstance(switch.func.value, ast.Name) and (looped := self.looped_over(switch.func.value)) is not None:
            return looped
        return self._asks_for(switch, self.of_call[switch][1]) or switch

    def assigned(self, switch: ast.Call) -> ast.expr | None:
        """What the model is assigned to that such a call gives: ``model`` in ``model = Net().eval().cuda()``."""
        node: ast.AST | None = switch
        while isinstance(node, ast.Call):
            parent = self._semantics.tree.parent(node)
            if isinstance(parent, ast.Assign):
                return parent.targets[0] if len(parent.targets) == 1 and parent.value is node else None
            if not isinstance(parent, ast.Attribute) or parent.attr not in _SAME:
                return None
            node = self._semantics.tree.parent(parent)
        return None

    @cached_property
    def of_call(self) -> dict[ast.Call, tuple[list[Reference] | None, Mode]]:
        """For each such call, the models and the mode."""
        return {call: (models, mode) for call, models, mode in self.all}

    def _asks_for(self, switch: ast.Call, mode: Mode) -> ast.expr | None:
        """The test of ``if m is not None: m.eval()``, without which there is none that has a mode, or of ``if m.training:
        m.eval()``, without which it has that mode already.
        """
        assert isinstance(switch.func, ast.Attribute)
        model = ast.unparse(switch.func.value)
        has_other_mode = f"not {model}.training" if mode is Mode.TRAIN else f"{model}.training"
        child: ast.AST = switch
        for parent in self._semantics.tree.ancestors(switch):
            match parent:
                case ast.If(test=test) if in_body(child, parent):
                    return test if ast.unparse(test) in (model, f"{model} is not None", has_other_mode) else None
                case ast.stmt() if not isinstance(parent, ast.Expr):
                    return None
            child = parent
        return None

    def is_of_items(self, call: ast.Call) -> bool:
        """Whether such a call is of the items of a dict in turn, of which other variables may hold some."""
        return isinstance(call.func, ast.Attribute) and self._references.any_item(call.func.value) is not None

    def _is_other_method(self, call: ast.Call) -> bool:
        """Whether ``x.train()`` runs a method of the file that is not about modes: a trainer's, or one with which a module
        trains itself.
        """
        function = self._references.callee(call)
        if function is None:
            return False
        owner = self._semantics.tree.parent(function)
        is_of_module = isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner)
        return not is_of_module or not is_about_mode(function)

    def handed_over(self, call: ast.Call) -> list[Reference]:
        """What the arguments of a call refer to."""
        if call not in self._passed:
            values = given_to(call)
            self._passed[call] = [found for value in values for found in self._references.elements(value)]
        return self._passed[call]

    @cached_property
    def held_by(self) -> dict[Reference, list[Reference]]:
        """What objects were given when they were made: ``evaluator = Evaluator(model)`` holds ``model``; so does a list."""
        found: dict[Reference, list[Reference]] = {}
        for node in self._semantics.tree.of_type(ast.Assign):
            match node:
                case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=value):
                    held = [each for call in _made_in(value) for each in self.handed_over(call)]
                    if held and (holder := self._references.rebound(target)) is not None:
                        found.setdefault(holder, []).extend(held)
        for name in ("append", "add"):
            for call in self._semantics.facts.calls.get(name, ()):
                held = [each for given in call.args for made in _made_in(given) for each in self.handed_over(made)]
                if held and isinstance(call.func, ast.Attribute):
                    if (holder := self._references.of(call.func.value)) is not None:
                        found.setdefault(holder, []).extend(held)
        return found


def _made_in(value: ast.expr) -> Iterator[ast.Call]:
    """The calls that make a value, or the items of a written-out one."""
    match value:
        case ast.Call():
            yield value
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Dict(values=items):
            yield from (item for item in items if isinstance(item, ast.Call))


def _may_be_mode(name: ast.expr) -> bool:
    """Whether the name of an attribute may be ``train`` or ``eval``, as far as code tells."""
    if isinstance(name, ast.JoinedStr):
        return False
    written = [part.value for part in ast.walk(name) if isinstance(part, ast.Constant)]
    return not written or any(each in _MODES for each in written)


def _speaks_of_modes(definition: ast.AST) -> bool:
    return any(isinstance(part, ast.Attribute) and part.attr in (*_MODES, "training") for part in ast.walk(definition))


def prefixes(reference: Reference) -> Iterator[Reference]:
    """What a reference is a part of, from the variable on, and itself."""
    return (Reference(reference.root, reference.path[:length]) for length in range(1, len(reference.path) + 1))


def mode_set(call: ast.Call) -> Mode | None:
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
