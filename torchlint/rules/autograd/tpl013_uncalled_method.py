from __future__ import annotations

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.fixes.changes import CodeFix, fix, replace
from torchlint.fixes.code import again, expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.training.uncalled import Lacks


class UncalledMethod(Rule):
    """
    ## What it does
    Finds methods that stand as a statement without being called, `loss.backward`, `optimizer.step`, `model.eval`; functions
    such as `torch.cuda.synchronize`; and `with torch.no_grad:`. Also modules that are made and not called, with the tensors
    given to the class: `nn.Sigmoid(x)`, `nn.CrossEntropyLoss(out, y)`.

    ## Why is this bad
    Without `()` the method is looked up and thrown away: no gradient is computed, no weight changes, dropout stays on, and
    nothing is raised. (`with torch.no_grad:` raises a `TypeError`, once that line is reached; so do most classes that are
    given tensors for options, and others make a module where a tensor is expected.)

    ## Example
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step
    ```

    ## Use instead
    ```python
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    The fix calls the method. A method that gives a new tensor, as in `x.cuda`, is called and its result assigned: `x =
    x.cuda()`. There is no fix where the call needs arguments. Safe where the owner is made of torch in sight, the method is
    named or called nowhere else, no `try` stands around, and the code shows what is meant: `model.eval` and `model.train` of a
    module that is run behind it, with no training that would go on in the mode, where no class of the file sets modes in its
    own way; `optimizer.step` behind a `backward` of its block, if nobody else has the optimizer, no hook hears of it and no
    graph is kept with `retain_graph`; `zero_grad` around such a step; `scheduler.step` in a loop; `loss.backward` before
    a step, at the top level of a script, where the loss is the mean that a loss of torch gives of layers made in sight, and
    nothing else goes back through its graph; `w.zero_` of a new tensor; `hidden.detach` of a local tensor that only goes into
    layers; `torch.cuda.empty_cache`; and `with torch.no_grad:`, which raises as it is. Everything else is unsafe: the
    program's results change, and a call that was never made may raise.

    ## References
    - [Optimizing model parameters](https://docs.pytorch.org/tutorials/beginner/basics/optimization_tutorial.html)
    """

    code = "TPL013"
    name = "uncalled-method"
    triggers = (
        Found(".training.uncalled:Uncalled.functions"),
        Found(".training.uncalled:Uncalled.contexts"),
        Found(".modules.misused_classes:MisusedClasses.found"),
    )
    needs = (("torch", "torchvision", "nn", "optim", "backward", "zero_grad", "step", "forward", "LightningModule", "cuda"),)

    def visit_Expr(self, node: cst.Expr) -> None:
        """`loss.backward` as a statement."""
        lacks = self.model.training.uncalled(node.value)
        if lacks is not None:
            self._report(node.value, "does nothing", self._fix(node, lacks))

    def visit_WithItem(self, node: cst.WithItem) -> None:
        """`with torch.no_grad:`."""
        if self.model.training.is_uncalled_context(node.item):
            effect = "raises a `TypeError`: it is the class of the context manager"
            self._report(node.item, effect, self._call(node.item, self.model.code.ends_with_its_error(node.item)))

    def visit_Call(self, node: cst.Call) -> None:
        """`nn.Sigmoid(x)`."""
        is_plain = self.model.training.misused_class(node)
        if is_plain is None:
            return
        name = self.model.shown(node.func)
        mended = None
        if is_plain:
            called = expression("{function}()", function=node.func)
            mended = fix(
                f"Call `{name}()`",
                replace(node.func, called),
                rests_on=unknown("the program computes something else, or does not raise"),
            )
        self.report(
            node,
            f"`{name}` is a class, whose arguments are options: it raises, or makes a module that is never run; "
            f"call the module: `{name}({'' if is_plain else '…'})(…)`",
            mended,
        )

    def _report(self, target: cst.BaseExpression, effect: str, mended: CodeFix | None) -> None:
        name = self.model.shown(target)
        remedy = f"call it: `{name}()`" if mended is not None else "call it with what it needs"
        self.report(target, f"`{name}` without a call {effect}; {remedy}", mended)

    def _fix(self, node: cst.Expr, lacks: Lacks) -> CodeFix | None:
        method = node.value
        match lacks, method:
            case Lacks.CALL, _:
                return self._call(method, self.model.training.may_be_called(method))
            case Lacks.ASSIGNED_CALL, cst.Attribute(value=cst.Name() | cst.Attribute() | cst.Subscript() as tensor):
                assignment = statement("{tensor} = {call}", tensor=again(tensor), call=_called(method))
                fact = self.model.training.may_be_called_and_assigned(method)
                return fix(f"Call `{self.model.shown(method)}`", replace(node, assignment), rests_on=fact)
        return None

    def _call(self, function: cst.BaseExpression, fact: Fact) -> CodeFix:
        return fix(f"Call `{self.model.shown(function)}`", replace(function, _called(function)), rests_on=fact)


def _called(function: cst.BaseExpression) -> cst.BaseExpression:
    """The call of a function; parentheses around the function are now around the call."""
    call = expression("{function}()", function=function.with_changes(lpar=(), rpar=()))
    return call.with_changes(lpar=function.lpar, rpar=function.rpar)
