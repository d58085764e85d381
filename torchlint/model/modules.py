"""Questions about libcst nodes: what is a module, and what is in it."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics.devices.plain_tensors import PlainTensor, PlainTensors
from torchlint.semantics.modules.compared_keys import ComparedKeys
from torchlint.semantics.modules.constructors.initialisations import (
    Initialisations,
    InitialisedLate,
    MentionedInit,
    NeverInitialised,
)
from torchlint.semantics.modules.containers.called import CalledContainer, CalledContainers
from torchlint.semantics.modules.flags import ModuleFlags
from torchlint.semantics.modules.forward_calls import ForwardCalls
from torchlint.semantics.modules.loaded.results import LoadResult, LoadResults
from torchlint.semantics.modules.lost_selves import GivesNothing, LostSelves
from torchlint.semantics.modules.unused import Unused, UnusedModules
from torchlint.semantics.registration.refused_assignments import Refused, RefusedAssignments
from torchlint.semantics.registration.repeated import Repeated, RepeatedModules
from torchlint.semantics.registration.unregistered import Unregistered, UnregisteredModules
from torchlint.semantics.saving.modules import SavedModules
from torchlint.semantics.saving.wrapped_states import WrappedState, WrappedStates
from torchlint.semantics.scores.loss_inputs import LossInputs, WrongInput
from torchlint.semantics.scores.thresholded_logits import Thresholded, ThresholdedLogits


class ModulesQuestions:
    """What is a module, and what is in it. Made by the `Model`, as ``model.modules``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def saved_whole(self, save: cst.Call) -> tuple[cst.BaseExpression, ...]:
        """The modules that a ``torch.save`` writes to a file with their code's names; empty if it saves something else."""
        return self._model.found(self._semantics.of(SavedModules).whole, save) or ()

    def is_chosen_whole(self, save: cst.Call) -> bool:
        """Whether a save of a whole module stands under a condition whose other branch saves its state."""
        return bool(self._model.answered(self._semantics.of(SavedModules).is_chosen, save))

    def may_be_none(self, module: cst.BaseExpression) -> bool:
        """Whether a module that is saved may be ``None`` as well, as far as the file tells."""
        return bool(self._model.answered(self._semantics.of(SavedModules).may_be_none, module))

    def freezes_nothing(self, owner: cst.BaseExpression, flag: cst.BaseExpression) -> bool:
        """Whether ``owner`` is a module, whose `requires_grad` means nothing when it is set to ``flag``."""
        its, given = self._model.twin(owner), self._model.twin(flag)
        if not isinstance(its, ast.expr) or not isinstance(given, ast.expr):
            return False
        return self._semantics.of(ModuleFlags).mean_nothing(its, given)

    def is_flag_set_beside(self, owner: cst.BaseExpression, flag: cst.BaseExpression) -> bool:
        """Whether a loop beside sets the `requires_grad` of all parameters of the module ``owner`` to the same ``flag``."""
        its, given = self._model.twin(owner), self._model.twin(flag)
        if not isinstance(its, ast.expr) or not isinstance(given, ast.expr):
            return False
        return self._semantics.of(ModuleFlags).is_set_beside(its, given)

    def leaves_out_hooks(self, call: cst.Call) -> bool:
        """Whether ``x.forward(…)`` runs a module past its hooks, not meaning to; no where that is not known."""
        return bool(self._model.answered(self._semantics.of(ForwardCalls).leave_out_hooks, call))

    def is_instance_itself(self, node: cst.BaseExpression) -> bool:
        """Whether an expression is the instance that a method of a class of the file is called on: ``self``."""
        twin = self._model.twin(node)
        return twin is not None and self._semantics.facts.self_class(twin) is not None

    def lost_self(self, method: cst.FunctionDef) -> GivesNothing[cst.CSTNode] | None:
        """Where a method of a module gives nothing, in the place of one that gives the module; ``None`` for all others."""
        return self._model.found(self._semantics.of(LostSelves).found, method)

    def called_container(self, call: cst.Call) -> CalledContainer[cst.BaseExpression] | None:
        """The container without a ``forward`` that is called; ``None`` where something else is, or may be."""
        return self._model.found(self._semantics.of(CalledContainers).found, call)

    def load_result(self, call: cst.Call) -> LoadResult[cst.BaseExpression] | None:
        """What the result of a ``load_state_dict`` is taken for that it is not; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(LoadResults).found, call)

    def wrong_initialisation(
        self, node: cst.CSTNode
    ) -> InitialisedLate[cst.CSTNode] | NeverInitialised[cst.CSTNode] | MentionedInit | None:
        """What is wrong with a module's constructor that uses ``node`` before the base class is initialised, or without that.

        ``None`` if nothing is. Where only calling the module raises, the node is the constructor's first parameter.
        """
        found: InitialisedLate[cst.CSTNode] | NeverInitialised[cst.CSTNode] | MentionedInit | None
        found = self._model.found(self._semantics.of(Initialisations).wrong, node)
        return found

    def refused_assignment(self, assignment: cst.Assign) -> Refused[cst.BaseExpression] | None:
        """What an assignment gives the name of a parameter, buffer or module that is none; ``None`` for all others."""
        return self._model.found(self._semantics.of(RefusedAssignments).found, assignment)

    def unregistered(self, target: cst.Attribute) -> Unregistered[cst.BaseExpression] | None:
        """The modules or parameters that an attribute of a module is given in a plain collection, which registers none.

        ``None`` where it is not known that there are any, or something else registers them.
        """
        return self._model.found(self._semantics.of(UnregisteredModules).kept, target)

    def wrong_input(self, value: cst.BaseExpression) -> WrongInput[cst.BaseExpression] | None:
        """Why a value is not what the loss expects that it is given to; ``None`` where that is not known."""
        return self._model.found(self._semantics.of(LossInputs).wrong, value)

    def plain_tensor(self, assignment: cst.Assign) -> PlainTensor[cst.BaseExpression] | None:
        """How a tensor that a module keeps meets the module's inputs, though it is no buffer; ``None`` where it does not."""
        return self._model.found(self._semantics.of(PlainTensors).found, assignment)

    def wrapped_state(self, call: cst.Call) -> WrappedState[cst.BaseExpression] | None:
        """The wrapped module whose ``state_dict()`` is saved; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(WrappedStates).found, call)

    def keys_are_compared(self, loading: cst.Call) -> bool:
        """Whether the code holds the keys of a state against those of the module before this call loads it."""
        return bool(self._model.answered(self._semantics.of(ComparedKeys).holds, loading))

    def repeated(self, given: cst.BaseExpression) -> Repeated[cst.BaseExpression] | None:
        """The modules of which a container is given the same ones several times; ``None`` where each is another."""
        return self._model.found(self._semantics.of(RepeatedModules).found, given)

    def thresholded_logits(self, node: cst.BaseExpression) -> Thresholded[cst.BaseExpression] | None:
        """The logits that a comparison, or rounding, takes for probabilities; ``None`` for everything else."""
        return self._model.found(self._semantics.of(ThresholdedLogits).found, node)

    def raw_input(self, loss: cst.Call) -> WrongInput[cst.BaseExpression] | None:
        """The logits that a loss of probabilities is given; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(LossInputs).raw, loss)

    def unused(self, assignment: cst.Assign) -> Unused | None:
        """The layer that a constructor makes and nothing uses; ``None`` for all other assignments."""
        found: Unused | None = self._model.found(self._semantics.of(UnusedModules).found, assignment)
        return found
