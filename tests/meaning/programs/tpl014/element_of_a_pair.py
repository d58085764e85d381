# attacks: TPL014
# promise: an item of a sequence can be assigned
import torch

torch.manual_seed(0)
device = torch.device("cpu")
state = (torch.zeros(2, 3), torch.ones(2, 3))
state[0].to(device)
state[1].to(device)
cell = torch.nn.LSTMCell(4, 3)
for _ in range(3):
    hidden, memory = cell(torch.randn(2, 4), (state[0], state[1]))
print(round(hidden.sum().item(), 5), round(memory.sum().item(), 5))
