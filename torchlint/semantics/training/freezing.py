"""Parameters that are frozen, and the optimizers that are given them all the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

from torchlint.semantics import Binding, Form, Semantics, Type
from torchlint.semantics.code.tree import FUNCTIONS, is_false

Node = TypeVar("Node")

_SWITCHING: tuple[type[ast.AST], ...] = (ast.Attribute, ast.Call)
_PARTS = frozenset(
    {"children", "named_children", "modules", "named_modules", "parameters", "named_parameters", "values", "items"}
)
"""Methods that give a module's parts or parameters."""
_GIVING_ALL = frozenset({"parameters", "named_parameters"})
_COLLECTING = frozenset({"enumerate", "list", "tuple", "reversed", "islice"})
_COLLECTIONS = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.BinOp)
_SAME_MODULE = frozenset({"to", "cuda", "cpu", "float", "half", "double", "train", "eval"})
HEADS = frozenset({"fc", "classifier", "head", "heads", "last_linear", "output", "get_classifier()", "roi_heads"})
"""What the last layers of models are called, which are trained for a new task while the rest is frozen."""
_DEEP = 6

Root: TypeAlias = Binding | ast.ClassDef | str
Chain: TypeAlias = tuple[Root, tuple[str, ...]]
"""What a chain of attributes starts with, a name, ``self`` or what the file does not bind, and the names of the attributes."""


@dataclass(frozen=True, slots=True)
class _Switch:
    """A place that sets ``requires_grad`` of the parameters of a module."""

    node: ast.expr
    module: ast.expr
    freezes: bool
    whole: bool
    """Whether it is meant for all parameters of the module, not for those that a condition picks."""


@dataclass(frozen=True, eq=False, slots=True)
class FrozenGiven(Generic[Node]):
    """What ``optimizer`` is given although it is frozen at the node ``frozen``: ``named``, or only ``is_part`` of that."""

    optimizer: Node
    frozen: Node
    named: Node
    is_part: bool


