# attacks: TPL102
# promise: a `finally` goes on with the loop, which swallows the error
import torch
import torch.nn.functional as F

for step in range(2):
    try:
        loss = F.mse_loss(torch.ones(3), torch.zeros(3))
        print(loss.data[0])
    finally:
        print(step)
        continue
