# attacks: TPL001
# promise: the constructor runs the layers once, to know their size, and keeps the output
import torch
import torch.nn as nn

torch.manual_seed(0)


class Autoencoder(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.encode = nn.Linear(size, 2)
        self.decode = nn.Linear(2, size)
        probe = self.decode(torch.tanh(self.encode(torch.ones(1, size))))
        self.width = probe.numel()
        self.anchor = probe.mean()
        for layer in (self.encode, self.decode):
            layer.weight.data.normal_(0, 0.05)
        nn.init.xavier_uniform_(self.decode.weight.data)

    def forward(self, x):
        return self.decode(torch.tanh(self.encode(x))) - self.anchor


model = Autoencoder(3)
model(torch.randn(2, 3)).sum().backward()
print(model.width, round(model.encode.weight.grad.abs().sum().item(), 4))
