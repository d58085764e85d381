"""Calls of dropout that do not follow the mode of their module: always on, never on, or given the mode as a probability."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics
from torchlint.semantics.code.definitions import is_class_method, is_static
from torchlint.semantics.code.tree import FUNCTIONS, Function, keyword, last_name
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.provenance.given_numbers import GivenNumbers

Node = TypeVar("Node")

ACTIVE = frozenset({"dropout", "dropout1d", "dropout2d", "dropout3d"})
"""Functions of `torch.nn.functional` whose ``training`` is true where it is not given."""
IDLE = frozenset({"alpha_dropout", "feature_alpha_dropout"})
"""Those where it is false: they do nothing."""
ATTENTION = "scaled_dot_product_attention"
_DROPOUTS = frozenset(f"torch.nn.{name}" for name in ("Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout"))
"""Layers whose ``p`` is the same in evaluation."""
_RECURRENT = frozenset({"torch.nn.LSTM", "torch.nn.GRU", "torch.nn.RNN"})
_MODES = re.compile(r"train|eval|test|infer|sampl|mode|mc_|monte", re.IGNORECASE)
"""Names that a condition asks for where it tells training from evaluation, or knows that dropout is on."""


_SAMPLING = re.compile(r"(?i:mc[_ -]?drop|monte[_ -]?carlo|bayes)|\bMC\b|MC[A-Z]")
"""What classes are called, or say of themselves, in which dropout is on for predictions."""


class Wrong(Enum):
    """What is wrong with a dropout."""

    ALWAYS = "active in evaluation, too"
    NEVER = "active not even in training"
    FLAG = "a flag is its probability"
    ATTENTION = "its probability is the same in evaluation"
    LAYERS = "there is no layer behind which it could be"


@dataclass(frozen=True, eq=False, slots=True)
class WrongDropout(Generic[Node]):
    """What is wrong with a call. ``given`` is its probability or flag, if it has one, ``instance`` the name of the module."""

    wrong: Wrong
    given: Node | None
    instance: str


class FunctionalDropouts:
    """Looks at the dropouts of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._numbers = semantics.of(GivenNumbers)

    @cached_property
    def found(self) -> dict[ast.Call, WrongDropout[ast.expr]]:
        """The calls of dropout that do not follow the mode of the module they are in."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.Call, WrongDropout[ast.expr]]]:
        for name in (*sorted(ACTIVE | IDLE), ATTENTION, "LSTM", "GRU", "RNN"):
            for call in self._facts.calls.get(name, ()):
                found = self._wrong(call, name) if not _is_open(call) else None
                if found is not None:
                    yield call, found

    def _wrong(self, call: ast.Call, name: str) -> WrongDropout[ast.expr] | None:
        qualified = self._semantics.qualified_name(call.func) or ""
        if qualified in _RECURRENT:
            given = self._unused(call)
            return WrongDropout(Wrong.LAYERS, given, "") if given is not None else None
        if qualified != f"torch.nn.functional.{name}":
            return None
        if name == ATTENTION:
            return self._attention(call)
        given = _argument(call, "p", 1)
        if given is not None and self._is_flag(given):
            return WrongDropout(Wrong.FLAG, given, "")
        if _argument(call, "training", 2) is not None or _is_zero(given):
            return None
        instance = self._instance(call, given)
        if not instance:
            return None
        return WrongDropout(Wrong.ALWAYS if name in ACTIVE else Wrong.NEVER, given, instance)

    def _is_flag(self, given: ast.expr) -> bool:
        """Whether what stands for the probability is a flag: True, False, ``self.training``."""
        match given:
            case ast.Constant(value=bool()):
                return True
            case ast.Attribute(value=owner, attr="training"):
                return self._facts.self_class(owner) is not None
        return False

    # --- attention ---------------------------------------------------------------------------------------------------

    def _attention(self, call: ast.Call) -> WrongDropout[ast.expr] | None:
        given = _argument(call, "dropout_p", 4)
        if given is None or _is_zero(given) or not (instance := self._instance(call, given)):
            return None
        match given:
            case ast.Constant(value=float() | int()):
                return WrongDropout(Wrong.ATTENTION, given, instance)
            case ast.Attribute(value=layer, attr="p") if self._semantics.kind(layer).name in _DROPOUTS:
                is_wrong = "p" not in self._facts.stored_attributes and not self._drops_nothing(layer)
                return WrongDropout(Wrong.ATTENTION, given, instance) if is_wrong else None
            case ast.Attribute(value=owner, attr=name):
                own = self._facts.self_class(owner)
                if own is not None and self._is_number(own, name):
                    return WrongDropout(Wrong.ATTENTION, given, instance)
        return None

    def _drops_nothing(self, layer: ast.expr) -> bool:
        """Whether an attribute is given a dropout with a probability of zero."""
        own = self._facts.self_class(layer.value) if isinstance(layer, ast.Attribute) else None
        slots = self._facts.slots(own, layer.attr) if own is not None and isinstance(layer, ast.Attribute) else []
        return any(isinstance(made, ast.Call) and _is_zero(_argument(made, "p", 0)) for made in self._facts.assigned(slots))

    def _is_number(self, own: ast.ClassDef, name: str) -> bool:
        """Whether an attribute is a number that was given, or one written out, and not set where the mode is."""
        slots = self._facts.slots(own, name)
        stores = [store for slot in slots for store in slot.stores]
        if not stores or any(slot.class_values for slot in slots) or _MODES.search(name):
            return False
        for store in stores:
            function, statement = self._tree.function(store), self._tree.parent(store)
            if not isinstance(function, FUNCTIONS) or _MODES.search(function.name) or not isinstance(statement, ast.Assign):
                return False
            if not isinstance(statement.value, (ast.Constant, ast.Name, ast.Attribute)) or _is_zero(statement.value):
                return False
        return True

    # --- recurrent layers --------------------------------------------------------------------------------------------

    def _unused(self, call: ast.Call) -> ast.expr | None:
        """The ``dropout`` of a recurrent network that has one layer."""
        given = keyword(call, "dropout")
        layers = _argument(call, "num_layers", 2)
        if given is None or _is_zero(given) or isinstance(given, ast.IfExp):
            return None
        if layers is not None and self._numbers.of(layers) != {1.0}:
            return None
        rates = self._numbers.of(given)
        return given if rates is not None and 0.0 not in rates else None

    # --- where it stands ---------------------------------------------------------------------------------------------

    def _instance(self, call: ast.Call, given: ast.expr | None) -> str:
        """The name of the module in whose forward a call stands; empty where it stands in none, or the mode is asked for."""
        function = self._tree.function(call)
        while isinstance(function, (*FUNCTIONS, ast.Lambda)) and not self._is_method(function):
            function = self._tree.function(function)
        if not isinstance(function, FUNCTIONS) or self._is_asked(call, given, function):
            return ""
        owner = self._tree.parent(function)
        said = [*((owner.name, ast.get_docstring(owner) or "") if isinstance(owner, ast.ClassDef) else ())]
        if any(map(_SAMPLING.search, [*said, ast.get_docstring(function) or ""])):
            return ""
        if not self._semantics.of(ModuleClasses).is_run_by_forward(function):
            return ""
        parameters = [*function.args.posonlyargs, *function.args.args]
        return parameters[0].arg if parameters and not is_static(function) and not is_class_method(function) else ""

    def _is_method(self, function: ast.AST) -> bool:
        return isinstance(self._tree.parent(function), ast.ClassDef)

    def _is_asked(self, call: ast.Call, given: ast.expr | None, method: Function) -> bool:
        """Whether conditions that ask for the mode decide on a call: around it, in front of it, or on its probability."""
        asking = self._asking.get(method, ())
        if asking and not isinstance(given, (ast.Constant, ast.Attribute, type(None))):
            return True
        return any(
            self._tree.inside(call, node) or any(isinstance(part, (ast.Return, ast.Raise)) for part in ast.walk(node))
            for node in asking
        )

    @cached_property
    def _asking(self) -> dict[ast.AST, list[ast.AST]]:
        """The conditions that ask for the mode, by the functions that they are in."""
        found = defaultdict[ast.AST, list[ast.AST]](list)
        tests: list[ast.If | ast.IfExp] = [*self._tree.of_type(ast.If), *self._tree.of_type(ast.IfExp)]
        for node in tests:
            names = (last_name(part) for part in ast.walk(node.test) if isinstance(part, (ast.Name, ast.Attribute)))
            if any(_MODES.search(name) for name in names):
                function = self._tree.function(node)
                while function is not None:
                    found[function].append(node)
                    function = self._tree.function(function)
        return found


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    for word in call.keywords:
        if word.arg == name:
            return word.value
    return call.args[place] if place < len(call.args) else None


def _is_open(call: ast.Call) -> bool:
    """Whether a call unpacks arguments."""
    return any(isinstance(each, ast.Starred) for each in call.args) or any(word.arg is None for word in call.keywords)


def _is_zero(given: ast.expr | None) -> bool:
    return isinstance(given, ast.Constant) and not isinstance(given.value, bool) and not given.value
