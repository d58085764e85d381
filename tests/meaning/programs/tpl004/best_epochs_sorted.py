# attacks: TPL004
# promise: what comes out of `sorted` is read as a number
import torch
import torch.nn.functional as F

torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(6):
    x = torch.randn(8, 3)
    loss = F.mse_loss(model(x), x.sum(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss)

ranked = sorted(losses)
best, worst = ranked[0], ranked[-1]
print(f"best {best.item():.4f} worst {worst.item():.4f}")
print("median", f"{ranked[len(ranked) // 2].log().item():.4f}")
