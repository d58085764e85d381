from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.modules.containers.called import CalledContainer


class CalledContainerOfModules(Rule):
    """
    ## What it does
    Finds calls of an `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList` or `nn.ParameterDict`, or of a class of the file that
    is derived from one of them and has no `forward`: `self.layers(x)`.

    ## Why is this bad
    These containers hold modules or parameters, so that the module around them finds these, and have no `forward`: calling one
    raises a NotImplementedError, or a RuntimeError where it holds parameters. An `nn.Sequential` is what runs its modules one
    after the other.

    ## Example
    ```python
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)])

        def forward(self, x):
            return self.layers(x)
    ```

    ## Use instead
    ```python
    from torch import nn


    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))

        def forward(self, x):
            return self.layers(x)
    ```

    ## Fix safety
    Unsafe: the code raised, and whether each module takes what the one before it gives has never been tried. A ModuleList that
    is made in one place, and which the file only calls, becomes an `nn.Sequential`, whose weights have the same names. There is
    no fix for one that is also indexed, appended to or gone through, and none for the other containers.

    Not reported are names and attributes that may be given anything else, here or in another file of the project, those whose
    type the file asks for, items of containers that are changed, and calls whose error is awaited.

    ## References
    - [torch.nn.ModuleList](https://docs.pytorch.org/docs/stable/generated/torch.nn.ModuleList.html)
    - [torch.nn.Sequential](https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html)
    """

    code = "TPL331"
    name = "called-container"
    triggers = (Found(".modules.containers.called:CalledContainers.found"),)
    needs = (("ModuleList", "ModuleDict", "ParameterList", "ParameterDict"),)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports what is called."""
        called = self.model.modules.called_container(node)
        if called is None:
            return
        shown, line = self.model.shown(called.callee), self.model.line(called.made)
        what = f"a `{called.derived}`, an `nn.{called.container}`" if called.derived else f"an `nn.{called.container}`"
        is_of_parameters = called.container.startswith("Parameter")
        error = "a RuntimeError" if is_of_parameters else "a TypeError" if called.names else "a NotImplementedError"
        message = f"`{shown}` is {what} (line {line}), which has no `forward`: calling it raises {error}"
        remedy = "" if is_of_parameters else "; call its modules, or use an `nn.Sequential`"
        self.report(called.callee, message + remedy, self._fix(called) if called.a_sequence else None)

    @staticmethod
    def _fix(called: CalledContainer[cst.BaseExpression]) -> CodeFix | None:
        new = expression("{torch.nn.Sequential}()")
        if not isinstance(called.made, cst.Call) or not isinstance(new, cst.Call):
            return None
        [given] = called.made.args
        match given.value:
            case cst.List(elements=[_, *_]) as modules:
                new = _with_items(new, modules)
            case cst.GeneratorExp(lpar=[]) as modules:
                in_parentheses = modules.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
                new = new.with_changes(args=[cst.Arg(in_parentheses, star="*")])
            case modules:
                new = new.with_changes(args=[cst.Arg(modules, star="*")])
        rests_on = unknown("the code raised, and each module gets what the one before it gives")
        return fix("Make it an `nn.Sequential`", replace(called.made, new), rests_on=rests_on)


def _with_items(call: cst.Call, given: cst.List) -> cst.Call:
    """A call with the items of a list for its arguments, on the lines that they are on."""
    arguments = [
        cst.Arg(each.value, star="*" if isinstance(each, cst.StarredElement) else "", comma=each.comma)
        for each in given.elements
    ]
    end, last = given.rbracket.whitespace_before, arguments[-1]
    if isinstance(last.comma, cst.Comma):
        arguments[-1] = last.with_changes(comma=last.comma.with_changes(whitespace_after=end))
    else:
        arguments[-1] = last.with_changes(whitespace_after_arg=end)
    return call.with_changes(args=arguments, whitespace_before_args=given.lbracket.whitespace_after)
