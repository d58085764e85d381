"""What the code means: names, kinds and flow. Knows no rule.

`Semantics` is the one way in: it holds the facts about one file, computed as far as they are asked for.
"""

from __future__ import annotations

import ast

from torchlint.semantics import torch_api
from torchlint.semantics.autograd.gradient import Backpropagated, NoGrad
from torchlint.semantics.autograd.rounds import RoundGraphs
from torchlint.semantics.code.bindings import Binding, Bindings, Form
from torchlint.semantics.code.control_flow import ControlFlow
from torchlint.semantics.code.definitions import Facts
from torchlint.semantics.code.names import Names
from torchlint.semantics.code.tree import Tree
from torchlint.semantics.kinds.inference import Inference
from torchlint.semantics.kinds.kind import Grad, Kind, Type
from torchlint.semantics.memory.aliases import Aliases
from torchlint.semantics.training.modes import Modes
from torchlint.semantics.training.training_steps import TrainingSteps
from torchlint.text.source import Source

__all__ = ["Binding", "Form", "Grad", "Kind", "Semantics", "Type", "torch_api"]


class Semantics:
    """The facts about one file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = Tree(source.tree)
        self.bindings = Bindings(self.tree)
        self.control_flow = ControlFlow(self.tree)
        self.names = Names(self.tree, self.bindings)
        self.facts = Facts(self.tree, self.bindings, self.names)
        self.no_grad = NoGrad(self.tree, self.names, self.facts)
        self.inference = Inference(self.tree, self.bindings, self.names, self.facts, self.no_grad)
        self.backpropagated = Backpropagated(self.tree, self.bindings, self.names, self.facts, self.inference.call_sites)
        self.modes = Modes(self)
        self.aliases = Aliases(self)
        self.round_graphs = RoundGraphs(self.tree, self.bindings, self.names, self.facts, self.inference, self.no_grad)
        self.training_steps = TrainingSteps(self.tree, self.bindings, self.names, self.facts, self.inference)

    def qualified_name(self, node: ast.AST) -> str | None:
        """The dotted name of the API that ``node`` refers to, such as ``torch.nn.functional.relu``."""
        return self.names.qualified(node)

    def kind(self, node: ast.expr) -> Kind:
        """What ``node`` evaluates to, as far as the file tells."""
        return self.inference.kind(node)
