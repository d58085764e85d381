# attacks: TPL304
# promise: `update` of the caller's dict hands the scores over with their graph
import torch
from torch import nn


def score_domains(critic, domains, table):
    critic.eval()
    for name, samples in domains.items():
        table.update({name: critic(samples).mean()})


torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
table = {}
score_domains(critic, {"real": torch.randn(16, 2) + 1, "fake": torch.randn(16, 2) - 1}, table)
gap = table["real"] - table["fake"]
gap.backward()
print(round(gap.item(), 4))
print([round(float(p.grad.abs().sum()), 4) for p in critic.parameters()])
