# attacks: TPL304
# promise: numpy() of an output raises with a graph, and the program counts that
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
batches = torch.randn(4, 2, 3)


def evaluate():
    model.eval()
    rows, fallbacks = [], 0
    for x in batches:
        out = model(x)
        try:
            rows.append(out.numpy().sum())
        except RuntimeError:
            fallbacks += 1
            rows.append(out.detach().double().numpy().sum())
    return rows, fallbacks


rows, fallbacks = evaluate()
print(len(rows), fallbacks, [type(row).__name__ for row in rows])
