# attacks: TPL304
# promise: without a graph, the encoder layer takes its fast path, which passes over the adapter
import torch
import torch.nn as nn

torch.manual_seed(0)


class Adapted(nn.Linear):
    def __init__(self, base, rank=2):
        super().__init__(base.in_features, base.out_features)
        self.load_state_dict(base.state_dict())
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return super().forward(x) + self.up(self.down(x))


layer = nn.TransformerEncoderLayer(8, 2, dim_feedforward=16, batch_first=True)
layer.linear1 = Adapted(layer.linear1)
head = nn.Linear(8, 3)
inputs, labels = torch.randn(6, 4, 8), torch.randint(0, 3, (6,))


def evaluate():
    layer.eval()
    total = 0.0
    for x, y in zip(inputs.split(2), labels.split(2)):
        scores = head(layer(x).mean(1))
        total += nn.functional.cross_entropy(scores, y).item()
    return total


print(round(evaluate(), 4))
