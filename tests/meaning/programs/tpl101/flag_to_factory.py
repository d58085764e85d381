# attacks: TPL101
# promise: the flag that a factory is given is a bool
import torch
from torch.autograd import Variable

SETTINGS = {"learn_prior": 1, "width": 3}
torch.manual_seed(0)
prior = Variable(torch.zeros(SETTINGS["width"]), requires_grad=SETTINGS["learn_prior"])
samples = torch.randn(5, 3)
(samples - prior).pow(2).mean().backward()
print([f"{value:.4f}" for value in prior.grad.tolist()])
