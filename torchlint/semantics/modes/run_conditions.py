"""What comes of a run of a model under conditions: what its function is given by the call, and what is so where it is made."""

from __future__ import annotations

import ast

from torchlint.semantics import Semantics
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, Function, position
from torchlint.semantics.conditions.assumptions import Assumption, Assumptions
from torchlint.semantics.memory.references import References


class RunConditions:
    """Tells of runs of models, of the ``site`` in a scope and the ``call`` perhaps within a function, what comes of them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._assumptions = semantics.of(Assumptions)
        self._propagated: dict[tuple[ast.Call, ast.Call], bool] = {}
        self._given: dict[ast.Call, Assumption] = {}

    def is_backpropagated(self, call: ast.Call, site: ast.Call) -> bool:
        """Whether what a model returns is back-propagated where its function is given what the site gives."""
        key = (call, site)
        if key not in self._propagated:
            found = self._semantics.of(Backpropagated).call_within(call, site)
            if found and site is not call:
                found = self.is_backpropagated_under(call, site, Assumption())
            self._propagated[key] = found
        return self._propagated[key]

    def is_backpropagated_under(self, call: ast.Call, site: ast.Call, assumed: Assumption) -> bool:
        """Likewise, where an assumption holds at the site."""
        within = self._within(call, site, assumed)
        backpropagated = self._semantics.of(Backpropagated)
        without = [root for root in backpropagated.roots if self._is_excluded(root, within)]
        return backpropagated.call_within(call, site, without)

    def is_run_under(self, call: ast.Call, site: ast.Call, assumed: Assumption) -> bool:
        """Whether the model may be run at all where an assumption holds."""
        within = self._within(call, site, assumed)
        return not self._is_excluded(site, within) and not self._is_excluded(call, within)

    def is_entered(self, place: ast.Call, function: Function, site: ast.Call, call: ast.Call) -> bool:
        """Whether a place in a function may run where a site calls that, and a call in the function that the place runs, if
        it runs one: by what they are given, below ``if train:``, say.
        """
        if site not in self._given:
            self._given[site] = self._assumptions.within(function, site, Assumption())
        if self._assumptions.excludes(self._given[site], place):
            return False
        inner = self._semantics.of(References).callee(place) if call is not place else None
        if inner is None or inner is not self._semantics.tree.function(call):
            return True
        return not self._assumptions.excludes(self._assumptions.within(inner, place, self._given[site]), call)

    def is_behind(self, setting: ast.AST, call: ast.Call) -> bool:
        """Whether a setting stands above a call in its function, under no other conditions than the call: ``if not chance:``
        there, and here the ``else`` of ``if chance:``.
        """
        if not isinstance(setting, (ast.expr, ast.stmt)) or position(setting) >= position(call):
            return False
        if any(self._semantics.tree.loops(setting)):
            return False
        asked = [_plain(*each) for each in self._assumptions.guards(setting)]
        known = [_plain(*each) for each in self._assumptions.guards(call)] if asked else []
        return bool(asked) and all(any(self._is_same(one, other) for other in known) for one in asked)

    def _is_same(self, one: tuple[ast.expr, bool], other: tuple[ast.expr, bool]) -> bool:
        """Whether two conditions are of one name, which has not changed, and hold alike."""
        (test, holds), (again, holds_again) = one, other
        if holds is not holds_again or not isinstance(test, ast.Name) or not isinstance(again, ast.Name) or test.id != again.id:
            return False
        bindings = self._semantics.bindings
        return set(bindings.reaching(test)) == set(bindings.reaching(again))

    def _within(self, call: ast.Call, site: ast.Call, assumed: Assumption) -> dict[FlowScope, Assumption]:
        """What is so in the scope of a site, and in the function that it calls."""
        within: dict[FlowScope, Assumption] = {self._semantics.control_flow.scope(site): assumed}
        function = self._semantics.of(References).callee(site) if site is not call else None
        if function is not None:
            within[function] = self._assumptions.within(function, site, assumed)
        return within

    def _is_excluded(self, node: ast.expr, within: dict[FlowScope, Assumption], depth: int = 2) -> bool:
        """Whether code does not run under what is assumed in the functions around: itself, or every call of its function."""
        scope = self._semantics.control_flow.scope(node)
        if scope in within:
            return self._assumptions.excludes(within[scope], node)
        if not depth or not isinstance(scope, FUNCTIONS):
            return False
        function: Function = scope
        sites = self._semantics.inference.call_sites(function)
        return bool(sites) and all(self._is_excluded_from(site, function, node, within, depth) for site in sites)

    def _is_excluded_from(
        self, site: ast.Call, function: Function, node: ast.expr, within: dict[FlowScope, Assumption], depth: int
    ) -> bool:
        """Whether a call of a function does not run, or not code in the function, with what it is given."""
        scope = self._semantics.control_flow.scope(site)
        if scope not in within:
            return False
        given = self._assumptions.within(function, site, within[scope])
        return self._assumptions.excludes(given, node) or self._is_excluded(site, within, depth - 1)


def _plain(test: ast.expr, holds: bool) -> tuple[ast.expr, bool]:
    """A condition without `not` in front of it."""
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, holds = test.operand, not holds
    return test, holds
