from __future__ import annotations

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import argument, expression, instead_of, with_argument, without_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modes.functional_dropout import Wrong, WrongDropout


class FunctionalDropoutMode(Rule):
    """
    ## What it does
    Finds dropout in a module's forward that does not follow the module's mode: `F.dropout(x)` without `training=`,
    `scaled_dot_product_attention(…, dropout_p=self.p)` or `dropout_p=self.dropout.p`; a flag in the place of the probability,
    `F.dropout(x, self.training)`; and the `dropout=` of a recurrent network of one layer, which does nothing. How many layers
    it has is told by what is written out, or by the default of a parameter and all calls, in a program that nobody imports.

    ## Why is this bad
    `F.dropout` knows no module: it is active unless it is told otherwise, in evaluation as well, and so is that of
    `scaled_dot_product_attention`. What the model predicts is then random. The second argument is the probability: `True` is
    1, and makes everything zero. `nn.LSTM` has dropout between its layers; one layer has none, and torch warns of it.

    ## Example
    ```python
    class Net(nn.Module):
        def forward(self, x):
            return self.head(F.dropout(self.body(x), 0.2))
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def forward(self, x):
            return self.head(F.dropout(self.body(x), 0.2, training=self.training))
    ```

    ## Fix safety
    Unsafe: what the model computes changes, in evaluation or in training. What says `training=True` is left alone, and so
    is a method that asks for the mode itself, and a class that is called after Monte Carlo dropout, or speaks of it.

    ## References
    - [torch.nn.functional.dropout](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.dropout.html)
    - [torch.nn.functional.scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html)
    """

    code = "TPL316"
    name = "functional-dropout-mode"
    yields_to = ("TPL011",)
    triggers = (Found(".modes.functional_dropout:FunctionalDropouts.found"),)
    needs = (
        (
            *("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"),
            "scaled_dot_product_attention",
        ),
        ("torch", "nn", "F"),
    )

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the dropout."""
        found = self.model.training.wrong_dropout(node)
        if found is not None:
            self.report(node, self._message(node, found), self._fix(node, found))

    def _message(self, node: cst.Call, found: WrongDropout[cst.BaseExpression]) -> str:
        call = f"`{self.model.shown(node.func)}`"
        given = self.model.shown(found.given) if found.given is not None else ""
        match found.wrong:
            case Wrong.ALWAYS:
                return f"{call} without `training=` drops in evaluation, too: give it `training={found.instance}.training`"
            case Wrong.NEVER:
                return f"{call} without `training=` never drops anything: give it `training={found.instance}.training`"
            case Wrong.FLAG:
                return f"`{given}` is the probability of {call}: true drops everything, false nothing; a flag is `training=`"
            case Wrong.ATTENTION:
                return (
                    f"{call} drops with `{given}` in evaluation, too: give it zero where `{found.instance}.training` is false"
                )
        return f"`dropout={given}` does nothing: {call} drops between its layers, and has one"

    def _fix(self, node: cst.Call, found: WrongDropout[cst.BaseExpression]) -> CodeFix | None:
        """What gives the dropout the module's mode."""
        doubt = unknown("what the model computes changes")
        given = found.given
        match found.wrong:
            case Wrong.ALWAYS | Wrong.NEVER:
                mode = cst.Attribute(cst.Name(found.instance), cst.Name("training"))
                return fix("Give the module's mode", replace(node, with_argument(node, "training", mode)), rests_on=doubt)
            case Wrong.ATTENTION if given is not None:
                new = expression(f"{{p}} if {found.instance}.training else 0.0", p=given)
                return fix("Drop in training only", replace(given, new), rests_on=doubt)
            case Wrong.FLAG if given is not None:
                return self._as_flag(node, given, doubt)
        if (dropout := argument(node, "dropout")) is None:
            return None
        without = unknown("more layers may be what was meant")
        return fix("Remove `dropout`", replace(node, without_argument(node, dropout)), rests_on=without)

    def _as_flag(self, node: cst.Call, given: cst.BaseExpression, doubt: Fact) -> CodeFix | None:
        """What makes the probability the flag that it is; nothing where there is a flag already."""
        if argument(node, "training") is not None or (len(node.args) > 2 and node.args[2].keyword is None):
            return None
        arg = next(each for each in node.args if each.value is given)
        args = [instead_of(arg, "training", given) if each is arg else each for each in node.args]
        return fix("Give it as `training`", replace(node, node.with_changes(args=args)), rests_on=doubt)
