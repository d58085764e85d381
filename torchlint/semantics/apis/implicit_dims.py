"""Softmaxes that are given no dimension, and pick one by how many there are."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass
from functools import cache, cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.apis.deprecations import taking
from torchlint.semantics.apis.spellings import Spellings
from torchlint.semantics.code.tree import argument, is_none
from torchlint.semantics.shapes.ranks import Ranks
from torchlint.semantics.shapes.several_axes import SeveralAxes

_MODULES = frozenset({"torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin"})
"""These have no row in the table of what torch deprecates: to make one warns of nothing, only to call it."""

_BY_ANY_NAME = frozenset({"modules", "children", "named_modules", "named_children", "_modules", "__dict__"})
"""Attributes by which a class gets at its submodules whatever they are called."""


@cache
def _functions() -> frozenset[str]:
    """The functions that warn where they are given no dimension."""
    return frozenset(name for name in taking("dim") if name.startswith("torch.nn.functional."))


@cache
def softmax_words() -> frozenset[str]:
    """Words of which a file with such a call says one."""
    return frozenset(name.rpartition(".")[2] for name in (*_functions(), *_MODULES))


def implicit_dim(rank: int) -> int:
    """The dimension that softmax picks for a tensor with so many, as `torch.nn.functional._get_softmax_dim` does."""
    return 0 if rank in (0, 1, 3) else 1


@dataclass(frozen=True, slots=True)
class ImplicitDim:
    """The dimension that a softmax picks, as the tensor has ``rank`` of them.

    Where that is unknown, it is what it picks of two and of four, if there are two at least, and otherwise nothing.
    """

    dim: int | None
    rank: int | None
    place: int
    """How many arguments stand before that for the dimension."""
    is_idle: bool = False
    """Whether it is a module that is never called, and so picks and warns of nothing."""


class ImplicitDims:
    """Finds the softmaxes that are given no dimension."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics
        self._ranks = semantics.of(Ranks)
        self._axes = semantics.of(SeveralAxes)

    @cached_property
    def picked(self) -> dict[ast.Call, ImplicitDim]:
        """The calls that compute, or make, a softmax without a dimension."""
        found = ((call, self._picked(call)) for call in self._semantics.of(Spellings).calls(softmax_words()))
        return {call: picked for call, picked in found if picked is not None}

    def _picked(self, call: ast.Call) -> ImplicitDim | None:
        name = self._semantics.qualified_name(call.func)
        if name not in _functions() and name not in _MODULES:
            return None
        place = 1 if name in _functions() else 0
        if len(call.args) > 1 + place or not _is_none(argument(call, place, "dim")) or _is_open_ended(call):
            return None
        if place and argument(call, 0, "input") is None:
            return None
        inputs = self._inputs_of(call, place)
        ranks = {self._ranks.of(each) for each in inputs}
        if not ranks:
            ranks = {self._rank_behind(call)}
        rank = ranks.pop() if len(ranks) == 1 else None
        if rank is not None:
            return ImplicitDim(implicit_dim(rank), rank, place)
        has_two = bool(inputs) and not ranks & {0, 1, 3} and all(map(self._has_two, inputs))
        is_seen = bool(place) and self._axes.is_result_used_so(call)
        return ImplicitDim(1 if has_two or is_seen else None, None, place, not place and self._is_never_called(call))

    def _is_never_called(self, construction: ast.Call) -> bool:
        """Whether a module is made for an attribute of the class's own instances that nothing reads: not the file, nor, unless
        it is private by its name, any other one of the project that may.
        """
        match self._semantics.tree.parent(construction):
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)]):
                definition = self._semantics.facts.self_class(owner)
                if definition is None or name in self._read:
                    return False
                return name.startswith("_") or not (self._read & _BY_ANY_NAME or self._is_read_elsewhere(name))
        return False

    @cached_property
    def _read(self) -> set[str]:
        """The attributes that the file reads, of anything but torch; what strings name, too."""
        attributes = (each for each in self._semantics.tree.of_type(ast.Attribute) if isinstance(each.ctx, ast.Load))
        named = {each.attr for each in attributes if not (self._semantics.qualified_name(each) or "").startswith("torch.")}
        texts = (each.value for each in self._semantics.tree.of_type(ast.Constant) if isinstance(each.value, str))
        return named.union(*(text.split(".") for text in texts))

    def _is_read_elsewhere(self, attribute: str) -> bool:
        """Whether a file beside this one, or below, may read an attribute, or one that names the folder; or that is unknown.

        Nothing reads what a notebook defines, as it cannot be imported.
        """
        project, file = self._semantics.elsewhere.around, self._semantics.elsewhere.file
        if file.endswith(".ipynb"):
            return False
        if project is None or not file.endswith(".py"):
            return True
        folder = os.path.basename(os.path.dirname(os.path.abspath(file)))
        return project.speaks_of(f"reads: {attribute}", near=True) is not False or bool(project.naming(attribute, (folder,)))

    def _has_two(self, given: ast.expr) -> bool:
        """Whether what a softmax is given has two dimensions at least, or what becomes of it."""
        call = self._semantics.tree.parent(given)
        return self._axes.has(given) or (isinstance(call, ast.Call) and self._axes.is_result_used_so(call))

    def _inputs_of(self, call: ast.Call, place: int) -> list[ast.expr]:
        """The argument of a softmax, or what is given to the module that is made here, or to its like-ranked sequence."""
        if place:
            given = argument(call, 0, "input")
            return [given] if given is not None else []
        match self._semantics.tree.parent(call):
            case ast.Call(args=parts) as container if self._is_sequence(container):
                return self._inputs(container) if self._ranks.are_kept(parts[: parts.index(call)]) else []
        return self._inputs(call)

    def _rank_behind(self, call: ast.Call) -> int | None:
        """How many dimensions what stands in front of a module in a sequence gives."""
        match self._semantics.tree.parent(call):
            case ast.Call(args=parts) as container if self._is_sequence(container):
                return self._ranks.behind(parts[: parts.index(call)])
        return None

    def _is_sequence(self, container: ast.Call) -> bool:
        return self._semantics.qualified_name(container.func) == "torch.nn.Sequential"

    def _inputs(self, construction: ast.Call) -> list[ast.expr]:
        """What the file gives the module that is made by a call."""
        match self._semantics.tree.parent(construction):
            case ast.Assign(targets=[ast.Name() as target]):
                binding = self._semantics.bindings.of(target)
                uses: list[ast.expr] = list(binding.uses) if binding is not None else []
            case ast.Assign(targets=[ast.Attribute(value=owner, attr=name)]) if (
                definition := self._semantics.facts.self_class(owner)
            ) is not None:
                uses = [use for slot in self._semantics.facts.slots(definition, name) for use in slot.uses]
            case ast.Call(func=function) as call if function is construction:
                return call.args[:1]
            case _:
                return []
        calls = [self._semantics.tree.parent(use) for use in uses]
        return [call.args[0] for use, call in zip(uses, calls) if isinstance(call, ast.Call) and call.func is use and call.args]


def _is_none(node: ast.expr | None) -> bool:
    return node is None or is_none(node)


def _is_open_ended(call: ast.Call) -> bool:
    return any(word.arg is None for word in call.keywords) or any(isinstance(part, ast.Starred) for part in call.args)
