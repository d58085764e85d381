# attacks: TPL102
# promise: a line for both APIs gives the number
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
for x in torch.randn(2, 4, 3):
    loss = criterion(model(x), torch.tensor([0, 1, 1, 0]))
    loss.backward()
    number = loss.item() if hasattr(loss, "item") else loss.data[0]
    print(f"{number:.4f}")
