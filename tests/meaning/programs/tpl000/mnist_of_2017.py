# attacks: TPL002, TPL004, TPL101, TPL106
# promise: all safe fixes together leave a plain script of 2017 as it was
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 4, kernel_size=3)
        self.fc1 = nn.Linear(4 * 9, 5)
        nn.init.xavier_uniform(self.fc1.weight)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.tanh(self.fc1(x.view(-1, 36)))
        return F.log_softmax(x, dim=1)


model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
batches = [(torch.randn(8, 1, 8, 8), torch.randint(0, 5, (8,))) for _ in range(4)]

for epoch in range(2):
    model.train()
    running = 0
    for data, target in batches:
        data, target = Variable(data), Variable(target)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target, size_average=True)
        loss.backward()
        nn.utils.clip_grad_norm(model.parameters(), 1.0)
        optimizer.step()
        running += loss
    print(epoch, round(float(running) / len(batches), 5))

model.eval()
correct, test_loss = 0, 0
for data, target in batches:
    output = model(Variable(data))
    test_loss += F.nll_loss(output, target, size_average=False).data
    pred = output.data.max(1, keepdim=True)[1]
    correct += pred.eq(target.data.view_as(pred)).sum()
print(int(correct), round(float(test_loss), 4))
print(round(sum(p.data.abs().sum().item() for p in model.parameters()), 4))
