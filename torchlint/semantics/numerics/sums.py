"""What is summed in a loop: in a variable, an attribute, an entry of a dictionary, or in a list that is summed afterwards."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from torchlint.semantics import Binding, Form, Semantics
from torchlint.semantics.code.tree import dotted

_ADDING = frozenset({"builtins.sum", "numpy.sum", "math.fsum"})
"""Functions that add up a list."""
_READING = frozenset({"builtins.len", "builtins.max", "builtins.min", "builtins.list", "builtins.print", *_ADDING})
"""Functions that leave a list as it is; so do those of numpy."""


@dataclass(frozen=True, eq=False, slots=True)
class Addition:
    """A statement that adds a value to a sum, in a loop."""

    statement: ast.stmt
    value: ast.expr
    loop: ast.For
    is_whole: bool
    """Whether each round of the loop adds, and none ends it."""


@dataclass(frozen=True, eq=False, slots=True)
class _Stores:
    """Where something is set: what adds to it in a loop, what sets it to zero in each function, and the rest."""

    additions: list[Addition] = field(default_factory=list)
    resets: dict[ast.AST | None, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    others: list[ast.expr] = field(default_factory=list)

    def only_addition(self, total: ast.expr) -> Addition | None:
        """The one statement that adds, where all else sets to zero, or divides the sum itself."""
        if len(self.additions) != 1 or len(self.others) > 1 or (self.others and self.others[0] is not total):
            return None
        return self.additions[0]


class Sums:
    """Tells of sums in one file what adds to them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def additions(self, total: ast.expr) -> list[Addition]:
        """What adds to a sum, with the loop around it; empty where more than one statement does, or other ways lead to it."""
        match total:
            case ast.Name():
                return self._to_variable(total)
            case ast.Attribute(value=ast.Name()):
                return self._to_attribute(total)
            case ast.Subscript(value=ast.Name() as table, slice=ast.Constant(value=str() as key)):
                return self._to_entry(total, table, key)
            case ast.Call():
                return self._to_list(total)
        return []

    def summed(self, total: ast.expr) -> ast.Name | None:
        """The list that an expression is the sum of: ``losses`` of ``sum(losses)``."""
        match total:
            case ast.Call(func=function, args=[ast.Name() as kept], keywords=[]):
                return kept if self._semantics.qualified_name(function) in _ADDING else None
        return None

    # --- a variable ---------------------------------------------------------------------------------------------------

    def _to_variable(self, total: ast.Name) -> list[Addition]:
        found: list[Addition] = []
        own = self._semantics.bindings.of(total)
        pending = list(
            own.before if own is not None and own.form is Form.AUGMENTED else self._semantics.bindings.reaching(total)
        )
        seen = set(pending)
        while pending:
            binding = pending.pop()
            if (added := self._added(binding)) is not None:
                value, before = added
                addition = self._in_loop(self._tree.statement(binding.node), value)
                if addition is None or found:
                    return []
                found.append(addition)
                pending += [each for each in before if each not in seen]
                seen.update(before)
            elif not (binding.form is Form.ASSIGNMENT and is_zero(binding.value, binding.path)):
                return []
        return found

    def _added(self, binding: Binding) -> tuple[ast.expr, tuple[Binding, ...]] | None:
        """What is added to a variable where it is bound, and what it may have been before."""
        statement = self._tree.statement(binding.node)
        match statement:
            case ast.AugAssign(op=ast.Add(), value=value) if binding.form is Form.AUGMENTED:
                return value, binding.before
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(op=ast.Add(), left=left, right=right)):
                for old, value in ((left, right), (right, left)):
                    if isinstance(old, ast.Name) and old.id == name:
                        return value, self._semantics.bindings.reaching(old)
        return None

    def _in_loop(self, statement: ast.stmt, value: ast.expr) -> Addition | None:
        loop = next(self._tree.loops(statement), None)
        if not isinstance(loop, ast.For):
            return None
        block = self._tree.parent(statement)
        is_of_body = block is loop or (isinstance(block, ast.With) and self._tree.parent(block) is loop)
        return Addition(statement, value, loop, is_of_body and loop not in self._loops_left_early)

    @cached_property
    def _loops_left_early(self) -> frozenset[ast.AST]:
        """The loops that have a ``break`` or ``continue`` in them."""
        leaving = (*self._tree.of_type(ast.Break), *self._tree.of_type(ast.Continue))
        return frozenset(loop for each in leaving for loop in self._tree.loops(each))

    # --- an attribute, or an entry -------------------------------------------------------------------------------------

    @cached_property
    def _attributes(self) -> dict[str, _Stores]:
        """Where the attributes of each name are set."""
        found: dict[str, _Stores] = defaultdict(_Stores)
        for attribute in self._tree.of_type(ast.Attribute):
            if isinstance(attribute.ctx, (ast.Store, ast.Del)):
                self._add(found[attribute.attr], attribute)
        return found

    @cached_property
    def _entries(self) -> dict[tuple[ast.AST | None, str, str], _Stores]:
        """Where the entries of each table are set in each function, by their keys."""
        found: dict[tuple[ast.AST | None, str, str], _Stores] = defaultdict(_Stores)
        for entry in self._tree.of_type(ast.Subscript):
            match entry:
                case ast.Subscript(
                    value=ast.Name(id=table), slice=ast.Constant(value=str() as key), ctx=ast.Store() | ast.Del()
                ):
                    self._add(found[self._tree.function(entry), table, key], entry)
        return found

    @cached_property
    def _tables_with_other_keys(self) -> frozenset[tuple[ast.AST | None, str]]:
        """The tables of each function of which entries are set whose keys are not written out."""
        return frozenset(
            (self._tree.function(entry), entry.value.id)
            for entry in self._tree.of_type(ast.Subscript)
            if isinstance(entry.ctx, (ast.Store, ast.Del))
            and isinstance(entry.value, ast.Name)
            and not isinstance(entry.slice, ast.Constant)
        )

    @cached_property
    def _handed_on(self) -> dict[tuple[ast.AST | None, str], int]:
        """The first line of each function on which a name is read, but not for one of its entries."""
        found: dict[tuple[ast.AST | None, str], int] = {}
        for use in self._tree.of_type(ast.Name):
            if isinstance(use.ctx, ast.Load) and not isinstance(self._tree.parent(use), ast.Subscript):
                place = self._tree.function(use), use.id
                found[place] = min(use.lineno, found.get(place, use.lineno))
        return found

    def _add(self, stores: _Stores, place: ast.Attribute | ast.Subscript) -> None:
        """Puts a place where something is set to its like: an addition, zero, or something else."""
        match self._tree.statement(place):
            case ast.AugAssign(target=target, op=ast.Add(), value=value) as statement if target is place:
                addition = self._in_loop(statement, value)
                if addition is None:
                    stores.others.append(place)
                else:
                    stores.additions.append(addition)
            case ast.Assign() as statement if _is_set_to_zero(statement, place):
                stores.resets[self._tree.function(place)].append(place)
            case _:
                stores.others.append(place)

    def _to_attribute(self, total: ast.Attribute) -> list[Addition]:
        """What adds to an attribute that the file sets to nothing but zero, in this function as well."""
        stores = self._attributes[total.attr]
        addition = stores.only_addition(total)
        if addition is None or not self._is_reset(stores, addition, total):
            return []
        match addition.statement:
            case ast.AugAssign(target=target) if dotted(target) == dotted(total):
                return [addition]
        return []

    def _to_entry(self, total: ast.Subscript, table: ast.Name, key: str) -> list[Addition]:
        """What adds to the entry of a dictionary that is made in this function, and that nothing else is given."""
        place = self._tree.function(total), table.id
        if place in self._tables_with_other_keys:
            return []
        stores = self._entries[*place, key]
        addition = stores.only_addition(total)
        bindings = self._semantics.bindings.reaching(table)
        if addition is None or len(bindings) != 1 or not self._is_handed_on_later(table, addition, total):
            return []
        made, loops = bindings[0], list(self._tree.loops(addition.loop))
        if made.form is not Form.ASSIGNMENT or made.path or not isinstance(made.value, (ast.Dict, ast.Call)):
            return []
        if self._is_reset(stores, addition, total):
            return [addition]
        begins = _begins_with_zero(made.value, key) or self._semantics.qualified_name(
            made.value.func if isinstance(made.value, ast.Call) else made.value
        ) in {"collections.defaultdict", "collections.Counter"}
        return [addition] if begins and list(self._tree.loops(made.node)) == loops else []

    def _is_reset(self, stores: _Stores, addition: Addition, total: ast.expr) -> bool:
        """Whether the sum begins at zero before the loop, each time that the loop is gone through."""
        loops = list(self._tree.loops(addition.loop))
        return any(
            reset.lineno < addition.loop.lineno and list(self._tree.loops(reset)) == loops
            for reset in stores.resets[self._tree.function(total)]
        )

    def _is_handed_on_later(self, table: ast.Name, addition: Addition, total: ast.expr) -> bool:
        """Whether a dictionary is asked for entries only until the sum is there."""
        first = self._handed_on.get((self._tree.function(total), table.id))
        return first is None or first > max(total.lineno, addition.loop.end_lineno or 0)

    # --- a list ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _lists(self) -> dict[Binding, list[ast.Name]]:
        """The uses of what has the name of a list that is summed, by what binds it."""
        found: dict[Binding, list[ast.Name]] = defaultdict(list)
        for name in self._tree.of_type(ast.Name):
            for binding in self._semantics.bindings.reaching(name) if name.id in self._named_lists else ():
                found[binding].append(name)
        return found

    @cached_property
    def _named_lists(self) -> frozenset[str]:
        """The names of what is summed by a function in one call."""
        return frozenset(kept.id for call in self._tree.of_type(ast.Call) if (kept := self.summed(call)) is not None)

    def _to_list(self, total: ast.Call) -> list[Addition]:
        """What is appended to a list that was empty before the loop, and that is read only besides."""
        kept = self.summed(total)
        bindings = self._semantics.bindings.reaching(kept) if kept is not None else ()
        if kept is None or len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return []
        made = bindings[0]
        if not isinstance(made.value, ast.List) or made.value.elts or made not in self._appended_once:
            return []
        addition, first = self._appended_once[made]
        same_loops = list(self._tree.loops(made.node)) == list(self._tree.loops(addition.loop))
        return [addition] if same_loops and (first is None or first > total.lineno) else []

    @cached_property
    def _appended_once(self) -> dict[Binding, tuple[Addition, int | None]]:
        """What one statement appends to a list, in a loop, and the first line on which the list is not only read."""
        found: dict[Binding, tuple[Addition, int | None]] = {}
        for binding, uses in self._lists.items():
            appended = [(use, value) for use in uses if (value := self._appended(use)) is not None]
            if len(appended) != 1:
                continue
            use, value = appended[0]
            addition = self._in_loop(self._tree.statement(use), value)
            if addition is not None:
                others = (each.lineno for each in uses if each is not use and not self._is_read(each))
                found[binding] = addition, min(others, default=None)
        return found

    def _appended(self, kept: ast.Name) -> ast.expr | None:
        match self._tree.parent(kept):
            case ast.Attribute(attr="append") as method:
                match self._tree.parent(method):
                    case ast.Call(args=[value], keywords=[]) as call if isinstance(self._tree.parent(call), ast.Expr):
                        return value
        return None

    def _is_read(self, kept: ast.Name) -> bool:
        match self._tree.parent(kept):
            case ast.Subscript(ctx=ast.Load()):
                return True
            case ast.Call(func=function):
                name = self._semantics.qualified_name(function) or ""
                return name in _READING or name.startswith("numpy.")
        return False


