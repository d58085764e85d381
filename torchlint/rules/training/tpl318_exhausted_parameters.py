from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found


class ExhaustedParameters(Rule):
    """
    ## What it does
    Finds generators of parameters, `model.parameters()`, `filter(…)`, `(p for p in …)`, that are used a second time: an
    optimizer or a loop has taken all that they give.

    ## Why is this bad
    A generator gives its items once. What comes second gets none: `clip_grad_norm_` clips nothing and returns zero, a loop has
    no rounds, a sum is zero, the group of an optimizer is empty, all without an error.

    ## Example
    ```python
    params = model.parameters()
    optimizer = torch.optim.SGD(params, lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
    ```

    ## Use instead
    ```python
    params = list(model.parameters())
    optimizer = torch.optim.SGD(params, lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        optimizer.step()
    ```

    ## Fix safety
    Safe where the generator has a name in a function, is used up at once, before anything can change what it gives, and is used
    for nothing else: what is done with the parameters the second time is what was meant. Unsafe for attributes, for names
    of the whole file, for what a function is given, where code runs between the making and the first use, where a loop over
    a generator with a condition may change what that asks for, and where another sequence of a `zip` may end the first use.

    Pairs of one generator, `zip(params, params)`, are not reported, nor is what comes behind `any(…)` and `all(…)`, which stop
    early.

    ## References
    - [torch.nn.Module.parameters](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.parameters)
    - [torch.nn.utils.clip_grad_norm_](https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html)
    """

    code = "TPL318"
    name = "exhausted-parameters"
    triggers = (Found(".parameters.exhausted:ExhaustedParameters.found"),)
    needs = (("parameters", "named_parameters", "buffers", "named_buffers"),)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports the second use of a generator that has a name."""
        self._look(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports the second use of a generator that is an attribute."""
        self._look(node)

    def _look(self, node: cst.Name | cst.Attribute) -> None:
        found = self.model.training.exhausted(node)
        if found is None:
            return
        shown, taker = self.model.shown(node), self._shown(found.taker, "this")
        if found.by is found.taker:
            message = f"`{shown}` is a generator, which {taker} uses up in the first round: later rounds get no parameters"
        else:
            by = f"{self._shown(found.by, 'the')} in line {self.model.line(found.by)}"
            message = f"`{shown}` is a generator, which {by} has used up: {taker} gets no parameters"
        changes = [
            replace(made, expression("list({items})", items=made))
            for made in found.made
            if isinstance(made, cst.BaseExpression)
        ]
        rests_on = found.may_be_list & self.model.code.warns_unseen & self.model.code.ends_with_its_error(node)
        self.report(node, f"{message}; make a list of it", fix("Make a list of the generator", *changes, rests_on=rests_on))

    def _shown(self, taker: cst.CSTNode, article: str) -> str:
        """What uses a generator up, for a message."""
        if isinstance(taker, cst.Call):
            return f"`{self.model.shown(taker.func)}(…)`"
        return f"{article} {'loop' if isinstance(taker, cst.For) else 'comprehension'}"
