# attacks: TPL304
# promise: torch is imported by parts, and its name is taken
from torch import manual_seed, nn, ones

manual_seed(0)
model = nn.Linear(3, 2)
torch = {"batches": ones(3, 2, 3)}


def evaluate(batches):
    model.eval()
    total = 0.0
    for x in batches:
        total += model(x).sum().item()
    return total


print(round(evaluate(torch["batches"]), 4), sorted(torch))
