# attacks: TPL102
# promise: a log line that is never reached may be mended
# stays safe: yes
import torch
import torch.nn.functional as F
from torch.autograd import Variable

torch.manual_seed(0)
w = Variable(torch.randn(3, 1), requires_grad=True)
log_every, running = 100, 0.0
for batch_idx, x in enumerate(torch.randn(4, 5, 3)):
    loss = F.mse_loss(x.mm(w), x[:, :1])
    loss.backward()
    w.data.add_(w.grad, alpha=-0.1)
    w.grad.zero_()
    if (batch_idx + 1) % log_every == 0:
        running += loss.data[0]
        print("Train Loss: {:.6f}".format(loss.data[0]))
print(f"{w.sum().item():.4f}", running)