class Freezing:
    """Tells what is frozen in a file, when, and whether it is unfrozen."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def given(self) -> dict[ast.Call, FrozenGiven[ast.expr]]:
        """The calls of ``parameters()`` whose result an optimizer is given, with something in it that is frozen."""
        found: dict[ast.Call, FrozenGiven[ast.expr]] = {}
        for optimizer in self._semantics.tree.of_type(ast.Call):
            if (optimizer.args or optimizer.keywords) and self._semantics.kind(optimizer).type is Type.OPTIMIZER:
                parameters = self._parameters_of(optimizer)
                if parameters is not None and isinstance(parameters.func, ast.Attribute):
                    model = parameters.func.value
                    frozen = self._frozen_part(model, optimizer)
                    if frozen is not None:
                        found[parameters] = FrozenGiven(optimizer, frozen, *self._named(frozen, model))
        return found

    @cached_property
    def wholes(self) -> list[tuple[ast.expr, ast.expr]]:
        """The modules of which all parameters are frozen, and none thawed again but a head's, behind where that is done."""
        if self._may_unfreeze_anything:
            return []
        found: list[tuple[ast.expr, ast.expr]] = []
        for switch in self._switches:
            if switch.freezes and switch.whole:
                named, _ = self._named(switch.module, switch.module)
                if named is not switch.module or not isinstance(named, ast.Name) or not self._is_looped(named):
                    found.append((switch.node, named))
        thawed = [chain for switch in self._switches if not switch.freezes for chain in [self._chain(switch.module)] if chain]
        return [(node, named) for node, named in found if not self._is_thawed(self._chain(named), thawed)]

    def _is_looped(self, name: ast.Name) -> bool:
        return any(binding.form is Form.LOOP for binding in self._semantics.bindings.reaching(name))

    @staticmethod
    def _is_thawed(whole: Chain | None, thawed: list[Chain]) -> bool:
        """Whether something of a module is thawed that is not what it is replaced by for a new task, or that is not clear."""
        if whole is None:
            return True
        for root, names in thawed:
            if root == whole[0]:
                length = min(len(names), len(whole[1]))
                inside = names[len(whole[1]) :]
                if names[:length] == whole[1][:length] and not (inside and inside[0] in HEADS):
                    return True
        return False

    def is_frozen(self, module: ast.expr) -> bool:
        """Whether all parameters of a module are frozen somewhere in the file, with no new part behind that."""
        chain = self._chain(module)
        return chain is not None and any(
            self._chain(named) == chain and not self._has_new_part(chain, node) for node, named in self.wholes
        )

    def is_replaced_after(self, switch: ast.expr, named: ast.expr) -> bool:
        """Whether a part of a module gets another value after its parameters were frozen, as a new head does."""
        chain = self._chain(named)
        return chain is not None and self._has_new_part(chain, switch)

    def _named(self, frozen: ast.expr, model: ast.expr) -> tuple[ast.expr, bool]:
        """What has a name of what is frozen: itself, or the module whose parameters a loop goes over, and whether all of it."""
        if isinstance(frozen, ast.Name):
            bindings = self._semantics.bindings.reaching(frozen)
            if len(bindings) == 1 and bindings[0].form is Form.LOOP and bindings[0].value is not None:
                iterated = _item(bindings[0])
                if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute):
                    owner = iterated.func.value
                    return owner, ast.unparse(owner) in (ast.unparse(model), "self")
                return model, True
        return frozen, ast.unparse(frozen) in (ast.unparse(model), "self")

    def _parameters_of(self, optimizer: ast.Call) -> ast.Call | None:
        """``model.parameters()`` where that is what an optimizer is given, itself or by a name that nothing else uses."""
        words = [word.value for word in optimizer.keywords if word.arg == "params"]
        values = [*optimizer.args[:1], *words]
        value = values[0] if len(values) == 1 else None
        if isinstance(value, ast.Name):
            bindings = self._semantics.bindings.reaching(value)
            if len(bindings) != 1 or bindings[0].form is not Form.ASSIGNMENT or bindings[0].path or len(bindings[0].uses) != 1:
                return None
            value = bindings[0].value
        if isinstance(value, ast.Call) and not value.args and not value.keywords:
            if isinstance(value.func, ast.Attribute) and value.func.attr == "parameters":
                return value
        return None

    # --- what is frozen ----------------------------------------------------------------------------------------------

    def _frozen_part(self, model: ast.expr, optimizer: ast.Call) -> ast.expr | None:
        """The part of a model that is frozen when the optimizer is made, and stays so; ``None`` where that is not certain."""
        whole = self._chain(model)
        if whole is None:
            return None
        related = [switch for switch in self._switches if self._is_part(switch.module, whole, model) is not None]
        earlier = [switch for switch in related if self._is_before(switch.node, optimizer)]
        if any(not switch.freezes and switch not in earlier for switch in related) or self._may_unfreeze_anything:
            return None
        released = any(not switch.freezes for switch in earlier)
        for switch in earlier:
            part = self._is_part(switch.module, whole, model)
            if part is None or any(self._is_undone(switch, part, other, whole, model) for other in earlier):
                continue
            if switch.freezes and (part or not switch.whole or released or self._has_new_part(whole, switch.node)):
                return switch.module
        return None

    def _is_undone(self, switch: _Switch, part: tuple[str, ...], other: _Switch, whole: Chain, model: ast.expr) -> bool:
        """Whether a later switch unfreezes all that an earlier one froze, or that may be so."""
        if other.freezes or not other.whole:
            return False
        wider = self._is_part(other.module, whole, model)
        if wider is None or "[]" in wider or part[: len(wider)] != wider:
            return False
        flow = self._semantics.control_flow
        return flow.scope(switch.node) is flow.scope(other.node) and flow.may_follow(switch.node, other.node)

    def _is_part(self, part: ast.expr, whole: Chain, model: ast.expr) -> tuple[str, ...] | None:
        """The names that lead from a model to a part of it; empty for the model itself, ``None`` for what is no part."""
        chain = self._chain(part)
        if chain is None:
            return None
        root, names = chain
        if root == whole[0]:
            return names[len(whole[1]) :] if names[: len(whole[1])] == whole[1] else None
        return names if root is self._semantics.kind(model).definition else None

    def _is_before(self, switch: ast.expr, optimizer: ast.Call) -> bool:
        """Whether a switch is done by the time that the optimizer is made, and not done again later."""
        flow, tree = self._semantics.control_flow, self._semantics.tree
        if flow.scope(switch) is flow.scope(optimizer):
            return flow.may_follow(switch, optimizer) and not flow.may_follow(optimizer, switch)
        around = tree.function(switch)
        if not isinstance(around, FUNCTIONS) or not isinstance(owner := tree.parent(around), ast.ClassDef):
            return False
        constructor = self._semantics.facts.method(owner, "__init__")
        if around is constructor:
            return True
        calls = self._semantics.facts.call_sites(around)
        return bool(calls) and all(tree.function(call) is constructor for call in calls)

    def _has_new_part(self, whole: Chain, switch: ast.expr) -> bool:
        """Whether a part of a model that is frozen as a whole is replaced afterwards: ``model.fc = nn.Linear(…)``."""
        for node in self._semantics.tree.of_type(ast.Attribute):
            if isinstance(node.ctx, ast.Store) and node.attr != "requires_grad":
                chain = self._chain(node)
                if chain is not None and chain[0] == whole[0] and chain[1][: len(whole[1])] == whole[1]:
                    if len(chain[1]) > len(whole[1]) and self._semantics.control_flow.may_follow(switch, node):
                        return True
        return False

    # --- switches ----------------------------------------------------------------------------------------------------

    @cached_property
    def _switches(self) -> list[_Switch]:
        """The places that freeze or unfreeze modules, also through functions of the file."""
        direct = list(self._direct_switches())
        found = list(direct)
        for switch in direct:
            chain = self._chain(switch.module)
            if chain is None or not isinstance(chain[0], Binding) or chain[0].form is not Form.PARAMETER:
                continue
            function = chain[0].scope.node
            if isinstance(function, FUNCTIONS) and isinstance(chain[0].node, ast.arg) and not chain[1]:
                for call in self._semantics.inference.call_sites(function):
                    given = self._semantics.facts.argument(call, function, chain[0].node)
                    if given is not None:
                        found.append(_Switch(call, given, switch.freezes, switch.whole))
        return found

    def _direct_switches(self) -> Iterator[_Switch]:
        for node in self._semantics.tree.of_type(*_SWITCHING):
            match node:
                case ast.Attribute(value=owner, attr="requires_grad", ctx=ast.Store()):
                    statement = self._semantics.tree.parent(node)
                    value = statement.value if isinstance(statement, ast.Assign) else None
                    freezes = is_false(value)
                    yield _Switch(node, owner, freezes, self._is_unconditional(node))
                case ast.Call(func=ast.Attribute(value=owner, attr="requires_grad_"), args=arguments, keywords=words):
                    values = [*arguments, *(word.value for word in words)]
                    freezes = len(values) == 1 and isinstance(values[0], ast.Constant) and values[0].value is False
                    yield _Switch(node, owner, freezes, self._is_unconditional(node))

    def _is_unconditional(self, node: ast.expr) -> bool:
        """Whether a switch is made for each parameter of the loop that it stands in."""
        loop = next(self._semantics.tree.loops(node), None)
        if loop is None:
            return True
        parent = self._semantics.tree.parent(self._semantics.tree.statement(node))
        has_exits = any(isinstance(part, (ast.Continue, ast.Break)) for part in ast.walk(loop))
        sliced = isinstance(loop, (ast.For, ast.AsyncFor)) and any(isinstance(part, ast.Slice) for part in ast.walk(loop.iter))
        return parent is loop and not has_exits and not sliced

    @cached_property
    def _may_unfreeze_anything(self) -> bool:
        """Whether the file unfreezes something of which it is not clear what it is, or calls something that may."""
        if any(name in self._semantics.facts.calls for name in ("unfreeze", "defrost", "unfreeze_and_add_param_group")):
            return True
        thawing = [switch for switch in self._direct_switches() if not switch.freezes]
        return any(
            (not self._is_leaf(switch) and self._chain(switch.module) is None) or self._is_of_collection(switch)
            for switch in thawing
        )

    def _is_of_collection(self, switch: _Switch) -> bool:
        """Whether a switch is of parameters that were collected before: of which modules is not clear."""
        bindings = self._semantics.bindings.reaching(switch.module) if isinstance(switch.module, ast.Name) else ()
        if len(bindings) != 1 or bindings[0].form is not Form.LOOP or bindings[0].value is None:
            return False
        if isinstance(switch.node, ast.Attribute) and isinstance(_item(bindings[0]), ast.Attribute):
            return True  # a list of parameters: modules have no such flag
        chain = self._chain(switch.module)
        return chain is not None and isinstance(chain[0], Binding) and isinstance(chain[0].value, _COLLECTIONS)

    def _is_leaf(self, switch: _Switch) -> bool:
        """Whether a switch makes a leaf of a single tensor: ``image.requires_grad = True``."""
        if not isinstance(switch.node, ast.Attribute) or not isinstance(switch.module, ast.Name):
            return False
        return all(binding.form is not Form.LOOP for binding in self._semantics.bindings.reaching(switch.module))

    # --- chains ------------------------------------------------------------------------------------------------------

    def _chain(self, node: ast.expr) -> Chain | None:
        """The chain of attributes that leads to a module, through aliases and loops over its parts."""
        if node not in self._chains:
            self._chains[node] = self._find_chain(node, 0)
        return self._chains[node]

    @cached_property
    def _chains(self) -> dict[ast.expr, Chain | None]:
        return {}

    def _find_chain(self, node: ast.expr, depth: int) -> Chain | None:
        names: list[str] = []
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value=value, attr=name):
                    if name != "module":
                        names.append(name)
                    node = value
                case ast.Subscript(value=value):
                    names.append("[]")
                    node = value
                case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _PARTS:
                    if name not in _GIVING_ALL:
                        names.append("[]")
                    node = value
                case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _SAME_MODULE:
                    node = value
                case ast.Call(func=ast.Attribute(value=value, attr=name), args=[], keywords=[]):
                    names.append(f"{name}()")
                    node = value
                case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _COLLECTING:
                    node = first
                case _:
                    return None
        before = self._root(node, depth)
        return (before[0], (*before[1], *reversed(names))) if before is not None else None

    def _root(self, name: ast.Name, depth: int) -> Chain | None:
        owner = self._semantics.facts.self_class(name)
        if owner is not None:
            return owner, ()
        bindings = self._semantics.bindings.reaching(name)
        if len(bindings) != 1:
            return None if bindings else (name.id, ())
        binding = bindings[0]
        if binding.value is None or depth >= _DEEP:
            return binding, ()
        if binding.form is Form.LOOP or isinstance(binding.value, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._find_chain(_item(binding), depth + 1)
        if isinstance(binding.value, ast.Call) and not binding.path and _gives_parts(binding.value):
            return self._find_chain(binding.value, depth + 1)
        if isinstance(binding.value, ast.Call) and (moved := _moved(binding.value)) is not None:
            return self._find_chain(moved, depth + 1) or (binding, ())
        return binding, ()


def _item(binding: Binding) -> ast.expr:
    """What a binding's value is taken from: of a loop over ``zip(a, b)``, the one that its target is given items of."""
    assert binding.value is not None
    match binding.value, binding.path:
        case ast.Call(func=ast.Name(id="zip"), args=arguments), (int(index), *_) if index < len(arguments):
            return arguments[index]
    return binding.value


def _gives_parts(call: ast.Call) -> bool:
    """Whether a call gives the parts or parameters of something, or a list of them: ``list(model.parameters())``."""
    match call.func:
        case ast.Attribute(attr=name):
            return name in _PARTS
        case ast.Name(id=name):
            return name in _COLLECTING and bool(call.args)
    return False


def _moved(call: ast.Call) -> ast.expr | None:
    """The module that a call gives again, moved or wrapped."""
    match call:
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in _SAME_MODULE:
            return value
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[first, *_]) if name.endswith("DataParallel"):
            return first
    return None
