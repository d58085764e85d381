from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Type
from torchlint.semantics.code.tree import FUNCTIONS, Loop, push_children, walk_body
from torchlint.semantics.memory.origins import Origins
from torchlint.semantics.training.loops import TrainingLoops

_READING_METHODS = frozenset({"item", "tolist", "numpy", "cpu"})
_READING_FUNCTIONS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
_PRINTING = frozenset({"builtins.print"})

_DEVICES = re.compile(r"cuda|device|gpu|accelerator|fabric|local_rank", re.IGNORECASE)
_DEVICE_WORDS = re.compile(_DEVICES.pattern.encode(), re.IGNORECASE)


def _may_train_on_gpu(data: bytes) -> bool:
    return b"training_step" in data or _DEVICE_WORDS.search(data) is not None


@dataclass(frozen=True, slots=True)
class _Sum:
    """What a loop adds a read value to, and what stands for it after the loop."""

    name: str
    closing: str


class SyncInLoop(AstRule):
    """
    ## What it does
    Finds what a training loop reads back from the GPU in every step: `total += loss.item()`, `float(loss)`, `out.cpu()`,
    `print(loss)`, `if loss > 10:`. Code that runs under a condition, such as logging every hundred steps, is left alone, and
    so is what stands right behind a `torch.cuda.synchronize()`.

    ## Why is this bad
    The program waits there until the GPU has computed everything that was queued, and queues nothing meanwhile: in each step
    the GPU then waits for the program in turn.

    ## Example
    ```python
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total)
    ```

    ## Use instead
    ```python
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        total += loss.detach()
    total = float(total)
    print(total)
    ```

    ## Fix safety
    Unsafe: the sum is computed in the tensor's precision instead of Python's. A fix is given for a sum, or a list, that the
    loop does nothing else with; what is read is then read once, after the loop. For anything else there is none.

    ## References
    - [Avoid unnecessary CPU-GPU synchronization](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TPL402"
    name = "sync-in-loop"
    default = False
    screen = Screen(any_of=(b"backward", b"training_step"), check=_may_train_on_gpu)

    def finish(self) -> None:
        """Looks through the training loops."""
        for loop in self.semantics.of(TrainingLoops).all if self._uses_device() else ():
            self._inspect(loop.body, loop)
        for definition, facts in self.semantics.facts.classes.items():
            step = facts.methods.get("training_step")
            if step is not None and self.semantics.facts.is_module(definition):
                self._inspect(step.body, None)
        self.diagnostics.sort(key=lambda diagnostic: diagnostic.order)

    def _uses_device(self) -> bool:
        """Whether the code, not its comments alone, speaks of devices."""
        nodes = self.semantics.tree.of_type(ast.Name, ast.Attribute, ast.arg, ast.Constant)
        return any(_DEVICES.search(word) for node in nodes for word in _words(node))

    # --- what every step does ----------------------------------------------------------------------------------------

    def _inspect(self, body: list[ast.stmt], loop: Loop | None) -> None:
        for statement in body:
            match statement:
                case ast.If(test=test):
                    self._look_into(test, loop)
                    self._condition(test)
                case ast.Assert(test=test):
                    self._look_into(test, loop)
                    self._condition(test)
                case ast.For(iter=header, body=inner) | ast.AsyncFor(iter=header, body=inner):
                    self._look_into(header, loop)
                    self._inspect(inner, loop)
                case ast.While(test=test, body=inner):
                    self._look_into(test, loop)
                    self._condition(test)
                    self._inspect(inner, loop)
                case ast.With(body=inner) | ast.AsyncWith(body=inner) | ast.Try(body=inner):
                    self._inspect(inner, loop)
                case _ if not isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Match)):
                    self._look_into(statement, loop)

    def _look_into(self, root: ast.AST, loop: Loop | None) -> None:
        """Reports what a statement or expression reads; of several readings in one chain, the whole."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.Lambda, ast.IfExp)):
                continue
            if isinstance(node, ast.Call) and (read := self._read(node)) is not None:
                self._report(node, read, loop)
                continue
            push_children(node, stack)

    def _read(self, call: ast.Call) -> ast.expr | None:
        """The tensor that a call reads back, if it computed by the model."""
        name = self.semantics.qualified_name(call.func)
        read: ast.expr | None = None
        if isinstance(call.func, ast.Attribute) and call.func.attr in _READING_METHODS and not call.args:
            read = call.func.value
        elif name in _READING_FUNCTIONS and len(call.args) == 1:
            read = call.args[0]
        elif name in _PRINTING:
            read = next((part for part in self._printed(call) if self._is_computed(part)), None)
            return read
        while isinstance(read, ast.Call) and isinstance(read.func, ast.Attribute) and read.func.attr in _READING_METHODS:
            read = read.func.value
        return read if read is not None and self._is_computed(read) else None

    def _printed(self, call: ast.Call) -> Iterator[ast.expr]:
        for argument in call.args:
            if isinstance(argument, ast.JoinedStr):
                yield from (part.value for part in argument.values if isinstance(part, ast.FormattedValue))
            elif isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute) and argument.func.attr == "format":
                yield from argument.args
            else:
                yield argument

    def _is_computed(self, node: ast.expr) -> bool:
        """Whether a value is a tensor that comes out of what carries the graph, and so off the GPU."""
        if not self.semantics.kind(node).is_tensor:
            return False
        if self.semantics.kind(node).carries_graph:
            return True
        return any(self.semantics.kind(part).carries_graph for part in self._origins.of(node))

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self.semantics)

    def _has_waited(self, call: ast.Call) -> bool:
        """Whether the statement before waits for the GPU anyway, by `torch.cuda.synchronize()`."""
        statement = self.semantics.tree.statement(call)
        block = self.semantics.tree.block(statement)
        before = block[block.index(statement) - 1] if block.index(statement) else None
        match before:
            case ast.Expr(value=ast.Call(func=function)):
                return self.semantics.qualified_name(function) == "torch.cuda.synchronize"
        return False

    def _condition(self, test: ast.expr) -> None:
        """Reports a condition that asks for a tensor's value."""
        for part in _tests(test):
            operands = [part.left, *part.comparators] if isinstance(part, ast.Compare) else [part]
            if isinstance(part, ast.Compare) and any(isinstance(op, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for op in part.ops):
                continue
            if any(not isinstance(operand, ast.Call) and self._is_computed(operand) for operand in operands):
                advice = "ask it every n steps, or use `torch.where`"
                self.report(part, f"`{_short(part)}` waits for the GPU in every step: {advice}")

    # --- the report --------------------------------------------------------------------------------------------------

    def _report(self, call: ast.Call, read: ast.expr, loop: Loop | None) -> None:
        if self._has_waited(call):
            return
        where = "every step of the loop" if loop is not None else "every training step"
        fix = self._fix(call, read, loop) if loop is not None else None
        advice = (
            f"add up `{self._kept(read)}` and read it after the loop" if fix else "read it every n steps, or after the loop"
        )
        self.report(call, f"`{_short(call)}` waits for the GPU in {where}: {advice}", fix)

    def _kept(self, read: ast.expr) -> str:
        """What is kept of a tensor until after the loop."""
        match read:
            case ast.Call(func=ast.Attribute(attr="detach")):
                return self.source.segment(read)
            case ast.Attribute(attr="data", value=value):
                read = value
        return f"{self._rewriter.operand(read)}.detach()"

    def _fix(self, call: ast.Call, read: ast.expr, loop: Loop) -> Fix | None:
        found = self._sum(call, loop)
        if found is None or not self._rewriter.stands_alone(loop) or loop.orelse or not self.semantics.kind(read).scalar:
            return None
        torch, imports = self._rewriter.torch_name(loop)
        closing = found.closing.format(name=found.name, torch=torch)
        edits = [(self.source.start(call), self.source.end(call), self._kept(read)), self._behind(loop, closing)]
        return self.fix("Read the value after the loop", edits + (imports if "torch" in found.closing else []), safe=False)

    def _behind(self, loop: Loop, closing: str) -> TextEdit:
        assert loop.end_lineno is not None
        place = self.source.line_span(loop.end_lineno)[1]
        return (place, place, f"{self.source.newline}{self._rewriter.indentation(loop)}{closing}")

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def _sum(self, call: ast.Call, loop: Loop) -> _Sum | None:
        """The sum or list that a read value is added to, where the loop does nothing else with it."""
        statement = self.semantics.tree.statement(call)
        match statement:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=ast.Add(), value=value) if _is_term(call, value):
                if self._is_left_alone(name, loop) and self._starts_as_number(target, loop):
                    return self._closing(call, name)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=name) as owner), args=[argument])):
                if argument is call and self._is_left_alone(name, loop) and self._is_empty_before(owner, loop):
                    return _Sum(name, "{name} = {torch}.stack({name}).tolist() if {name} else []")
        return None

    def _closing(self, call: ast.Call, name: str) -> _Sum | None:
        """How a sum is read after the loop: an integer, as far as the code says that it adds up such."""
        if self.semantics.qualified_name(call.func) == "builtins.int":
            return _Sum(name, "{name} = int({name})")
        read = call.func.value if isinstance(call.func, ast.Attribute) else call.args[0]
        counts = isinstance(call.func, ast.Attribute) and not any(
            self.semantics.kind(part).carries_graph for part in ast.walk(read) if isinstance(part, ast.Name)
        )
        return None if counts else _Sum(name, "{name} = float({name})")

    def _is_left_alone(self, name: str, loop: Loop) -> bool:
        """Whether a loop mentions a name once and never leaves its function."""
        if loop not in self._mentions:
            names = Counter(part.id for part in ast.walk(loop) if isinstance(part, ast.Name))
            leaves = any(isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)) for part in walk_body(loop.body))
            self._mentions[loop] = Counter() if leaves else names
        return self._mentions[loop][name] == 1

    @cached_property
    def _mentions(self) -> dict[Loop, Counter[str]]:
        """How often each loop that never leaves its function mentions each name."""
        return {}

    def _starts_as_number(self, target: ast.Name, loop: Loop) -> bool:
        """Whether what a loop adds to is a number when the loop starts."""
        binding = self.semantics.bindings.of(target)
        inside = set(self.semantics.bindings.bound_in_loop(loop))
        outside = [other for other in binding.before if other not in inside] if binding is not None else []
        values = [other.value for other in outside if other.value is not None and not other.path]
        return bool(values) and len(values) == len(outside) and all(map(self._is_number, values))

    def _is_number(self, value: ast.expr) -> bool:
        return self.semantics.kind(value).type is Type.NUMBER

    def _is_empty_before(self, owner: ast.Name, loop: Loop) -> bool:
        """Whether a list is made, empty, in the very block that the loop stands in."""
        bindings = self.semantics.bindings.reaching(owner)
        if len(bindings) != 1 or not isinstance(bindings[0].value, ast.List) or bindings[0].value.elts:
            return False
        made = self.semantics.tree.statement(bindings[0].node)
        block = self.semantics.tree.block(loop)
        if made not in block or block.index(made) > block.index(loop):
            return False
        between = block[block.index(made) + 1 : block.index(loop)]
        return not any(isinstance(part, ast.Name) and part.id == owner.id for other in between for part in ast.walk(other))


def _words(node: ast.AST) -> Iterator[str]:
    """The words that a node of the tree is made of."""
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word) | ast.Constant(value=str(word)):
            if " " not in word:  # no prose
                yield word


def _tests(test: ast.expr) -> Iterator[ast.expr]:
    """The conditions that a test is made of."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _tests(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _tests(operand)
        case _:
            yield test


def _is_term(call: ast.Call, value: ast.expr) -> bool:
    """Whether a value is the call itself, or the call times or by something."""
    match value:
        case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right):
            return call is left or call is right
    return value is call


def _short(node: ast.expr) -> str:
    """The source of an expression for a message; of a long call, its name."""
    text = ast.unparse(node)
    if len(text) > 50 and isinstance(node, ast.Call):
        text = f"{ast.unparse(node.func)}(…)"
    return text if len(text) <= 50 else "…"
