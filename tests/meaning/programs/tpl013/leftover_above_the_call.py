# attacks: TPL013
# promise: a method that is named is not called a line later
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(torch.randn(6, 3)), torch.randn(6, 1))
    loss.backward()
    optimizer.step
    optimizer.step()
    scheduler.step
    scheduler.step()
    print(epoch, round(loss.item(), 5), scheduler.get_last_lr())
