"""Generators of parameters that are used up before something else is given them: it is given nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.fact import Fact, all_of, known
from torchlint.semantics import Binding, Form, Semantics, torch_api
from torchlint.semantics.code.definitions import Slot
from torchlint.semantics.code.tree import FUNCTIONS, Loop, last_name, position
from torchlint.semantics.parameters.generators import Generators

Node = TypeVar("Node")
_Taken: TypeAlias = tuple[ast.expr, ast.AST]
"""A use of a generator, and what takes all of it there."""


@dataclass(frozen=True, eq=False, slots=True)
class Exhausted(Generic[Node]):
    """A use of a generator whose items ``by`` has taken: ``taker`` gets none. It is made at ``made``, one place or several.

    ``by`` is ``taker`` where that is in a loop and gets none from the second round on. ``may_be_list`` is whether a list in
    the place of the generator does the same but for that.
    """

    made: tuple[Node, ...]
    by: Node
    taker: Node
    may_be_list: Fact


class ExhaustedParameters:
    """Finds generators of parameters in one file that are used twice."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._flow = semantics.control_flow
        self._generators = semantics.of(Generators)
        self._names: dict[Loop, frozenset[str]] = {}

    @cached_property
    def found(self) -> dict[ast.expr, Exhausted[ast.AST]]:
        """The first use of each generator that gives nothing any more, a name or an attribute of ``self``."""
        found: dict[ast.expr, Exhausted[ast.AST]] = {}
        for made in self._generators.made():
            kept = self._generators.kept_in(made)
            uses: list[ast.expr]
            if isinstance(kept, Binding):
                uses, pair = [*kept.uses], self._second_of_name(kept)
            elif kept is not None:
                uses, pair = self._second_of_attribute(kept)
            else:
                continue
            if pair is None:
                continue
            first, second = pair
            if second[0] in found:
                before = found[second[0]]
                found[second[0]] = replace(before, made=(*before.made, made))
            else:
                found[second[0]] = Exhausted((made,), first[1], second[1], self._may_be_list(made, kept, uses, first))
        return found

    def _taken(self, uses: Sequence[ast.expr]) -> Iterator[_Taken]:
        for use in uses:
            taker = self._generators.taker(use)
            if taker is not None:
                yield use, taker

    def _handed(self, uses: Sequence[ast.expr]) -> Iterator[_Taken]:
        """The uses that hand a generator to a function that may take all of it: too late, where nothing is left."""
        for use in uses:
            call = self._generators.handed_to(use)
            if call is not None:
                yield use, call

    # --- a name ------------------------------------------------------------------------------------------------------

    def _second_of_name(self, kept: Binding) -> tuple[_Taken, _Taken] | None:
        """The two uses of a name of which the first leaves nothing for the second."""
        taken = sorted(self._taken(kept.uses), key=lambda each: position(each[0]))[:_MOST]
        if not taken or not self._is_settled(kept):
            return None
        start = kept.scope.node if kept.form is Form.PARAMETER else kept.node
        obstacles = self._stores(kept)
        handed = sorted(self._handed(kept.uses), key=lambda each: position(each[0]))[:_MOST]
        for second in [*taken, *handed]:
            for first in taken:
                if first is second:
                    break
                if self._leaves_nothing(start, first, second, obstacles):
                    return first, second
        return next(((each, each) for each in taken if self._is_repeated(start, each, obstacles)), None)

    def _is_settled(self, kept: Binding) -> bool:
        """Whether the name has few other bindings, all made by the code around it."""
        is_few = len(kept.scope.bindings.get(kept.name, ())) < _MOST
        return is_few and not isinstance(kept.scope.node, ast.ClassDef) and not kept.scope.foreign.get(kept.name)

    @staticmethod
    def _stores(kept: Binding) -> list[ast.AST]:
        return [binding.node for binding in kept.scope.bindings.get(kept.name, ()) if binding.form is not Form.PARAMETER]

    def _leaves_nothing(self, start: ast.AST, first: _Taken, second: _Taken, obstacles: list[ast.AST]) -> bool:
        """Whether the second use may follow the first, and not under a condition that rules the first out, nor beside it."""
        if first[1] is second[1] and self._generators.is_zipped(first[0], second[0]):
            return False
        if not self._flow.may_follow(first[0], second[0], obstacles):
            return False
        if self._generators.is_optimizer(second[1]) and self._generators.is_optimizer(first[1]):
            return not self._conditions(first[0], start) and not self._conditions(second[0], start)
        return not (
            self._conditions(first[0], start) and self._conditions(second[0], start) - self._conditions(first[0], start)
        )

    def _is_repeated(self, start: ast.AST, each: _Taken, obstacles: list[ast.AST]) -> bool:
        """Whether a use is in a loop, in which the generator is not made anew."""
        if self._generators.is_optimizer(each[1]) or next(self._tree.loops(each[0]), None) is None:
            return False
        return not self._conditions(each[0], start, once=True) and self._flow.may_follow(each[0], each[0], obstacles)

    def _conditions(self, node: ast.AST, start: ast.AST, *, once: bool = False) -> frozenset[ast.AST]:
        """The ``if``, ``try`` and ``match`` that a node stands in and ``start`` does not; ``once``: within a loop alone."""
        around = set(self._tree.ancestors(start))
        found = set[ast.AST]()
        for frame, child in self._tree.frames(node):
            if frame in around or frame is start or isinstance(frame, FUNCTIONS):
                break
            if once and isinstance(frame, (ast.For, ast.While, ast.AsyncFor)):
                break
            is_test = isinstance(frame, (ast.If, ast.IfExp)) and child is frame.test
            if isinstance(frame, (ast.If, ast.IfExp, ast.Try, ast.Match)) and not is_test:
                if not once or self._asks_for_round(frame):
                    found.add(frame)
        return frozenset(found)

    def _asks_for_round(self, condition: ast.AST) -> bool:
        """Whether a condition may hold in one round only: it asks for what the loop binds, or negates something."""
        test = condition.test if isinstance(condition, (ast.If, ast.IfExp)) else condition
        loop = next(self._tree.loops(condition), None)
        asked = {name.id for name in ast.walk(test) if isinstance(name, ast.Name)}
        return isinstance(test, ast.UnaryOp) or (loop is not None and not asked.isdisjoint(self._bound_in(loop)))

    def _bound_in(self, loop: Loop) -> frozenset[str]:
        """The names that a loop binds, its target among them."""
        if loop not in self._names:
            self._names[loop] = frozenset(binding.name for binding in self._semantics.bindings.bound_in_loop(loop))
        return self._names[loop]

    # --- an attribute ------------------------------------------------------------------------------------------------

    def _second_of_attribute(self, kept: ast.Attribute) -> tuple[list[ast.expr], tuple[_Taken, _Taken] | None]:
        """The uses of ``self.x`` in all methods, and those two of which the first leaves nothing for the second.

        The first stands behind the assignment, in the same method, and in no condition; the second may be in another one.
        """
        owner = self._semantics.facts.self_class(kept.value)
        assert owner is not None
        slots = self._semantics.facts.slots(owner, kept.attr)
        if (clipped := self._clipped(slots)) is not None:
            return [clipped[0]], (clipped, clipped)
        stores = [store for slot in slots for store in slot.stores if not self._is_placeholder(store)]
        if len(stores) != 1 or any(slot.class_values for slot in slots):
            return [], None
        uses: list[ast.expr] = [use for slot in slots for use in slot.uses]
        taken = sorted(self._taken(uses), key=lambda each: position(each[0]))[:_MOST]
        here = [each for each in taken if self._flow.may_follow(kept, each[0])]
        firsts = [each for each in here if not self._conditions(each[0], kept)]
        if not firsts:
            return uses, None
        handed = sorted(self._handed(uses), key=lambda each: position(each[0]))[:_MOST]
        here += [each for each in handed if self._flow.may_follow(kept, each[0])]
        for second in [*(each for each in taken if each is not firsts[0]), *handed]:
            if second in here:
                if self._leaves_nothing(kept, firsts[0], second, [kept]):
                    return uses, (firsts[0], second)
            elif not self._generators.is_optimizer(second[1]):
                return uses, (firsts[0], second)
        return uses, None

    def _is_placeholder(self, store: ast.AST) -> bool:
        """Whether an attribute is given a constant, which stands there until it has something to hold."""
        statement = self._tree.parent(store)
        return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)

    def _clipped(self, slots: Sequence[Slot]) -> _Taken | None:
        """The use of an attribute that clips gradients, in each step, while other methods make what it clips."""
        stores = [store for slot in slots for store in slot.stores]
        for use, taker in self._taken([use for slot in slots for use in slot.uses]):
            clips = isinstance(taker, ast.Call) and last_name(taker.func).startswith("clip_grad")
            if clips and not any(self._tree.function(store) is self._tree.function(use) for store in stores):
                return use, taker
        return None

    # --- the fix -----------------------------------------------------------------------------------------------------

    def _may_be_list(self, made: ast.expr, kept: Binding | ast.Attribute, uses: Sequence[ast.expr], first: _Taken) -> Fact:
        """Whether a list of what a generator gives may take its place: it is used up at once, and for nothing else."""
        shown = kept.name if isinstance(kept, Binding) else ast.unparse(kept)
        is_local = isinstance(kept, Binding) and kept.form is not Form.PARAMETER and isinstance(kept.scope.node, FUNCTIONS)
        all_taken = all(self._generators.taker(use) is not None for use in uses)
        return all_of(
            known(is_local, f"`{shown}` may be used as a generator elsewhere"),
            known(all_taken, f"`{shown}` is used otherwise, too, and may have to be a generator there"),
            known(self._is_taken_at_once(made, first[0]), f"what `{shown}` gives may change before it is taken"),
            known(self._is_taken_unchanged(made, first[1]), f"what `{shown}` gives may change while it is gone through"),
            known(not self._is_zipped(uses, first[0]), f"`{shown}` may be gone through in pairs, or in part"),
            known(
                not self._semantics.bindings.lookup("list", self._semantics.bindings.scope_of(made)), "`list` is another one"
            ),
        )

    def _is_taken_at_once(self, made: ast.expr, first: ast.expr) -> bool:
        """Whether nothing runs between the making of a generator and its first use but what changes no parameter."""
        start, end = self._tree.statement(made), self._tree.statement(first)
        block = self._tree.block(start)
        if end not in block or block.index(end) < block.index(start):
            return False
        between = block[block.index(start) + 1 : block.index(end)]
        return not any(
            isinstance(part, (ast.Call, ast.Attribute, ast.Subscript, ast.Await)) for each in between for part in ast.walk(each)
        )

    def _is_taken_unchanged(self, made: ast.expr, taker: ast.AST) -> bool:
        """Whether a generator asks nothing of its items, or what it is gone through for changes nothing that it may ask."""
        if not self._generators.asks_of_each(made):
            return True
        region = taker.body if isinstance(taker, ast.For) else [taker]
        return all(part is taker or self._changes_nothing(part) for each in region for part in ast.walk(each))

    def _changes_nothing(self, part: ast.AST) -> bool:
        """Whether a part of code changes no parameter, nor anything that belongs to an object."""
        match part:
            case ast.Attribute(ctx=context) | ast.Subscript(ctx=context):
                return isinstance(context, ast.Load)
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("builtins."):
                    return name in _PLAIN
                if name.startswith("torch."):
                    return name in torch_api.FUNCTIONS and not name.endswith("_")
                is_own = isinstance(function, ast.Attribute) and function.attr in self._semantics.facts.method_names
                return not is_own and isinstance(function, ast.Attribute) and function.attr in _READING
        return not isinstance(part, (ast.Await, ast.Yield, ast.YieldFrom))

    def _is_zipped(self, uses: Sequence[ast.expr], first: ast.expr) -> bool:
        """Whether the first use may end early, with what is beside it, or a later one takes pairs."""
        beside = [use for use in uses if self._generators.is_zipped(use)]
        return first in beside or any(
            self._generators.is_zipped(one, other) for one in beside for other in beside if one is not other
        )


_PLAIN = frozenset(
    f"builtins.{name}"
    for name in (
        *("print", "len", "sum", "list", "tuple", "set", "dict", "min", "max", "int", "float", "str", "zip", "enumerate"),
        *("range", "round", "abs", "repr", "format", "any", "all", "sorted", "isinstance"),
    )
)
"""Functions that change nothing of what they are given."""
_READING = torch_api.TENSOR_METHODS.keys() - torch_api.INPLACE_METHODS - {"requires_grad_", "backward"} | {"append", "format"}
"""Methods that change no tensor."""
_MOST = 24
"""How many uses of a generator are looked at."""
