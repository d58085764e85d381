# attacks: TPL304
# promise: samples that a generator makes in evaluation mode are data; the imported critic's loss trains it through them
import torch
from adversary import generator_step
from torch import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
critic = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(generator.parameters(), lr=0.1)


def epoch(batches):
    """The statistics of the batch norm are frozen, and the generator is trained on the critic's word."""
    generator.eval()
    for noise in batches:
        fake = generator(noise)
        print(round(generator_step(optimizer, critic, fake), 4))


epoch([torch.randn(6, 2) for _ in range(3)])
