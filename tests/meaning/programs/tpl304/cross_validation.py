# attacks: TPL304
# promise: scores of folds, each computed in evaluation mode with numbers only, are the same
# stays safe: yes
import torch
from torch import nn


def score(model, x, y, batch_size=4):
    model.eval()
    predictions = []
    for start in range(0, len(x), batch_size):
        out = model(x[start : start + batch_size])
        predictions += out.argmax(1).tolist()
    return sum(p == t for p, t in zip(predictions, y.tolist())) / len(y)


torch.manual_seed(0)
x, y = torch.randn(12, 3), torch.randint(0, 2, (12,))
for fold in range(3):
    held = torch.arange(12) % 3 == fold
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(3):
        model.train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[~held]), y[~held]).backward()
        optimizer.step()
    print(fold, round(score(model, x[held], y[held]), 3))
