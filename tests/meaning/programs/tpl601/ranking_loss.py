# attacks: TPL601
# promise: a loss of scores in the usual range trains to the same weights
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
users, items = nn.Embedding(8, 4), nn.Embedding(16, 4)
optimizer = torch.optim.SGD([*users.parameters(), *items.parameters()], lr=0.1)
for step in range(10):
    who, liked, other = torch.randint(0, 8, (32,)), torch.randint(0, 8, (32,)), torch.randint(8, 16, (32,))
    scores = (users(who) * (items(liked) - items(other))).sum(dim=1)
    loss = -torch.log(torch.sigmoid(scores)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(round(loss.item(), 3))
print([round(v, 3) for v in users.weight[0].tolist()])
