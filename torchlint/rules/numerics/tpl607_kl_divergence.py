from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import Change, CodeFix, fix, replace
from torchlint.fixes.code import again, argument, expression, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.scores.divergences import FUNCTION, Misgiven
from torchlint.semantics.scores.outputs import Output

_WHAT = {
    Output.LOGITS: "logits",
    Output.SOFTMAX: "probabilities",
    Output.SIGMOID: "probabilities",
    Output.LOG_SOFTMAX: "log-probabilities",
}
_ANOTHER = unknown("the loss is another one")


class KlDivergence(Rule):
    """
    ## What it does
    Finds `F.kl_div` and `nn.KLDivLoss` that do not compute the Kullback-Leibler divergence: with the reduction `"mean"`, which
    is the default, and with arguments of another sort than they expect, as far as the file shows how these are made: an input
    that holds probabilities or logits and no logarithms, a target that holds logarithms without `log_target=True`, or none
    with it, and the two the wrong way round.

    ## Why is this bad
    `"mean"` divides by the number of classes as well as by that of rows. The divergence of a thousand classes is a thousand
    times too small, and has no say beside another loss; torch warns of it, and that it will be changed. What is no logarithm
    is taken for one, and the loss is negative, that of something else; so is the gradient of a target that holds logarithms,
    and the loss itself NaN.

    ## Example
    ```python
    student, teacher = torch.randn(8, 1000), torch.randn(8, 1000)
    loss = F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1))
    ```

    ## Use instead
    ```python
    student, teacher = torch.randn(8, 1000), torch.randn(8, 1000)
    loss = F.kl_div(F.log_softmax(student, dim=1), F.softmax(teacher, dim=1), reduction="batchmean")
    ```

    ## Fix safety
    Unsafe: the loss is another one, and what it is weighted with was chosen for the old one. Where there are more dimensions
    than two, as shapes say, or words of the file that speak of pixels, `"batchmean"`, which divides by the first alone, is not
    what is wanted either: the fix is `reduction="none"`, summed over the classes and averaged over the rest, where it is known
    which dimension the classes are, and there is none else. Of one dimension alone, it is `reduction="sum"`. A target of
    logarithms is told by `log_target=True`, or raised by `exp()` where a layer computes the loss; a softmax becomes a
    log-softmax where nothing else needs it. There is no fix for logits.

    ## References
    - [torch.nn.KLDivLoss](https://docs.pytorch.org/docs/stable/generated/torch.nn.KLDivLoss.html)
    """

    code = "TPL607"
    name = "kl-divergence"
    triggers = (Found(".scores.divergences:Divergences.means"), Found(".scores.divergences:Divergences.misgiven"))
    needs = (("kl_div", "KLDivLoss"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a mean, and a call that a divergence is given."""
        if self.model.numbers.is_mean_of_divergence(node):
            self._report_mean(node)
        self._check(node)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports a variable that a divergence is given."""
        self._check(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports an attribute that a divergence is given."""
        self._check(node)

    def visit_Subscript(self, node: cst.Subscript) -> None:
        """Reports an item that a divergence is given."""
        self._check(node)

    def visit_IfExp(self, node: cst.IfExp) -> None:
        """Reports a choice that a divergence is given."""
        self._check(node)

    def visit_NamedExpr(self, node: cst.NamedExpr) -> None:
        """Reports what a divergence is given under a name."""
        self._check(node)

    # --- the mean ----------------------------------------------------------------------------------------------------

    def _report_mean(self, node: cst.Call) -> None:
        given = self.model.numbers.positional_reduction(node)
        said = '`reduction="mean"`' if given is not None or argument(node, "reduction") is not None else "without a `reduction`"
        loss = f"`{self.model.shown_call(node)}` {'with ' if said.startswith('`') else ''}{said}"
        if self.model.numbers.has_rows_of_rows(node):
            advice, change = '`reduction="none"`, sum over the classes and take the mean of that', self._averaged(node)
        else:
            told = '"sum"' if self.model.numbers.is_of_one_row(node) else '"batchmean"'
            advice = f"`reduction={told}`"
            change = fix(f"Use `reduction={told}`", self._reduced(node, told), rests_on=_ANOTHER)
        self.report(node, f"{loss} divides by the number of classes, too, of which torch warns; use {advice}", change)

    def _reduced(self, node: cst.Call, told: str) -> Change:
        """The divergence with another reduction, in the place of the one that it is given."""
        given = self.model.numbers.positional_reduction(node)
        if given is not None:
            return replace(given, cst.SimpleString(told))
        return replace(node, with_argument(node, "reduction", cst.SimpleString(told)))

    def _averaged(self, node: cst.Call) -> CodeFix | None:
        """The mean over all but the classes, where it is known which dimension these are."""
        classes = self.model.numbers.classes_of_divergence(node)
        if classes is None or self.model.name(node.func) != FUNCTION:
            return None
        if self.model.numbers.positional_reduction(node) is not None:
            return None
        each = with_argument(node, "reduction", cst.SimpleString('"none"'))
        mean = expression("{each}.sum(dim={classes}).mean()", each=each, classes=again(classes))
        return fix("Sum over the classes, and take the mean of that", replace(node, mean), rests_on=_ANOTHER)

    # --- the arguments -----------------------------------------------------------------------------------------------

    def _check(self, node: cst.BaseExpression) -> None:
        wrong = self.model.numbers.misgiven_divergence(node)
        if wrong is not None and isinstance(wrong.call, cst.Call):
            self.report(node, self._message(node, wrong, wrong.call), self._fix(node, wrong, wrong.call))

    def _message(self, given: cst.BaseExpression, wrong: Misgiven[cst.BaseExpression], call: cst.Call) -> str:
        loss, shown = self.model.shown(call.func), self.model.shown(given, 40)
        if wrong.swapped is not None:
            other = self.model.shown(wrong.swapped, 40)
            return f"`{loss}` expects log-probabilities first: `{shown}` holds none, but `{other}` does; swap them"
        what, expected = _WHAT[wrong.output], "log-probabilities" if wrong.in_logarithms else "probabilities"
        where = wrong.there or f"line {self.model.line(wrong.made)}"
        made = "" if wrong.made is given and not wrong.there else f", made in {where}"
        which = "as its target" if wrong.is_target else "as its input"
        return f"`{loss}` expects {expected} {which}, but `{shown}` holds {what}{made}; {self._advice(wrong, call)}"

    def _advice(self, wrong: Misgiven[cst.BaseExpression], call: cst.Call) -> str:
        match wrong.output, wrong.in_logarithms:
            case Output.LOG_SOFTMAX, _:
                is_function = self.model.name(call.func) == FUNCTION
                return "pass `log_target=True`" if is_function else "make it with `log_target=True`"
            case _, True:
                return "use `log_softmax`"
        return "use `softmax`"

    def _fix(self, given: cst.BaseExpression, wrong: Misgiven[cst.BaseExpression], call: cst.Call) -> CodeFix | None:
        if wrong.swapped is not None:
            swapped = (replace(given, wrong.swapped), replace(wrong.swapped, given))
            return fix("Swap the arguments", *swapped, rests_on=_ANOTHER)
        if wrong.output is Output.LOG_SOFTMAX:
            if self.model.name(call.func) == FUNCTION:
                told = with_argument(call, "log_target", cst.Name("True"))
                return fix("Say that the target holds logarithms", replace(call, told), rests_on=_ANOTHER)
            raised = expression("{target}.exp()", target=given)
            return fix("Give the probabilities of the target", replace(given, raised), rests_on=_ANOTHER)
        if wrong.output is Output.SOFTMAX and wrong.is_sole:
            return self._logarithm(wrong)
        return None

    def _logarithm(self, wrong: Misgiven[cst.BaseExpression]) -> CodeFix | None:
        """Makes a softmax a log-softmax."""
        match wrong.made:
            case cst.Call(cst.Attribute(attr=cst.Name("softmax")) as function):
                logarithm = function.with_changes(attr=cst.Name("log_softmax"))
                return fix("Use `log_softmax`", replace(function, logarithm), rests_on=_ANOTHER)
        return None
