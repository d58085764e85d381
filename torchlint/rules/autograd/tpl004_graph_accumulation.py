from __future__ import annotations

import libcst as cst

from torchlint.fact import Fact, all_of
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import expression
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.autograd.accumulation import Leak
from torchlint.target import TorchVersion


class GraphAccumulation(Rule):
    """
    ## What it does
    Finds values that carry the autograd graph and are added to something that outlives the loop: `total_loss += loss`,
    `total = total + loss * n`, `losses.append(loss)`, `history[k] = loss`; `meter.update(loss)`, where another file of the
    project has the class of the meter, whose method adds up what it is given. What is unpacked from a call of no function in
    sight, `loss, part = criterion(…)`, is left alone where the project has a function that makes a number of a `part` and
    gives that. So is what is computed of gradients alone that were asked for without `create_graph`, by functions of the
    file, too.

    Values that are kept, and not summed up, are strict findings but where a loop back-propagates them itself, takes a step of
    an optimizer in the same round, and keeps them in a list or a dict that was made before it, is a variable of the same
    function, and is never emptied. Outputs, what is kept in attributes or for callers, and what a test of the code keeps, may
    be wanted or soon be gone. So are sums of what is only unpacked beside the loss, or called like one: the function may give
    the number of that.

    ## Why is this bad
    The sum, or the list, holds the graph of every step. Memory grows with the number of steps until it runs out, though
    only the number was wanted.

    ## Example
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total_loss += loss
    ```

    ## Use instead
    ```python
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        total_loss += loss.detach()
    ```

    ## Fix safety
    Safe where two facts are certain: that the value is a tensor, and that nobody asks for the graph of what is kept. The
    latter is certain where all code that reads it is in sight and asks for values alone; or, of a sum, where the loss is one
    of torch's and its backward pass, without `retain_graph`, frees its graph in the same round: a second one would raise
    anyway. Unsafe where the value is a model's output, or a loss that another function returned, which may be no tensor; where
    an attribute, an argument or a list that is handed on may be read elsewhere; where `.grad`, `requires_grad` or hooks are
    asked for, or which object a list holds, or how long one lives (`weakref`); where it is copied deeply or made an array of,
    which a graph forbids.

    `.detach()` leaves everything else as it is: the type of the sum, how it is rounded, what it is divided by. `.item()` is
    safe where values are kept one by one, have no dimensions and are read by `float` and number formats alone; otherwise,
    where the accumulator looks like a number and nothing is certain, it is the unsafe fix. What a tensor prints of its graph
    (`grad_fn=`) is gone with it. There is no fix for a dict that holds the loss, nor where the value may be a tuple.

    ## References
    - [My model reports "cuda runtime error(2): out of memory"](https://docs.pytorch.org/docs/stable/notes/faq.html)
    """

    code = "TPL004"
    name = "graph-accumulation"
    since = TorchVersion(0, 4)
    triggers = (Found(".autograd.accumulation:Accumulations.leaks"),)
    needs = (("backward", "training_step", "autograd", "eval"),)

    def visit_AugAssign(self, node: cst.AugAssign) -> None:
        """`total += loss`, `stats["loss"] += loss`."""
        self._check(node)

    def visit_Assign(self, node: cst.Assign) -> None:
        """`total = total + loss`, `history[k] = loss`."""
        self._check(node)

    def visit_Expr(self, node: cst.Expr) -> None:
        """`losses.append(loss)`."""
        self._check(node)

    def _check(self, statement: cst.BaseSmallStatement) -> None:
        leak = self.model.autograd.accumulation(statement)
        if leak is None:
            return
        method, parts, rests_on = self._cut(leak)
        [value, *_] = leak.values
        target, verb = self.model.shown(leak.target), "keeps" if leak.kept else "sums"
        added = f"`{self.model.shown(value)}`" if self.model.is_on_one_line(value) else "`the value`"
        cuts = [replace(part, expression(f"{{part}}.{method}()", part=part)) for part in parts]
        instead = "back-propagate it first, and keep its `.detach()`" if leak.propagated_there else f"use `.{method}()`"
        self.report(
            statement,
            f"`{target}` {verb} {added} with its autograd graph: memory grows with every step; {instead}",
            fix(f"Add `.{method}()`", *cuts, rests_on=rests_on) if leak.mendable else None,
            strict=self._is_assumed(statement, leak),
        )

    def _is_assumed(self, statement: cst.BaseSmallStatement, leak: Leak[cst.BaseExpression]) -> bool:
        """Whether it may be that no graph is kept, or not for long, or for something."""
        questions = self.model.autograd
        if not leak.kept:
            return questions.adds_assumed_graph(statement)
        return questions.is_kept_for_test(leak.target) or not questions.gets_trained_losses(statement)

    def _cut(self, leak: Leak[cst.BaseExpression]) -> tuple[str, tuple[cst.BaseExpression, ...], Fact]:
        """What takes the graph off, what of, and what that rests on: of two ways, the one that is certain."""
        are_tensors = all_of(*(self.model.kinds.is_tensor(part) for part in leak.as_tensors))
        detached = ("detach", leak.as_tensors, are_tensors & leak.graph_unread)
        if leak.as_numbers is None or self.options.accumulate_with != "item":
            return detached
        have_none = all_of(*(self.model.shapes.has_no_dimensions(part) for part in leak.as_numbers))
        item = ("item", leak.as_numbers, are_tensors & leak.graph_unread & have_none & leak.read_as_numbers)
        return detached if detached[2].is_certain and not item[2].is_certain else item
