# attacks: TPL013
# promise: a call is what was meant, whatever it does
import torch

torch.manual_seed(7)
torch.seed
first = torch.randn(3)
torch.manual_seed(7)
second = torch.randn(3)
print(torch.equal(first, second), [round(v, 5) for v in first.tolist()])
