"""Loads in programs that need a GPU somewhere: nothing shows that these read what was saved on another device than theirs."""

from __future__ import annotations

import ast
import re
from functools import cached_property

from torchlint.semantics import Semantics
from torchlint.semantics.code.tree import FUNCTIONS
from torchlint.semantics.conditions.unasked_moves import UnaskedMoves
from torchlint.semantics.gpus.flags import is_named_for_gpu
from torchlint.semantics.saving.files import SavedFiles
from torchlint.semantics.saving.gpu.one_gpu import OneGpu

_CHOOSING = re.compile(
    r"is_available|^cpu$|map_location|set_device|(local|world)_?(rank|size)|get_rank|DataParallel|init_process_group|device_ids"
    r"|gpu_?ids?$|^(no|use)_?(cuda|gpu)$|accelerat|fabric|deepspeed|lightning|horovod|^(mps|xpu|npu|hpu)$",
    re.IGNORECASE,
)
"""The words of code that has a choice of devices, or several."""
_OF_PROCESSES = re.compile(
    r"set_device|DistributedDataParallel|(local|world)_?(rank|size)|get_rank|init_process_group", re.IGNORECASE
)
"""The words of code that runs in several processes."""


class GpuFiles:
    """Tells of a file whether it needs a GPU, or leaves that to a project which does."""

    def __init__(self, semantics: Semantics) -> None:
        self._semantics = semantics

    @cached_property
    def needs_gpu(self) -> bool:
        """Whether anything in the file moves something to the one GPU, whatever flags say.

        So does not what is called for the GPU, ``to_gpu``, which is run where there is one. And in a file that speaks of
        several processes, or of which GPU is a process's own, the one GPU may be another one in each.
        """
        if self._semantics.words.match(_OF_PROCESSES):
            return False
        moves = self._semantics.of(OneGpu).moves_to_gpu
        return any(self._semantics.of(UnaskedMoves).is_made(call) and not self._is_for_gpu(call) for call in moves)

    def _is_for_gpu(self, call: ast.Call) -> bool:
        around = (each for each in self._semantics.tree.ancestors(call) if isinstance(each, FUNCTIONS))
        return any(map(is_named_for_gpu, around))

    @cached_property
    def is_of_gpu_project(self) -> bool:
        """Whether the file trains or saves, has no say in where, and another file of the project needs a GPU."""
        is_program = "backward" in self._semantics.facts.calls or bool(self._semantics.of(SavedFiles).saves)
        if not is_program or self._semantics.words.match(_CHOOSING) or self._semantics.of(OneGpu).moves_anything:
            return False
        return self._semantics.elsewhere.speaks_of("moves in any case") is True
