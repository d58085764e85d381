"""Modules and parameters that a module keeps in plain collections, where nothing registers them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.fact import Fact, unknown
from torchlint.semantics import Semantics, Type, torch_api
from torchlint.semantics.code.tree import FUNCTIONS, is_none
from torchlint.semantics.modules.classes import ModuleClasses
from torchlint.semantics.modules.constructors.new import NewModules
from torchlint.semantics.registration.called_layers import CalledLayers
from torchlint.semantics.registration.collections import Collection, Collections, may_be_collection
from torchlint.semantics.registration.hidden_names import HiddenNames
from torchlint.semantics.registration.kept_losses import KeptLosses
from torchlint.semantics.registration.like_lists import LikeLists
from torchlint.semantics.registration.registration import Registration

Node = TypeVar("Node")

_OF_LISTS = frozenset({"append", "extend", "insert", "pop"})
_OF_PARAMETER_LISTS = frozenset({"append", "extend"})
_OF_DICTS = frozenset({"keys", "values", "items", "pop", "update", "clear"})
_RESERVED_KEYS = torch_api.MODULE_ATTRIBUTES | _OF_DICTS
_OVERRIDES = frozenset({"parameters", "named_parameters", "children", "modules", "_apply", "state_dict", "to", "cuda"})


@dataclass(frozen=True, eq=False, slots=True)
class Plain(Generic[Node]):
    """A list, tuple or dict in the text, or what gives one."""

    node: Node
    is_dict: bool
    is_tuple: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Unregistered(Generic[Node]):
    """A collection that an attribute is given, with the collections ``nested`` in it.

    It holds ``parameters``, or modules; with weights that are ``untrained``, or else with no more than modes. Of modules that
    are ``called`` like layers no more is known than that. It is ``replaceable`` by one that registers, in which all may stay
    that the file does with it: with torch 2.0, or with any. Whether that is certain to do the same for all that is in it, and
    for all who use it, is ``alike``. ``read`` is whether the file does anything with it.
    """

    given: Plain[Node]
    nested: tuple[Plain[Node], ...]
    parameters: bool
    untrained: bool
    called: bool
    replaceable: bool
    replaceable_in_old_torch: bool
    alike: Fact
    read: bool


class UnregisteredModules:
    """Finds them in a file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._classes = semantics.of(ModuleClasses)
        self._collections = semantics.of(Collections)
        self._registration = semantics.of(Registration)
        self._new = semantics.of(NewModules)
        self._alike = semantics.of(LikeLists)
        self._called = semantics.of(CalledLayers)
        self._losses = semantics.of(KeptLosses)

    @cached_property
    def kept(self) -> dict[ast.expr, Unregistered[ast.expr]]:
        """What is kept so, by the attributes that are assigned to."""
        found: dict[ast.expr, Unregistered[ast.expr]] = {}
        for statement, target, value in self._assigned():
            collection = self._collected(statement, target, value)
            kept = self._judged(collection) if collection is not None else None
            if kept is not None:
                found[target] = kept
        return found

    def _assigned(self) -> Iterator[tuple[ast.stmt, ast.expr, ast.expr]]:
        """What assignments give to what."""
        for assignment in self._semantics.tree.of_type(ast.Assign):
            for target, value in _pairs(assignment.targets, assignment.value):
                yield assignment, target, value
        for annotated in self._semantics.tree.of_type(ast.AnnAssign):
            if annotated.value is not None:
                yield annotated, annotated.target, annotated.value

    def _judged(self, found: Collection) -> Unregistered[ast.expr] | None:
        """What is wrong with a collection; ``None`` where nothing is."""
        put = [item for item in self._collections.items(found) if not is_none(item)]
        items = [
            each
            for item in put
            for each in ([item] if self._registration.is_kept_elsewhere(item) else self._collections.given(item))
        ]
        modules = [item for item in items if self._new.is_module(item) and not self._registration.is_kept_elsewhere(item)]
        parameters = [item for item in items if self._new.is_parameter(item) and not self._registration.is_kept_elsewhere(item)]
        stateful = [item for item in modules if self._new.has_state(item) and not self._losses.lacks_nothing(item)]
        if stateful or parameters:
            return self._described(found, items, stateful or parameters, untrained=True)
        if any(self._new.depends_on_mode(item) for item in modules):
            return self._described(found, items, modules, untrained=False)
        others = [item for item in items if item not in modules and not self._registration.is_kept_elsewhere(item)]
        layers = [item for item in others if self._called.may_be_layer(item) and not self._new.is_module(item)]
        if layers and self._called.are_called(found):
            return self._described(found, items, layers, untrained=False, called=True)
        return None

    def _described(
        self, found: Collection, items: list[ast.expr], culprits: list[ast.expr], *, untrained: bool, called: bool = False
    ) -> Unregistered[ast.expr]:
        parameters = all(self._new.is_parameter(item) for item in culprits)
        is_dict = self._collections.is_dict(found)
        is_known = [self._new.is_parameter(item) if parameters else self._is_module(item) for item in items]
        others = [item for item, known in zip(items, is_known, strict=True) if not known]
        keys = self._keys_are_strings(found) if is_dict else True
        replaceable = keys is not False and self._is_replaceable(found, others, parameters=parameters)
        return Unregistered(
            Plain(found.value, is_dict, isinstance(found.displays[0], ast.Tuple)),
            tuple(Plain(nested, self._collections.is_dict_display(nested)) for nested in self._collections.nested(found)),
            parameters,
            untrained,
            called,
            replaceable and self._is_used_like(found, is_dict=is_dict, parameters=parameters, is_old=False),
            replaceable and self._is_used_like(found, is_dict=is_dict, parameters=parameters, is_old=True),
            self._alike.fact(found, items, parameters=parameters, is_dict=is_dict)
            if not list(self._collections.nested(found))
            else unknown("what is in the inner collections may be used as such"),
            self._is_read(found.target.attr),
        )

    def _is_read(self, attribute: str) -> bool:
        """Whether the file reads or fills an attribute of this name, or may by its text."""
        tree = self._semantics.tree
        if any(part.value == attribute for part in tree.of_type(ast.Constant)):
            return True
        return any(part.attr == attribute and isinstance(part.ctx, ast.Load) for part in tree.of_type(ast.Attribute))

    def _is_replaceable(self, found: Collection, others: list[ast.expr], *, parameters: bool) -> bool:
        """Whether what is in a collection, and where it is made, allows one that registers."""
        if any(self._cannot_be_module(item) for item in others) or self._comes_too_early(found):
            return False
        if self._semantics.of(HiddenNames).is_hidden(found):
            return False
        if isinstance(found.value, ast.Name) and self._grows_after(found):
            return False
        return all(not parameters and self._has_string_keys(nested) for nested in self._collections.nested(found))

    def _is_used_like(self, found: Collection, *, is_dict: bool, parameters: bool, is_old: bool) -> bool:
        """Whether all that the file does with the collection can be done with the registering container, too."""
        names = {
            (True, False): _OF_DICTS,
            (False, False): _OF_LISTS,
            (False, True): _OF_PARAMETER_LISTS,
        }.get((is_dict, parameters))
        others = [
            node
            for node in self._semantics.tree.of_type(ast.Attribute)
            if node.attr == found.target.attr and isinstance(node.value, ast.Name) and node not in found.uses
        ]
        for use in (*found.uses, *others):
            parent = self._semantics.tree.parent(use)
            match parent:
                case ast.Attribute(attr=method, value=value) if value is use:
                    if (names is not None and method not in names) or (is_old and (method == "pop" or names is None)):
                        return False
                case ast.BinOp(left=left) if left is not use or is_dict or parameters or is_old:
                    return False
                case ast.BinOp(op=operator) if not isinstance(operator, ast.Add):
                    return False
                case ast.Compare():
                    return False
                case ast.Call(func=ast.Name(id="isinstance" | "type" | "sorted" | "hash")):
                    return False
        return True

    def _collected(self, statement: ast.stmt, target: ast.expr, value: ast.expr) -> Collection | None:
        """The collection that an attribute of ``self`` is given, if nothing registers what is in it."""
        if not isinstance(target, ast.Attribute) or not isinstance(target.value, ast.Name):
            return None
        if not may_be_collection(value) and not isinstance(value, (ast.Call, ast.IfExp)):
            return None
        owner = self._semantics.facts.self_class(target.value)
        if owner is None or not self._collections.is_collection(value) or not self._classes.is_sure(owner):
            return None
        if any(self._semantics.facts.method(owner, name) is not None for name in _OVERRIDES):
            return None
        found = self._collections.collected(owner, statement, target, value)
        if found is not None and not self._registration.is_registered(found):
            return found
        return None

    def _is_module(self, item: ast.expr) -> bool:
        return self._new.is_module(item) or self._semantics.kind(item).type is Type.MODULE

    def _cannot_be_module(self, item: ast.expr) -> bool:
        kind = self._semantics.kind(item)
        if isinstance(item, ast.Lambda) or self._new.is_parameter(item):
            return True
        return kind.type not in (Type.UNKNOWN, Type.MODULE, Type.NONE, Type.SEQUENCE, Type.MAPPING)

    def _keys_are_strings(self, found: Collection) -> bool | None:
        """Whether all keys are strings that may name a module; ``None`` where that is open."""
        sure = True
        for key in found.keys:
            if key is None:
                sure = False
            elif isinstance(key, ast.Constant):
                if not isinstance(key.value, str) or not key.value or "." in key.value or key.value in _RESERVED_KEYS:
                    return False
            else:
                kind = self._semantics.kind(key)
                if kind.type not in (Type.STRING, Type.UNKNOWN) or "'.'" in ast.dump(key):
                    return False
                sure = sure and kind.type is Type.STRING
        return True if sure else None

    def _comes_too_early(self, found: Collection) -> bool:
        """Whether the attribute is set before the module is initialised, when no module may be assigned yet."""
        function = self._semantics.tree.function(found.target)
        if not isinstance(function, FUNCTIONS):
            return True
        flow = self._semantics.control_flow
        return any(flow.may_follow(found.target, call) for call in self._classes.initialising(function))

    def _grows_after(self, found: Collection) -> bool:
        """Whether the list that the attribute was given is added to under its own name afterwards."""
        flow = self._semantics.control_flow
        return any(flow.may_follow(found.value, use) for use in found.uses if isinstance(use, ast.Name))

    @staticmethod
    def _has_string_keys(node: ast.expr) -> bool:
        """Whether a nested collection is no dict, or one whose keys are written out and may name modules."""
        keys = node.keys if isinstance(node, ast.Dict) else [node.key] if isinstance(node, ast.DictComp) else []
        return all(isinstance(key, ast.Constant) and isinstance(key.value, str) and "." not in key.value for key in keys)


def _pairs(targets: list[ast.expr], value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment with what each is given."""
    for target in targets:
        match target, value:
            case (ast.Tuple(elts=parts) | ast.List(elts=parts), ast.Tuple(elts=values)) if len(parts) == len(values):
                yield from zip(parts, values)
            case _:
                yield target, value
