# attacks: TPL002, TPL013, TPL101, TPL106
# promise: all safe fixes together leave the sampling of a VAE as it was
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(4)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc21, self.fc22 = nn.Linear(8, 2), nn.Linear(8, 2)
        self.fc4 = nn.Linear(2, 6)

    def reparametrize(self, mu, logvar):
        std = logvar.mul(0.5).exp_()
        eps = Variable(torch.randn(std.size()))
        return eps.mul(std).add_(mu)

    def forward(self, x):
        h = F.relu(self.fc1(x))
        mu, logvar = self.fc21(h), self.fc22(h)
        z = self.reparametrize(mu, logvar)
        return F.sigmoid(self.fc4(z)), mu, logvar, z


reconstruction = nn.BCELoss(size_average=False)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
data = torch.rand(4, 8, 6)
codes = []
for epoch in range(2):
    model.train()
    train_loss = 0
    for batch in data:
        recon, mu, logvar, z = model(Variable(batch))
        kld = mu.pow(2).add_(logvar.exp()).mul_(-1).add_(1).add_(logvar)
        loss = reconstruction(recon, batch) - 0.5 * torch.sum(kld)
        optimizer.zero_grad
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.data
        codes.append(z.data)
    print(epoch, round(float(train_loss) / 32, 4))
model.eval()
recon = model(Variable(data[0]))[0]
print(round(recon.data.sum().item(), 4), round(torch.cat(codes).std().item(), 5))
