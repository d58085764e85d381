# attacks: TPL004
# promise: a callback that gets the sum by keyword takes a number too
import torch
import torch.nn as nn

CALLBACKS = []


def on_epoch_end(function):
    CALLBACKS.append(function)
    return function


@on_epoch_end
def perplexity(epoch, total, steps):
    print(f"epoch {epoch}: perplexity {torch.exp(total / steps).item():.4f}")


torch.manual_seed(0)
model, criterion = nn.Linear(3, 2), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    state = {"epoch": epoch, "total": 0.0, "steps": 3}
    for x in torch.randn(3, 5, 3):
        loss = criterion(model(x), (x[:, 0] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        state["total"] += loss
    for callback in CALLBACKS:
        callback(**state)
