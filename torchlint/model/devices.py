"""Questions about libcst nodes: where values are, and what waits for them."""

from __future__ import annotations

import libcst as cst

from torchlint.model.joint import Joint
from torchlint.semantics.devices.creations import Creation, Creations
from torchlint.semantics.devices.cudnn import Cudnn
from torchlint.semantics.devices.moves.earlier_moves import EarlierMoves
from torchlint.semantics.devices.placeless import Placeless, PlacelessTensors
from torchlint.semantics.devices.synchronisations import Reading, Synchronisations
from torchlint.semantics.devices.timings import Timing, Timings
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.gpu.gpu_files import GpuFiles
from torchlint.semantics.saving.gpu.one_gpu import OneGpu
from torchlint.semantics.saving.loaded_tensors import LoadedTensors
from torchlint.semantics.saving.own_data import OwnData
from torchlint.semantics.saving.own_files import OwnFiles
from torchlint.semantics.saving.refused_loads import RefusedLoad, RefusedLoads
from torchlint.semantics.saving.training_runs import TrainingRuns
from torchlint.semantics.saving.unsafe_loads import Told, UnsafeLoads
from torchlint.semantics.training.left_on_cpu import LeftOnCpu
from torchlint.semantics.training.trained_objects import TrainedObjects
from torchlint.semantics.training.whole_programs import WholePrograms
from torchlint.text.notebook import NotebookSource


