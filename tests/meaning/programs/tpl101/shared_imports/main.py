# attacks: TPL101
# promise: nobody imports the name from this file
import torch
from common import Variable, seed_everything

seed_everything()
noise = Variable(torch.randn(2, 3))
print(f"{noise.sum().item():.4f}")
