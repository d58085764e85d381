# attacks: TPL001, TPL002, TPL004
# promise: all safe fixes together leave a diffusion model with its averaged weights and sampler as it was
# stays safe: yes
import torch
import torch.nn as nn

torch.manual_seed(10)
steps = 6
betas = torch.linspace(1e-3, 0.2, steps)
alphas_bar = (1 - betas).cumprod(0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Embedding(steps, 4)
        self.net = nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 2))
        self.net[-1].weight.data.zero_()

    def forward(self, x, t):
        return self.net(torch.cat([x, self.time(t)], dim=1))


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.data.clone() for name, p in model.named_parameters()}

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p.data, alpha=1 - self.decay)

    def swap(self, model):
        for name, p in model.named_parameters():
            kept = p.data.clone()
            p.data.copy_(self.shadow[name])
            self.shadow[name].copy_(kept)


model = Denoiser()
ema = EMA(model, 0.8)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
epoch_loss = 0
for step in range(8):
    x0 = torch.randn(16, 2) * 0.3 + torch.tensor([1.0, -1.0])
    t = torch.randint(0, steps, (16,))
    noise = torch.randn_like(x0)
    a = alphas_bar[t][:, None]
    loss = (model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t) - noise).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update(model)
    epoch_loss += loss
print("loss", round(epoch_loss.item() / 8, 5))
ema.swap(model)
with torch.no_grad():
    x = torch.randn(4, 2)
    for i in reversed(range(steps)):
        predicted = model(x, torch.full((4,), i))
        x = (x - betas[i] / (1 - alphas_bar[i]).sqrt() * predicted) / (1 - betas[i]).sqrt()
print([round(v, 4) for v in x.flatten().tolist()])
ema.swap(model)
print(round(sum(p.sum().item() for p in model.parameters()), 5))
