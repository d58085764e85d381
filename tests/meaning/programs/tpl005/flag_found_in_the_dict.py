# attacks: TPL005
# promise: the attribute is a mark of the program's own, which it finds in the dict of the parameter
import torch
import torch.nn as nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
model.bias.require_grad = False
model.weight.require_grad = True
marked = [name for name, p in model.named_parameters() if p.__dict__.get("require_grad")]
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(torch.ones(2, 3)).pow(2).mean()
loss.backward()
optimizer.step()
print(marked, model.bias.grad is not None)
