from dataclasses import dataclass

from torch import nn


@dataclass
class ProjectorSpec:
    inputs: int
    outputs: int
    require_grad: bool = True


def build_projector(spec):
    return nn.Linear(spec.inputs, spec.outputs).requires_grad_(spec.require_grad)


class AttentionTap:
    """Keeps what a module gives, with its graph."""

    def __init__(self, module):
        self.data = None
        module.register_forward_hook(self._keep)

    def _keep(self, module, inputs, output):
        self.data = output
