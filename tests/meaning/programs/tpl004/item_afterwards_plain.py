# attacks: TPL004
# promise: a sum whose `.item()` is taken at the end stays a tensor
# stays safe: yes
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
rnn, readout = nn.RNN(2, 4, batch_first=True), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *readout.parameters()], lr=0.01)
hidden, total = None, 0
for chunk in torch.randn(5, 1, 6, 2):
    out, hidden = rnn(chunk, hidden)
    hidden = hidden.detach()
    loss = F.mse_loss(readout(out).squeeze(-1), chunk.sum(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss
print(f"{total.item() / 5:.4f}")
