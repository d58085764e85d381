# attacks: TPL013
# promise: a hook refuses the step
import torch
torch.manual_seed(0)
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
def check(optimizer, args, kwargs):
    raise RuntimeError("no step wanted")
opt.register_step_pre_hook(check)
loss = (w ** 2).sum()
loss.backward()
opt.step
print(w)
