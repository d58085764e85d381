# attacks: TPL001
# promise: the function that apply is given sets the weights
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.ConvTranspose2d(2, 3, 2), nn.BatchNorm2d(3), nn.ReLU(True))
        for m in self.modules():
            if isinstance(m, nn.ConvTranspose2d):
                m.weight.data.normal_(0.0, 0.02)
            elif isinstance(m, nn.BatchNorm2d):
                m.weight.data.normal_(1.0, 0.02)
                m.bias.data.fill_(0)

    def forward(self, x):
        return self.main(x)


net = Generator()
out = net(torch.randn(2, 2, 1, 1))
out.sum().backward()
print(out.shape, round(net.main[0].weight.abs().sum().item(), 5))
