# attacks: TPL001
# promise: the prediction is the default of an argument
import torch
import torch.nn as nn

torch.manual_seed(0)
body, head = nn.Linear(3, 4), nn.Linear(4, 1)


def finish(target, prediction=head(torch.relu(body(torch.ones(2, 3))))):
    loss = (prediction - target).pow(2).mean()
    loss.backward()
    return loss.item()


head.weight.data.uniform_(-0.2, 0.2)
print(round(finish(1.0), 4), [round(v, 4) for v in body.bias.grad.tolist()])
