"""Inputs that are made up to try out a model, to measure it or to export it, once."""

from __future__ import annotations

import ast
import re

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, keyword, last_name
from torchlint.semantics.devices import factories
from torchlint.semantics.purpose import Purpose

_MADE_UP = frozenset({"rand", "randn", "randint", "ones", "zeros", "empty"})
_RANDOM = frozenset({"rand", "randn", "randint"})
_CALLED_EXAMPLE = re.compile(
    r"(^|_)(dummy|example|mock)_?(in|inputs?|inps?|x|data|images?|imgs?|batch|tensors?)$", re.IGNORECASE
)
_CALLED_NOISE = re.compile(r"noise|latent|^z(_|\d*$)|seed|hidden|^[hc]\d*$|state|prior|mask|label|canvas|eps", re.IGNORECASE)
"""What is called that is drawn, or filled, for what the program is there for."""
_COUNTING = re.compile(
    r"(^|_)(profile|summary|n?flops?|macs|complexity|trace|export|make_dot)(_|$)|^(add|draw)_graph|Count(er|Analysis)$|^count_(op|param)",
    re.IGNORECASE,
)
"""What functions are called that count the operations of a model, draw or export it, by what they are given to run it with."""
_OF_COUNTING = re.compile(
    r"(^|_)(count|comp|compute|calc|calculate|get|measure|profile|print)_\w{0,20}(flops?|macs|mult_?adds|madds|complexity)(_|$)",
    re.IGNORECASE,
)
"""What functions are called that count the operations of a model which they are given."""
_FORMS = frozenset({"shape", "size", "numel", "dim", "ndim", "nelement"})
_RESHAPING = frozenset({"view", "reshape", "flatten", "squeeze", "detach", "cpu"})
_TRAINING = frozenset({"backward", "step", "fit"})
_COLOURS = (1, 3)
"""So many channels an image has."""


class ExampleInputs:
    """Tells of the calls of factories whether what they make is only there to be tried."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def is_example(self, factory: ast.Call, name: str, made: ast.expr) -> bool:
        """Whether what a ``factory`` of that ``name`` makes, ``made`` where it was moved, tries out a model or a class.

        So it is in a test, under ``if __name__ == "__main__":`` of a file that does nothing else, in a function that
        counts operations, where it is called so,
        where a model's operations are counted by it or nothing but the form of what comes out is asked for, and where a made-up
        image is given to calls alone, by code that runs once and trains nothing.
        """
        purpose = self._semantics.of(Purpose)
        if purpose.is_test_of_classes(factory) or purpose.is_trial(factory):
            return True
        if purpose.is_test_case(self._semantics.control_flow.scope(factory)):
            return True
        if name not in _MADE_UP or self._runs_often(factory):
            return False
        function = self._semantics.tree.function(factory)
        if isinstance(function, FUNCTIONS) and _OF_COUNTING.search(function.name):
            return True
        called = self._name_of(made)
        if self._is_measure(made, called):
            return True
        if called is not None and _CALLED_EXAMPLE.search(called.id):
            return True
        if called is not None and _CALLED_NOISE.search(called.id):
            return False
        return self._is_image(factory, name) and not self._trains(factory) and self._is_only_given(made, called)

    def _is_measure(self, made: ast.expr, called: ast.Name | None) -> bool:
        """Whether what was made only goes into a count of operations, or through a model of whose result the form is read."""
        uses: list[ast.expr] = [made]
        if called is not None:
            binding = self._semantics.bindings.of(called)
            uses = [*binding.uses] if binding is not None else []
        others = [use for use in uses if not self._is_form(use)]
        return bool(others) and all(self._is_counted(use) or self._is_probe(use) for use in others)

    def _is_form(self, value: ast.expr) -> bool:
        """Whether nothing but the form of a value is read."""
        parent = self._semantics.tree.parent(value)
        return isinstance(parent, ast.Attribute) and parent.attr in _FORMS

    def _call_given(self, value: ast.expr) -> ast.Call | None:
        """The call that a value is an argument of, perhaps in a tuple."""
        child, parent = value, self._semantics.tree.parent(value)
        while isinstance(parent, (ast.Tuple, ast.List, ast.keyword)):
            child, parent = parent, self._semantics.tree.parent(parent)  # type: ignore[assignment]
        return parent if isinstance(parent, ast.Call) and child is not parent.func else None

    def _is_counted(self, value: ast.expr) -> bool:
        call = self._call_given(value)
        return call is not None and _COUNTING.search(last_name(call.func)) is not None

    def _is_probe(self, value: ast.expr) -> bool:
        """Whether all that is read of what a call gives for a value is its form: ``net(torch.ones(1, 3, 8, 8)).shape[1]``."""
        result: ast.expr | None = self._call_given(value)
        if result is None:
            return False
        while (inner := self._reshaped(result)) is not None:
            result = inner
        called = self._name_of(result)
        if called is None:
            return self._is_form(result)
        binding = self._semantics.bindings.of(called)
        return binding is not None and bool(binding.uses) and all(map(self._is_form, binding.uses))

    def _reshaped(self, value: ast.expr) -> ast.Call | None:
        """What a method gives that only reshapes a value."""
        parent = self._semantics.tree.parent(value)
        call = self._semantics.tree.parent(parent) if isinstance(parent, ast.Attribute) and parent.attr in _RESHAPING else None
        return call if isinstance(call, ast.Call) and call.func is parent else None

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
        """The name that is given what was made, perhaps in one of two cases: ``x = torch.ones(n).cuda() if flag else y``."""
        parent = self._semantics.tree.parent(made)
        while isinstance(parent, ast.IfExp) and made is not parent.test:
            made, parent = parent, self._semantics.tree.parent(parent)
        match parent:
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is made:
                return target
        return None

    def _is_only_given(self, made: ast.expr, called: ast.Name | None) -> bool:
        """Whether calls are given what was made, and nothing else is done with it but that its form is read."""
        if called is None:
            return self._is_given(made)
        binding = self._semantics.bindings.of(called)
        others = [use for use in binding.uses if not self._is_form(use)] if binding is not None else []
        return bool(others) and all(map(self._is_given, others))

    def _is_given(self, value: ast.expr) -> bool:
        """Whether a value is an argument of a call that is no factory or method of tensors, perhaps in a tuple."""
        return self._call_given(value) is not None

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
