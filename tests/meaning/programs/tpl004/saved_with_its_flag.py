# attacks: TPL004
# promise: the sum is saved with its flag, and loaded again
import io
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for i in range(3):
    x = torch.ones(2, 3) * i
    loss = nn.functional.mse_loss(model(x), torch.zeros(2, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss
f = io.BytesIO()
torch.save({"total": total}, f)
f.seek(0)
back = torch.load(f)
print([(k, v.requires_grad) for k, v in back.items()])
