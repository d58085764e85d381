from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, move
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class OptimizerBeforeReplacement(Rule):
    """
    ## What it does
    Finds optimizers that are made of a model's parameters before a part of that model is replaced or added: a new head,
    `nn.Parameter`, or `weight_norm`, which puts two new parameters in the place of a weight; and those of a model whose name
    gets another one, `model = torch.load(path)`, which is trained with them, also in a function that is given both, or as
    attributes of an object whose `__init__` loads it.

    ## Why is this bad
    The optimizer goes on with the parameters that it was given. The new ones get gradients, and never change: the head stays as
    it was initialised, with no error.

    ## Example
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.fc = nn.Linear(512, 10)
    train(model, optimizer)
    ```

    ## Use instead
    ```python
    model.fc = nn.Linear(512, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    train(model, optimizer)
    ```

    ## Fix safety
    Unsafe: other parameters are trained. The replacement is moved in front of the optimizer, with the assignments that it
    needs; there is no fix where that is not all in one block, or something in between needs the optimizer, nor where the
    model is another one.

    Not reported are parameters that are made without a gradient, nor where another optimizer is made of the new parameters,
    `add_param_group` is called or the parameters of a group are set, where the former part is put back, and where the
    optimizer is not used any more.

    ## References
    - [torch.optim: constructing it](https://docs.pytorch.org/docs/stable/optim.html#constructing-it)
    """

    code = "TPL323"
    name = "optimizer-before-replacement"
    triggers = (
        Found(".parameters.replaced:ReplacedParameters.found"),
        Found(".parameters.exchanged:ExchangedModels.found"),
        Found(".parameters.exchanged:ExchangedModels.given"),
    )
    needs = (
        ("parameters", "named_parameters", "optimizer", "optim"),
        ("torch",),
        ("nn", "weight_norm", "Parameter", "load", "deepcopy", "from_pretrained"),
    )

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the optimizer."""
        replaced = self.model.training.replaced_parameters(node)
        if replaced is None:
            self._report_exchanged(node)
            return
        part = replaced.parts[0]
        start = self.model.statement(node)
        self.report(
            node,
            f"the optimizer is given the parameters of `{self.model.shown(replaced.model)}` before "
            f"`{self.model.shown(part)}` gets new ones in line {self.model.line(part)}, which it will not train; "
            "make it afterwards",
            fix(
                "Replace it before the optimizer is made",
                *(move(statement, start) for statement in replaced.moved),
                rests_on=unknown("other parameters are trained"),
            )
            if replaced.moved
            else None,
        )

    def _report_exchanged(self, node: cst.Call) -> None:
        exchanged = self.model.training.exchanged_model(node)
        if exchanged is not None:
            model, line = self.model.shown(exchanged.model), self.model.line(exchanged.anew)
            self.report(
                node,
                f"the optimizer is given the parameters of `{model}`, which is another model from line {line} on, that it will "
                "not train; make it afterwards",
            )
        elif (lent := self.model.training.lent_optimizer(node)) is not None:
            model, optimizer = self.model.shown(lent.model), self.model.shown(lent.anew)
            self.report(
                node,
                f"`{optimizer}`, which comes from outside, has the parameters of the former `{model}`, not of this one, "
                "and will not train it",
            )
