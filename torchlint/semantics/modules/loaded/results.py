"""What `load_state_dict` gives, taken for what it loads into: ``net = net.load_state_dict(state)``, then ``net.eval()``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Semantics, Type
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted, is_none, last_name, position
from torchlint.semantics.modules.loaded.owners import LoadedOwners, Owner
from torchlint.semantics.torch_api import MODULE_ATTRIBUTES

Node = TypeVar("Node")

_OF_KEYS = frozenset({"missing_keys", "unexpected_keys", "count", "index"})
"""What the result for a module has beside names with an underscore, which all tuples by name have."""
_ASKING = frozenset({"isinstance", "hasattr", "getattr", "len", "callable", "type", "all", "any", "list", "tuple"})
"""Functions that look at what the result is."""
_SHOWING = frozenset({"print", "str", "repr", "format", "info", "debug", "warning", "log", "write", "error", "pprint", "id"})
_FOR_KEYS = re.compile(
    r"msg|mess|info|miss|unexp|key|incomp|res|stat|ret\Z|ret_|\Ar\Z|load|log|out|match|report|err|ok|succ|_\Z|warn|diff|none"
)
"""What names have in them that are given to the result on purpose."""
_LOADING = "load_state_dict"
_OF_OPTIMIZERS = frozenset({"step", "param_groups", "add_param_group", "get_last_lr"})
"""What optimizers and schedulers have, and modules do not."""
_OF_MODULES_AND_OPTIMIZERS = (MODULE_ATTRIBUTES | _OF_OPTIMIZERS) - {_LOADING}
_DEEP = 3
"""Through how many functions a result is followed that is returned."""


class Mend(Enum):
    """What mends code that takes a result for what it is loaded into."""

    DROPPED = "the assignment goes away"
    BEFORE = "the state is loaded in a statement before"
    BEHIND = "the state is loaded in a statement behind"
    BY_HAND = "more has to change"


@dataclass(frozen=True, eq=False, slots=True)
class LoadResult(Generic[Node]):
    """The result of loading into ``receiver``, a value of this ``role``, that is taken for that.

    ``use`` is the attribute, call or ``return`` that takes it for that; ``target`` is the name or attribute that it is given,
    and ``None`` where it is given none. It ``fails`` if the use raises, and does not only hand the result on.
    """

    role: Type
    receiver: Node
    use: Node
    target: Node | None
    fails: bool
    mend: Mend


class LoadResults:
    """Looks at the calls of `load_state_dict` in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._owners = semantics.of(LoadedOwners)

    @cached_property
    def found(self) -> dict[ast.Call, LoadResult[ast.AST]]:
        """The calls whose result is taken for a model, an optimizer or a scheduler."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.Call, LoadResult[ast.AST]]]:
        for call in self._facts.calls.get(_LOADING, ()):
            if not isinstance(call.func, ast.Attribute) or not self._owners.has_torchs_loading:
                continue
            owner = self._owners.of(call.func.value)
            if owner is None or is_awaited(self._tree, call):
                continue
            target = self._target(call)
            if target is not None:
                use = self._misused_as(target, call.func.value, owner)
            else:
                use = self._misuse(call, owner.role) if owner.is_sure else self._plain_misuse(call, call.func.value)
            if use is not None and not is_awaited(self._tree, use):
                fails = isinstance(use, ast.Attribute) or (isinstance(use, ast.Call) and _is_called(use, target))
                role = Type.OPTIMIZER if not owner.is_sure and self._is_stepped(use, target) else owner.role
                yield call, LoadResult(role, call.func.value, use, target, fails, self._mend(call, call.func.value, target))

    def _target(self, call: ast.Call) -> ast.Name | ast.Attribute | None:
        """The name or attribute that a result is assigned to, alone."""
        match self._tree.parent(call):
            case ast.Assign(targets=[ast.Name() | ast.Attribute() as target]):
                return target
            case ast.AnnAssign(target=ast.Name() | ast.Attribute() as target):
                return target
        return None

    def _mend(self, call: ast.Call, receiver: ast.expr, target: ast.expr | None) -> Mend:
        statement, spelled = self._tree.statement(call), dotted(receiver)
        if target is not None:
            if spelled is not None:
                return Mend.DROPPED if spelled == dotted(target) else Mend.BEFORE
            names = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
            is_apart = not any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(target))
            return Mend.BEHIND if is_apart or isinstance(target, ast.Attribute) else Mend.BY_HAND
        first = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
        while isinstance(first, (ast.Call, ast.Attribute)) and first is not call:
            first = first.func if isinstance(first, ast.Call) else first.value
        is_used_here = not isinstance(self._tree.parent(call), ast.stmt)
        return Mend.BEFORE if first is call and is_used_here and spelled is not None else Mend.BY_HAND

    # --- without a name ----------------------------------------------------------------------------------------------

    def _misuse(self, value: ast.expr, role: Type, depth: int = 0) -> ast.AST | None:
        """Where a result that is given no name is used as a model, or an optimizer; ``None`` if it is not."""
        if self._takes(value, role):
            return self._tree.parent(value)
        function = self._tree.function(value)
        if not isinstance(self._tree.parent(value), ast.Return) or not isinstance(function, FUNCTIONS) or depth >= _DEEP:
            return None
        if not self._gives_alone(function):
            return None
        for site in self._facts.call_sites(function):
            match self._tree.parent(site):
                case ast.Assign(targets=[ast.Name() as target]):
                    found = self._first(self._uses(target), role, same=False)
                case _:
                    found = self._misuse(site, role, depth + 1)
            if found is not None:
                return found
        return None

    def _plain_misuse(self, call: ast.Call, receiver: ast.expr) -> ast.AST | None:
        """Where the result of loading into an unknown name or attribute is asked for what modules or optimizers have."""
        return self._tree.parent(call) if dotted(receiver) is not None and self._is_plainly_of_torch(call) else None

    def _gives_alone(self, function: Function) -> bool:
        """Whether a plain function has one ``return``."""
        is_plain = isinstance(function, ast.FunctionDef) and not function.decorator_list and function.name != _LOADING
        return is_plain and len(self._facts.returned(function)) == 1

    def _takes(self, value: ast.expr, role: Type) -> bool:
        """Whether a value is called or asked for an attribute, as the result cannot be."""
        match self._tree.parent(value):
            case ast.Call(func=function):
                return function is value
            case ast.Attribute(attr=name):
                return not name.startswith("_") and (role is not Type.MODULE or name not in _OF_KEYS)
        return False

    # --- by a name ---------------------------------------------------------------------------------------------------

    def _misused_as(self, target: ast.Name | ast.Attribute, receiver: ast.expr, owner: Owner) -> ast.AST | None:
        """Where what is assigned to ``target`` is used as if it were what the state is loaded into; ``None`` if it is not."""
        is_same = dotted(receiver) is not None and dotted(receiver) == dotted(target)
        if isinstance(target, ast.Attribute):
            return self._misused_attribute(target, receiver, owner)
        if not owner.is_sure and not is_same:
            return None
        uses = self._uses(target)
        if not owner.is_sure:
            known = (use for use in uses if self._is_plainly_of_torch(use)) if self._are_free(uses, owner.role) else ()
            return next((self._tree.parent(use) for use in known), None)
        if is_same:
            return self._first(uses, owner.role, same=True)
        sole = [use for use in uses if self._semantics.bindings.reaching(use) == (self._semantics.bindings.of(target),)]
        is_lost = isinstance(receiver, ast.Call) and _FOR_KEYS.search(target.id.lower()) is None
        return self._first(sole, owner.role, same=is_lost)

    def _misused_attribute(self, target: ast.Attribute, receiver: ast.expr, loaded: Owner) -> ast.AST | None:
        """Where an attribute of an object that is given a result is used as what it was, or should have been."""
        owner, is_alike = self._facts.self_class(target.value), last_name(receiver) == target.attr
        if owner is None or not (is_alike or (loaded.is_sure and self._has_one_value(target, owner))):
            return None
        uses = [use for use in self._attribute_uses(target) if use is not receiver and self._may_follow(use, target)]
        if loaded.is_sure:
            return self._first(uses, loaded.role, same=False)
        known = (use for use in uses if self._is_plainly_of_torch(use)) if self._are_free(uses, loaded.role) else ()
        return next((self._tree.parent(use) for use in known), None)

    def _attribute_uses(self, target: ast.Attribute) -> list[ast.Attribute]:
        """Where the class around reads an attribute of its instances."""
        owner = self._facts.self_class(target.value)
        return [use for slot in self._facts.slots(owner, target.attr) for use in slot.uses] if owner is not None else []

    def _has_one_value(self, target: ast.Attribute, owner: ast.ClassDef) -> bool:
        """Whether all that an attribute is given, beside None, is the result."""
        values = self._facts.assigned(self._facts.slots(owner, target.attr))
        return sum(not is_none(value) for value in values) == 1

    def _may_follow(self, use: ast.Attribute, target: ast.Attribute) -> bool:
        """Whether an attribute is read behind an assignment, or in another function than the constructor."""
        function = self._tree.function(use)
        if function is self._tree.function(target):
            return position(use) > position(target)
        return not isinstance(function, FUNCTIONS) or function.name != "__init__"

    def _uses(self, target: ast.Name) -> list[ast.Name]:
        binding: Binding | None = self._semantics.bindings.of(target)
        return list(binding.uses) if binding is not None else []

    def _first(self, uses: list[ast.Name] | list[ast.Attribute], role: Type, *, same: bool) -> ast.AST | None:
        """The first use that takes a result for something else; ``same``: handing it on does, too."""
        if not self._are_free(uses, role):
            return None
        for use in sorted(uses, key=position):
            if self._takes(use, role) or (same and self._is_handed_on(use)):
                return self._tree.parent(use)
        return None

    def _are_free(self, uses: list[ast.Name] | list[ast.Attribute], role: Type) -> bool:
        """Whether nothing is asked of a result that shows that its user knows what it is."""
        return not any(self._is_known_for(use, role) for use in uses)

    def _is_known_for(self, use: ast.expr, role: Type) -> bool:
        match self._tree.parent(use):
            case ast.Subscript(value=value):
                return value is use
            case ast.Compare() | ast.Starred() | ast.For() | ast.comprehension():
                return True
            case ast.Assign(targets=[ast.Tuple() | ast.List()]):
                return True
            case ast.If(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if test is use:
                return True
            case ast.UnaryOp() | ast.BoolOp():
                return True
            case ast.Attribute(attr=name):
                return role is Type.MODULE and (name in _OF_KEYS or name.startswith("_"))
            case ast.Call(func=ast.Name(id=name)):
                return name in _ASKING
        return False

    def _is_handed_on(self, use: ast.expr) -> bool:
        """Whether a value is returned, or given to a function that does more than to show it."""
        match self._tree.parent(use):
            case ast.Return():
                return True
            case ast.Call(func=function, args=given):
                return use in given and last_name(function) not in _SHOWING
            case ast.Tuple() as several:
                return isinstance(self._tree.parent(several), ast.Return)
        return False

    def _is_plainly_of_torch(self, use: ast.expr) -> bool:
        """Whether a value is called, or asked for what modules or optimizers have."""
        match self._tree.parent(use):
            case ast.Call(func=function):
                return function is use
            case ast.Attribute(attr=name):
                return name in _OF_MODULES_AND_OPTIMIZERS
        return False

    def _is_stepped(self, use: ast.AST, target: ast.expr | None) -> bool:
        """Whether a result is asked for what an optimizer or a scheduler has, and no module."""
        parents = [use]
        if isinstance(target, ast.Name):
            parents += filter(None, map(self._tree.parent, self._uses(target)))
        elif isinstance(target, ast.Attribute):
            parents += filter(None, map(self._tree.parent, self._attribute_uses(target)))
        return any(isinstance(parent, ast.Attribute) and parent.attr in _OF_OPTIMIZERS for parent in parents)


def _is_called(call: ast.Call, target: ast.expr | None) -> bool:
    """Whether a call is of what was assigned to ``target``, or else of a value without a name, and not given it."""
    return target is None or dotted(call.func) == dotted(target)
