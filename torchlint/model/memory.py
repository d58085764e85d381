"""Questions about libcst nodes: which objects values are, and who shares their memory."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics.aliasing.dated_constructions import DatedConstructions
from torchlint.semantics.aliasing.detached import DetachedAliases, DetachedChange
from torchlint.semantics.aliasing.expansions import ExpandedWeight, ExpandedWrite, Expansions
from torchlint.semantics.aliasing.identity import IdentityTest, IdentityTests
from torchlint.semantics.aliasing.kept_snapshots import KeptSnapshot, KeptSnapshots
from torchlint.semantics.aliasing.meant_copies import MeantCopies
from torchlint.semantics.aliasing.overtaken import OvertakenAliases
from torchlint.semantics.aliasing.shared_buffers import SharedBuffers, SharedChange
from torchlint.semantics.aliasing.spent_arrays import SpentArrays
from torchlint.semantics.certainty.replaceable import Replaceable
from torchlint.semantics.devices.moves.cpu_meetings import CpuMeetings
from torchlint.semantics.graphs.counted import Counted
from torchlint.semantics.memory.copies import Copies
from torchlint.semantics.memory.discarded import Discarded, DiscardedResults
from torchlint.semantics.memory.lifetimes import Lifetimes, Lingering
from torchlint.semantics.memory.reads import Reads
from torchlint.semantics.memory.rebound import Rebound, ReboundItems


class MemoryQuestions:
    """Which objects values are, and who shares their memory. Made by the `Model`, as ``model.memory``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def detached_changes(self, node: cst.CSTNode) -> list[DetachedChange[cst.BaseExpression]]:
        """The tensors that a call, or an assignment to ``node``, changes by way of a ``.detach()``; empty if none is known."""
        return self._model.found(self._semantics.of(DetachedAliases).changes, node) or []

    def overtaken_change(self, node: cst.CSTNode) -> DetachedChange[cst.BaseExpression] | None:
        """What a call, or an assignment to ``node``, changes besides its tensor: a ``.detach()`` of it that was kept before."""
        found: DetachedChange[cst.BaseExpression] | None = self._model.found(self._semantics.of(OvertakenAliases).changes, node)
        return found

    def copying_methods(self, value: cst.BaseExpression, *, detached: bool = False) -> tuple[str, ...]:
        """The methods that make a copy of a tensor or array, each called on what the one before gives.

        A copy of a tensor has no graph; ``detached`` tells that the value has none, whatever its expression. An ``x.data``
        counts as ``x``, so that the first takes its place.
        """
        copies = self._semantics.of(Copies)
        return self._model.answered(lambda node: copies.methods(node, detached=detached), value) or ()

    def expanded_writes(self, node: cst.CSTNode) -> list[ExpandedWrite[cst.BaseExpression]]:
        """The expanded tensors that a call, or an assignment to ``node``, writes to; empty if none is known."""
        return self._model.found(self._semantics.of(Expansions).writes, node) or []

    def expanded_weight(self, call: cst.Call) -> ExpandedWeight[cst.BaseExpression] | None:
        """How the result of a call that expands a tensor is made a buffer or parameter; ``None`` where it is not."""
        return self._model.found(self._semantics.of(Expansions).weights, call)

    def reads_form(self, node: cst.BaseExpression) -> bool:
        """Whether only the shape, type or device of a tensor is read, or a number; ``False`` where that is not known."""
        return bool(self._model.answered(self._semantics.of(Reads).is_of_form, node))

    def is_shared_alike(self, data: cst.Attribute) -> Fact:
        """Whether an ``x.data``, where ``x`` is a tensor, can be ``x.detach()``, whatever is changed in place, as a fact."""
        fact: Fact | None = self._model.answered(self._semantics.of(Counted).fact, data)
        return fact if fact is not None else unknown("it may be changed in place")

    def goes_into_new_value(self, data: cst.Attribute) -> bool:
        """Whether the values of an ``x.data`` only go into a new tensor or a comparison, right where it stands, for certain."""
        return bool(self._model.answered(self._semantics.of(Counted).goes_into_new_value, data))

    def makes_new_value(self, node: cst.BaseExpression) -> bool:
        """Whether the values of a tensor go into a new one, or a number, and it shares no memory with what is made of it.

        ``False`` where that is not known.
        """
        return bool(self._model.answered(self._semantics.of(Reads).makes_new_value, node))

    def discarded(self, call: cst.BaseExpression) -> Discarded[cst.BaseExpression] | None:
        """What a call, as a statement, computes a tensor from and throws it away; ``None`` if it does nothing like it."""
        return self._model.found(self._semantics.of(DiscardedResults).found, call)

    def may_take_its_place(self, call: cst.BaseExpression) -> Fact:
        """Whether a result that is thrown away is the same tensor, where it was meant to be, once it is assigned to that."""
        twin = self._model.twin(call)
        discarded = self._semantics.of(DiscardedResults).found.get(twin) if isinstance(twin, ast.Call) else None
        if discarded is None or not isinstance(twin, ast.Call):
            return unknown("what it is computed from is not in sight")
        met = self._semantics.of(CpuMeetings).fact(twin, discarded.tensor)
        return self._semantics.of(Replaceable).moved(twin, discarded.tensor) & met

    def identity_test(self, node: cst.CSTNode) -> IdentityTest[cst.BaseExpression] | None:
        """The two objects whose identity a comparison or assertion asks for, though their memory is meant.

        ``None`` for every other comparison, and where it is not known that they are tensors over the same memory.
        """
        return self._model.found(self._semantics.of(IdentityTests).found, node)

    def is_copied_for_nothing(self, array: cst.BaseExpression) -> bool:
        """Whether a value is an array of some size that nobody else has and that is not used again; no where not known."""
        return bool(self._model.answered(self._semantics.of(SpentArrays).is_copied_for_nothing, array))

    def is_list_of_arrays(self, node: cst.BaseExpression) -> bool:
        """Whether a value is a list or tuple of arrays and of nothing else; ``False`` where that is not known."""
        return bool(self._model.answered(self._semantics.of(SpentArrays).are_in_list, node))

    def lingering(self, name: cst.Name) -> Lingering[cst.CSTNode] | None:
        """How long the tensor lives that a loop binds to ``name``; ``None`` where it is not known to outlive its use."""
        return self._model.found(self._semantics.of(Lifetimes).lingering, name)

    def shared_change(self, node: cst.CSTNode) -> SharedChange[cst.BaseExpression] | None:
        """What a call, or an assignment to ``node``, changes of memory that an array and a tensor in use share.

        ``None`` where nothing is known to be changed.
        """
        return self._model.found(self._semantics.of(SharedBuffers).changes, node)

    def is_change_perhaps_shared(self, construction: cst.Call) -> bool:
        """Whether an array, or the tensor that a legacy constructor makes of it, is changed while the other one is used."""
        return self._model.twin(construction) in self._semantics.of(SharedBuffers).perhaps

    def is_but_dated(self, construction: cst.Call) -> bool:
        """Whether the call of a legacy constructor means what it says, and nothing that it may share changes."""
        return self._model.twin(construction) in self._semantics.of(DatedConstructions).found

    def kept_snapshots(self, node: cst.CSTNode) -> list[KeptSnapshot[cst.CSTNode]]:
        """How what an expression takes for a copy of weights is kept while they change; empty where that is not known."""
        return self._model.found(self._semantics.of(KeptSnapshots).found, node) or []

    def is_meant_as_copy(self, node: cst.CSTNode, kept: KeptSnapshot[cst.CSTNode]) -> Fact:
        """Whether nothing but a copy can be wanted of a snapshot."""
        twin = self._model.twin(node)
        if not isinstance(twin, ast.expr):
            return unknown("code may rely on the memory that is shared")
        return self._semantics.of(MeantCopies).fact(twin, kept.of)

    def rebound_item(self, assignment: cst.Assign) -> Rebound[cst.CSTNode] | None:
        """Whose items stay as they are where a loop gives its variable a new tensor; ``None`` for other assignments."""
        return self._model.found(self._semantics.of(ReboundItems).found, assignment)
