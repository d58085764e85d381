from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, insert_before, insert_behind, replace
from torchlint.fixes.code import again, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics import Type
from torchlint.semantics.modules.loaded.results import Failure, LoadResult, Mend


class LoadResultAsModel(Rule):
    """
    ## What it does
    Finds code that takes what `load_state_dict` gives for the model, the optimizer or the scheduler that it loads into:
    `model = model.load_state_dict(state)` in front of `model.eval()`, `net.load_state_dict(state).to(device)`,
    `optimizer = optimizer.load_state_dict(state)`.

    ## Why is this bad
    The `load_state_dict` of a module changes the module and gives the keys that are missing and unexpected, a tuple by name;
    those of optimizers and schedulers give None. Neither can be called, moved, put into evaluation mode or stepped: the code
    raises an AttributeError or a TypeError, often only on the day when a checkpoint is loaded.

    ## Example
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 2)
    model = model.load_state_dict(torch.load("model.pt", map_location="cpu"))
    model.eval()
    ```

    ## Use instead
    ```python
    import torch
    from torch import nn

    model = nn.Linear(4, 2)
    model.load_state_dict(torch.load("model.pt", map_location="cpu"))
    model.eval()
    ```

    ## Fix safety
    Unsafe: the code raised, and what follows has never run. The assignment goes away, or the loading becomes a statement of its
    own, with the model assigned before or behind it. There is no fix where the model has no name, as in
    `Net().load_state_dict(state).eval()`, and where the function that loads returns the result.

    Not reported are results whose keys are looked at, that are unpacked, compared or printed alone, those of a class with a
    `load_state_dict` of its own, and those of values of which nothing is known, unless the result, right there or by the same
    name, is asked for what modules or optimizers have. Nor are those of a value that is given from outside reported where the
    project has a class whose own `load_state_dict` gives something, as that may be one of it.

    Strict: that of a value of which nothing is known, unless callers give it and no class of the project loads in a way of its
    own; and a function that returns the result, where no call of it in the file takes that for a model.

    ## References
    - [torch.nn.Module.load_state_dict](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.load_state_dict)
    - [torch.optim.Optimizer.load_state_dict](https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.load_state_dict.html)
    """

    code = "TPL330"
    name = "load-result-as-model"
    triggers = (Found(".modules.loaded.results:LoadResults.found"),)
    needs = (("load_state_dict",),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the call of `load_state_dict`."""
        found = self.model.modules.load_result(node)
        if found is None:
            return
        given = "the missing and unexpected keys" if found.role is Type.MODULE else "None"
        message = f"`load_state_dict` gives {given}, not the {found.what}: {self._effect(found)}"
        self.report(node, message, self._fix(node, found), strict=found.is_strict)

    def _effect(self, found: LoadResult[cst.BaseExpression]) -> str:
        used, line = self.model.shown_call(found.use), self.model.line(found.use)
        if found.failure is Failure.ASSIGNED:
            return f"that raises a TypeError where it is assigned to `{used}`, which is a part of a module"
        if found.failure is Failure.NONE:
            return f"line {line} hands that on as `{self.model.shown(found.target)}`" if found.target is not None else ""
        if found.target is None and isinstance(found.use, cst.Attribute):
            used = f".{found.use.attr.value}"
        error = "an AttributeError" if isinstance(found.use, cst.Attribute) else "a TypeError"
        return f"`{used}` in line {line} raises {error}"

    def _fix(self, node: cst.Call, found: LoadResult[cst.BaseExpression]) -> CodeFix | None:
        rests_on = unknown("the code raised, and what follows has never run")
        whole = self.model.statement(node)
        match found.mend:
            case Mend.DROPPED:
                return fix("Keep the name for what it stands for", replace(whole, cst.Expr(node)), rests_on=rests_on)
            case Mend.BEFORE:
                rest = whole.deep_replace(node, again(found.receiver))
                assert isinstance(rest, cst.BaseSmallStatement)
                changes = (replace(whole, cst.Expr(node)), insert_behind(whole, rest))
            case Mend.BEHIND if found.target is not None:
                made: cst.BaseSmallStatement
                if isinstance(whole, cst.AnnAssign):
                    made = whole.with_changes(value=again(found.receiver))
                else:
                    made = statement("{target} = {made}", target=again(found.target), made=again(found.receiver))
                changes = (insert_before(whole, made), replace(whole, cst.Expr(_of(found.target, node))))
            case _:
                return None
        return fix("Load in a statement of its own", *changes, rests_on=rests_on)


def _of(owner: cst.BaseExpression, call: cst.Call) -> cst.Call:
    """The call of a method that ``call`` is, of another owner."""
    assert isinstance(call.func, cst.Attribute)
    return call.with_changes(func=call.func.with_changes(value=again(owner)))
