"""A convolutional network that sums its losses, clips its gradients, and forgets which dimension it normalises."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.autograd import Variable
from torch.nn.init import kaiming_normal, constant
from torch.nn.utils import clip_grad_norm

torch.manual_seed(9)
images = torch.randn(32, 1, 8, 8)
labels = torch.LongTensor(32)
for i in range(32):
    labels[i] = i % 3
    images[i, 0, i % 3] += 2


class ConvNet(nn.Module):
    def __init__(self):
        super(ConvNet, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, padding=1)
        self.fc = nn.Linear(8 * 2 * 2, 3)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                kaiming_normal(m.weight.data, mode='fan_out')
                constant(m.bias.data, 0)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.softmax(self.fc(x.view(x.size(0), -1)))


model = ConvNet()
optimizer = optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
history = []
for epoch in range(4):
    running_loss = 0.0
    running_acc = 0.0
    for i in range(0, 32, 8):
        img = Variable(images[i:i + 8])
        label = Variable(labels[i:i + 8])
        out = model(img)
        loss = F.nll_loss(torch.log(out), label, size_average=False)
        running_loss += loss.data[0] * label.size(0)
        _, pred = torch.max(out, 1)
        num_correct = (pred == label).sum()
        running_acc += num_correct.data[0]
        optimizer.zero_grad()
        loss.backward()
        clip_grad_norm(model.parameters(), 5)
        optimizer.step()
    print('Finish {} epoch, Loss: {:.6f}, Acc: {:.6f}'.format(epoch + 1, running_loss / 32, running_acc / 32))
    history += [running_loss, float(running_acc)]

# upsample what the first layer sees
features = F.upsample(model.conv1(Variable(images[:1], volatile=True)), scale_factor=2)
history.append(float(features.data.sum()))
