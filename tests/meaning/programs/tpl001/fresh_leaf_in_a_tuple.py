# attacks: TPL001
# promise: the tensor that was just made is part of a stack that was saved
import torch

torch.manual_seed(0)


def attack(image, label_weight, steps):
    noise = torch.zeros(3, requires_grad=True)
    state = (noise, label_weight)
    score = (torch.exp(state[0]) * (image + state[0]) * state[1]).sum()
    noise.data.uniform_(-0.1, 0.1)
    return score, noise


score, noise = attack(torch.ones(3), torch.tensor([1.0, -1.0, 2.0]), 1)
score.backward()
print([round(v, 4) for v in noise.grad.tolist()])
