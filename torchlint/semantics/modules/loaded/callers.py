"""Who calls the functions that give the result of `load_state_dict`, or raise as they take it for something else."""

from __future__ import annotations

import ast
from collections.abc import Callable

from torchlint.semantics import Semantics, Type
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import Function

_MOST_SITES = 20


class LoadingCallers:
    """Looks at the calls of the functions of one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._awaited: dict[ast.AST, bool] = {}

    def await_errors(self, node: ast.AST) -> bool:
        """Whether the function around a node is called where an error of it is awaited."""
        function = self._tree.function(node)
        if function is None:
            return False
        if function not in self._awaited:
            sites = self._facts.call_sites(function)
            self._awaited[function] = any(is_awaited(self._tree, site) for site in sites)
        return self._awaited[function]

    def may_run_another(self, function: Function) -> bool | None:
        """Whether a call of a function may run a method of another class instead; ``None`` if the project has such a one."""
        owner = self._tree.parent(function)
        if not isinstance(owner, ast.ClassDef):
            return False
        if any(function.name in self._facts.classes[each].methods for each in self._facts.derived(owner) if each is not owner):
            return None
        callers = self._semantics.elsewhere.callers
        heirs = callers.heirs(owner.name) if callers is not None else ()
        return None if any(function.name in each.summary.methods for each in heirs) else False

    def take_for_model(
        self,
        function: Function,
        role: Type,
        takes: Callable[[ast.expr, Type], bool],
        is_known_for: Callable[[ast.expr, Type], bool],
    ) -> bool | None:
        """Whether no call of a function in the file shows that its result is taken for a model; ``None`` if one shows that
        it is known for what it is.
        """
        is_open = True
        for site in self._facts.call_sites(function)[:_MOST_SITES]:
            target = self._tree.parent(site)
            uses: list[ast.expr] = [site]
            if isinstance(target, ast.Assign) and isinstance(target.targets[0], ast.Name):
                binding = self._semantics.bindings.of(target.targets[0])
                uses = list(binding.uses) if binding is not None else []
            if any(is_known_for(use, role) for use in uses) and self._gives_one(function):
                return None
            is_open = is_open and not any(takes(use, role) for use in uses)
        return is_open

    def _gives_one(self, function: Function) -> bool:
        """Whether a function does not return several values, which are unpacked in any case."""
        return not any(isinstance(each, ast.Tuple) for each in self._facts.returned(function))
