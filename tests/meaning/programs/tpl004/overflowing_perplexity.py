# attacks: TPL004
# promise: arithmetic with the number gives what arithmetic with the tensor gave
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 4)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
total = 0
for step in range(3):
    x = torch.randn(5, 3) * 400
    loss = criterion(model(x), torch.randint(0, 4, (5,)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
perplexity = 2.718281828 ** (total * 10)
print("diverged" if perplexity == float("inf") else f"{perplexity:.2f}")
