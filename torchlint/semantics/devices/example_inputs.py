"""Inputs that are made up to try out a model, to measure it or to export it, once."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS
from torchlint.semantics.devices import factories
from torchlint.semantics.devices.factories import keyword
from torchlint.semantics.purpose import Purpose

_MADE_UP = frozenset({"rand", "randn", "randint", "ones", "zeros", "empty"})
_RANDOM = frozenset({"rand", "randn", "randint"})
_CALLED_EXAMPLE = re.compile(
    r"(^|_)(dummy|example|mock)_?(in|inputs?|inps?|x|data|images?|imgs?|batch|tensors?)$", re.IGNORECASE
)
_CALLED_NOISE = re.compile(r"noise|latent|^z(_|\d*$)|seed|hidden|^[hc]\d*$|state|prior|mask|label|canvas|eps", re.IGNORECASE)
"""What is called that is drawn, or filled, for what the program is there for."""
_TRAINING = frozenset({"backward", "step", "fit"})
_COLOURS = (1, 3)
"""So many channels an image has."""


class ExampleInputs:
    """Tells of the calls of factories whether what they make is only there to be tried."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_example(self, factory: ast.Call, name: str, made: ast.expr) -> bool:
        """Whether what a ``factory`` of that ``name`` makes, ``made`` where it was moved, tries out a model or a class.

        So it is in a test, under ``if __name__ == "__main__":`` of a file that does nothing else, where it is called so, and
        where a made-up image is given to calls alone, by code that runs once and trains nothing.
        """
        purpose = self._semantics.of(Purpose)
        if purpose.is_try_out(factory) or purpose.is_trial(factory):
            return True
        if purpose.is_test_case(self._semantics.control_flow.scope(factory)):
            return True
        if name not in _MADE_UP or self._runs_often(factory):
            return False
        called = self._name_of(made)
        if called is not None and _CALLED_EXAMPLE.search(called.id):
            return True
        if called is not None and _CALLED_NOISE.search(called.id):
            return False
        return self._is_image(factory, name) and not self._trains(factory) and self._is_only_given(made, called)

    def _runs_often(self, node: ast.AST) -> bool:
        """Whether code stands in a loop, or in a method that a module runs for each input."""
        for parent in self._semantics.tree.ancestors(node):
            if isinstance(parent, LOOPS):
                return True
            if isinstance(parent, FUNCTIONS):
                return parent.name in ("forward", "__call__")
        return False

    def _trains(self, node: ast.AST) -> bool:
        """Whether the function around a node trains, or is a method; of a module's statements, whether the file does."""
        function = self._semantics.tree.function(node)
        calls = [call for name in _TRAINING for call in self._semantics.facts.calls.get(name, ())]
        if not isinstance(function, FUNCTIONS):
            return bool(calls)
        is_method = isinstance(self._semantics.tree.parent(function), ast.ClassDef)
        return is_method or any(self._semantics.tree.inside(call, function) for call in calls)

    def _name_of(self, made: ast.expr) -> ast.Name | None:
        """The name that is given what was made."""
        match self._semantics.tree.parent(made):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is made:
                return target
        return None

    def _is_only_given(self, made: ast.expr, called: ast.Name | None) -> bool:
        """Whether calls are given what was made, and nothing else is done with it."""
        if called is None:
            return self._is_given(made)
        binding = self._semantics.bindings.of(called)
        return binding is not None and bool(binding.uses) and all(map(self._is_given, binding.uses))

    def _is_given(self, value: ast.expr) -> bool:
        """Whether a value is an argument of a call that is no factory or method of tensors, perhaps in a tuple."""
        child, parent = value, self._semantics.tree.parent(value)
        while isinstance(parent, (ast.Tuple, ast.List, ast.keyword)):
            child, parent = parent, self._semantics.tree.parent(parent)  # type: ignore[assignment]
        return isinstance(parent, ast.Call) and child is not parent.func

    def _is_image(self, factory: ast.Call, name: str) -> bool:
        """Whether the sizes are those of images, or of random numbers in three dimensions, as they are written out."""
        sizes = _sizes(factory, name)
        numbers = [size.value if isinstance(size, ast.Constant) else None for size in sizes]
        if numbers[-2:] == [1, 1] or None in numbers[1:2]:
            return False
        if len(sizes) == 3:
            return name in _RANDOM and None not in numbers
        return len(sizes) > 3 and (numbers[0] is not None or numbers[1] in _COLOURS)


def _sizes(factory: ast.Call, name: str) -> list[ast.expr]:
    """The sizes that a factory is asked for, where they are written one by one."""
    given = keyword(factory, "size")
    arguments = factory.args if given is None else [given]
    if given is None and name in factories.RANDOM_INTEGERS:
        arguments = factory.args[-1:]
    match arguments:
        case [ast.Tuple(elts=sizes) | ast.List(elts=sizes)]:
            return sizes
    return arguments
