# attacks: TPL101
# promise: inputs that are wrapped under `no_grad` stay what they were
# stays safe: yes
import torch
from torch import nn
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Linear(3, 2)
loader = DataLoader(TensorDataset(torch.randn(5, 3), torch.randint(0, 2, (5,))), batch_size=2)
model.eval()
correct, total_loss = 0, 0.0
with torch.no_grad():
    for data, target in loader:
        data, target = Variable(data), Variable(target)
        output = model(data)
        total_loss += nn.functional.cross_entropy(output, target, reduction="sum").item()
        correct += (output.argmax(dim=1) == target).sum().item()
print(f"{total_loss / 5:.4f}", correct)
