from __future__ import annotations

import libcst as cst

from torchlint.fact import all_of, unknown
from torchlint.fixes.changes import Change, CodeFix, fix, remove, replace, wrap
from torchlint.fixes.code import expression, without_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.variables.volatile import VolatileMark
from torchlint.target import TorchVersion


class Volatile(Rule):
    """
    ## What it does
    Finds `volatile`: `Variable(x, volatile=True)`, `x.volatile = True`. Where a statement says it several times, by the same
    flag, that is one finding. It is strict where a function passes on a flag that no call in the file sets, and where what is
    marked stays in its function and meets nothing there that may have parameters: no graph is made of it. So it is with what
    is called a label or a mask, and is just returned, or kept in a list of the object's own for losses.

    ## Why is this bad
    `volatile` was how torch 0.3 turned autograd off for inference. It has no effect since 0.4, but for a warning: the graph
    is built and its activations are kept, so evaluation takes the memory of training.

    ## Example
    ```python
    for x, y in test_loader:
        x = Variable(x, volatile=True)
        correct += count(model(x), y)
    ```

    ## Use instead
    ```python
    with torch.no_grad():
        for x, y in test_loader:
            correct += count(model(x), y)
    ```

    ## Fix safety
    Unsafe: the code that computes with the value, as far as the file shows it, is put into `with torch.no_grad():`, which
    turns autograd off for all that stands there. Code that trains is left out. Where the value leaves the function, by
    `return` or as an attribute, only `volatile` goes, and `torch.no_grad()` is left to whoever computes with it. Dropping
    `volatile=False`, or what stands under `no_grad` already, is safe as an argument, where its flag does nothing else, as
    a call may, and is true or false, or nobody awaits the error that it is neither, or that it is given with `requires_grad`;
    and as an attribute where it is certainly a tensor's, which is only read here and in layers of torch.

    ## References
    - [Migration guide for torch 0.4: what about volatile?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL103"
    name = "volatile"
    severity = "warning"
    since = TorchVersion(0, 4)
    triggers = (Found(".variables.volatile:Volatiles.marks"),)
    needs = (("volatile", "Variable"),)

    def visit_Arg(self, node: cst.Arg) -> None:
        """Reports `Variable(x, volatile=True)`."""
        self._check(node)

    def visit_Assign(self, node: cst.Assign) -> None:
        """Reports `x.volatile = True`."""
        self._check(node)

    def _check(self, node: cst.Arg | cst.Assign) -> None:
        mark = self.model.variables.volatile(node)
        if mark is None:
            return
        marks = self.model.variables.volatile_beside(node, unless_silenced=self.code)
        if marks and marks[0] is node:
            is_needless = self._is_needless(node, mark)
            use_instead = "drop it" if is_needless else "the graph is built; use `torch.no_grad()`"
            message = f"`volatile` has no effect since torch 0.4: {use_instead}"
            is_idle = self.model.variables.is_never_volatile(node) or self.model.variables.meets_nothing(node)
            self.report(node, message, self._fix(node, mark, marks), strict=is_idle)

    def _is_needless(self, node: cst.Arg | cst.Assign, mark: VolatileMark[cst.BaseExpression]) -> bool:
        """Whether a graph is wanted, none is made, or autograd is off anyway."""
        if self.model.code.truth(mark.flag) is False or self.model.variables.meets_nothing(node):
            return True
        return self.model.autograd.is_off(self.model.statement(node))

    def _fix(
        self, node: cst.Arg | cst.Assign, mark: VolatileMark[cst.BaseExpression], marks: list[cst.Arg | cst.Assign]
    ) -> CodeFix:
        """Drops all the ``marks`` of a statement, of which ``node`` is the first one."""
        statement = self.model.statement(node)
        drop = [_drop(each, found) for each in marks if (found := self.model.variables.volatile(each)) is not None]
        if self._is_needless(node, mark):
            return fix("Drop `volatile`", *drop, rests_on=all_of(*map(self.model.variables.is_ignored, marks)))
        mode = self._mode(mark.flag)
        if mode is not None and (runs := self.model.variables.computing(statement)):
            title = f"Drop `volatile` and use `{self.model.code.written(mode)}`"
            return fix(
                title,
                *drop,
                *(wrap(run, mode) for run in runs),
                rests_on=unknown("autograd is turned off for all that stands in the block"),
            )
        return fix("Drop `volatile`", *drop, rests_on=unknown("nothing turns autograd off in place of it"))

    def _mode(self, flag: cst.BaseExpression) -> cst.BaseExpression | None:
        """The context manager that does what ``volatile=flag`` did."""
        if self.model.code.truth(flag):
            return expression("{torch.no_grad}()")
        match flag:
            case cst.Attribute(attr=cst.Name("volatile")):
                return None  # always false by now
            case cst.UnaryOperation(cst.Not(), cst.Name() | cst.Attribute() as enabled):
                return expression("{torch.set_grad_enabled}({enabled})", enabled=enabled)
            case cst.Name() | cst.Attribute():
                return expression("{torch.set_grad_enabled}(not {flag})", flag=flag)
        return None


def _drop(node: cst.Arg | cst.Assign, mark: VolatileMark[cst.BaseExpression]) -> Change:
    if isinstance(node, cst.Arg) and isinstance(mark.call, cst.Call):
        return replace(mark.call, without_argument(mark.call, node))
    return remove(node)
