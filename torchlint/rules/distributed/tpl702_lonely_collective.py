from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import CodeFix, fix, insert_before, insert_behind, remove, replace, replace_by_lines
from torchlint.fixes.code import expression, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.semantics.distributed.lonely import Lonely


class LonelyCollective(Rule):
    """
    ## What it does
    Finds collective operations of `torch.distributed` under a condition that is true of one process only, `if rank == 0:`, and
    operations that are started, with `isend`, `irecv` or `async_op=True`, and that nobody waits for.

    ## Why is this bad
    A collective returns when all processes have called it. One that calls alone waits until it runs into the timeout, after
    half an hour, say; or it meets the next collective of the others, and mixes up their data. What an operation in the
    background receives is not there before `wait()` returns, and what it sends must not be changed before.

    ## Example
    ```python
    import torch.distributed as dist

    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
        dist.barrier()
    dist.all_reduce(total, async_op=True)
    print(total)
    ```

    ## Use instead
    ```python
    import torch.distributed as dist

    if dist.get_rank() == 0:
        torch.save(model.state_dict(), path)
    dist.barrier()
    dist.all_reduce(total, async_op=True).wait()
    print(total)
    ```

    ## Fix safety
    Unsafe: processes wait for one another that did not. A collective leaves its branch where it is the last in it, more code
    follows that, and what it is given is known there.

    Left alone are collectives of a group, those that the other processes call in another branch, of the function or of another
    method of the class, behind a branch that returns, or in a function of the file that they call, and those that are started
    in front of a barrier of the same function.

    ## References
    - [torch.distributed: collective functions](https://docs.pytorch.org/docs/stable/distributed.html#collective-functions)
    - [torch.distributed: synchronous and asynchronous operations](https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations)
    """

    code = "TPL702"
    name = "lonely-collective"
    triggers = (
        Found(".distributed.lonely:LonelyCollectives.alone"),
        Found(".distributed.lonely:LonelyCollectives.unwaited"),
    )
    needs = (("distributed",), ("torch",))

    def visit_Call(self, node: cst.Call) -> None:
        """Reports the operation."""
        shown = self.model.shown(node.func)
        lonely = self.model.training.lonely_collective(node)
        if lonely is not None:
            condition = self.model.shown(lonely.condition, 40)
            message = f"`{shown}` waits for all processes, and those without `{condition}` do not call it"
            self.report(node, message, self._for_all(node, lonely))
            return
        unwaited = self.model.training.unwaited(node)
        if unwaited is not None:
            message = f"`{shown}` goes on in the background, and nobody waits for it: call `wait()` on what it gives"
            self.report(node, message, self._waiting(node, unwaited.name))

    def _for_all(self, call: cst.Call, lonely: Lonely[cst.BaseExpression, cst.CSTNode]) -> CodeFix | None:
        """Puts a collective behind the branch that it ends."""
        outside = cst.Expr(call)
        if lonely.is_only:
            change = [replace_by_lines(lonely.branch, outside)]
        elif lonely.is_last and lonely.following is not None:
            change = [
                remove(self.model.statement(call), but_comment=True),
                insert_before(lonely.following, outside, alone=True),
            ]
        else:
            return None
        return fix("Call it in all processes", *change, rests_on=unknown("all processes call it, and wait for one another"))

    def _waiting(self, call: cst.Call, name: str) -> CodeFix:
        rests_on = unknown("the process waits for the others")
        if name:
            waited = statement("{work}.wait()", work=cst.Name(name))
            return fix("Wait for it", insert_behind(self.model.statement(call), waited, alone=True), rests_on=rests_on)
        return fix("Wait for it", replace(call, expression("{call}.wait()", call=call)), rests_on=rests_on)
