# attacks: TPL106
# promise: factors of a group, of the object, and of a local may stand behind the operands
# stays safe: yes
import torch


class Momentum:
    def __init__(self, params, lr):
        self.groups = [{"params": list(params), "lr": lr, "weight_decay": 0.1}]
        self.momentum = 0.9
        self.dampening = 0.5

    def step(self):
        for group in self.groups:
            for p in group["params"]:
                grad = p.grad.detach().clone()
                grad.add_(group["weight_decay"], p.data)
                buffer = torch.zeros_like(p.data)
                buffer.mul_(self.momentum).add_(1 - self.dampening, grad)
                p.data.add_(-group["lr"], buffer)


torch.manual_seed(0)
w = torch.ones(2, requires_grad=True)
w.pow(2).sum().backward()
Momentum([w], 0.1).step()
print(w)
