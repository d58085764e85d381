from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.evaluation import EVALUATES, SWITCHES, GradientUses, carried, is_evaluation, is_test_case
from torchlint.semantics.autograd.no_grad_runs import SUSPENDING
from torchlint.rules.screens import Screen
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.control_flow import Ahead, ControlFlow, FlowScope
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Function, Loop, walk_body
from torchlint.semantics.memory.references import Reference
from torchlint.semantics.training.modes import Mode, Modes, Run
from torchlint.semantics.training.switches import Switches
from torchlint.target import TorchVersion

_WRAPPED = (*LOOPS, ast.Expr, ast.Assign, ast.With, ast.If)
"""The statements that are put under ``no_grad`` as they are."""

_MOST_BLOCKS = 200
"""So many blocks of one scope that put a model into evaluation mode are looked at; code that has more is generated."""
_OF_TORCH = ("torch", "Module")
"""Words of files about torch: what has an ``eval`` elsewhere is no model of ours."""
_NEAR = 7
"""So many statements make a block of their own at most where only the first and the last of them evaluate."""


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A run of a model behind the call that put it into evaluation mode."""

    switch: ast.Call
    model: Reference
    run: Run


class _Evaluations:
    """The runs of a model in a scope with autograd on that are not trained on, and which of them follow a place."""

    def __init__(self, scope: FlowScope, runs: Iterable[Run], training: tuple[ast.AST, ...], flow: ControlFlow) -> None:
        self._scope = scope
        self._training = training
        self._flow = flow
        self._runs: dict[ast.AST, list[tuple[int, Run]]] = {}
        """By their steps, each with its place among them."""
        for place, run in enumerate(runs):
            self._runs.setdefault(flow.step(run.node), []).append((place, run))
        self._last = list(self._runs)[-1:]
        self._followed: dict[ast.stmt, Ahead] = {}

    def behind(self, switch: ast.Call, block: ast.stmt) -> list[Run]:
        """The runs that may follow ``switch``, with no training mode set in between.

        Of several switches in one block those are left out that only lead to what an earlier one leads to: they stand in the
        same loops, and so say the same of it.
        """
        earlier = self._followed.get(block)
        if earlier.includes(switch) if earlier is not None else len(self._followed) >= _MOST_BLOCKS:
            return []
        ahead = self._flow.ahead_of(self._scope, [switch], self._training, up_to=self._last)
        self._followed[block] = ahead
        steps = self._runs.keys() & ahead.steps
        found = [numbered for step in steps for numbered in self._runs[step] if ahead.includes(numbered[1].node)]
        return [run for _, run in sorted(found, key=lambda numbered: numbered[0])]


class EvalWithoutNoGrad(AstRule):
    """
    ## What it does
    Finds evaluation that builds an autograd graph: after `model.eval()`, a loop or an evaluating function calls the model with
    autograd on, and nothing of what comes out is back-propagated. Single calls are left alone, unless they stand in the loop
    that trains the model.

    ## Why is this bad
    `eval()` changes what dropout and batch normalisation do. It does not turn autograd off: each forward pass still records a
    graph and keeps every activation for a backward pass that never comes.

    ## Example
    ```python
    def evaluate(model, loader):
        model.eval()
        correct = 0
        for x, y in loader:
            correct += (torch.argmax(model(x), dim=1) == y).sum().item()
        return correct
    ```

    ## Use instead
    ```python
    @torch.no_grad()
    def evaluate(model, loader):
        model.eval()
        correct = 0
        for x, y in loader:
            correct += (torch.argmax(model(x), dim=1) == y).sum().item()
        return correct
    ```

    ## Fix safety
    Safe: the results are the same without the graph. Unsafe where a function hands out tensors that carry the graph, which a
    caller might back-propagate, and where the file works with gradients otherwise than by training (`autograd.grad`, forces),
    so that its models may need them. A function that does nothing but evaluate is decorated; where training stands in it,
    too, only the evaluating statements are put into a `with torch.no_grad():`. There is no fix where other code shares their
    lines, and none in a generator or a coroutine.

    ## References
    - [torch.no_grad](https://docs.pytorch.org/docs/stable/generated/torch.no_grad.html)
    - [Autograd mechanics: evaluation mode](https://docs.pytorch.org/docs/stable/notes/autograd.html#evaluation-mode-nn-module-eval)
    """

    code = "TPL304"
    name = "eval-without-no-grad"
    since = TorchVersion(0, 4)
    screen = Screen(any_of=tuple(word.encode() for word in _OF_TORCH), pattern=EVALUATES, names=SWITCHES)

    def finish(self) -> None:
        """Looks at what runs behind each call that puts a model into evaluation mode, in a file about torch."""
        if not any(word in self.source.text for word in _OF_TORCH):
            return
        found: dict[FlowScope, list[_Evaluated]] = {}
        for switch, models, mode in self.semantics.of(Switches).all:
            scope = self.semantics.control_flow.scope(switch)
            if mode is Mode.EVAL and models and not self._is_anothers_business(switch, scope):
                block = self._block(switch)[0]
                for model in models:
                    runs = self._evaluations(scope, model).behind(switch, block)
                    found.setdefault(scope, []).extend(_Evaluated(switch, model, run) for run in runs)
        for scope, evaluated in found.items():
            self._consider(scope, evaluated)

    def _is_anothers_business(self, switch: ast.Call, scope: FlowScope) -> bool:
        """Whether grad mode is up to others: a framework, the callers of a module's methods, `volatile`; or it is a test."""
        if self.semantics.of(Modes).is_managed(switch) or is_test_case(scope, self.semantics):
            return True
        if self._is_volatile_in(scope):
            return True  # autograd was off, and is again with the fix of TPL103
        owner = self.semantics.tree.parent(scope)
        return isinstance(owner, ast.ClassDef) and self.semantics.facts.is_module(owner)

    def _is_volatile_in(self, scope: FlowScope) -> bool:
        """Whether ``volatile`` is an argument of a call in a scope."""
        if scope not in self._volatile:
            self._volatile[scope] = self._has_volatile and any(map(_is_volatile, walk_body(scope.body)))
        return self._volatile[scope]

    @cached_property
    def _volatile(self) -> dict[FlowScope, bool]:
        return {}

    @cached_property
    def _has_volatile(self) -> bool:
        return any(map(_is_volatile, self.semantics.tree.of_type(ast.keyword)))

    def _evaluations(self, scope: FlowScope, model: Reference) -> _Evaluations:
        if (scope, model) not in self._known:
            modes = self.semantics.of(Modes)
            training = tuple(setting.node for setting in modes.settings(scope, model) if Mode.TRAIN in setting.modes)
            runs = (
                run
                for run in modes.runs(scope, model)
                if modes.is_recorded(run)
                and not self.semantics.of(Backpropagated).call(run.call)
                and not self._gradients.are_ruled_at(run.node)
            )
            self._known[scope, model] = _Evaluations(scope, runs, training, self.semantics.control_flow)
        return self._known[scope, model]

    @cached_property
    def _known(self) -> dict[tuple[FlowScope, Reference], _Evaluations]:
        return {}

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    @cached_property
    def _reported(self) -> set[ast.stmt]:
        """The statements and functions that were looked at."""
        return set()

    @cached_property
    def _gradients(self) -> GradientUses:
        return GradientUses(self.semantics)

    # --- what is pure evaluation -------------------------------------------------------------------------------------

    def _consider(self, scope: FlowScope, evaluated: list[_Evaluated]) -> None:
        evaluated.sort(key=lambda found: self.source.start(found.run.node))
        if not evaluated:
            return
        if isinstance(scope, FUNCTIONS) and self._is_pure(scope, evaluated):
            if self._is_worth_it(scope, evaluated):
                self._report_function(scope, evaluated)
            return
        blocks: dict[ast.stmt, list[_Evaluated]] = {}
        for found in evaluated:
            blocks.setdefault(self._block(found.switch)[0], []).append(found)
        for together in blocks.values():
            self._consider_statements(self._block(together[0].switch), together)

    def _block(self, switch: ast.Call) -> list[ast.stmt]:
        """The statements among which a model is put into evaluation mode."""
        return self.semantics.tree.block(self.semantics.tree.statement(switch))

    def _is_pure(self, function: Function, evaluated: list[_Evaluated]) -> bool:
        """Whether a function does nothing but evaluate models that it is given."""
        made = any(found.model.root is function and not self._is_given(function, found.model) for found in evaluated)
        return not made and not self._gradients.used_in(function.body)

    @staticmethod
    def _is_given(function: Function, model: Reference) -> bool:
        arguments = function.args
        return model.path[0] in {argument.arg for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}

    def _is_worth_it(self, function: Function, evaluated: list[_Evaluated]) -> bool:
        """Whether a function surely evaluates: round a loop, or with numbers for a result; and hands out no graph unasked."""
        looped = any(self._is_looped(found) for found in evaluated)
        if self._hands_out(function, evaluated):
            return is_evaluation(function.name) and (looped or bool(self.semantics.facts.call_sites(function)))
        return looped or is_evaluation(function.name)

    def _is_looped(self, found: _Evaluated) -> bool:
        """Whether the model is run in a loop that is entered after it was put into evaluation mode, perhaps in a function."""
        loops = self.semantics.tree.loops
        if found.run.node is not found.run.call and any(loops(found.run.call)):
            return True
        return any(not self.semantics.tree.inside(found.switch, loop) for loop in loops(found.run.node))

    def _is_repeated(self, found: _Evaluated) -> bool:
        """Whether the model is evaluated in each round of a loop that trains it, or another."""
        return any(loop in self._training_loops for loop in self.semantics.tree.loops(found.switch))

    @cached_property
    def _training_loops(self) -> set[Loop]:
        """The loops that something is back-propagated in."""
        calls = (call for name in ("backward", "manual_backward") for call in self.semantics.facts.calls.get(name, ()))
        return {parent for call in calls for parent in self.semantics.tree.ancestors(call) if isinstance(parent, LOOPS)}

    def _hands_out(self, function: Function, evaluated: list[_Evaluated]) -> bool:
        """Whether a function returns what carries the graph of the outputs, or keeps it in an attribute."""
        if function not in self._handed_out:
            self._handed_out[function] = set(carried(self._kept(function), self.semantics))
        return any(call in self._handed_out[function] for found in evaluated for call in (found.run.node, found.run.call))

    @cached_property
    def _handed_out(self) -> dict[Function, set[ast.Call]]:
        """For each function, the calls whose graph it hands out."""
        return {}

    def _kept(self, function: Function) -> list[ast.expr]:
        """What a function returns, or keeps in an attribute or in a list that it is given."""
        kept: list[ast.expr] = []
        for part in walk_body(function.body):
            match part:
                case ast.Return(value=ast.expr() as value):
                    kept.append(value)
                case ast.Assign(targets=targets, value=value) if any(isinstance(target, ast.Attribute) for target in targets):
                    kept.append(value)
                case ast.Call(func=ast.Attribute(attr="append" | "extend", value=container), args=values):
                    kept += [] if self._is_local(container, function) else values
        return kept

    def _is_local(self, container: ast.expr, function: Function) -> bool:
        """Whether a list is made in a function, and not given to it."""
        found = self.semantics.of(Modes).references.of(container)
        return found is not None and found.root is function and not self._is_given(function, found)

    # --- reports and fixes -------------------------------------------------------------------------------------------

    def _report_function(self, function: Function, evaluated: list[_Evaluated]) -> None:
        suspends = any(isinstance(part, SUSPENDING) for part in walk_body(function.body))
        fix = None
        if isinstance(function, ast.FunctionDef) and not suspends:
            torch, imports = self._rewriter.torch_name(function)
            place = self.source.line_start(function.lineno)
            line = f"{self._rewriter.indentation(function)}@{torch}.no_grad(){self.source.newline}"
            safe = not self._hands_out(function, evaluated) and not self._gradients.may_be_needed
            fix = self.fix("Decorate the function with `@torch.no_grad()`", [(place, place, line), *imports], safe=safe)
        self._report(evaluated[0], f"run `{function.name}` under `torch.no_grad()`", fix)

    def _consider_statements(self, block: list[ast.stmt], evaluated: list[_Evaluated]) -> None:
        """Reports the statements that run models time and again, without gradients, where the mode is set in the same block."""
        group: list[tuple[int, _Evaluated]] = []
        inside = self._by_statement(block, evaluated)
        for index, statement in enumerate(block):
            found = self._evaluated_in(statement, inside.get(statement, []))
            if found is None:
                continue
            if group and not self._belong_together(block[group[-1][0] : index + 1]):
                self._report_statements(block[group[0][0] : group[-1][0] + 1], [member for _, member in group])
                group = []
            group.append((index, found))
        if group:
            self._report_statements(block[group[0][0] : group[-1][0] + 1], [member for _, member in group])

    def _by_statement(self, block: list[ast.stmt], evaluated: list[_Evaluated]) -> dict[ast.stmt, list[_Evaluated]]:
        """Which statement of a block has the run of which evaluation, as far as it comes behind the setting of the mode."""
        statements = set(block)
        found: dict[ast.stmt, list[_Evaluated]] = {}
        for each in evaluated:
            for node in (each.run.node, *self.semantics.tree.ancestors(each.run.node)):
                if isinstance(node, ast.stmt) and node in statements:
                    if self.source.end(each.switch) <= self.source.start(node):
                        found.setdefault(node, []).append(each)
                    break
        return found

    def _evaluated_in(self, statement: ast.stmt, inside: list[_Evaluated]) -> _Evaluated | None:
        """What a statement evaluates again and again, where it is to be put under ``no_grad`` as it is."""
        if not any(self._is_looped(found) or self._is_repeated(found) for found in inside):
            return None
        if statement in self._reported or not isinstance(statement, _WRAPPED):
            return None
        self._reported.add(statement)
        if self._gradients.used_in([statement]) or self._is_function_reported(inside[0]):
            return None
        return inside[0]

    def _is_function_reported(self, found: _Evaluated) -> bool:
        """Whether the finding is one about the function that evaluates, and not about the call of it."""
        function = self.semantics.tree.function(found.run.call)
        if found.run.node is found.run.call or not isinstance(function, ast.FunctionDef) or not is_evaluation(function.name):
            return False
        if function not in self._reported and not self._hands_out(function, [found]):
            self._report_function(function, [_Evaluated(found.switch, found.model, Run(found.run.call, found.run.call))])
        self._reported.add(function)
        return True

    def _belong_together(self, statements: list[ast.stmt]) -> bool:
        """Whether statements that evaluate, and those between them, go into one block."""
        simple = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)
        return (
            len(statements) <= _NEAR
            and all(isinstance(statement, simple) for statement in statements)
            and not self._gradients.used_in(statements)
        )

    def _report_statements(self, statements: list[ast.stmt], evaluated: list[_Evaluated]) -> None:
        suspends = any(isinstance(part, SUSPENDING) for statement in statements for part in ast.walk(statement))
        edits = None if suspends else self._rewriter.wrap_in_no_grad(statements)
        what = "the call" if isinstance(statements[0], (ast.Expr, ast.Assign)) else "the loop"
        scope = self.semantics.control_flow.scope(statements[0])
        handed_out = isinstance(scope, FUNCTIONS) and self._hands_out(scope, evaluated)
        safe = not handed_out and not self._gradients.may_be_needed
        fix = self.fix(f"Put {what} under `torch.no_grad()`", edits, safe=safe) if edits else None
        self._report(evaluated[0], f"put {what} under `torch.no_grad()`", fix)

    def _report(self, found: _Evaluated, advice: str, fix: Fix | None) -> None:
        call = ast.unparse(found.run.node.func)
        self.report(
            found.run.node, f"`{call}(…)` is evaluated with autograd on and keeps a graph for no backward pass; {advice}", fix
        )


def _is_volatile(node: ast.AST) -> bool:
    return isinstance(node, ast.keyword) and node.arg == "volatile"
