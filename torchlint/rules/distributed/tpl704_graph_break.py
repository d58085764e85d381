from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, remove, replace
from torchlint.fixes.code import expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.compiled.breaks import Break, Cause

_WHY = {
    Cause.PRINT: "ends the compiled graph: what follows is another one",
    Cause.READ: "ends the compiled graph, as the number has to be known",
    Cause.BRANCH: "ends the compiled graph, as the way depends on the value of a tensor",
    Cause.COUNTER: "is compiled into the graph as a number, so that each call compiles anew",
}


class GraphBreak(Rule):
    """
    ## What it does
    Finds what `torch.compile` cannot have in one graph, in the forward of a module that the file compiles, and in what that
    calls: `print`, `item()`, `tolist()` and `float(t)`, a branch on the value of a tensor; and a number that counts the calls.

    ## Why is this bad
    A graph ends there, Python runs, and another graph begins: nothing is fused over the break, and the GPU is waited for. A
    number of the module is part of the graph that it is compiled into: another number is another graph, until the limit of
    eight is reached and nothing is compiled any more.

    ## Example
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            x = self.layer(x)
            print(x.shape)
            return x


    model = torch.compile(Net())
    ```

    ## Use instead
    ```python
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(8, 8)
            self.register_buffer("calls", torch.tensor(0), persistent=False)

        def forward(self, x):
            self.calls += 1
            x = self.layer(x)
            return x


    model = torch.compile(Net())
    ```

    ## Fix safety
    Unsafe: nothing is printed any more, a number becomes a tensor, and `torch.where` computes both of what it chooses from. A
    counter is made a buffer where nothing else uses it; there is no fix for what reads a value, and for branches of statements.

    Not reported under a condition of any kind for `print`; nor where the file asks whether it is being compiled, or sets
    `capture_scalar_outputs`.

    ## References
    - [torch.compile: graph breaks](https://docs.pytorch.org/docs/stable/torch.compiler_faq.html#graph-breaks)
    """

    code = "TPL704"
    name = "graph-break"
    default = False
    severity = "warning"
    triggers = (Found(".compiled.breaks:Breaks.found"),)
    needs = (("torch",), ("compile",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a call that prints or reads a value, or a condition."""
        self._report(node)

    def visit_Comparison(self, node: cst.Comparison) -> None:
        """Reports a condition."""
        self._report(node)

    def visit_BooleanOperation(self, node: cst.BooleanOperation) -> None:
        """Reports a condition."""
        self._report(node)

    def visit_UnaryOperation(self, node: cst.UnaryOperation) -> None:
        """Reports a condition."""
        self._report(node)

    def visit_Name(self, node: cst.Name) -> None:
        """Reports a condition."""
        self._report(node)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """Reports a counter."""
        self._report(node)

    def _report(self, node: cst.CSTNode) -> None:
        found = self.model.training.graph_break(node)
        if found is not None:
            self.report(node, f"`{self.model.shown(node, 50)}` {_WHY[found.cause]}", self._fix(node, found))

    def _fix(self, node: cst.CSTNode, found: Break[cst.BaseExpression]) -> CodeFix | None:
        """The statement taken away, the buffer, or `torch.where`."""
        whole, parent = self.model.statement(node), self.model.parent(node)
        match found.cause, parent:
            case Cause.PRINT, _ if isinstance(whole, cst.Expr) and whole.value is node:
                return fix("Remove the `print`", remove(whole), rests_on=unknown("nothing is printed"))
            case Cause.COUNTER, _ if found.start is not None and isinstance(node, cst.AugAssign):
                return self._buffer(found.start)
            case Cause.BRANCH, cst.IfExp(test=test, body=body, orelse=orelse) if test is node:
                chosen = expression("{torch.where}({test}, {body}, {orelse})", test=test, body=body, orelse=orelse)
                return fix("Use `torch.where`", replace(parent, chosen), rests_on=unknown("both are computed"))
        return None

    def _buffer(self, start: cst.BaseExpression) -> CodeFix | None:
        made = self.model.statement(start)
        match made:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Attribute(value=owner, attr=cst.Name(value=name)))]):
                text = "{owner}.register_buffer({name}, {torch.tensor}({start}), persistent=False)"
                buffer = statement(text, owner=owner, name=self.model.code.string(name), start=start)
                return fix("Count in a buffer", replace(made, buffer), rests_on=unknown("the number becomes a tensor"))
        return None