def is_zero(value: ast.expr | None, path: tuple[int | None, ...]) -> bool:
    """Whether a value, or the part of it that a path leads to, is the number zero."""
    for index in path:
        if not isinstance(value, ast.Tuple) or index is None or index >= len(value.elts):
            return False
        value = value.elts[index]
    return isinstance(value, ast.Constant) and value.value == 0


def _begins_with_zero(made: ast.expr, key: str) -> bool:
    """Whether a dictionary is made with zero under a key: ``{"loss": 0.0}``, ``dict(loss=0)``."""
    return any(is_zero(value, ()) for value in _entries(made, key))


def _entries(made: ast.expr, key: str) -> Iterator[ast.expr]:
    match made:
        case ast.Dict(keys=keys, values=values):
            yield from (value for each, value in zip(keys, values) if isinstance(each, ast.Constant) and each.value == key)
        case ast.Call(func=ast.Name(id="dict"), keywords=words):
            yield from (word.value for word in words if word.arg == key)


def _is_set_to_zero(statement: ast.Assign, place: ast.expr) -> bool:
    for target in statement.targets:
        if target is place:
            return is_zero(statement.value, ())
        if isinstance(target, ast.Tuple) and any(each is place for each in target.elts):
            return is_zero(statement.value, (next(at for at, each in enumerate(target.elts) if each is place),))
    return False
