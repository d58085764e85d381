# attacks: TPL004
# promise: the sum is an object of the file, whose operator keeps the graph for later
import torch
import torch.nn as nn

torch.manual_seed(0)


class Objective:
    def __init__(self):
        self.terms = []

    def __iadd__(self, term):
        self.terms.append(term)
        return self

    def minimise(self, optimizer):
        optimizer.zero_grad()
        torch.stack(self.terms).sum().backward()
        optimizer.step()


model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
objective = Objective()
for x in torch.randn(3, 4, 3):
    loss = nn.functional.mse_loss(model(x), torch.zeros(4, 1))
    objective += loss
objective.minimise(optimizer)
print([round(v, 4) for v in model.weight.flatten().tolist()])
