"""What a tensor meets, once it is moved, that needs it where it was: the fix of a forgotten move would raise there."""

from __future__ import annotations

import ast
from functools import cached_property

from torchlint.fact import CERTAIN, Fact, shortened, unknown
from torchlint.semantics import Binding, Semantics, Type
from torchlint.semantics.code.expected_errors import is_awaited
from torchlint.semantics.code.tree import FUNCTIONS, last_name
from torchlint.semantics.devices.certain_devices import CertainDevices
from torchlint.semantics.memory.discarded import DiscardedResults

_MOVING = ("to", "cuda")
_MANY_USES = 48
"""What is used in more places is not looked into: the effort would grow with the square of them."""


class CpuMeetings:
    """Tells of moves whose result is thrown away what they would do to the code behind them."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._tree = semantics.tree

    def fact(self, move: ast.Call, tensor: ast.expr) -> Fact:
        """Whether what is in sight can do with the tensor where ``move`` brings it."""
        if is_awaited(self._tree, move):
            return unknown("the code awaits what a move may raise, and may move nothing for good")
        if isinstance(tensor, ast.Attribute):
            return self._may_be_set(tensor)
        if not isinstance(tensor, ast.Name):
            return CERTAIN
        flow = self._semantics.control_flow
        uses = [use for binding in self._semantics.bindings.reaching(tensor) for use in binding.uses if use is not tensor]
        if len(uses) > _MANY_USES:
            return unknown(f"`{tensor.id}` is used in too many places to look at")
        for use in uses:
            if flow.may_follow(move, use) and (met := self._met(use, move)) is not None:
                return unknown(f"`{shortened(met)}` may need it on the CPU")
        return CERTAIN

    def _met(self, use: ast.Name, move: ast.Call) -> ast.expr | None:
        """What a use hands the tensor to, or has beside it, that is on the CPU for certain."""
        parent = self._tree.parent(use)
        match parent:
            case ast.Attribute(attr="numpy" | "__array__"):
                return parent
            case ast.BinOp(left=left, right=right):
                return self._on_cpu([right if left is use else left])
            case ast.Compare(left=left, comparators=others):
                return self._on_cpu([each for each in (left, *others) if each is not use])
            case ast.Call(func=function, args=given) if use in given:
                name = self._semantics.qualified_name(function) or ""
                if name.startswith("numpy."):
                    return parent
                if name.startswith("torch."):
                    return self._on_cpu([each for each in given if each is not use])
                return function if not _follows(move) and self._stays(function) else None
        return None

    def _on_cpu(self, others: list[ast.expr]) -> ast.expr | None:
        """The first of some operands that is made on the CPU, has more than one number, and is not moved either."""
        devices = self._semantics.of(CertainDevices)
        made = (each for each in others if devices.is_made_on_cpu(self._unpacked(each)))
        return next((each for each in made if not self._is_moved(each)), None)

    def _unpacked(self, node: ast.expr) -> ast.expr:
        """What a name gets of a tuple that is written out: ``x, y = torch.ones(3), torch.zeros(3)``."""
        bindings = self._semantics.bindings.reaching(node) if isinstance(node, ast.Name) else ()
        match bindings:
            case [Binding(value=ast.Tuple(elts=parts), path=(int(place),))] if place < len(parts):
                return parts[place]
        return node

    def _is_moved(self, node: ast.expr) -> bool:
        """Whether a name is given to a move anywhere, be it one whose result is thrown away as well."""
        return last_name(node) in self._moved

    @cached_property
    def _moved(self) -> frozenset[str]:
        """The last names of what is moved."""
        moves = (call for name in _MOVING for call in self._semantics.facts.calls.get(name, ()))
        owners = [call.func.value for call in moves if isinstance(call.func, ast.Attribute)]
        discarded = [each.tensor for each in self._semantics.of(DiscardedResults).found.values()]
        return frozenset(map(last_name, (*owners, *discarded))) - {""}

    def _stays(self, module: ast.expr) -> bool:
        """Whether a module is made in sight, under a name of the file that nothing moves or hands on."""
        if not isinstance(module, ast.Name) or self._semantics.kind(module).type is not Type.MODULE:
            return False
        bindings = self._semantics.bindings.reaching(module)
        made = [each.value for each in bindings if isinstance(each.value, ast.Call) and not each.path]
        if len(made) != len(bindings) or not made or self._is_moved(module):
            return False
        if any(self._says_device(call) for call in made):
            return False
        uses = [use for each in bindings for use in each.uses]
        return all(self._is_plain(use) for use in uses)

    @staticmethod
    def _says_device(call: ast.Call) -> bool:
        """Whether what makes a module says where it is to be: ``nn.Linear(2, 2).to(device)``."""
        calls = [part for part in ast.walk(call) if isinstance(part, ast.Call)]
        return any(last_name(each.func) in _MOVING or any(word.arg == "device" for word in each.keywords) for each in calls)

    def _is_plain(self, use: ast.Name) -> bool:
        """Whether a module is called at a use, or something of it is read."""
        parent = self._tree.parent(use)
        return isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is use)

    def _may_be_set(self, attribute: ast.Attribute) -> Fact:
        """Whether nothing refuses to have an attribute set once more: no ``__setattr__`` that a class or a base of it has."""
        facts = self._semantics.facts
        owner = facts.self_class(attribute.value)
        for each in facts.bases(owner) if owner is not None else ():
            if any(isinstance(part, FUNCTIONS) and part.name == "__setattr__" for part in each.body):
                return unknown(f"`{each.name}` may refuse to have `{attribute.attr}` set again")
            for base in each.bases:
                name = self._semantics.qualified_name(base) or ""
                is_of_file = self._semantics.facts.definition(base) is not None
                if not is_of_file and not name.startswith(("torch.", "builtins.", "abc.", "typing.")):
                    return unknown(f"`{shortened(base)}` may refuse to have `{attribute.attr}` set again")
        return CERTAIN


def _follows(move: ast.Call) -> bool:
    """Whether something is moved to where another tensor is, ``x.device``, which the code behind has beside it."""
    given = [*move.args, *(word.value for word in move.keywords if word.arg == "device")]
    return any(isinstance(each, ast.Attribute) and each.attr == "device" for each in given)
