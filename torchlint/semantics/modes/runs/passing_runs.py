"""Runs of models once, whose graph goes at once: for a picture, or a few numbers that are printed."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import COMPREHENSIONS, FUNCTIONS, Function, Loop, own_returns
from torchlint.semantics.modes.evaluated_runs import Evaluated
from torchlint.semantics.purpose import speaks_of_evaluation_data

_CUTTING = frozenset({"detach", "data"})
"""Attributes and methods behind which a value has no graph."""
_COUNTING = frozenset({"builtins.range", "numpy.linspace", "numpy.arange", "torch.linspace", "torch.arange"})
"""Functions that give the numbers a loop goes through."""
_LIBRARIES = ("torch.", "torchvision.", "numpy.", "sklearn.", "math.", "matplotlib.")
"""Libraries whose functions keep no graph for later."""
_FORM = frozenset({"shape", "size", "dim", "ndim", "dtype", "device", "numel"})
"""Attributes and methods that tell of a tensor what has no graph."""


class PassingRuns:
    """Tells of the runs of models whether nothing of their graph stays, and whether they are made once."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def are_of_function(self, function: Function, evaluated: Iterable[Evaluated]) -> bool:
        """Whether a function runs models once each, and then either reads nothing but their values, or hands nothing on and
        is called in no loop: its graph goes when it ends.
        """
        found = list(evaluated)
        if any(map(self._is_repeated, found)):
            return False
        if all(map(self.is_cut, found)):
            return True
        is_kept = any(self._is_handed_on(each.run.node) for each in found)
        return not is_kept and self._keeps_nothing(function) and not self._may_be_called_in_loop(function)

    def are_of_statements(self, evaluated: Iterable[Evaluated]) -> bool:
        """Whether statements run models once each, and read nothing but the values of what comes out."""
        return all(not self._is_repeated(found) and self.is_cut(found) for found in evaluated)

    def _is_repeated(self, found: Evaluated) -> bool:
        """Whether a model is run for each of several items, behind where its mode is set: in a loop, here or in a function;
        or in each round of one through data of an evaluation, wherever that is.

        What a loop over numbers detaches at once is left by each round as it would be by one.
        """
        if found.is_looped:
            return True
        calls = {found.run.node, found.run.call}
        is_cut = any(map(self.is_cut_there, calls))
        for call in calls:
            around = list(self._tree.loops(call))
            if any(map(self.goes_through_evaluation_data, around)):
                return True
            behind = [loop for loop in around if not self._tree.inside(found.switch, loop)]
            if self._is_in_comprehension(call) or any(not is_cut or not self._is_counted(loop) for loop in behind):
                return True
        return False

    def goes_through_evaluation_data(self, loop: Loop) -> bool:
        """Whether a loop goes through data that are called those of an evaluation, and not through numbers."""
        return isinstance(loop, ast.For) and speaks_of_evaluation_data(loop.iter) and not self._is_counted(loop)

    def _is_counted(self, loop: Loop) -> bool:
        """Whether a loop goes through numbers: ``for z in np.linspace(-3, 3, 20)``."""
        iterable = loop.iter if isinstance(loop, ast.For) else None
        if isinstance(iterable, ast.Call) and self._name(iterable) == "builtins.enumerate" and iterable.args:
            iterable = iterable.args[0]
        if isinstance(iterable, ast.Name):
            bindings = self._semantics.bindings.reaching(iterable)
            iterable = bindings[0].value if len(bindings) == 1 and not bindings[0].path else None
        return isinstance(iterable, ast.Call) and self._name(iterable) in _COUNTING

    def _name(self, call: ast.Call) -> str:
        """The full name of what is called; empty if that is unknown."""
        return self._semantics.qualified_name(call.func) or ""

    def _is_in_comprehension(self, call: ast.Call) -> bool:
        """Whether a call stands anywhere in a comprehension."""
        for parent in self._tree.ancestors(call):
            if isinstance(parent, ast.stmt):
                return False
            if isinstance(parent, COMPREHENSIONS):
                return True
        return False

    def is_cut(self, found: Evaluated) -> bool:
        """Whether the statement that runs a model detaches what comes out, or all that reads the name that it gets does."""
        return any(self.is_cut_there(call) or self._is_cut_behind(call) for call in {found.run.call, found.run.node})

    def is_cut_there(self, call: ast.Call) -> bool:
        """Whether the statement of a call keeps nothing of its graph: ``model(x).detach()``."""
        cut = False
        for parent in self._tree.ancestors(call):
            if isinstance(parent, ast.stmt):
                break
            if isinstance(parent, COMPREHENSIONS):
                return False
            cut = cut or (isinstance(parent, ast.Attribute) and parent.attr in _CUTTING)
        return cut

    def _is_cut_behind(self, call: ast.Call) -> bool:
        """Whether a call gives a name its value, or several, by which nothing but values or a form is read."""
        match self._tree.statement(call):
            case ast.Assign(targets=[target], value=value) if value is call:
                names = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
                bindings = [self._semantics.bindings.of(name) for name in names]
                uses = [use for binding in bindings for use in (binding.uses if binding is not None else [None])]
                return bool(uses) and all(use is not None and self._reads_values(use) for use in uses)
        return False

    def _reads_values(self, use: ast.expr) -> bool:
        """Whether of what a name stands for nothing but values or a form is read: ``out[0].cpu().detach()``."""
        node = use
        while True:
            match parent := self._tree.parent(node):
                case ast.Attribute(attr=name) if name in _CUTTING | _FORM:
                    return True
                case ast.Subscript(value=value) | ast.Call(func=value) | ast.Attribute(value=value) if value is node:
                    node = parent
                case _:
                    return False

    def _is_handed_on(self, call: ast.Call) -> bool:
        """Whether a method of something is given what comes out, and may go on with it: ``decoder.search(encoder(x))``."""
        match self._tree.statement(call):
            case ast.Assign(targets=[ast.Name() as target], value=value) if value is call:
                binding = self._semantics.bindings.of(target)
                places: list[ast.expr] = [*binding.uses] if binding is not None else []
            case _:
                places = [call]
        parents = ((place, self._tree.parent(place)) for place in places)
        return any(
            isinstance(parent, ast.Call) and place in parent.args and self._is_other_method(parent.func)
            for place, parent in parents
        )

    def _is_other_method(self, function: ast.expr) -> bool:
        """Whether what is called is a method, and none of torch or another library."""
        name = self._semantics.qualified_name(function) or ""
        return isinstance(function, ast.Attribute) and not name.startswith(_LIBRARIES)

    def _keeps_nothing(self, function: Function) -> bool:
        """Whether a function returns nothing, and stores nothing that others see."""
        if any(each.value is not None for each in own_returns(function)):
            return False
        stored = (part for part in ast.walk(function) if isinstance(part, (ast.Attribute, ast.Global, ast.Nonlocal)))
        return not any(not isinstance(part, ast.Attribute) or isinstance(part.ctx, ast.Store) for part in stored)

    def _may_be_called_in_loop(self, function: Function) -> bool:
        """Whether a loop of the file calls a function, or what calls it; or nothing does, so that anything may."""
        sites = self._semantics.facts.call_sites(function)
        if not sites:
            return True
        for site in sites:
            if any(self._tree.loops(site)):
                return True
            around = self._tree.function(site)
            if isinstance(around, FUNCTIONS) and around is not function:
                if any(any(self._tree.loops(each)) for each in self._semantics.facts.call_sites(around)):
                    return True
        return False
