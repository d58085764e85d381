from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, CodeFix, fix, remove, replace
from torchlint.fixes.code import without_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.scores.loss_inputs import WrongInput
from torchlint.semantics.scores.outputs import Output

_LONGEST = 60


class DoubleSoftmax(Rule):
    """
    ## What it does
    Finds losses that are given what they do not expect: the output of a softmax or sigmoid given to `CrossEntropyLoss` or
    `BCEWithLogitsLoss`, which apply one themselves, and logits or probabilities given to `NLLLoss`, which expects their
    log-softmax; also that of a batch over its rows, `log_softmax(x, dim=0)`. Values are followed through names, loops, layers,
    `nn.Sequential` and the model's `forward`, also that of another file of the project. A second log-softmax, which changes
    nothing, is a strict finding, and so is a second loss of what one layer makes: one change mends both; and what a file that
    trains nothing gives its own loss under `if __name__ == "__main__":`, to try it out.

    ## Why is this bad
    Nothing fails: the loss goes down, slowly. A softmax of probabilities can tell two classes apart by a factor of e at most,
    so the loss cannot come near zero and its gradient is a fraction of what it should be. `NLLLoss` of logits has no lower
    bound at all. (A second log-softmax, and only that, changes nothing but takes time.)

    ## Example
    ```python
    def step(model, x, y):
        probabilities = F.softmax(model(x), dim=1)
        return F.cross_entropy(probabilities, y)
    ```

    ## Use instead
    ```python
    def step(model, x, y):
        probabilities = model(x)
        return F.cross_entropy(probabilities, y)
    ```

    ## Fix safety
    Unsafe: the loss is another one, and what the model returns may be, too. The activation is taken away where nothing else in
    the file needs its result, and `NLLLoss` of logits becomes `CrossEntropyLoss`. There is no fix where the probabilities are
    needed for something else, too: their logarithm, and `torch.logit` of what a sigmoid made, are infinite where a probability
    has become zero.

    ## References
    - [torch.nn.CrossEntropyLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html)
    """

    code = "TPL308"
    name = "double-softmax"
    triggers = (Found(".scores.loss_inputs:LossInputs.wrong"),)
    needs = (
        (
            *("CrossEntropyLoss", "cross_entropy", "BCEWithLogitsLoss", "binary_cross_entropy_with_logits", "NLLLoss"),
            *("nll_loss", "MultiLabelSoftMarginLoss", "multilabel_soft_margin_loss"),
            *("criterion", "loss_fn", "loss_func", "loss_function", "loss_fct"),  # which other files may give
        ),
    )

    def visit_Name(self, node: cst.Name) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_IfExp(self, node: cst.IfExp) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def visit_Await(self, node: cst.Await) -> None:
        """Looks at what a loss may be given."""
        self._check(node)

    def _check(self, node: cst.BaseExpression) -> None:
        wrong = self.model.modules.wrong_input(node)
        if wrong is not None:
            is_strict = wrong.harmless or wrong.repeated or wrong.tried
            self.report(node, self._message(node, wrong), self._fix(wrong), strict=is_strict)

    # --- the message -------------------------------------------------------------------------------------------------

    def _message(self, given: cst.BaseExpression, wrong: WrongInput[cst.BaseExpression]) -> str:
        assert isinstance(wrong.call, cst.Call)
        called, label = self.model.shown(wrong.call.func), wrong.name.rpartition(".")[2]
        loss = f"`{called}`" if label in called else f"`{called}` (`{label}`)"
        shown = self._shown(given)
        where = wrong.there or f"line {self.model.line(wrong.made)}"
        made = f"made by `{self.model.shown(wrong.made)}` in {where}{' and elsewhere' if wrong.elsewhere else ''}"
        if wrong.output is Output.LOGITS:
            return f"{loss} expects log-probabilities, but {shown} holds logits, {made}; use `CrossEntropyLoss`"
        what = {Output.SOFTMAX: "probabilities", Output.SIGMOID: "probabilities"}.get(wrong.output, "log-probabilities")
        if (wrong.expects, wrong.output) == ("nothing", Output.LOG_SOFTMAX):
            return f"{loss} is given {shown}, {made}: `dim=0` makes the batch add up to one, and not the classes; use `dim=1`"
        if wrong.expects == "nothing":
            return f"{loss} expects log-probabilities, but {shown} holds {what}, {made}; give it their logarithm"
        if (wrong.expects, wrong.output) == ("log-softmax", Output.LOG_SOFTMAX):
            return f"{loss} applies log-softmax a second time, to {shown}, {made}; give it the logits, or use `NLLLoss`"
        keeping = ", and keep these for their other uses" if wrong.needed else ""
        applies = f"{loss} applies {wrong.expects} to {shown}"
        if wrong.made is given and not wrong.there:
            return f"{applies}, which gives {what} already; give it the logits"
        return f"{applies}, which holds {what} already, {made}; give it the logits{keeping}"

    def _shown(self, value: cst.BaseExpression) -> str:
        text = self.model.shown(value)
        return f"`{text}`" if len(text) <= _LONGEST and self.model.is_on_one_line(value) else "its input"

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _fix(self, wrong: WrongInput[cst.BaseExpression]) -> CodeFix | None:
        if wrong.output is Output.LOGITS:
            renamed = self._loss_renamed(wrong)
            return (
                fix("Use the cross entropy of logits", renamed, rests_on=unknown("the loss is another one"))
                if renamed is not None
                else None
            )
        if wrong.there:
            return None  # what to change is the model, in its own file
        if (wrong.expects, wrong.output) == ("nothing", Output.LOG_SOFTMAX):
            return self._over_classes(wrong)
        if wrong.removable:
            change = self._activation_renamed(wrong) if wrong.expects == "nothing" else self._activation_removed(wrong)
            if change is not None:
                return fix("Give the loss what it expects", change, rests_on=unknown("the loss is another one"))
        return None  # the logarithm of a probability that has become zero is infinite

    def _over_classes(self, wrong: WrongInput[cst.BaseExpression]) -> CodeFix | None:
        """Normalises each row, and not the batch."""
        assert isinstance(wrong.made, cst.Call)
        last = wrong.made.args[-1]
        if not isinstance(last.value, cst.Integer):
            return None
        return fix("Use `dim=1`", replace(last.value, cst.Integer("1")), rests_on=unknown("the loss is another one"))

    def _activation_removed(self, wrong: WrongInput[cst.BaseExpression]) -> Change | None:
        """Leaves the operand of an activation, or takes the layer out of the ``nn.Sequential`` that it ends."""
        if wrong.operand is not None:
            around = self.model.text(wrong.made).replace(self.model.text(wrong.operand), "", 1)
            if "#" in around:
                return None  # a comment would have no place
            match self.model.statement(wrong.made), wrong.operand:
                case cst.Assign([cst.AssignTarget(cst.Name(target))], value) as statement, cst.Name(operand) if (
                    value is wrong.made and target == operand
                ):
                    return remove(statement)  # `x = softmax(x)`
            return replace(wrong.made, wrong.operand)
        match self.model.parent(wrong.made):
            case cst.Call(args=[_, *_, last]) as sequential if last.value is wrong.made and last.keyword is None:
                return replace(sequential, without_argument(sequential, last))
        return None

    def _activation_renamed(self, wrong: WrongInput[cst.BaseExpression]) -> Change | None:
        """Makes ``softmax`` a ``log_softmax``."""
        match wrong.made:
            case cst.Call(cst.Attribute(owner, cst.Name("softmax" | "Softmax" as name)) as function):
                pass
            case _:
                return None
        if wrong.output is not Output.SOFTMAX:
            return None
        if not self.model.name(function).startswith("torch.") and owner is not wrong.operand:
            return None  # a layer of that name
        new = "log_softmax" if name == "softmax" else "LogSoftmax"
        return replace(function, function.with_changes(attr=cst.Name(new)))

    def _loss_renamed(self, wrong: WrongInput[cst.BaseExpression]) -> Change | None:
        """Makes ``nll_loss`` a ``cross_entropy``, or an ``NLLLoss`` a ``CrossEntropyLoss`` where all its calls give logits."""
        is_function = wrong.name.endswith("nll_loss")
        match wrong.call if is_function else wrong.construction:
            case cst.Call(cst.Attribute(attr=cst.Name(name)) as function) if is_function or name == "NLLLoss":
                new = "cross_entropy" if is_function else "CrossEntropyLoss"
                return replace(function, function.with_changes(attr=cst.Name(new)))
        return None
