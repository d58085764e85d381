# attacks: TPL304
# promise: plain counting needs no graph
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        x = F.relu(self.conv(x)).mean(dim=(2, 3))
        return self.fc(self.drop(x))


def validate(model, batches):
    model.eval()
    right, loss = 0, 0.0
    for images, labels in batches:
        scores = model(images)
        loss += F.cross_entropy(scores, labels).item()
        right += (scores.argmax(1) == labels).sum().item()
    return right, loss / len(batches)


data = [(torch.randn(4, 1, 6, 6), torch.randint(0, 3, (4,))) for _ in range(3)]
right, loss = validate(Classifier(), data)
print(right, round(loss, 4))
