from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics.code.tree import FUNCTIONS, dotted
from torchlint.semantics.devices.work import DeviceWork

_CLOCKS = frozenset(
    {
        *("time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "time.monotonic_ns"),
        "timeit.default_timer",
    }
)
_READS_CLOCK = re.compile(
    rb"\b(?:time|perf_counter|monotonic|default_timer|timer)(?:_ns)?(?:[\s\\)]*(?:\([\s\\]*[)#]|#)|[\s\\]+as\b)"
)


@dataclass(frozen=True, slots=True)
class _Timed:
    """A stretch of code between two readings of the clock: their statements, and what runs in between."""

    first: ast.stmt
    last: ast.stmt
    between: list[ast.stmt]


class UnsynchronisedTiming(AstRule):
    """
    ## What it does
    Finds work on the GPU that is timed by the clock on the wall, with no `torch.cuda.synchronize()` before the second
    reading: `start = time.time(); y = model(x); elapsed = time.time() - start`.

    ## Why is this bad
    CUDA calls return as soon as the work is queued. The clock is read while the GPU still computes, and the time measured is
    that of the queueing: often a hundredth of the true one. The work is then charged to whatever waits for it later.

    Reported is work that the code around it puts on a GPU, and that nothing waits for before the reading: no `.item()`, no
    `.cpu()`, no printing, and no call of a function that may do so.

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
    Safe: waiting changes when the clock is read and nothing else. Where the code may as well run without a GPU, the fix asks
    `torch.cuda.is_available()` first. There is no fix where other code stands on the line of a reading.

    ## References
    - [Asynchronous execution](https://docs.pytorch.org/docs/stable/notes/cuda.html#asynchronous-execution)
    """

    code = "TPL404"
    name = "unsynchronised-timing"
    screen = Screen(
        any_of=(b"time", b"perf_counter", b"monotonic"),
        and_any_of=(b".cuda(", b".to("),
        pattern=_READS_CLOCK,
        names=frozenset({b".cuda", b".to"}),
    )

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Reports a difference of two readings with work of the GPU in between."""
        if not isinstance(node.op, ast.Sub) or isinstance(self.semantics.tree.parent(node), ast.Compare):
            return
        timed = self._timed(node)
        work = self._unfinished(timed.between) if timed is not None else None
        if timed is None or work is None:
            return
        message = (
            f"`{ast.unparse(node)}` is read while the GPU may still compute `{_short(work)}`: "
            "call `torch.cuda.synchronize()` before each reading"
        )
        self.report(node, message, self._fix(timed))

    # --- what is timed -----------------------------------------------------------------------------------------------

    def _timed(self, difference: ast.BinOp) -> _Timed | None:
        first = self._reading(difference.right)
        last = self._clock_statement(difference.left) or self._reading(difference.left)
        if first is None or last is None:
            return None
        between = self._between(first, last)
        return _Timed(first, last, between) if between else None

    def _clock_statement(self, node: ast.expr) -> ast.stmt | None:
        """The statement of a call that reads the clock."""
        if isinstance(node, ast.Call) and self.semantics.qualified_name(node.func) in _CLOCKS:
            return self.semantics.tree.statement(node)
        return None

    def _reading(self, node: ast.expr) -> ast.stmt | None:
        """The statement that gave a name its reading of the clock."""
        match node:
            case ast.Name():
                for binding in self.semantics.bindings.reaching(node):
                    if binding.value is not None and not binding.path and self._clock_statement(binding.value) is not None:
                        statement = self.semantics.tree.statement(binding.node)
                        if self._precedes(statement, node):
                            return statement
            case ast.Attribute(attr=name) if (owner := self.semantics.facts.self_class(node.value)) is not None:
                return self._stored_reading(node, owner, name)
        return None

    def _stored_reading(self, node: ast.Attribute, owner: ast.ClassDef, name: str) -> ast.stmt | None:
        """The statement of the same function that stored a reading in an attribute of ``self``, the last one before."""
        found = None
        for slot in self.semantics.facts.slots(owner, name):
            for store in slot.stores:
                statement = self.semantics.tree.statement(store)
                if isinstance(statement, ast.Assign) and self._clock_statement(statement.value) is not None:
                    if self._precedes(statement, node):
                        found = statement
        return found

    def _precedes(self, statement: ast.stmt, use: ast.AST) -> bool:
        """Whether a statement stands before ``use`` in the same function."""
        same = self.semantics.tree.function(statement) is self.semantics.tree.function(use)
        return same and statement.lineno < self.semantics.tree.statement(use).lineno

    def _between(self, first: ast.stmt, last: ast.stmt) -> list[ast.stmt]:
        """The statements from ``first`` to ``last``, which may stand in conditions of their own, but in no other loop."""
        tree = self.semantics.tree
        starts = [first, *self._conditions_that_end_with(first)]
        inner: list[ast.stmt] = []
        current: ast.AST = last
        while isinstance(current, ast.stmt):
            block = tree.block(current)
            start = next((index for index, statement in enumerate(block) if statement in starts), None)
            if start is not None:
                return [*block[start + 1 : block.index(current)], *inner]
            inner = [*block[: block.index(current)], *inner]
            parent = tree.parent(current)
            if not isinstance(parent, (ast.If, ast.With, ast.AsyncWith, ast.Try)):
                return []
            current = parent
        return []

    def _conditions_that_end_with(self, first: ast.stmt) -> Iterator[ast.stmt]:
        """The conditions around a statement that do nothing after it: ``if warm: start = time.time()``."""
        current = first
        parent = self.semantics.tree.parent(current)
        while isinstance(parent, ast.If) and not parent.orelse and self.semantics.tree.block(current)[-1] is current:
            yield parent
            current, parent = parent, self.semantics.tree.parent(parent)

    # --- what is unfinished ------------------------------------------------------------------------------------------

    @cached_property
    def _work(self) -> DeviceWork:
        return DeviceWork(self.semantics)

    def _unfinished(self, statements: list[ast.stmt]) -> ast.AST | None:
        """The last work of the GPU that nothing waits for."""
        work: ast.AST | None = None
        for statement in statements:
            for node in _in_order(statement):
                if self._work.starts(node):
                    work = node
                elif self._work.may_wait(node):
                    work = None
        return None if work is None or self._waits_each_round(work, statements) else work

    def _waits_each_round(self, work: ast.AST, statements: list[ast.stmt]) -> bool:
        """Whether a loop among the statements waits in each round, so that only the end of the last one is not counted."""
        loops = [loop for loop in self.semantics.tree.loops(work) if any(loop in ast.walk(part) for part in statements)]
        return any(self._work.may_wait(part) for loop in loops[-1:] for statement in loop.body for part in _in_order(statement))

    # --- the fix -----------------------------------------------------------------------------------------------------

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def _fix(self, timed: _Timed) -> Fix | None:
        edits: list[TextEdit] = []
        for statement in (timed.first, timed.last):
            if not self._rewriter.stands_alone(statement):
                return None
            if not self._is_synchronised(statement):
                edits += self._synchronise(statement)
        return self.fix("Wait for the GPU before the clock is read", edits, safe=True)

    def _is_synchronised(self, statement: ast.stmt) -> bool:
        """Whether the statement before waits for the GPU."""
        block = self.semantics.tree.block(statement)
        before = block[block.index(statement) - 1] if block.index(statement) else None
        if isinstance(before, ast.If) and len(before.body) == 1:
            before = before.body[0]
        match before:
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="synchronize"))):
                return True
        return False

    def _synchronise(self, statement: ast.stmt) -> list[TextEdit]:
        torch, imports = self._rewriter.torch_name(statement)
        indentation, newline = self._rewriter.indentation(statement), self.source.newline
        wait = f"{indentation}{torch}.cuda.synchronize(){newline}"
        if not self._work.surely_on_gpu(statement):
            unit = self._rewriter.indent_unit(statement)
            wait = f"{indentation}if {torch}.cuda.is_available():{newline}{unit}{wait}"
        place = self.source.line_start(statement.lineno)
        return [(place, place, wait), *imports]


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a statement, each behind its own parts; functions that are defined in it are not entered."""
    if isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
        return
    for part in ast.iter_child_nodes(node):
        yield from _in_order(part)
    yield node


def _short(work: ast.AST) -> str:
    """What is computed, for the message."""
    match work:
        case ast.Call(func=function):
            name = dotted(function) or (f"….{function.attr}" if isinstance(function, ast.Attribute) else "…")
            return f"{name}(…)" if work.args or work.keywords else f"{name}()"
    return ast.unparse(work) if len(ast.unparse(work)) <= 40 else "…"
