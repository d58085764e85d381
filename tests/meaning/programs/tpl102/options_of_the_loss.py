# attacks: TPL102
# promise: keywords that are unpacked say nothing of the reduction
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
OPTIONS = {"reduction": "none", "label_smoothing": 0.1}
model = nn.Linear(3, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    x, y = torch.randn(4, 3), torch.randint(0, 2, (4,))
    loss = F.cross_entropy(model(x), y, **OPTIONS)
    optimizer.zero_grad()
    loss.sum().backward()
    optimizer.step()
    print(f"{loss.data[0]:.4f} of {loss.data.numel()}")
