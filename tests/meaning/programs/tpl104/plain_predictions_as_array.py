# attacks: TPL104
# promise: predictions go to numpy
# stays safe: yes
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
x = torch.randn(5, 3)
out = net(x)
predicted = np.argmax(out.cpu().data.numpy(), axis=1)
weights = net[0].weight.data.numpy()
print(predicted.tolist(), weights.shape, torch.sigmoid(out).data.tolist()[0][0] > 0)
