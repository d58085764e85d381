# attacks: TPL101
# promise: a plain training loop stays what it was
# stays safe: yes
import torch
from torch import nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(6, 4), torch.randint(0, 2, (6,)))
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images, labels in DataLoader(data, batch_size=3):
    images = Variable(images)
    labels = Variable(labels)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
