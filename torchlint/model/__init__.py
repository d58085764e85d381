"""The one joint between what is written and what it means: `Model` asks the semantics about libcst nodes.

Rules come in here; nothing but this package imports both libcst and `torchlint.semantics`.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from torchlint.model.joint import Joint

if TYPE_CHECKING:
    from torchlint.model.apis import ApisQuestions
    from torchlint.model.autograd import AutogradQuestions
    from torchlint.model.code import CodeQuestions
    from torchlint.model.data import DataQuestions
    from torchlint.model.devices import DevicesQuestions
    from torchlint.model.kinds import KindsQuestions
    from torchlint.model.memory import MemoryQuestions
    from torchlint.model.modules import ModulesQuestions
    from torchlint.model.numbers import NumbersQuestions
    from torchlint.model.shapes import ShapesQuestions
    from torchlint.model.training import TrainingQuestions
    from torchlint.model.variables import VariablesQuestions


class Model(Joint):
    """What one file means, in terms of libcst nodes.

    Questions about a part of the code take its libcst node. One that `ast` has no node for (a bracket, a comma, the inner half
    of ``a and b and c``), and one that is new and in no file yet, have the answer for "unknown".
    """

    @cached_property
    def code(self) -> CodeQuestions:
        """What is written where, and what names mean."""
        from torchlint.model.code import CodeQuestions

        return CodeQuestions(self)

    @cached_property
    def apis(self) -> ApisQuestions:
        """How the file uses the APIs of torch and its libraries."""
        from torchlint.model.apis import ApisQuestions

        return ApisQuestions(self)

    @cached_property
    def kinds(self) -> KindsQuestions:
        """What values are, beyond `Model.kind`."""
        from torchlint.model.kinds import KindsQuestions

        return KindsQuestions(self)

    @cached_property
    def autograd(self) -> AutogradQuestions:
        """Whether values carry graph, and who needs that."""
        from torchlint.model.autograd import AutogradQuestions

        return AutogradQuestions(self)

    @cached_property
    def memory(self) -> MemoryQuestions:
        """Which objects values are, and who shares their memory."""
        from torchlint.model.memory import MemoryQuestions

        return MemoryQuestions(self)

    @cached_property
    def data(self) -> DataQuestions:
        """What is done with the ``.data`` of tensors."""
        from torchlint.model.data import DataQuestions

        return DataQuestions(self)

    @cached_property
    def shapes(self) -> ShapesQuestions:
        """Which axes tensors have."""
        from torchlint.model.shapes import ShapesQuestions

        return ShapesQuestions(self)

    @cached_property
    def modules(self) -> ModulesQuestions:
        """What is a module, and what is in it."""
        from torchlint.model.modules import ModulesQuestions

        return ModulesQuestions(self)

    @cached_property
    def training(self) -> TrainingQuestions:
        """What a training program does."""
        from torchlint.model.training import TrainingQuestions

        return TrainingQuestions(self)

    @cached_property
    def devices(self) -> DevicesQuestions:
        """Where values are, and what waits for them."""
        from torchlint.model.devices import DevicesQuestions

        return DevicesQuestions(self)

    @cached_property
    def numbers(self) -> NumbersQuestions:
        """What becomes of numbers."""
        from torchlint.model.numbers import NumbersQuestions

        return NumbersQuestions(self)

    @cached_property
    def variables(self) -> VariablesQuestions:
        """What is left of torch 0.3's Variable."""
        from torchlint.model.variables import VariablesQuestions

        return VariablesQuestions(self)
