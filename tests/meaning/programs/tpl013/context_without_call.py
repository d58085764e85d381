# attacks: TPL013
# promise: the block could never be entered
# shows: the block raised a TypeError
# stays safe: yes
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
x = torch.randn(3, 2)
with torch.no_grad:
    prediction = model(x)
print(prediction.requires_grad, [round(v, 5) for v in prediction.flatten().tolist()])
