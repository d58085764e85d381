# attacks: TPL004
# promise: what a function of torch is mapped over is not back-propagated
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
warmup = True
for epoch in range(3):
    optimizer.zero_grad()
    waiting = []
    for x in torch.randn(4, 5, 3):
        loss = (model(x) - x.mean()).pow(2).mean()
        if warmup:
            loss.backward()
        else:
            waiting.append(loss)
    list(map(torch.Tensor.backward, waiting))
    optimizer.step()
    warmup = False
print([f"{value:.4f}" for value in model.weight.flatten().tolist()])
