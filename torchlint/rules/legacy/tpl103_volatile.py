from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate

from torchlint.diagnostic import Fix
from torchlint.fixes.rewriting import Rewriter, TextEdit
from torchlint.rules.ast_rule import AstRule
from torchlint.rules.screens import Screen
from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.code.tree import FUNCTIONS, Function, walk_body
from torchlint.target import TorchVersion

_VARIABLE = "torch.autograd.Variable"
_BACKWARD = frozenset({"backward", "manual_backward", "step"})
_TRAINING_NAME = re.compile(r"(^|_)(train|fit|optimi[sz]e|update_params|backprop)(_|$)", re.IGNORECASE)
_CUT = frozenset({"data", "shape", "size", "dim", "item", "detach", "numpy", "tolist", "numel", "is_cuda", "volatile", "grad"})
"""What gives no computation with the value: its plain numbers, or what it looks like."""
_PLAIN_CALLS = ("torch.", "numpy.", "math.", "os.", "time.", "torchvision.utils.")
"""Functions that have no parameters of their own, so that autograd has nothing to record where their input has none."""
_GRAD_MODES = ("torch.no_grad", "torch.inference_mode", "torch.enable_grad", "torch.set_grad_enabled")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)


class Volatile(AstRule):
    """
    ## What it does
    Finds `volatile`: `Variable(x, volatile=True)`, `x.volatile = True`.

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
    `volatile=False`, or what stands under `no_grad` already, is safe.

    ## References
    - [Migration guide for torch 0.4: what about volatile?](https://pytorch.org/blog/pytorch-0_4_0-migration-guide/)
    """

    code = "TPL103"
    name = "volatile"
    since = TorchVersion(0, 4)
    screen = Screen(any_of=(b"volatile", b"Variable"))

    @cached_property
    def _rewriter(self) -> Rewriter:
        return Rewriter(self.source, self.semantics)

    def finish(self) -> None:
        """Reports every use, the first ones of the text first."""
        for node, flag in self._uses.items():
            self.report(node, self._message, self._fix(node, flag))

    _message = "`volatile` has no effect since torch 0.4: the graph is built; use `torch.no_grad()`"

    @cached_property
    def _uses(self) -> dict[ast.keyword | ast.expr | ast.Assign, ast.expr]:
        """The arguments of Variable and the assignments that set ``volatile``, with what they set it to."""
        uses: dict[ast.keyword | ast.expr | ast.Assign, ast.expr] = {}
        for node in self.semantics.tree.nodes:
            match node:
                case ast.Call(keywords=words) if self.semantics.qualified_name(node.func) == _VARIABLE:
                    uses.update({word: word.value for word in words if word.arg == "volatile"})
                    if len(node.args) == 3 and not any(isinstance(argument, ast.Starred) for argument in node.args):
                        uses[node.args[2]] = node.args[2]
                case ast.Assign(targets=[ast.Attribute(attr="volatile", value=owner)], value=flag) if self._may_be_tensor(
                    owner
                ):
                    uses[node] = flag
        return uses

    def _may_be_tensor(self, owner: ast.expr) -> bool:
        kind = self.semantics.kind(owner)
        return kind.is_tensor or (kind.type is Type.UNKNOWN and self.semantics.facts.self_class(owner) is None)

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _fix(self, use: ast.keyword | ast.expr | ast.Assign, flag: ast.expr) -> Fix:
        drop = self._drops[use]
        statement = self.semantics.tree.statement(use)
        if (isinstance(flag, ast.Constant) and not flag.value) or self.semantics.no_grad.block(statement):
            return self.fix("Drop `volatile`", [drop], safe=True)
        mode = self._mode(flag)
        if mode is not None and (wrapping := self._wrapping(statement, mode)):
            return self.fix(f"Drop `volatile` and use `torch.{mode}`", [drop, *wrapping], safe=False)
        return self.fix("Drop `volatile`", [drop], safe=False)

    @cached_property
    def _drops(self) -> dict[ast.keyword | ast.expr | ast.Assign, TextEdit]:
        return {use: self._drop(use) for use in self._uses}

    def _drop(self, use: ast.keyword | ast.expr | ast.Assign) -> TextEdit:
        if isinstance(use, ast.Assign):
            return self._delete(use)
        call = self.semantics.tree.parent(use)
        assert isinstance(call, ast.Call)
        if isinstance(use, ast.keyword):
            return self._rewriter.delete_argument(call, use)
        return (self.source.end(call.args[1]), self.source.end(use), "")

    def _delete(self, statement: ast.Assign) -> TextEdit:
        """Deletes a statement with the line break before it, so that the line behind it stays free for a ``with``."""
        start, end, new = self._rewriter.delete_statement(statement)
        if new == "" and start == self.source.line_start(statement.lineno) and statement.lineno > 1 and end > start:
            previous = self.source.line_span(statement.lineno - 1)[1]
            return (previous, self.source.line_span(statement.end_lineno or statement.lineno)[1], "")
        return (start, end, new)

    def _mode(self, flag: ast.expr) -> str | None:
        """The context manager that does what ``volatile=flag`` did."""
        match flag:
            case ast.Constant():
                return "no_grad()"
            case ast.Attribute(attr="volatile"):
                return None  # always false by now
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name() | ast.Attribute() as operand):
                return f"set_grad_enabled({ast.unparse(operand)})"
            case ast.Name() | ast.Attribute():
                return f"set_grad_enabled(not {ast.unparse(flag)})"
        return None

    def _wrapping(self, statement: ast.stmt, mode: str) -> list[TextEdit]:
        """The edits that put what computes with ``statement``'s value under ``mode``."""
        function = self.semantics.tree.function(statement)
        body = function.body if isinstance(function, FUNCTIONS) else self.source.tree.body
        calls = self._calls.get(statement, [])
        needed = {part for part in _Computations(self.semantics, statement, calls).run() if self._is_neutral([part])}
        source = next(filter(None, map(self._item_loop, calls)), None)
        edits: list[TextEdit] = []
        for run in self._runs(body, needed, source):
            edits += [edit for edit in self._rewriter.wrap_in_no_grad(run, mode) or [] if edit not in edits]
        return [edit for edit in edits if not self._is_dropped(edit)]

    def _is_dropped(self, edit: TextEdit) -> bool:
        """Whether an indentation goes where a line is taken away by this or another finding's fix."""
        start, end, _ = edit
        place = bisect_left(self._dropped, (start, start))
        return start == end and place > 0 and start < self._dropped[place - 1][1]

    @cached_property
    def _dropped(self) -> list[tuple[int, int]]:
        """From where to where text is taken away: the ends are those that the ones before reach, too."""
        spans = sorted((first, last) for first, last, _ in self._drops.values())
        ends = accumulate((last for _, last in spans), max)
        return [(first, end) for (first, _), end in zip(spans, ends)]

    @cached_property
    def _calls(self) -> dict[ast.stmt, list[ast.Call]]:
        """The calls with the flag, by their statements."""
        found: dict[ast.stmt, list[ast.Call]] = {}
        for use in self._uses:
            if isinstance(call := self.semantics.tree.parent(use), ast.Call):
                found.setdefault(self.semantics.tree.statement(call), []).append(call)
        return found

    # --- where autograd goes off -------------------------------------------------------------------------------------

    def _item_loop(self, call: ast.Call) -> ast.For | None:
        """The loop around ``call`` whose item its argument is made from."""
        for loop in self.semantics.tree.loops(call):
            if isinstance(loop, ast.For) and self._is_made_from(call, loop):
                return loop
        return None

    def _is_made_from(self, node: ast.expr, loop: ast.For, depth: int = 3) -> bool:
        for name in ast.walk(node):
            for binding in self.semantics.bindings.reaching(name) if isinstance(name, ast.Name) else ():
                if binding.form is Form.LOOP and self.semantics.tree.statement(binding.node) is loop:
                    return True
                if depth and binding.form is Form.ASSIGNMENT and binding.value is not None:
                    if self.semantics.tree.inside(binding.node, loop) and self._is_made_from(binding.value, loop, depth - 1):
                        return True
        return False

    def _runs(self, block: list[ast.stmt], needed: set[ast.stmt], source: ast.For | None) -> Iterator[list[ast.stmt]]:
        """The neighbouring statements, within ``block`` or deeper, that hold ``needed`` and nothing that trains.

        The loop ``source``, from which the value is, goes in as a whole.
        """
        holders = {part for one in needed for part in (one, *self.semantics.tree.ancestors(one))}
        places = self._places_in(block)
        holding = sorted(places[part] for part in holders if part in places)
        groups: list[list[int]] = []
        for index in holding:
            if groups and self._is_neutral(block[groups[-1][-1] + 1 : index + 1]) and self._is_neutral([block[groups[-1][-1]]]):
                groups[-1].append(index)
            else:
                groups.append([index])
        for group in groups:
            first = block[group[0]]
            if len(group) > 1 or self._goes_in_whole(first, needed, source):
                yield block[group[0] : group[-1] + 1]
            else:
                for inner in _blocks(first):
                    yield from self._runs(inner, needed, source)

    def _places_in(self, block: list[ast.stmt]) -> dict[ast.AST, int]:
        """Where each statement of a block is in it."""
        if block[0] not in self._blocks:
            self._blocks[block[0]] = {part: place for place, part in enumerate(block)}
        return self._blocks[block[0]]

    @cached_property
    def _blocks(self) -> dict[ast.stmt, dict[ast.AST, int]]:
        return {}

    def _is_neutral(self, statements: list[ast.stmt]) -> bool:
        """Whether nothing is trained there, nothing that will be back-propagated is computed, and nothing defined."""
        parts = list(walk_body(statements))
        return not (
            self._trains(statements)
            or any(isinstance(part, _DEFINITIONS) for part in parts)
            or any(self._is_backpropagated(part) for part in parts if isinstance(part, (ast.Assign, ast.AugAssign)))
        )

    def _is_backpropagated(self, statement: ast.Assign | ast.AugAssign) -> bool:
        if statement in self._statements:
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        stored = [part for target in targets for part in ast.walk(target) if isinstance(part, (ast.Name, ast.Attribute))]
        return any(isinstance(part.ctx, ast.Store) and self.semantics.of(Backpropagated).name(part) for part in stored)

    @cached_property
    def _statements(self) -> set[ast.stmt]:
        return {self.semantics.tree.statement(use) for use in self._uses}

    def _goes_in_whole(self, statement: ast.stmt, needed: set[ast.stmt], source: ast.For | None) -> bool:
        """Whether a statement is wrapped as it is: simple, the loop that the value is from, one that does nothing else."""
        whole = isinstance(statement, ast.For) and all(part in needed for part in statement.body)
        return (statement in needed or statement is source or whole) and self._is_neutral([statement])

    def _trains(self, statements: list[ast.stmt]) -> bool:
        return any(isinstance(part, ast.Call) and self.trains(part) for part in walk_body(statements))

    def trains(self, call: ast.Call, depth: int = 3) -> bool:
        """Whether a call back-propagates or updates parameters, itself or in a function of the file."""
        name = (
            call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
        )
        if name in _BACKWARD and isinstance(call.func, ast.Attribute):
            return True
        if self.semantics.qualified_name(call.func) in ("torch.autograd.grad", "torch.autograd.backward"):
            return True
        function = self._function(call)
        if function is not None:
            return depth > 0 and any(
                isinstance(part, ast.Call) and self.trains(part, depth - 1) for part in walk_body(function.body)
            )
        return _TRAINING_NAME.search(name) is not None and not self._switches_mode(call)

    def _function(self, call: ast.Call) -> Function | None:
        definition = self.semantics.facts.definition(call.func)
        if isinstance(definition, FUNCTIONS):
            return definition
        if isinstance(call.func, ast.Attribute) and (owner := self.semantics.facts.self_class(call.func.value)) is not None:
            return self.semantics.facts.method(owner, call.func.attr)
        return None

    @staticmethod
    def _switches_mode(call: ast.Call) -> bool:
        """Whether a call is ``model.train()``, ``model.train(False)`` or ``set_train(…)``."""
        return all(isinstance(value, ast.Constant) for value in [*call.args, *(word.value for word in call.keywords)])


