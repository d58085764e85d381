# attacks: TPL101
# promise: a tensor that was made without `requires_grad` is not asked for it later
import torch
from torch.autograd import Variable

torch.manual_seed(0)
codebook = torch.randn(4, 2)
assignment = torch.tensor([0, 3, 1])
fixed = Variable(codebook)
codebook.requires_grad_(True)
points = torch.randn(3, 2)
commitment = (codebook[assignment] - points).pow(2).sum() + 0.25 * (fixed[assignment] - points).pow(2).sum()
commitment.backward()
print([f"{value:.4f}" for value in codebook.grad.sum(dim=1).tolist()], fixed.requires_grad)
