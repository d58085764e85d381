from __future__ import annotations

import libcst as cst

from torchlint.fixes.changes import Statement, fix, insert_before
from torchlint.fixes.code import compound, statement
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found

_LONGEST = 40


class UnsynchronisedTiming(Rule):
    """
    ## What it does
    Finds work on the GPU that is timed by the clock on the wall, with no `torch.cuda.synchronize()` before the second
    reading: `start = time.time(); y = model(x); elapsed = time.time() - start`.

    ## Why is this bad
    CUDA calls return as soon as the work is queued. The clock is read while the GPU still computes, and the time measured is
    that of the queueing: often a hundredth of the true one. The work is then charged to whatever waits for it later.

    Reported is work that the code around it puts on a GPU, by `.cuda()`, `.to(device)` or `device=`, and that nothing waits for
    before the reading: no `.item()`, no `.cpu()`, no printing of values, and no call of a function that may do so. Laps of a
    loop, each of which starts with the reading that ends the one before, are left alone: what one leaves counts for the next.
    So are times that nobody reads, `times.append(time.time() - start)` of a list that goes nowhere.

    Strict is the time of a model whose code is not in sight, or may wait itself: its `forward`, or a part, asks for numbers,
    moves something or prints.

    ## Example
    ```python
    import time

    model = nn.Linear(8192, 8192).cuda()
    start = time.perf_counter()
    y = model(x)
    elapsed = time.perf_counter() - start
    ```

    ## Use instead
    ```python
    import time

    model = nn.Linear(8192, 8192).cuda()
    torch.cuda.synchronize()
    start = time.perf_counter()
    y = model(x)
    torch.cuda.synchronize()
    elapsed = time.perf_counter() - start
    ```

    ## Fix safety
    Safe: waiting changes when the clock is read and nothing else. Unsafe where a loop would wait in each of its rounds or times
    are added up, so that the GPU runs dry in between, and in a context of which nobody here knows whether it allows a wait,
    such as the capture of a CUDA graph. Where the code may as well run without a GPU, the fix asks
    `torch.cuda.is_available()` first. There is no fix where other code stands on the line of a reading.

    ## References
    - [Asynchronous execution](https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution)
    """

    code = "TPL404"
    name = "unsynchronised-timing"
    triggers = (Found(".devices.timings:Timings.unfinished"),)
    needs = (
        ("time", "perf_counter", "monotonic", "time_ns", "perf_counter_ns", "monotonic_ns", "default_timer"),
        ("cuda", "to", "device"),
    )

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        """Reports a difference of two readings with work of the GPU in between."""
        timing = self.model.devices.unfinished_timing(node)
        if timing is None:
            return
        wait = _waiting(surely=timing.needs_gpu)
        self.report(
            node,
            f"`{self.model.shown(node)}` is read while the GPU may still compute `{self._short(timing.work)}`: "
            "call `torch.cuda.synchronize()` before each reading",
            fix(
                "Wait for the GPU before the clock is read",
                *(insert_before(reading, wait, alone=True) for reading in timing.hasty),
                rests_on=timing.free,
            ),
            strict=timing.is_assumed,
        )

    def _short(self, work: cst.CSTNode) -> str:
        """What is computed, for the message."""
        if not isinstance(work, cst.Call):
            return self.model.shown(work, _LONGEST)
        return f"{self._called(work.func)}({'…' if work.args else ''})"

    def _called(self, function: cst.BaseExpression) -> str:
        """What is called: a chain of names, or the last name of another."""
        root = function
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name):
            return self.model.shown(function)
        return f"….{function.attr.value}" if isinstance(function, cst.Attribute) else "…"


def _waiting(*, surely: bool) -> Statement:
    """What waits for the GPU; where there may be none, it is asked for first."""
    if surely:
        return statement("{torch.cuda.synchronize}()")
    return compound("if {torch.cuda.is_available}():\n    {torch.cuda.synchronize}()")