class _Computations:
    """Follows a value through the names of its function, to the statements that may record something with it."""

    def __init__(self, semantics: Semantics, statement: ast.stmt, calls: list[ast.Call]) -> None:
        self._semantics = semantics
        self._function = semantics.tree.function(statement)
        self._statement = statement
        self._calls = calls
        self._seen: set[Binding] = set()
        self._needed: set[ast.stmt] = set()

    def run(self) -> set[ast.stmt]:
        """The statements, less those that train or run without autograd anyway."""
        match self._statement:
            case ast.Assign(targets=[ast.Attribute(attr="volatile", value=ast.Name() as owner)]):
                self._follow_later_uses(owner)
        for call in self._calls:
            self._follow(call)
        return {part for part in self._needed if not self._is_under_grad_mode(part)}

    def _follow_later_uses(self, name: ast.Name) -> None:
        """Follows the tensor of ``x.volatile = True`` from there on."""
        bindings = self._semantics.bindings.reaching(name)
        for node in self._semantics.tree.nodes:
            if isinstance(node, ast.Name) and node.id == name.id and node.lineno > name.lineno:
                if (
                    self._semantics.tree.function(node) is self._function
                    and self._semantics.bindings.reaching(node) == bindings
                ):
                    self._follow(node)

    def _is_under_grad_mode(self, statement: ast.stmt) -> bool:
        """Whether a ``with`` or a decorator around the statement says already what autograd does there."""
        blocks = [parent for parent in self._semantics.tree.ancestors(statement) if isinstance(parent, ast.With)]
        contexts = [item.context_expr for block in blocks for item in block.items]
        calls = [context.func for context in contexts if isinstance(context, ast.Call)]
        return self._semantics.no_grad.block(statement) or any(
            self._semantics.qualified_name(call) in _GRAD_MODES for call in calls
        )

    def _follow(self, value: ast.expr) -> None:
        """Follows a value from the place at which it stands to where it goes."""
        node: ast.AST = value
        for parent in self._semantics.tree.ancestors(value):
            match parent:
                case ast.Attribute(attr=name) if name in _CUT:
                    return
                case ast.Call(func=function) if node is not function and self._records(parent):
                    self._needed.add(self._semantics.tree.statement(parent))
                case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="append" | "extend")) if node in parent.args:
                    for binding in self._semantics.bindings.reaching(owner):
                        self._follow_uses(binding, binding.uses)
                case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                    self._follow_targets(parent)
                    return
                case ast.For(target=target, iter=iterated) | ast.comprehension(target=target, iter=iterated) if (
                    node is iterated
                ):
                    self._follow_stored(target)
                    return
                case ast.stmt() | ast.Lambda():
                    return
            node = parent

    def _records(self, call: ast.Call) -> bool:
        """Whether autograd may record something in a call that gets the value: that of a module, or of who knows what."""
        name = self._semantics.qualified_name(call.func) or ""
        module, _, function = name.rpartition(".")
        if name == _VARIABLE or name.startswith(_PLAIN_CALLS) or (module == "builtins" and hasattr(builtins, function)):
            return False
        if isinstance(call.func, ast.Attribute):
            if call.func.attr in ("append", "extend", "add", "update", "format"):
                return False
            kind = self._semantics.kind(call.func.value)
            return not kind.is_tensor and kind.type not in (Type.STRING, Type.SEQUENCE, Type.MAPPING)
        return self._semantics.kind(call.func).type is not Type.CLASS

    def _follow_targets(self, statement: ast.Assign | ast.AugAssign | ast.AnnAssign) -> None:
        for target in statement.targets if isinstance(statement, ast.Assign) else [statement.target]:
            self._follow_stored(target)

    def _follow_stored(self, target: ast.expr) -> None:
        for part in ast.walk(target):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                binding = self._semantics.bindings.of(part)
                if binding is not None:
                    self._follow_uses(binding, binding.uses)

    def _follow_uses(self, binding: Binding, uses: list[ast.Name]) -> None:
        if binding in self._seen:
            return
        self._seen.add(binding)
        for use in uses:
            if self._semantics.tree.function(use) is self._function:
                self._follow(use)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements that a statement holds: its branches, its body."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list) and block and not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            yield block
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        yield part.body
