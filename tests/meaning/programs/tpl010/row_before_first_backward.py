# attacks: TPL010
# promise: the gradient of a leaf is there when that of its item is read
import torch

torch.manual_seed(0)
table = torch.randn(4, 2, requires_grad=True)
history = []
for step in range(3):
    history.append(table[1].grad)
    loss = table[1:3].pow(2).sum()
    loss.backward()
    with torch.no_grad():
        table -= 0.1 * table.grad
print(history)
print([round(v, 5) for v in table.detach().flatten().tolist()])
