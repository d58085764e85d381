from dataclasses import dataclass

from torch import nn


@dataclass
class LayerSpec:
    inputs: int
    outputs: int
    require_grad: bool = True


def build(specs):
    layers = []
    for spec in specs:
        layer = nn.Linear(spec.inputs, spec.outputs)
        layer.requires_grad_(spec.require_grad)
        layers.append(layer)
    return nn.Sequential(*layers)
