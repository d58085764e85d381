"""What is summed in a loop: in a variable, an attribute, an entry of a dictionary, or in a list that is summed afterwards."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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

    @property
    def is_whole(self) -> bool:
        """Whether each round of the loop adds, and none ends it."""
        body, statement = self.loop.body, self.statement
        if statement not in body and not any(isinstance(part, ast.With) and statement in part.body for part in body):
            return False
        return not any(isinstance(part, (ast.Break, ast.Continue)) for each in body for part in ast.walk(each))


class Sums:
    """Tells of sums in one file what adds to them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def additions(self, total: ast.expr) -> list[Addition]:
        """What adds to a sum, each with the loop around it; empty where the sum gets its value in other ways, too."""
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
                if addition is None:
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
        return Addition(statement, value, loop) if isinstance(loop, ast.For) else None

    # --- an attribute, or an entry -------------------------------------------------------------------------------------

    @cached_property
    def _attributes(self) -> dict[str, list[ast.Attribute]]:
        """Where the attributes of each name are set."""
        found: dict[str, list[ast.Attribute]] = defaultdict(list)
        for attribute in self._tree.of_type(ast.Attribute):
            if isinstance(attribute.ctx, (ast.Store, ast.Del)):
                found[attribute.attr].append(attribute)
        return found

    @cached_property
    def _entries(self) -> dict[tuple[ast.AST | None, str], list[ast.Subscript]]:
        """Where the entries of each table are set in each function."""
        found: dict[tuple[ast.AST | None, str], list[ast.Subscript]] = defaultdict(list)
        for entry in self._tree.of_type(ast.Subscript):
            if isinstance(entry.ctx, (ast.Store, ast.Del)) and isinstance(entry.value, ast.Name):
                found[self._tree.function(entry), entry.value.id].append(entry)
        return found

    @cached_property
    def _uses(self) -> dict[tuple[ast.AST | None, str], list[ast.Name]]:
        """The uses of each name in each function."""
        found: dict[tuple[ast.AST | None, str], list[ast.Name]] = defaultdict(list)
        for name in self._tree.of_type(ast.Name):
            found[self._tree.function(name), name.id].append(name)
        return found

    def _to_attribute(self, total: ast.Attribute) -> list[Addition]:
        """What adds to an attribute that the file sets to nothing but zero, in this function as well."""
        owner = dotted(total)
        places = self._attributes[total.attr]
        addition = self._only(total, places)
        if addition is None or not self._is_reset(places, addition, total):
            return []
        alike = all(dotted(each) == owner for each in places if self._tree.inside(each, addition.statement))
        return [addition] if alike else []

    def _to_entry(self, total: ast.Subscript, table: ast.Name, key: str) -> list[Addition]:
        """What adds to the entry of a dictionary that is made in this function, and that nothing else is given."""
        places: list[ast.Subscript] = []
        for each in self._entries[self._tree.function(total), table.id]:
            if not isinstance(each.slice, ast.Constant):
                return []
            if each.slice.value == key:
                places.append(each)
        addition = self._only(total, places)
        bindings = self._semantics.bindings.reaching(table)
        if addition is None or len(bindings) != 1 or not self._is_handed_on_later(table, addition, total):
            return []
        made, loops = bindings[0], list(self._tree.loops(addition.loop))
        if made.form is not Form.ASSIGNMENT or made.path or not isinstance(made.value, (ast.Dict, ast.Call)):
            return []
        if self._is_reset(places, addition, total):
            return [addition]
        begins = _begins_with_zero(made.value, key) or self._semantics.qualified_name(
            made.value.func if isinstance(made.value, ast.Call) else made.value
        ) in {"collections.defaultdict", "collections.Counter"}
        return [addition] if begins and list(self._tree.loops(made.node)) == loops else []

    def _only(self, total: ast.expr, places: Sequence[ast.Attribute | ast.Subscript]) -> Addition | None:
        """The one statement that adds, where the others set to zero, or divide what was summed."""
        found: list[Addition] = []
        for place in places:
            match self._tree.statement(place):
                case ast.AugAssign(target=target, op=ast.Add(), value=value) as statement if target is place:
                    addition = self._in_loop(statement, value)
                    if addition is None:
                        return None
                    found.append(addition)
                case ast.AugAssign(target=target) if target is total and target is place:
                    pass
                case ast.Assign() as statement if _is_set_to_zero(statement, place):
                    pass
                case _:
                    return None
        return found[0] if len(found) == 1 else None

    def _is_reset(
        self, places: Sequence[ast.Attribute | ast.Subscript], addition: Addition, total: ast.Attribute | ast.Subscript
    ) -> bool:
        """Whether the sum begins at zero before the loop, each time that the loop is gone through."""
        loops = list(self._tree.loops(addition.loop))
        resets = [each for each in places if isinstance(self._tree.statement(each), ast.Assign)]
        return any(
            self._tree.function(each) is self._tree.function(total)
            and each.lineno < addition.loop.lineno
            and list(self._tree.loops(each)) == loops
            for each in resets
        )

    def _is_handed_on_later(self, table: ast.Name, addition: Addition, total: ast.expr) -> bool:
        """Whether a dictionary is asked for entries only until the sum is there."""
        return all(
            isinstance(self._tree.parent(use), ast.Subscript)
            or (use.lineno > total.lineno and not self._tree.inside(use, addition.loop))
            for use in self._uses[self._tree.function(total), table.id]
            if isinstance(use.ctx, ast.Load)
        )

    # --- a list ---------------------------------------------------------------------------------------------------------

    def _to_list(self, total: ast.Call) -> list[Addition]:
        """What is appended to a list that was empty before the loop, and that is read only besides."""
        kept = self.summed(total)
        bindings = self._semantics.bindings.reaching(kept) if kept is not None else ()
        if kept is None or len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path:
            return []
        if not isinstance(bindings[0].value, ast.List) or bindings[0].value.elts:
            return []
        found: list[Addition] = []
        for use in self._uses[self._tree.function(total), kept.id]:
            if bindings[0] not in self._semantics.bindings.reaching(use):
                continue
            appended = self._appended(use)
            if appended is not None:
                addition = self._in_loop(self._tree.statement(use), appended)
                if addition is None:
                    return []
                found.append(addition)
            elif not self._is_read(use) and use.lineno <= total.lineno:
                return []
        once = len(found) == 1 and list(self._tree.loops(bindings[0].node)) == list(self._tree.loops(found[0].loop))
        return found if once else []

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
