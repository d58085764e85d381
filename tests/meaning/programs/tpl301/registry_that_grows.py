# attacks: TPL301
# promise: the list belongs to the object; it is one of the module's, and grows later
import torch
from torch import nn

STAGES = [nn.Linear(2, 2), nn.Tanh()]


class Pipeline(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = STAGES

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


def add_stage(stage):
    STAGES.append(stage)


torch.manual_seed(0)
pipeline = Pipeline()
add_stage(nn.Softmax(-1))
print(len(pipeline.stages), round(pipeline(torch.ones(1, 2)).sum().item(), 4))
