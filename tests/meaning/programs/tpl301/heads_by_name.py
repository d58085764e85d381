# attacks: TPL301
# promise: any string may be the key of a module dict; `type` is a method of it
import torch
from torch import nn

ATTRIBUTES = "color type size"


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Linear(5, width)
        self.heads = {str(name): nn.Linear(width, len(name)) for name in ATTRIBUTES.split()}

    def forward(self, x):
        hidden = torch.relu(self.body(x))
        return {name: head(hidden) for name, head in self.heads.items()}


torch.manual_seed(0)
for name, scores in Tagger(6)(torch.randn(2, 5)).items():
    print(name, tuple(scores.shape), round(scores.sum().item(), 4))