class DevicesQuestions:
    """Where values are, and what waits for them. Made by the `Model`, as ``model.devices``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def is_there_already(self, move: cst.Call) -> bool:
        """Whether what is moved to a device was moved there before, so that the move does nothing."""
        return bool(self._model.answered(self._semantics.of(EarlierMoves).make_needless, move))

    # --- files -------------------------------------------------------------------------------------------------------

    def is_load(self, call: cst.Call) -> bool:
        """Whether a call is one of ``torch.load``."""
        return self._model.twin(call) in self._saved_files.loads

    def loads_tensors(self, load: cst.Call) -> bool:
        """Whether a ``torch.load`` gives tensors, as far as the file shows: weights, a model, what is moved to a device."""
        return self._model.twin(load) in self._semantics.of(LoadedTensors).found

    def place_of_loaded_module(self, load: cst.Call) -> str | None:
        """The name of the device that a whole module which is loaded should be on, as nothing moves it there: empty where
        none is in sight; ``None`` where that is not so.
        """
        return self._model.answered(self._semantics.of(LoadedTensors).place_of_module, load)

    def has_mapped_alternative(self, load: cst.Call) -> bool:
        """Whether another branch of the same condition loads with a ``map_location``."""
        return bool(self._model.answered(self._saved_files.has_mapped_alternative, load))

    def told_weights_only(self, load: cst.Call) -> Told[cst.BaseExpression] | None:
        """The constant that a load of weights is given for ``weights_only``; ``None`` where it is given none."""
        return self._model.found(self._unsafe_loads.told, load)

    def may_be_told_weights_only(self, load: cst.Call) -> bool:
        """Whether a load is given ``weights_only``, or may be, by what it unpacks."""
        return bool(self._model.answered(self._unsafe_loads.may_be_told, load))

    def has_reason_to_unpickle(self, load: cst.Call) -> bool:
        """Whether a load is tried where one of weights alone has failed, or is of a file that its function wrote before."""
        fallback, own = self._unsafe_loads.is_fallback, self._own_files.is_of_own_file
        return bool(self._model.answered(lambda call: fallback(call) or own(call), load))

    def may_hold_weights_only(self, load: cst.Call) -> bool:
        """Whether a load that reads weights only would read the file, as far as is seen, or somebody else has made it."""
        return bool(self._model.answered(self._unsafe_loads.is_of_weights, load))

    def is_tried_behind_load(self, load: cst.Call) -> bool:
        """Whether a load is tried where another one has failed."""
        return bool(self._model.answered(self._unsafe_loads.is_behind_load, load))

    def is_load_of_own_data(self, load: cst.Call) -> bool:
        """Whether a load reads the program's own data, which holds more than weights, such as states of numpy's generator."""
        return bool(self._model.answered(self._own_data.is_read_by, load))

    def is_load_of_test(self, load: cst.Call) -> bool:
        """Whether a load stands in a test, which makes its files itself."""
        return bool(self._model.answered(self._own_files.is_of_test, load))

    def is_load_within_run(self, load: cst.Call) -> bool:
        """Whether the run saved what it loads, torchvision did, it is data, or only the CPU or one GPU is known there."""
        own, runs, gpu = self._own_files, self._semantics.of(TrainingRuns), self._semantics.of(OneGpu)
        if own.knows_cpu_alone or runs.saves_from_cpu_alone or self._semantics.of(GpuFiles).needs_gpu:
            return True
        loaded = self._semantics.of(LoadedTensors)
        asked = (
            loaded.are_data,
            own.is_of_same_run,
            own.is_of_torchvision,
            own.is_of_cpu_file,
            self._semantics.of(LeftOnCpu).is_left_on_cpu,
            runs.is_of_run,
            self._semantics.of(WholePrograms).has_saved,
            self._semantics.of(TrainedObjects).has_saved,
            gpu.is_of_one_gpu,
            own.is_of_cpu_program,
        )
        if any(self._model.answered(question, load) for question in asked):
            return True
        return self._semantics.of(GpuFiles).is_of_gpu_project

    def refused_load(self, load: cst.Call) -> RefusedLoad[cst.BaseExpression] | None:
        """What shows that a file holds more than ``torch.load`` reads when it is told nothing; ``None`` if nothing does."""
        return self._model.found(self._semantics.of(RefusedLoads).found, load)

    def has_objects(self, load: cst.Call) -> bool:
        """Whether what a call loads is used as an object of a class, which is read with ``weights_only=False`` alone."""
        return self._model.answered(self._semantics.of(RefusedLoads).shown_as_object, load) is not None

    def gives_module(self, load: cst.Call) -> bool:
        """Whether what a call loads is used as a whole module; ``False`` where that is not known."""
        return bool(self._model.answered(self._saved_files.gives_module, load))

    def is_in_memory(self, file: cst.BaseExpression) -> bool:
        """Whether what is loaded from or saved to is a buffer in memory, filled nearby; ``False`` where that is not known."""
        return bool(self._model.answered(self._saved_files.is_in_memory, file))

    @property
    def loads_more_than_states(self) -> bool:
        """Whether the file loads something with ``torch.load`` that it does not give to a ``load_state_dict``."""
        return self._saved_files.loads_more_than_states

    @property
    def _saved_files(self) -> SavedFiles:
        return self._semantics.of(SavedFiles)

    @property
    def _own_data(self) -> OwnData:
        return self._semantics.of(OwnData)

    @property
    def _own_files(self) -> OwnFiles:
        return self._semantics.of(OwnFiles)

    @property
    def _unsafe_loads(self) -> UnsafeLoads:
        return self._semantics.of(UnsafeLoads)

    # --- moves -------------------------------------------------------------------------------------------------------

    def creation(self, step: cst.Call) -> Creation[cst.Call, cst.BaseExpression] | None:
        """The making of a tensor that a move or cast behind it copies, where this is the last; ``None`` for other calls."""
        return self._model.found(self._semantics.of(Creations).copied, step)

    # --- waiting -----------------------------------------------------------------------------------------------------

    def reading(self, call: cst.Call) -> Reading[cst.BaseExpression, cst.CSTNode] | None:
        """What a call reads back from the GPU in every step of a training; ``None`` for every other call."""
        return self._model.found(self._semantics.of(Synchronisations).readings, call)

    def awaited_conditions(self, statement: cst.CSTNode) -> tuple[cst.BaseExpression, ...]:
        """The parts of a statement's condition that ask for a tensor's value in every step of a training."""
        return self._model.found(self._semantics.of(Synchronisations).conditions, statement) or ()

    # --- cuDNN -------------------------------------------------------------------------------------------------------

    def is_uneven_benchmark(self, assignment: cst.Assign) -> bool:
        """Whether an assignment turns cuDNN's benchmark on where determinism, which it undoes, is turned on as well."""
        return self._model.twin(assignment) in self._semantics.of(Cudnn).uneven_benchmarks

    def lacks_benchmark(self, loop: cst.For) -> bool:
        """Whether a loop trains, on the GPU, convolutions of inputs of one shape, and nothing sets a flag of cuDNN."""
        return self._model.twin(loop) in self._semantics.of(Cudnn).unset_for

    # --- times -------------------------------------------------------------------------------------------------------

    def unfinished_timing(self, difference: cst.BinaryOperation) -> Timing[cst.CSTNode, cst.CSTNode] | None:
        """What a difference of two readings of the clock times before the GPU has finished it; ``None`` for other times."""
        return self._model.found(self._semantics.of(Timings).unfinished, difference)

    def placeless(self, factory: cst.Call) -> Placeless[cst.BaseExpression] | None:
        """What a tensor meets that a module makes on no device that is said; ``None`` for all other calls.

        A notebook that speaks of no device runs on the CPU, and nobody imports from it.
        """
        if isinstance(self._model.source, NotebookSource) and not self._semantics.of(PlacelessTensors).speaks_of_devices:
            return None
        return self._model.found(self._semantics.of(PlacelessTensors).found, factory)
