"""What the code means: names, kinds and flow. Knows no rule, and of the text nothing but its syntax tree.

`Semantics` is the one way in: it holds the facts about one file, computed as far as they are asked for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from torchlint.semantics import torch_api
from torchlint.semantics.code import Code
from torchlint.semantics.code.bindings import Binding, Form
from torchlint.semantics.code.words import Words
from torchlint.semantics.kinds.grad_mode import NoGrad
from torchlint.semantics.kinds.inference import Inference
from torchlint.semantics.kinds.kind import Grad, Kind, Type

if TYPE_CHECKING:
    from torchlint.semantics.autograd.backpropagation import Backpropagated
    from torchlint.semantics.autograd.rounds import RoundGraphs
    from torchlint.semantics.memory.aliases import Aliases
    from torchlint.semantics.training.modes import Modes
    from torchlint.semantics.training.training_steps import TrainingSteps

__all__ = ["Binding", "Form", "Grad", "Kind", "Semantics", "Type", "torch_api"]

Analysis = TypeVar("Analysis")


class Semantics:
    """The facts about one file."""

    def __init__(self, module: ast.Module) -> None:
        self.code = Code(module)
        self.tree = self.code.tree
        self.bindings = self.code.bindings
        self.control_flow = self.code.control_flow
        self.names = self.code.names
        self.facts = self.code.definitions
        self.no_grad = NoGrad(self.code)
        self.inference = Inference(self.code, self.no_grad)
        self._made: dict[Callable[[Semantics], Any], Any] = {}

    def of(self, analysis: Callable[[Semantics], Analysis]) -> Analysis:
        """The one instance of an analysis for this file; made when it is first asked for."""
        if (found := self._made.get(analysis)) is None:
            found = self._made[analysis] = analysis(self)
        return cast("Analysis", found)

    @property
    def words(self) -> Words:
        """The words that the file's code says."""
        return self.code.words

    def qualified_name(self, node: ast.AST) -> str | None:
        """The dotted name of the API that ``node`` refers to, such as ``torch.nn.functional.relu``."""
        return self.names.qualified(node)

    def kind(self, node: ast.expr) -> Kind:
        """What ``node`` evaluates to, as far as the file tells."""
        return self.inference.kind(node)

    @cached_property
    def backpropagated(self) -> Backpropagated:
        from torchlint.semantics.autograd.backpropagation import Backpropagated

        return self.of(Backpropagated)

    @cached_property
    def modes(self) -> Modes:
        from torchlint.semantics.training.modes import Modes

        return self.of(Modes)

    @cached_property
    def aliases(self) -> Aliases:
        from torchlint.semantics.memory.aliases import Aliases

        return self.of(Aliases)

    @cached_property
    def round_graphs(self) -> RoundGraphs:
        from torchlint.semantics.autograd.rounds import RoundGraphs

        return self.of(RoundGraphs)

    @cached_property
    def training_steps(self) -> TrainingSteps:
        from torchlint.semantics.training.training_steps import TrainingSteps

        return self.of(TrainingSteps)
