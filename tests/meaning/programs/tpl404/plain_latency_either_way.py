# attacks: TPL404
# promise: waiting for the GPU changes nothing where there is none
# stays safe: yes
import time

import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = nn.Linear(16, 16).to(device)
x = torch.randn(4, 16, device=device)
start = time.perf_counter()
y = model(x)
elapsed = time.perf_counter() - start
print(elapsed > 0, y.shape)
