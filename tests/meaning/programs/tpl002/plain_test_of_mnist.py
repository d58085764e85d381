# attacks: TPL002
# promise: the predictions of a test are counted
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 3, 3)
        self.fc1 = nn.Linear(3, 4)

    def forward(self, x):
        x = F.relu(self.conv1(x)).mean(dim=(2, 3))
        return F.log_softmax(self.fc1(x), dim=1)


model = Net()


def test(batches):
    model.eval()
    test_loss, correct = 0, 0
    with torch.no_grad():
        for data, target in batches:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = torch.max(output.data, 1)[1]
            correct += (pred == target).sum().item()
    print(round(test_loss, 4), correct)


test([(torch.randn(4, 1, 5, 5), torch.randint(0, 4, (4,))) for _ in range(2)])
