# attacks: TPL304
# promise: the rows of `bank` that the caller lent carry a graph, and the caller trains on them
import torch
from torch import nn


def fill_bank(encoder, batches, bank):
    """Embeds the support set, one class after the other, with dropout off."""
    encoder.eval()
    for label, images in enumerate(batches):
        bank[label] = encoder(images).mean(0)


def main():
    torch.manual_seed(0)
    encoder = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(0.5), nn.Linear(6, 3))
    optimizer = torch.optim.SGD(encoder.parameters(), lr=0.5)
    support = [torch.randn(5, 4) for _ in range(3)]
    query, target = torch.randn(6, 4), torch.tensor([0, 1, 2, 0, 1, 2])
    for _ in range(3):
        bank = torch.zeros(3, 3)
        fill_bank(encoder, support, bank)
        distances = torch.cdist(encoder(query), bank)
        loss = nn.functional.cross_entropy(-distances, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print([round(float(p.double().sum()), 4) for p in encoder.parameters()])


main()
