"""Questions about libcst nodes: what a training program does."""

from __future__ import annotations

import ast

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics.compiled.breaks import Break, Breaks
from torchlint.semantics.compiled.discarded import DiscardedCompile, DiscardedCompiles
from torchlint.semantics.distributed.bypassed import Bypassed, BypassedWrappers
from torchlint.semantics.distributed.lonely import Lonely, LonelyCollectives, Unwaited
from torchlint.semantics.gradients.lost_terms import LostTerm, LostTerms
from torchlint.semantics.loading.unset_epochs import UnsetEpoch, UnsetEpochs
from torchlint.semantics.loading.unshuffled import Unshuffled, UnshuffledLoaders
from torchlint.semantics.loading.worker_generators import WorkerGenerator, WorkerGenerators
from torchlint.semantics.loading.worker_seeds import WorkerSeed, WorkerSeeds
from torchlint.semantics.mixed_precision.autocasts import AutocastBackwards, InAutocast
from torchlint.semantics.mixed_precision.scaling import ClippedScaled, ScaledGradients, SteppedScaled
from torchlint.semantics.mixed_precision.updating import NeverUpdated, ScalerUpdates
from torchlint.semantics.modes.evaluation_mode_trainings import EvaluationModeTrainings, TrainedInEvaluation
from torchlint.semantics.modes.evaluations import Evaluations, RecordedEvaluation
from torchlint.semantics.modes.functional_dropout import FunctionalDropouts, WrongDropout
from torchlint.semantics.modes.loaded_models import LoadedModels
from torchlint.semantics.modes.training_mode_evaluations import EvaluatedInTraining, TrainingModeEvaluations
from torchlint.semantics.modules.misused_classes import MisusedClasses
from torchlint.semantics.parameters.exchanged import Exchanged, ExchangedModels
from torchlint.semantics.parameters.exhausted import Exhausted, ExhaustedParameters
from torchlint.semantics.parameters.lost import LostParameter, LostParameters
from torchlint.semantics.parameters.replaced import Replaced, ReplacedParameters
from torchlint.semantics.schedules.compounding import Compounding, CompoundingSchedules
from torchlint.semantics.schedules.early import EarlySchedule, EarlySchedules
from torchlint.semantics.schedules.idle import IdleSchedules, LeftBehind
from torchlint.semantics.schedules.units import Schedules, WrongUnit
from torchlint.semantics.steps.accumulation import Unscaled, UnscaledAccumulation
from torchlint.semantics.steps.clipping import Clippings, IdleClip
from torchlint.semantics.steps.lent_gradients import LentGradients, LentOut
from torchlint.semantics.steps.lost_rounds import LostAccumulation, LostRounds
from torchlint.semantics.steps.stale import StaleBackward, StaleBackwards
from torchlint.semantics.steps.wiped_rounds import WipedRounds
from torchlint.semantics.steps.wiping import Wiped, Wiping
from torchlint.semantics.steps.zeroing import PiledUp, Zeroing
from torchlint.semantics.training.freezing import Freezing, FrozenGiven
from torchlint.semantics.training.frozen_running import FrozenRunning, FrozenRunningParts
from torchlint.semantics.training.frozen_use import FrozenUse
from torchlint.semantics.training.meant_calls import MeantCalls
from torchlint.semantics.training.uncalled import Lacks, Uncalled


