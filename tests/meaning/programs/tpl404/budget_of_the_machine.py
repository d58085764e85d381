# attacks: TPL404
# promise: what is asked of the GPU is counted on a machine that has none
import time

import torch
import torch.nn as nn

torch.manual_seed(0)
waits = []
torch.cuda.synchronize = lambda *device: waits.append(len(waits))
torch.cuda.is_available = lambda: True
device = torch.device("cuda" if waits else "cpu")
model = nn.Linear(4, 4).to(device)
x = torch.randn(2, 4).to(device)
if torch.cuda.is_available():
    names = ["cuda"]
start = time.time()
y = model(x.to("cpu"))
elapsed = time.time() - start
print(elapsed >= 0, names, waits)
