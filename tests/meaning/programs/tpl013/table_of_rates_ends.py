# attacks: TPL013
# promise: the schedule's function has no further value
import torch
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: [1.0, 0.5][k])
for k in range(3):
    opt.step()
    sched.step
print(opt.param_groups[0]["lr"])
