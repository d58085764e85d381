# attacks: TPL004
# promise: what `.items()` of a dict of sums gives is read as numbers
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)
stats = {"reconstruction": 0.0, "sparsity": 0.0}
for _ in range(5):
    x = torch.randn(4, 6)
    code = encoder(x)
    reconstruction = F.mse_loss(decoder(code), x)
    sparsity = code.abs().mean()
    optimizer.zero_grad()
    (reconstruction + 0.1 * sparsity).backward()
    optimizer.step()
    stats["reconstruction"] += reconstruction
    stats["sparsity"] += sparsity

report = {name: (total / 5).item() for name, total in stats.items()}
print({name: round(value, 3) for name, value in report.items()})
