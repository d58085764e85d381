# attacks: TPL004
# promise: a checkpoint holds the mean loss beside the weights
# stays safe: yes
import io

import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train_epoch(batches):
    total = 0.0
    for x in batches:
        loss = nn.functional.mse_loss(model(x), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(batches)


mean = train_epoch(torch.randn(4, 8, 3))
file = io.BytesIO()
torch.save({"model": model.state_dict(), "loss": mean}, file)
file.seek(0)
print(f"{mean:.4f}", f"{torch.load(file)['loss'].item():.4f}")
