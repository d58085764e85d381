# attacks: TPL101
# promise: the wrapped image and the image of the data set may be one object
import torch
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
model = torch.nn.Linear(4, 2)
images = torch.randn(3, 4)
data = [(images[0:1].clone(), torch.tensor([0])), (images[1:2].clone(), torch.tensor([1]))]
for epsilon in (0.0, 0.1):
    for image, label in data:
        image = Variable(image)
        image.requires_grad = True
        F.cross_entropy(model(image), label).backward()
        print(f"{image.grad.abs().sum().item():.4f}", end=" ")
        adversarial = image + epsilon * image.grad.sign()
        print(model(adversarial).argmax(dim=1).item())
print([image.requires_grad for image, _ in data])
