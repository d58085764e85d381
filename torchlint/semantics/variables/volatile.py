"""Values that are marked ``volatile``, as torch 0.3 turned autograd off, and where it has to be off for them now."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.fact import CERTAIN, Fact, known, unknown
from torchlint.semantics import Form, Semantics, Type
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.apis.variable_wrappers import VARIABLE, OwnWrappers
from torchlint.semantics.autograd.backpropagation import Backpropagated
from torchlint.semantics.certainty.own_tensors import OwnTensors
from torchlint.semantics.code.tree import FUNCTIONS, argument, given_to, is_false, last_name, walk_body
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless
from torchlint.semantics.observers.free_errors import FreeErrors
from torchlint.semantics.observers.unseen_warnings import UnseenWarnings
from torchlint.semantics.variables.computations import Computations
from torchlint.semantics.variables.unmet import UnmetValues
from torchlint.semantics.variables.unwrapped import Unwrapped

Node = TypeVar("Node")
Mark: TypeAlias = ast.keyword | ast.expr | ast.Assign

_BACKWARD = frozenset({"backward", "manual_backward", "step"})
_TRAINING_NAME = re.compile(r"(^|_)(train|fit|optimi[sz]e|update_params|backprop)(_|$)", re.IGNORECASE)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal)
_MAKING = frozenset(f"torch.{name}" for name in ("LongTensor", "FloatTensor", "tensor", "as_tensor", "from_numpy", "Tensor"))
"""What makes a tensor of numbers that are called something."""
_DEEP = 3


@dataclass(frozen=True, eq=False, slots=True)
class VolatileMark(Generic[Node]):
    """What ``volatile`` is set to, and the call of Variable that is told so; none where it is set as an attribute."""

    flag: Node
    call: Node | None


class Volatiles:
    """Finds what a file marks as volatile, and what it computes with that."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._backpropagated = semantics.of(Backpropagated)
        self._places: dict[ast.stmt, dict[ast.AST, int]] = {}
        self._unmet: dict[Mark, bool] = {}

    @cached_property
    def marks(self) -> dict[Mark, VolatileMark[ast.expr]]:
        """The arguments of Variable, or of a function that stands for it, and the assignments that set ``volatile``."""
        marks: dict[Mark, VolatileMark[ast.expr]] = {}
        for call in self._semantics.of(Spellings).calls({"Variable"}):
            if self._semantics.qualified_name(call.func) != VARIABLE:
                continue
            marks.update({word: VolatileMark(word.value, call) for word in call.keywords if word.arg == "volatile"})
            if len(call.args) == 3 and not any(isinstance(argument, ast.Starred) for argument in call.args):
                marks[call.args[2]] = VolatileMark(call.args[2], call)
        for call in self._semantics.of(OwnWrappers).taking_volatile:
            marks.update({word: VolatileMark(word.value, call) for word in call.keywords if word.arg == "volatile"})
        for node in self._semantics.tree.of_type(ast.Assign):
            match node:
                case ast.Assign(targets=[ast.Attribute(attr="volatile", value=owner)], value=flag) if self._may_be_tensor(
                    owner
                ):
                    marks[node] = VolatileMark(flag, None)
        return marks

    def _may_be_tensor(self, owner: ast.expr) -> bool:
        kind = self._semantics.kind(owner)
        return kind.is_tensor or (kind.type is Type.UNKNOWN and self._semantics.facts.self_class(owner) is None)

    @cached_property
    def _calls(self) -> dict[ast.stmt, list[ast.Call]]:
        """The statements with marks, and the calls in them that are told."""
        found: dict[ast.stmt, list[ast.Call]] = defaultdict(list)
        for mark, given in self.marks.items():
            calls = found[self._semantics.tree.statement(mark)]
            if isinstance(given.call, ast.Call):
                calls.append(given.call)
        return found

    @cached_property
    def _groups(self) -> dict[tuple[ast.stmt, str], list[Mark]]:
        found: dict[tuple[ast.stmt, str], list[Mark]] = defaultdict(list)
        for mark in sorted(self.marks, key=lambda each: (each.lineno, each.col_offset)):
            found[self._semantics.tree.statement(mark), ast.dump(self.marks[mark].flag)].append(mark)
        return found

    def beside(self, mark: Mark) -> list[Mark]:
        """The marks that one statement has of the same flag, ``mark`` among them, in the order of the text."""
        return self._groups.get((self._semantics.tree.statement(mark), ast.dump(self.marks[mark].flag)), [])

    def is_never_set(self, mark: Mark) -> bool:
        """Whether a mark passes on an argument of its function that all calls in the file leave at its false default."""
        flag = self.marks[mark].flag
        function = self._semantics.tree.function(mark)
        bindings = self._semantics.bindings.reaching(flag) if isinstance(flag, ast.Name) else ()
        if len(bindings) != 1 or not isinstance(function, FUNCTIONS) or not isinstance(bindings[0].node, ast.arg):
            return False
        [parameter] = bindings
        calls = self._semantics.facts.calls.get(function.name, ())
        assert isinstance(parameter.node, ast.arg)
        given = [self._semantics.facts.default(function, parameter.node)]
        given += [self._semantics.facts.argument(call, function, parameter.node) for call in calls]
        return bool(calls) and all(isinstance(each, ast.Constant) and not each.value for each in given)

    def meet_nothing(self, mark: Mark) -> bool:
        """Whether what a statement marks, as ``mark`` does, meets no parameter: it makes no graph, marked or not.

        What labels or a mask a function prepares for its callers meet, is no parameter itself.
        """
        if mark not in self._unmet:
            calls = [self.marks[each].call for each in self.beside(mark)]
            found = [call for call in calls if call is not None]
            unmet, are_labels = self._semantics.of(UnmetValues), bool(found) and all(map(self._wraps_label, found))
            is_unmet = unmet.are_unmet(found) or (are_labels and unmet.are_given_back(found))
            self._unmet[mark] = len(found) == len(calls) and is_unmet
        return self._unmet[mark]

    def _wraps_label(self, call: ast.expr) -> bool:
        """Whether a call of Variable is given what is called a label or a mask, or a part of it."""
        held: ast.expr | None = call.args[0] if isinstance(call, ast.Call) and call.args else None
        while isinstance(held, (ast.Subscript, ast.Call)):
            if isinstance(held, ast.Call) and held.args and self._semantics.qualified_name(held.func) in _MAKING:
                held = held.args[0]
                continue
            method = held.func if isinstance(held, ast.Call) else held
            held = method.value if isinstance(method, (ast.Attribute, ast.Subscript)) else None
        return isinstance(held, ast.Name) and self._semantics.of(LikelyGraphless).names_label(held)

    def is_marked_beside(self, call: ast.Call) -> bool:
        """Whether a call of Variable stands in an assignment beside another one that is marked."""
        statement = self._semantics.tree.statement(call)
        return isinstance(statement, ast.Assign) and bool(self._calls.get(statement))

    def is_ignored(self, mark: Mark) -> Fact:
        """Whether nobody notices that a mark goes: its flag does nothing else, and no attribute is read that it sets."""
        if isinstance(mark, ast.Assign):
            return self._is_harmless(mark.value, mark) & self._is_unread(mark) & self._semantics.of(UnseenWarnings).fact
        flag = self.marks[mark].flag
        warns = CERTAIN if is_false(flag) else self._semantics.of(UnseenWarnings).fact
        return self._is_harmless(flag, mark) & self._is_alone(self.marks[mark]) & warns

    def _is_alone(self, mark: VolatileMark[ast.expr]) -> Fact:
        """Whether nobody awaits what Variable raises where ``requires_grad`` is true as well (ran on torch 2.13)."""
        call = mark.call
        if not isinstance(call, ast.Call) or is_false(mark.flag) or self._semantics.qualified_name(call.func) != VARIABLE:
            return CERTAIN
        flag = argument(call, 1, "requires_grad")
        return CERTAIN if flag is None or is_false(flag) else self._semantics.of(FreeErrors).of(call)

    def _is_harmless(self, flag: ast.expr, mark: Mark) -> Fact:
        """Whether a flag does nothing but tell: it is a bool, or else nobody awaits the error that it is none."""
        parts = (ast.Constant, ast.Name, ast.UnaryOp, ast.BoolOp, ast.unaryop, ast.boolop, ast.expr_context)
        is_plain = all(isinstance(part, parts) for part in ast.walk(flag))
        tests = {"__bool__", "__len__"} & self._semantics.facts.method_names if not isinstance(flag, ast.Name) else ()
        if not is_plain or tests:
            return unknown(f"`{ast.unparse(flag)[:40]}` may do more than tell a flag")
        is_bool = isinstance(flag, (ast.Constant, ast.Name)) and self._semantics.of(Unwrapped).is_boolean(flag).is_certain
        return CERTAIN if is_bool or isinstance(mark, ast.Assign) else self._semantics.of(FreeErrors).of(mark)

    def _is_unread(self, mark: ast.Assign) -> Fact:
        """Whether an attribute ``volatile`` is that of a tensor, and read nowhere."""
        [target] = mark.targets
        assert isinstance(target, ast.Attribute)
        owner = target.value
        tensors = self._semantics.of(OwnTensors)
        if not (fact := tensors.is_plain(owner)).is_certain:
            return fact
        reads = [part for part in self._semantics.tree.of_type(ast.Attribute) if part.attr == "volatile"]
        texts = (part.value for part in self._semantics.tree.of_type(ast.Constant))
        is_read = any(isinstance(part.ctx, ast.Load) for part in reads) or "volatile" in texts
        return known(not is_read and tensors.is_kept(owner, apart_from=reads), "the attribute may be read elsewhere")

    # --- where autograd goes off -------------------------------------------------------------------------------------

    def computing(self, statement: ast.stmt) -> list[list[ast.stmt]]:
        """The neighbouring statements that compute with what a statement marks, and train nothing, as long as they can be."""
        function = self._semantics.tree.function(statement)
        body = function.body if isinstance(function, FUNCTIONS) else self._semantics.tree.module.body
        calls = self._calls.get(statement, [])
        computations = Computations(self._semantics, function)
        match statement:
            case ast.Assign(targets=[ast.Attribute(attr="volatile", value=ast.Name() as owner)]):
                computations.follow_behind(owner)
        for call in calls:
            computations.follow(call)
        needed = {part for part in computations.found if self._is_neutral([part])}
        source = next(filter(None, map(self._item_loop, calls)), None)
        return list(self._runs(body, needed, source))

    def _item_loop(self, call: ast.Call) -> ast.For | None:
        """The loop around ``call`` whose item its argument is made from."""
        for loop in self._semantics.tree.loops(call):
            if isinstance(loop, ast.For) and self._is_made_from(call, loop):
                return loop
        return None

    def _is_made_from(self, node: ast.expr, loop: ast.For, depth: int = _DEEP) -> bool:
        for name in ast.walk(node):
            for binding in self._semantics.bindings.reaching(name) if isinstance(name, ast.Name) else ():
                if binding.form is Form.LOOP and self._semantics.tree.statement(binding.node) is loop:
                    return True
                if depth and binding.form is Form.ASSIGNMENT and binding.value is not None:
                    if self._semantics.tree.inside(binding.node, loop) and self._is_made_from(binding.value, loop, depth - 1):
                        return True
        return False

    def _runs(self, block: list[ast.stmt], needed: set[ast.stmt], source: ast.For | None) -> Iterator[list[ast.stmt]]:
        """The neighbouring statements, within ``block`` or deeper, that hold ``needed`` and nothing that trains.

        The loop ``source``, from which the value is, goes in as a whole.
        """
        holders = {part for one in needed for part in (one, *self._semantics.tree.ancestors(one))}
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
        if block[0] not in self._places:
            self._places[block[0]] = {part: place for place, part in enumerate(block)}
        return self._places[block[0]]

    def _goes_in_whole(self, statement: ast.stmt, needed: set[ast.stmt], source: ast.For | None) -> bool:
        """Whether a statement is taken as it is: simple, the loop that the value is from, one that does nothing else."""
        whole = isinstance(statement, ast.For) and all(part in needed for part in statement.body)
        return (statement in needed or statement is source or whole) and self._is_neutral([statement])

    # --- what trains -------------------------------------------------------------------------------------------------

    def _is_neutral(self, statements: list[ast.stmt]) -> bool:
        """Whether nothing is trained there, nothing that will be back-propagated is computed, and nothing defined."""
        for part in walk_body(statements):
            if isinstance(part, _DEFINITIONS) or (isinstance(part, ast.Call) and self._trains(part)):
                return False
            if isinstance(part, (ast.Assign, ast.AugAssign)) and self._is_backpropagated(part):
                return False
        return True

    def _is_backpropagated(self, statement: ast.Assign | ast.AugAssign) -> bool:
        if statement in self._calls:
            return False
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        stored = [part for target in targets for part in ast.walk(target) if isinstance(part, (ast.Name, ast.Attribute))]
        return any(isinstance(part.ctx, ast.Store) and self._backpropagated.name(part) for part in stored)

    def _trains(self, call: ast.Call, depth: int = _DEEP) -> bool:
        """Whether a call back-propagates or updates parameters, itself or in a function of the file."""
        name = last_name(call.func)
        if name in _BACKWARD and isinstance(call.func, ast.Attribute):
            return True
        if self._semantics.qualified_name(call.func) in ("torch.autograd.grad", "torch.autograd.backward"):
            return True
        function = self._semantics.facts.called(call)
        if function is not None:
            calls = (part for part in walk_body(function.body) if isinstance(part, ast.Call))
            return depth > 0 and any(self._trains(part, depth - 1) for part in calls)
        return _TRAINING_NAME.search(name) is not None and not _switches_mode(call)


def _switches_mode(call: ast.Call) -> bool:
    """Whether a call is ``model.train()``, ``model.train(False)`` or ``set_train(…)``."""
    return all(isinstance(value, ast.Constant) for value in given_to(call))


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements that a statement holds: its branches, its body."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list) and block and not isinstance(statement, (*FUNCTIONS, ast.ClassDef)):
            yield block
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        yield part.body
