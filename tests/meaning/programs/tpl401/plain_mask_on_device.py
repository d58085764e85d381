# attacks: TPL401
# promise: zeros and whole ranges are the same on any device
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = nn.LSTM(3, 4).to(device)
hidden = torch.zeros(1, 2, 4).to(device)
cell = torch.zeros(1, 2, 4).to(device)
steps = torch.arange(5).float()
output, _ = net(torch.randn(5, 2, 3).to(device), (hidden, cell))
print(output.shape, round(output.sum().item(), 4))
print(steps.tolist(), steps.dtype)
