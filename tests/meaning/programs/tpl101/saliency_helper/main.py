# attacks: TPL101
# promise: the function that is given the wrapped tensor changes nothing of it
import torch
from saliency import saliency
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
x = torch.randn(1, 3)
for label in (0, 1):
    print([f"{value:.4f}" for value in saliency(model, Variable(x), label).flatten().tolist()])
print(x.requires_grad, x.grad)
