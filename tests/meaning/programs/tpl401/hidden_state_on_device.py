# attacks: TPL401
# promise: zeros are the same wherever they are made
# stays safe: yes
import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.rnn = nn.GRU(3, width, batch_first=True)

    def forward(self, x):
        hidden = torch.zeros(1, x.size(0), self.width).to(device)
        mask = torch.ones(x.size(0), x.size(1)).to(device).bool()
        output, hidden = self.rnn(x, hidden)
        return output * mask[..., None], hidden


torch.manual_seed(0)
output, hidden = Model(4).to(device)(torch.ones(2, 3, 3, device=device))
print(output.shape, round(hidden.sum().item(), 4))
