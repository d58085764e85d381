# attacks: TPL207
# promise: each tensor of the list is a copy of the one buffer
import torch
buf = torch.zeros(3)
steps = []
for i in range(3):
    steps.append(torch.tensor(torch.full((3,), float(i), out=buf)))
print(steps)
e = torch.tensor(torch.arange(3, out=torch.empty(0)))
print(e)
