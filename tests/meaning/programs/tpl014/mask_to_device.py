# attacks: TPL014
# promise: a fresh tensor is moved to the CPU that it is on
# stays safe: yes
import torch

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
mask = torch.zeros(3, 3)
mask.to(device)
scores = torch.randn(3, 3, device=device) + mask
print([round(v, 5) for v in scores.flatten().tolist()])
