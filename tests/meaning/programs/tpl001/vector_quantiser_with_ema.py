# attacks: TPL001
# promise: a codebook can be refreshed before the backward of what was looked up in it
"""VQ-VAE: the codebook follows the encoder by moving averages, inside the forward."""
import torch
from torch import nn

torch.manual_seed(0)


class Quantiser(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.embedding = nn.Embedding(count, width)
        self.sums = torch.zeros(count, width)
        self.counts = torch.ones(count)

    def forward(self, x):
        distances = (x.unsqueeze(1) - self.embedding.weight).pow(2).sum(2)
        index = distances.argmin(1)
        quantised = self.embedding(index)
        self.sums.data.mul_(0.9).index_add_(0, index, 0.1 * x.detach())
        self.counts.data.mul_(0.9).add_(0.1 * torch.bincount(index, minlength=len(self.counts)))
        self.embedding.weight.data.copy_(self.sums / self.counts.unsqueeze(1))
        loss = (quantised.detach() - x).pow(2).mean()
        return x + (quantised - x).detach(), loss


encoder, quantiser = nn.Linear(3, 2), Quantiser(4, 2)
for _ in range(2):
    out, commitment = quantiser(encoder(torch.randn(5, 3)))
    (out.pow(2).mean() + commitment).backward()
print([round(v, 5) for v in encoder.weight.grad.flatten().tolist()])
print([round(v, 5) for v in quantiser.embedding.weight.flatten().tolist()])
