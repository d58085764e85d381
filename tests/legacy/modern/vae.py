import torch
from torch import nn, optim
from torch.nn.functional import binary_cross_entropy

torch.manual_seed(4)
images = (torch.rand(40, 36) > 0.6).float()


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(36, 20)
        self.fc21 = nn.Linear(20, 5)
        self.fc22 = nn.Linear(20, 5)
        self.fc3 = nn.Linear(5, 20)
        self.fc4 = nn.Linear(20, 36)

    def forward(self, x):
        h = self.fc1(x).relu()
        mu, logvar = self.fc21(h), self.fc22(h)
        z = mu + torch.randn_like(mu) * (logvar / 2).exp()
        return self.fc4(self.fc3(z).relu()).sigmoid(), mu, logvar


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
history = []
for _ in range(3):
    total = 0.0
    # The loader of the old script draws a seed from the same generator at the start of each epoch.
    for (batch,) in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images), batch_size=10):
        optimizer.zero_grad()
        output, mu, logvar = model(batch)
        divergence = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()
        loss = binary_cross_entropy(output, batch, reduction="sum") + divergence
        loss.backward()
        total += loss.item()
        optimizer.step()
    history.append(total)
