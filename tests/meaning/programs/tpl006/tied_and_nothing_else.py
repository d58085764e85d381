# attacks: TPL006
# promise: the only trained layer gets the frozen weight
import torch
import torch.nn as nn

torch.manual_seed(0)

class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(4, 3)
        self.out = nn.Linear(3, 4, bias=False)
        self.emb.requires_grad = False
        self.out.weight = self.emb.weight

    def forward(self, i):
        return self.out(self.emb(i))

lm = LM()
lm(torch.tensor([1])).sum().backward()
print(lm.out.weight.grad)
