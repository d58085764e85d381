"""Classifies sequences by their sum, and evaluates with volatile inputs."""
import torch
import torch.nn as nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
sequences = torch.randn(60, 9, 4)
labels = (sequences.sum(2).sum(1) > 0).long()
train_loader = DataLoader(TensorDataset(sequences[:40], labels[:40]), batch_size=10)
test_loader = DataLoader(TensorDataset(sequences[40:], labels[40:]), batch_size=10)


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers, num_classes):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.lstm = nn.LSTM(input_size, hidden_size, num_layers, batch_first=True)
        self.fc = nn.Linear(hidden_size, num_classes)

    def forward(self, x):
        # Set initial states
        h0 = Variable(torch.zeros(self.num_layers, x.size(0), self.hidden_size))
        c0 = Variable(torch.zeros(self.num_layers, x.size(0), self.hidden_size))
        # Forward propagate RNN, decode hidden state of last time step
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1, :])


rnn = RNN(4, 12, 2, 2)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(rnn.parameters(), lr=0.02)
history, graphs = [], []

for epoch in range(3):
    for i, (images, targets) in enumerate(train_loader):
        images = Variable(images)
        targets = Variable(targets)
        optimizer.zero_grad()
        outputs = rnn(images)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        history.append(float(loss.data.numpy()))

# Test the Model
correct = 0
total = 0
for images, targets in test_loader:
    images = Variable(images, volatile=True)
    outputs = rnn(images)
    graphs.append(outputs.grad_fn is not None)
    _, predicted = torch.max(outputs.data, 1)
    total += targets.size(0)
    correct += (predicted.cpu() == targets).sum()

print('Test Accuracy of the model: %d %%' % (100 * correct / total))
history.append(float(correct))
