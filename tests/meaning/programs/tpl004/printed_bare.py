# attacks: TPL004
# promise: a sum that is printed as it is shows the same value
# shows: the representation of the sum says that it holds the graph of all steps
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total_loss = 0
for x in torch.randn(4, 5, 3):
    loss = criterion(model(x), (x[:, 0] > 0).long())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total_loss += loss
print("sum", total_loss)
print("mean", total_loss / 4, type(total_loss).__name__)
