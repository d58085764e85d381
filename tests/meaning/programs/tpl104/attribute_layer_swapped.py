# attacks: TPL104
# promise: a layer is replaced from outside by one that gives a packed sequence
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_sequence

torch.manual_seed(0)


class Packer(nn.Module):
    def forward(self, x):
        return pack_sequence(list(x))


class Pipeline:
    def __init__(self):
        self.stage = nn.Linear(3, 3)

    def run(self, x):
        out = self.stage(x)
        return out.data.cpu().numpy()


pipeline = Pipeline()
print(pipeline.run(torch.ones(2, 3)).shape)
vars(pipeline)["stage"] = Packer()
print(pipeline.run(torch.ones(2, 3)).shape)
for name in ("stage",):
    setattr(pipeline, name, Packer())
print(pipeline.run(torch.ones(4, 3)).shape)
