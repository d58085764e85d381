# attacks: TPL011
# promise: a leaf that asks for grad by a variable requires grad
import argparse

import torch

torch.manual_seed(0)
parser = argparse.ArgumentParser()
parser.add_argument("--learn-offset", action="store_true")
args = parser.parse_args([])
scale = torch.full((3,), 0.5, requires_grad=True)
offset = torch.nn.Parameter(torch.zeros(3), args.learn_offset)


def correction(parameter):
    return parameter.exp() - 1


offset += correction(scale)
loss = (torch.randn(4, 3) + offset).pow(2).mean()
if loss.requires_grad:
    loss.backward()
print(round(loss.item(), 5), scale.grad if scale.grad is None else [round(v, 5) for v in scale.grad.tolist()])
