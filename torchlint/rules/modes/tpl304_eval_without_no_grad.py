from __future__ import annotations

import libcst as cst

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
    that trains the model, or in a function that such a loop runs. A function that is called like one that evaluates is found
    behind another one, too, that may leave the model in evaluation mode. One function may train and evaluate, by what it is
    given or by a flag: its calls are looked at with their arguments, and what it does for a training does not count for an
    evaluation. Where an object, or the top level of a file, leaves a model in evaluation mode for good, its methods, or the
    file's functions, are found that run it in loops. A function of another file that runs the model it is given counts as a
    call of that. In a loop that trains, a model that was put into evaluation mode before counts as well. Networks without a
    parameter that requires grad record nothing: what is frozen where it is made, by its class or by what this is given, and
    is all that callers in the project hand in.

    A loop that shows what comes out in windows, or in a grid of pictures, or has no more than 20 rounds by the number in it,
    and adds nothing up, or that ends in its first round, is a strict finding. So are a function without a loop that saves one
    picture, or is called once and hands nothing on; one sample, `net(x.unsqueeze(0))`, in a round of a training; single runs
    whose result is detached there or in the next line, and those of a loop over numbers whose result is detached there, but not
    those of each round of `for x in test_loader:`; and a notebook's loop that prints what each round gives. A run that only
    warms up, `_ = model(zeros)`, is none; nor is an evaluation that takes steps of gradient descent by another library:
    `gradient_update_parameters(model, loss)`, `learner.adapt(loss)`.
    It has to be known, too, that autograd records the model: its class is in sight, with a `forward`; or the file trains what
    it calls so; or the project trains, freezes no model, and makes this one. Strict is what is only assumed: models of other
    libraries, or of which nothing shows what they are; classes that use, or have parts that use, `no_grad` or decorators of
    their own, or that freeze weights; what the file freezes somewhere under that name; methods that run the model and are not
    called `forward`; a context that the program has made itself, a generator, and a function of which the project shows no
    call but those with autograd off.
    Left alone is a model whose `forward` asks autograd for gradients, and one that may be of any class where a class of the
    project does so.

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
    Safe in a program that shows all that it runs and that no other file imports: nothing of another file, no hooks, no
    weights that are computed, no layers that work otherwise without a graph (`nn.TransformerEncoder` zeroes padded positions
    then, an `nn.LSTM` differs in the last digits). What the evaluation runs, the `forward` of the file's models included, has
    to ask for no graph and to keep none, and what it leaves or returns has to be numbers, or tensors without a graph. Texts of
    tensors, in which the graph is (`tensor(1.2, grad_fn=…)`), may be printed, not kept or written to a file; no function may be
    cached that gives a graph; and where `float(loss)` warns, the file must not take notice of warnings. A function that is
    decorated is called by its name alone. All else is unsafe: a model from another file may differentiate in its `forward`, and
    a caller may back-propagate what is returned.

    A function that does nothing but evaluate is decorated, unsafely so where the file reads the frames of the functions that
    run (`stacklevel`, `traceback`, `sys._getframe`); where training stands in it, too, only the evaluating statements
    are put into a `with torch.no_grad():`. Where the same loop trains under another condition, that goes into
    `with torch.set_grad_enabled(…):`, which is unsafe. There is no fix where other code shares their lines, and none in a
    generator or a coroutine.

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

    def _report(self, call: cst.Call, evaluation: RecordedEvaluation[cst.BaseExpression, cst.CSTNode]) -> None:
        context, name, where = expression("{torch.no_grad}()"), self.model.shown(call.func), ""
        function = evaluation.function
        if evaluation.test is not None:
            where = f" where `{self.model.shown(evaluation.test)}` is {'true' if evaluation.holds else 'false'}"
            test = expression("not {test}", test=evaluation.test) if evaluation.holds else evaluation.test
            context = expression("{torch.set_grad_enabled}({test})", test=test)
        if isinstance(function, cst.FunctionDef):
            advice = f"run `{function.name.value}` under `torch.no_grad()`"
            title, change = "Decorate the function with `@torch.no_grad()`", decorate(function, context)
        else:
            what = "the call" if isinstance(evaluation.statements[0], (cst.Expr, cst.Assign)) else "the loop"
            how = self.model.shown(context)
            advice = f"put {what} under `{how}`"
            title, change = f"Put {what} under `{how}`", wrap(evaluation.statements, context)
        self.report(
            call,
            f"`{name}(…)` is evaluated with autograd on{where} and keeps a graph for no backward pass; {advice}",
            fix(title, change, rests_on=evaluation.unneeded) if evaluation.mendable else None,
            strict=evaluation.is_assumed or evaluation.is_shown or (evaluation.is_printed and self.model.code.has_cells),
        )
