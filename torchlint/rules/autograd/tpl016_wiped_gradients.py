from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Form, Type
from torchlint.semantics.code.control_flow import FlowScope
from torchlint.semantics.code.tree import dotted, walk_body
from torchlint.semantics.training.optimizers import Optimizers, stepped
from torchlint.semantics.training.training_steps import TrainingSteps, ZeroGrad
from torchlint.semantics.training.unseen_code import UnseenCode

_METHODS = frozenset({"step", "zero_grad", "state_dict", "load_state_dict", "add_param_group", "register_step_post_hook"})
"""The methods of an optimizer of torch."""


_MOST = 100
"""So many calls of `zero_grad` in one scope are looked at; code that has more is generated."""
_NEAR = 8
"""So many backward calls are looked at for the one that a message names and a fix moves a call in front of."""


@dataclass(frozen=True, slots=True)
class _Acts:
    """What a scope does with gradients."""

    steps: list[tuple[ast.Call, ast.expr]]
    backwards: list[ast.Call]
    sources: list[ast.AST]
    zeros: list[ZeroGrad]


class WipedGradients(AstRule):
    """
    ## What it does
    Finds `zero_grad()` between `backward()` and the `step()` that should use the gradients.

    ## Why is this bad
    The step finds no gradients, or zeros, and changes no weight. The loss is computed, the loop runs, nothing is learnt.

    ## Example
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.zero_grad()
        optimizer.step()
    ```

    ## Use instead
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    Unsafe: the call is moved in front of the backward, and the model starts to learn. There is no fix where the two are not
    statements of the same block.

    ## References
    - [torch.optim.Optimizer.zero_grad](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html)
    """

    code = "TPL016"
    name = "wiped-gradients"
    screen = Screen(any_of=(b"zero_grad",), and_any_of=(b"step",), check=lambda data: b"backward" in data)

    def finish(self) -> None:
        """Looks at each ``zero_grad`` of the file."""
        for zero in (zero for zeros in self._zeros_of.values() for zero in zeros[:_MOST]):
            wiped, step = self._wiped(zero)
            if wiped and step is not None:
                message = (
                    f"`{ast.unparse(zero.call)}` wipes the gradients of `{_short(wiped[0])}` before `{ast.unparse(step)}` "
                    "uses them; call it before the backward"
                )
                self.report(zero.call, message, self._fix(zero, wiped))

    # --- what is wiped -----------------------------------------------------------------------------------------------

    def _wiped(self, zero: ZeroGrad) -> tuple[list[ast.Call], ast.Call | None]:
        """The backward calls that a ``zero_grad`` undoes, and the step that is left without gradients."""
        flow = self.semantics.control_flow
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
                return sorted(wiped, key=lambda call: call.lineno), step
        return [], None

    @cached_property
    def _acts(self) -> dict[FlowScope, _Acts]:
        """What is known of the scopes that were looked at."""
        return {}

    def _acts_of(self, scope: FlowScope) -> _Acts:
        optimizers = self.semantics.of(Optimizers)
        own = self._steps_of.get(scope, [])
        surely = {call for call, optimizer in own if optimizers.acts_as_optimizer(optimizer)}
        return _Acts(
            own,
            list(dict.fromkeys(self._backwards_of.get(scope, ()))),
            [source for source in self._sources(scope) if source not in surely],
            self._zeros_of.get(scope, []),
        )

    @cached_property
    def _steps_of(self) -> dict[FlowScope, list[tuple[ast.Call, ast.expr]]]:
        """The steps of optimizers in each scope."""
        found: dict[FlowScope, list[tuple[ast.Call, ast.expr]]] = {}
        calls = self.semantics.facts.calls
        for call in (*calls.get("step", ()), *calls.get("optimizer_step", ())):
            if (optimizer := stepped(call)) is not None:
                found.setdefault(self.semantics.control_flow.scope(call), []).append((call, optimizer))
        return found

    @cached_property
    def _zeros_of(self) -> dict[FlowScope, list[ZeroGrad]]:
        """The places in each scope that wipe gradients."""
        found: dict[FlowScope, list[ZeroGrad]] = {}
        for zero in self.semantics.of(TrainingSteps).zero_grads:
            found.setdefault(self.semantics.control_flow.scope(zero.call), []).append(zero)
        return found

    def _rebindings(self, optimizer: ast.expr) -> list[ast.AST]:
        """The places in the same scope where the optimizer is made anew, and with it its gradients."""
        text = dotted(optimizer)
        scope = self.semantics.control_flow.scope(optimizer)
        return [
            node
            for node in ast.walk(scope)
            if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store) and dotted(node) == text
        ]

    def _has_methods_of_its_own(self, optimizer: ast.expr) -> bool:
        """Whether methods are called that optimizers of torch lack: such a one may keep gradients elsewhere."""
        text = ast.dump(optimizer)
        for name, calls in self.semantics.facts.calls.items():
            if name not in _METHODS and self.semantics.kind(optimizer).type is not Type.MODULE:
                if any(isinstance(call.func, ast.Attribute) and ast.dump(call.func.value) == text for call in calls):
                    return True
        return False

    def _has_steps(self, other: ZeroGrad, zero: ZeroGrad) -> bool:
        return other is zero or self.semantics.of(Optimizers).same(other.of, zero.of)

    def _wipes_for(self, zero: ZeroGrad, optimizer: ast.expr) -> bool:
        """Whether the gradients that are wiped surely are all that the optimizer has."""
        optimizers = self.semantics.of(Optimizers)
        if optimizers.same(zero.of, optimizer):
            return optimizers.acts_as_optimizer(optimizer) and not self._is_own_class(optimizer)
        makings = optimizers.makings(optimizer)
        here = self.semantics.tree.function(zero.call)
        return (
            makings is not None
            and optimizers.trained(optimizer) == frozenset({dotted(zero.of) or ""})
            and all(isinstance(making, ast.Call) and self.semantics.tree.function(making) is here for making in makings)
            and self._is_bound_once(zero.of)
        )

    def _is_own_class(self, optimizer: ast.expr) -> bool:
        """Whether it is of a class of the file, whose ``step`` may do anything."""
        return self.semantics.kind(optimizer).definition is not None

    def _is_bound_once(self, module: ast.expr) -> bool:
        if not isinstance(module, ast.Name):
            return False
        scope = self.semantics.bindings.scope_of(module)
        return len(self.semantics.bindings.lookup(module.id, scope)) == 1

    @cached_property
    def _backwards_of(self) -> dict[FlowScope, list[ast.Call]]:
        """The calls in each scope that surely back-propagate, themselves or in a function of the file."""
        flow, tree = self.semantics.control_flow, self.semantics.tree
        found: dict[FlowScope, list[ast.Call]] = {}
        for backward in self.semantics.of(TrainingSteps).backwards:
            own = flow.scope(backward.call)
            found.setdefault(own, []).append(backward.call)
            function = tree.function(backward.call)
            if function is not None and not isinstance(function, ast.Lambda):
                for call in self.semantics.inference.call_sites(function):
                    if (scope := flow.scope(call)) is not own:
                        found.setdefault(scope, []).append(call)
        return found

    def _sources(self, scope: FlowScope) -> list[ast.AST]:
        """The places in a scope where gradients may come from: calls that may back-propagate, and stored gradients."""
        unseen = self.semantics.of(UnseenCode)
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
        parent = self.semantics.tree.parent(gradient)
        match parent:
            case ast.Attribute(attr=name):
                return name.endswith("_") or name == "data"
            case ast.Compare() | ast.Assign():
                return False
        return True

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _fix(self, zero: ZeroGrad, wiped: list[ast.Call]) -> Fix | None:
        """Moves the statement in front of the first backward."""
        statement = self.semantics.tree.statement(zero.call)
        if not isinstance(statement, ast.Expr) or statement.value is not zero.call:
            return None
        block = self.semantics.tree.block(statement)
        before = block[: block.index(statement)]
        target = next(
            (other for other in before if any(self.semantics.tree.inside(backward, other) for backward in wiped)), None
        )
        if target is None or self._is_bound_between(zero.of, target, statement):
            return None
        rewriter = Rewriter(self.source, self.semantics)
        start = self.source.start(target)
        line = self.source.line_start(target.lineno)
        deletion = rewriter.delete_statement(statement)
        if self.source.text[line:start].strip(" \t") or not rewriter.stands_alone(statement):
            if target.lineno != target.end_lineno:
                return None
            edits = [(start, start, f"{self.source.segment(statement)}; "), deletion]
        else:
            moved = self.source.text[deletion[0] : deletion[1]].rstrip("\r\n") + self.source.newline
            edits = [(line, line, moved), deletion]
        return self.fix(f"Move `{ast.unparse(zero.call)}` before the backward", edits, safe=False)

    def _is_bound_between(self, node: ast.expr, first: ast.stmt, last: ast.stmt) -> bool:
        """Whether the optimizer's variable is only bound behind the place that the call would be moved to."""
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        for name in names:
            for binding in self.semantics.bindings.reaching(name):
                row = getattr(binding.node, "lineno", 0)
                if binding.form is not Form.PARAMETER and first.lineno <= row <= last.lineno:
                    return True
        return False


def _short(call: ast.Call) -> str:
    text = ast.unparse(call)
    return text if len(text) <= 60 else f"{ast.unparse(call.func)}(…)"
