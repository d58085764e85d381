"""What training programs wait for in every step: values that they read back from the GPU."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, Loop, push_children, walk_body
from torchlint.semantics.memory.origins import Origins
from torchlint.semantics.training.loops import TrainingLoops

Node = TypeVar("Node")
Place = TypeVar("Place")

_READING_METHODS = frozenset({"item", "tolist", "numpy", "cpu"})
_READING_FUNCTIONS = frozenset({"builtins.float", "builtins.int", "builtins.bool"})
_CHECKS = frozenset({"torch.isnan", "torch.isinf", "torch.isfinite", "math.isnan", "math.isinf", "math.isfinite"})
_MOVING = frozenset({"cuda", "to"})
"""Methods that take what was read to the GPU again, for all that they say of themselves."""
_DEVICES = re.compile(r"cuda|device|gpu|accelerator|fabric|local_rank", re.IGNORECASE)


class Total(Enum):
    """What a loop makes of the values that it reads, one in each round."""

    FLOAT = "a sum"
    INTEGER = "a sum of integers"
    LIST = "a list of numbers"


@dataclass(frozen=True, eq=False, slots=True)
class Reading(Generic[Node, Place]):
    """A call that reads ``tensor`` in every round of a loop or, without ``loop``, in every training step.

    With ``total``, all that the loop does with the number is to add it to ``name``, which may as well be read after the loop.
    """

    tensor: Node
    loop: Place | None
    total: Total | None = None
    name: str = ""


class Synchronisations:
    """Finds what a file waits for in every step of its training."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._readings: dict[ast.Call, Reading[ast.expr, Loop]] = {}
        self._conditions: dict[ast.stmt, tuple[ast.expr, ...]] = {}
        self._mentions: dict[Loop, Counter[str]] = {}
        self._read_before: dict[ast.Name, bool] = {}

    @property
    def readings(self) -> dict[ast.Call, Reading[ast.expr, Loop]]:
        """The calls that read a value back: of several readings in one chain, the whole."""
        return self._found[0]

    @property
    def conditions(self) -> dict[ast.stmt, tuple[ast.expr, ...]]:
        """The statements whose condition asks for tensors' values, with the parts of it that do."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[dict[ast.Call, Reading[ast.expr, Loop]], dict[ast.stmt, tuple[ast.expr, ...]]]:
        for loop in self._semantics.of(TrainingLoops).all if self._uses_device() else ():
            self._inspect(loop.body, loop)
        for definition, facts in self._semantics.facts.classes.items():
            step = facts.methods.get("training_step")
            if step is not None and self._semantics.facts.is_module(definition):
                self._inspect(step.body, None)
        return {call: self._alone(reading) for call, reading in self._readings.items()}, self._conditions

    def _alone(self, reading: Reading[ast.expr, Loop]) -> Reading[ast.expr, Loop]:
        """A reading, to be put off only where its loop then waits for nothing in each step."""
        return replace(reading, total=None, name="") if reading.loop in self._waiting else reading

    @cached_property
    def _waiting(self) -> set[Loop | None]:
        """The loops that wait for something in each step that cannot be read after the loop as well."""
        loops: set[Loop | None] = {reading.loop for reading in self._readings.values() if reading.total is None}
        waits = [*self._conditions, *filter(self._is_synchronisation, self._semantics.facts.calls.get("synchronize", ()))]
        return loops | {loop for wait in waits for loop in self._semantics.tree.loops(wait)}

    def _is_synchronisation(self, call: ast.Call) -> bool:
        """Whether a call waits for the GPU in each round of its innermost loop."""
        loop = next(self._semantics.tree.loops(call), None)
        name = self._semantics.qualified_name(call.func)
        return name == "torch.cuda.synchronize" and loop is not None and self._semantics.tree.statement(call) in loop.body

    def _uses_device(self) -> bool:
        """Whether the code speaks of devices."""
        nodes = self._semantics.tree.of_type(ast.Name, ast.Attribute, ast.arg, ast.Constant)
        return any(_DEVICES.search(word) for node in nodes for word in _words(node))

    # --- what every step does ----------------------------------------------------------------------------------------

    def _inspect(self, body: list[ast.stmt], loop: Loop | None) -> None:
        """Looks at what each step runs: neither what stands under a condition nor what handles exceptions."""
        for statement in body:
            match statement:
                case ast.If(test=test) | ast.Assert(test=test):
                    self._look_into(test, loop)
                    self._ask(statement, test)
                case ast.For(iter=header, body=inner) | ast.AsyncFor(iter=header, body=inner):
                    self._look_into(header, loop)
                    self._inspect(inner, loop)
                case ast.While(test=test, body=inner):
                    self._look_into(test, loop)
                    self._ask(statement, test)
                    self._inspect(inner, loop)
                case ast.With(body=inner) | ast.AsyncWith(body=inner) | ast.Try(body=inner):
                    self._inspect(inner, loop)
                case _ if not isinstance(statement, (*FUNCTIONS, ast.ClassDef, ast.Match)):
                    self._look_into(statement, loop)

    def _look_into(self, root: ast.AST, loop: Loop | None) -> None:
        """Notes what a statement or expression reads."""
        stack = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, (ast.Lambda, ast.IfExp)):
                continue
            if isinstance(node, ast.BoolOp):
                stack.extend(node.values[:1] if isinstance(root, ast.Expr) and node is root.value else _always(node))
                continue
            if isinstance(node, ast.Call) and (tensor := self._read(node)) is not None:
                if node not in self._readings and not self._has_waited(node):
                    self._readings[node] = self._reading(node, tensor, loop)
                continue
            push_children(node, stack)

    def _read(self, call: ast.Call) -> ast.expr | None:
        """The tensor that a call reads back, if it is computed by the model."""
        name = self._semantics.qualified_name(call.func)
        shown = next((part for part in _shown(call, is_print=name == "builtins.print") if self._is_awaited(part)), None)
        if shown is not None or name == "builtins.print":
            return shown
        read: ast.expr | None = None
        if isinstance(call.func, ast.Attribute) and call.func.attr in _READING_METHODS and not call.args:
            read = call.func.value
        elif name in _READING_FUNCTIONS and len(call.args) == 1:
            read = call.args[0]
        while isinstance(read, ast.Call) and isinstance(read.func, ast.Attribute) and read.func.attr in _READING_METHODS:
            read = read.func.value
        return read if read is not None and self._is_computed(read) else None

    def _is_awaited(self, shown: ast.expr) -> bool:
        """Whether what is turned into text waits for the GPU, whichever of two values it is."""
        if isinstance(shown, ast.IfExp):
            return self._is_awaited(shown.body) and self._is_awaited(shown.orelse)
        return self._is_computed(shown)

    def _is_computed(self, node: ast.expr) -> bool:
        """Whether a value is a tensor that comes out of what carries the graph, and so off the GPU."""
        if not self._semantics.kind(node).is_tensor or self._was_read(node):
            return False
        if self._semantics.kind(node).carries_graph:
            return True
        return any(self._semantics.kind(part).carries_graph for part in self._semantics.of(Origins).of(node))

    def _was_read(self, node: ast.expr) -> bool:
        """Whether a name has what was read into the CPU's memory before, or something is taken of that."""
        source = _source(node)
        if not isinstance(source, ast.Name):
            return False
        if source not in self._read_before:
            self._read_before[source] = False  # while it is looked for
            bindings = self._semantics.bindings.reaching(source)
            self._read_before[source] = bool(bindings) and all(map(self._has_been_read, bindings))
        return self._read_before[source]

    def _has_been_read(self, binding: Binding) -> bool:
        """Whether what is assigned is read into the CPU's memory there: ``n = loss.cpu()``."""
        if binding.form is not Form.ASSIGNMENT or binding.path or binding.value is None:
            return False
        return _is_cpu(_source(binding.value)) or self._was_read(binding.value)

    def _has_waited(self, call: ast.Call) -> bool:
        """Whether the statement before waits for the GPU anyway, by ``torch.cuda.synchronize()``."""
        statement = self._semantics.tree.statement(call)
        block = self._semantics.tree.block(statement)
        before = block[block.index(statement) - 1] if block.index(statement) else None
        match before:
            case ast.Expr(value=ast.Call(func=function)):
                return self._semantics.qualified_name(function) == "torch.cuda.synchronize"
        return False

    def _ask(self, statement: ast.stmt, test: ast.expr) -> None:
        """Notes what a condition asks for."""
        if asking := tuple(part for part in _tests(test) if self._asks_for_value(part)):
            self._conditions[statement] = asking

    def _asks_for_value(self, part: ast.expr) -> bool:
        if isinstance(part, ast.Compare) and any(isinstance(each, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for each in part.ops):
            return False
        operands = [part.left, *part.comparators] if isinstance(part, ast.Compare) else [part]
        return any(not isinstance(operand, ast.Call) and self._is_computed(operand) for operand in map(self._checked, operands))

    def _checked(self, operand: ast.expr) -> ast.expr:
        """What a condition asks whether it is a number at all: of ``torch.isnan(loss).any()``, the loss."""
        match operand:
            case ast.Call(func=ast.Attribute(value=inner, attr="any" | "all"), args=[]):
                return self._checked(inner) if isinstance(inner, ast.Call) else operand
            case ast.Call(func=function, args=[inner]) if self._semantics.qualified_name(function) in _CHECKS:
                return inner
            case ast.Call(func=ast.Attribute(value=inner, attr="isnan" | "isinf" | "isfinite"), args=[]):
                return inner
        return operand

    # --- what becomes of it ------------------------------------------------------------------------------------------

    def _reading(self, call: ast.Call, tensor: ast.expr, loop: Loop | None) -> Reading[ast.expr, Loop]:
        if loop is not None and not loop.orelse and self._semantics.kind(tensor).scalar:
            total, name = self._total(call, loop)
            return Reading(tensor, loop, total, name)
        return Reading(tensor, loop)

    def _total(self, call: ast.Call, loop: Loop) -> tuple[Total | None, str]:
        """The sum or list that a read value is added to, where the loop does nothing else with it, and its name."""
        statement = self._semantics.tree.statement(call)
        match statement:
            case ast.AugAssign(target=ast.Name(id=name) as target, op=ast.Add(), value=value) if _is_term(call, value):
                if self._is_left_alone(name, loop) and self._starts_as_number(target, loop):
                    return self._sum(call), name
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=name) as owner), args=[argument])):
                if argument is call and self._is_left_alone(name, loop) and self._is_empty_before(owner, loop):
                    return Total.LIST, name
        return None, ""

    def _sum(self, call: ast.Call) -> Total | None:
        """What sort of sum is made of the values: one of integers, as far as the code says that it adds up such."""
        if self._semantics.qualified_name(call.func) == "builtins.int":
            return Total.INTEGER
        if not isinstance(call.func, ast.Attribute):
            return Total.FLOAT
        names = (part for part in ast.walk(call.func.value) if isinstance(part, ast.Name))
        return Total.FLOAT if any(self._semantics.kind(name).carries_graph for name in names) else None  # else of a count

    def _is_left_alone(self, name: str, loop: Loop) -> bool:
        """Whether a loop mentions a name once and never leaves its function."""
        if loop not in self._mentions:
            names = Counter(part.id for part in ast.walk(loop) if isinstance(part, ast.Name))
            leaves = any(isinstance(part, (ast.Return, ast.Yield, ast.YieldFrom)) for part in walk_body(loop.body))
            self._mentions[loop] = Counter() if leaves else names
        return self._mentions[loop][name] == 1

    def _starts_as_number(self, target: ast.Name, loop: Loop) -> bool:
        """Whether what a loop adds to is a number when the loop starts."""
        binding = self._semantics.bindings.of(target)
        inside = set(self._semantics.bindings.bound_in_loop(loop))
        outside = [other for other in binding.before if other not in inside] if binding is not None else []
        values = [other.value for other in outside if other.value is not None and not other.path]
        return bool(values) and len(values) == len(outside) and all(map(self._is_number, values))

    def _is_number(self, value: ast.expr) -> bool:
        return self._semantics.kind(value).type is Type.NUMBER

    def _is_empty_before(self, owner: ast.Name, loop: Loop) -> bool:
        """Whether a list is made, empty, in the very block that the loop stands in."""
        bindings = self._semantics.bindings.reaching(owner)
        if len(bindings) != 1 or not isinstance(bindings[0].value, ast.List) or bindings[0].value.elts:
            return False
        made = self._semantics.tree.statement(bindings[0].node)
        block = self._semantics.tree.block(loop)
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


