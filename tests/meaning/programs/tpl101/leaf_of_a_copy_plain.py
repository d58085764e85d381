# attacks: TPL101
# promise: a leaf that is made of a given tensor leaves that tensor alone
# stays safe: yes
import torch
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Linear(4, 3)
images, labels = torch.randn(2, 4), torch.tensor([0, 2])
for epsilon in (0.1, 0.2):
    x = Variable(images, requires_grad=True)
    F.cross_entropy(model(x), labels).backward()
    perturbed = images + epsilon * x.grad.sign()
    print(f"{F.cross_entropy(model(perturbed), labels).item():.4f}", images.requires_grad)
