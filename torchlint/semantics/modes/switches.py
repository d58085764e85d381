"""The calls that switch the modes of models, ``model.eval()`` and ``model.train()``, and who was handed a model."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from enum import Enum
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import last_name
from torchlint.semantics.memory.references import Reference, References


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


class Switches:
    """Finds what switches modes in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._references = semantics.of(References)
        self._passed: dict[ast.Call, list[Reference]] = {}

    @cached_property
    def all(self) -> list[tuple[ast.Call, list[Reference] | None, Mode]]:
        """The calls of ``eval`` and ``train`` that set modes, with the models whose (None: not known) and the mode."""
        found = []
        for name in ("eval", "train"):
            for call in self._semantics.facts.calls.get(name, ()):
                mode = mode_set(call)
                if mode is not None and isinstance(call.func, ast.Attribute) and not self._is_other_method(call):
                    models = self._references.all_of(call.func.value)
                    target = self.assigned(call) if isinstance(call.func.value, ast.Call) else None
                    made = self._references.rebound(target) if target is not None else None
                    found.append((call, [made] if made is not None and not models else models, mode))
        return found

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

    def is_of_items(self, call: ast.Call) -> bool:
        """Whether such a call is of the items of a dict in turn, of which other variables may hold some."""
        return isinstance(call.func, ast.Attribute) and self._references.any_item(call.func.value) is not None

    def _is_other_method(self, call: ast.Call) -> bool:
        """Whether ``x.train()`` runs a method of the file that is not about modes: a trainer's."""
        function = self._references.callee(call)
        if function is None:
            return False
        owner = self._semantics.tree.parent(function)
        return not (isinstance(owner, ast.ClassDef) and self._semantics.facts.is_module(owner))

    def handed_over(self, call: ast.Call) -> list[Reference]:
        """What the arguments of a call refer to."""
        if call not in self._passed:
            values = [*call.args, *(keyword.value for keyword in call.keywords)]
            self._passed[call] = [found for value in values for found in self._references.elements(value)]
        return self._passed[call]

    @cached_property
    def held_by(self) -> dict[Reference, list[Reference]]:
        """What objects were given when they were made: ``evaluator = Evaluator(model)`` holds ``model``."""
        found: dict[Reference, list[Reference]] = {}
        for node in self._semantics.tree.of_type(ast.Assign):
            match node:
                case ast.Assign(targets=[ast.Name() | ast.Attribute() as target], value=ast.Call() as call):
                    held = self.handed_over(call)
                    if held and (holder := self._references.rebound(target)) is not None:
                        found.setdefault(holder, []).extend(held)
        return found


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
