# attacks: TPL001
# promise: a cast to the type that it has gives the tensor itself
import torch

torch.manual_seed(0)


def centred(w: torch.Tensor):
    gate = torch.sigmoid(w)
    level = gate.float().data
    level -= level.mean()
    real = torch.real(gate).data
    real.clamp_(-1, 1)
    return gate, level


w = torch.randn(4, requires_grad=True)
gate, level = centred(w)
gate.sum().backward()
print([round(v, 4) for v in w.grad.tolist()], [round(v, 4) for v in level.tolist()])
