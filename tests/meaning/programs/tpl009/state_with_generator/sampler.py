import torch
from torch import nn


class NoisyLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.generator = torch.Generator().manual_seed(3)
        self.history = (value for value in (1, 2, 3))

    def get_extra_state(self):
        return {"generator": self.generator, "history": self.history}

    def set_extra_state(self, state):
        self.generator, self.history = state["generator"], state["history"]

    def forward(self, x):
        return self.linear(x) + 0.1 * torch.randn(len(x), 1, generator=self.generator)
