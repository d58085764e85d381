# attacks: TPL004
# promise: what is popped off a list is read as a number
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.GRUCell(2, 3)
readout = nn.Linear(3, 1)
optimizer = torch.optim.SGD([*model.parameters(), *readout.parameters()], lr=0.1)
trace = []
for window in range(4):
    h = torch.zeros(1, 3)
    for t in range(3):
        h = model(torch.randn(1, 2), h)
    loss = readout(h).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    trace.append(loss)

last = trace.pop()
trace.sort(key=float)
print(f"last {last.clone().item():.5f}")
print(" ".join(f"{float(value):.5f}" for value in trace))
