# attacks: TPL304
# promise: an imported model computes its output without derivatives
import torch
from potentials import PairPotential


def evaluate(model, configurations):
    model.eval()
    error = 0.0
    for positions, reference in configurations:
        error += (model(positions) - reference).abs().mean().item()
    return error / len(configurations)


torch.manual_seed(0)
model = PairPotential()
configurations = [(torch.randn(4, 3), torch.zeros(4, 3)) for _ in range(3)]
print(round(evaluate(model, configurations), 4))
