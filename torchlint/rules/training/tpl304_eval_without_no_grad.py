from __future__ import annotations

import libcst as cst

from torchlint.fact import known
from torchlint.fixes.changes import decorate, fix, wrap
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modes.evaluations import RecordedEvaluation
from torchlint.target import TorchVersion


class EvalWithoutNoGrad(Rule):
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
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Found(".modes.evaluations:Evaluations.recorded"),)
    needs = (("eval", "train"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call that runs the model."""
        for evaluation in self.model.training.recorded_evaluations(node):
            self._report(node, evaluation)

    def _report(self, call: cst.Call, evaluation: RecordedEvaluation[cst.CSTNode]) -> None:
        no_grad = expression("{torch.no_grad}()")
        function = evaluation.function
        if isinstance(function, cst.FunctionDef):
            advice = f"run `{function.name.value}` under `torch.no_grad()`"
            title, change = "Decorate the function with `@torch.no_grad()`", decorate(function, no_grad)
        else:
            what = "the call" if isinstance(evaluation.statements[0], (cst.Expr, cst.Assign)) else "the loop"
            advice = f"put {what} under `torch.no_grad()`"
            title, change = f"Put {what} under `torch.no_grad()`", wrap(evaluation.statements, no_grad)
        name = self.model.shown(call.func)
        self.report(
            call,
            f"`{name}(…)` is evaluated with autograd on and keeps a graph for no backward pass; {advice}",
            fix(title, change, rests_on=known(evaluation.certain, "something may need the graph, or hand it out"))
            if evaluation.mendable
            else None,
        )
