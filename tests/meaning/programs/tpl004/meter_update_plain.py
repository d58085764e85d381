# attacks: TPL004
# promise: a meter in the file that prints its mean stays what it was
# stays safe: yes
import torch
import torch.nn as nn


def train(model, batches, optimizer):
    criterion = nn.CrossEntropyLoss()
    running, history = 0.0, []
    for step, (x, y) in enumerate(batches, 1):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        running += loss
        if step % 2 == 0:
            print(f"[{step}] loss: {running / 2:.3f}")
            history.append(float(running))
            running = 0.0
    return history


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 2))
data = [(torch.randn(4, 3), torch.randint(0, 2, (4,))) for _ in range(6)]
print([round(value, 3) for value in train(net, data, torch.optim.SGD(net.parameters(), 0.1))])
