"""Parameters that are none any more when a module gets them: ``self.w = nn.Parameter(t).to(device)``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from torchlint.semantics import Semantics, torch_api
from torchlint.semantics.modules.classes import ModuleClasses

Node = TypeVar("Node")

_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_SAME = torch_api.INPLACE_METHODS | {"requires_grad_", "retain_grad", "float", "cpu", "contiguous", "register_hook"}
"""Methods that give the parameter itself, or do where it is as parameters are made."""
_DEEPEST = 8
"""Through so many variables and functions a parameter is followed."""
_MEANT = frozenset({"detach", "data", "item", "tolist", "numpy", "numel", "size", "dim"})
"""What is called to have something else than a parameter."""
_METHODS = (
    frozenset(name for name, result in torch_api.TENSOR_METHODS.items() if result == "tensor") | {"to", "cuda", "type"}
) - (_SAME | _MEANT)


@dataclass(frozen=True, eq=False, slots=True)
class LostParameter(Generic[Node]):
    """What is computed of a new ``parameter``, and takes its place as an attribute of a module.

    It is ``direct`` where that is one expression, and not done to a variable that holds the parameter.
    """

    parameter: Node
    tensor: Node
    computed: Node
    direct: bool = True


class LostParameters:
    """Looks at the attributes of modules in one file."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    @cached_property
    def found(self) -> dict[ast.Attribute, LostParameter[ast.expr]]:
        """The attributes of modules that are assigned what is computed of a parameter; of those that have it of one line,
        the first.
        """
        found: dict[ast.Attribute, LostParameter[ast.expr]] = {}
        for call in self._semantics.facts.calls.get("Parameter", ()):
            if not call.args or not self._is_parameter(call) or _is_constant(call):
                continue
            ends = list(self._ends(call, None, set(), _DEEPEST))
            lost = {target: computed for target, computed in ends if target is not None and computed is not None}
            kept = {target for target, computed in ends if computed is None}
            if not lost or None in {target for target, _ in ends} or not kept <= lost.keys():
                continue  # the parameter itself gets somewhere
            for target, computed in sorted(lost.items(), key=lambda end: end[0].lineno):
                if self._is_own(target):
                    is_direct = any(part is call for part in ast.walk(computed))
                    found[target] = LostParameter(call, call.args[0], computed, is_direct)
                    break
        return found

    def _ends(
        self, value: ast.expr, computed: ast.expr | None, seen: set[tuple[ast.expr, ast.expr | None]], depth: int
    ) -> Iterator[tuple[ast.Attribute | None, ast.expr | None]]:
        """The attributes that a parameter gets to, or what is ``computed`` of it, by way of variables and the functions that
        give it back; `None` for anywhere else.
        """
        around = self._computed(value)
        computed = computed or (around if around is not value else None)
        if (around, computed) in seen:
            return
        seen.add((around, computed))
        match self._tree.parent(around):
            case ast.Assign(targets=[ast.Attribute() as target]):
                yield target, computed
            case ast.Assign(targets=[ast.Name() as name]) if (
                depth and (binding := self._semantics.bindings.of(name)) is not None
            ):
                for use in binding.uses:
                    if not self._is_set_up(use):
                        yield from self._ends(use, computed, seen, depth - 1)
            case ast.Return() if depth and (function := self._tree.function(around)) is not None:
                for call in self._semantics.facts.call_sites(function):
                    yield from self._ends(call, computed, seen, depth - 1)
            case _:
                yield None, computed

    def _is_set_up(self, use: ast.Name) -> bool:
        """Whether a variable is given its first values, or asked for what is none: ``nn.init.zeros_(w)``, ``w.size()``."""
        match self._tree.parent(use):
            case ast.Call(func=function):
                return (self._semantics.qualified_name(function) or "").startswith("torch.nn.init.")
            case ast.Attribute(attr=name):
                return name in _MEANT or name == "shape" or (name.endswith("_") and name not in ("requires_grad_",))
        return False

    def _computed(self, parameter: ast.expr) -> ast.expr:
        """The expression around a parameter that gives another tensor."""
        current: ast.expr = parameter
        while True:
            match self._tree.parent(current):
                case ast.Attribute(attr=name) as method if name in _METHODS:
                    call = self._tree.parent(method)
                    if not isinstance(call, ast.Call) or call.func is not method:
                        return current
                    if current is parameter and name == "to" and _is_there(parameter, call):
                        return parameter
                    current = call
                case ast.BinOp(op=ast.Mult() | ast.Div() | ast.Add() | ast.Sub() | ast.MatMult() | ast.Pow()) as operation:
                    other = operation.right if operation.left is current else operation.left
                    if any(isinstance(part, ast.Call) and self._is_parameter(part) for part in ast.walk(other)):
                        return parameter
                    current = operation
                case ast.UnaryOp(op=ast.USub()) as operation:
                    current = operation
                case _:
                    return current

    def _is_parameter(self, call: ast.Call) -> bool:
        return self._semantics.qualified_name(call.func) in _PARAMETERS

    def _is_own(self, target: ast.Attribute) -> bool:
        """Whether an attribute is one of a module of the file, in a method of its class, and set there alone."""
        own = self._semantics.facts.self_class(target.value)
        if own is None or not self._semantics.of(ModuleClasses).is_sure(own):
            return False
        stores = [store for slot in self._semantics.facts.slots(own, target.attr) for store in slot.stores]
        return len(stores) == 1


def _is_there(parameter: ast.expr, move: ast.Call) -> bool:
    """Whether a parameter is made where it is moved to, and so comes back itself: ``Parameter(ones(2, device=d)).to(d)``."""
    match parameter, move.args, move.keywords:
        case ast.Call(args=[ast.Call(keywords=words), *_]), [device], []:
            return any(word.arg == "device" and ast.dump(word.value) == ast.dump(device) for word in words)
    return False


def _is_constant(parameter: ast.Call) -> bool:
    """Whether a parameter is made that is not to be trained."""
    given = [word.value for word in parameter.keywords if word.arg == "requires_grad"] or parameter.args[1:2]
    return any(not (isinstance(value, ast.Constant) and value.value is True) for value in given)
