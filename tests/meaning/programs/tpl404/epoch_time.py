# attacks: TPL404
# promise: a training run that logs the time of each epoch trains the same
# stays safe: yes
import time

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
model = nn.Linear(3, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
inputs, targets = torch.randn(4, 8, 3).to(device), torch.randn(4, 8, 1).to(device)
for epoch in range(2):
    start = time.time()
    for x, y in zip(inputs, targets):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    seconds = time.time() - start
    print(f"epoch {epoch}: {seconds < 60}")
print(round(model.weight.detach().double().sum().item(), 4))
