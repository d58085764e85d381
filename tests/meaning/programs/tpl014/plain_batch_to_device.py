# attacks: TPL014
# promise: the batch is moved
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(3, 2).to(device)
for _ in range(2):
    x = torch.randn(4, 3)
    x.to(device)
    print(round(model(x).sum().item(), 4))
