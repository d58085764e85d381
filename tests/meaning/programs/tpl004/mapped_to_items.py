# attacks: TPL004
# promise: a list that goes through `map` is read as numbers
import operator

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(2, 2)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
history = []
for _ in range(5):
    inputs = torch.rand(4, 2)
    loss = criterion(model(inputs), inputs.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss)

values = list(map(operator.methodcaller("item"), history))
print(" ".join(f"{value:.4f}" for value in values))
print(f"mean {sum(values) / len(values):.4f}")
