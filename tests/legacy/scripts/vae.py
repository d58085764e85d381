"""A variational autoencoder, whose criterion is told to sum after it was made."""
from __future__ import print_function
import torch
import torch.utils.data
from torch import nn, optim
from torch.autograd import Variable
from torch.nn import functional as F

cuda = torch.cuda.is_available() and False
torch.manual_seed(4)
images = (torch.rand(40, 36) > 0.6).float()
train_loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(images, torch.zeros(40)), batch_size=10)


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(36, 20)
        self.fc21 = nn.Linear(20, 5)
        self.fc22 = nn.Linear(20, 5)
        self.fc3 = nn.Linear(5, 20)
        self.fc4 = nn.Linear(20, 36)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparametrize(self, mu, logvar):
        std = logvar.mul(0.5).exp_()
        if cuda:
            eps = torch.cuda.FloatTensor(std.size()).normal_()
        else:
            eps = torch.FloatTensor(std.size()).normal_()
        eps = Variable(eps)
        return eps.mul(std).add_(mu)

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return F.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 36))
        z = self.reparametrize(mu, logvar)
        return self.decode(z), mu, logvar


model = VAE()
reconstruction_function = nn.BCELoss()
reconstruction_function.size_average = False


def loss_function(recon_x, x, mu, logvar):
    BCE = reconstruction_function(recon_x, x)
    # 0.5 * sum(1 + log(sigma^2) - mu^2 - sigma^2)
    KLD_element = mu.pow(2).add_(logvar.exp()).mul_(-1).add_(1).add_(logvar)
    KLD = torch.sum(KLD_element).mul_(-0.5)
    return BCE + KLD


optimizer = optim.Adam(model.parameters(), lr=1e-2)
history = []


def train(epoch):
    model.train()
    train_loss = 0
    for batch_idx, (data, _) in enumerate(train_loader):
        data = Variable(data)
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.data
        optimizer.step()
    print('====> Epoch: {} Average loss: {:.4f}'.format(epoch, float(train_loss) / len(train_loader.dataset)))
    history.append(float(train_loss))


for epoch in range(1, 4):
    train(epoch)
