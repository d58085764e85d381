# attacks: TPL004
# promise: a list that goes into a dict is read as numbers from there
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses, hits = [], []
for step in range(4):
    x, y = torch.randn(6, 3), torch.randint(0, 2, (6,))
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)
    hits.append((logits.argmax(1) == y).float().mean())
record = {"loss": losses, "accuracy": hits}
for name, values in record.items():
    print(name, f"{torch.stack(values).mean().item():.4f}")
