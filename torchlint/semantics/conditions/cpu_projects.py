"""Projects that train on the CPU and never leave it: no file of theirs names another device, or a choice of one."""

from __future__ import annotations

from functools import cached_property

from torchlint.semantics import Semantics


class CpuProjects:
    """Tells whether a file belongs to one."""

    def __init__(self, semantics: Semantics) -> None:
        self._elsewhere = semantics.elsewhere

    @cached_property
    def is_of_one(self) -> bool:
        """Whether the project trains, and no file of it has to do with other devices, but for those that tensors have.

        What does not train may be for others, who run it where they like. Of a file alone nothing is known.
        """
        return self._elsewhere.speaks_of("other devices") is False and self._elsewhere.speaks_of("backward passes") is True