def _shown(call: ast.Call, *, is_print: bool) -> Iterator[ast.expr]:
    """What a call turns into text: what ``print`` shows, itself or in a string, and what stands in an f-string.

    So does a progress bar, ``bar.set_postfix(loss=loss)`` or ``bar.set_postfix({"loss": loss})``, and a log reads numbers,
    ``writer.add_scalar("loss", loss)``.
    """
    for argument in call.args:
        if isinstance(argument, ast.JoinedStr):
            yield from (part.value for part in argument.values if isinstance(part, ast.FormattedValue))
        elif isinstance(argument, ast.Call) and isinstance(argument.func, ast.Attribute) and argument.func.attr == "format":
            yield from argument.args if is_print else ()
        elif is_print:
            yield argument
    match call.func:
        case ast.Attribute(attr="add_scalar"):
            yield from call.args[1:2]
            yield from (word.value for word in call.keywords if word.arg == "scalar_value")
        case ast.Attribute(attr="set_postfix"):
            yield from (word.value for word in call.keywords if word.arg not in (None, "ordered_dict", "refresh"))
            for shown in [*call.args[:1], *(word.value for word in call.keywords if word.arg == "ordered_dict")]:
                match shown:
                    case ast.Dict(values=values):
                        yield from values
                    case ast.Call(func=ast.Name("dict" | "OrderedDict"), args=[], keywords=words):
                        yield from (word.value for word in words)


def _source(node: ast.expr) -> ast.expr:
    """What a value is taken or computed of, on the device that this is on: of ``n.cpu().mean()[0]``, the ``n.cpu()``."""
    while not _is_cpu(node):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if method not in _MOVING:
                node = value
            case ast.Subscript(value=value) | ast.Attribute(value=value, attr="data" | "T"):
                node = value
            case _:
                break
    return node


def _is_cpu(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="cpu")) | ast.Call(func=ast.Attribute(attr="to"), args=[ast.Constant("cpu"), *_]):
            return True
    return False


def _always(test: ast.BoolOp) -> list[ast.expr]:
    """The operands that are asked in every step: those up to one that holds now and then only, ``i % 100 == 0``."""
    for place, value in enumerate(test.values):
        if any(map(_is_remainder, ast.walk(value))):
            return test.values[: place + 1]
    return test.values


def _is_remainder(node: ast.AST) -> bool:
    match node:
        case ast.BinOp(left=ast.Constant(value=str())):  # a text with its values
            return False
        case ast.BinOp(op=ast.Mod()):
            return True
    return False


def _tests(test: ast.expr) -> Iterator[ast.expr]:
    """The conditions that a test is made of."""
    match test:
        case ast.BoolOp():
            for value in _always(test):
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
