"""Gradients that are wiped before the step that should use them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import dotted, walk_body
from torchlint.semantics.steps.acts import Deed
from torchlint.semantics.steps.rounds import Placed, Rounds
from torchlint.semantics.steps.training_steps import TrainingSteps, ZeroGrad
from torchlint.semantics.steps.unseen_code import UnseenCode
from torchlint.semantics.training.optimizers import OPTIMIZER_METHODS, Optimizers, overlap, stepped

Node = TypeVar("Node")
Place = TypeVar("Place")

_MOST = 100
"""So many calls of `zero_grad` in one scope are looked at; code that has more is generated."""
_NEAR = 8
"""So many backward calls are looked at for the one whose gradients are said to be wiped."""


@dataclass(frozen=True, eq=False, slots=True)
class Wiped(Generic[Node, Place]):
    """The gradients of ``backward``, which are wiped before ``step`` uses them.

    They can be wiped ``before`` a statement of the same block, in front of the backward; nowhere if that is ``None``.
    """

    backward: Node
    step: Node
    before: Place | None


@dataclass(frozen=True, slots=True)
class _Acts:
    """What a scope does with gradients."""

    steps: list[tuple[ast.Call, ast.expr]]
    backwards: list[ast.Call]
    sources: list[ast.AST]
    zeros: list[ZeroGrad]


class Wiping:
    """Finds what a file wipes too soon."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._optimizers = semantics.of(Optimizers)
        self._rounds = semantics.of(Rounds)
        self._acts: dict[FlowScope, _Acts] = {}

    @cached_property
    def wiped(self) -> dict[ast.Call, Wiped[ast.expr, ast.stmt]]:
        """The calls of ``zero_grad`` that wipe gradients which a step should use, each with what it wipes."""
        found: dict[ast.Call, Wiped[ast.expr, ast.stmt]] = {}
        for zero in (zero for zeros in self._zeros_of.values() for zero in zeros[:_MOST]):
            wiped, step = self._wiped(zero)
            if wiped and step is not None:
                found[zero.call] = Wiped(wiped[0], step, self._place_before(zero, wiped))
        return found

    def _wiped(self, zero: ZeroGrad) -> tuple[list[ast.Call], ast.Call | None]:
        """The backward calls that a ``zero_grad`` undoes, and the step that is left without gradients."""
        flow = self._semantics.control_flow
        scope = flow.scope(zero.call)
        acts = self._acts.get(scope) or self._acts.setdefault(scope, self._acts_of(scope))
        left = set(flow.following(zero.call, avoiding=acts.sources))
        if not any(flow.step(call) in left and self._wipes_for(zero, optimizer) for call, optimizer in acts.steps):
            return [], None
        steps = [call for call, optimizer in acts.steps if self._wipes_for(zero, optimizer)]
        used = [*steps, *self._rebindings(zero.of)]
        if not flow.may_follow_any(acts.backwards, zero.call, avoiding=used) or self._has_methods_of_its_own(zero.of):
            return [], None
        zeros = [other.call for other in acts.zeros if self._has_steps(other, zero)]
        for step in steps:
            if flow.step(step) in left and not flow.may_follow_any([*acts.sources, *acts.backwards], step, avoiding=zeros):
                near = sorted(acts.backwards, key=lambda call: abs(call.lineno - zero.call.lineno))[:_NEAR]
                wiped = [backward for backward in near if flow.may_follow(backward, zero.call, avoiding=used)]
                others = [call for call, optimizer in acts.steps if self._optimizers.apart(zero.of, optimizer)]
                if others and all(self._is_for_another(backward, zero, others) for backward in wiped):
                    return [], None
                return sorted(wiped, key=lambda call: call.lineno), step
        return [], None

    def _is_for_another(self, backward: ast.Call, zero: ZeroGrad, others: list[ast.Call]) -> bool:
        """Whether the gradients of a backward are those of ``others``, steps of other models that stand before the wiping.

        What the loss is made of, as far as it is in sight, has to do with none of the models whose gradients are wiped but for
        what is detached: a discriminator's loss on what a generator has made.
        """
        flow = self._semantics.control_flow
        if flow.may_follow(backward, zero.call, avoiding=others) or not isinstance(backward.func, ast.Attribute):
            return False
        loss, trained = backward.func.value, self._optimizers.trained(zero.of)
        if trained is None or not isinstance(loss, ast.Name):
            return False
        pending: list[ast.AST] = [loss]
        seen: set[ast.AST] = set()
        while pending:
            node = pending.pop()
            if node in seen or _is_detached(node):
                continue
            seen.add(node)
            if isinstance(node, (ast.Name, ast.Attribute)) and any(overlap(dotted(node) or "", one) for one in trained):
                return False
            pending.extend(ast.iter_child_nodes(node))
            if isinstance(node, ast.Name):
                bindings = list(self._semantics.bindings.reaching(node))
                for binding in bindings:
                    bindings.extend(each for each in binding.before if each not in bindings)
                values = [binding.value for binding in bindings if binding.value is not None]
                if node is loss and not (
                    values and all(binding.form in (Form.ASSIGNMENT, Form.AUGMENTED) for binding in bindings)
                ):
                    return False
                pending.extend(values)
        return True

    def _acts_of(self, scope: FlowScope) -> _Acts:
        """What the code of a scope does, and the backward calls of functions that it calls itself."""
        placed = self._rounds.of_scope(scope).acts
        own = [each.act for each in placed if len(each.chain) == 1]
        steps = [(act.call, optimizer) for act in own if act.deed is Deed.STEP and (optimizer := stepped(act.call)) is not None]
        surely = {call for call, optimizer in steps if self._optimizers.acts_as_optimizer(optimizer)}
        return _Acts(
            steps,
            list(dict.fromkeys(each.place for each in placed if self._propagates(each))),
            [source for source in self._sources(scope) if source not in surely],
            self._zeros_of.get(scope, []),
        )

    def _propagates(self, placed: Placed) -> bool:
        """Whether an act surely adds to gradients, in the code of a round or in a function that this calls."""
        is_near = len(placed.chain) < 3 and not self._rounds.is_in_closure(placed)
        return placed.act.deed is Deed.BACKWARD and placed.act.certain and is_near

    @cached_property
    def _zeros_of(self) -> dict[FlowScope, list[ZeroGrad]]:
        """The places in each scope that wipe gradients."""
        found: dict[FlowScope, list[ZeroGrad]] = {}
        for zero in self._semantics.of(TrainingSteps).zero_grads:
            found.setdefault(self._semantics.control_flow.scope(zero.call), []).append(zero)
        return found

    def _rebindings(self, optimizer: ast.expr) -> list[ast.AST]:
        """The places in the same scope where the optimizer is made anew, and with it its gradients."""
        text = dotted(optimizer)
        scope = self._semantics.control_flow.scope(optimizer)
        return [
            node
            for node in ast.walk(scope)
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store) and dotted(node) == text
        ]

    def _has_methods_of_its_own(self, optimizer: ast.expr) -> bool:
        """Whether methods are called that optimizers of torch lack: such a one may keep gradients elsewhere."""
        text = ast.dump(optimizer)
        for name, calls in self._semantics.facts.calls.items():
            if name not in OPTIMIZER_METHODS and self._semantics.kind(optimizer).type is not Type.MODULE:
                if any(isinstance(call.func, ast.Attribute) and ast.dump(call.func.value) == text for call in calls):
                    return True
        return False

    def _has_steps(self, other: ZeroGrad, zero: ZeroGrad) -> bool:
        return other is zero or self._optimizers.same(other.of, zero.of)

    def _wipes_for(self, zero: ZeroGrad, optimizer: ast.expr) -> bool:
        """Whether the gradients that are wiped surely are all that the optimizer has."""
        optimizers = self._optimizers
        if optimizers.same(zero.of, optimizer):
            return optimizers.acts_as_optimizer(optimizer) and not self._is_own_class(optimizer)
        makings = optimizers.makings(optimizer)
        here = self._semantics.tree.function(zero.call)
        return (
            makings is not None
            and optimizers.trained(optimizer) == frozenset({dotted(zero.of) or ""})
            and all(isinstance(making, ast.Call) and self._semantics.tree.function(making) is here for making in makings)
            and self._is_bound_once(zero.of)
        )

    def _is_own_class(self, optimizer: ast.expr) -> bool:
        """Whether it is of a class of the file, whose ``step`` may do anything."""
        return self._semantics.kind(optimizer).definition is not None

    def _is_bound_once(self, module: ast.expr) -> bool:
        if not isinstance(module, ast.Name):
            return False
        scope = self._semantics.bindings.scope_of(module)
        return len(self._semantics.bindings.lookup(module.id, scope)) == 1

    def _sources(self, scope: FlowScope) -> list[ast.AST]:
        """The places in a scope where gradients may come from: calls that may back-propagate, and stored gradients."""
        unseen = self._semantics.of(UnseenCode)
        found: list[ast.AST] = []
        for node in walk_body(scope.body):
            match node:
                case ast.Call() if unseen.may_back_propagate(node):
                    found.append(node)
                case ast.Attribute(attr="grad") if not isinstance(node.ctx, ast.Load) or self._is_filled(node):
                    found.append(node)
        return found

    def _is_filled(self, gradient: ast.Attribute) -> bool:
        """Whether a gradient is written to: ``p.grad.copy_(g)``, ``p.grad.data = g``, or given to a function."""
        parent = self._semantics.tree.parent(gradient)
        match parent:
            case ast.Attribute(attr=name):
                return name.endswith("_") or name == "data"
            case ast.Compare() | ast.Assign():
                return False
        return True

    # --- where it belongs --------------------------------------------------------------------------------------------

    def _place_before(self, zero: ZeroGrad, wiped: list[ast.Call]) -> ast.stmt | None:
        """The statement of the same block with the first backward, in front of which the gradients can be wiped."""
        tree = self._semantics.tree
        statement = tree.statement(zero.call)
        if not isinstance(statement, ast.Expr) or statement.value is not zero.call:
            return None
        block = tree.block(statement)
        before = block[: block.index(statement)]
        place = next((other for other in before if any(tree.inside(backward, other) for backward in wiped)), None)
        return None if place is None or self._is_bound_between(zero.of, place, statement) else place

    def _is_bound_between(self, node: ast.expr, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether the optimizer's variable is only bound behind the place that the call would be moved to."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        for name in names:
            for binding in self._semantics.bindings.reaching(name):
                row = getattr(binding.node, "lineno", 0)
                if binding.form is not Form.PARAMETER and first.lineno <= row <= last.lineno:
                    return True
        return False


def _is_detached(node: ast.AST) -> bool:
    """Whether an expression gives a tensor without its graph: ``x.detach()``, ``x.data``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="detach")) | ast.Attribute(attr="data"):
            return True
    return False
