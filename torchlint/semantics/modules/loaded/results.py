"""What `load_state_dict` gives, taken for what it loads into: ``net = net.load_state_dict(state)``, then ``net.eval()``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Binding, Semantics, Type
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import FUNCTIONS, Function, dotted, last_name, position
from torchlint.semantics.modules.loaded.attributes import LoadedAttributes
from torchlint.semantics.modules.loaded.callers import LoadingCallers
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


class Failure(Enum):
    """What raises."""

    USED = "the use"
    ASSIGNED = "the assignment: a module takes nothing but modules for its parts"
    NONE = "nothing yet: the use hands the result on"


@dataclass(frozen=True, eq=False, slots=True)
class LoadResult(Generic[Node]):
    """The result of loading into ``receiver``, a value of this ``role``, that is taken for that.

    ``use`` is the attribute, call or ``return`` that takes it for that, or the target itself where assigning it raises;
    ``target`` is the name or attribute that it is given, and ``None`` where it is given none. ``what`` is what is said to be
    loaded into. It ``is_strict`` where it is only likely that the `load_state_dict` is torch's, or that the use takes the
    result for something else.
    """

    role: Type
    what: str
    receiver: Node
    use: Node
    target: Node | None
    failure: Failure
    mend: Mend
    is_strict: bool = False


class LoadResults:
    """Looks at the calls of `load_state_dict` in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree
        self._facts = semantics.facts
        self._owners = semantics.of(LoadedOwners)
        self._attributes = semantics.of(LoadedAttributes)
        self._callers = semantics.of(LoadingCallers)

    @cached_property
    def found(self) -> dict[ast.Call, LoadResult[ast.AST]]:
        """The calls whose result is taken for a model, an optimizer or a scheduler."""
        return dict(self._find())

    def _find(self) -> Iterator[tuple[ast.Call, LoadResult[ast.AST]]]:
        for call in self._facts.calls.get(_LOADING, ()):
            if not isinstance(call.func, ast.Attribute) or not self._owners.has_torchs_loading:
                continue
            owner = self._owners.of(call)
            if owner is None or is_awaited(self._tree, call) or self._callers.await_errors(call):
                continue
            found = self._result(call, call.func.value, owner)
            if found is None or is_awaited(self._tree, found.use) or self._callers.await_errors(found.use):
                continue
            doubts = (self._owners.is_strict(owner), self._doubt(found, owner.role))
            if None not in doubts:
                yield call, replace(found, is_strict=True in doubts)

    def _result(self, call: ast.Call, receiver: ast.expr, owner: Owner) -> LoadResult[ast.AST] | None:
        """What a result is taken for, whatever speaks against it elsewhere."""
        target = self._target(call)
        mend = self._mend(call, receiver, target)
        if isinstance(target, ast.Attribute) and owner.is_sure and self._attributes.refuses(target, receiver, owner.role):
            return LoadResult(owner.role, "model", receiver, target, target, Failure.ASSIGNED, mend)
        if target is not None:
            use = self._misused_as(target, receiver, owner)
        else:
            use = self._misuse(call, owner.role) if owner.is_sure else self._plain_misuse(call, receiver)
        if use is None:
            return None
        fails = isinstance(use, ast.Attribute) or (isinstance(use, ast.Call) and _is_called(use, target))
        role, what = owner.role, "model" if owner.role is Type.MODULE else owner.role.value
        if not owner.is_sure:
            role, what = self._role(use, target, owner.role)
        return LoadResult(role, what, receiver, use, target, Failure.USED if fails else Failure.NONE, mend)

    def _doubt(self, found: LoadResult[ast.AST], role: Type) -> bool | None:
        """Whether it is only likely that a use takes a result for something else; ``None`` if it may well not."""
        function = self._tree.function(found.use)
        if found.failure is Failure.NONE:
            if isinstance(found.use, ast.Call):
                return None if self._is_looked_at(found.use, found.target, role) else False
            if isinstance(function, FUNCTIONS):
                return self._callers.take_for_model(function, role, self._takes, self._is_known_for)
        home = self._tree.function(found.receiver)
        if found.target is None and home is not function and isinstance(home, FUNCTIONS):
            return self._callers.may_run_another(home)
        return False

    def _is_looked_at(self, call: ast.Call, target: ast.AST | None, role: Type) -> bool:
        """Whether a function of the file that is given a result knows what it is."""
        function = self._facts.called(call)
        if function is None or not isinstance(target, ast.Name):
            return False
        for parameter in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
            given = self._facts.argument(call, function, parameter)
            if isinstance(given, ast.Name) and given.id == target.id:
                binding = self._semantics.bindings.of(parameter)
                return binding is not None and not self._are_free(list(binding.uses), role)
        return False

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
            return Mend.BEHIND if self._is_apart(call, target) else Mend.BY_HAND
        first = statement.value if isinstance(statement, (ast.Expr, ast.Assign, ast.Return)) else None
        while isinstance(first, (ast.Call, ast.Attribute)) and first is not call:
            first = first.func if isinstance(first, ast.Call) else first.value
        is_used_here = not isinstance(self._tree.parent(call), ast.stmt)
        return Mend.BEFORE if first is call and is_used_here and spelled is not None else Mend.BY_HAND

    def _is_apart(self, call: ast.Call, target: ast.expr) -> bool:
        """Whether nothing of a call reads what is assigned, by its name or by a method of the object that has it."""
        spelled, root = dotted(target), target
        while isinstance(root, ast.Attribute):
            root = root.value
        for part in ast.walk(call):
            if not isinstance(part, ast.Name) or not isinstance(root, ast.Name) or part.id != root.id:
                continue
            around = self._tree.parent(part)
            is_other = isinstance(around, ast.Attribute) and isinstance(target, ast.Attribute) and dotted(around) != spelled
            if not is_other or self._is_called(around):
                return False
        return True

    def _is_called(self, value: ast.AST | None) -> bool:
        around = self._tree.parent(value) if value is not None else None
        return isinstance(around, ast.Call) and around.func is value

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
        return is_plain and self._callers.may_run_another(function) is not None and len(self._facts.returned(function)) == 1

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
        statement = self._tree.statement(target)
        uses = [use for use in self._uses(target) if self._tree.statement(use) is not statement]
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
        known = self._attributes.of(target)
        if known is None or not (loaded.is_sure or last_name(receiver) == target.attr):
            return None
        if loaded.role not in known.is_free:
            known.is_free[loaded.role] = self._are_free(known.uses, loaded.role)
        if not known.is_free[loaded.role]:
            return None
        for use in self._attributes.following(target):
            if self._takes(use, loaded.role) if loaded.is_sure else self._is_plainly_of_torch(use):
                return self._tree.parent(use)
        return None

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

    def _role(self, use: ast.AST, target: ast.expr | None, role: Type) -> tuple[Type, str]:
        """What a value is of which nothing is known but what its result is asked for, and what that is called."""
        asked = {use.attr} if isinstance(use, ast.Attribute) else set[str]()
        if isinstance(target, ast.Name):
            asked |= {each.attr for each in map(self._tree.parent, self._uses(target)) if isinstance(each, ast.Attribute)}
        elif isinstance(target, ast.Attribute) and (known := self._attributes.of(target)) is not None:
            asked |= known.asked
        if not asked & _OF_OPTIMIZERS:
            return role, "model" if role is Type.MODULE else role.value
        if asked & {"get_last_lr"}:
            return Type.SCHEDULER, "scheduler"
        if role is Type.OPTIMIZER or asked & {"param_groups", "add_param_group", "zero_grad"}:
            return Type.OPTIMIZER, "optimizer"
        return Type.OPTIMIZER, "optimizer or scheduler"


def _is_called(call: ast.Call, target: ast.expr | None) -> bool:
    """Whether a call is of what was assigned to ``target``, or else of a value without a name, and not given it."""
    return target is None or dotted(call.func) == dotted(target)
