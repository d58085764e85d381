# attacks: TPL002
# promise: numbers are read of the loss
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
average = None
for _ in range(4):
    x, y = torch.randn(6, 4), torch.randint(0, 2, (6,))
    scores = model(x)
    loss = nn.functional.cross_entropy(scores, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    value = loss.data.item()
    average = value if average is None else 0.9 * average + 0.1 * value
    sure = nn.functional.softmax(scores.data, dim=1).max(1)[0].mean().item()
    print(round(average, 4), round(sure, 4))
