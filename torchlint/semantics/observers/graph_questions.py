"""Calls that ask for more of a tensor than its value: for its graph, or what only a tensor without one allows."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.semantics import Semantics

_REFUSING = frozenset({"copy.deepcopy", "operator.attrgetter", "operator.methodcaller", "builtins.id"})
"""What tells of the object, or is refused where there is a graph: only leaves can be copied deeply (ran)."""
_NUMBERS = ("numpy.float", "numpy.int")
"""Functions of numpy that make a number of a tensor; all others make an array, which one that requires grad refuses (ran)."""
_BY_NAME = frozenset({"builtins.getattr", "builtins.hasattr"})
_TELLING = frozenset({"requires_grad", "grad_fn", "is_leaf", "retains_grad"})


class GraphQuestions:
    """Tells which calls ask for the graph of what they are given."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    def are_asked_by(self, call: ast.Call, node: ast.expr) -> bool:
        """Whether a call, or the function of another file that it runs, does something else with the graph of ``node``."""
        function = call.func.func if isinstance(call.func, ast.Call) else call.func
        name = self._semantics.qualified_name(function) or ""
        if name in _BY_NAME:
            return self._names_graph(call)
        if name.startswith("numpy."):
            return not name.startswith(_NUMBERS)
        if name in _REFUSING or name.startswith("torch.autograd."):
            return True
        if name == "torch.save":
            return self._asks_what_it_loads
        return self._semantics.elsewhere.differentiates(call)

    @staticmethod
    def _names_graph(call: ast.Call) -> bool:
        """Whether an attribute that is read by its name may be one that tells of the graph."""
        match call.args:
            case [_, ast.Constant(value=str(name)), *_]:
                return name in _TELLING
        return True

    @cached_property
    def _asks_what_it_loads(self) -> bool:
        """Whether the file loads tensors, which are saved with their flags (ran), and asks what some tells of its graph."""
        attributes = self._semantics.tree.of_type(ast.Attribute)
        return "load" in self._semantics.facts.calls and any(
            each.attr in _TELLING and isinstance(each.ctx, ast.Load) for each in attributes
        )
