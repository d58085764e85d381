"""Questions about libcst nodes: whether values carry graph, and who needs that."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Any, cast

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics import Type
from torchlint.semantics.autograd.accumulation import Accumulations, Leak
from torchlint.semantics.autograd.nonleaf_gradients import NonleafGradients, Rebound, Unretained
from torchlint.semantics.autograd.rounds import RoundGraphs
from torchlint.semantics.certainty.flag_owners import FlagOwners
from torchlint.semantics.certainty.grad_mode import GradMode
from torchlint.semantics.gradients.discarded import DiscardedGradients
from torchlint.semantics.gradients.evident_graphs import EvidentGraphs
from torchlint.semantics.gradients.leaf_changes import LeafChange, LeafChanges
from torchlint.semantics.gradients.local_results import LocalResults
from torchlint.semantics.gradients.saved.changes import SavedChange, SavedChanges, SavedLayerChange
from torchlint.semantics.gradients.saved.own_changes import OwnChanges
from torchlint.semantics.gradients.saved.unsaved_values import UnsavedValues
from torchlint.semantics.gradients.severed import MadeLeaf, NewLeaf, SeveredGraphs
from torchlint.semantics.graphs.graphless import Graphless
from torchlint.semantics.graphs.likely.graphless import LikelyGraphless
from torchlint.semantics.graphs.likely.unrecorded_values import UnrecordedValues
from torchlint.semantics.graphs.own_lists import OwnLists
from torchlint.semantics.graphs.wanted_gradients import WantedGradients
from torchlint.semantics.modes.runs.discarded_graphs import Discarded, DiscardedGraphs
from torchlint.semantics.modules.round_trips import RoundTrip, RoundTrips
from torchlint.semantics.pending.autocast import Autocast
from torchlint.semantics.purpose import Purpose
from torchlint.semantics.training.trained_lists import TrainedLists


class AutogradQuestions:
    """Whether values carry graph, and who needs that. Made by the `Model`, as ``model.autograd``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    @property
    def makes_graphs_of_gradients(self) -> bool:
        """Whether the file speaks of ``create_graph``, so that gradients may carry graph themselves."""
        return self._semantics.words.speak_of("create_graph")

    @cached_property
    def may_propagate(self) -> bool:
        """Whether a backward may go through what the file computes: it calls one, or defines a ``forward`` for others."""
        is_called = not {"backward", "grad"}.isdisjoint(self._semantics.facts.calls)
        return is_called or any(each.name == "forward" for each in self._semantics.tree.of_type(ast.FunctionDef))

    @property
    def trains(self) -> bool:
        """Whether a backward is called in the file, or a step of an optimizer."""
        return not {"backward", "grad", "step"}.isdisjoint(self._semantics.facts.calls)

    def accumulation(self, statement: cst.CSTNode) -> Leak[cst.BaseExpression] | None:
        """What a statement adds, with its graph, to something that outlives the loop; ``None`` if nothing."""
        return self._model.found(self._semantics.of(Accumulations).leaks, statement)

    def gets_trained_losses(self, statement: cst.CSTNode) -> bool:
        """Whether a statement surely keeps the losses of a training's steps in a list that outlives these."""
        return bool(self._model.answered(self._semantics.of(TrainedLists).get_losses, statement))

    def adds_assumed_graph(self, statement: cst.CSTNode) -> bool:
        """Whether a sum gets what is only taken to have a graph: it is not back-propagated itself, and nothing shows one."""
        return bool(self._model.answered(self._semantics.of(TrainedLists).is_assumed, statement))

    def is_kept_for_test(self, target: cst.BaseExpression) -> bool:
        """Whether a list that keeps values is one of a test of the code, and is gone with it."""
        return bool(self._model.answered(self._semantics.of(OwnLists).is_of_test, target))

    def used_up(self, backward: cst.Call) -> cst.BaseExpression | None:
        """The loss that a backward in a loop propagates, if no round needs its graph again; ``None`` if one may."""
        return self._model.answered(self._semantics.of(RoundGraphs).used_up, backward)

    def is_off(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in a ``with`` block, or a decorated function, that turns autograd off."""
        return bool(self._model.answered(self._semantics.no_grad.block, node))

    def runs_off(self, node: cst.CSTNode) -> bool:
        """Whether autograd is off where a node runs, by a block, a decorator, a statement before, or where all callers are."""
        return bool(self._model.answered(self._semantics.no_grad.covers, node))

    def is_of_evaluation(self, node: cst.CSTNode) -> bool:
        """Whether a node stands in a function that is called like one that evaluates a model, and back-propagates nothing."""
        return bool(self._model.answered(self._semantics.of(Purpose).is_in_evaluation, node))

    def keeps_cast(self, node: cst.BaseExpression) -> bool:
        """Whether autocast may keep a cast of ``node`` for what follows, if it is a leaf that requires grad."""
        return bool(self._model.answered(self._semantics.of(Autocast).is_cast, node))

    def is_surely_off(self, node: cst.CSTNode) -> Fact:
        """Whether a node runs with autograd off, whoever calls, as a fact that a fix can rest on."""
        fact: Fact | None = self._model.answered(self._semantics.of(GradMode).off, node)
        return fact if fact is not None else unknown("autograd may be on here")

    def is_graphless(self, node: cst.BaseExpression) -> Fact:
        """Whether no graph has reached a value on any path to here, as a fact that a fix can rest on."""
        fact: Fact | None = self._model.answered(self._semantics.of(Graphless).fact, node)
        return fact if fact is not None else unknown("it may carry graph")

    def seems_graphless(self, node: cst.BaseExpression) -> bool:
        """Whether a tensor has no graph, as far as the file shows: labels, indices, what is made with autograd off."""
        return bool(self._model.answered(self._semantics.of(LikelyGraphless).is_graphless, node))

    def shows_graph(self, node: cst.BaseExpression) -> bool:
        """Whether something shows that a tensor has a graph: what computes it, or the name of an output or a loss."""
        return bool(self._model.answered(self._semantics.of(EvidentGraphs).shows, node))

    def is_handed_in(self, node: cst.BaseExpression) -> bool:
        """Whether a value is an argument of its function, or an item of one: what it is, the callers decide."""
        return bool(self._model.answered(self._semantics.of(LikelyGraphless).is_handed_in, node))

    def is_made_unrecorded(self, node: cst.BaseExpression) -> bool:
        """Whether a value is made where autograd is off, or by a function that is called so alone, as far as the file shows."""
        return bool(self._model.answered(self._semantics.of(UnrecordedValues).is_one, node))

    def changes_unsaved(self, tensor: cst.BaseExpression, change: cst.BaseExpression) -> bool:
        """Whether a change is of what no backward pass has saved, has no graph, and so leaves all gradients as they are."""
        unsaved, twin = self._semantics.of(UnsavedValues), self._model.twin(change)
        return isinstance(twin, ast.expr) and bool(self._model.answered(lambda node: unsaved.are_changed(node, twin), tensor))

    def is_local_result(self, node: cst.BaseExpression) -> bool:
        """Whether a function has a value of a call or a loader for itself, and no backward goes through what it makes of it."""
        return bool(self._model.answered(self._semantics.of(LocalResults).is_result, node))

    def saved_change(self, node: cst.CSTNode) -> SavedChange[cst.BaseExpression, cst.CSTNode] | None:
        """What a call, a target or an augmented assignment changes in place that the backward pass needs; ``None`` if none."""
        return self._model.found(self._semantics.of(SavedChanges).at, node)

    def saved_layer_change(self, layer: cst.Call) -> SavedLayerChange[cst.BaseExpression] | None:
        """How a layer of a sequence changes in place what the one before it needs; ``None`` if it does not."""
        return self._model.found(self._semantics.of(SavedChanges).in_sequences, layer)

    def discarded_gradients(self, call: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a call, as a statement, differentiates without that anybody gets the gradients; ``None`` if it does not."""
        return self._model.found(self._semantics.of(DiscardedGradients).found, call)

    def leaf_change(self, node: cst.CSTNode) -> LeafChange[cst.BaseExpression, cst.CSTNode] | None:
        """The leaf that a call, a target or an augmented assignment changes in place while autograd is on; ``None`` if none."""
        return self._model.found(self._semantics.of(LeafChanges).at, node)

    def is_own_change(self, node: cst.CSTNode) -> Fact:
        """Whether nobody can tell a change of what is saved from one out of place."""
        change = self._semantics.of(SavedChanges).at.get(cast(Any, self._model.twin(node)))
        found = self._semantics.of(OwnChanges)
        return found.saved(change) if change is not None else unknown("code may rely on the change")

    def is_leaf_change_alone(self, node: cst.CSTNode) -> Fact:
        """Whether what is changed in place certainly is a leaf that requires grad."""
        change = self._semantics.of(LeafChanges).at.get(cast(Any, self._model.twin(node)))
        found = self._semantics.of(OwnChanges)
        return found.leaf(change) if change is not None else unknown("it may be no leaf")

    def is_unseen_layer_change(self, layer: cst.Call) -> Fact:
        """Whether nothing but the sequence sees what one of its layers changes in place."""
        twin = self._model.twin(layer)
        found = self._semantics.of(OwnChanges)
        return found.in_sequence(twin) if isinstance(twin, ast.expr) else unknown("the layer may be used on its own")

    def made_leaf(self, flag: cst.BaseExpression) -> MadeLeaf[cst.BaseExpression] | None:
        """What a flag ``requires_grad`` makes a leaf of that is computed and back-propagated; ``None`` if nothing."""
        return self._model.found(self._semantics.of(SeveredGraphs).made_leaves, flag)

    def new_leaf(self, call: cst.Call) -> NewLeaf[cst.BaseExpression] | None:
        """The new leaf that a call makes of a computed value that is back-propagated; ``None`` if it makes none."""
        return self._model.found(self._semantics.of(SeveredGraphs).new_leaves, call)

    def round_trip(self, call: cst.Call) -> RoundTrip[cst.BaseExpression] | None:
        """What a layer has computed, if a call makes a tensor of it without its graph, for other layers; else ``None``."""
        return self._model.found(self._semantics.of(RoundTrips).found, call)

    def is_told_later(self, owner: cst.BaseExpression) -> bool:
        """Whether what a name stands for becomes a parameter that is told not to require grad."""
        return bool(self._model.answered(self._semantics.of(FlagOwners).is_told_later, owner))

    def takes_flag(self, owner: cst.BaseExpression, value: cst.BaseExpression | None, wrong: str) -> Fact:
        """Whether ``owner`` takes ``value`` as its flag ``requires_grad``, and nobody reads the attribute ``wrong`` of it."""
        twin, flag = self._model.twin(owner), self._model.twin(value) if value is not None else None
        if not isinstance(twin, ast.expr):
            return unknown("it may be no parameter")
        owners, given = self._semantics.of(FlagOwners), flag if isinstance(flag, ast.expr) else None
        is_module = self._semantics.kind(twin).type is Type.MODULE
        return owners.module(twin, given, wrong) if is_module else owners.parameter(twin, given, wrong)

    def is_gradient_retained(self, read: cst.Attribute) -> Fact:
        """Whether a gradient is certainly there where it is read, and wanted, once ``retain_grad()`` has been called."""
        twin = self._model.twin(read)
        found = self._semantics.of(WantedGradients)
        return found.retained(twin) if isinstance(twin, ast.Attribute) else unknown("the tensor may have no graph")

    def has_gradient_of_leaf(self, read: cst.Attribute) -> Fact:
        """Whether ``w.grad`` is certainly there, and wanted, where ``w[0].grad`` is read."""
        twin = self._model.twin(read)
        found = self._semantics.of(WantedGradients)
        return found.of_leaf(twin) if isinstance(twin, ast.Attribute) else unknown("it may be None as well")

    def nonleaf_gradient(
        self, node: cst.Attribute
    ) -> Unretained[cst.BaseExpression, cst.CSTNode] | Rebound[cst.BaseExpression, cst.CSTNode] | None:
        """Why a ``.grad`` that is read is always ``None``; ``None`` where it may be a gradient."""
        return self._model.found(self._semantics.of(NonleafGradients).reads, node)

    def discarded_graph(self, run: cst.Call) -> Discarded[cst.BaseExpression, cst.CSTNode] | None:
        """What is to be known of a run of a model whose graph ``detach()`` throws away; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(DiscardedGraphs).found, run)
