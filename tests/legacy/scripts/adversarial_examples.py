"""Changes images step by step until a classifier takes them for something else."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(10)
classifier = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 4), nn.LogSoftmax())
images, labels = torch.rand(10, 12), torch.LongTensor([i % 4 for i in range(10)])
optimizer = torch.optim.Adam(classifier.parameters(), lr=0.05)
for _ in range(15):
    optimizer.zero_grad()
    F.nll_loss(classifier(Variable(images)), Variable(labels)).backward()
    optimizer.step()


def fgsm(image, label, eps):
    x = Variable(image, requires_grad=True)
    loss = F.nll_loss(classifier(x), Variable(label))
    loss.backward()
    perturbation = eps * torch.sign(x.grad.data)
    return torch.clamp(x.data + perturbation, 0, 1), loss.data[0]


def iterative(image, label, eps, steps):
    x = Variable(image.clone(), requires_grad=True)
    origin = image
    for _ in range(steps):
        loss = F.nll_loss(classifier(x), Variable(label))
        loss.backward()
        x_adv = x.data + eps / steps * torch.sign(x.grad.data)
        total = torch.clamp(x_adv - origin, -eps, eps)
        x.data = origin + total
        x.grad.data.zero_()
    return x.data, loss.data[0]


history = []
for i in range(3):
    image, label = images[i:i + 1], labels[i:i + 1]
    adversarial, loss = fgsm(image, label, 0.1)
    history += [loss, float(adversarial.sum())]
    adversarial, loss = iterative(image, label, 0.2, 4)
    scores = classifier(Variable(adversarial, volatile=True))
    _, guess = torch.max(scores.data, 1)
    history += [loss, float(adversarial.sum()), float(guess[0])]
print('{} numbers'.format(len(history)))
