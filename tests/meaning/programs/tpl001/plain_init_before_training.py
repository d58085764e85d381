# attacks: TPL001
# promise: initialisation before the training
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
model.weight.data.normal_(0.0, 0.02)
model.bias.data.zero_()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.randn(5, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print([round(v, 5) for v in model.weight.flatten().tolist()])