class TrainingQuestions:
    """What a training program does. Made by the `Model`, as ``model.training``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def piled_up(self, call: cst.Call) -> PiledUp[cst.BaseExpression, cst.CSTNode] | None:
        """What a backward, or a step itself, leaves to a step of an optimizer that uses former rounds, as nothing zeroes it;
        ``None`` if nothing.
        """
        return self._model.found(self._semantics.of(Zeroing).piles, call)

    def evaluated_in_training(self, call: cst.Call) -> EvaluatedInTraining[cst.BaseExpression, cst.CSTNode] | None:
        """The model that a call evaluates in the mode that its training left it in; ``None`` if it does nothing like it."""
        return self._model.found(self._semantics.of(TrainingModeEvaluations).found, call)

    def recorded_in_training(self, call: cst.Call) -> EvaluatedInTraining[cst.BaseExpression, cst.CSTNode] | None:
        """The model that a call evaluates in training mode and with autograd on; ``None`` if it does nothing like it."""
        return self._model.found(self._semantics.of(TrainingModeEvaluations).recorded, call)

    def trained_in_evaluation(self, switch: cst.Call) -> TrainedInEvaluation[cst.BaseExpression, cst.CSTNode] | None:
        """What trains a model in the evaluation mode that ``switch`` put it into; ``None`` if nothing is known to."""
        return self._model.found(self._semantics.of(EvaluationModeTrainings).found, switch)

    def is_frozen(self, module: cst.BaseExpression) -> bool:
        """Whether the file freezes all parameters of a module."""
        return bool(self._model.answered(self._semantics.of(Freezing).is_frozen, module))

    def run_in_training_after(self, load: cst.Call) -> cst.Call | None:
        """What runs the model that ``load`` gives its weights in the training mode that it was made in; ``None`` if nothing."""
        run: cst.Call | None = self._model.found(self._semantics.of(LoadedModels).run_in_training, load)
        return run

    def uncalled(self, function: cst.BaseExpression) -> Lacks | None:
        """What a method lacks that is a statement of its own, and would act on something; ``None`` for everything else."""
        return self._model.found(self._semantics.of(Uncalled).functions, function)

    def may_be_called(self, function: cst.BaseExpression) -> Fact:
        """Whether the program does what was meant once a method that is a statement of its own is called."""
        twin = self._model.twin(function)
        if not isinstance(twin, ast.Attribute):
            return unknown("it may not be meant to be called")
        return self._semantics.of(MeantCalls).call(twin)

    def may_be_called_and_assigned(self, function: cst.BaseExpression) -> Fact:
        """Whether what a method of a tensor gives may take the tensor's place."""
        twin = self._model.twin(function)
        if not isinstance(twin, ast.Attribute):
            return unknown("it may not be meant to be called")
        return self._semantics.of(MeantCalls).assigned(twin)

    def is_uncalled_context(self, item: cst.BaseExpression) -> bool:
        """Whether a ``with`` is given a class of context managers, ``torch.no_grad``, in the place of one."""
        return self._model.twin(item) in self._semantics.of(Uncalled).contexts

    def misused_class(self, call: cst.Call) -> bool | None:
        """Whether a class of modules that is given tensors can be made without options; ``None`` for all other calls."""
        found: bool | None = self._model.found(self._semantics.of(MisusedClasses).found, call)
        return found

    def lent_gradients(self, backward: cst.Call) -> LentGradients[cst.BaseExpression] | None:
        """The models of which one lends the gradients to the other that a backward adds to; ``None`` if nothing piles up."""
        return self._model.found(self._semantics.of(LentOut).found, backward)

    def recorded_evaluations(self, run: cst.Call) -> list[RecordedEvaluation[cst.BaseExpression, cst.CSTNode]]:
        """The evaluations that autograd records for no backward pass, and that start with ``run``; empty if none."""
        return self._model.found(self._semantics.of(Evaluations).recorded, run) or []

    def wiped(self, zero: cst.Call) -> Wiped[cst.BaseExpression, cst.CSTNode] | None:
        """The gradients that a call of ``zero_grad`` wipes before a step uses them; ``None`` if none are known to be."""
        wiped = self._model.found(self._semantics.of(Wiping).wiped, zero)
        return wiped or self._model.found(self._semantics.of(WipedRounds).found, zero)

    def lost_rounds(self, zero: cst.Call) -> LostRounds[cst.BaseExpression, cst.CSTNode] | None:
        """The step every few rounds whose gradients a call of ``zero_grad`` wipes in every round; ``None`` if there is none."""
        return self._model.found(self._semantics.of(LostAccumulation).found, zero)

    def frozen_given(self, parameters: cst.Call) -> FrozenGiven[cst.BaseExpression] | None:
        """What is frozen of the parameters that an optimizer is given; ``None`` where nothing is known to be."""
        return self._model.found(self._semantics.of(Freezing).given, parameters)

    def may_be_given_less(self, parameters: cst.Call) -> Fact:
        """Whether an optimizer that is given something frozen does the same without it."""
        twin = self._model.twin(parameters)
        given = self._semantics.of(Freezing).given.get(twin) if isinstance(twin, ast.Call) else None
        if given is None or not isinstance(twin, ast.Call):
            return unknown("what the optimizer is given is not in sight")
        return self._semantics.of(FrozenUse).fact(given, twin)

    def replaced_parameters(self, optimizer: cst.Call) -> Replaced[cst.CSTNode] | None:
        """What gets other parameters after an optimizer was given those that it had; ``None`` if nothing does."""
        return self._model.found(self._semantics.of(ReplacedParameters).found, optimizer)

    def exchanged_model(self, optimizer: cst.Call) -> Exchanged[cst.BaseExpression] | None:
        """What is trained with an optimizer in place of the model that it was given the parameters of; ``None`` if nothing."""
        return self._model.found(self._semantics.of(ExchangedModels).found, optimizer)

    def lent_optimizer(self, made: cst.Call) -> Exchanged[cst.BaseExpression] | None:
        """What is made in place of a model that a function is given, with the use of an optimizer that has the other one's."""
        return self._model.found(self._semantics.of(ExchangedModels).given, made)

    def frozen_running(self, train: cst.Call) -> FrozenRunning[cst.BaseExpression] | None:
        """The frozen part of a model whose batch normalisation ``train()`` lets go on; ``None`` where none is known."""
        return self._model.found(self._semantics.of(FrozenRunningParts).found, train)

    def exhausted(self, use: cst.BaseExpression) -> Exhausted[cst.CSTNode] | None:
        """What has used up the generator of parameters that something is given; ``None`` if nothing, and for all else."""
        return self._model.found(self._semantics.of(ExhaustedParameters).found, use)

    def wrong_dropout(self, call: cst.Call) -> WrongDropout[cst.BaseExpression] | None:
        """What is wrong with a dropout that does not follow the mode of its module; ``None`` if nothing is known to be."""
        return self._model.found(self._semantics.of(FunctionalDropouts).found, call)

    def lost_parameter(self, target: cst.Attribute) -> LostParameter[cst.BaseExpression] | None:
        """What is computed of a parameter and takes its place as an attribute of a module; ``None`` if nothing does."""
        return self._model.found(self._semantics.of(LostParameters).found, target)

    def lost_term(self, call: cst.Call) -> LostTerm[cst.BaseExpression] | None:
        """The value that is added to a loss without its graph; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(LostTerms).found, call)

    def graph_break(self, node: cst.CSTNode) -> Break[cst.BaseExpression] | None:
        """Why a graph of ``torch.compile`` ends at a node, or is made anew; ``None`` where it does not."""
        return self._model.found(self._semantics.of(Breaks).found, node)

    def discarded_compile(self, call: cst.Call) -> DiscardedCompile[cst.BaseExpression] | None:
        """What a ``torch.compile`` compiles whose result nothing gets; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(DiscardedCompiles).found, call)

    def worker_generator(self, assignment: cst.Assign) -> WorkerGenerator[cst.BaseExpression] | None:
        """The generator that a data set keeps, and whose copies give all workers the same; ``None`` for other assignments."""
        return self._model.found(self._semantics.of(WorkerGenerators).found, assignment)

    def worker_seed(self, call: cst.Call) -> WorkerSeed[cst.BaseExpression] | None:
        """The seeds of a loader's workers that are the same in every epoch; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(WorkerSeeds).found, call)

    def unshuffled(self, loader: cst.Call) -> Unshuffled[cst.BaseExpression] | None:
        """How a loader that a model is trained from is told no order; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(UnshuffledLoaders).found, loader)

    def unset_epoch(self, sampler: cst.Call) -> UnsetEpoch[cst.BaseExpression, cst.CSTNode] | None:
        """The loop over epochs that tells a distributed sampler of none; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(UnsetEpochs).found, sampler)

    def clipped_scaled(self, clip: cst.Call) -> ClippedScaled[cst.BaseExpression] | None:
        """The scaled gradients that a call clips before they are unscaled; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(ScaledGradients).clipped, clip)

    def stepped_scaled(self, step: cst.Call) -> SteppedScaled[cst.BaseExpression] | None:
        """The scaled gradients that a plain step of an optimizer uses; ``None`` if it does not, and for all other calls."""
        return self._model.found(self._semantics.of(ScaledGradients).stepped, step)

    def never_updated(self, step: cst.Call) -> NeverUpdated[cst.BaseExpression, cst.CSTNode] | None:
        """The scaler of a step that nothing updates; ``None`` where something does, or may."""
        return self._model.found(self._semantics.of(ScalerUpdates).missing, step)

    def in_autocast(self, backward: cst.Call) -> InAutocast[cst.CSTNode] | None:
        """The autocast region that a backward pass runs in; ``None`` if in none."""
        return self._model.found(self._semantics.of(AutocastBackwards).found, backward)

    def idle_clip(self, clip: cst.Call) -> IdleClip[cst.BaseExpression, cst.CSTNode] | None:
        """The step that does not see what a call clips, and the backward that it clips; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(Clippings).idle, clip)

    def unscaled_accumulation(self, backward: cst.Call) -> Unscaled[cst.BaseExpression] | None:
        """The loss of each of several rounds that is not divided by their number; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(UnscaledAccumulation).found, backward)

    def bypassed_wrapper(self, call: cst.Call) -> Bypassed[cst.BaseExpression] | None:
        """The distributed wrapper that a forward pass goes past, and is back-propagated; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(BypassedWrappers).found, call)

    def lonely_collective(self, call: cst.Call) -> Lonely[cst.BaseExpression, cst.CSTNode] | None:
        """The condition on the rank that a collective is called under, by some processes alone; ``None`` for all else."""
        return self._model.found(self._semantics.of(LonelyCollectives).alone, call)

    def unwaited(self, call: cst.Call) -> Unwaited | None:
        """What an operation of several processes is called that goes on with nobody waiting for it; ``None`` for all else."""
        found: Unwaited | None = self._model.found(self._semantics.of(LonelyCollectives).unwaited, call)
        return found

    def early_schedule(self, step: cst.Call) -> EarlySchedule[cst.BaseExpression, cst.CSTNode] | None:
        """The step of an optimizer that should come before one of a scheduler; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(EarlySchedules).found, step)

    def unused_schedule(self, making: cst.Call) -> cst.BaseExpression | None:
        """The step of an optimizer beside which nothing moves the scheduler on that a call makes; ``None`` for all others."""
        step: cst.BaseExpression | None = self._model.found(self._semantics.of(IdleSchedules).unused, making)
        return step

    def left_behind(self, making: cst.Call) -> LeftBehind[cst.BaseExpression] | None:
        """The scheduler that goes on with the optimizer before, where a call makes another one; ``None`` for all others."""
        return self._model.found(self._semantics.of(IdleSchedules).left_behind, making)

    def wrong_unit(self, making: cst.Call) -> WrongUnit[cst.BaseExpression] | None:
        """The length of a scheduler in other units than it is moved on in; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(Schedules).wrong_units, making)

    def compounding(self, rates: cst.Call) -> Compounding[cst.BaseExpression] | None:
        """The factor that a scheduler applies to its base's ``get_lr``, and once more in each step; ``None`` for all others."""
        return self._model.found(self._semantics.of(CompoundingSchedules).found, rates)

    def stale_backward(self, backward: cst.Call) -> StaleBackward[cst.BaseExpression, cst.CSTNode] | None:
        """The step that changes weights which a backward pass goes through later; ``None`` for all other calls."""
        return self._model.found(self._semantics.of(StaleBackwards).found, backward)
