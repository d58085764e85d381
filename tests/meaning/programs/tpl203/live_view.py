# attacks: TPL203
# promise: a view is written once and then read; later changes of its source show in it
import torch

schedule = torch.zeros(1, 3)
rates = schedule.expand(2, 3)
rates[0] = torch.tensor([0.1, 0.2, 0.3])
for step in range(3):
    schedule.mul_(0.5)
    print(step, [round(v, 4) for v in rates[1].tolist()])
