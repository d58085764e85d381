import torch
from torch import nn
from torch.nn.functional import cross_entropy

torch.manual_seed(10)
classifier = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 4))
images, labels = torch.rand(10, 12), torch.arange(10) % 4
optimizer = torch.optim.Adam(classifier.parameters(), lr=0.05)
for _ in range(15):
    optimizer.zero_grad()
    cross_entropy(classifier(images), labels).backward()
    optimizer.step()


def loss_and_direction(image, label):
    x = image.clone().requires_grad_()
    loss = cross_entropy(classifier(x), label)
    return loss.item(), torch.autograd.grad(loss, x)[0].sign()


history = []
for image, label in zip(images[:3].split(1), labels[:3].split(1)):
    loss, direction = loss_and_direction(image, label)
    history += [loss, (image + 0.1 * direction).clamp(0, 1).sum().item()]
    changed = image
    for _ in range(4):
        loss, direction = loss_and_direction(changed, label)
        changed = image + (changed + 0.05 * direction - image).clamp(-0.2, 0.2)
    with torch.no_grad():
        history += [loss, changed.sum().item(), classifier(changed).argmax(1).item()]
