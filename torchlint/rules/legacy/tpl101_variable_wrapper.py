from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import fix, remove
from torchlint.rules.legacy.spellings.variable_calls import report_call
from torchlint.rules.legacy.spellings.variable_classes import (
    VARIABLE,
    report_alias,
    report_comparison,
    report_mapped,
    report_quoted,
    report_reference,
)
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Api, Found
from torchlint.target import TorchVersion


class VariableWrapper(Rule):
    """
    ## What it does
    Finds `torch.autograd.Variable`, under any name: calls, `type(h) == Variable`, `isinstance`, annotations, the import that
    nothing uses any more, here or in a file that has it of this one, and classes derived from it. A statement that does
    nothing but wrap several names, `x, y = Variable(x), Variable(y)`, is one finding, and so are the annotations of one
    function. Beside a value that is marked `volatile`, of which TPL103 says more, it is strict. What raises or silently does
    something else is an error: a value that is no tensor, a graph that is cut, `type(h) == Variable`, a class that is derived.

    ## Why is this bad
    `Variable` and `Tensor` have been one class since torch 0.4. `Variable(y)` of a computed `y` silently cuts the graph:
    it has no `grad_fn`, and nothing behind it is trained. `type(h) == Variable` is always false now, so the branch behind
    it is dead. A class derived from it is never initialised: calling it gives a plain tensor.

    ## Example
    ```python
    images = Variable(images)
    w = Variable(torch.randn(3, 4), requires_grad=True)
    ```

    ## Use instead
    ```python
    w = torch.randn(3, 4, requires_grad=True)
    ```

    ## Fix safety
    `Variable(x)` of a tensor is `x.detach()`: another object over the same memory. That is the safe fix wherever `x` is
    certainly a tensor, and of no class derived from `torch.Tensor`: made by a function, method or class of torch, annotated
    so, from a data loader over tensors that are in sight. The tensor itself is one where it also certainly has no graph and
    nobody can tell the two objects apart: `x` was made on the spot, is not used under its own name again, or is only computed
    with. Its version counter is its own with `x.data`, which stays, for TPL002 to say more. With `requires_grad=…`, the flag
    has to be a bool, and neither the file nor its project may transform functions as by `torch.func.vmap`, under which
    `requires_grad_()` raises. Unsafe is all that rests on values from elsewhere, such as an argument or the items of an
    unknown loader, and what makes a graph whole again that `Variable` cut; and where a function of the file's own stands for
    it, `Variable = lambda *args, **kwargs: autograd.Variable(*args, **kwargs).cuda()`, which keeps what moves.

    Safe in `isinstance`; and in annotations where no decorator, base class or other code of the project is in sight that may
    read them. A comparison with `type(…)` comes to life by its fix, which is unsafe. So is the removal of an import or a name
    that another file may import from this one: not from a notebook, a function, or a program that trains as soon as it runs,
    nor where the project shows that none does.

    ## References
    - [Migration guide for torch 0.4: merging Tensor and Variable](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL101"
    name = "variable-wrapper"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (
        Api(VARIABLE),
        Found(".variables.names:VariableNames.quoted"),
        Found(".variables.names:VariableNames.imports"),
    )
    needs = (("Variable",),)
    yields_to = ("TPL007",)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports a use of Variable by its name."""
        self._check(node)

    def visit_Attribute(self, node: cst.Attribute) -> None:
        """Reports a use of Variable as `autograd.Variable`."""
        self._check(node)

    def _check(self, node: cst.Name | cst.Attribute) -> None:
        if self.model.name(node) != VARIABLE or self.model.is_stored(node):
            return
        match self.model.parent(node):
            case cst.Call(function) as call if function is node:
                report_call(self, call)
            case cst.ClassDef(cst.Name(name)) as definition:
                if self.model.variables.is_uninitialised(definition):
                    message = f"`{name}(…)` gives a plain tensor since torch 0.4 and never calls `{name}.__init__`"
                    self.report(node, message, severity="error")
            case cst.Attribute() | cst.Del():
                return  # Variable._execution_engine
            case cst.Comparison() as comparison:
                report_comparison(self, node, comparison)
            case cst.Assign([cst.AssignTarget(cst.Name() as alias)]) as statement:
                report_alias(self, node, alias, statement)
            case cst.Call(cst.Name("map"), [cst.Arg(function), tensors]) if function is node:
                report_mapped(self, node, tensors)
            case _:
                report_reference(self, node)

    def visit_SimpleString(self, node: cst.SimpleString) -> None:
        """Reports Variable in an annotation that is a string."""
        report_quoted(self, node)

    def visit_ImportAlias(self, node: cst.ImportAlias) -> None:
        """Reports an import of Variable that nothing uses."""
        if self.model.variables.is_unused_import(node):
            message = "`Variable` is imported and not used: it is `torch.Tensor` since torch 0.4"
            rests_on = self.model.variables.is_nobodys(node)
            self.report(node, message, fix("Remove the import", remove(node), rests_on=rests_on))
