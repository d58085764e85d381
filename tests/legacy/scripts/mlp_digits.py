"""A multilayer perceptron on digits that nobody wrote."""
from __future__ import print_function
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
prototypes = torch.randn(10, 8, 8)


def make_digits(n):
    labels = torch.LongTensor([i % 10 for i in range(n)])
    images = torch.stack([prototypes[l] for l in labels]) + 0.3 * torch.randn(n, 8, 8)
    return TensorDataset(images, labels)


train_loader = DataLoader(make_digits(200), batch_size=20)
test_loader = DataLoader(make_digits(50), batch_size=25)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = x.view(-1, 64)
        x = F.tanh(self.fc1(x))
        x = F.dropout(x, training=self.training)
        x = self.fc2(x)
        return F.log_softmax(x)


# get some random training images
dataiter = iter(train_loader)
images, labels = dataiter.next()

model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
history = [images.sum()]


def train(epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(train_loader):
        data, target = Variable(data), Variable(target)
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % 5 == 0:
            print('Train Epoch: {} [{}/{}]\tLoss: {:.6f}'.format(
                epoch, batch_idx * len(data), len(train_loader.dataset), loss.data[0]))
            history.append(loss.data[0])


def test():
    model.eval()
    test_loss = 0
    correct = 0
    for data, target in test_loader:
        data, target = Variable(data, volatile=True), Variable(target)
        output = model(data)
        test_loss += F.nll_loss(output, target, size_average=False).data[0]  # sum up batch loss
        pred = output.data.max(1)[1]  # the index of the max log-probability
        correct += pred.eq(target.data).cpu().sum()

    test_loss /= len(test_loader.dataset)
    print('\nTest set: Average loss: {:.4f}, Accuracy: {}/{} ({:.0f}%)\n'.format(
        test_loss, correct, len(test_loader.dataset), 100. * correct / len(test_loader.dataset)))
    history.append(test_loss)
    history.append(float(correct))


for epoch in range(1, 3):
    train(epoch)
    test()
